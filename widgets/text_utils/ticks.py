"""Round numbers for axes, and logarithmic bins, for graphs in the terminal and in reports."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

# -- bins of a heat map, which have equal widths on a logarithmic axis ------------------------------------------------

_TO_A_DOUBLING: Final = 4


@lru_cache(maxsize=2048)
def bin_of(value: float) -> int:
    """Return the number of the bin that contains a value. All values below 1 are in bin 0."""
    return math.floor(math.log2(value) * _TO_A_DOUBLING) if value > 1 else 0


def bin_edge(number: int) -> float:
    """Return the lowest value of a bin."""
    return float(2.0 ** (number / _TO_A_DOUBLING))


# -- round numbers for axes -------------------------------------------------------------------------------------------

LARGEST: Final = 1e300
"""Largest value of an axis. Larger values are drawn at its edge."""

SMALLEST: Final = 1e-290
"""Values that are closer to zero than this count as zero."""

ALMOST: Final = 1e-9
"""Tolerance for divisions. 0.3 / 0.1 is not exactly 3, so without it some axes would lose their last tick."""

_SI: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES: Final = ((1e9, " s"), (1e6, " ms"), (1e3, " µs"))


def power_of_ten(value: float) -> float:
    """Return the largest power of ten that is not above a value, limited to the range of floating-point numbers."""
    return float(10.0 ** max(-300, min(300, math.floor(math.log10(value)))))


def one_two_five(value: float, *, up: bool) -> float:
    """Return the nearest number that is 1, 2 or 5 times a power of ten and not below (`up`) or not above a value."""
    value = min(max(value, SMALLEST), LARGEST)
    power = power_of_ten(value)
    if up:
        return next((step * power for step in (1.0, 2.0, 5.0) if step * power >= value), 10.0 * power)
    return next((step * power for step in (5.0, 2.0) if step * power <= value), power)


def multiples(step: float, low: float, high: float) -> range:
    """Return the whole numbers whose products with `step` are from `low` to `high`."""
    return range(math.ceil(low / step - ALMOST), math.floor(high / step + ALMOST) + 1)


def outer_multiples(step: float, low: float, high: float) -> range:
    """Return whole numbers whose products with `step` cover `low` to `high`: from at most `low` to at least `high`."""
    return range(math.floor(low / step + ALMOST), math.ceil(high / step - ALMOST) + 1)


def si_label(value: float) -> str:
    """Return a round number as a string, such as `80k` or `1.5M`."""
    return _scale_to_step(value, _SI, "")


def time_label(nanoseconds: float) -> str:
    """Return a round time as a string, such as `500 µs` or `2 ms`."""
    return _scale_to_step(nanoseconds, _TIMES, " ns")


def _scale_to_step(value: float, steps: tuple[tuple[float, str], ...], least: str) -> str:
    step, name = next((pair for pair in steps if abs(value) >= pair[0]), (1.0, least))
    return f"{value / step:g}{name}"
