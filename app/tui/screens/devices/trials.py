"""A change on trial: the question whether to keep it, while the watchdog's time runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.engine.session.journal import OpenChange, boot_clock
from app.engine.view import change as view
from backends.errors import RaidbenchError
from widgets.plain import units
from widgets.question import KeyedAnswer, QuestionDialog

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp

AFTER = 5.0
"""Seconds beyond the deadline in which the watchdog is given time to finish."""


class Trials:
    """Asks once, then watches until the trial is decided one way or the other."""

    def __init__(self, app: WorkbenchApp) -> None:
        self._app = app
        self._workbench = app.workbench

    async def watch(self) -> None:
        """Ask, and end with the session knowing how it ended."""
        trials = self._workbench.trials()
        dialog = QuestionDialog(
            f"{units.plural(len(trials), 'change')} on trial: keep?",
            (
                KeyedAnswer(key="k", label="Keep", value="keep"),
                KeyedAnswer(key="escape", label="Let it be taken back", value="wait"),
            ),
            self._words(trials),
        )
        asked = asyncio.create_task(self._ask(dialog))
        try:
            while self._workbench.trials() and not asked.done() and self._left(trials) > -AFTER:
                await asyncio.wait({asked}, timeout=0.5)
            while not asked.done() and dialog.is_attached and not dialog.is_current:
                await asyncio.wait({asked}, timeout=0.2)  # another question lies on top of this one
        finally:
            if not asked.done() and dialog.is_current:
                dialog.dismiss("wait")
        answer = await asked
        try:
            if answer == "keep":
                kept = await self._workbench.keep_trials()
                told = ", ".join(view.kept(trial.change, ended) for trial, ended in kept)
                self._tell(f"Kept: {told}.", well=not any(ended.message for _, ended in kept))
                return
            self._app.notify("It is taken back when its time is over.", markup=False)
            while self._workbench.trials() and self._left(trials) > -AFTER:
                await asyncio.sleep(0.5)
            back = await self._workbench.end_trials()
        except RaidbenchError as error:
            self._app.tell(error, title="Not kept" if answer == "keep" else "The trial")
            return
        self._tell(f"The trial is over: {view.trial_over(back)}.", well=back)

    def _tell(self, message: str, *, well: bool) -> None:
        self._app.notify(message, severity="information" if well else "error", markup=False)

    async def _ask(self, dialog: QuestionDialog) -> str:
        return await self._app.push_screen_wait(dialog) or "wait"

    def _left(self, trials: tuple[OpenChange, ...]) -> float:
        return max((trial.until or 0.0) - boot_clock() for trial in trials)

    def _words(self, trials: tuple[OpenChange, ...]) -> str:
        listed = "\n".join(view.move(trial.change) for trial in trials)
        return f"{listed}\nWithout an answer the old values come back in {self._left(trials):.0f} s by themselves."
