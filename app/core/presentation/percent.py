"""Texts for differences in percent and their intervals, and input of a percentage. No I/O."""

from __future__ import annotations

from app.core.analysis.stats import ConfidenceInterval
from widgets.text_utils import units

TOO_NOISY = "too noisy to tell"
"""Text that replaces an interval or a detectable effect so large that it says nothing."""

_LARGEST = 1000.0
"""Differences of this many percent or more are written as a factor."""

_LEAST = -99.9
NEARLY_NOTHING = "below -99.9 %"
"""Text shown for a fall to almost zero."""

_MOST_SPREAD = 100.0
"""Largest factor between the ends of an interval; an interval with a larger factor says nothing."""

_LARGEST_THRESHOLD = 50


def percent_text(percent: float) -> str:
    """Return a difference as `-18.4 %`, a large one as a factor (`152x`), a fall to almost zero as `below -99.9 %`."""
    if percent >= _LARGEST:
        return f"{1 + percent / 100:.0f}x"
    return NEARLY_NOTHING if percent < _LEAST else f"{percent:+.1f} %"


def difference_text(a: float | None, b: float | None) -> str:
    """Return the difference of `b` from `a`, as `percent_text` does; a dash if one is missing, or if `a` is 0."""
    if a is None or b is None or not a:
        return units.NOTHING
    return percent_text((b - a) / a * 100)


def is_too_noisy(interval: ConfidenceInterval) -> bool:
    """Return whether an interval is so wide that it says nothing."""
    return 100 + interval.percent_high > _MOST_SPREAD * (100 + interval.percent_low)


def interval_text(interval: ConfidenceInterval) -> str:
    """Return a difference with its interval, `-17.9 % [-19.7, -16.1]`; `too noisy to tell` if it is too wide."""
    if is_too_noisy(interval):
        return TOO_NOISY
    if interval.percent_high < _LEAST:
        return NEARLY_NOTHING
    low, high = (_end(percent) for percent in (interval.percent_low, interval.percent_high))
    return f"{percent_text(interval.percent)} [{low}, {high}]"


def between_text(interval: ConfidenceInterval) -> str:
    """Return an interval in words: `between -19.7 and -16.1 % (95 %)`; `too noisy to tell` if it is too wide."""
    if is_too_noisy(interval):
        return TOO_NOISY
    low, high = (_end(percent) for percent in (interval.percent_low, interval.percent_high))
    unit = " %" if interval.percent_high < _LARGEST else ""
    return f"between {low} and {high}{unit} ({covers_text(interval.level)})"


def _end(percent: float) -> str:
    return f"{max(percent, _LEAST):+.1f}" if percent < _LARGEST else percent_text(percent)


def effect_text(percent: float) -> str:
    """Return a clause with the upper limit of an undecided effect: `if there is an effect, it is below 4.1 %`."""
    return TOO_NOISY if percent >= 100 else f"if there is an effect, it is below {percent:.1f} %"


def covers_text(level: float) -> str:
    """Return the confidence of an interval with the error probability `level`: `95 %` for 0.05, `99.2 %` for 0.008."""
    return f"{(1 - level) * 100:.4g} %"


def parse_threshold(text: str) -> float:
    """Return the percentage in a text such as `1%` or `1`. Raises ValueError with the reason if it is invalid."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = 0.0
    if not 0 < number < _LARGEST_THRESHOLD:
        raise ValueError(f"{text.strip()!r} is not a percentage such as 1% (above 0, below {_LARGEST_THRESHOLD}).")
    return number
