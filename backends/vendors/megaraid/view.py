"""What a reading is made from: one card, one virtual drive, and what stands against changing it."""

from __future__ import annotations

from backends.identity import Use
from backends.values import dataclass
from backends.vendors.megaraid.dialect import Contents, Dialect
from backends.vendors.megaraid.facts import Card, VirtualDrive


@dataclass(frozen=True, slots=True, kw_only=True)
class CardView:
    """A card as read just now."""

    contents: Contents
    """All of it."""
    dialect: Dialect
    """The tool that speaks to it."""
    why_not: str | None = None
    """What stands against any change: no root, read-only mode."""

    @property
    def card(self) -> Card:
        """The card itself."""
        return self.contents.card


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeView(CardView):
    """A virtual drive as read just now."""

    volume: VirtualDrive
    """The drive."""
    device: str | None = None
    """Its block device, if one is known for certain."""
    uses: tuple[Use, ...] = ()
    """What uses that device."""
    blind: tuple[str, ...] = ()
    """What could not be looked at, so that use may be hidden."""
