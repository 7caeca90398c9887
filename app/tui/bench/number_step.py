"""The next value of a number of a job: what + and - make of it. Pure."""

from __future__ import annotations

from app.core.fio import job_values as values
from app.core.fio.fields import JobField
from app.core.fio.sizes import format_size
from backends.errors import InvalidValueError

SECONDS = (0, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400)
"""Times that a person would choose."""

PERCENT_STEP = 5

_PERCENTS = ("rwmixread", "percentage_random", "size_percent", "offset_percent")
_NUMBERS = (values.parse_number, values.parse_seconds)


def steps(field: JobField) -> bool:
    """Whether + and - go to another value of it."""
    return field.is_size or field.parse in _NUMBERS


def step_value(field: JobField, text: str, *, up: bool) -> str:
    """The text of the next value: twice or half of a size or count, the next round time, 5 % of a share.

    What is no number yet begins at the least.
    """
    try:
        now = field.parse(text) if text.strip() else 0
    except InvalidValueError:
        now = 0
    number = now if isinstance(now, int) else 0
    if field.key in _PERCENTS:
        return str(min(100, max(0, number + (PERCENT_STEP if up else -PERCENT_STEP))))
    if field.parse is values.parse_seconds:
        others = (
            [seconds for seconds in SECONDS if seconds > number]
            if up
            else [seconds for seconds in reversed(SECONDS) if seconds < number]
        )
        return str(next(iter(others), number))
    number_after = _doubled(number) if up else _halved(number)
    return format_size(number_after) if field.is_size else str(number_after)


def _doubled(number: int) -> int:
    """The power of two above it."""
    return int(1 << number.bit_length())


def _halved(number: int) -> int:
    """The power of two below it, 1 at the least."""
    return int(1 << max(0, (number - 1).bit_length() - 1)) if number > 1 else 1
