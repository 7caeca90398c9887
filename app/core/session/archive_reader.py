"""Reader for session archives of unknown origin: verifies an archive completely and unpacks it into a private folder.

Nothing in an archive is trusted before it is verified: names, sizes, checksums and file types.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import struct
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from app.core.session.archive import (
    BLOCK,
    DIGEST,
    MANIFEST,
    MOST_PARTS,
    NAME,
    SEAL,
    ArchivedFile,
    checksum_of,
    digest_of,
)
from app.core.session.folders import LOG
from app.core.session.store import LoadedSession, load
from backends.errors import NotFoundError, RefusedError, StorageError
from backends.formats import FileFormat, require_known
from backends.input_file import NotRegularError, open_input
from backends.sizes import size_words
from backends.text import clean

_LONGEST_SEAL = 200
_LARGEST_MANIFEST = 16 << 20
_LARGEST_LOG = 256 << 20
"""Maximum size of a session log in bytes, because a log is read into memory completely."""

_MOST_TIMES = 200
"""Maximum unpacked size, as a multiple of the archive's size. fio's output typically compresses by a factor of 14."""

_SPARE = 256 << 20
"""Bytes that must stay free on the filesystem of the destination folder."""

_END = struct.Struct("<4s4H2LH")
_END_64 = b"PK\x06\x07"
"""Signature of a record that only ZIP64 files contain, before their last record (APPNOTE.TXT 4.3.15, 4.3.16)."""

_DAMAGED = (BadZipFile, LargeZipFile, zlib.error, struct.error, ValueError, KeyError, TypeError, EOFError)
_DAMAGED_TOO = (NotImplementedError, RuntimeError, RecursionError, OverflowError, FileExistsError, NotADirectoryError)
"""Exceptions that zipfile and json raise for damaged or manipulated input."""


@contextlib.contextmanager
def unpacked_archive(file: Path, *, with_output: bool = True) -> Iterator[LoadedSession]:
    """Unpack an archive into a temporary private folder and yield its session; the folder is removed at the end.

    `with_output`: include the output of programs, which graphs and job files need. If False, only the log is unpacked,
    which is enough to show runs and verdicts. Raises RefusedError for a damaged archive, a newer format or another kind
    of file; NotFoundError if the file is missing; StorageError if it cannot be unpacked.
    """
    with tempfile.TemporaryDirectory(prefix="raidbench-archive-") as private:
        yield load_archive(file, Path(private), with_output=with_output)


def load_archive(file: Path, into: Path, *, with_output: bool = True) -> LoadedSession:
    """Unpack an archive into a folder that no other user can write to, and return the session.

    `with_output`: as for `unpacked_archive`. Raises RefusedError for a damaged archive, a newer format or another kind
    of file; NotFoundError if the file is missing; StorageError if it cannot be unpacked.
    """
    shown = clean(str(file), 300)
    try:
        with open_input(file) as handle:
            name, redacted = _unpack(handle, shown, into, with_output=with_output)
        return replace(load(into / name), archive=file, redacted=redacted)
    except _UnusableArchiveError as wrong:
        raise RefusedError(f"{shown} {wrong.why}.", hint=wrong.hint) from None
    except (*_DAMAGED, *_DAMAGED_TOO) as error:
        raise RefusedError(f"{shown} is damaged, or is not a raidbench archive.", evidence=str(error)) from None
    except FileNotFoundError:
        raise NotFoundError(f"{shown} does not exist.") from None
    except NotRegularError:
        raise RefusedError(f"{shown} is not a file.") from None
    except OSError as error:
        raise StorageError(f"{shown} cannot be unpacked: {error.strerror or error}.", evidence=str(error)) from error


class _UnusableArchiveError(Exception):
    """Error for an archive that cannot be used. `why` completes a sentence that begins with the file's name."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint


def _unpack(handle: BinaryIO, shown: str, into: Path, *, with_output: bool) -> tuple[str, bool]:
    """Unpack an archive; return the name of the folder in `into`, and whether the session is redacted."""
    size = _verify_seal(handle, shown)
    with ZipFile(handle) as archive:
        manifest, parts = _read_manifest(archive, shown)
        entries = {info.filename: info for info in archive.infolist()}
        if sorted(entries) != sorted([MANIFEST, *(part.name for part in parts)]) or len(entries) != len(
            archive.filelist
        ):
            raise _UnusableArchiveError("does not match its manifest")
        wanted = parts if with_output else [part for part in parts if part.name == LOG]
        _require_room(wanted, size, into)
        folder = into / str(manifest["session"])
        for part in wanted:
            _extract_part(archive, entries[part.name], part, folder)
    return folder.name, manifest.get("redacted") is True


