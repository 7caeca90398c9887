"""What a crash left, as rows for a person and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.cli.confirm import steps
from app.cli.opening import experiments_cut_short, sweeps_cut_short
from app.engine.ab.interrupted import CutShort
from app.engine.change.unfinished import still_running
from app.engine.measure.leftovers import Leftover, leftover_scratch
from app.engine.session.journal import OpenChange
from app.engine.view import change as view
from app.engine.view import schema
from app.engine.workbench import Workbench
from backends.change import Change
from backends.errors import RaidbenchError
from backends.sizes import size_words
from backends.text import clean
from backends.values import dataclass
from widgets.plain import units


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """All that somebody may want to put back or to remove."""

    intents: tuple[OpenChange, ...]
    sweeps: tuple[Path, ...]
    experiments: tuple[CutShort, ...]
    files: tuple[Leftover, ...]
    folders: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return any((self.intents, self.sweeps, self.experiments, self.files, self.folders))


def left_behind(bench: Workbench) -> Left:
    """What there is on the machine that is meant; nothing is changed."""
    from backends.hosts.local.files import left_folders

    return Left(
        intents=bench.changes.unresolved(),
        sweeps=sweeps_cut_short(),
        experiments=experiments_cut_short(),
        files=leftover_scratch(bench.paths.sessions),
        folders=() if bench.simulated else left_folders(),
    )


async def rows_of(bench: Workbench, left: Left) -> list[str]:
    """All of it, for a person."""
    rows = [row for folder in left.sweeps for row in sweep_rows(folder)]
    rows += (clean(one.sentence, 300) for one in left.experiments)
    rows += [row for intent in left.intents for row in await intent_rows(bench, intent)]
    rows += [row for file in left.files for row in file_rows(file)]
    return [*rows, *(f"empty working folder {folder}" for folder in left.folders)]


async def json_of(bench: Workbench, left: Left) -> schema.Json:
    """All of it, for a program."""
    return {
        "changes": [await _intent(bench, intent) for intent in left.intents],
        "sweeps": [{"session": str(folder)} for folder in left.sweeps],
        "experiments": [
            {"session": str(one.folder), "id": one.record.id, "sentence": one.sentence} for one in left.experiments
        ],
        "scratch_files": [
            {"path": str(one.path), "size_bytes": one.size, "session": one.session, "run": one.run}
            for one in left.files
        ],
        "folders": list(left.folders),
    }


def sweep_rows(folder: Path) -> list[str]:
    """A sweep that nobody is at."""
    return [f"sweep of session {folder.name}: cut short, its settings may still be in force"]


async def intent_rows(bench: Workbench, intent: OpenChange) -> list[str]:
    """What was left, what is to be done first about a thing that was taken apart, and what would put it back."""
    change = intent.change
    told = [f"change {intent.id}, {units.moment(intent.at)}: {clean(view.move(change), 300)}"]
    told += filter(None, (still_running(intent), clean(await bench.changes.remains(change) or "", 600)))
    back = await _back(bench, change)
    if isinstance(back, RaidbenchError):
        return [*told, *(clean(line, 600) for line in (back.message, back.hint) if line)]
    return [*told, "to put it back:", *steps(back.writes)] if back.before != back.after else told


def file_rows(left: Leftover) -> Iterator[str]:
    """A scratch file that no run needs any more."""
    yield f"scratch file {clean(str(left.path), 300)}, {size_words(left.size)}, of {left.session}/{left.run}"


async def _intent(bench: Workbench, intent: OpenChange) -> dict[str, Any]:
    back = await _back(bench, intent.change)
    return {
        "id": intent.id,
        "session": intent.session,
        "at": intent.at,
        **schema.picked(intent.change, "target", "key", "before", "after"),
        "on_trial": intent.until is not None,
        "still_running": still_running(intent) or None,
        "remains": await bench.changes.remains(intent.change),
        "back": None if isinstance(back, RaidbenchError) else schema.change(back),
        "why_not": back.message if isinstance(back, RaidbenchError) else None,
    }


async def _back(bench: Workbench, change: Change) -> Change | RaidbenchError:
    try:
        return await bench.changes.plan_back(change)
    except RaidbenchError as error:
        return error
