"""Watch on the device stack of a run. It stops the run if the stack changes or can no longer be read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import TracebackType

from app.core.benchmark.abort_conditions import AbortCondition
from app.core.benchmark.run_plan import RunPlan
from app.core.session.results import RunResult, RunStatus
from backends.errors import RaidbenchError
from backends.guard import Intent, use_clause
from backends.helper_device import helper_device_facts
from backends.host import Host
from backends.system.local.mapper import read_tables
from backends.system.local.uninterruptible import run_in_thread
from backends.text import clean
from backends.topology import kernel_name, node_path, scan_topology
from backends.topology.device_mapper import TABLE as TABLES
from backends.topology.device_mapper import dmsetup_output, is_mapped, segments_by_name
from backends.topology.footing import TABLE, Footing, changes, holder_signs, read_quick, table_text
from backends.topology.mounts import parse_mountinfo
from backends.values import dataclass

FOOTING = AbortCondition(
    name="footing",
    every=0.1,
    reason="Stopped",
    hint=(
        "Some data may have been written to a different device, or into a snapshot. Find what uses these "
        "devices (lsblk, dmsetup table, lvs), and measure again."
    ),
)

BLIND_SECONDS = 15.0
"""Seconds without complete output from dmsetup after which a writing run is stopped."""

_TABLE_SECONDS = 1.0
"""Seconds between two reads of the device-mapper tables while there are no device events."""
_EVENT_SECONDS = 0.2
"""Minimum seconds between two reads of the device-mapper tables while device events arrive."""
_NAMING_SECONDS = 10.0
"""Maximum seconds for finding the users of the devices after a run was stopped."""

_EVENTS = "/sys/kernel/uevent_seqnum"
"""File with the number of device events; the kernel sends one when a table is activated (Documentation/ABI)."""
_LOOPS = "/sys/block/loop*/loop/backing_file"
_MOUNTS = ("/proc/self/mountinfo", "/proc/1/mountinfo")

_KNOWN_BEFORE = frozenset({"open", "exclusive", "closed", "unknown", "unseen"})
"""Kinds of use that the run itself causes, through fio and its open file, so they do not stop it.

Before the run the guard found no other use.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedDevice:
    """A device that a run measures."""

    device: str
    """Device node by the kernel's name of the device, such as `/dev/dm-0`; not a link to it."""
    footing: Footing
    """Device stack below the device when the guard checked it."""
    writing: bool
    """Whether the run writes to the device. If so, the run stops on any new use, and if the stack cannot be read."""


def footing_watch(host: Host, ready: RunPlan, stop: asyncio.Event) -> FootingWatch:
    """Return the watch on the devices of a run.

    It watches nothing for a scratch file, or on a simulated host, where nothing can be harmed.
    """
    devices = [
        WatchedDevice(device=result.device, footing=result.footing, writing=result.intent is Intent.WRITE)
        for site in ready.sites
        if (result := site.judgement) is not None
    ]
    return FootingWatch(host, devices if host.capabilities.harmed else (), stop)


