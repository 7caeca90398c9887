"""Parsers for the values of a sweep plan.

They raise ValueError, InvalidValueError or NotFoundError for values that are not legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.core.fio.fields import FIELDS_BY_KEY
from app.core.fio.job_values import parse_seconds
from app.core.fio.profiles import profile
from app.core.fio.sizes import parse_size
from app.core.session.sweep_steps import Rank
from app.core.toml_table import TomlTable, text_or_empty, whole_number
from app.features.sweep.engine.plan import MOST_VALUES
from backends.array_planning import LEVELS
from backends.model import Level
from backends.raid import layout_of

EVERY = "every"
"""Value of `spans` in a plan for all numbers of spans that the drives allow."""

JOB_KEYS = ("profile", *FIELDS_BY_KEY)
"""Keys of a job: its profile, and its fields."""
RATES = frozenset(("rate_iops", "rate", "rate_iops_read", "rate_iops_write", "rate_read", "rate_write"))
"""Job fields that set a fixed rate."""
LATENCY_UNITS = {"ns": 1, "us": 1000, "µs": 1000, "ms": 10**6, "s": 10**9}
"""Nanoseconds by unit of time."""


def as_text(value: Any) -> str:
    """Return the value of a setting or field as a string; `yes` or `no` for a boolean."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | str():
            return str(value).strip()
        case _:
            raise ValueError("must be a quoted string or an integer")


def values(value: Any) -> tuple[str, ...]:
    """Parse a list of 1 to 64 distinct values."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_VALUES:
        raise ValueError(f"must be a list of 1 to {MOST_VALUES} values")
    texts = tuple(as_text(item) for item in value)
    if len(set(texts)) != len(texts):
        raise ValueError("contains a value twice")
    return texts


def names(value: Any) -> tuple[str, ...]:
    """Parse one name, or a list of names."""
    return tuple(text_or_empty(item) for item in (value if isinstance(value, list) else [value]))


def workload(value: Any) -> str:
    """Parse the name of a workload."""
    return profile(text_or_empty(value)).name


def seconds(value: Any) -> int:
    """Parse a time; return seconds."""
    return parse_seconds(as_text(value))


def rank(value: Any) -> Rank:
    """Parse a ranking metric."""
    name = text_or_empty(value)
    if name not in tuple(Rank):
        raise ValueError(f"is one of {', '.join(Rank)}")
    return Rank(name)


def levels(value: Any) -> tuple[Level, ...]:
    """Parse one or more distinct RAID levels that can be created. The level `jbod` is a single drive."""
    by_name = {level.value: level for level in (*LEVELS, Level.JBOD)}
    level_names = values(value)
    for name in level_names:
        if name not in by_name:
            raise ValueError(f"can be {', '.join(by_name)}")
    return tuple(by_name[name] for name in level_names)


def strips(value: Any) -> tuple[int, ...]:
    """Parse one strip size, or a list; return bytes."""
    texts = values(value if isinstance(value, list) else [value])
    return tuple(parse_size(text) for text in texts)


def layouts(value: Any) -> tuple[str, ...]:
    """Parse one RAID 10 layout, or a list of distinct ones."""
    parsed = tuple(layout_of(name) for name in names(value))
    if not parsed or len(set(parsed)) != len(parsed):
        raise ValueError("must be a list of different layouts: n2, f2, o2")
    return parsed


def spans(value: Any) -> tuple[int, ...]:
    """Parse one number of spans, or a list of distinct ones; return () for `every`."""
    if value == EVERY:
        return ()
    items = value if isinstance(value, list) else [value]
    numbers = tuple(whole_number(2, 128)(item) for item in items)
    if not numbers or len(set(numbers)) != len(numbers):
        raise ValueError(f'must be different numbers of spans, or "{EVERY}"')
    return numbers


def policies(value: Any) -> dict[str, str]:
    """Parse initial policies by setting key. The controller's backend checks the keys."""
    if not isinstance(value, dict):
        raise ValueError('must be { KEY = "VALUE", ... }')
    return {key: text_or_empty(item) for key, item in value.items()}


def share(value: Any) -> float:
    """Parse a percentage above 0 and up to 50; return it as a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 50:
        raise ValueError("must be a percentage above 0 and up to 50")
    return float(value)


def percents(value: Any) -> tuple[int, ...]:
    """Parse a list of 3 to 64 ascending percentages."""
    numbers = tuple(whole_number(1, 150)(item) for item in value) if isinstance(value, list) else ()
    if not 3 <= len(numbers) <= MOST_VALUES or list(numbers) != sorted(set(numbers)):
        raise ValueError(f"must be a list of 3 to {MOST_VALUES} increasing percentages")
    return numbers


def latency(value: Any) -> int:
    """Parse a time with its unit; return nanoseconds."""
    given = text_or_empty(value).replace(" ", "")
    number = given.rstrip("nuµms")
    try:
        nanoseconds = round(float(number) * LATENCY_UNITS[given.removeprefix(number)])
    except (KeyError, ValueError, OverflowError):
        nanoseconds = 0
    if nanoseconds <= 0:
        raise ValueError('must be a time with a unit: "500us", "2ms"')
    return nanoseconds


def job(row: TomlTable) -> tuple[str | None, Mapping[str, str]]:
    """Return the name of a job's profile (None if it has none), and the fields of the job."""
    texts = {key: row.parse(key, as_text, value) for key, value in row.given.items() if key in FIELDS_BY_KEY}
    for key, text in texts.items():
        check_job(row, key, text)
    return row.get("profile", workload, None), texts


def check_job(row: TomlTable, field: str, text: str, key: str = "") -> None:
    """Raise PlanError when a job field, or `profile`, does not accept the value `text`. `key` is the key of the value
    in the plan file; "" if it is `field`.
    """
    if field == "profile":
        row.parse(key, workload, text)
    elif text or not FIELDS_BY_KEY[field].optional:
        row.parse(key or field, FIELDS_BY_KEY[field].parse, text, called=field)
