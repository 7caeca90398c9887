"""Builder of the Ansible collection in tools/ansible. The same files produce the same bytes.

`ansible-galaxy collection build` would include the time of the build, and needs ansible-core.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

from tools.package.tree import ROOT, VERSION

SOURCE = ROOT / "tools" / "ansible"
NAMESPACE, NAME = "raidbench", "storage"
FORMAT = 1
"""Format of MANIFEST.json and FILES.json (Ansible, Collection structure)."""


def file_name() -> str:
    """Return the file name of the collection's archive. Ansible takes namespace, name and version from it."""
    return f"{NAMESPACE}-{NAME}-{VERSION}.tar.gz"


def make(file: Path, moment: int) -> None:
    """Write the collection to `file`. All its contents have the date `moment` (seconds since 1970)."""
    paths = [path for path in sorted(SOURCE.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    texts = {path.relative_to(SOURCE).as_posix(): path.read_bytes() for path in paths}
    texts["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    about = _about(texts.pop("galaxy.yml").decode())
    folders = sorted({parent.as_posix() for name in texts for parent in Path(name).parents if parent.as_posix() != "."})
    entries = [_entry(name, None) for name in (".", *folders)] + [_entry(name, texts[name]) for name in sorted(texts)]
    files = _json({"files": entries, "format": FORMAT})
    manifest = {"collection_info": about, "file_manifest_file": _entry("FILES.json", files), "format": FORMAT}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in folders:
            _add(archive, name, None, moment)
        for name, data in sorted({**texts, "FILES.json": files, "MANIFEST.json": _json(manifest)}.items()):
            _add(archive, name, data, moment)
    with file.open("wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=moment) as packing:
        packing.write(packed.getvalue())


def _about(text: str) -> dict[str, Any]:
    """Return the contents of galaxy.yml with the version of raidbench.

    No YAML library is needed for the few kinds of lines in that file. Raises ValueError for other lines.
    """
    galaxy: dict[str, Any] = {}
    key = ""
    for line in text.splitlines():
        if item := re.fullmatch(r"  - (.+)", line):
            galaxy[key].append(item[1])
        elif pair := re.fullmatch(r"(\w+):(?: (.+))?", line):
            key = pair[1]
            galaxy[key] = [] if pair[2] is None else {} if pair[2] == "{}" else pair[2]
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"cannot parse a line of galaxy.yml: {line!r}")
    empty = dict.fromkeys(("repository", "documentation", "homepage", "issues", "license_file"))
    return {**empty, **galaxy, "version": VERSION}


def _entry(name: str, data: bytes | None) -> dict[str, Any]:
    kind = "dir" if data is None else "file"
    chksum: dict[str, str | None] = {"chksum_type": None, "chksum_sha256": None}
    if data is not None:
        chksum = {"chksum_type": "sha256", "chksum_sha256": _sum(data)}
    return {"name": name, "ftype": kind, **chksum, "format": FORMAT}


def _add(archive: tarfile.TarFile, name: str, data: bytes | None, moment: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.mtime = moment
    entry.mode = 0o755 if data is None else 0o644
    entry.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    entry.size = len(data or b"")
    archive.addfile(entry, None if data is None else io.BytesIO(data))


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
