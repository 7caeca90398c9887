"""The introduction at the very first start: purpose, workflow, and first keys.

It disappears after the first change or run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.presentation.table import FactLine, Facts

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

_KEYS = {
    "devices.measure": "measure the device under the cursor",
    "devices.next": "stage another value of a setting; nothing is changed yet",
    "devices.review": "review the commands of all staged changes, then apply them",
    "app.help": "all keys; viewing never changes anything",
}
"""Effect of a command's key, by command id."""


def welcome_lines(app: AppInterface) -> tuple[Facts, ...]:
    """Return the lines to show above the facts of the selected device."""
    if not app.options.first_start or app.session.runs or app.session.changes:
        return ()
    lines = (
        FactLine("", "raidbench shows how storage is tuned, and measures what a setting does."),
        FactLine("", "The loop: measure, change one setting, measure again, compare, keep it or undo it."),
        *(FactLine(app.with_keys(f"<{command}>"), text) for command, text in _KEYS.items()),
    )
    return (Facts(heading="First steps", facts=lines),)