def _verify_seal(handle: BinaryIO, shown: str) -> int:
    """Verify an archive's checksum, format and zip directory size; return the size of the archive in bytes."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(max(0, size - _LONGEST_SEAL))
    tail = handle.read()
    seal = next(iter(SEAL.finditer(tail)), None)
    if seal is None or seal.end() != len(tail):
        raise _UnusableArchiveError("is not an archive of raidbench, or its end is missing")
    require_known(FileFormat.ARCHIVE, int(seal[1]), seal[2].decode(), shown)
    if checksum_of(handle, size - DIGEST).hexdigest() != seal[3].decode():
        raise _UnusableArchiveError(
            "is damaged: its checksum does not match", "Copy the archive again from where it was made."
        )
    begin = seal.start() - _END.size
    if begin < len(_END_64) + 16 or tail[begin - 20 :].startswith(_END_64):
        raise _UnusableArchiveError("is damaged, or is not a raidbench archive")
    mark, _, _, _, entries, listed, _, comment = _END.unpack(tail[begin : begin + _END.size])
    if mark != b"PK\x05\x06" or comment != len(seal[0]) or entries > MOST_PARTS + 1 or listed > 256 * (entries + 1):
        raise _UnusableArchiveError("is damaged, or is not a raidbench archive")
    return size


def _read_manifest(archive: ZipFile, shown: str) -> tuple[dict[str, Any], list[ArchivedFile]]:
    info = archive.getinfo(MANIFEST)
    if info.file_size > _LARGEST_MANIFEST:
        raise _UnusableArchiveError("is damaged, or is not a raidbench archive")
    with archive.open(_require_plain_file(info)) as entry:
        document = json.loads(entry.read(_LARGEST_MANIFEST))
    require_known(FileFormat.ARCHIVE, document["format"], document["program"], shown)
    parts = [
        ArchivedFile(name=str(item["name"]), size=int(item["size"]), sha256=str(item["sha256"]))
        for item in document["parts"]
    ]
    names = {part.name.casefold() for part in parts}
    if len(names) != len(parts) or LOG not in names or any(part.size < 0 for part in parts):
        raise _UnusableArchiveError("does not match its manifest")
    session = document["session"]
    is_name = isinstance(session, str) and "/" not in session and NAME.fullmatch(session)
    if not is_name or not all(NAME.fullmatch(part.name) for part in parts):
        raise _UnusableArchiveError("has a file whose path is outside the session")
    if document["sha256"] != digest_of(parts):
        raise _UnusableArchiveError("is damaged: the checksum of its parts does not match")
    return document, parts


def _require_room(parts: list[ArchivedFile], size: int, into: Path) -> None:
    total = sum(part.size for part in parts)
    if total > _MOST_TIMES * size + BLOCK or any(part.name == LOG and part.size > _LARGEST_LOG for part in parts):
        raise _UnusableArchiveError("was not unpacked: it would become larger than any session")
    if total + _SPARE > shutil.disk_usage(into).free:
        raise _UnusableArchiveError(
            f"needs {size_words(total)} of free space to unpack", "Set TMPDIR to a folder with enough free space."
        )


def _require_plain_file(info: ZipInfo) -> ZipInfo:
    """Return the zip entry unchanged if it is a regular file. Raises _UnusableArchiveError if it is not."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if (
        kind not in (0, stat.S_IFREG)
        or info.is_dir()
        or info.flag_bits & 1
        or info.compress_type not in (0, ZIP_DEFLATED)
    ):
        raise _UnusableArchiveError("contains entries that are not regular files")
    return info


def _extract_part(archive: ZipFile, info: ZipInfo, part: ArchivedFile, folder: Path) -> None:
    """Write an archived file to its path in `folder`, where no file may exist, and verify its size and checksum."""
    path = folder / part.name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    checksum, remaining = hashlib.sha256(), part.size
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file, archive.open(_require_plain_file(info)) as entry:
        while piece := entry.read(BLOCK):
            remaining -= len(piece)
            if remaining < 0:
                break
            file.write(piece)
            checksum.update(piece)
    if remaining or checksum.hexdigest() != part.sha256:
        raise _UnusableArchiveError(f"is damaged: {part.name} differs from what was written")
