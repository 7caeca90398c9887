"""Trials: a line on every screen with the time left and the keys to keep or revert. No dialog blocks the screens."""

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
from app.core.session.journal import OVERDUE, boot_clock
from backends.errors import RaidbenchError
from backends.values import dataclass
from widgets.text_utils import units

if TYPE_CHECKING:
    from textual.worker import Worker

    from app.tui.app_interface import AppInterface
    from backends.change import Change

GRACE_S = 5.0
"""Seconds after the deadline that the watchdog gets to revert the values."""

_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class _TrialSet:
    """A set of trials that are decided together."""

    key: tuple[str, float]
    """The session of the set ("" for the current one), and its deadline by the boot clock."""
    left: float
    """Seconds until the set is reverted."""
    text: str
    """The changes on trial."""
    who: str = ""
    """Text that names the user who may decide the set; "" if this user may."""


class Trials:
    """Shows the trials on this machine, of any session, and lets the user keep or revert them."""

    def __init__(self, app: AppInterface) -> None:
        self._app = app
        self._workbench = app.workbench
        self._clock = time.monotonic
        self._since: dict[tuple[str, float], float] = {}
        self._deciding = False
        self._following: Worker[None] | None = None
        self._others: dict[tuple[str, float], tuple[Undecided, ...]] = {}

    def seconds_left(self) -> float | None:
        """Return the seconds until the next set is reverted; None without trials."""
        return min((trial_set.left for trial_set in self._trial_sets()), default=None)

    @property
    def decidable(self) -> bool:
        """Whether this user may keep or revert any of the trials."""
        return any(not trial_set.who for trial_set in self._trial_sets())

    def text(self) -> str:
        """Return the active trials and the time left; "" without trials. Record when each appeared (for `_decide`)."""
        trial_sets = self._trial_sets()
        now = self._clock()
        self._since = {trial.key: self._since.get(trial.key, now) for trial in trial_sets}
        if not trial_sets:
            return ""
        seconds = f"{max(0, ceil(trial_sets[0].left))} s left"
        if len(trial_sets) > 1:
            text = "; ".join(f"{trial.text} ({trial.who})" if trial.who else trial.text for trial in trial_sets)
            return f"{len(trial_sets)} trials, {seconds}: {text}"
        trial = trial_sets[0]
        return f"Trial, {seconds}: {trial.text}{f'; {trial.who}' if trial.who else ''}"

    def _trial_sets(self) -> list[_TrialSet]:
        """Return all sets. Those that this user may decide come first; in each group, the next to end comes first."""
        pending = [
            _TrialSet(("", until), left, _set_text(changes))
            for until, left, changes in self._workbench.changes.trial_sets()
        ]
        for key, trials in self._others.items():
            undecided = trials[0]
            if undecided.seconds_left > -OVERDUE:
                text = _set_text([other.trial.change for other in trials])
                pending.append(
                    _TrialSet(
                        key, undecided.seconds_left, text, "" if undecided.is_decidable else decider_text(undecided)
                    )
                )
        return sorted(pending, key=lambda trial_set: (bool(trial_set.who), trial_set.left))

    def keep(self) -> None:
        """Keep the values on trial."""
        self._decide("Keep which trial?", self._keep)

    def revert(self) -> None:
        """Revert the values on trial now, the last one first."""
        self._decide("Revert which trial?", self._restore)

    def _decide(self, question: str, work: Callable[[Sequence[_TrialSet]], Coroutine[None, None, None]]) -> None:
        """Apply `work` to the only set that this user may decide. If there are several, ask which with `question`.

        Do nothing until such a set was shown for `GRACE` seconds: an earlier key press may not have been meant for it.
        """
        from widgets.guarded_dialog import GRACE

        self.text()
        all_sets = self._trial_sets()
        if not all_sets:
            self._app.notify("There is no trial.", severity="warning")
            return
        decidable = [trial_set for trial_set in all_sets if not trial_set.who]
        if not decidable:
            self._app.notify(f"{all_sets[0].text}: {all_sets[0].who}.", severity="warning", markup=False)
            return
        now = self._clock()
        sure = [trial_set for trial_set in decidable if now - self._since.get(trial_set.key, now) >= GRACE]

        def decided(chosen: Sequence[_TrialSet]) -> None:
            self._app.run_worker(work(chosen), group="write", exit_on_error=True)

        if len(decidable) == 1 and sure:
            decided(sure)
        elif len(decidable) > 1 and sure:
            self._ask(question, decidable, decided)

    def _ask(
        self, question: str, trial_sets: Sequence[_TrialSet], decided: Callable[[Sequence[_TrialSet]], None]
    ) -> None:
        from widgets.choice_list import ChoiceDialog, ChoiceItem
        from widgets.guarded_dialog import GRACE

        items = [
            ChoiceItem(value=str(at), label=trial_set.text, help=f"{max(0, ceil(trial_set.left))} s left")
            for at, trial_set in enumerate(trial_sets)
        ]
        every = ChoiceItem(value="all", label="All of them", help="")
        dialog = ChoiceDialog(question, (*items, every), "0", grace=GRACE)

        def answered(value: str | None) -> None:
            if value is not None:
                decided(trial_sets if value == "all" else [trial_sets[int(value)]])

        self._app.push_screen(dialog, answered)

    async def _keep(self, chosen: Sequence[_TrialSet]) -> None:
        await self.keep_values([trial for trial_set in chosen for trial in self._trials_of(trial_set)])
        await self._forget(chosen)

    async def _forget(self, chosen: Sequence[_TrialSet]) -> None:
        """Update the trials, without reporting those that were decided here."""
        for trial_set in chosen:
            self._others.pop(trial_set.key, None)
        await self.follow()
        self._app.show_header()

    def _trials_of(self, trial_set: _TrialSet) -> tuple[Undecided, ...]:
        session, until = trial_set.key
        return self._others.get(trial_set.key, ()) if session else self._workbench.changes.trials_of_set(until)

    async def keep_values(self, chosen: Sequence[Undecided] | None = None) -> bool:
        """Keep values on trial; None means those of this session. Return whether all are kept and recorded on disk."""
        self._deciding = True
        try:
            kept = await self._workbench.changes.keep_trials(chosen)
        except RaidbenchError as error:
            self._app.show_error(error, title="Not kept: the trial will be reverted")
            return False
        finally:
            self._deciding = False
        well = not any(ended.message for _, ended in kept)
        if kept:
            self._report(
                f"Kept: {', '.join(view.kept_setting_text(trial.change, ended) for trial, ended in kept)}.", well=well
            )
        return well

    async def _restore(self, chosen: Sequence[_TrialSet]) -> None:
        bench = self._workbench
        try:
            for trial_set in chosen:
                trials = self._trials_of(trial_set)
                if trial_set.key[0]:
                    changed = await bench.changes.restore_trials(trials)
                    await self._app.rescan_after_change(tuple(undecided.trial.change for undecided in trials))
                    failed = [
                        f"{view.subject_text(change.change)} was not reverted: it has another value now"
                        for change in changed
                    ]
                else:
                    ends = [(trial.trial, await bench.changes.undo(trial.trial.id)) for trial in trials]
                    failed = [
                        f"{view.subject_text(trial.change)} was not reverted: {ended.message}"
                        for trial, ended in ends
                        if not ended.is_reverted
                    ]
                if failed:
                    self._report(f"{failed[0]}.", well=False)
                    return
        except RaidbenchError as error:
            self._app.show_error(error, title="Not reverted")
            return
        self._report("The old values are restored.", well=True)
        await self._forget(chosen)

    def follow_later(self) -> None:
        """Check the trials of other sessions in the background."""
        if self._following is None or self._following.is_finished:
            self._following = self._app.run_worker(self.follow, group="trials", exit_on_error=True)

    async def follow(self) -> None:
        """Check the trials of other sessions, and report the outcome of those that were decided."""
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
        """Report the outcome of trials by reading the values now, because another program may have decided them."""
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
                PendingValueState.BEFORE: "the old value was restored",
                PendingValueState.OURS: "the new value was kept",
            }
            lines.append(
                f"{view.subject_text(change)}: {state.get(pending_state(change, now), 'it has another value now')}"
            )
        self._report(f"The trial is over. {'; '.join(lines)}.", well=True)
        await self._app.rescan_after_change(tuple(trial.trial.change for trial in trials))

    async def wait_until_decided(self) -> None:
        """Wait until the trials of this session are decided and their outcome is recorded."""
        deadline = max((trial.until or 0.0 for trial in self._workbench.changes.trials()), default=0.0)
        while self._deciding or (self._workbench.changes.trials() and deadline - boot_clock() > -GRACE_S):
            await asyncio.sleep(_POLL_S)
        if not any(record.is_on_trial for record in self._workbench.changes.undoable()):
            return  # It was decided already.
        try:
            back = await self._workbench.changes.record_ended_trials()
        except RaidbenchError as error:
            self._app.show_error(error, title="The end of the trial was not recorded")
            return
        self._report(f"The trial is over: {view.trial_end_text(back)}.", well=back)

    def _report(self, message: str, *, well: bool) -> None:
        self._app.notify(message, severity="information" if well else "error")
        self._app.show_header()


def _set_text(changes: Sequence[Change]) -> str:
    return view.change_text(changes[0]) if len(changes) == 1 else units.plural(len(changes), "change")
