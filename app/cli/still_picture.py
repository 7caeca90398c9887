"""A picture below what a command found, where standard output is a terminal that has the room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.devices_text import terminal_width

if TYPE_CHECKING:
    from pathlib import Path

    from app.engine.picture.subject import Subject
    from app.engine.session.figures import Sample
    from app.engine.session.state import RunRecord, Session

_WIDEST, _HEIGHT = 120, 20


def run_lines(run: RunRecord, folder: Path, samples: tuple[Sample, ...]) -> list[str]:
    """Return the picture of a run; `samples`: its own, which need not be read again."""
    from app.engine.picture.subject import PlacedRun, of_runs

    return picture_lines(of_runs([PlacedRun(run=run, folder=folder)]), samples)


def sweep_lines(session: Session, folder: Path) -> list[str]:
    """Return the picture of the sweep of a session."""
    from app.engine.picture.subject import of_sweep

    return picture_lines(of_sweep(session, folder))


def picture_lines(subject: Subject | None, samples: tuple[Sample, ...] = ()) -> list[str]:
    """What tells most of it, as `plot` draws it; none in a pipe, of nothing, and where there is no room.

    `samples`: those of its only run, which need not be read again.
    """
    width = terminal_width()
    if subject is None or width is None:
        return []
    from app.cli.plot import look_of
    from app.engine.picture.asked import Wish
    from app.engine.picture.making import picture, usual
    from widgets.plain.picture.look import too_small
    from widgets.plain.picture.painting import painted

    look = look_of((min(width, _WIDEST), _HEIGHT))
    made = picture(subject, usual(subject), Wish(), lambda _: samples)
    return [] if made.data is None or too_small(look) else painted(made, look)
