"""Background events during a run, read from sysfs: md tasks and write-cache changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.benchmark.device_stats import Member
from app.core.benchmark.task_names import TASKS
from app.core.session.results import Phase, RunEvent, RunResult, Sample
from backends.host import Host
from backends.text import clean
from backends.topology import kernel_name
from widgets.text_utils import units

EVERY_S = 0.9
"""Seconds between two readings of the state, so that an event is reported within a second."""

_ACTION = "md/sync_action"
_CACHE = "queue/write_cache"
_IDLE = ("idle", "frozen", "none")
_KINDS = {"recover": "recovery"}
"""raidbench's names for md actions, by the kernel's name, if the two differ (drivers/md/md.c, action_show)."""


class BackgroundEventWatch:
    """Reads the md task and write cache of some disks about once a second, and records every change."""

    def __init__(self, host: Host, disks: Sequence[str], *, ramp: float, clock: Callable[[], float]) -> None:
        """Create a watch on `disks` (kernel names).

        `ramp`: seconds before the measured phase. `clock`: returns the host's time in seconds.
        """
        self.events: tuple[RunEvent, ...] = ()
        """Events so far, in order of time."""
        self._host = host
        self._ramp = ramp
        self._clock = clock
        self._paths = {f"/sys/block/{disk}/{name}": (disk, name) for disk in disks for name in (_ACTION, _CACHE)}
        self._before: Mapping[str, str] = {}
        self._next = 0.0
        self._settled = 0.0
        self._at, self._last_sample_at = 0.0, 0.0

    async def open(self) -> None:
        """Read the initial state before the job starts. Tasks that are already running then are not events."""
        self._before = await self._host.read_many(list(self._paths))
        self._paths = {path: of for path, of in self._paths.items() if path in self._before}

    async def poll(self, sample: Sample | None = None) -> tuple[RunEvent, ...]:
        """Return the events since the last call.

        `sample`: the sample of the interval that just ended; None while fio reports nothing.
        """
        now = self._clock()
        if sample is not None:
            self._at, self._last_sample_at = self._second_of(sample), now
        if not self._paths or now < self._next:
            return ()
        self._next = now + EVERY_S
        return await self._poll(self._at if sample is not None else self._at + now - self._last_sample_at)

    async def end(self) -> tuple[RunEvent, ...]:
        """Read the state once more and return all events of the run."""
        if self._paths:
            await self._poll(self._at)
        return self.events

    async def _poll(self, at: float) -> tuple[RunEvent, ...]:
        texts = await self._host.read_many(list(self._paths))
        events = tuple(
            event
            for path, (disk, name) in self._paths.items()
            if path in texts and texts[path] != self._before.get(path)
            for event in _events_between(disk, name, self._before.get(path, ""), texts[path], at)
        )
        self._before = {**self._before, **texts}
        self.events += events
        return events

    def _second_of(self, sample: Sample) -> float:
        """Return the end of a sample's interval, in seconds since the start of the run."""
        match sample.phase:
            case Phase.SETTLING:
                self._settled = sample.at
                return self._ramp + sample.at
            case Phase.MEASURING:
                return self._ramp + self._settled + sample.at
            case _:
                return sample.at


def _events_between(disk: str, name: str, before: str, now: str, at: float) -> Iterator[RunEvent]:
    """Yield the events for a sysfs file whose content changed from `before` to `now`. No I/O."""
    old, new = clean(before, 40).strip(), clean(now, 40).strip()
    if name == _CACHE:
        yield RunEvent(at=at, device=disk, kind="write-cache", before=old, after=new)
        return
    if old not in _IDLE:
        yield RunEvent(at=at, device=disk, kind=_KINDS.get(old, old), before="going on")
    if new not in _IDLE:
        yield RunEvent(at=at, device=disk, kind=_KINDS.get(new, new), after="going on")


def event_text(event: RunEvent) -> str:
    """Return a sentence about an event, without a full stop.

    For example, `A resync of md0 started at 0:12`, or `The write cache of sdb changed from write back to write through
    at 0:25`.
    """
    when = units.elapsed(event.at)
    if event.moved:
        return f"The write cache of {event.device} changed from {event.before} to {event.after} at {when}"
    task = TASKS.get(event.kind, f"a {event.kind}")
    return f"{task[:1].upper()}{task[1:]} of {event.device} {'ended' if event.before else 'started'} at {when}"


def with_background_events(figures: RunResult, events: tuple[RunEvent, ...]) -> RunResult:
    """Return the results, supplemented by these events and a warning for each event. No I/O."""
    if not events:
        return figures
    return replace(figures, happened=events, warnings=(*figures.warnings, *map(event_text, events)))


async def open_event_watch(
    host: Host, devices: Sequence[str], members: Sequence[Member], ramp: float
) -> BackgroundEventWatch | None:
    """Return an opened watch on the disks with these nodes and the md arrays below them; None for a recorded host."""
    clock = host.capabilities.counter_clock
    if clock is None:
        return None
    arrays = [member.md.split("/")[3] for member in members if member.md is not None]
    disks = tuple(dict.fromkeys([*map(kernel_name, devices), *arrays]))
    watch = BackgroundEventWatch(host, disks, ramp=ramp, clock=clock)
    await watch.open()
    return watch
