"""Machine folders: recording of the state of a machine, and its replay for tests and bug reports."""

from __future__ import annotations

import asyncio
import fnmatch
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from backends.errors import InvalidValueError, NotFoundError, RefusedError, ToolMissingError
from backends.formats import FORMATS, FileFormat, require_known
from backends.host import SIMULATED_MACHINE, Command, Completed, FileStat, FilesystemSpace, Host, Process, WriteDenied
from backends.input_file import MEBIBYTE, read_input
from backends.output_file import make_folder, new_file
from backends.redaction import Redactor
from backends.system.streams import Pace, Recordings
from backends.system.synthetic import SyntheticHost
from backends.system.wrapped import ReadOnlyHost
from backends.text import clean
from backends.version import program_version

FORMAT = FORMATS[FileFormat.MACHINE]
"""Format version of the machine folder."""


class RecordingHost(ReadOnlyHost):
    """Host that records every result of the wrapped host, except the free space of filesystems.

    `save` writes the machine folder.
    """

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self._files: dict[str, str | None] = {}
        self._lists: dict[str, list[str]] = {}
        self._links: dict[str, str | None] = {}
        self._stats: dict[str, dict[str, Any] | None] = {}
        self._commands: dict[str, dict[str, Any]] = {}
        self._which: dict[str, str | None] = {}
        self._writable: dict[str, str | None] = {}

    def _refuse(self, action: str) -> RefusedError:
        return RefusedError("A recorded host cannot be changed.")

    async def run(self, command: Command) -> Completed:
        """Run a read-only command and record its result. Raises RefusedError for a mutating one."""
        done = await super().run(command)
        self._commands["\0".join(command.argv)] = {
            "argv": list(command.argv),
            "returncode": done.returncode,
            "stdout": done.stdout,
            "stderr": done.stderr,
        }
        return done

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Raise RefusedError: streams are not recorded."""
        raise RefusedError("A recorded host cannot run programs.")

    async def read_whole(self, path: str) -> bytes | None:
        """Read all bytes of a file, record them as text, and return them."""
        content = await self._inner.read_whole(path)
        self._files[path] = None if content is None else content.decode("utf-8", "replace").rstrip()
        return content

    async def read(self, path: str) -> str | None:
        """Read a file, record its text, and return it."""
        self._files[path] = text = await self._inner.read(path)
        return text

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Read files, record their contents, and return the contents by path."""
        texts = await self._inner.read_many(paths)
        for path in paths:
            self._files[path] = texts.get(path)
        return texts

    async def list(self, pattern: str) -> tuple[str, ...]:
        """List paths, record the list, and return it."""
        paths = await self._inner.list(pattern)
        self._lists[pattern] = list(paths)
        return paths

    async def link(self, path: str) -> str | None:
        """Resolve a link, record its target, and return it."""
        self._links[path] = target = await self._inner.link(path)
        return target

    async def stat(self, path: str) -> FileStat | None:
        """Read the state of a file, record it, and return it."""
        info = await self._inner.stat(path)
        self._stats[path] = None if info is None else asdict(info)
        return info

    async def writable(self, path: str) -> str | None:
        """Check whether a file is writable, record the result, and return it."""
        self._writable[path] = why = await self._inner.writable(path)
        return why

    def which(self, names: Sequence[str]) -> str | None:
        """Find a program, record its path, and return it."""
        value = self._inner.which(names)
        self._which["\0".join(names)] = value
        return value

    def texts(self) -> Iterator[str]:
        """Yield the content of every recorded file, and the standard output and error of every recorded program."""
        yield from filter(None, self._files.values())
        for done in self._commands.values():
            yield from (value for value in done.values() if isinstance(value, str))

    def save(self, folder: Path, redactor: Redactor | None = None) -> None:
        """Write the machine folder. `redactor`: replaces identifiers by pseudonyms; None keeps them.

        Raises OSError.
        """
        hide = redactor or Redactor(patterns=False)

        def mask(value: Any) -> Any:
            match value:
                case str():
                    return hide.text(value)
                case dict():
                    return {mask(key): mask(item) for key, item in value.items()}
                case list():
                    return [mask(item) for item in value]
                case _:
                    return value

        data = {
            "format": FORMAT,
            "program": program_version(),
            "name": mask(self.name),
            "root": self.is_root,
            "files": mask(self._files),
            "lists": mask(self._lists),
            "links": mask(self._links),
            "stats": {mask(path): info for path, info in self._stats.items()},
            "commands": [{key: mask(item) for key, item in done.items()} for done in self._commands.values()],
            "which": mask(self._which),
            "writable": mask(self._writable),
        }
        folder.parent.mkdir(parents=True, exist_ok=True)
        os.close(make_folder(folder, force=True))
        with new_file(folder / "machine.json", force=True) as file:
            file.write((json.dumps(data, indent=1, sort_keys=True) + "\n").encode())


_LARGEST = 256 * MEBIBYTE
"""Maximum size of a recorded machine in bytes."""


def apart_of(folder: Path) -> str:
    """Return the name under which the state of a recorded machine is kept (`Capabilities.apart`), derived from its
    folder.
    """
    from hashlib import sha256  # imported here, because it loads a library of several megabytes

    path = os.path.realpath(folder)
    return f"recorded-{sha256(os.fsencode(path)).hexdigest()[:16]}"


