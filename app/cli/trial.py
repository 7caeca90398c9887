"""`set --trial` and `keep`: changes that are reverted automatically unless the user keeps them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE, FAILED
from app.cli.output import ask_with_timeout, can_ask, lines, print_json, say, say_lines
from app.cli.session_context import on_workbench
from app.cli.shared_options import json_option
from app.core.presentation import change as view
from app.core.presentation.trials import trial_lines
from app.core.unreadable_state import blocking_errors
from backends.errors import NotFoundError, RefusedError
from backends.text import clean

if TYPE_CHECKING:
    from app.core.session.events import ChangeEnded
    from app.core.workbench import Workbench
    from backends.change import Change


async def decide_trial(bench: Workbench, seconds: float) -> bool:
    """Ask whether to keep the values on trial, and keep them if so. Return False if keeping or reverting failed.

    Without a terminal or an answer, the watchdog reverts them at the deadline, after `seconds`. Raises StorageError if
    the decision cannot be recorded; they are then reverted, too.
    """
    if not can_ask():
        say(f"Trial: the old values are restored in {seconds:.0f} s. To keep the new ones, run `raidbench keep`.")
        return True
    say(f"Trial: without an answer, the old values are restored in {seconds:.0f} s.")
    answer = await asyncio.to_thread(ask_with_timeout, "Keep? [y/N]", seconds)
    if answer.lower() in ("y", "yes"):
        kept = await bench.changes.keep_trials()
        if kept:
            texts = ", ".join(view.kept_setting_text(trial.change, ended) for trial, ended in kept)
            say(f"Kept: {clean(texts, 1000)}.")
            return not any(ended.message for _, ended in kept)
        back = await bench.changes.record_ended_trials()
        say(f"Too late: {view.trial_end_text(back)}.")
        return back
    say("The old values are restored when the time is over. Until then, `raidbench keep` keeps the new ones.")
    return True


@command("keep", "raidbench keep")
@json_option
def keep_command(as_json: bool) -> int:
    """Keep the new values of a trial.

    This covers all sessions of this user, or of every user if you are root.
    """
    return on_workbench(_keep, as_json, changes=True, quiet=True, rights=True)


async def _keep(bench: Workbench, _: Interruption, as_json: bool) -> int:
    trials = bench.changes.undecided.refresh_now()
    if not trials:
        for unreadable in blocking_errors(bench.changes.journal):
            raise unreadable
        raise NotFoundError("There is no trial.", hint="Start a trial with `raidbench set ... --trial SECONDS`.")
    chosen = [trial for trial in trials if trial.is_decidable]
    others = trial_lines([trial for trial in trials if not trial.is_decidable])
    if not chosen:
        raise RefusedError(" ".join(others), hint="Nothing was kept.")
    say_lines(others)
    kept = await bench.changes.keep_trials(chosen)
    if as_json:
        print_json(kept=[_shown(trial.change, ended) for trial, ended in kept])
    else:
        lines(
            f"kept  {trial.change.target} {trial.change.key}: {clean(view.end_text(trial.change, ended), 1000)}"
            for trial, ended in kept
        )
    still_there = {(trial.trial.session, trial.trial.id) for trial in bench.changes.undecided.refresh_now()}
    failed = any(ended.message or (trial.session, trial.id) in still_there for trial, ended in kept)
    return FAILED if failed else DONE


def _shown(change: Change, ended: ChangeEnded) -> dict[str, str | None]:
    return {
        "target": str(change.target),
        "key": change.key,
        "before": change.before,
        "value": change.after,
        "now": ended.now,
    }
