"""Condition of a physical drive, in the words of ssacli, hpacucli and arcconf. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from backends.model import GONE, Health, State
from backends.vendors.smartarray import text as texts

PREDICTED = "predictive failure"
"""Status of a drive that still serves and announces its failure; in lower case."""

_MEDIA = (
    ("medium error count",),
    ("media failures",),
    ("hard read errors", "hard write errors"),
    ("failed read recovers", "failed write recovers"),
)
"""Counters of media errors by firmware. They may count the same event, so the largest sum is taken."""

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
"""Counters of errors that are not of the medium and were not recovered. No tool prints one under two names."""

_PREDICTIVE = ("smart warning count", "s.m.a.r.t. warnings", "predictive failures")
"""Counters of announced failures. They may count the same event, so the largest is taken."""

_FLAGS = ("s.m.a.r.t.", "pfa", "ssd smart trip wearout", "56 day warning present")
"""Flags by which a drive, or the controller, announces its failure."""


def drive_state(raw: str, table: Mapping[str, State]) -> tuple[State, bool | None]:
    """Return the state of a drive, and whether its status announces its failure (None: nothing to tell from)."""
    parts = [part for part in raw.split(",") if part.strip()]
    others = [part for part in parts if PREDICTED not in part.lower()]
    state = texts.state(",".join(others), table)
    if len(others) < len(parts):
        return State.ONLINE if not others else state, True
    return state, False if state not in (*GONE, State.UNKNOWN) else None


def read_health(fields: Mapping[str, str], announced: bool | None) -> Health:
    """Return the condition of a drive.

    `fields`: values by their labels in lower case. `announced`: whether its status announces its failure.
    """
    flags = [said for key in _FLAGS if (said := _flag(fields.get(key))) is not None]
    predictive = _counts(fields, _PREDICTIVE)
    if announced is not None:
        flags.append(announced)
    if not flags and predictive:
        flags.append(max(predictive) > 0)
    media = [sum(counts) for keys in _MEDIA if (counts := _counts(fields, keys))]
    other = _counts(fields, _OTHER)
    left = texts.number(texts.told(fields.get("usage remaining")))
    return Health(
        predicts_failure=any(flags) if flags else None,
        media_errors=max(media, default=None),
        other_errors=sum(other) if other else None,
        predictive_errors=max(predictive, default=None),
        wear_percent=round(100 - left, 2) if left is not None and 0 <= left <= 100 else None,
        temperature=_degrees(fields, "current temperature (c)", "current temperature", "temperature"),
        temperature_limit=_degrees(fields, "threshold temperature"),
    )


def _flag(value: str | None) -> bool | None:
    return {"yes": True, "true": True, "no": False, "false": False}.get((value or "").strip().lower())


def _counts(fields: Mapping[str, str], keys: tuple[str, ...]) -> list[int]:
    found = (texts.count(fields.get(key)) for key in keys)
    return [count for count in found if count is not None and count >= 0]


def _degrees(fields: Mapping[str, str], *keys: str) -> float | None:
    """Return a temperature; None where there is no sensor, which the tools report as 0."""
    return next((float(count) for key in keys if (count := texts.count(fields.get(key)))), None)