class ReplayHost(SyntheticHost):
    """Host whose results come from a machine folder.

    Writes change only the state in memory, so that later reads return what was written.
    """

    def __init__(self, folder: Path, *, pace: Pace = asyncio.sleep) -> None:
        """`pace`: function that waits before each chunk of a replayed stream.

        Raises NotFoundError if the folder has no recorded machine, InvalidValueError if the recording is damaged.
        """
        file = folder / "machine.json"
        try:
            data = json.loads(read_input(file, _LARGEST).decode("utf-8"))
        except FileNotFoundError:
            raise NotFoundError(
                f"{folder} contains no recorded host.", hint="Create one with `raidbench capture DIR`."
            ) from None
        except OSError as error:
            raise InvalidValueError(f"{file} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError) as error:
            raise InvalidValueError(f"{file} is not a recorded host: {error}.") from error
        if not isinstance(data, dict):
            raise InvalidValueError(f"{file} is not a recorded host.")
        shown = f"The recorded host {clean(str(folder), 300)}"
        try:
            require_known(FileFormat.MACHINE, data.get("format"), data.get("program"), shown)
        except ValueError as error:
            raise InvalidValueError(f"{file} is not a recorded host: {error}.") from error
        self.capabilities = replace(SIMULATED_MACHINE, apart=apart_of(folder))
        self.name = clean(str(data.get("name", "recorded")), 64)
        """Name of the recorded machine."""
        self.is_root = bool(data.get("root"))
        """Whether the machine was recorded as root."""
        self._pace = pace
        self._recordings = Recordings(folder)
        try:
            self._take(data)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise InvalidValueError(f"{file} is damaged.", evidence=f"{type(error).__name__}: {error}") from error

    def _take(self, data: dict[str, Any]) -> None:
        self._files: dict[str, str | None] = dict(data.get("files", {}))
        self._lists: dict[str, list[str]] = dict(data.get("lists", {}))
        self._links: dict[str, str | None] = dict(data.get("links", {}))
        self._stats: dict[str, dict[str, Any] | None] = dict(data.get("stats", {}))
        self._commands = {"\0".join(entry["argv"]): entry for entry in data.get("commands", [])}
        self._which: dict[str, str | None] = dict(data.get("which", {}))
        self._writable: dict[str, str | None] = dict(data.get("writable", {}))

    async def run(self, command: Command) -> Completed:
        """Return the recorded result. Raises ToolMissingError for a command that was not recorded."""
        entry = self._commands.get("\0".join(command.argv))
        if entry is None:
            raise ToolMissingError(f"{command.argv[0]} was not recorded with these arguments.")
        return Completed(returncode=entry["returncode"], stdout=entry["stdout"], stderr=entry["stderr"], seconds=0.0)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Replay recorded output.

        Raises ToolMissingError if no recording matches, InvalidValueError if it is damaged.
        """
        return self._recordings.start(command, self._pace)

    async def read(self, path: str) -> str | None:
        """Return the text that was recorded or last written; None without one."""
        return self._files.get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the recorded or last written texts by path."""
        return {path: text for path in paths if (text := self._files.get(path)) is not None}

    async def write(self, path: str, text: str) -> None:
        """Store the text in memory.

        In a file that lists choices in sysfs format, such as `scheduler`, move the brackets to the written choice.
        """
        old = self._files.get(path)
        if old is None:
            raise NotFoundError(f"{path} was not recorded.")
        tokens = re.sub(r"[][]", "", old).split()
        if "[" in old and text in tokens:
            self._files[path] = " ".join(f"[{word}]" if word == text else word for word in tokens)
        else:
            self._files[path] = text

    async def read_whole(self, path: str) -> bytes | None:
        """Return the content that was recorded or last installed; None without one."""
        text = self._files.get(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Store the content in memory."""
        self._files[path] = content.decode("utf-8", "surrogateescape") or None

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Return the list that was recorded for this pattern, or else the recorded files that match it."""
        if pattern in self._lists:
            return tuple(self._lists[pattern])
        existing = (path for path, text in self._files.items() if text is not None)
        return tuple(sorted(path for path in existing if fnmatch.fnmatchcase(path, pattern)))

    async def link(self, path: str) -> str | None:
        """Return the recorded target of a link, or None."""
        return self._links.get(path)

    async def stat(self, path: str) -> FileStat | None:
        """Return the recorded state of a file, or None."""
        entry = self._stats.get(path)
        return None if entry is None else FileStat(**entry)

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Return None: free space is not recorded."""
        return None

    async def writable(self, path: str) -> str | None:
        """Return the recorded reason why the file cannot be written; None if a write may be tried.

        If no reason was recorded, root may write the recorded files.
        """
        if path in self._writable:
            return self._writable[path]
        if self._files.get(path) is None:
            return "the kernel does not support it for this device"
        return None if self.is_root else WriteDenied.NEEDS_ROOT

    def which(self, names: Sequence[str]) -> str | None:
        """Return the recorded path of a program, or None."""
        return self._which.get("\0".join(names))
