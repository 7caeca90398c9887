"""State of a simulated host in a JSON file, which several commands and the TUI share."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from backends.errors import InvalidValueError, StorageError
from backends.formats import FORMATS, FileFormat, require_known
from backends.json_text import indented_json
from backends.output_file import replace_file
from backends.simulator.host_time import HostTime
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.rack import Rack
from backends.version import program_version

_RENEWAL = "To start with a new simulated rack, add --demo-reset."


def rack_data(rack: Rack) -> dict[str, Any]:
    """Return the state as JSON data."""
    # The clock is replaced, because asdict() would deep-copy a bound method with its object.
    data = asdict(replace(rack, clock=time.time))
    del data["clock"]
    return {"format": FORMATS[FileFormat.RACK], "program": program_version(), **data}


def rack_from_data(data: dict[str, Any]) -> Rack:
    """Return the state from JSON data. Raises InvalidValueError; NewerError, UnreleasedError for other versions."""
    try:
        require_known(FileFormat.RACK, data["format"], data.get("program"), "The simulated rack", renewal=_RENEWAL)
        rack: Rack = _read_value(Rack, {key: value for key, value in data.items() if key not in ("format", "program")})
        for card in rack.cards:
            card.type  # noqa: B018  (raises KeyError for an unknown model)
        return rack
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(
            "This is not the state of a simulated rack.", evidence=f"{type(error).__name__}: {error}"
        ) from error


@lru_cache
def _types_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read_value(kind: Any, value: Any) -> Any:
    """Return a JSON value converted to its declared type, including types nested in lists, tuples and dicts."""
    if isinstance(kind, type):
        if is_dataclass(kind):
            types = _types_of(kind)
            return kind(**{key: _read_value(types[key], item) for key, item in value.items()})
        return kind(value) if issubclass(kind, Enum) else value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (list, tuple):
        return origin(_read_value(arguments[0], item) for item in value)
    if origin in (dict, Mapping):
        return {key: _read_value(arguments[1], item) for key, item in value.items()}
    return None if value is None else _read_value(arguments[0], value)


_MOMENT = 0.01
"""Simulated seconds within which background work is not advanced again, because a scan reads thousands of files."""


class RackFile:
    """State of a simulated host, stored in a file or, without a path, only in memory."""

    def __init__(self, path: Path | None, *, make: Callable[[], Rack] = demo_rack, speed: float = 1.0) -> None:
        """Prepare the state; the file is created at the first change. `speed`: simulated seconds per real second."""
        self._path = path
        self._make = make
        self._time = HostTime(speed)
        self._rack: Rack | None = None
        self._seen: tuple[int, int] | None = None
        self._settled = float("-inf")
        self._changes = 0
        self._running: set[str] = set()

    @contextmanager
    def hurry(self, speed: float) -> Iterator[None]:
        """Let the time of the host run so many times as fast inside the context."""
        with self._time.hurry(speed):
            self.rack.clock = self._time.now
            yield

    @property
    def mark(self) -> tuple[int, object]:
        """Token that changes whenever the state changes."""
        return self._changes, self._seen

    @property
    def rack(self) -> Rack:
        """Current state, including other processes' changes. Raises StorageError or InvalidValueError if unreadable."""
        mark = self._mark()
        if self._rack is None or mark != self._seen:
            stored = self._read()
            self._rack = stored if stored is not None else self._make()
            if stored is not None or self._time.speed != 1.0:
                self._rack.clock = self._time.now
            self._seen = mark
            self._settled = float("-inf")
        now = self._rack.now()
        if not 0 <= now - self._settled < _MOMENT:
            self._changes += self._rack.settle()
            self._settled = now
        return self._rack

    @contextmanager
    def edit(self) -> Iterator[Rack]:
        """Lock the state, yield it for a change, and save it afterwards. Raises StorageError if that fails."""
        with self._lock():
            rack = self.rack
            try:
                yield rack
            finally:
                self._changes += 1
                self._settled = float("-inf")
            rack.settle()
            self._write(rack)

    @contextmanager
    def lock_program(self, program: str) -> Iterator[bool]:
        """Hold a lock on a program name. Yield False if the program is already running on this host, else True."""
        if self._path is None:
            is_free = program not in self._running
            self._running.add(program)
            try:
                yield is_free
            finally:
                if is_free:
                    self._running.discard(program)
            return
        with contextlib.ExitStack() as stack:
            is_free = True
            with contextlib.suppress(FileNotFoundError):
                lock = stack.enter_context(open(self._path.with_suffix(f".{program}"), "a"))
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    is_free = False
            yield is_free

    def _mark(self) -> tuple[int, int] | None:
        """Return the modification time and inode of the file, or None without a file."""
        if self._path is None:
            return None
        try:
            info = os.stat(self._path)
        except OSError:
            return None
        return info.st_mtime_ns, info.st_ino

    def _read(self) -> Rack | None:
        if self._path is None:
            return None
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._storage_error("read", error) from error
        except (ValueError, RecursionError) as error:
            raise self._invalid_state(error) from error
        if not isinstance(data, dict):
            raise self._invalid_state(ValueError("no object"))
        try:
            return rack_from_data(data)
        except InvalidValueError as error:
            raise self._invalid_state(error) from error

    def _storage_error(self, verb: str, error: OSError) -> StorageError:
        return StorageError(
            f"The state of the simulated rack cannot be {verb}: {error.strerror}.",
            hint=f"Check {self._path}, or set RAIDBENCH_STATE_DIR to a folder of your own.",
            evidence=str(error),
        )

    def _invalid_state(self, error: Exception) -> InvalidValueError:
        return InvalidValueError(
            f"{self._path} is not a state of the simulated rack that this version can read.",
            hint="Remove it or start with --demo-reset. Either restores the initial state of the rack.",
            evidence=str(getattr(error, "evidence", "") or error),
        )

    def _write(self, rack: Rack) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self._path, indented_json(rack_data(rack)) + "\n", mode=0o666)
        except OSError as error:
            raise self._storage_error("written", error) from error
        self._seen = self._mark()

    @contextmanager
    def _lock(self) -> Iterator[None]:
        if self._path is None:
            yield
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = open(self._path.with_suffix(".lock"), "a")  # noqa: SIM115  (closed below)
        except OSError as error:
            raise StorageError(
                f"The simulated rack cannot be locked: {error.strerror}.", evidence=str(self._path)
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def reset(self) -> None:
        """Discard the stored state. Raises StorageError if the file cannot be removed."""
        self._rack = None
        if self._path is not None:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(f"{self._path} cannot be removed: {error.strerror}.") from error
