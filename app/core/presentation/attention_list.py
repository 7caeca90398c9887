"""The devices of a machine that need attention, the gravest first. No I/O."""

from __future__ import annotations

from app.core.presentation.device import protection_missing, protection_text, state_of
from app.core.presentation.device_tree import TROUBLE, address_sort_key, role_of, severity_rank
from backends.model import Inventory, State, Target
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """A change that raidbench can make."""

    target: Target
    """What has the setting."""
    key: str
    """Which."""
    value: str
    """What it is to become."""

    @property
    def command(self) -> str:
        """The line that makes it."""
        return f"raidbench set {self.target} {self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """A row of the list of devices that wants a look."""

    key: str
    """The row's key: an address, or that of a problem of no device."""
    words: str
    """What is wrong with it."""
    staged: ProposedChange | None = None
    """The change that mends it, where raidbench can make it."""


def attention_items(inventory: Inventory) -> tuple[AttentionItem, ...]:
    """Return arrays and drives with faults, controllers without a battery, and devices that could not be read.

    A member is not told beside its array, nor a problem of a card beside what else is wrong with it.
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
        # A cache that nothing keeps is graver than a rebuild that goes on: it may lose what was written.
        (
            severity_rank(State.REBUILDING),
            (),
            AttentionItem(
                str(controller.target), f"{protection_text(controller.protection)}, no power keeps its cache"
            ),
        )
        for controller in inventory.controllers
        if protection_missing(controller.protection)
    ]
    items = {item.key: item for _, _, item in sorted(entries, key=lambda entry: entry[:2])}
    for problem in inventory.problems:
        items.setdefault(problem.where, AttentionItem(problem.where, problem.message))
    return tuple(items.values())
