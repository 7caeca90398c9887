"""The lines of the very first start: what it is, the loop, the keys that begin it; nothing once anything was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.presentation.table import FactLine, Facts
from app.tui.commands import COMMANDS

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

_KEYS = {
    "devices.measure": "measure the device under the cursor",
    "devices.next": "stage another value of a setting; nothing is done yet",
    "devices.review": "see the commands of all that is staged, then apply it",
}
"""By the id of its command, what a key does."""


def welcome_lines(app: AppInterface) -> tuple[Facts, ...]:
    """To stand above the facts of what is under the cursor."""
    if not app.options.first_start or app.session.runs or app.session.changes:
        return ()
    keys = {spec.id: app.custom_keys.get(spec.id, spec.shown_keys.split()[-1]) for spec in COMMANDS if spec.id in _KEYS}
    lines = (
        FactLine("", "raidbench shows how storage is tuned, and measures what a setting does."),
        FactLine("", "The loop: measure, change one setting, measure again, compare, keep it or undo it."),
        *(FactLine(keys[command], text) for command, text in _KEYS.items()),
        FactLine("?", "all keys; looking never changes anything"),
    )
    return (Facts(heading="First steps", facts=lines),)
