"""`set --trial` and `keep`: a change that comes back by itself unless somebody says that it is good."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from app.cli.failures import DONE, FAILED
from app.cli.opening import workbench
from app.cli.output import ask_within, can_ask, document, lines, say
from app.cli.running import run
from app.engine.view import change as view
from backends.errors import NotFoundError

if TYPE_CHECKING:
    from app.engine.session.journal import OpenChange
    from app.engine.workbench import Workbench


async def decide(bench: Workbench, seconds: float) -> bool:
    """Ask whether the values on trial may stay; without a terminal or an answer they are taken back.

    Returns whether they stay. Raises StorageError: then they are taken back.
    """
    if not can_ask():
        say(f"On trial: the old values come back in {seconds:.0f} s unless `raidbench keep` is run before.")
        return False
    say(f"On trial: without an answer the old values come back in {seconds:.0f} s by themselves.")
    answer = await asyncio.to_thread(ask_within, "Keep? [y/N]", seconds)
    if answer.lower() in ("y", "yes"):
        kept = bench.keep_trials()
        say(
            f"Kept: {', '.join(trial.change.label for trial in kept)}."
            if kept
            else "Too late: the old values are back."
        )
        await bench.end_trials()
        return bool(kept)
    say("The old values come back when the time is over; `raidbench keep` still keeps the new ones.")
    return False


@click.command("keep")
@click.option("--json", "as_json", is_flag=True, help="What was kept, as JSON.")
def keep_command(as_json: bool) -> int:
    """Keep the settings that are on trial, of every session."""
    with workbench(quiet=True, rights=True) as bench:
        return run(lambda _interruption: _keep(bench, as_json))


async def _keep(bench: Workbench, as_json: bool) -> int:
    from pathlib import Path

    from app.engine.view import schema

    trials = bench.journal.trials()
    if not trials:
        raise NotFoundError("Nothing is on trial.", hint="A trial begins with `raidbench set ... --trial SECONDS`.")
    for trial in trials:
        bench.journal.outcome(trial.id, Path(trial.session), "kept")
    if as_json:
        document(schema.document(kept=[_shown(trial) for trial in trials]))
    else:
        lines(f"kept  {trial.change.target} {trial.change.key}: {view.after(trial.change)}" for trial in trials)
    still_there = {(trial.session, trial.id) for trial in bench.journal.trials()}
    return FAILED if any((trial.session, trial.id) in still_there for trial in trials) else DONE


def _shown(trial: OpenChange) -> dict[str, str | None]:
    return {
        "target": str(trial.change.target),
        "key": trial.change.key,
        "before": trial.change.before,
        "value": trial.change.after,
    }
