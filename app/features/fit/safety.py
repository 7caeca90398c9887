"""Whether flushed data survives a power loss: findings of the check, and drives that answer too fast. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from app.core.session.events import RecordedFinding
from backends.model import Controller, Drive, Inventory, Media
from backends.values import dataclass

RULES = frozenset(
    ("flushes-off", "barriers-off", "sync-off", "drive-cache-unprotected", "battery-failed", "writes-always-cached")
)
"""Rules of the check whose findings mean that a power loss loses flushed data."""

ONLY_WITHOUT_BATTERY = "writes-always-cached"
"""Rule that finds forced write-back, which is safe as long as a battery works."""

_UNPROTECTED = ("failed", "missing", "degraded")

HALF_TURN_S = 0.002
"""Half a turn of the fastest rotating drives (15,000 rpm). A flush to the platter takes longer in the median."""


class Safety(StrEnum):
    """What is known about flushed data after a power loss."""

    UNSAFE = "not safe"
    UNKNOWN = "not known"
    NO_FINDING = "no finding"
    """No rule speaks against it, which is not a proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyJudgement:
    """What is known about flushed data after a power loss, and why."""

    safety: Safety
    """The judgement."""
    reasons: tuple[str, ...] = ()
    """Sentences that explain it."""
    fixes: tuple[str, ...] = ()
    """What to change; empty if it is safe or if nothing is known."""


def judge_safety(
    findings: Sequence[RecordedFinding] | None,
    inventory: Inventory,
    drives: Sequence[Drive],
    controllers: Sequence[Controller],
    *,
    in_vm: bool,
    flush_p50_s: float | None,
) -> SafetyJudgement:
    """Return what is known about flushes.

    `findings`: those about everything beneath the folder; None if the check is missing. `in_vm`: whether this machine
    is virtual. `flush_p50_s`: median of a flush in seconds; None without flushes.
    """
    bad = [found for found in findings or () if found.rule in RULES and not _has_battery(found, inventory)]
    reasons = [f"{found.rule}: {found.message}" for found in bad]
    fixes = [found.mends for found in bad if found.mends]
    rotating = bool(drives) and all(drive.media is Media.HDD for drive in drives)
    guarded = any(_is_guarded(card) for card in controllers)
    if rotating and not guarded and flush_p50_s is not None and flush_p50_s < HALF_TURN_S:
        reasons.append(
            f"Half of the flushes take at most {flush_p50_s * 1000:.2g} ms. A rotating drive needs longer for half a"
            " turn, so a cache answers them, and nothing that protects it is known."
        )
        fixes.append("Switch off the write cache of the drive, or add a controller with a battery.")
    if reasons:
        return SafetyJudgement(safety=Safety.UNSAFE, reasons=tuple(reasons), fixes=tuple(fixes))
    if in_vm or any(drive.media is Media.VIRTUAL for drive in drives):
        why = "This machine is virtual, and it does not show whether its host keeps flushes."
    elif findings is None:
        why = "The feature check is not installed."
    elif not drives:
        why = "The drives beneath the folder are not known."
    else:
        why = "No rule of `raidbench check` speaks against it. Only pulling the plug proves it (diskchecker.pl)."
        return SafetyJudgement(safety=Safety.NO_FINDING, reasons=(why,))
    return SafetyJudgement(safety=Safety.UNKNOWN, reasons=(why,))


def _has_battery(found: RecordedFinding, inventory: Inventory) -> bool:
    """Return whether a finding about forced write-back is about a controller whose battery works."""
    card = next((card for card in inventory.controllers if str(card.target) == found.where), None)
    return found.rule == ONLY_WITHOUT_BATTERY and card is not None and _is_guarded(card)


def _is_guarded(card: Controller) -> bool:
    guard = card.protection
    return guard is not None and guard.kind != "none" and guard.state not in (*_UNPROTECTED, "unknown")
