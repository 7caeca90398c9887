"""Legal values of each setting, each with an explanation and its risk on a given controller. No I/O."""

from __future__ import annotations

from backends.model import Media
from backends.settings import Choice, Risk, Span, offer
from backends.sizes import size_words
from backends.vendors._cards import value_of
from backends.vendors.smartarray.dialect import PartView
from backends.vendors.smartarray.effective import caches_without_battery, power_text
from backends.vendors.smartarray.facts import RaidCard

_RATIOS = ("0/100", "10/90", "25/75", "50/50", "75/25", "90/10", "100/0")
_STRIPS = tuple(str(1 << power) for power in range(13, 21))
_HELP = {
    "enable": "On.",
    "disable": "Off.",
    "automatic": "Chosen by the controller.",
    "idle": "Runs only when the controller is idle.",
    "dynamic": "Depends on the load.",
    "oltp": "For databases.",
    "big-block": "Large blocks bypass the cache.",
    "maxperformance": "Always full speed.",
    "balanced": "Saves power by configuration and load.",
    "minpower": "Saves as much power as it can.",
    "failure": "When the drive has failed.",
    "predictive": "When the drive predicts failure.",
}
_WORDS: dict[str, tuple[str, ...]] = {
    "wait_for_cache_room": ("enable", "disable"),
    "elevator_sort": ("enable", "disable"),
    "degraded_performance": ("enable", "disable"),
    "inconsistency_repair": ("enable", "disable"),
    "queue_depth": ("automatic", "32", "16", "8", "4", "2"),
    "rebuild_priority": ("low", "medium", "mediumhigh", "high"),
    "expand_priority": ("low", "medium", "high"),
    "surface_scan_mode": ("idle", "high", "disable"),
    "performance_mode": ("dynamic", "oltp", "big-block"),
    "task_priority": ("low", "medium", "high"),
    "power_mode": ("maxperformance", "balanced", "minpower"),
    "survival_mode": ("enable", "disable"),
    "spare_activation": ("failure", "predictive"),
}
_SPANS = {
    "write_cache_bypass": Span(minimum=16, maximum=1040, step=16, unit="KiB"),
    "surface_scan_delay": Span(minimum=1, maximum=30, unit="s"),
    "monitor_delay": Span(minimum=0, maximum=60, unit="min"),
}


def span(card: RaidCard, key: str) -> Span | None:
    """Return the range of a numeric setting; None for others."""
    if key == "parallel_surface_scan":
        return Span(minimum=1, maximum=card.limits.get(key, 1))
    return _SPANS.get(key)


_OFF = offer("disable", "A write is acknowledged only when it would survive a power failure.")


def card_choices(view: PartView, key: str) -> tuple[Choice, ...]:
    """Return the choices for a setting of the controller; () if the setting has none."""
    match key:
        case "cache_ratio":
            return _ratios(view)
        case "no_battery_write_cache":
            return (offer("enable", "Writes are cached regardless of the battery.", risk=Risk.POWER_LOSS), _OFF)
        case "drive_write_cache" | "drive_write_cache_unconfigured" | "drive_write_cache_hba":
            default_help = (
                "The default or present value of the drives."
                if key != "drive_write_cache"
                else "Chosen by the controller."
            )
            on = offer("enable", "The drives cache writes.", risk=Risk.POWER_LOSS)
            return (on, _OFF, offer("default", default_help, risk=Risk.POWER_LOSS))
        case _:
            return tuple(offer(word, _HELP.get(word, "")) for word in _WORDS.get(key, ()))


def _values_and_source(
    view: PartView, key: str, otherwise: tuple[str, ...], now: str | None
) -> tuple[tuple[str, ...], str]:
    """Return the values to offer: those that the controller reports, else `otherwise`, and always the current value.

    Also returns a warning for the user if the controller reports no values, else "".
    """
    lines = view.legal.get(key, ())
    values = lines or otherwise
    source = "" if lines else " The controller does not report whether it supports this value."
    return (values if now is None or now in values else (now, *values)), source


def _ratios(view: PartView) -> tuple[Choice, ...]:
    present = view.card.values.get("cache_ratio")
    now = present.value if present is not None and "/" in present.value else None
    values, source = _values_and_source(view, "cache_ratio", _RATIOS, now)
    good = [word for word in values if word.count("/") == 1 and word.replace("/", "").isdigit()]
    return tuple(
        offer(
            word,
            "{} % read, {} % write.".format(*word.split("/")) + (source if word != now else ""),
            risk=Risk.PERFORMANCE,
        )
        for word in good
    )


def acceleration(view: PartView) -> tuple[Choice, ...]:
    """Return the choices `none`, `controller-cache` (if there is a cache) and `smart-path` (if the array is flash)."""
    card, volume = view.card, view.volume
    assert volume is not None
    group = view.text.group(volume.array)
    now = value_of(volume.acceleration)
    unsafe = caches_without_battery(card) and card.power is not None and card.power.healthy is not True
    warning = f" {power_text(card)[:1].upper()}{power_text(card)[1:]}." if unsafe else ""
    choices = [offer("none", "Uses neither cache nor Smart Path. Suits comparisons.")]
    if card.cache_bytes is not None or card.cache_state is not None or now == "controller-cache":
        choices.append(
            offer(
                "controller-cache",
                f"Reads and writes use the controller's memory.{warning}",
                risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
            )
        )
    flash = group is not None and group.media in (Media.SSD, Media.NVME) and group.smart_path is not None
    if flash or now == "smart-path":
        choices.append(
            offer("smart-path", "I/O bypasses the cache. Suits flash with random load. It applies to the whole array.")
        )
    return tuple(choices)


def strips(view: PartView) -> tuple[Choice, ...]:
    """Return the choices for the strip size, in bytes."""
    volume = view.volume
    assert volume is not None
    now = str(volume.strip_bytes) if volume.strip_bytes is not None else None
    values, source = _values_and_source(view, "strip_size", _STRIPS, now)
    return tuple(
        offer(
            word,
            "The controller moves all data. This takes hours and cannot be stopped." + (source if word != now else ""),
            label=size_words(int(word)),
            risk=Risk.DESTROYS_DATA,
        )
        for word in values
    )


def write_cache(card: RaidCard) -> tuple[Choice, ...]:
    """Return the choices for the write policy of a controller of series 2 to 8."""
    safe = card.power is not None and card.power.healthy is True
    text = "" if safe else f" Now {power_text(card)}."
    return (
        offer("write-through", "A write is acknowledged when the drives have it."),
        offer("write-back", "A write is acknowledged when the controller has it, while its cache is protected." + text),
        offer("always-write-back", "Write-back even without protection." + text, risk=Risk.POWER_LOSS),
    )


READ_CACHE = (offer("on", "Reads are cached and read ahead."), offer("off", "Reads are not cached."))
DRIVE_CACHE = (
    offer("on", "The drive caches writes.", risk=Risk.POWER_LOSS),
    offer("off", "A write is acknowledged when it is on the medium."),
)
