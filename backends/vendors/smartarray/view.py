"""What a reading is made from: one card, what of it is looked at, and what stands against changing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.values import dataclass
from backends.vendors.smartarray.dialect import ArrayTool
from backends.vendors.smartarray.facts import BayDrive, CardText, LogicalDrive, RaidCard


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """A card, or a part of it, as read just now."""

    text: CardText
    """All of the card."""
    tool: ArrayTool
    """The tool that speaks to it."""
    why_not: str | None = None
    """What stands against any change: no root, read-only mode."""
    legal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Legal values that the card itself tells, by the keys of settings."""
    volume: LogicalDrive | None = None
    """The logical drive looked at."""
    drive: BayDrive | None = None
    """The physical drive looked at."""

    @property
    def card(self) -> RaidCard:
        """The card itself."""
        return self.text.card
