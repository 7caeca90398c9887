"""What an A/B says of hangs, of settings that act late, of figures in steps and of slow runs on one side.

Each function draws so many experiments from a seed, and returns the share of them that it is named after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import exp, log
from random import Random
from types import MappingProxyType

from app.core.analysis import pair_design
from app.core.analysis.comparison import compare_headline
from app.core.analysis.drift import carry_over
from app.core.analysis.sample_groups import ComparisonSides, RunOrder
from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import ExperimentMark
from app.core.session.results import RunResult, RunStatus
from app.core.session.state import RunRecord
from backends.fio_buckets import bucket_of, value_of
from tests.features.sweep.making import run
from tests.method.disturbances import Level, period
from tests.method.line import FALSE, Rate
from tests.method.simulated import Noise, gauss, shares
from tests.method.worlds import wild

IOPS = 1e5
HELD = {"rw": "randread", "rate_iops": "1000"}
"""A job at a rate: its figure is the 99th percentile."""

Figures = Callable[[Random, Sequence[str]], list[float]]
"""From the letters of an experiment in time to the figure of each run; 0 of a run that completes no I/O."""


# -- experiments that are drawn run by run ----------------------------------------------------------------------------


def drawn(random: Random, figures: Figures, looks: Sequence[InterimAnalysis], *, held: bool = False) -> ComparisonSides:
    """All runs of an experiment up to its last look."""
    letters = pair_design.draw_order(looks, random)
    sides: dict[str, list[RunRecord]] = {"A": [], "B": []}
    for at, (letter, value) in enumerate(zip(letters, figures(random, letters), strict=True)):
        made = run(f"r{at + 1}", IOPS if held else value, p99=round(value) if held else 1_000_000)
        mark = ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)
        made = replace(made, number=at + 1, start=replace(made.start, mark=mark, job=HELD if held else {}))
        if made.end is not None and not value:
            made = replace(made, end=replace(made.end, figures=RunResult(status=RunStatus.OK)))
        sides[letter].append(made)
    return ComparisonSides(
        a=tuple(sides["A"]),
        b=tuple(sides["B"]),
        interleaved=True,
        order=RunOrder.EXPERIMENT,
        experiment="e1",
        looks=tuple(looks),
    )


def first(sides: ComparisonSides, count: int) -> ComparisonSides:
    """The first so many pairs."""
    return replace(sides, a=sides.a[:count], b=sides.b[:count])


def ended(sides: ComparisonSides) -> VerdictResult | None:
    """The judgement of the look that ended it; None of an experiment without any I/O."""
    for look in sides.looks:
        row = compare_headline(first(sides, look.pairs))
        judgement = None if row is None else row.judgement
        if look is sides.looks[-1] or (judgement is not None and judgement.decided):
            return judgement
    raise ValueError("an experiment without a look")


def share_of(
    verdict: Verdict, seed: int, draws: int, figures: Figures, looks: Sequence[InterimAnalysis] | None = None
) -> float:
    """How often experiments of the usual plan, or with these looks, end with a verdict."""
    random, found = Random(seed), 0
    for _ in range(draws):
        judgement = ended(drawn(random, figures, pair_design.STANDARD if looks is None else looks))
        found += judgement is not None and judgement.verdict is verdict
    return found / draws


def plain(scatter: float, effect: float = 0.0) -> Figures:
    """Lognormal scatter, and B faster by a share."""
    return lambda random, letters: [
        IOPS * exp(random.gauss(0, scatter)) * (1 + effect * (letter == "B")) for letter in letters
    ]


# -- runs without I/O -------------------------------------------------------------------------------------------------


def hanging(a: float, b: float, scatter: float = 0.02) -> Figures:
    """Each run of A and of B completes no I/O with its own chance."""

    def figures(random: Random, letters: Sequence[str]) -> list[float]:
        chance = {"A": a, "B": b}
        values = plain(scatter)(random, letters)
        return [0.0 if random.random() < chance[one] else value for one, value in zip(letters, values, strict=True)]

    return figures


def false_silence(seed: int, draws: int, chance: float = 0.01) -> float:
    """STOPPED ANSWERING, where runs of both sides hang equally often."""
    return share_of(Verdict.STOPPED_ANSWERING, seed, draws, hanging(chance, chance))


def found_silence(seed: int, draws: int, chance: float = 0.9) -> float:
    """STOPPED ANSWERING, where runs of B hang so often and those of A never."""
    return share_of(Verdict.STOPPED_ANSWERING, seed, draws, hanging(0.0, chance))


def decided_beside_silence(seed: int, draws: int, chance: float = 0.01) -> float:
    """An effect of +5 % that is found although runs of both sides hang now and then."""

    def figures(random: Random, letters: Sequence[str]) -> list[float]:
        values = hanging(chance, chance)(random, letters)
        return [value * (1.05 if letter == "B" else 1.0) for letter, value in zip(letters, values, strict=True)]

    return share_of(Verdict.FASTER, seed, draws, figures)


# -- a setting that acts late -----------------------------------------------------------------------------------------


def acting_late(kept: float, effect: float, scatter: float) -> Figures:
    """B is faster by `effect`, and each run keeps a share of what was in force before it."""

    def figures(random: Random, letters: Sequence[str]) -> list[float]:
        found, before = [], 0.0
        for letter in letters:
            level = log(1 + effect) if letter == "B" else 0.0
            found.append(IOPS * exp(level + kept * (before - level) + random.gauss(0, scatter)))
            before = level
        return found

    return figures


def carry_over_told(
    seed: int, draws: int, count: int = 20, *, kept: float = 0.35, effect: float = 0.2, scatter: float = 0.02
) -> float:
    """A carry-over that is told after so many pairs."""
    return _told(seed, draws, count, acting_late(kept, effect, scatter))


def carry_over_told_falsely(seed: int, draws: int, count: int = 20, *, effect: float = 0.2) -> float:
    """A carry-over that is told where there is none: a real effect, and one run of twenty ten times slower."""
    noise = wild(0.02)

    def figures(random: Random, letters: Sequence[str]) -> list[float]:
        return [IOPS * exp(noise(random)) * (1 + effect * (letter == "B")) for letter in letters]

    return _told(seed, draws, count, figures)


def _told(seed: int, draws: int, count: int, figures: Figures) -> float:
    random, told = Random(seed), 0
    for _ in range(draws):
        sides = first(drawn(random, figures, pair_design.STANDARD), count)
        told += any(carry_over(sides, _iops))
    return told / draws


def _iops(record: RunRecord) -> float | None:
    return None if record.figures.read is None else record.figures.read.iops


# -- figures in steps -------------------------------------------------------------------------------------------------


def steps_covered(seed: int, draws: int, scatter: float, effect: float = 0.03) -> float:
    """Intervals of the 99th percentile that cover the truth, of runs that scatter less than fio's buckets are wide."""
    random, covered = Random(seed), 0
    for _ in range(draws):
        middle = exp(random.uniform(log(2e5), log(4e5)))

        def figures(random: Random, letters: Sequence[str], middle: float = middle) -> list[float]:
            times = (middle * (1 + effect * (one == "B")) * exp(random.gauss(0, scatter)) for one in letters)
            return [float(value_of(bucket_of(round(time)))) for time in times]

        row = compare_headline(drawn(random, figures, pair_design.one_look(6), held=True))
        interval = None if row is None or row.judgement is None else row.judgement.interval
        covered += interval is not None and interval.low <= log(1 + effect) <= interval.high
    return covered / draws


