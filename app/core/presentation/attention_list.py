"""The list of devices that need attention, the most severe fault first. No I/O."""

from __future__ import annotations

from app.core.presentation.device import protection_missing, protection_text, state_of
from app.core.presentation.device_tree import TROUBLE, address_sort_key, role_of, severity_rank
from backends.model import Inventory, State, Target
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """A change that raidbench proposes to fix a fault."""

    target: Target
    """Device whose setting is changed."""
    key: str
    """Key of the setting."""
    value: str
    """Proposed value."""

    @property
    def command(self) -> str:
        """Return the command that makes the change."""
        return f"raidbench set {self.target} {self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """A row of the device list that needs attention."""

    key: str
    """Key of the row: the address of a device, or the source of a problem that belongs to no device."""
    text: str
    """Description of the fault."""
    staged: ProposedChange | None = None
    """Change that fixes the fault, if raidbench can make it."""


def attention_items(inventory: Inventory) -> tuple[AttentionItem, ...]:
    """Return an item for each faulty array or drive, failed or missing battery, and device that was not read.

    A member is left out if its array is listed. A reading problem is left out if a fault of the same device is listed.
    """
    twins = inventory.twins
    arrays = {array.target: array for array in inventory.arrays}
    entries: list[tuple[int, tuple[object, ...], AttentionItem]] = [
        (
            severity_rank(array.state),
            address_sort_key(array.target),
            AttentionItem(str(array.target), array.state.value),
        )
        for array in inventory.arrays
        if array.state in TROUBLE
    ]
    for drive in inventory.drives:
        above = arrays.get(drive.array) if drive.array is not None else None
        state = drive.state if above is None else state_of(drive, role_of(drive, above))
        if state in TROUBLE and drive.target not in twins and (above is None or above.state not in TROUBLE):
            entries.append(
                (severity_rank(state), address_sort_key(drive.target), AttentionItem(str(drive.target), state.value))
            )
    entries += [
        # An unprotected cache is worse than a running rebuild: written data may be lost.
        (
            severity_rank(State.REBUILDING),
            (),
            AttentionItem(
                str(controller.target),
                f"{protection_text(controller.protection)}: the cache is not protected against power loss",
            ),
        )
        for controller in inventory.controllers
        if protection_missing(controller.protection)
    ]
    items = {item.key: item for _, _, item in sorted(entries, key=lambda entry: entry[:2])}
    for problem in inventory.problems:
        items.setdefault(problem.where, AttentionItem(problem.where, problem.message))
    return tuple(items.values())
