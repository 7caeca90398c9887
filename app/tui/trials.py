"""Changes on trial: a line on every screen with the time left and the keys that decide; nothing waits for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from math import ceil
from typing import TYPE_CHECKING

from app.core.changes.pending_trials import Undecided, trials_by_set
from app.core.changes.revert import PendingValueState, pending_state
from app.core.presentation import change as view
from app.core.presentation.trials import decider_text
from app.core.session.journal import OVERDUE, UnresolvedChange, boot_clock
from backends.errors import RaidbenchError
from backends.values import dataclass
from widgets.text_utils import units

if TYPE_CHECKING:
    from textual.worker import Worker

    from app.tui.app_interface import AppInterface
    from backends.change import Change

AFTER = 5.0
"""Seconds beyond the deadline in which the watchdog is given time to finish."""

_LOOK_AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class _Shown:
    """A set of changes on trial that are decided together."""

    key: tuple[str, float]
    """Its session, "" for the own one, and its deadline by the boot clock."""
    left: float
    """Seconds until it is restored."""
    text: str
    """What is on trial."""
    who: str = ""
    """Who decides it, where this user may not."""


class Trials:
    """What is on trial on this machine, whichever session began it, and how it is decided."""

    def __init__(self, app: AppInterface) -> None:
        self._app = app
        self._workbench = app.workbench
        self._clock = time.monotonic
        self._since: dict[tuple[str, float], float] = {}
        self._deciding = False
        self._following: Worker[None] | None = None
        self._others: dict[tuple[str, float], tuple[Undecided, ...]] = {}

    def seconds_left(self) -> float | None:
        """Return the seconds until the next set is restored; None where nothing is on trial."""
        return min((shown.left for shown in self._shown()), default=None)

    @property
    def decidable(self) -> bool:
        """Whether this user may decide any of it."""
        return any(not shown.who for shown in self._shown())

    def text(self) -> str:
        """What is on trial and for how long still; "" where nothing is. The keys count half a second after that."""
        shown = self._shown()
        now = self._clock()
        self._since = {trial.key: self._since.get(trial.key, now) for trial in shown}
        if not shown:
            return ""
        seconds = f"{max(0, ceil(shown[0].left))} s left"
        if len(shown) > 1:
            text = "; ".join(f"{trial.text} ({trial.who})" if trial.who else trial.text for trial in shown)
            return f"{len(shown)} trials, {seconds}: {text}"
        trial = shown[0]
        return f"Trial, {seconds}: {trial.text}{f'; {trial.who}' if trial.who else ''}"

    def _shown(self) -> list[_Shown]:
        """All sets, the next to end first; those that this user may decide come before the others."""
        pending = [
            _Shown(("", until), left, _set_text(changes))
            for until, left, changes in self._workbench.changes.trial_sets()
        ]
        for key, trials in self._others.items():
            undecided = trials[0]
            if undecided.seconds_left > -OVERDUE:
                text = _set_text([other.trial.change for other in trials])
                pending.append(
                    _Shown(key, undecided.seconds_left, text, "" if undecided.is_decidable else decider_text(undecided))
                )
        return sorted(pending, key=lambda shown: (bool(shown.who), shown.left))

    def keep(self) -> None:
        """Let the values on trial stand."""
        self._decide("Keep which trial?", self._keep)

    def take_back(self) -> None:
        """Bring the old values back now, the last one first."""
        self._decide("Take which trial back?", self._restore)

    def _decide(self, question: str, work: Callable[[Sequence[_Shown]], Coroutine[None, None, None]]) -> None:
        """Do it with the only set that this user may decide, or with those that are chosen.

        A set counts that has been seen long enough that no key was meant for anything else.
        """
        from widgets.guarded_dialog import GRACE

        self.text()
        all_shown = self._shown()
        if not all_shown:
            self._app.notify("Nothing is on trial.", severity="warning")
            return
        own = [shown for shown in all_shown if not shown.who]
        if not own:
            self._app.notify(f"{all_shown[0].text}: {all_shown[0].who}.", severity="warning", markup=False)
            return
        now = self._clock()
        sure = [shown for shown in own if now - self._since.get(shown.key, now) >= GRACE]

        def decided(chosen: Sequence[_Shown]) -> None:
            self._app.run_worker(work(chosen), group="write", exit_on_error=True)

        if len(own) == 1 and sure:
            decided(sure)
        elif len(own) > 1 and sure:
            self._ask(question, own, decided)

    def _ask(self, question: str, trial_sets: Sequence[_Shown], decided: Callable[[Sequence[_Shown]], None]) -> None:
        from widgets.choice_list import ChoiceDialog, ChoiceItem

        items = [
            ChoiceItem(value=str(at), label=shown.text, help=f"{max(0, ceil(shown.left))} s left")
            for at, shown in enumerate(trial_sets)
        ]
        every = ChoiceItem(value="all", label="All of them", help="")
        dialog = ChoiceDialog(question, (*items, every), "0")

        def answered(value: str | None) -> None:
            if value is not None:
                decided(trial_sets if value == "all" else [trial_sets[int(value)]])

        self._app.push_screen(dialog, answered)

    async def _keep(self, chosen: Sequence[_Shown]) -> None:
        await self.keep_values([trial for shown in chosen for trial in self._trials_of(shown)])
        await self._forget(chosen)

    async def _forget(self, chosen: Sequence[_Shown]) -> None:
        """Look again, and say nothing of what was decided here."""
        for shown in chosen:
            self._others.pop(shown.key, None)
        await self.follow()
        self._app.show_header()

    def _trials_of(self, shown: _Shown) -> tuple[Undecided, ...]:
        session, until = shown.key
        return self._others.get(shown.key, ()) if session else self._workbench.changes.trials_of_set(until)

    async def keep_values(self, chosen: Sequence[Undecided] | None = None) -> bool:
        """Let values on trial stand, None for those of this session; return whether all stayed and that is on disk."""
        self._deciding = True
        try:
            kept = await self._workbench.changes.keep_trials(chosen)
        except RaidbenchError as error:
            self._app.show_error(error, title="What is on trial will be taken back")
            return False
        finally:
            self._deciding = False
        well = not any(ended.message for _, ended in kept)
        if kept:
            self._report(
                f"Kept: {', '.join(view.kept_setting_text(trial.change, ended) for trial, ended in kept)}.", well=well
            )
        return well

    async def _restore(self, chosen: Sequence[_Shown]) -> None:
        bench = self._workbench
        try:
            for shown in chosen:
                trials = self._trials_of(shown)
                if shown.key[0]:
                    changed = await bench.changes.restore_trials(trials)
                    await self._app.rescan_after_change(tuple(undecided.trial.change for undecided in trials))
                    failed = [
                        f"{view.subject_text(change.change)} was not taken back: it is another value now"
                        for change in changed
                    ]
                else:
                    ends = [(trial.trial, await bench.changes.undo(trial.trial.id)) for trial in trials]
                    failed = [
                        f"{view.subject_text(trial.change)} was not taken back: {ended.message}"
                        for trial, ended in ends
                        if not ended.is_reverted
                    ]
                if failed:
                    self._report(f"{failed[0]}.", well=False)
                    return
        except RaidbenchError as error:
            self._app.show_error(error, title="Not taken back")
            return
        self._report("The old values are back.", well=True)
        await self._forget(chosen)

    def follow_later(self) -> None:
        """Look for what other sessions have on trial, and for what became of it, without waiting for that."""
        if self._following is None or self._following.is_finished:
            self._following = self._app.run_worker(self.follow(), group="trials", exit_on_error=True)

    async def follow(self) -> None:
        """Look for what other sessions have on trial; say what became of what is decided now."""
        changes = self._workbench.changes
        await changes.undecided.refresh()
        others = trials_by_set(changes.trials_of_other_sessions())
        before, now = self._others, {trials[0].trial_set: tuple(trials) for trials in others}
        self._others = now
        for key in before.keys() - now.keys():
            await self._report_outcome(before[key])
        if before.keys() != now.keys():
            self._app.show_header()

    async def _report_outcome(self, trials: Sequence[Undecided]) -> None:
        """By what is read now: whoever decided it may be another program."""
        lines: list[str] = []
        for undecided in trials:
            change = undecided.trial.change
            try:
                reading = (await self._workbench.hardware.read(change.target)).get(change.key)
            except RaidbenchError as error:
                lines.append(f"{view.subject_text(change)} cannot be read: {error.message.rstrip('.')}")
                continue
            now = None if reading is None else reading.now
            state = {
                PendingValueState.BEFORE: "the old value is back",
                PendingValueState.OURS: "the new value was kept",
            }
            lines.append(
                f"{view.subject_text(change)}: {state.get(pending_state(change, now), 'it has another value now')}"
            )
        self._report(f"The trial is over. {'; '.join(lines)}.", well=True)
        await self._app.rescan_after_change(tuple(trial.trial.change for trial in trials))

    async def wait_until_decided(self) -> None:
        """Wait until the trial is decided, one way or the other; the session knows how it ended then."""
        trials = self._workbench.changes.trials()
        while self._deciding or (self._workbench.changes.trials() and self._left(trials) > -AFTER):
            await asyncio.sleep(_LOOK_AGAIN)
        if not any(record.is_on_trial for record in self._workbench.changes.undoable()):
            return  # somebody decided it
        try:
            back = await self._workbench.changes.record_ended_trials()
        except RaidbenchError as error:
            self._app.show_error(error, title="The trial")
            return
        self._report(f"The trial is over: {view.trial_end_text(back)}.", well=back)

    def _report(self, message: str, *, well: bool) -> None:
        self._app.notify(message, severity="information" if well else "error")
        self._app.show_header()

    def _left(self, trials: tuple[UnresolvedChange, ...]) -> float:
        return max((trial.until or 0.0) - boot_clock() for trial in trials)


def _set_text(changes: Sequence[Change]) -> str:
    return view.change_text(changes[0]) if len(changes) == 1 else units.plural(len(changes), "change")
