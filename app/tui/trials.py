"""Changes on trial: a line on every screen with the time left and the keys that decide; nothing waits for them."""

from __future__ import annotations

import asyncio
import time
from math import ceil
from typing import TYPE_CHECKING

from app.engine.session.journal import OpenChange, boot_clock
from app.engine.view import change as view
from backends.errors import RaidbenchError
from widgets.plain import units

if TYPE_CHECKING:
    from app.tui.port import Port
    from widgets.guard import Clock

AFTER = 5.0
"""Seconds beyond the deadline in which the watchdog is given time to finish."""

_LOOK_AGAIN = 0.5


class Trials:
    """What is on trial in this session, and how it is decided."""

    def __init__(self, app: Port, *, clock: Clock = time.monotonic) -> None:
        self._app = app
        self._workbench = app.workbench
        self._clock = clock
        self._since: float | None = None
        self._deciding = False

    def words(self) -> str:
        """What is on trial and for how long still; "" where nothing is. The keys count half a second after that."""
        left = self._workbench.changes.trial_left()
        if left is None:
            self._since = None
            return ""
        if self._since is None:
            self._since = self._clock()
        changes = [record.change for record in self._workbench.session.changes if record.on_trial]
        what = view.move(changes[0]) if len(changes) == 1 else units.plural(len(changes), "change")
        return f"Trial, {ceil(left)} s left: {what}"

    def keep(self) -> None:
        """Let the values on trial stand."""
        if self._listening():
            self._app.run_worker(self.kept(), group="write", exit_on_error=True)

    def take_back(self) -> None:
        """Bring the old values back now, the last one first."""
        if self._listening():
            self._app.run_worker(self._taken_back(), group="write", exit_on_error=True)

    def _listening(self) -> bool:
        """Whether there is something to decide, and has been long enough that no key was meant for anything else."""
        if not self.words() or self._since is None:
            self._app.notify("Nothing is on trial.", severity="warning")
            return False
        from widgets.guard import GRACE

        return self._clock() - self._since >= GRACE

    async def kept(self) -> bool:
        """Let the values on trial stand. False where that could not be put on disk, or one of them did not stay."""
        self._deciding = True
        try:
            kept = await self._workbench.changes.keep_trials()
        except RaidbenchError as error:
            self._app.tell(error, title="What is on trial will be taken back")
            return False
        finally:
            self._deciding = False
        well = not any(ended.message for _, ended in kept)
        if kept:
            self._tell(f"Kept: {', '.join(view.kept(trial.change, ended) for trial, ended in kept)}.", well=well)
        return well

    async def _taken_back(self) -> None:
        try:
            for trial in self._workbench.changes.trials():
                ended = await self._workbench.changes.undo(trial.id)
                if not ended.taken_back:
                    self._tell(f"{view.what(trial.change)} was not taken back: {ended.message}.", well=False)
                    return
        except RaidbenchError as error:
            self._app.tell(error, title="Not taken back")
            return
        self._tell("The old values are back.", well=True)

    async def watch(self) -> None:
        """Wait until the trial is decided, one way or the other; the session knows how it ended then."""
        trials = self._workbench.changes.trials()
        while self._deciding or (self._workbench.changes.trials() and self._left(trials) > -AFTER):
            await asyncio.sleep(_LOOK_AGAIN)
        if not any(record.on_trial for record in self._workbench.changes.undoable()):
            return  # somebody decided it
        try:
            back = await self._workbench.changes.end_trials()
        except RaidbenchError as error:
            self._app.tell(error, title="The trial")
            return
        self._tell(f"The trial is over: {view.trial_over(back)}.", well=back)

    def _tell(self, message: str, *, well: bool) -> None:
        self._app.notify(message, severity="information" if well else "error")
        self._app.show_header()

    def _left(self, trials: tuple[OpenChange, ...]) -> float:
        return max((trial.until or 0.0) - boot_clock() for trial in trials)
