"""A picture below what a command found, where standard output is a terminal that has the room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.devices_text import terminal_width

if TYPE_CHECKING:
    from app.engine.picture.subject import Subject
    from app.engine.session.figures import Sample

_WIDEST, _HEIGHT = 120, 20


def picture_lines(subject: Subject | None, samples: tuple[Sample, ...] = ()) -> list[str]:
    """What tells most of it, as `plot` draws it; none in a pipe, of nothing, and where there is no room.

    `samples`: those of its only run, which need not be read again.
    """
    width = terminal_width()
    if subject is None or width is None:
        return []
    from app.cli.plot import look_of
    from app.engine.picture.making import picture
    from widgets.plain.picture.look import too_small
    from widgets.plain.picture.painting import painted

    look = look_of((min(width, _WIDEST), _HEIGHT))
    made = picture(subject, intervals=lambda _: samples)
    return [] if made.data is None or too_small(look) else painted(made, look)
