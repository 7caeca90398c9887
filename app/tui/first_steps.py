"""The lines of the very first start, with the keys as they are set; nothing once anything was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands import COMMANDS
from app.engine.view.first_start import FIRST_KEYS, first_start
from app.engine.view.table import Facts

if TYPE_CHECKING:
    from app.tui.port import Port


def first_steps(app: Port) -> tuple[Facts, ...]:
    """To stand above the facts of what is under the cursor."""
    if not app.options.first_start or app.session.runs or app.session.changes:
        return ()
    keys = {one.id: app.custom_keys.get(one.id, one.shown_keys.split()[-1]) for one in COMMANDS if one.id in FIRST_KEYS}
    return (first_start(keys),)
