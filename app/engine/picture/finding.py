"""All sessions of what one run measured, read from disk."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.engine.past_runs.earlier_runs import PastRun
from app.engine.past_runs.series import series_of
from app.engine.picture.subject import Subject, of_target
from app.engine.session.state import Session
from app.engine.session.store import Loaded, load
from backends.errors import RaidbenchError

MOST_SESSIONS = 50
"""The newest, whose runs are shown one by one."""


def all_sessions(
    last: PastRun, past: Sequence[PastRun], root: Path, also: Sequence[Loaded] = (), baseline: PastRun | None = None
) -> Subject | None:
    """What a run measured, in all sessions below `root` and in those that are open or lie elsewhere (`also`).

    `past`: every known run. A session that cannot be read is passed over. Blocks.
    """
    things = [run for run in past if (run.thing, run.simulated) == (last.thing, last.simulated)]
    known: dict[str, tuple[Path, Session]] = {each.folder.name: (each.folder, each.session) for each in also}
    for name in list(dict.fromkeys(run.session for run in reversed(things)))[:MOST_SESSIONS]:
        if name not in known:
            with suppress(RaidbenchError):
                known[name] = root / name, load(root / name).session
    alike = [run for run in things if run.condition == last.condition]
    return of_target(last, things, known, series_of(alike).get(last.condition), baseline)