# -- slow runs on one side --------------------------------------------------------------------------------------------


def slow_on_b(count: int, scatter: float = 0.005) -> Figures:
    """Equal settings, but so many runs of B, anywhere, take ten times as long."""

    def figures(random: Random, letters: Sequence[str]) -> list[float]:
        slow = random.sample([at for at, letter in enumerate(letters) if letter == "B"], count)
        return [IOPS * exp(random.gauss(0, scatter)) * (0.1 if at in slow else 1) for at in range(len(letters))]

    return figures


def no_difference_beside_slow_runs(seed: int, draws: int, count: int = 4) -> float:
    """No difference after fifty pairs, although so many runs of B and none of A are far slower."""
    return share_of(Verdict.NO_DIFFERENCE, seed, draws, slow_on_b(count), pair_design.one_look(50))


# -- machines that nobody has told of ---------------------------------------------------------------------------------


def collecting(random: Random, at: Sequence[float]) -> list[float]:
    """A drive that loses 30 % while it collects garbage: after some runs, for one to three."""
    found: list[float] = []
    while len(found) < len(at):
        found += [0.0] * random.randint(2, 7) + [log(0.7)] * random.randint(1, 3)
    return found[: len(at)]


def rebuilt(random: Random, at: Sequence[float]) -> list[float]:
    """An array that is 30 % faster from some run on, as its rebuild is over."""
    over = random.randrange(len(at))
    return [log(0.7) if place < over else 0.0 for place in range(len(at))]


