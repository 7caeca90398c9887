"""Alerts about a running job: a stall, a lost member, background work. Each is shown once, on any screen."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.benchmark.background_events import event_text
from app.core.benchmark.device_faults import lost_members, lost_text
from app.core.fio.stalls import IoStallDetector
from app.core.presentation.run import silence_text, stall_text
from app.core.session.state import ActiveRun
from app.tui.bench.curves import ramp_of


class RunAlerts:
    """Follows the running job and returns new alerts."""

    def __init__(self) -> None:
        self._reset(None)

    def _reset(self, run: str | None) -> None:
        self._run = run
        self._taken = self._happened = 0
        self._still = IoStallDetector()
        self._going_on = self._silent = False
        self.lasting: frozenset[str] = frozenset()
        """Alerts about conditions that have not ended. Each is shown until its condition or the run ends."""
        self._roles: dict[str, str] = {}

    def update(self, active: ActiveRun | None) -> tuple[str, ...]:
        """Return the alerts, as sentences, about events since the last call. `active`: the running job, if any."""
        if active is None:
            return ()
        if active.start.id != self._run or len(active.samples) < self._taken:
            self._reset(active.start.id)
        return (*self._stalls(active), *self._members(active), *self._event_sentences(active))

    def _stalls(self, active: ActiveRun) -> Iterator[str]:
        text = silence_text(active)
        if text and not self._silent:
            self.lasting |= {text}
            yield text
        self._silent = bool(text)
        for sample in active.samples[self._taken :]:
            self._still.add(sample)
        self._taken = len(active.samples)
        now = self._still.current_stall is not None
        if now != self._going_on:
            self._going_on = now
            text = stall_text(self._still, ramp_of(active.start) + active.settled)
            self.lasting = self.lasting | {text} if now else frozenset()
            yield text

    def _event_sentences(self, active: ActiveRun) -> Iterator[str]:
        yield from (f"{event_text(event)}." for event in active.happened[self._happened :])
        self._happened = len(active.happened)

    def _members(self, active: ActiveRun) -> Iterator[str]:
        if self._roles:
            yield from (f"{lost_text(member)}." for member in lost_members(active.members, self._roles))
        self._roles |= {member.device: member.role or "member" for member in active.members}
