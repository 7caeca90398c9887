"""Contents of a confirmation dialog, and its list of changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, wrap

Tier = Literal["harmless", "risky", "destructive", "refused"]
"""How a change is confirmed: with enter, with the key y, by typing the confirmation token, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """A change that the user is asked to confirm."""

    setting: str
    """Setting and its target, such as `Read-ahead of ssd`."""
    before: str
    """Value before the change."""
    after: str
    """Value after the change."""
    effect: str = ""
    """When it takes effect, such as `at once` or `after a reboot`; "" if not known."""
    undo: str = ""
    """How to undo the change, or why that is impossible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Contents of a confirmation dialog."""

    title: str
    """Title, such as `Apply 2 changes to /c0/v1`."""
    tier: Tier = "risky"
    """How the user confirms."""
    devices: tuple[str, ...] = ()
    """Sentence about each affected device: model, serial number and size."""
    devices_title: str = ""
    """Title of these sentences, such as `volume group data and 2 drives`; "" for their number."""
    summary: str = ""
    """One or two sentences that explain the changes."""
    changes: tuple[PlannedChange, ...] = ()
    """All changes that are confirmed together."""
    commands: tuple[tuple[str, ...] | str, ...] = ()
    """Commands that will run: lists of arguments, or literal lines."""
    risks: tuple[str, ...] = ()
    """One sentence per risk."""
    evidence: tuple[str, ...] = ()
    """What the device contains, such as partitions, filesystems and mounts."""
    reasons: tuple[str, ...] = ()
    """Reasons for the refusal; only for the tier `refused`."""
    required: str = ""
    """Confirmation token that must be typed; only for the tier `destructive`. Without it, confirming is impossible."""
    apply_label: str = "Apply"
    """Label of the button that applies the changes."""
    trial_label: str = ""
    """Label of the button that applies the changes as a trial, such as `Trial, 5 min`; "" for no button."""


class ChangeTable(TextPanel):
    """Shows for each change the old and new value and when it takes effect. Unfolded, it also shows how to undo it."""

    def __init__(self, changes: tuple[PlannedChange, ...] = ()) -> None:
        super().__init__()
        self._changes = changes
        self._unfolded = False

    def unfold(self) -> None:
        """Show or hide how each change is undone."""
        self._unfolded = not self._unfolded
        self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines of all changes."""
        return change_lines(self._changes, width, undo=self._unfolded)


def change_lines(changes: Sequence[PlannedChange], width: int, *, undo: bool = False) -> list[Line]:
    """Return the lines of all changes for a width. `undo`: also show how to undo each change."""
    lines = [line for change in changes for line in _block(change, width, undo=undo)]
    if lines and not undo and any(change.undo for change in changes):
        lines.append((("muted", "u shows how to undo it"),))
    return lines


def _block(change: PlannedChange, width: int, *, undo: bool) -> list[Line]:
    """Return the lines of one change."""
    sentence = wrap(f"{change.setting}: {change.before} → {change.after}", width, indent=4)
    lines: list[Line] = [(("title", clean(line)),) for line in sentence]
    if change.effect:
        lines += [(("label", clean(line)),) for line in wrap(f"  takes effect {change.effect}", width, indent=4)]
    if change.undo and undo:
        lines += [(("label", clean(line)),) for line in wrap(f"  undo: {change.undo}", width, indent=4)]
    return lines
