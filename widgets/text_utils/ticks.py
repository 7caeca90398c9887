"""Round numbers on an axis and bins of equal width on a logarithmic one, for terminal and report alike."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

# -- bins of a heat map: of equal width on a logarithmic axis ---------------------------------------------------------

_TO_A_DOUBLING: Final = 4


@lru_cache(maxsize=2048)
def bin_of(value: float) -> int:
    """The bin that a value is in; the first, 0, for all below 1."""
    return math.floor(math.log2(value) * _TO_A_DOUBLING) if value > 1 else 0


def bin_edge(number: int) -> float:
    """The lowest value of a bin."""
    return float(2.0 ** (number / _TO_A_DOUBLING))


# -- round numbers on an axis, for the terminal's graphs and the report's alike ---------------------------------------

LARGEST: Final = 1e300
"""Values beyond are drawn at the edge."""

SMALLEST: Final = 1e-290
"""Values nearer to zero are zero."""

ALMOST: Final = 1e-9
"""0.3 / 0.1 is not 3: without this tolerance the last tick of some scales is missing."""

_SI: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES: Final = ((1e9, " s"), (1e6, " ms"), (1e3, " µs"))


def power_of_ten(value: float) -> float:
    """The power of ten at or below a value, kept where floating point can still divide by it."""
    return float(10.0 ** max(-300, min(300, math.floor(math.log10(value)))))


def one_two_five(value: float, *, up: bool) -> float:
    """The nearest of 1, 2, 5 times a power of ten above or below a value."""
    value = min(max(value, SMALLEST), LARGEST)
    power = power_of_ten(value)
    if up:
        return next((step * power for step in (1.0, 2.0, 5.0) if step * power >= value), 10.0 * power)
    return next((step * power for step in (5.0, 2.0) if step * power <= value), power)


def multiples(step: float, low: float, high: float) -> range:
    """How often `step` goes into the multiples of it from `low` to `high`."""
    return range(math.ceil(low / step - ALMOST), math.floor(high / step + ALMOST) + 1)


def outer_multiples(step: float, low: float, high: float) -> range:
    """The same, from the last multiple below `low` to the first above `high`."""
    return range(math.floor(low / step + ALMOST), math.ceil(high / step - ALMOST) + 1)


def si_label(value: float) -> str:
    """A round number: `80k`, `1.5M`."""
    return _stepped(value, _SI, "")


def time_label(nanoseconds: float) -> str:
    """A round time: `500 µs`, `2 ms`."""
    return _stepped(nanoseconds, _TIMES, " ns")


def _stepped(value: float, steps: tuple[tuple[float, str], ...], least: str) -> str:
    step, name = next((pair for pair in steps if abs(value) >= pair[0]), (1.0, least))
    return f"{value / step:g}{name}"