class FootingWatch:
    """Asynchronous context manager that compares the device stack of a run with the stack that the guard checked.

    It reads sysfs ten times a second. With root privileges it also reads the kernel's tables, which needs no program.
    It runs dmsetup before the run, once a second, after every device event, and at the end of the run.
    """

    def __init__(
        self,
        host: Host,
        devices: Sequence[WatchedDevice],
        stop: asyncio.Event,
        *,
        clock: Callable[[], float] = time.monotonic,
        blind_after: float = BLIND_SECONDS,
    ) -> None:
        self._host = host
        self._devices = tuple(devices)
        self._before: dict[str, str] = {key: text for device in devices for key, text in device.footing.items()}
        self._layers = tuple(dict.fromkeys(key.rpartition(" ")[0] for key in self._before))
        self._mapped = tuple(layer for layer in self._layers if is_mapped(layer))
        self._writing = any(device.writing for device in devices)
        self._stop = stop
        self._clock = clock
        self._blind_after = blind_after
        self._answered = clock()
        self._signs: frozenset[str] = frozenset()
        self._events: str | None = None
        self._reasons: tuple[str, ...] = ()
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def __aenter__(self) -> FootingWatch:
        """Compare the whole stack once before the run writes anything, then start the watch."""
        if not self._layers:
            return self
        self._answered = self._clock()
        self._signs = frozenset(holder_signs(self._before))
        await self._run_watcher(self._compare)
        if not self._reasons:
            watchers = (self._watch_sysfs, self._watch_tables)
            self._tasks = tuple(asyncio.create_task(self._run_watcher(work), name=FOOTING.name) for work in watchers)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Compare the whole stack once more, to notice the last changes; after a change, find the devices' users."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if kind is not None or not self._layers:
            return
        if not self._reasons:
            await self._run_watcher(self._compare)
        if self._reasons and self._writing:
            await self._add_uses()

    def explain(self, figures: RunResult) -> RunResult:
        """Return the results; if the device stack changed, with that as the reason, however the run ended."""
        if not self._reasons:
            return figures
        fio_reason = f" {figures.reason}" if figures.status is RunStatus.FAILED and figures.reason else ""
        reason = f"{FOOTING.reason}: {', '.join(self._reasons)}.{fio_reason}"
        status = RunStatus.STOPPED if figures.status is RunStatus.OK else figures.status
        return replace(figures, status=status, reason=reason, hint=FOOTING.hint)

    async def _run_watcher(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a watcher until it detects a change. If the watcher itself fails, stop the run."""
        try:
            await work()
        except Exception as error:
            self._end((f"the devices below the target cannot be checked any longer ({type(error).__name__})",))

    async def _watch_sysfs(self) -> None:
        while not self._reasons:
            await asyncio.sleep(FOOTING.every)
            await self._compare_sysfs()

    async def _watch_tables(self) -> None:
        last, signed = self._clock(), self._clock()
        while not self._reasons:
            await asyncio.sleep(FOOTING.every)
            since = self._clock() - last
            signs = await self._signs_now(mounts=since >= _TABLE_SECONDS) if self._writing else self._signs
            events = await self._host.read(_EVENTS)
            new = not signs <= self._signs
            if since < _EVENT_SECONDS or (since < _TABLE_SECONDS and not new and events == self._events):
                continue
            last, self._events = self._clock(), events
            await self._compare_tables()
            if not new:
                signed = self._clock()
            elif await self._end_if_used():
                self._signs |= signs
            elif self._clock() >= signed + self._blind_after:
                self._end(
                    (
                        (
                            f"a device was built on top of the target, and after {self._blind_after:.0f} s its use "
                            "is still unknown"
                        ),
                    )
                )

    async def _compare(self) -> None:
        await self._compare_sysfs()
        await self._compare_tables()

    async def _compare_sysfs(self) -> None:
        """Compare the sources that need no program: sysfs and, with root privileges, the kernel's tables."""
        self._end(changes(self._before, await read_quick(self._host, self._layers)))
        if self._mapped and self._host.is_root and self._host.capabilities.opens_devices:
            with suppress(OSError):  # the next check follows soon, and dmsetup reports the tables too
                self._end(changes(self._before, await self._kernel_tables()))

    async def _kernel_tables(self) -> Footing:
        paths = {layer: f"/sys/block/{layer}/dev" for layer in self._mapped}
        texts = await self._host.read_many(list(paths.values()))
        numbers = {layer: texts[path] for layer, path in paths.items() if path in texts}
        tables = segments_by_name(await run_in_thread("tables", partial(read_tables, list(numbers.values()))))
        known_tables = {layer: tables[number] for layer, number in numbers.items() if tables.get(number)}
        return {f"{layer} {TABLE}": table_text(rows) for layer, rows in known_tables.items()}

    async def _compare_tables(self) -> None:
        """Compare the tables that dmsetup reports; stop a writing run if dmsetup reports nothing in time."""
        while not self._reasons and self._mapped:
            begun = self._clock()
            left = self._answered + self._blind_after - begun
            tables: Footing | None = None
            with suppress(OSError, RaidbenchError):
                async with asyncio.timeout(max(left, 0.0)):
                    tables = await self._tables()
            if tables is not None:
                self._answered = begun
                self._end(changes(self._before, tables))
                return
            if not self._writing:
                return
            if self._clock() >= self._answered + self._blind_after:
                seconds = f"{self._blind_after:.0f} s"
                device = ", ".join(device.device for device in self._devices if device.writing)
                self._end(
                    (f"the devices below {device} may have changed: dmsetup has not reported them for {seconds}",)
                )
                return
            await asyncio.sleep(FOOTING.every)

    async def _tables(self) -> Footing | None:
        """Return the current tables of all layers; None if a table is unknown now or was unknown before the run."""
        tables = segments_by_name(await dmsetup_output(self._host, TABLES))
        names = await self._host.read_many([f"/sys/block/{layer}/dm/name" for layer in self._mapped])
        tables_by_layer: dict[str, str] = {}
        for layer in self._mapped:
            rows = tables.get(names.get(f"/sys/block/{layer}/dm/name", ""))
            if not rows or f"{layer} {TABLE}" not in self._before:
                return None
            tables_by_layer[f"{layer} {TABLE}"] = table_text(rows)
        return tables_by_layer

    async def _signs_now(self, *, mounts: bool) -> frozenset[str]:
        """Return signs of the current uses: holders of each layer, loop devices and, with `mounts`, mounts and swap."""
        now = await read_quick(self._host, self._layers)
        loops = await self._host.read_many(await self._host.list(_LOOPS))
        signs = {*holder_signs(now), *map(" ".join, loops.items())}
        if mounts:
            texts = await self._host.read_many(_MOUNTS)
            signs |= {
                f"{mount.devno} {mount.source}"
                for text in texts.values()
                for mount in parse_mountinfo(text)
                if mount.source.startswith("/dev/")
            }
            signs |= set((await self._host.read("/proc/swaps") or "").split("\n"))
        return frozenset(signs)

    async def _end_if_used(self) -> bool:
        """Stop the run if something uses a device now; return False if this could not be checked."""
        try:
            async with asyncio.timeout(self._blind_after):
                self._end(await self._uses())
        except (OSError, RaidbenchError):  # a TimeoutError is an OSError
            return False
        return True

    async def _uses(self) -> tuple[str, ...]:
        """Return the new uses of the devices that the run writes to, as the guard finds them."""
        clauses: list[str] = []
        picture = None
        for device in self._devices:
            if not device.writing:
                continue
            name, label = kernel_name(device.device), device.device
            if self._host.root_side is not None:
                facts = await helper_device_facts(self._host.root_side, device.device, writing=True)
                uses, label = facts.uses, facts.shown
            else:
                picture = picture or await scan_topology(self._host, everywhere=True)
                apart = picture.with_separate(
                    picture.doubtful_pairs()
                )  # before the run, the guard proved that these are different disks
                uses = apart.uses(name) if name in picture.tree.nodes else ()
                label = (picture.link(name) if name in picture.tree.nodes else None) or label
            new_uses = [use for use in uses if use.kind not in _KNOWN_BEFORE]
            clauses += [use_clause(label if use.part is None else node_path(use.part), use) for use in new_uses]
        return tuple(clean(text, 400) for text in dict.fromkeys(clauses))

    async def _add_uses(self) -> None:
        """Add the current uses of the devices to the reasons for the stop."""
        with suppress(Exception):  # the run is stopped with its reason even if no user is found
            async with asyncio.timeout(_NAMING_SECONDS):
                uses = await self._uses()
                while not uses and await self._is_suspended():  # a program is still changing a table
                    await asyncio.sleep(FOOTING.every)
                    uses = await self._uses()
                self._reasons = tuple(dict.fromkeys((*self._reasons, *uses)))

    async def _is_suspended(self) -> bool:
        flags = await self._host.read_many([f"/sys/block/{layer}/dm/suspended" for layer in self._mapped])
        return "1" in flags.values()

    def _end(self, clauses: tuple[str, ...]) -> None:
        if clauses and not self._reasons:
            self._reasons = clauses
            self._stop.set()
