"""Session archives: a zip of all files with a manifest. Each file and the whole archive have a checksum."""

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
"""Version of the archive format. It increases when the meaning of an archive's content changes."""

MANIFEST = "manifest.json"
"""Name of the file in an archive that lists all other files."""

SEAL = re.compile(rb"raidbench-archive (\d{1,6}) by ([0-9A-Za-z.+]{1,40}) sha256=([0-9a-f]{64})")
"""Pattern of an archive's last bytes: format, raidbench's version, and checksum of all bytes before the checksum."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,5}")
"""Legal names of files in an archive. Such a name cannot lead out of the session's folder."""

DIGEST = 64
"""Length of a checksum in hexadecimal characters."""

MOST_PARTS = 60_000
"""Maximum number of files in an archive. A zip file without the ZIP64 extensions can hold a few more."""

BLOCK = 1 << 20
_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # opening a FIFO must not block
_FOLDERS = ("output", "runs")
_THEN = (1980, 1, 1, 0, 0, 0)
"""Time stamp of every file in an archive. It is fixed, so that the same session always results in the same archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A file of a session that is stored in an archive."""

    name: str
    """Path relative to the session's folder, with slashes."""
    size: int
    """Size of the file in bytes."""
    sha256: str
    """SHA-256 checksum of the file's content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenArchive:
    """A written archive."""

    file: Path
    """Path of the archive."""
    parts: int
    """Number of files of the session in the archive."""
    size: int
    """Size of the archive in bytes."""
    sha256: str
    """SHA-256 checksum of the archive, as `sha256sum` prints it."""


def write_archive(folder: Path, file: Path, *, redact: bool = False, force: bool = False) -> WrittenArchive:
    """Write the session in `folder` to one file. An existing file is replaced only with `force`.

    `redact`: replace identifiers of the machine with pseudonyms. If a process is still writing the session, the archive
    contains what was written so far. Raises NotFoundError for a folder without a session, RefusedError for an existing
    file or a session with too many files, StorageError if the archive cannot be written.
    """
    session = load(folder).session
    with open_document(file, force=force, mode=0o600) as handle:
        parts = _write_parts(handle, folder, session, session_redactor(session, folder) if redact else None)
        size, sha256 = _write_seal(handle)
    return WrittenArchive(file=file, parts=parts, size=size, sha256=sha256)


def session_redactor(session: Session, folder: Path) -> Redactor:
    """Return a redactor for all identifiers in the session's files. Raises OSError if a file cannot be read."""
    texts = (line for name in _part_names(folder) if name != LOG for line in _read_lines(folder / name))
    return redactor_of_sessions(session, others=joint_hosts(folder), texts=texts)


def digest_of(parts: list[ArchivedFile]) -> str:
    """Return a single checksum over the names, sizes and checksums of all files, in order."""
    return hashlib.sha256("".join(f"{part.sha256} {part.size} {part.name}\n" for part in parts).encode()).hexdigest()


def _write_parts(handle: BinaryIO, folder: Path, session: Session, redactor: Redactor | None) -> int:
    """Write every file of the session to the archive, then the manifest; return the number of files."""
    parts: list[ArchivedFile] = []
    with ZipFile(handle, "w", ZIP_DEFLATED) as archive:
        for name in _part_names(folder):
            if redactor is None:
                pieces = _read_blocks(folder / name)
            elif name == LOG:
                events = redact_session(session, redactor).events
                pieces = (event_codec.encode(event).encode() + b"\n" for event in events)
            elif LINES.fullmatch(name):
                continue  # output of other hosts: their serial numbers are unknown here and would not be redacted
            else:
                pieces = (redactor.text(line).encode() for line in _read_lines(folder / name))
            parts.append(_write_part(archive, name if redactor is None else redactor.text(name), pieces))
            if len(parts) > MOST_PARTS:
                raise RefusedError(f"The session has more than {MOST_PARTS:,} files, which is too many for an archive.")
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
    """Return a session's name without characters that are illegal in the name of an archived file."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-")[:100] or "session"


def _part_names(folder: Path) -> Iterator[str]:
    """Yield the paths of the log and of output files in a session folder.

    Files that raidbench did not write are skipped.
    """
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
    """Yield the content of a file in blocks. Data that is appended to the file meanwhile is left out."""
    with open(os.open(path, _READING), "rb") as file:
        remaining = os.fstat(file.fileno()).st_size
        while remaining and (piece := file.read(min(BLOCK, remaining))):
            remaining -= len(piece)
            yield piece


_LONGEST_LINE = 64 << 20
"""Characters after which a line is split. The limit is high, because an identifier that is split is not redacted."""


def _read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file. A line longer than `_LONGEST_LINE` is split."""
    with open(os.open(path, _READING), encoding="utf-8", errors="replace") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line


def _write_seal(handle: BinaryIO) -> tuple[int, str]:
    """Replace the zeros at the end of the file by the checksum of all bytes before them; return size and checksum."""
    size = handle.seek(0, os.SEEK_END)
    checksum = checksum_of(handle, size - DIGEST)
    handle.seek(size - DIGEST)
    handle.write(checksum.hexdigest().encode())
    checksum.update(checksum.hexdigest().encode())
    return size, checksum.hexdigest()


def checksum_of(handle: BinaryIO, length: int) -> hashlib._Hash:
    """Return the SHA-256 hash object of the first `length` bytes of a file."""
    checksum = hashlib.sha256()
    handle.seek(0)
    while length > 0 and (piece := handle.read(min(BLOCK, length))):
        checksum.update(piece)
        length -= len(piece)
    return checksum
