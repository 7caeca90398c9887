"""A session as one file to give away: a zip of its parts, a manifest, and a checksum of each and of the whole."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from app.core.session import event_codec
from app.core.session.documents import open_document
from app.core.session.folders import LOG
from app.core.session.multihost_names import LINES, joint_hosts
from app.core.session.redaction import redact_session, redactor_of_sessions
from app.core.session.state import Session
from app.core.session.store import load
from backends.errors import RefusedError
from backends.formats import FORMATS, FileFormat
from backends.redaction import Redactor
from backends.values import dataclass
from backends.version import program_version

FORMAT = FORMATS[FileFormat.ARCHIVE]
"""Version of the archive; raised when what is in it changes its meaning."""

MANIFEST = "manifest.json"
"""The part that lists the others."""

SEAL = re.compile(rb"raidbench-archive (\d{1,6}) by ([0-9A-Za-z.+]{1,40}) sha256=([0-9a-f]{64})")
"""The end of the file: format, the program that wrote it, checksum of all bytes before the checksum."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,5}")
"""Names of parts: below the session's folder, whatever stands in them."""

DIGEST = 64
"""Characters of a checksum."""

MOST_PARTS = 60_000
"""What a zip can list without its extensions."""

BLOCK = 1 << 20
_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO is not waited for
_FOLDERS = ("output", "runs")
_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every part: nothing is told by it, and the same session makes the same archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A file of the session."""

    name: str
    """Below its folder, with slashes."""
    size: int
    """Bytes."""
    sha256: str
    """Of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenArchive:
    """An archive that was written."""

    file: Path
    """Where it lies."""
    parts: int
    """How many files of the session are in it."""
    size: int
    """Bytes of the archive."""
    sha256: str
    """Of the file, as `sha256sum` tells it."""


def write_archive(folder: Path, file: Path, *, redact: bool = False, force: bool = False) -> WrittenArchive:
    """Put the session in `folder` into one file; an existing one is replaced only with `force`.

    `redact`: with pseudonyms for what tells whose machine it is. A session that is being written is taken as it is now.
    Raises NotFoundError, RefusedError, StorageError.
    """
    session = load(folder).session
    with open_document(file, force=force, mode=0o600) as handle:
        parts = _write_parts(handle, folder, session, session_redactor(session, folder) if redact else None)
        size, sha256 = _write_seal(handle)
    return WrittenArchive(file=file, parts=parts, size=size, sha256=sha256)


def session_redactor(session: Session, folder: Path) -> Redactor:
    """A redactor of all that the session's files tell. Raises OSError."""
    texts = (line for name in _part_names(folder) if name != LOG for line in _read_lines(folder / name))
    return redactor_of_sessions(session, others=joint_hosts(folder), texts=texts)


def digest_of(parts: list[ArchivedFile]) -> str:
    """The checksum of all parts together: of their names, sizes and checksums, in their order."""
    return hashlib.sha256("".join(f"{part.sha256} {part.size} {part.name}\n" for part in parts).encode()).hexdigest()


def _write_parts(handle: BinaryIO, folder: Path, session: Session, redactor: Redactor | None) -> int:
    """Every part, then the manifest; how many parts there are."""
    parts: list[ArchivedFile] = []
    with ZipFile(handle, "w", ZIP_DEFLATED) as archive:
        for name in _part_names(folder):
            if redactor is None:
                pieces = _read_blocks(folder / name)
            elif name == LOG:
                pieces = _event_lines(session, redactor)
            elif LINES.fullmatch(name):
                continue  # what hosts said, with serial numbers that are known to be such there alone
            else:
                pieces = (redactor.text(line).encode() for line in _read_lines(folder / name))
            parts.append(_write_part(archive, name if redactor is None else redactor.text(name), pieces))
            if len(parts) > MOST_PARTS:
                raise RefusedError(f"The session has more than {MOST_PARTS:,} files, which no archive holds.")
        manifest = {
            "format": FORMAT,
            "program": program_version(),
            "session": _manifest_name(
                folder.resolve().name if redactor is None else redactor.text(folder.resolve().name)
            ),
            "made": time.time(),
            "redacted": redactor is not None,
            "parts": [asdict(part) for part in parts],
            "sha256": digest_of(parts),
        }
        _write_part(archive, MANIFEST, iter((json.dumps(manifest, indent=1).encode(),)))
        archive.comment = f"raidbench-archive {FORMAT} by {program_version()} sha256={'0' * DIGEST}".encode()
    return len(parts)


def _manifest_name(name: str) -> str:
    """A session's name with nothing in it that a part's may not have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-")[:100] or "session"


def _part_names(folder: Path) -> Iterator[str]:
    """The log, then what programs said; nothing that is no file of ours."""
    yield LOG
    for top in _FOLDERS:
        for parent, below, files in os.walk(folder / top):
            below.sort()
            for path in (Path(parent, name) for name in sorted(files)):
                name = path.relative_to(folder).as_posix()
                if NAME.fullmatch(name) and stat.S_ISREG(path.lstat().st_mode):
                    yield name


def _write_part(archive: ZipFile, name: str, pieces: Iterator[bytes]) -> ArchivedFile:
    info = ZipInfo(name, _THEN)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = (stat.S_IFREG | 0o600) << 16
    checksum, size = hashlib.sha256(), 0
    with archive.open(info, "w", force_zip64=True) as entry:
        for piece in pieces:
            entry.write(piece)
            checksum.update(piece)
            size += len(piece)
    return ArchivedFile(name=name, size=size, sha256=checksum.hexdigest())


def _read_blocks(path: Path) -> Iterator[bytes]:
    """A file as long as it is now, whatever is added meanwhile."""
    with open(os.open(path, _READING), "rb") as file:
        remaining = os.fstat(file.fileno()).st_size
        while remaining and (piece := file.read(min(BLOCK, remaining))):
            remaining -= len(piece)
            yield piece


_LONGEST_LINE = 64 << 20
"""Characters of a line: an identifier that is cut in two is not recognised."""


def _read_lines(path: Path) -> Iterator[str]:
    """Of a file of text; a line is cut only where it is longer than any that a program writes."""
    with open(os.open(path, _READING), encoding="utf-8", errors="replace") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line


def _event_lines(session: Session, redactor: Redactor) -> Iterator[bytes]:
    for event in redact_session(session, redactor).events:
        yield event_codec.encode(event).encode() + b"\n"


def _write_seal(handle: BinaryIO) -> tuple[int, str]:
    """Write the checksum of all that stands before it at the end; size and checksum of the whole file."""
    size = handle.seek(0, os.SEEK_END)
    checksum = checksum_of(handle, size - DIGEST)
    handle.seek(size - DIGEST)
    handle.write(checksum.hexdigest().encode())
    checksum.update(checksum.hexdigest().encode())
    return size, checksum.hexdigest()


def checksum_of(handle: BinaryIO, length: int) -> hashlib._Hash:
    """SHA-256 of the first `length` bytes."""
    checksum = hashlib.sha256()
    handle.seek(0)
    while length > 0 and (piece := handle.read(min(BLOCK, length))):
        checksum.update(piece)
        length -= len(piece)
    return checksum
