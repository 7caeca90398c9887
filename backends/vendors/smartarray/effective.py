"""What is really in force, where that may be something else than what is set, and why. Pure.

Caching that is set does nothing while the cache is disabled, and caches no writes while its battery is not healthy
unless the card may do without. Series 2 to 8 say both themselves.
"""

from __future__ import annotations

from backends.vendors.smartarray.facts import UNKNOWN, Family, LogicalDrive, RaidCard, SmartArrayValue

InForce = tuple[str | None, str | None]
"""The value in force where it is not what is set, and the reason; (None, None) if it is what is set."""

_AS_SET: InForce = (None, None)
_WRITING_BACK = ("write-back", "always-write-back")


def value(phrase: SmartArrayValue | None) -> str | None:
    """The common word."""
    return None if phrase is None else phrase.value


def without_battery(card: RaidCard) -> bool:
    """Whether the card may cache writes with nothing to keep them."""
    return value(card.values.get("no_battery_write_cache")) == "enable"


def cache_works(card: RaidCard) -> bool | None:
    """Whether the card says that its cache does; None where it says nothing."""
    return None if card.cache_state is None else card.cache_state.lower() in ("ok", "optimal")


def cache_text(card: RaidCard) -> str:
    """How the cache is, with the reason that the card gives, to complete "...: "."""
    details = f": {card.cache_details.rstrip('.')}" if card.cache_details is not None else ""
    return f"the cache is {card.cache_state}{details}"


def power_text(card: RaidCard) -> str:
    """How what keeps the cache is, to complete "...: "."""
    if card.power is None:
        return "the tool says nothing of a battery"
    if card.power.kind == "none":
        return f"the cache has no battery or capacitor ({card.power.state})"
    return f"the {'battery' if card.power.kind == 'bbu' else 'capacitor'} is {card.power.state}"


def write_policy(card: RaidCard, volume: LogicalDrive) -> SmartArrayValue | None:
    """The write policy as it is set; of a Smart Array it follows from three settings."""
    if card.family is Family.SERIES:
        return volume.write_cache
    if volume.acceleration is None:
        return None
    served, raw = volume.acceleration.value, volume.acceleration.raw
    if served == UNKNOWN:
        return SmartArrayValue(value=UNKNOWN, raw=raw)
    share = card.values.get("cache_ratio")
    if served != "controller-cache":
        return SmartArrayValue(value="write-through", raw=raw)
    if value(share) == "100/0":
        return SmartArrayValue(value="write-through", raw=share.raw if share is not None else "")
    return SmartArrayValue(value=_WRITING_BACK[without_battery(card)], raw=raw)


def write_cache(card: RaidCard, volume: LogicalDrive) -> InForce:
    """The write policy in force. What the tool itself says counts; else it follows from cache and battery."""
    wanted = value(write_policy(card, volume))
    output = value(volume.writing_back)
    if output == "off" and wanted in _WRITING_BACK:
        text = power_text(card)
        return "write-through", f"{text} (the card says {volume.writing_back.raw if volume.writing_back else ''})"
    if output == "on" and wanted == "write-through":
        return "write-back", "the card says that it caches writes"
    if output in ("on", "off") or wanted not in _WRITING_BACK:
        return _AS_SET
    if cache_works(card) is False:
        return "write-through", cache_text(card)
    if wanted == "always-write-back" or card.power is None:
        return _AS_SET
    if card.power.healthy is None:
        return UNKNOWN, f"{power_text(card)}, which is not understood"
    return _AS_SET if card.power.healthy else ("write-through", power_text(card))


def read_cache(volume: LogicalDrive) -> InForce:
    """Whether reads are cached, where the card tells that apart from what is set."""
    output = value(volume.reading_cached)
    if output not in ("on", "off") or output == value(volume.read_cache) or volume.reading_cached is None:
        return _AS_SET
    return output, f"the card says {volume.reading_cached.raw}"


def unprotected(card: RaidCard, volume: LogicalDrive) -> str | None:
    """Why a power cut would lose writes that were reported done; None where it would not, or nobody can tell."""
    force = write_cache(card, volume)[0] or value(write_policy(card, volume))
    if force not in _WRITING_BACK or card.power is None or card.power.healthy is not False:
        return None
    return f"{power_text(card)}, and writes are cached all the same"
