"""Questions at start and exit: a running job, changed settings, and unfinished work after a crash."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

from app.core.benchmark.scratch_descriptor import remove_scratch
from app.core.benchmark.stale_scratch import leftover_scratch
from app.core.changes.revert import still_running_text
from app.core.interrupted_experiments import InterruptedExperiment, find_interrupted, restore_settings
from app.core.presentation import change as view
from app.core.session.flag_files import EXPERIMENT
from app.core.session.state import ChangeRecord
from app.core.session.unit_labels import value_text
from app.core.unreadable_state import blocking_errors, interrupted_errors
from backends.errors import RaidbenchError
from backends.host import WriteDenied
from backends.sizes import size_words
from backends.text import clean
from widgets.question import KeyedAnswer, QuestionDialog
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

_WITHDRAWN = "over"
"""Result of the question about a running job if it was closed because the job has ended."""


_STAY = KeyedAnswer(key="escape", label="Stay", value="stay")
_KEEP_AS_IS = KeyedAnswer(key="k", label="Keep as it is", value="keep")
_CONTINUE = KeyedAnswer(key="escape", label="Continue", value="later")
_LATER = KeyedAnswer(key="escape", label="Ask again later", value="later")


class ExitDialogs:
    """Asks the questions at start and exit. Every question has an answer that changes nothing."""

    def __init__(self, app: AppInterface) -> None:
        self._app = app
        self._workbench = app.workbench

    async def leave(self) -> None:
        """Ask the necessary questions, then exit."""
        if self._workbench.jobs.running:
            question = QuestionDialog(
                "A job is running.",
                (KeyedAnswer(key="s", label="Stop it and quit", value="stop"), _STAY),
                "Its results so far are kept in the session.",
            )
            self._app.run_worker(self._withdraw(question), group="withdraw", exclusive=True)
            answer = await self._app.push_screen_wait(question)
            if answer == _WITHDRAWN:
                self._app.notify_transient(
                    "The job has ended in the meantime: its results are on Bench, <app.quit> quits."
                )
            if answer != "stop":
                return
            self._app.release_keys()
            await self._app.stop_measuring()  # the device of the job is locked until then
        for work in reversed(tuple(self._app.background.values())):  # ask about the newest work first
            if not await work.may_leave():
                return
        changes = self._workbench.changes.undoable()
        if changes and not await self._ask_about_changes(changes):
            return
        await self._app.stop_and_exit(0)

    async def _ask(self, question: str, answers: tuple[KeyedAnswer, ...], text: str) -> str | None:
        """Return the value of the chosen answer."""
        return await self._app.push_screen_wait(QuestionDialog(question, answers, text))

    async def _withdraw(self, question: QuestionDialog) -> None:
        """Close the question about a running job when the job ends: it is pointless then, and would intercept keys."""
        await self._workbench.jobs.wait_idle()
        if question.is_current:
            question.dismiss(_WITHDRAWN)

    async def _ask_about_changes(self, changes: tuple[ChangeRecord, ...]) -> bool:
        """Ask whether to keep or restore changed settings; return whether raidbench may exit."""
        listed = "\n".join(f"{record.id}  {view.change_text(record.change)}" for record in changes)
        verb = "is" if len(changes) == 1 else "are"
        answer = await self._ask(
            f"{units.plural(len(changes), 'changed setting')} of this session {verb} still in force.",
            (
                KeyedAnswer(key="k", label="Keep", value="keep"),
                KeyedAnswer(key="r", label="Restore all", value="restore"),
                _STAY,
            ),
            listed,
        )
        self._app.release_keys()
        if answer == "keep":
            return await self._app.trials.keep_values()
        if answer != "restore":
            return False
        for record in changes:
            try:
                ended = await self._workbench.changes.undo(record.id)
            except RaidbenchError as error:
                self._app.show_error(error, title=f"{record.id} was not restored")
                return False
            if not ended.is_reverted:
                self._app.notify(f"{record.id}: {ended.message}", title="Not restored", severity="error", markup=False)
                return False
        return True

    async def offer_recovery(self) -> None:
        """Report changes that a crash interrupted, and offer to restore the old values."""
        for unknown in blocking_errors(self._workbench.changes.journal):
            await self._report("Changes are disabled", unknown)
        for interrupted in await asyncio.to_thread(interrupted_errors, self._workbench.paths):
            await self._report("Settings may still be changed", interrupted)
        for intent in self._workbench.changes.journal.unresolved():
            change = intent.change
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(intent.at))
            answer = await self._ask(
                "A change was interrupted.",
                (KeyedAnswer(key="r", label="Restore", value="restore"), _KEEP_AS_IS, _LATER),
                f"{when}: {view.subject_text(change)} was being set from {view.old_text(change)} to "
                f"{view.new_text(change)}."
                + "".join(f"\n{sentence}" for sentence in (still_running_text(intent),) if sentence),
            )
            try:
                if answer == "restore":
                    result = await self._workbench.changes.recover(intent)
                    text = (
                        f"{view.subject_text(change)} is {view.old_text(change)} again."
                        if result == "restored"
                        else f"{view.subject_text(change)} has neither the old nor the new value: nothing was changed."
                    )
                    self._app.notify(text, markup=False)
                elif answer == "keep":
                    self._workbench.changes.keep(intent)
            except RaidbenchError as error:
                self._app.show_error(error, title="Not restored")

    async def _report(self, title: str, error: RaidbenchError) -> None:
        """Report unreadable state on disk, in the log and in a dialog, which has room for the next step."""
        self._app.show_error(error, title=title)
        await self._ask(f"{title}.", (_CONTINUE,), f"{clean(error.message, 2000)}\n{clean(error.hint, 2000)}")

    async def offer_experiments(self) -> None:
        """Report experiments whose process has died, and offer to restore the old value of their setting."""
        bench = self._workbench
        find_left = partial(find_interrupted, bench.paths, own_folder=bench.folder)
        for left in await asyncio.to_thread(find_left):
            answer = await self._ask(
                "An A/B was interrupted.",
                (KeyedAnswer(key="r", label="Restore the old value", value="restore"), _KEEP_AS_IS, _LATER),
                clean(f"{left.sentence}.", 400),
            )
            try:
                if answer == "restore":
                    await self._restore_experiment(left)
                elif answer == "keep":
                    EXPERIMENT.remove(left.folder)
            except RaidbenchError as error:
                self._app.show_error(error, title="Not restored")

    async def _restore_experiment(self, left: InterruptedExperiment) -> None:
        """Restore the old value, and record this in the experiment's session. Raises RaidbenchError if that fails."""
        is_open_session = left.folder == self._workbench.folder
        bench = self._workbench if is_open_session else self._workbench.for_another_session()
        try:
            if not is_open_session:
                await bench.open(left.folder)
                await bench.hardware.probe()
            unrestored = await restore_settings(bench)
        finally:
            if not is_open_session:
                bench.close("put back")
        start = left.record.start
        text = " ".join(unrestored) or f"{start.label} of {start.target} is {value_text(start.key, start.a)} again."
        self._app.notify(clean(text, 600), severity="error" if unrestored else "information", markup=False)

    async def offer_cleaning(self) -> None:
        """Report scratch files that remain after a crash, and offer to remove them. Not in read-only mode."""
        if await self._workbench.host.writable("/sys") is WriteDenied.READ_ONLY:
            return
        for left in await asyncio.to_thread(leftover_scratch, self._workbench.paths):
            answer = await self._ask(
                "A run was interrupted and left a scratch file.",
                (
                    KeyedAnswer(key="r", label="Remove it", value="remove"),
                    KeyedAnswer(key="escape", label="Keep it", value="leave"),
                ),
                f"{clean(str(left.path), 300)}\n{size_words(left.size)}, of run {left.run} in session {left.session}",
            )
            if answer == "remove":
                refusal = await remove_scratch(left.path)
                gone = not left.path.exists()
                text = f"{left.path} {'is removed' if gone else 'was kept: another program changed it'}."
                if refusal is not None:
                    text = refusal.full_text
                self._app.notify(clean(text, 600), severity="warning" if refusal else "information", markup=False)
