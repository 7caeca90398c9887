"""What a confirmation dialog says: plain strings, and the table of what will change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, wrap

Tier = Literal["harmless", "risky", "destructive", "refused"]
"""How a change is confirmed: enter; the key y; a typed name; not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """A change that is asked for."""

    setting: str
    """What is changed, and of what: `Read-ahead of ssd`."""
    before: str
    """The value now."""
    after: str
    """The value it will be."""
    effect: str = ""
    """When it takes effect: `at once`, `after a reboot`."""
    undo: str = ""
    """How it is undone, or why it cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """All that a person needs to say yes or no."""

    title: str
    """What is asked: `Apply 2 changes to /c0/v1`."""
    tier: Tier = "risky"
    """How it is answered."""
    devices: tuple[str, ...] = ()
    """What it is asked of, a sentence each: model, serial number, size. One or two are always in sight."""
    summary: str = ""
    """A sentence or two under the title."""
    changes: tuple[PlannedChange, ...] = ()
    """What changes."""
    commands: tuple[tuple[str, ...] | str, ...] = ()
    """The very argument lists that will run."""
    risks: tuple[str, ...] = ()
    """A sentence for each risk."""
    evidence: tuple[str, ...] = ()
    """What is on the device: partitions, filesystems, mounts."""
    reasons: tuple[str, ...] = ()
    """Why it is refused; only for that tier."""
    required: str = ""
    """What must be typed; only for the destructive tier, where an empty text can never be confirmed."""
    apply_label: str = "Apply"
    """What the button says that does it."""
    trial_label: str = ""
    """What the button says that does it for a while, such as `Trial, 5 min`; empty for none."""


class ChangeTable(TextPanel):
    """A block for each change: what moves from where to where, when; how it is taken back once that is unfolded."""

    def __init__(self, changes: tuple[PlannedChange, ...] = ()) -> None:
        super().__init__()
        self._changes = changes
        self._unfolded = False

    def unfold(self) -> None:
        """Show or hide how each is taken back."""
        self._unfolded = not self._unfolded
        self.changed()

    def lay_out(self, width: int) -> list[Line]:
        """The blocks."""
        return change_lines(self._changes, width, undo=self._unfolded)


def change_lines(changes: Sequence[PlannedChange], width: int, *, undo: bool = False) -> list[Line]:
    """The lines of changes at a width; with `undo` how each is taken back."""
    lines = [line for change in changes for line in _block(change, width, undo=undo)]
    if lines and not undo and any(change.undo for change in changes):
        lines.append((("muted", "u shows how it is taken back"),))
    return lines


def _block(change: PlannedChange, width: int, *, undo: bool) -> list[Line]:
    """One change: its sentence, then what is said of it."""
    head = wrap(f"{change.setting}: {change.before} → {change.after}", width, indent=4)
    lines: list[Line] = [(("title", clean(line)),) for line in head]
    if change.effect:
        lines += [(("label", clean(line)),) for line in wrap(f"  takes effect {change.effect}", width, indent=4)]
    if change.undo and undo:
        lines += [(("label", clean(line)),) for line in wrap(f"  undo: {change.undo}", width, indent=4)]
    return lines
