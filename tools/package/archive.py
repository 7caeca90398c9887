"""Pack a folder reproducibly: the same folder produces the same bytes. Runs under the pinned portable Python.

Usage: python3.14 -I archive.py zstd|zip FOLDER FILE EPOCH LEVEL
"""

from __future__ import annotations

import io
import sys
import tarfile
import time
import zipfile
from pathlib import Path


def main(kind: str, folder: str, file: str, epoch: str, level: str) -> None:
    """Pack all files below `folder` into `file`, sorted by name, all with the date `epoch` and owner 0."""
    entries = sorted(Path(folder).rglob("*"), key=lambda path: path.relative_to(folder).as_posix())
    names = {path.relative_to(folder).as_posix(): path for path in entries}
    pack = {"zstd": _zstd, "zip": _zip}[kind]
    Path(file).write_bytes(pack(names, int(epoch), int(level)))


def _zstd(names: dict[str, Path], epoch: int, level: int) -> bytes:
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, path in names.items():
            entry = archive.gettarinfo(path, name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = epoch
            with open(path, "rb") if entry.isreg() else io.BytesIO() as data:
                archive.addfile(entry, data if entry.isreg() else None)
    return bytes(zstd.compress(packed.getvalue(), level))


def _zip(names: dict[str, Path], epoch: int, level: int) -> bytes:
    packed = io.BytesIO()
    packed.write(b"#!/usr/bin/env python3\n")
    moment = time.gmtime(max(epoch, 315532800))[:6]  # zip has no earlier dates
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, path in names.items():
            if path.is_file():
                entry = zipfile.ZipInfo(name, moment)
                entry.external_attr = (0o100000 | path.stat().st_mode & 0o777) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes(), compresslevel=level)
    return packed.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
