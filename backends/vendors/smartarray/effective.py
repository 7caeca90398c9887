"""Effective cache policies that differ from the configured ones, and why they differ. No I/O.

Configured caching has no effect while the cache is disabled. While the battery is not healthy, writes are not cached
unless the controller may cache them without a battery. Series 2 to 8 report themselves whether reads and writes are
cached now.
"""

from __future__ import annotations

from backends.reported_words import plain_words, reported_text, word_text
from backends.vendors._cards import AS_SET, UNKNOWN, EffectiveValue, ReportedValue, value_of
from backends.vendors.smartarray.facts import Family, LogicalDrive, RaidCard

_WRITING_BACK = ("write-back", "always-write-back")


def caches_without_battery(card: RaidCard) -> bool:
    """Return whether the controller may cache writes without a battery."""
    return value_of(card.values.get("no_battery_write_cache")) == "enable"


def cache_works(card: RaidCard) -> bool | None:
    """Return whether the controller reports that its cache works; None if it reports nothing."""
    return None if card.cache_state is None else card.cache_state.lower() in ("ok", "optimal")


def cache_text(card: RaidCard) -> str:
    """Return the state of the cache with the controller's reason, as a clause."""
    return f"the cache is {word_text(card.cache_state)}{cache_reason_text(card)}"


def cache_reason_text(card: RaidCard) -> str:
    """Return the controller's reason for the state of the cache, after a colon; "" if it gives none."""
    return "" if card.cache_details is None else f": {card.cache_details.rstrip('.')}"


def power_text(card: RaidCard) -> str:
    """Return the state of the cache protection as a clause."""
    if card.power is None:
        return "the tool reports no battery"
    if card.power.kind == "none":
        return f"the cache has no battery or capacitor ({plain_words(card.power.state)})"
    return f"the {'battery' if card.power.kind == 'bbu' else 'capacitor'} is {word_text(card.power.state)}"


def write_policy(card: RaidCard, volume: LogicalDrive) -> ReportedValue | None:
    """Return the configured write policy; for a Smart Array it follows from three settings."""
    if card.family is Family.SERIES:
        return volume.write_cache
    if volume.acceleration is None:
        return None
    served, raw = volume.acceleration.value, volume.acceleration.raw
    if served == UNKNOWN:
        return ReportedValue(value=UNKNOWN, raw=raw)
    share = card.values.get("cache_ratio")
    if served != "controller-cache":
        return ReportedValue(value="write-through", raw=raw)
    if value_of(share) == "100/0":
        return ReportedValue(value="write-through", raw=share.raw if share is not None else "")
    return ReportedValue(value=_WRITING_BACK[caches_without_battery(card)], raw=raw)


def write_cache(card: RaidCard, volume: LogicalDrive) -> EffectiveValue:
    """Return the effective write policy, as the tool reports it, else as the state of cache and battery implies."""
    wanted = value_of(write_policy(card, volume))
    now = value_of(volume.writing_back)
    if now == "off" and wanted in _WRITING_BACK:
        raw = volume.writing_back.raw if volume.writing_back else ""
        return EffectiveValue("write-through", f"{power_text(card)} (the controller reports {raw})")
    if now == "on" and wanted == "write-through":
        return EffectiveValue("write-back", "the controller reports that it caches writes")
    if now in ("on", "off") or wanted not in _WRITING_BACK:
        return AS_SET
    if cache_works(card) is False:
        return EffectiveValue("write-through", cache_text(card))
    if wanted == "always-write-back" or card.power is None:
        return AS_SET
    if card.power.healthy is None:
        return EffectiveValue(UNKNOWN, f"{power_text(card)}, which is not understood")
    return AS_SET if card.power.healthy else EffectiveValue("write-through", power_text(card))


def read_cache(volume: LogicalDrive) -> EffectiveValue:
    """Return the effective read cache if it is reported and differs from the configured one, else AS_SET."""
    now = value_of(volume.reading_cached)
    if now not in ("on", "off") or now == value_of(volume.read_cache) or volume.reading_cached is None:
        return AS_SET
    return EffectiveValue(now, f"the controller reports {reported_text(now, volume.reading_cached.raw)}")


def unprotected_reason(card: RaidCard, volume: LogicalDrive) -> str | None:
    """Return why a power cut would lose acknowledged writes; None if it would not, or if that is unknown."""
    force = write_cache(card, volume).value or value_of(write_policy(card, volume))
    if force not in _WRITING_BACK or card.power is None or card.power.healthy is not False:
        return None
    return f"{power_text(card)}, but writes are still cached"
