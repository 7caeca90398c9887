"""A load under way: what it tells becomes what the session hears, and those who watch it are told when it counts."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from app.engine.advisor.watching import Watch
from app.engine.fio import events as load_events
from app.engine.members import MemberMeter
from app.engine.session.events import (
    Advised,
    AnyEvent,
    CpuSampled,
    MembersSampled,
    PhaseChanged,
    SampleTaken,
    SteadinessSeen,
)
from app.engine.session.figures import Phase, RunFigures, RunStatus
from backends.text import clean

_SILENT_S = 1.0
"""Seconds without a word from fio after which the members are looked at all the same."""


class Following:
    """One run as the session hears of it."""

    def __init__(
        self, run_id: str, emit: Callable[[AnyEvent], None], *, meter: MemberMeter | None, watch: Watch | None
    ) -> None:
        """`meter`: of the devices below, None for none. `watch`: gives advice while it is measured."""
        self._id = run_id
        self._emit = emit
        self._meter = meter
        self._watch = watch
        self._phase = Phase.PREPARING

    async def follow(
        self,
        events: AsyncGenerator[load_events.LoadEvent, None],
        lengths: Mapping[Phase, float] | None = None,
    ) -> RunFigures:
        """Pass on what the load tells until it is over; `lengths` are the seconds of its phases.

        Without them it is something that comes before the run, of which nothing is judged.
        """
        watch = None if lengths is None else self._watch
        self._phase = Phase.PREPARING
        async with aclosing(events):
            async for event in events:
                match event:
                    case load_events.PhaseChanged():
                        await self._enter(event, (lengths or {}).get(event.phase), watch)
                    case load_events.SampleTaken():
                        await self._look_below(watch)
                        self._emit(SampleTaken(at=time.time(), id=self._id, sample=event.sample))
                        if watch is not None and (said := await watch.sample(event.sample)) is not None:
                            self._emit(Advised(at=time.time(), id=self._id, advice=said))
                    case load_events.CpuSampled():
                        await self._cpu(event, watch)
                    case load_events.SteadinessSeen():
                        self._emit(SteadinessSeen(at=time.time(), id=self._id, steady=event.steady))
                    case load_events.NoiseHeard():
                        pass  # in the raw output and in the verdict's reason
                    case load_events.Finished():
                        return event.figures
        return RunFigures(status=RunStatus.FAILED, reason="fio ended without a message.")

    async def _enter(self, event: load_events.PhaseChanged, seconds: float | None, watch: Watch | None) -> None:
        if event.phase is Phase.MEASURING is not self._phase:  # from here on counts
            if self._meter is not None:
                await self._meter.begin()
            if watch is not None:
                await watch.begin()
        self._phase = event.phase
        self._emit(
            PhaseChanged(
                at=time.time(),
                id=self._id,
                phase=event.phase,
                seconds=seconds,
                message=clean(event.note, 200),
                total_bytes=event.total_bytes,
            )
        )

    async def _cpu(self, event: load_events.CpuSampled, watch: Watch | None) -> None:
        if event.silent_s > _SILENT_S:  # what the members do while fio says nothing
            await self._look_below(watch)
        if watch is not None and self._phase is Phase.MEASURING:
            watch.cpu(event.fio_percent_of_core, event.host_percent)
        self._emit(
            CpuSampled(
                at=time.time(),
                id=self._id,
                fio_percent_of_core=event.fio_percent_of_core,
                host_percent=event.host_percent,
            )
        )

    async def _look_below(self, watch: Watch | None) -> None:
        """Tell what the members did since the last time; not once the job was told to stop: it measures no more."""
        if self._meter is None or self._phase is Phase.STOPPING or not (members := await self._meter.take()):
            return
        self._emit(MembersSampled(at=time.time(), id=self._id, members=members))
        if watch is not None and self._phase is Phase.MEASURING:
            watch.members(members)
