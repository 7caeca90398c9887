"""Lists the items that a crash left behind, as text and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.cli.confirm import step_lines
from app.cli.session_context import interrupted_experiments, interrupted_sweeps
from app.core.benchmark.scratch_descriptor import leftover_in_use
from app.core.benchmark.stale_scratch import StaleScratchFile, leftover_scratch
from app.core.changes.arrays.array_journal import ArrayJournalEntry, ArrayStage
from app.core.changes.revert import still_running_text
from app.core.interrupted_experiments import InterruptedExperiment
from app.core.presentation import change as view
from app.core.presentation import json_schema
from app.core.session.journal import UnresolvedChange
from app.core.workbench import Workbench
from backends.array_planning import ArrayMatchState
from backends.errors import RaidbenchError, result_or_error
from backends.sizes import size_words
from backends.system.local.files import left_folders
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils import units


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverableItems:
    """Everything that `recover` can restore or remove."""

    intents: tuple[UnresolvedChange, ...]
    arrays: tuple[ArrayJournalEntry, ...]
    sweeps: tuple[Path, ...]
    experiments: tuple[InterruptedExperiment, ...]
    files: tuple[StaleScratchFile, ...]
    folders: tuple[str, ...]

    def __bool__(self) -> bool:
        """Return whether there is any item."""
        return any((self.intents, self.arrays, self.sweeps, self.experiments, self.files, self.folders))


def find_recoverable(bench: Workbench) -> RecoverableItems:
    """Return the items that can be recovered on this machine. Changes nothing."""
    return RecoverableItems(
        intents=bench.changes.journal.unresolved(),
        arrays=bench.arrays.unfinished(),
        sweeps=interrupted_sweeps(),
        experiments=interrupted_experiments(),
        files=leftover_scratch(bench.paths),
        folders=() if bench.simulated else left_folders(),
    )


async def recoverable_rows(bench: Workbench, left: RecoverableItems) -> list[str]:
    """Return all items as lines of text."""
    rows = [row for folder in left.sweeps for row in sweep_rows(folder)]
    rows += (clean(experiment.sentence, 300) for experiment in left.experiments)
    rows += [row for intent in left.intents for row in await intent_rows(bench, intent)]
    rows += [row for entry in left.arrays for row in await array_rows(bench, entry)]
    rows += [row for file in left.files for row in await file_rows(file)]
    return [*rows, *(f"empty working folder {folder}" for folder in left.folders)]


async def recoverable_json(bench: Workbench, left: RecoverableItems) -> json_schema.Json:
    """Return all items as JSON."""
    return {
        "changes": [await _intent(bench, intent) for intent in left.intents],
        "arrays": [await _array(bench, entry) for entry in left.arrays],
        "sweeps": [{"session": str(folder)} for folder in left.sweeps],
        "experiments": [
            {"session": str(experiment.folder), "id": experiment.record.id, "sentence": experiment.sentence}
            for experiment in left.experiments
        ],
        "scratch_files": [await _file(file) for file in left.files],
        "folders": list(left.folders),
    }


def sweep_rows(folder: Path) -> list[str]:
    """Return a line about an interrupted sweep."""
    return [f"sweep of session {folder.name}: interrupted, its settings may still be in force"]


async def intent_rows(bench: Workbench, intent: UnresolvedChange) -> list[str]:
    """Return lines about an interrupted change: its prerequisites, and the commands that restore the old value."""
    change = intent.change
    lines = [f"change {intent.id}, {units.moment(intent.at)}: {clean(view.change_text(change), 300)}"]
    lines += filter(None, (still_running_text(intent), clean(await bench.changes.recovery_hint(change) or "", 600)))
    back = await result_or_error(bench.changes.plan_revert(change))
    if isinstance(back, RaidbenchError):
        return [*lines, *_error_lines(back)]
    return [*lines, "to restore it:", *step_lines(back.writes)] if back.before != back.after else lines


def _error_lines(error: RaidbenchError) -> list[str]:
    return [clean(line, 600) for line in (error.message, error.hint) if line]


async def array_rows(bench: Workbench, entry: ArrayJournalEntry) -> list[str]:
    """Return lines about an array whose creation or deletion was interrupted: its parts and how to remove them."""
    array = entry.array
    stage = "created" if entry.stage is ArrayStage.MAKING else "deleted"
    drives = ", ".join(drive.serial or drive.place for drive in array.members)
    head = f"array {array.name}, {units.moment(entry.at)}: interrupted while being {stage}"
    lines = [f"{head}, {array.level.value} of {clean(drives, 600)}"]
    if (program := entry.left_running) is not None:
        return [*lines, f"{clean(program, 100)} is still running on this array."]
    match = await result_or_error(bench.arrays.find(entry))
    if isinstance(match, RaidbenchError):
        return [*lines, *_error_lines(match)]
    lines.append(clean(match.sentence, 600))
    if match.state is ArrayMatchState.PARTIAL:
        lines += ["to remove its parts:", *step_lines(match.remove)]
    return lines


async def _array(bench: Workbench, entry: ArrayJournalEntry) -> dict[str, Any]:
    match = await result_or_error(bench.arrays.find(entry))
    return {
        "name": entry.array.name,
        "session": entry.session,
        "at": entry.at,
        "stage": entry.stage.value,
        "still_running": entry.left_running,
        "standing": None if isinstance(match, RaidbenchError) else match.state.value,
        "words": match.message if isinstance(match, RaidbenchError) else match.sentence,
        "remove": [] if isinstance(match, RaidbenchError) else [step.shown() for step in match.remove],
    }


async def file_rows(left: StaleScratchFile) -> list[str]:
    """Return lines about a scratch file that no run needs, and about a program that prevents its removal, if any."""
    row = f"scratch file {clean(str(left.path), 300)}, {size_words(left.size)}, of {left.session}/{left.run}"
    refusal = await leftover_in_use(left.path)
    return [row, *_error_lines(refusal)] if refusal else [row]


async def _file(left: StaleScratchFile) -> dict[str, Any]:
    refusal = await leftover_in_use(left.path)
    return {
        "path": str(left.path),
        "size_bytes": left.size,
        "session": left.session,
        "run": left.run,
        "why_not": None if refusal is None else refusal.message,
    }


async def _intent(bench: Workbench, intent: UnresolvedChange) -> dict[str, Any]:
    back = await result_or_error(bench.changes.plan_revert(intent.change))
    return {
        "id": intent.id,
        "session": intent.session,
        "at": intent.at,
        **json_schema.pick(intent.change, "target", "key", "before", "after"),
        "on_trial": intent.until is not None,
        "still_running": still_running_text(intent) or None,
        "remains": await bench.changes.recovery_hint(intent.change),
        "back": None if isinstance(back, RaidbenchError) else json_schema.change(back),
        "why_not": back.message if isinstance(back, RaidbenchError) else None,
    }
