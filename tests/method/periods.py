"""What comes back at intervals, strong against the scatter: the worst that was found for each number of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from app.core.analysis.pair_design import QUICK, STANDARD, false_under_period
from app.core.session.event_types import InterimAnalysis
from tests.method.disturbances import RAMP, REST, RUN, Level, period
from tests.method.line import Line, at_most, percent
from tests.method.simulated import fixed, gauss, shares
from tests.method.worlds import every

CYCLE = REST + (RUN + RAMP) * 7 / 6
"""Seconds from one run to the next, on the average."""

PLANS: tuple[tuple[str, tuple[InterimAnalysis, ...], float], ...] = (
    ("3 pairs", QUICK, false_under_period(3)),
    *((f"{pairs} pairs", fixed(pairs), false_under_period(pairs)) for pairs in (4, 6, 8, 12, 20)),
    ("usual plan", STANDARD, 0.08),
)
"""Name, looks, and what is owned up to: no period makes more false verdicts."""

FIVE_MINUTES = "every 300 s"
"""Four runs of a minute with the least pause: what equal pauses would keep step with."""

OF_FIVE_MINUTES = {"3 pairs": 0.15, "4 pairs": 0.11}
"""Drawn pauses do not; equal ones make it 28 and 13 %."""

KINDS: tuple[tuple[str, Level], ...] = (
    (FIVE_MINUTES, period(4, 0.10)),
    *(
        (f"every {round(runs * CYCLE)} s, which are {runs} runs", period(runs * CYCLE / (RUN + RAMP + REST), 0.10))
        for runs in (2, 3, 4, 5, 6, 8, 12)
    ),
    ("every third run -30 %", every(3, 0.30)),
    ("every fourth run -30 %", every(4, 0.30)),
)


def periods(count: int) -> Iterator[Line]:
    """False verdicts under each, and the worst of all."""
    worst = [0.0] * len(PLANS)
    for name, level in KINDS:
        found = [
            shares(count, gauss(0.01), seed=crc32(f"{name}, {plan}".encode()) + 1, level=level, looks=looks).differences
            for plan, looks, _ in PLANS
        ]
        promised = [OF_FIVE_MINUTES.get(plan, most) if name == FIVE_MINUTES else most for plan, _, most in PLANS]
        worst = [*map(max, worst, found)]
        bounds = tuple(at_most(share, count, most) for share, most in zip(found, promised, strict=True))
        yield Line(cells=(name, *map(percent, found)), bounds=bounds)
    yield Line(cells=("the worst of these", *map(percent, worst)))
