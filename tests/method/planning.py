"""What plans promise: pairs that find an effect, by runs that are known; pairs more that decide; asking again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, log
from random import Random

from app.core.analysis.noise import noise_of, pairs_for
from app.core.analysis.pair_design import STANDARD, repeated_looks
from app.core.analysis.verdict import VerdictResult, judge
from app.core.session.event_types import InterimAnalysis
from tests.method.line import Bound, Line, at_least, at_most, percent, source
from tests.method.simulated import gauss

MOST = 50


def _values(random: Random, scatter: float, count: int, effect: float = 0.0) -> list[float]:
    noise = gauss(scatter)
    return [exp(log(1 + effect) + noise(random)) for _ in range(count)]


def detected(count: int) -> Iterator[Line]:
    """As many pairs as a plan names for an effect, by the noise of so many earlier runs."""
    for scatter in (0.01, 0.02, 0.05):
        for known in (4, 6, 12, 30):
            for effect in (0.05, 0.10):
                random, found, named = source(31), 0, [0]
                for _ in range(count):
                    noise = noise_of([_values(random, scatter, known)])
                    pairs = None if noise is None else pairs_for(noise, effect * 100, MOST)
                    if pairs is not None:
                        a, b = _values(random, scatter, pairs), _values(random, scatter, pairs, effect)
                        found += judge(a, b, interleaved=True).differs
                        named.append(pairs)
                share = found / (len(named) - 1)
                cells = (percent(scatter), str(known), f"{effect * 100:+.0f} %", f"{sum(named) / (len(named) - 1):.0f}")
                yield Line(cells=(*cells, percent(share)), bounds=(at_least(share, len(named) - 1, 0.75),))


AFTER: tuple[tuple[InterimAnalysis, tuple[InterimAnalysis, ...]], ...] = (
    (STANDARD[0], STANDARD[1:]),
    (STANDARD[3], STANDARD[4:]),
)
"""What was looked at, and the looks of the usual plan that lie ahead."""


def forecasts(count: int) -> Iterator[Line]:
    """Pairs are drawn, a forecast is made of them, and as many more are drawn as it says."""
    for look, ahead in AFTER:
        for scatter in (0.01, 0.02, 0.05):
            rows, said, kept = [], 0, 0
            for effect in (0.0, 0.02, 0.03, 0.05, 0.10):
                told, true, open_ = _foretold(count, (scatter, effect), look, ahead)
                rows.append((f"{effect * 100:+.0f} %", percent(told / open_) if open_ else "-", told, true))
                said, kept = said + told, kept + true
            share = kept / said if said else 1.0
            bounds: tuple[Bound, ...] = (at_least(share, said, 0.75),)
            for effect_text, often, told, true in rows:
                cells = (
                    f"{look.pairs} pairs",
                    percent(scatter),
                    effect_text,
                    often,
                    percent(true / told) if told else "-",
                )
                yield Line(cells=(*cells, percent(share) if said else "-"), bounds=bounds)
                bounds = ()


def _foretold(
    count: int, truth: tuple[float, float], now: InterimAnalysis, ahead: Sequence[InterimAnalysis]
) -> tuple[int, int, int]:
    """How often it was said, how often that came true, and how often nothing was decided before."""
    random, told, true, undecided = source(32), 0, 0, 0
    scatter, effect = truth
    most = ahead[-1].pairs
    for _ in range(count):
        a, b = _values(random, scatter, most), _values(random, scatter, most, effect)
        found = _judged(a, b, now, ahead)
        undecided += not found.decided
        if found.further_pairs is not None:
            look = next(look for look in ahead if look.pairs == now.pairs + found.further_pairs)
            told += 1
            true += _judged(a, b, look).decided
    return told, true, undecided


def _judged(
    a: Sequence[float], b: Sequence[float], look: InterimAnalysis, ahead: Sequence[InterimAnalysis] = ()
) -> VerdictResult:
    """The verdict of one look."""
    return judge(
        a[: look.pairs],
        b[: look.pairs],
        interleaved=True,
        level=look.level,
        inside_level=look.inside_level,
        ahead=ahead,
    )


def repeated(count: int) -> Iterator[Line]:
    """The usual plan without an effect, asked again up to five times until it shows a difference."""
    times = (1, 2, 3, 5)
    for scatter in (0.02, 0.05):
        random, false = source(33), dict.fromkeys(times, 0)
        for _ in range(count):
            first = _false_in(random, scatter, times[-1])
            for each in times:
                false[each] += first <= each
        shares = [false[each] / count for each in times]
        yield Line(
            cells=(percent(scatter), *map(percent, shares)),
            bounds=tuple(at_most(share, count, 0.07) for share in shares),
        )


def _false_in(random: Random, scatter: float, times: int) -> int:
    """In which experiment a difference was told; one more than there are for none."""
    a: list[float] = []
    b: list[float] = []
    for time in range(times):
        looks = repeated_looks(STANDARD, time, len(a))
        a, b = (side + _values(random, scatter, STANDARD[-1].pairs) for side in (a, b))
        for look in looks:
            if _judged(a, b, look).differs:
                return time + 1
    return times + 1
