"""Lays out the folder of a release: files with signed checksums, the public keys, install.sh and the repositories."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.package.tree import VERSION
from tools.release import repositories
from tools.release.signing import ReleaseKeys

SUMS = "SHA256SUMS"
INSTALLER = Path(__file__).parent / "install.sh"


def publish(files: Iterable[Path], notes: str, out: Path, keys: ReleaseKeys, *, url: str, epoch: int) -> None:
    """Write the release into `out`, which must not exist and does not if this fails.

    `files`: what `make package` and `make build` have made. `url`: where `out` will be served, without a final slash.

    Raises NotReleasableError if a program is missing or fails.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        whole = Path(folder) / out.name
        _lay_out(sorted(files), notes, whole, keys, url, epoch)
        whole.rename(out)


def _lay_out(files: list[Path], notes: str, out: Path, keys: ReleaseKeys, url: str, epoch: int) -> None:
    here = out / VERSION
    here.mkdir(parents=True)
    for file in files:
        shutil.copy(file, here / file.name)
    (here / "NOTES.md").write_text(notes, encoding="utf-8")
    (here / INSTALLER.name).write_text(installer(keys, url), encoding="utf-8")
    (here / INSTALLER.name).chmod(0o755)
    shutil.copy(here / INSTALLER.name, out / INSTALLER.name)
    (out / "raidbench.asc").write_bytes(keys.armored_key())
    (out / "allowed_signers").write_text(keys.signer_text() + "\n", encoding="ascii")
    repositories.make_apt([file for file in files if file.suffix == ".deb"], out / "apt", keys, url, epoch)
    if missing := repositories.missing_dnf_programs():
        print(f"release: no dnf repository, because {' and '.join(missing)} cannot be found", file=sys.stderr)
    else:
        repositories.make_dnf([file for file in files if file.suffix == ".rpm"], out / "dnf", keys, url, epoch)
    write_sums(here)
    keys.sign(here / SUMS)


def installer(keys: ReleaseKeys, url: str) -> str:
    """Return the text of install.sh for this version, with the public keys in it."""
    text = INSTALLER.read_text(encoding="utf-8")
    values = {"VERSION": VERSION, "URL": url, "GPG_KEY": keys.key_text(), "SSH_SIGNER": keys.signer_text()}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def write_sums(folder: Path) -> None:
    """Write the SHA-256 sums of all files of a release into `folder`, that of its version, as sha256sum does.

    Files outside the folder have a name that begins with `../`.
    """
    inside = [file for file in sorted(folder.iterdir()) if not file.name.startswith(SUMS)]
    beside = [file for file in sorted(folder.parent.rglob("*")) if file.is_file() and folder not in file.parents]
    names = {file: file.name for file in inside} | {file: f"../{file.relative_to(folder.parent)}" for file in beside}
    rows = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n" for file, name in names.items()]
    (folder / SUMS).write_text("".join(rows), encoding="ascii")
