"""What somebody who has never started it is told: what it is, the loop, the keys that begin it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.view.table import FactLine, Facts

FIRST_KEYS = {
    "devices.measure": "measure the device under the cursor",
    "devices.next": "stage another value of a setting; nothing is done yet",
    "devices.review": "see the commands of all that is staged, then apply it",
}
"""By the id of its command, what a key does."""


def first_start(keys: Mapping[str, str]) -> Facts:
    """Six lines; `keys`: by the id of its command, the key of each of `FIRST_KEYS`."""
    return Facts(
        heading="First steps",
        facts=(
            FactLine("", "raidbench shows how storage is tuned, and measures what a setting does."),
            FactLine("", "The loop: measure, change one setting, measure again, compare, keep it or undo it."),
            *(FactLine(keys[command], words) for command, words in FIRST_KEYS.items()),
            FactLine("?", "all keys; looking never changes anything"),
        ),
    )
