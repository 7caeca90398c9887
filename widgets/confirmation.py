"""What a confirmation dialog says: plain strings, and the table of what will change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from widgets.lines import Line, Lines
from widgets.plain.text import clean, pad, width_of, wrap

Tier = Literal["harmless", "risky", "destructive", "refused"]
"""How a change is confirmed: enter; the key y; a typed name; not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """A line of the table of changes."""

    setting: str
    """What is changed, and on what."""
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
    """What it is asked of, a sentence each: model, serial number, size. Always in sight."""
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
    cancel_label: str = "Cancel"
    """What the button says that leaves."""
    trial_label: str = ""
    """What the button says that does it for a while, such as `Trial, 5 min`; empty for none."""


class ChangeTable(Lines):
    """The changes as a table, or one below the other where the table has no room; nothing is left out."""

    def __init__(self, changes: tuple[PlannedChange, ...] = ()) -> None:
        super().__init__()
        self._changes = changes

    def lay_out(self, width: int) -> list[Line]:
        """The table, or the list."""
        return change_lines(self._changes, width)


HEADINGS: Final = ("Setting", "Now", "Will be", "Takes effect", "Undo")
_STYLES: Final = ("value", "muted", "accent", "label", "label")


def change_lines(changes: Sequence[PlannedChange], width: int) -> list[Line]:
    """The lines of a table of changes at a width."""
    if not changes:
        return []
    table = [tuple(clean(cell) for cell in _cells(change)) for change in changes]
    used = [index for index in range(5) if index < 3 or any(row[index] for row in table)]
    widths = {index: max(width_of(HEADINGS[index]), *(width_of(row[index]) for row in table)) for index in used}
    if sum(widths.values()) + 2 * (len(used) - 1) > width:
        return [line for change in changes for line in _stacked(change, width)]
    header: Line = (("label", "  ".join(pad(HEADINGS[index], widths[index]) for index in used)),)
    return [
        header,
        *(tuple((_STYLES[index], pad(row[index], widths[index]) + "  ") for index in used) for row in table),
    ]


def _cells(change: PlannedChange) -> tuple[str, str, str, str, str]:
    return change.setting, change.before, change.after, change.effect, change.undo


def _stacked(change: PlannedChange, width: int) -> list[Line]:
    """One change over several lines."""
    lines: list[Line] = [(("title", line),) for line in wrap(change.setting, width)]
    lines += [(("accent", line),) for line in wrap(f"  {change.before} -> {change.after}", width, indent=4)]
    if change.effect:
        lines += [(("label", line),) for line in wrap(f"  takes effect {change.effect}", width, indent=4)]
    if change.undo:
        lines += [(("label", line),) for line in wrap(f"  undo: {change.undo}", width, indent=4)]
    return lines
