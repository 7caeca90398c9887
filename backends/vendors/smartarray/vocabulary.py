"""Tables and parsers that translate text of ssacli, hpacucli and arcconf to raidbench's names of values. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backends.model import GONE, Health, State
from backends.text import clean
from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.smartarray import text as texts
from backends.vendors.smartarray.text import count, number, value_or_none

_SWITCH = {
    "enable": "enable",
    "enabled": "enable",
    "true": "enable",
    "on": "enable",
    "disable": "disable",
    "disabled": "disable",
    "false": "disable",
    "off": "disable",
    "default": "default",
    "unchanged": "default",
    "drive specific": "default",
}


def phrase(raw: str, value: str | None) -> ReportedValue:
    """Return `raw`, which the tool printed, with its meaning `value`; the meaning is `unknown` if `value` is None."""
    return ReportedValue(value=UNKNOWN if value is None else value, raw=clean(raw))


def switch(text: str) -> str | None:
    """Return `enable`, `disable` or `default`, or None for other words."""
    return _SWITCH.get(" ".join(text.lower().split()))


def onoff(text: str) -> str | None:
    """Return `on` or `off` by the first words: `Enabled (write-back)`; None for others."""
    meaning = switch(text.partition("(")[0])
    return {"enable": "on", "disable": "off"}.get(meaning or "")


def whole(text: str) -> str | None:
    """Return the whole number in a text, without its unit; None for other text."""
    value = count(text)
    return None if value is None or value < 0 else str(value)


def depth(text: str) -> str | None:
    """Return the queue depth: `automatic` or a number; None for other text."""
    return "automatic" if text.lower().startswith("auto") else whole(text)


def priority(text: str) -> str | None:
    """Return the priority `low`, `medium`, `mediumhigh`, `high` or `rapid`; None for other text."""
    word = "".join(char for char in text.lower() if char.isalpha())
    return word if word in ("low", "medium", "mediumhigh", "high", "rapid") else None


def scan(text: str) -> str | None:
    """Return the mode of the surface scan as raidbench names it; None for other text."""
    word = text.lower()
    return "disable" if word.startswith("disab") else word if word in ("idle", "high") else None


def power(text: str) -> str | None:
    """Return the power mode as raidbench names it; None for other text."""
    word = "".join(char for char in text.lower() if char.isalpha())
    names = {"minpower": "minpower", "minimumpower": "minpower", "balanced": "balanced"}
    return (names | {"maxperformance": "maxperformance", "maximumperformance": "maxperformance"}).get(word)


def activation(text: str) -> str | None:
    """Return the event at which a spare is activated, `failure` or `predictive`; None for other text.

    ssacli prints `Activate on physical drive failure (default)`, arcconf `Failure` or `Predictive`.
    """
    word = text.lower()
    return "predictive" if "predictive" in word else "failure" if "failure" in word else None


_LATENCY = {
    "disabled": "disable",
    "disable": "disable",
    "low": "low",
    "medium": "medium",
    "middle": "medium",
    "high": "high",
    "aggressivelevel1": "aggressive1",
    "aggressive1": "aggressive1",
    "aggressivelevel2": "aggressive2",
    "aggressive2": "aggressive2",
}


def latency(text: str) -> str | None:
    """Return the strength of the latency scheduler as raidbench names it; None for other text."""
    return _LATENCY.get("".join(char for char in text.lower() if char.isalnum()))


def ratio(text: str) -> str | None:
    """Return `20/80` for `20% Read / 80% Write`, or None."""
    read, _, write = text.partition("/")
    shares = (number(read), number(write))
    if None in shares or sum(filter(None, shares)) != 100:
        return None
    return "/".join(f"{share:.0f}" for share in shares if share is not None)


PENDING = "power_mode_pending"
"""Key, in a controller's values, of the power mode that applies after the next reboot."""

Meaning = Callable[[str], str | None]

SMART: tuple[tuple[str, tuple[str, ...], Meaning], ...] = (
    ("cache_ratio", ("Cache Ratio", "Accelerator Ratio"), ratio),
    ("no_battery_write_cache", ("No-Battery Write Cache",), switch),
    (
        "drive_write_cache",
        ("Configured Drive Write Cache Policy", "Drive Write Cache", "Configured Drives"),
        switch,
    ),
    ("drive_write_cache_unconfigured", ("Unconfigured Drive Write Cache Policy", "Unconfigured Drives"), switch),
    ("drive_write_cache_hba", ("HBA Drive Write Cache Policy", "HBA Drives"), switch),
    ("write_cache_bypass", ("Write Cache Bypass Threshold Size", "Write Cache Bypass Threshold"), whole),
    ("wait_for_cache_room", ("Wait for Cache Room",), switch),
    ("elevator_sort", ("Elevator Sort",), switch),
    ("queue_depth", ("Queue Depth",), depth),
    ("rebuild_priority", ("Rebuild Priority",), priority),
    ("expand_priority", ("Expand Priority",), priority),
    ("surface_scan_mode", ("Surface Scan Mode", "Background consistency check"), scan),
    ("surface_scan_delay", ("Surface Scan Delay", "Consistency Check Delay"), whole),
    (
        "parallel_surface_scan",
        ("Current Parallel Surface Scan Count", "Parallel Consistency Check Count"),
        whole,
    ),
    (
        "degraded_performance",
        ("Degraded Performance Optimization", "Degraded Mode Performance Optimization"),
        switch,
    ),
    ("inconsistency_repair", ("Inconsistency Repair Policy",), switch),
    ("monitor_delay", ("Monitor and Performance Delay",), whole),
    ("power_mode", ("Current Power Mode", "Power Mode"), power),
    (PENDING, ("Pending Power Mode",), power),
    ("survival_mode", ("Survival Mode",), switch),
    ("spare_activation", ("Spare Activation Mode",), activation),
    ("latency_scheduler", ("Latency Scheduler Setting", "Latency"), latency),
)
"""Settings of Smart Array and SmartRAID: key, current and former labels in ssacli and arcconf, and parser of the
value."""


