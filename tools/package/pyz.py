"""Builder of raidbench.pyz, one archive for all hosts that have a recent Python."""

from __future__ import annotations

import filecmp
import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from tools.package.onefile import pack

_WITHIN = Path(__file__).parent / "zipapp"


def make(sites: Mapping[str, Path], python: Path, epoch: int, work: Path, file: Path) -> None:
    """Build the archive `file` from the site-packages folders in `sites`, by CPU architecture.

    A file that is the same for all architectures is packed only once.
    """
    folder = work / "pyz"
    first, *others = sites.values()
    for path in _files(first):
        same = all((site / path).exists() and filecmp.cmp(first / path, site / path, shallow=False) for site in others)
        for machine, site in (("any", first),) if same else sites.items():
            if (site / path).exists():
                _copy(site / path, folder / machine / path)
    for machine, site in sites.items():
        for path in _files(site) - _files(first):
            _copy(site / path, folder / machine / path)
    _copy(_WITHIN / "within.py", folder / "any" / "__main__.py")
    for name in ("__main__.py", "unpack.py"):
        _copy(_WITHIN / name, folder / name)
    (folder / "digest").write_text(_digest(folder))
    pack("zip", folder, file, python, epoch)
    file.chmod(0o755)


def _files(site: Path) -> set[Path]:
    return {path.relative_to(site) for path in site.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _digest(folder: Path) -> str:
    """Return the SHA-256 digest of the contents and names of all files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
