"""One virtual drive at one moment, and what is really in force there where that is not what is set, and why. Pure."""

from __future__ import annotations

from backends.identity import Use
from backends.values import dataclass
from backends.vendors._cards import AS_SET, UNKNOWN, EffectiveValue, ReportedValue, value_of
from backends.vendors.megaraid.dialect import CardSnapshot, Dialect
from backends.vendors.megaraid.facts import CacheProtection, Card, Policies, VirtualDrive


@dataclass(frozen=True, slots=True, kw_only=True)
class CardView:
    """A card as read just now."""

    contents: CardSnapshot
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


# Write-back without a healthy battery is write-through; cached I/O caches writes, too, says libstoragemgmt.

FASTPATH_WORDS = ("fastpath", "fast path")
"""How the option is called."""


def protected(card: Card) -> bool | None:
    """Whether cached writes outlive a power cut; None if it cannot be told."""
    if card.backup is not None:
        return card.backup.healthy
    return False if card.backup_known else None


def protection_text(card: Card) -> str:
    """The state of the protection, to complete "...: "."""
    if card.backup is None:
        return "no battery or CacheVault is fitted" if card.backup_known else "the tool says nothing of a battery"
    return f"the {protection_name(card.backup)} is {card.backup.state.raw or card.backup.state.value}"


def protection_name(backup: CacheProtection) -> str:
    """`battery` or `CacheVault`."""
    return "CacheVault" if backup.kind == "cachevault" else "battery"


def write_cache(card: Card, volume: VirtualDrive) -> EffectiveValue:
    """The write policy in force. What the tool itself says counts; else it follows from the battery."""
    wanted = value_of(volume.configured.write_cache)
    reported = volume.in_force.write_cache if volume.in_force is not None else None
    safe = protected(card)
    if reported is not None and reported.value != wanted:
        reason = protection_text(card) if safe is not True else "the card says so and gives no reason"
        return EffectiveValue(reported.value, f"{reason} (the card says {reported.raw})")
    if wanted == "write-back" and not volume.bad_bbu_write_back and reported is None:
        if safe is False:
            return EffectiveValue("write-through", f"{protection_text(card)}, so the card writes through")
        if safe is None:
            return EffectiveValue(UNKNOWN, f"{protection_text(card)}: without a healthy one it writes through")
    if wanted == "write-through" and value_of(volume.configured.io_policy) == "cached" and safe is True:
        return EffectiveValue("write-back", "the I/O policy is cached, which caches writes too")
    return AS_SET


def reported_difference(wanted: ReportedValue | None, volume: VirtualDrive, name: str) -> EffectiveValue:
    """For a policy that only the tool can tell: what it says is in force, where that differs."""
    policies: Policies | None = volume.in_force
    reported: ReportedValue | None = getattr(policies, name) if policies is not None else None
    if reported is None or wanted is None or reported.value == wanted.value:
        return AS_SET
    return EffectiveValue(reported.value, f"the card says {reported.raw}")


def fastpath_obstacles(card: Card, volume: VirtualDrive) -> tuple[list[str], bool]:
    """(why FastPath is not in force for this drive, each a clause; whether it is certain).

    It wants the option activated, an optimal drive, write-through, no read-ahead and direct I/O (HPE MR guide, p. 79).
    """
    against: list[str] = []
    certain = True
    states = {o.state.value for o in card.options if any(word in o.name.lower() for word in FASTPATH_WORDS)}
    supported = card.supports.get("fastpath")
    if {"active", "trial"} & states or not card.options:
        against += ["the card does not support it"] if supported is False else []
        certain = bool(card.options)
    elif states or supported is not None:
        against.append("its activation key is missing")  # some cards deny the support without it
    else:
        certain = False  # cards of version 8 list options and never speak of FastPath
    if volume.state.value != "optimal":
        against.append(f"the drive is {volume.state_raw or volume.state.value}")
    in_force = write_cache(card, volume).value or value_of(volume.configured.write_cache)
    for present, wanted, text in (
        (in_force, "write-through", "writes are not written through"),
        (value_of(volume.configured.read_ahead), "none", "read-ahead is on"),
        (value_of(volume.configured.io_policy), "direct", "I/O is cached"),
    ):
        if present is None or present == UNKNOWN:
            certain = certain and present is None and wanted == "direct"  # where direct is all there is it is not told
        elif present != wanted:
            against.append(text)
    return against, certain
