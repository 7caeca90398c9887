"""Contents of a confirmation dialog, and the table of changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, wrap

Tier = Literal["harmless", "risky", "destructive", "refused"]
"""How a change is confirmed: with enter, with the key y, by typing a word, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """One requested change."""

    setting: str
    """Setting and its target: `Read-ahead of ssd`."""
    before: str
    """Present value."""
    after: str
    """New value."""
    effect: str = ""
    """When it takes effect: `at once`, `after a reboot`."""
    undo: str = ""
    """How to undo it, or why that is impossible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Contents of a confirmation dialog."""

    title: str
    """Question: `Apply 2 changes to /c0/v1`."""
    tier: Tier = "risky"
    """How it is confirmed."""
    devices: tuple[str, ...] = ()
    """Affected devices, one sentence each: model, serial number, size. One or two are always visible."""
    summary: str = ""
    """One or two sentences under the title."""
    changes: tuple[PlannedChange, ...] = ()
    """Changes."""
    commands: tuple[tuple[str, ...] | str, ...] = ()
    """Exact argument lists that will run."""
    risks: tuple[str, ...] = ()
    """One sentence per risk."""
    evidence: tuple[str, ...] = ()
    """Contents of the device: partitions, filesystems, mounts."""
    reasons: tuple[str, ...] = ()
    """Reasons of a refusal; only for that tier."""
    required: str = ""
    """Text that must be typed; only for the destructive tier. An empty text can never be confirmed."""
    apply_label: str = "Apply"
    """Label of the button that applies."""
    trial_label: str = ""
    """Label of the button that applies for a limited time, such as `Trial, 5 min`, or ""."""


class ChangeTable(TextPanel):
    """One block per change: old and new value, and when it takes effect. Unfolded, it also shows the undo."""

    def __init__(self, changes: tuple[PlannedChange, ...] = ()) -> None:
        super().__init__()
        self._changes = changes
        self._unfolded = False

    def unfold(self) -> None:
        """Show or hide how each change is undone."""
        self._unfolded = not self._unfolded
        self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the blocks."""
        return change_lines(self._changes, width, undo=self._unfolded)


def change_lines(changes: Sequence[PlannedChange], width: int, *, undo: bool = False) -> list[Line]:
    """Return the lines of changes at a width. `undo`: include how each is undone."""
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
