"""Monitor of a running job. It reports progress to the session and starts the counters for the measured phase."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace

from app.core.benchmark.background_events import BackgroundEventWatch
from app.core.benchmark.conditions.monitor import LiveAdvisor
from app.core.benchmark.device_stats import MemberSampler
from app.core.session.event_types import (
    AdviceGiven,
    BackgroundEventSeen,
    CpuSampled,
    LoadEvent,
    MembersSampled,
    PhaseChanged,
    Progress,
    SampleTaken,
    SteadyStateUpdated,
    WorkloadFinished,
)
from app.core.session.events import AnyEvent, LiveEvent
from app.core.session.results import Phase, RunResult, RunStatus, Sample
from backends.text import clean

_SILENT_S = 1.0
"""Seconds without output from fio after which the members are sampled anyway."""


class RunMonitor:
    """Reports the progress of one run as live events of the session."""

    def __init__(
        self,
        run_id: str,
        emit: Callable[[AnyEvent], None],
        *,
        sampler: MemberSampler,
        advisor: LiveAdvisor | None,
        event_watch: BackgroundEventWatch | None = None,
        on_sample: Callable[[Sample], None] = lambda sample: None,
    ) -> None:
        """Create a monitor that passes the progress of the run `run_id` to `emit`.

        `sampler`: samples the devices below the target. `advisor`: gives advice during the run; None for no advice.
        `event_watch`: reports background events; None if there is no watch. `on_sample`: is called with every sample.
        """
        self._id = run_id
        self._emit = emit
        self._sampler = sampler
        self._advisor = advisor
        self._event_watch = event_watch
        self._on_sample = on_sample
        self._phase = Phase.PREPARING

    async def follow(
        self,
        events: AsyncGenerator[LoadEvent, None],
        lengths: Mapping[Phase, float] | None = None,
    ) -> RunResult:
        """Report the events of the load until it ends, and return its results.

        `lengths`: planned seconds of each phase; None for a layout or fill before the run, for which there is no
        advice.
        """
        advisor, event_watch = (None, None) if lengths is None else (self._advisor, self._event_watch)
        self._phase = Phase.PREPARING
        async with aclosing(events):
            async for event in events:
                match event:
                    case PhaseChanged(phase=phase):
                        await self._enter(phase, advisor)
                        seconds = (lengths or {}).get(phase)
                        self._emit_progress(replace(event, seconds=seconds, message=clean(event.message, 200)))
                    case SampleTaken(sample=sample):
                        self._on_sample(sample)
                        await self._emit_members(advisor)
                        self._emit_progress(event)
                        await self._emit_events(event_watch, sample)
                        if advisor is not None and (advice := await advisor.sample(sample)) is not None:
                            self._emit_progress(AdviceGiven(advice=advice))
                    case CpuSampled():
                        is_silent = event.silent_s is not None and event.silent_s > _SILENT_S
                        if is_silent:
                            await self._emit_members(advisor)
                        if advisor is not None and self._phase is Phase.MEASURING:
                            advisor.cpu(event.fio_percent_of_core, event.host_percent)
                        self._emit_progress(event)
                        if is_silent:
                            await self._emit_events(event_watch)
                    case SteadyStateUpdated():
                        self._emit_progress(event)
                    case WorkloadFinished():
                        return event.figures
        return RunResult(status=RunStatus.FAILED, reason="fio ended without a message.")

    def _emit_progress(self, progress: Progress) -> None:
        self._emit(LiveEvent(at=time.time(), id=self._id, progress=progress))

    async def _enter(self, phase: Phase, advisor: LiveAdvisor | None) -> None:
        if phase is Phase.MEASURING is not self._phase:  # the measured phase begins
            await self._sampler.begin()
            await self._sampler.caches.begin()
            if advisor is not None:
                await advisor.begin()
        self._phase = phase

    async def _emit_events(self, event_watch: BackgroundEventWatch | None, sample: Sample | None = None) -> None:
        """Emit the background events since the last call."""
        if event_watch is not None and (events := await event_watch.poll(sample)):
            self._emit_progress(BackgroundEventSeen(events=events))

    async def _emit_members(self, advisor: LiveAdvisor | None) -> None:
        """Emit the members' statistics since the last call.

        While the job is stopping, emit nothing, because the job is no longer measuring.
        """
        if self._phase is Phase.STOPPING:
            return
        members = await self._sampler.take()
        caches = await self._sampler.caches.take() if self._phase is Phase.MEASURING else ()
        if not members and not caches:
            return
        self._emit_progress(MembersSampled(members=members, caches=caches))
        if advisor is not None and self._phase is Phase.MEASURING:
            advisor.members(members)
