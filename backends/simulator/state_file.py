"""The rack on disk: one JSON file, so that several commands, and the workbench beside them, share one rack."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from backends.errors import InvalidValueError, StorageError
from backends.formats import FORMATS, FileFormat, require_known
from backends.json_text import indented
from backends.model import Level
from backends.output_file import replace_file
from backends.simulator.bcache import BcacheDevice
from backends.simulator.caches import CacheCounts
from backends.simulator.controller import Battery, SimulatedCard
from backends.simulator.disk import MultipathDisk, SimulatedDrive
from backends.simulator.fusionio import IoMemory
from backends.simulator.lvm.volumes import LvmGroup, LvmVolume
from backends.simulator.md_array import MdArray, MdMember
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.rack import Rack
from backends.simulator.smartarray.cards import SmartBay, SmartCard, SmartVolume
from backends.simulator.smcli import DiskSystem, HostDisk
from backends.simulator.threeware import SimulatedPort, SimulatedThreeware, SimulatedUnit
from backends.simulator.volume import Content, Volume
from backends.simulator.zfs.module import ZfsModule
from backends.simulator.zfs.pool import Dataset, ZfsPool
from backends.version import program_version


def rack_data(rack: Rack) -> dict[str, Any]:
    """The rack as JSON."""
    data = asdict(replace(rack, clock=time.time))  # a clock of its own would be copied with all that it hangs from
    del data["clock"]
    return {"format": FORMATS[FileFormat.RACK], "program": program_version(), **data}


def rack_from_data(data: dict[str, Any]) -> Rack:
    """Return the rack out of what `dumped` gave. Raises InvalidValueError, NewerError."""
    try:
        require_known(FileFormat.RACK, data["format"], data.get("program"), "The simulated rack")
        rest = {key: value for key, value in data.items() if key not in ("format", "program", *_MADE)}
        return Rack(**{key: make(data[key]) for key, make in _MADE.items() if key in data}, **rest)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError("That is no simulated rack.", evidence=f"{type(error).__name__}: {error}") from error


def _card(row: dict[str, Any]) -> SimulatedCard:
    battery = Battery(**row["battery"]) if row["battery"] is not None else None
    row = row | {key: tuple(row[key]) for key in ("seen_by", "options", "pending")}
    disks = [SimulatedDrive(**disk) for disk in row["disks"]]
    card = SimulatedCard(
        **(row | {"battery": battery, "disks": disks, "volumes": [_volume(item) for item in row["volumes"]]})
    )
    card.type  # noqa: B018  (a model that is not known is no rack)
    return card


def _array(row: dict[str, Any]) -> MdArray:
    return MdArray(**(row | {"members": [MdMember(**member) for member in row["members"]]}))


def _group(row: dict[str, Any]) -> LvmGroup:
    volumes = [LvmVolume(**(item | {"counts": CacheCounts(**item["counts"])})) for item in row["volumes"]]
    return LvmGroup(**(row | {"volumes": volumes}))


def _smart(row: dict[str, Any]) -> SmartCard:
    volumes = (SmartVolume(**(item | {"content": _content(item["content"])})) for item in row["volumes"])
    return SmartCard(**(row | {"bays": tuple(SmartBay(**bay) for bay in row["bays"]), "volumes": tuple(volumes)}))


def _threeware(row: dict[str, Any]) -> SimulatedThreeware:
    units = [
        SimulatedUnit(**(item | {"ports": tuple(item["ports"]), "content": _content(item["content"])}))
        for item in row["units"]
    ]
    return SimulatedThreeware(**(row | {"ports": [SimulatedPort(**item) for item in row["ports"]], "units": units}))


def _system(row: dict[str, Any]) -> DiskSystem:
    blocks, volumes = tuple(row["blocks"]), [HostDisk(**item) for item in row["volumes"]]
    return DiskSystem(**(row | {"blocks": blocks, "volumes": volumes}))


def _pathed(row: dict[str, Any]) -> MultipathDisk:
    return MultipathDisk(**(row | {key: tuple(row[key]) for key in ("paths", "hosts", "pci")}))


def _pool(row: dict[str, Any]) -> ZfsPool:
    return ZfsPool(**(row | {"datasets": {name: Dataset(**item) for name, item in row["datasets"].items()}}))


def _content(row: dict[str, Any] | None) -> Content | None:
    return None if row is None else Content(**row)


def _volume(row: dict[str, Any]) -> Volume:
    made = {"content": _content(row["content"]), "level": Level(row["level"]), "places": tuple(row["places"])}
    return Volume(**(row | made))


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "cards": lambda rows: [_card(row) for row in rows],
    "smart": lambda tools: {tool: tuple(map(_smart, rows)) for tool, rows in tools.items()},
    "threeware": lambda rows: [_threeware(row) for row in rows],
    "late": lambda cards: {number: _smart(row) for number, row in cards.items()},
    "lying": lambda contents: {name: Content(**row) for name, row in contents.items()},
    "systems": lambda rows: [_system(row) for row in rows],
    "flash": lambda rows: [IoMemory(**row) for row in rows],
    "pathed": lambda rows: [_pathed(row) for row in rows],
    "pools": lambda rows: {name: _pool(row) for name, row in rows.items()},
    "zfs": lambda row: None if row is None else ZfsModule(**row),
    "md": lambda rows: {name: _array(row) for name, row in rows.items()},
    "bcache": lambda rows: {name: BcacheDevice(**row) for name, row in rows.items()},
    "stopped": lambda rows: {name: _array(row) for name, row in rows.items()},
    "lvm": lambda rows: {name: _group(row) for name, row in rows.items()},
    "caches": lambda rows: {name: CacheCounts(**row) for name, row in rows.items()},
}
"""What makes the parts of a rack that are more than JSON."""


class RackFile:
    """The rack of one state folder; without a folder a rack of its own in memory."""

    def __init__(self, path: Path | None, *, make: Callable[[], Rack] = demo_rack, speed: float = 1.0) -> None:
        """`path` is made when something changes. `speed`: simulated seconds in a real one."""
        self._path = path
        self._make = make
        self._speed = speed
        self._begun = time.time()
        self._rack: Rack | None = None
        self._seen: tuple[int, int] | None = None
        self._changes = 0
        self._running: set[str] = set()

    def _now(self) -> float:
        """Time that runs as fast as the rest of the simulation."""
        return self._begun + (time.time() - self._begun) * self._speed

    @property
    def mark(self) -> tuple[int, object]:
        """Equal as long as the rack was not changed."""
        return self._changes, self._seen

    @property
    def rack(self) -> Rack:
        """The rack as it is now, whoever changed it last. Raises StorageError, InvalidValueError."""
        mark = self._mark()
        if self._rack is None or mark != self._seen:
            stored = self._read()
            clock = None if stored is None else self._now
            self._rack = stored if stored is not None else self._make()
            if clock is not None or self._speed != 1.0:
                self._rack.clock = self._now
            self._seen = mark
        self._changes += self._rack.settle()
        return self._rack

    @contextmanager
    def changing(self) -> Iterator[Rack]:
        """The rack for changing it: nobody else does meanwhile, and it is on disk afterwards. Raises StorageError."""
        with self._lock():
            rack = self.rack
            try:
                yield rack
            finally:
                self._changes += 1
            rack.settle()
            self._write(rack)

    @contextmanager
    def alone_with(self, program: str) -> Iterator[bool]:
        """Whether nobody else runs a program on this rack now, in whatever process; nobody can while this lasts."""
        if self._path is None:
            free = program not in self._running
            self._running.add(program)
            try:
                yield free
            finally:
                if free:
                    self._running.discard(program)
            return
        with contextlib.ExitStack() as stack:
            free = True
            with contextlib.suppress(FileNotFoundError):
                held = stack.enter_context(open(self._path.with_suffix(f".{program}"), "a"))
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    free = False
            yield free

    def _mark(self) -> tuple[int, int] | None:
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
            f"{self._path} is no simulated rack that this version understands.",
            hint="Remove it, or start with --demo-reset: the rack is then as new.",
            evidence=str(getattr(error, "evidence", "") or error),
        )

    def _write(self, rack: Rack) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self._path, indented(rack_data(rack)) + "\n", mode=0o666)
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
            lock = open(self._path.with_suffix(".lock"), "a")  # noqa: SIM115  (held below)
        except OSError as error:
            raise StorageError(
                f"The simulated rack cannot be locked: {error.strerror}.", evidence=str(self._path)
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def reset(self) -> None:
        """As new. Raises StorageError."""
        self._rack = None
        if self._path is not None:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(f"{self._path} cannot be removed: {error.strerror}.") from error