def _performance(text: str) -> str | None:
    word = text.lower()
    for part, value in (("dyna", "dynamic"), ("dyma", "dynamic"), ("oltp", "oltp"), ("big block", "big-block")):
        if part in word:
            return value
    return None


SERIES: tuple[tuple[str, tuple[str, ...], Meaning], ...] = (
    ("performance_mode", ("Performance Mode",), _performance),
    ("task_priority", ("Global task priority",), priority),
)
"""Settings of Adaptec's series 2 to 8."""


def values(
    fields: Mapping[str, str], table: tuple[tuple[str, tuple[str, ...], Meaning], ...]
) -> dict[str, ReportedValue]:
    """Return, by key, the settings in `table` that `fields` (by label in lower case) contains."""
    by_key = {}
    for key, labels, meaning in table:
        text = next((fields[label.lower()] for label in labels if label.lower() in fields), None)
        if text is not None and value_or_none(text) is not None:
            by_key[key] = phrase(text, meaning(text))
    return by_key


PREDICTED = "predictive failure"
"""Status, in lower case, of a drive that still works but predicts its failure."""

_MEDIA = (
    ("medium error count",),
    ("media failures",),
    ("hard read errors", "hard write errors"),
    ("failed read recovers", "failed write recovers"),
)
"""Counters of media errors by firmware. Several may count the same event, so the largest sum is used."""

_OTHER = (
    "hardware error count",
    "parity error count",
    "link failure count",
    "aborted command count",
    "aborted commands",
    "bad target errors",
    "format errors",
    "hardware errors",
    "not ready errors",
    "other time out errors",
    "scsi bus faults",
)
"""Counters of unrecovered errors that are not media errors. No tool prints the same counter under two names."""

_PREDICTIVE = ("smart warning count", "s.m.a.r.t. warnings", "predictive failures")
"""Counters of predicted failures. Several may count the same event, so the largest is used."""

_FLAGS = ("s.m.a.r.t.", "pfa", "ssd smart trip wearout", "56 day warning present")
"""Flags by which a drive or the controller predicts its failure."""


def drive_state(raw: str, table: Mapping[str, State]) -> tuple[State, bool | None]:
    """Return the state of a drive, and whether its status predicts a failure; None if the status does not show that."""
    parts = [part for part in raw.split(",") if part.strip()]
    other_parts = [part for part in parts if PREDICTED not in part.lower()]
    state = texts.state(",".join(other_parts), table)
    if len(other_parts) < len(parts):
        return State.ONLINE if not other_parts else state, True
    return state, False if state not in (*GONE, State.UNKNOWN) else None


def read_health(fields: Mapping[str, str], announced: bool | None) -> Health:
    """Return the health of a drive.

    `fields`: values by label in lower case. `announced`: whether its status predicts a failure; None if unknown.
    """
    flags = [flag_value for key in _FLAGS if (flag_value := _flag(fields.get(key))) is not None]
    predictive = _counts(fields, _PREDICTIVE)
    if announced is not None:
        flags.append(announced)
    if not flags and predictive:
        flags.append(max(predictive) > 0)
    media = [sum(counts) for keys in _MEDIA if (counts := _counts(fields, keys))]
    other_errors = _counts(fields, _OTHER)
    left = texts.number(texts.value_or_none(fields.get("usage remaining")))
    return Health(
        predicts_failure=any(flags) if flags else None,
        media_errors=max(media, default=None),
        other_errors=sum(other_errors) if other_errors else None,
        predictive_errors=max(predictive, default=None),
        wear_percent=round(100 - left, 2) if left is not None and 0 <= left <= 100 else None,
        temperature=_degrees(fields, "current temperature (c)", "current temperature", "temperature"),
        temperature_limit=_degrees(fields, "threshold temperature"),
    )


def _flag(value: str | None) -> bool | None:
    return {"yes": True, "true": True, "no": False, "false": False}.get((value or "").strip().lower())


def _counts(fields: Mapping[str, str], keys: tuple[str, ...]) -> list[int]:
    numbers = (texts.count(fields.get(key)) for key in keys)
    return [count for count in numbers if count is not None and count >= 0]


def _degrees(fields: Mapping[str, str], *keys: str) -> float | None:
    """Return a temperature, or None if there is no sensor, which the tools report as 0."""
    return next((float(count) for key in keys if (count := texts.count(fields.get(key)))), None)