def restless(random: Random, at: Sequence[float]) -> list[float]:
    """A machine on which others begin to work: from some run on runs scatter by 15 % more."""
    begin = random.randrange(len(at))
    return [0.0 if place < begin else random.gauss(0, 0.15) for place in range(len(at))]


MACHINES: Mapping[str, Level] = MappingProxyType(
    {
        "garbage collection of one to three runs, -30 %": collecting,
        "a rebuild that ends meanwhile, -30 %": rebuilt,
        "runs that scatter by 15 % more from some moment on": restless,
    }
)


def false_on(machine: Level, seed: int, draws: int, noise: Noise | None = None) -> float:
    """Differences shown by the usual plan where there are none."""
    return shares(draws, noise or gauss(0.01), seed=seed, level=machine, looks=pair_design.STANDARD).differences


def disturbed_by_changes(loss: float, scatter: float) -> Figures:
    """Equal settings, but the run after each change of the setting loses a share, whichever value was set."""

    def figures(random: Random, letters: Sequence[str]) -> list[float]:
        before = ("A", *letters)
        return [
            IOPS * exp(random.gauss(0, scatter)) * (1 - loss * (one != other))
            for one, other in zip(letters, before, strict=False)
        ]

    return figures


def false_after_changes(seed: int, draws: int) -> float:
    """Faster or slower, where only the change of the setting costs something."""
    made = disturbed_by_changes(0.05, 0.01)
    return sum(share_of(verdict, seed, draws, made) for verdict in (Verdict.FASTER, Verdict.SLOWER))


# -- the usual plan ---------------------------------------------------------------------------------------------------


def false_differences(seed: int, draws: int, scatter: float = 0.02) -> float:
    """Faster or slower where both settings are the same."""
    return shares(draws, gauss(scatter), seed=seed, looks=pair_design.STANDARD).differences


def false_under_period(seed: int, draws: int, runs: float = 4.94) -> float:
    """The same under a sine of 10 %, four runs long with their pauses, where runs scatter by 1 %."""
    return shares(draws, gauss(0.01), seed=seed, level=period(runs, 0.10), looks=pair_design.STANDARD).differences


def called_none(seed: int, draws: int, scatter: float = 0.02, effect: float = 0.02) -> float:
    """No difference, where there is one as large as the threshold."""
    return shares(draws, gauss(scatter), seed=seed, effect=effect, looks=pair_design.STANDARD)[Verdict.NO_DIFFERENCE]


def rightly_none(seed: int, draws: int, scatter: float = 0.02) -> float:
    """No difference, where there is none."""
    return shares(draws, gauss(scatter), seed=seed, looks=pair_design.STANDARD)[Verdict.NO_DIFFERENCE]


# -- as a table -------------------------------------------------------------------------------------------------------


def _on(machine: Level) -> Callable[[int, int], float]:
    return lambda seed, draws: false_on(machine, seed, draws)


FAULTS: tuple[Rate, ...] = (
    Rate(name="either side hangs in 1 % of runs: STOPPED ANSWERING", draw=false_silence, promised=0.003),
    Rate(name="the change costs the run after it 5 %: a difference", draw=false_after_changes, promised=FALSE),
    *(Rate(name=f"{name}: a difference", draw=_on(level), promised=FALSE) for name, level in MACHINES.items()),
    Rate(name="a real effect and wild runs: a carry-over", draw=carry_over_told_falsely, promised=0.01),
    Rate(name="four of B's 50 runs ten times slower: no difference", draw=no_difference_beside_slow_runs, promised=0.0),
    Rate(name="a true +2 %, scatter 2 %: no difference", draw=called_none, promised=FALSE),
    Rate(name="B hangs in 90 % of runs: STOPPED ANSWERING", draw=found_silence, promised=0.95, least=True),
    Rate(
        name="+5 % where either side hangs in 1 % of runs: found",
        draw=decided_beside_silence,
        promised=0.95,
        least=True,
    ),
    Rate(
        name="+20 % of which 35 % carry over, scatter 2 %, 20 pairs: told",
        draw=carry_over_told,
        promised=0.95,
        least=True,
    ),
    Rate(
        name="p99 in steps, runs scatter by 0.05 %: covered",
        draw=lambda seed, draws: steps_covered(seed, draws, 0.0005),
        promised=0.95,
        least=True,
    ),
    Rate(name="no effect, scatter 2 %: no difference", draw=rightly_none, promised=0.70, least=True),
)
"""What happens and what is said, and how often that is promised to be said."""
