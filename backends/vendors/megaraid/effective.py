"""Effective policies of a virtual drive that differ from the configured ones, and why they differ. No I/O."""

from __future__ import annotations

from backends.identity import Use
from backends.reported_words import reported_text, state_text
from backends.values import dataclass
from backends.vendors._cards import AS_SET, UNKNOWN, EffectiveValue, ReportedValue, value_of
from backends.vendors.megaraid.dialect import CardSnapshot, Dialect
from backends.vendors.megaraid.facts import CacheProtection, Card, Policies, VirtualDrive


@dataclass(frozen=True, slots=True, kw_only=True)
class CardView:
    """A controller as just read."""

    contents: CardSnapshot
    """State of the whole controller."""
    dialect: Dialect
    """The tool that manages it."""
    why_not: str | None = None
    """Reason that blocks every change (no root privileges, read-only mode, truncated output, failed read), or None."""

    @property
    def card(self) -> Card:
        """Return the controller itself."""
        return self.contents.card


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeView(CardView):
    """A virtual drive as just read."""

    volume: VirtualDrive
    """The virtual drive."""
    device: str | None = None
    """Path of its block device; None if no block device matches for certain."""
    uses: tuple[Use, ...] = ()
    """Mounts and other users of that device."""
    blind: tuple[str, ...] = ()
    """Descriptions of places that could not be checked for users of the device."""


# If the tool does not report the effective write policy, it follows from two facts. Without a healthy battery, the
# controller treats write-back as write-through. The I/O policy `cached` caches writes too (libstoragemgmt).

FASTPATH_WORDS = ("fastpath", "fast path")
"""Strings that identify FastPath in the lower-case name of an advanced software option."""


def is_protected(card: Card) -> bool | None:
    """Return whether cached writes survive a power cut; None if unknown."""
    if card.backup is not None:
        return card.backup.healthy
    return False if card.backup_known else None


def protection_text(card: Card) -> str:
    """Return the state of the cache protection as a clause."""
    if card.backup is None:
        return "no battery or CacheVault is fitted" if card.backup_known else "the tool reports no battery"
    return f"the {protection_name(card.backup)} is {reported_text(card.backup.state.value, card.backup.state.raw)}"


def protection_name(backup: CacheProtection) -> str:
    """Return `battery` or `CacheVault`."""
    return "CacheVault" if backup.kind == "cachevault" else "battery"


def write_cache(card: Card, volume: VirtualDrive) -> EffectiveValue:
    """Return the effective write policy that the tool reports, or else the one that the battery's state implies."""
    wanted = value_of(volume.configured.write_cache)
    reported = volume.in_force.write_cache if volume.in_force is not None else None
    safe = is_protected(card)
    if reported is not None and reported.value != wanted:
        reason = protection_text(card) if safe is not True else "the controller reports it without a reason"
        return EffectiveValue(reported.value, f"{reason} (the controller reports {reported.raw})")
    if wanted == "write-back" and not volume.bad_bbu_write_back and reported is None:
        if safe is False:
            return EffectiveValue("write-through", f"{protection_text(card)}, so the controller uses write-through")
        if safe is None:
            return EffectiveValue(UNKNOWN, f"{protection_text(card)}, so the controller uses write-through")
    if wanted == "write-through" and value_of(volume.configured.io_policy) == "cached" and safe is True:
        return EffectiveValue("write-back", "the I/O policy is cached, which also caches writes")
    return AS_SET


def reported_difference(wanted: ReportedValue | None, volume: VirtualDrive, name: str) -> EffectiveValue:
    """Return the effective value of the policy `name` if the tool reports one that differs from `wanted`, else AS_SET.

    `wanted`: the configured value.
    """
    policies: Policies | None = volume.in_force
    reported: ReportedValue | None = getattr(policies, name) if policies is not None else None
    if reported is None or wanted is None or reported.value == wanted.value:
        return AS_SET
    return EffectiveValue(reported.value, f"the controller reports {reported_text(reported.value, reported.raw)}")


def fastpath_obstacles(card: Card, volume: VirtualDrive) -> tuple[list[str], bool]:
    """Return the reasons why FastPath is not active for this virtual drive, and whether all conditions are known.

    FastPath needs the activated option, an optimal virtual drive, write-through, no read-ahead and direct I/O (HPE MR
    guide, p. 79).
    """
    against: list[str] = []
    certain = True
    states = {o.state.value for o in card.options if any(word in o.name.lower() for word in FASTPATH_WORDS)}
    supported = card.supports.get("fastpath")
    if {"active", "trial"} & states or not card.options:
        against += ["the controller does not support it"] if supported is False else []
        certain = bool(card.options)
    elif states or supported is not None:
        # Some controllers report FastPath as unsupported only because its activation key is missing.
        against.append("its activation key is missing")
    else:
        certain = False  # storcli 8 lists options but never FastPath, so its activation is unknown
    if volume.state.value != "optimal":
        against.append(f"the drive is {state_text(volume.state, volume.state_raw)}")
    in_force = write_cache(card, volume).value or value_of(volume.configured.write_cache)
    for present, wanted, text in (
        (in_force, "write-through", "the write policy is not write-through"),
        (value_of(volume.configured.read_ahead), "none", "read-ahead is on"),
        (value_of(volume.configured.io_policy), "direct", "I/O is cached"),
    ):
        if present is None or present == UNKNOWN:
            # Controllers that support only direct I/O report no I/O policy, so a missing one means direct.
            certain = certain and present is None and wanted == "direct"
        elif present != wanted:
            against.append(text)
    return against, certain
