"""Recorded output of long-running programs, replayed at its original pace."""

from __future__ import annotations

import asyncio
import fnmatch
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from backends.errors import InvalidValueError, ToolMissingError
from backends.formats import FORMATS, FileFormat, require_known
from backends.host import Command
from backends.input_file import MEBIBYTE, open_input
from backends.system.synthetic import SyntheticProcess
from backends.values import dataclass
from backends.version import program_version

FORMAT = FORMATS[FileFormat.STREAM]
"""Format version of a recorded stream."""

FOLDER = "streams"
"""Subfolder of a machine folder with one `NAME.json.gz` per stream."""

_INPUT_LIMIT = MEBIBYTE
_LARGEST = 256 * MEBIBYTE
"""Maximum size of a recorded stream after decompression, in bytes."""


Pace = Callable[[float], Awaitable[object]]
"""Function that waits before the next chunk is replayed.

Its argument is the recorded time in seconds since the previous chunk.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Output of one run of a program, with the time of each chunk."""

    argv: tuple[str, ...]
    """Patterns (`*`, `?`) that the arguments of a command must match.

    If the last pattern is `**`, it matches all remaining arguments.
    """
    lines: tuple[str, ...] = ()
    """Lines that the file named by the last argument must contain: for fio the job file, which identifies the run."""
    chunks: tuple[tuple[float, str], ...]
    """Chunks of standard output: for each, the seconds since the start and the text."""
    seconds: float
    """Run time in seconds."""
    returncode: int = 0
    """Exit status."""
    stderr: str = ""
    """Standard error."""

    def fits(self, command: Command) -> bool:
        """Return whether this recording can be replayed as the output of `command`."""
        wanted = self.argv
        args: Sequence[str] = command.argv
        if wanted[-1:] == ("**",):
            wanted = wanted[:-1]
            args = args[: len(wanted)]
        if len(args) != len(wanted) or not all(map(fnmatch.fnmatchcase, args, wanted)):
            return False
        return not self.lines or set(self.lines) <= _lines_of(command.argv[-1])

    def save(self, file: Path) -> None:
        """Write the recording to a file. Equal recordings give identical files. Raises OSError."""
        data = {
            "format": FORMAT,
            "program": program_version(),
            "argv": self.argv,
            "lines": self.lines,
            "seconds": self.seconds,
            "returncode": self.returncode,
            "stderr": self.stderr,
            "chunks": self.chunks,
        }
        import gzip

        file.write_bytes(gzip.compress(json.dumps(data).encode(), 9, mtime=0))

    @classmethod
    def load(cls, file: Path) -> Recording:
        """Return the recording in a file. Raises InvalidValueError if it is damaged."""
        try:
            data: dict[str, Any] = json.loads(_unpack(file))
            require_known(FileFormat.STREAM, data["format"], data.get("program"), f"The recorded stream {file.name}")
            return cls(
                argv=tuple(map(str, data["argv"])),
                lines=tuple(map(str, data["lines"])),
                chunks=tuple((float(at), str(text)) for at, text in data["chunks"]),
                seconds=float(data["seconds"]),
                returncode=int(data["returncode"]),
                stderr=str(data["stderr"]),
            )
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidValueError(
                f"{file} is not a recorded stream.", evidence=f"{type(error).__name__}: {error}"
            ) from error


def _unpack(file: Path) -> bytes:
    """Return the decompressed content of a recorded stream. Raises OSError, EOFError, zlib.error, ValueError."""
    import gzip

    with open_input(file) as packed, gzip.GzipFile(fileobj=packed) as text:
        data = text.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError("it is too large")
    return data


class Recordings:
    """All streams of a machine folder.

    The n-th start of a program replays the n-th recording that matches it. Further starts replay the last one.
    """

    def __init__(self, folder: Path) -> None:
        """`folder`: the machine folder; its streams are read when the first program is started."""
        self._folder = folder / FOLDER
        self._started: dict[tuple[Path, ...], int] = {}
        self._recordings: dict[Path, Recording] | None = None

    def start(self, command: Command, pace: Pace) -> ReplayedProcess:
        """Start replaying the matching recording. Raises ToolMissingError without one, InvalidValueError if damaged."""
        if self._recordings is None:
            self._recordings = {file: Recording.load(file) for file in sorted(self._folder.glob("*.json.gz"))}
        fitting = tuple(file for file, recording in self._recordings.items() if recording.fits(command))
        if not fitting:
            names = ", ".join(file.name.removesuffix(".json.gz") for file in self._recordings)
            raise ToolMissingError(
                f"The recording has no output of {command.argv[0]} for this job.",
                hint=f"Recorded streams: {names}." if names else "This recording contains no running program.",
            )
        turn = self._started.get(fitting, 0)
        self._started[fitting] = turn + 1
        return ReplayedProcess(self._recordings[fitting[min(turn, len(fitting) - 1)]], pace)


class ReplayedProcess(SyntheticProcess):
    """Process that replays a recording."""

    def __init__(self, recording: Recording, pace: Pace) -> None:
        super().__init__(recording.returncode)
        self._recording = recording
        self._pace = pace

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield output at its recorded times.

        After a stop, yield what fio prints after a signal: a message, then the last chunk, which is a JSON document.
        """
        before = 0.0
        last = ""
        try:
            for at, text in self._recording.chunks:
                if not await self._wait(at - before):
                    yield f"fio: terminating on signal 2\n{last}".encode()
                    return
                before, last = at, text
                yield text.encode()
            await self._wait(self._recording.seconds - before)
        finally:
            self._over.set()

    async def _wait(self, seconds: float) -> bool:
        """Wait for the next chunk; return False if the process was stopped meanwhile."""
        waiting = asyncio.ensure_future(self._pace(max(0.0, seconds)))
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            stopped.cancel()
        return not self._stop.is_set()

    def stderr(self) -> str:
        """Return the complete standard error."""
        return self._recording.stderr


def _lines_of(path: str) -> set[str]:
    try:
        with open_input(path) as file:
            return set(file.read(_INPUT_LIMIT).decode("utf-8", "replace").splitlines())
    except OSError:
        return set()
