"""The tables of `make method`: what was drawn, how often the program was wrong, and the mark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random
from types import MappingProxyType
from zlib import crc32

from app.core.analysis.pair_design import QUICK, STANDARD, UNTIL
from app.core.analysis.verdict import BESIDE, Verdict, VerdictResult, correct_for_multiplicity, judge
from app.core.session.event_types import InterimAnalysis
from app.core.session.sweep_steps import Saturation
from app.features.sweep.engine.load_curve import curve_knee
from app.features.sweep.engine.saturation import best
from tests.method.disturbances import DISTURBANCES
from tests.method.line import RATE_HEADS, Line, at_least, at_most, percent, rate_lines, source
from tests.method.loads import DEVICES, FLAT, bend, depths, rates
from tests.method.looked import looked
from tests.method.matrices import equal_matrices, found_cells
from tests.method.nights import RHYTHMS, false_alarms, losses, named_sizes, over_looks
from tests.method.over_sessions import LENGTHS, checks, false_changes, found_changes
from tests.method.pair_faults import FAULTS
from tests.method.periods import PLANS as UNDER_PERIODS
from tests.method.periods import periods
from tests.method.planning import detected, forecasts, repeated
from tests.method.simulated import Noise, between, experiment, fixed, gauss, heavy, shares, slow_tail
from tests.method.tails import PAIRS, false_in_tails, found_in_tails, named_far
from tests.method.uneven import RATES


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodTable:
    """One table."""

    name: str
    """In a word, for whoever names it."""
    title: str
    """What was asked."""
    mark: str
    """What it has to be."""
    heads: tuple[str, ...]
    """Of the columns."""
    lines: Callable[[int], Iterator[Line]]
    """The rows, of so many experiments each."""
    part: int = 1
    """Each experiment is so many times the work of another table's: as many times fewer are drawn."""


PLANS: tuple[tuple[str, tuple[InterimAnalysis, ...]], ...] = (
    ("3 pairs", QUICK),
    ("6 pairs", fixed(6)),
    ("12 pairs", fixed(12)),
    ("20 pairs", fixed(20)),
    ("usual plan", STANDARD),
)


def _false_verdicts(count: int) -> Iterator[Line]:
    rows: list[tuple[str, Noise, str]] = [(name, gauss(0.05), name) for name in DISTURBANCES]
    rows += [("none, runs scatter by 1 %", gauss(0.01), "none"), ("none, runs scatter by 10 %", gauss(0.10), "none")]
    rows += [("none, Student's t with 3 degrees of freedom", heavy(0.05), "none")]
    rows += [("none, slower by a lognormal part with a long tail", slow_tail(0.03), "none")]
    for name, noise, level in rows:
        found = [
            shares(
                count, noise, seed=crc32(f"{name}, {plan}".encode()) + 1, level=DISTURBANCES[level], looks=looks
            ).differences
            for plan, looks in PLANS
        ]
        yield Line(cells=(name, *map(percent, found)), bounds=tuple(at_most(share, count) for share in found))


def _plan_of_looks(count: int) -> Iterator[Line]:
    truths = ((0.01, 0.0), (0.02, 0.0), (0.05, 0.0), (0.10, 0.0), (0.01, 0.02), (0.02, 0.02), (0.02, 0.05))
    for scatter, effect in (*truths, (0.05, 0.05), (0.05, 0.10), (0.10, 0.10)):
        found = shares(count, gauss(scatter), effect=effect)
        wrong = found[Verdict.SLOWER] + (found[Verdict.FASTER] if not effect else 0.0)
        verdicts = (Verdict.FASTER, Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.NOT_DECIDED)
        shown = (percent(found[verdict]) for verdict in verdicts)
        yield Line(
            cells=(percent(scatter), f"{effect * 100:+.0f} %", *shown, f"{found.pairs:.0f}"),
            bounds=(at_most(wrong, count),),
        )


def _power(count: int) -> Iterator[Line]:
    for pairs, least in ((3, 0.10), (6, 0.26), (12, 0.52), (20, 0.79)):
        random = source(2)
        seen = [experiment(random, gauss(0.05), effect=0.05, looks=fixed(pairs)).judgement for _ in range(count)]
        told = sum(one.verdict is Verdict.FASTER for one in seen) / count
        alone = sum(one.interval is not None and one.interval.low > 0 for one in seen) / count
        bounds = at_least(told, count, least), at_most(abs(told - alone), count, 0.03)
        yield Line(cells=(str(pairs), percent(told), percent(alone)), bounds=bounds)


def _coverage(count: int) -> Iterator[Line]:
    for name, looks in PLANS[:4]:
        for noise_name, noise in (("lognormal, 5 %", gauss(0.05)), ("Student's t, 3", heavy(0.05))):
            covered = shares(count, noise, effect=0.05, looks=looks).covered
            bounds = at_least(covered, count, 0.93), at_most(covered, count, 0.97)
            yield Line(cells=(name, noise_name, percent(covered)), bounds=bounds)
    covered = _until(count)
    yield Line(cells=("until +-1 %", "lognormal, 2 %", percent(covered)), bounds=(at_least(covered, count, 0.93),))


def _until(count: int, width: float = 1.0) -> float:
    """Coverage of the interval that is narrow enough first."""
    random, truth = source(5), log(1.05)
    covered = 0
    for _ in range(count):
        a, b = ([exp(random.gauss(mean, 0.02)) for _ in range(UNTIL[-1].pairs)] for mean in (0.0, truth))
        looked = (judge(a[: look.pairs], b[: look.pairs], interleaved=True, level=look.level) for look in UNTIL)
        intervals = (one.interval for one in looked if one.interval is not None)
        narrow = next((one for one in intervals if one.percent_high - one.percent_low <= 2 * width), None)
        covered += narrow is None or narrow.low <= truth <= narrow.high
    return covered / count


def _many_figures(count: int) -> Iterator[Line]:
    for alike in (0.0, 0.5, 0.9):
        random, wrong = source(9), 0
        for _ in range(count):
            rows = [_figure(random, common) for common in [_common(random, alike)] for _ in range(12)]
            beside = correct_for_multiplicity(rows[1:], share=BESIDE)
            wrong += rows[0].differs or any(one is not None and one.differs for one in beside)
        share = wrong / count
        yield Line(cells=(f"{alike:g}", percent(share)), bounds=(at_most(share, count),))


def _common(random: Random, alike: float) -> tuple[float, list[float]]:
    return alike, [random.gauss(0, 0.05) for _ in range(24)]


def _figure(random: Random, common: tuple[float, list[float]]) -> VerdictResult:
    """One figure of twelve runs and twelve, so much of whose scatter is that of all others."""
    alike, shared = common
    values = [exp(alike**0.5 * one + (1 - alike) ** 0.5 * random.gauss(0, 0.05)) for one in shared]
    return judge(values[:12], values[12:], interleaved=True)


def _baseline_again(count: int) -> Iterator[Line]:
    for name, level in DISTURBANCES.items():
        random = source(11)
        wrong = sum(between(random, gauss(0.05), level).differs for _ in range(count)) / count
        random = source(11)
        shown = sum(between(random, gauss(0.01), level, effect=0.2).verdict is Verdict.FASTER for _ in range(count))
        yield Line(cells=(name, percent(wrong), percent(shown / count)), bounds=(at_most(wrong, count),))


def _knees(count: int) -> Iterator[Line]:
    for name, device in DEVICES.items():
        for scatter in (0.02, 0.05, 0.10):
            random = source(13)
            found = [bend(device, random, scatter) for _ in range(count)]
            off = sorted(abs(one.knee - 1) for one in found if one.knee is not None)
            covered = sum(one.covered for one in found) / count
            missed = 1 - len(off) / count
            mean = sum(one.knee for one in found if one.knee is not None) / len(off) - 1
            cells = (
                name,
                percent(scatter),
                f"{device.knee / device.capacity * 100:.0f} %",
                percent(sum(one.saturation for one in found) / count),
                f"{mean * 100:+.1f} %",
                percent(off[round(0.95 * (len(off) - 1))]),
                percent(covered),
                percent(missed),
            )
            most = 0.10 if scatter == 0.02 else 0.25
            far = sum(one.knee is None or abs(one.knee - 1) > most for one in found) / count
            yield Line(cells=cells, bounds=(at_most(far, count), at_least(covered, count, 0.95)))
    for scatter in (0.02, 0.05, 0.10):
        random = source(13)
        flat = [curve_knee(rates(FLAT, random, scatter, 40_000.0, 256)) for _ in range(count)]
        none = sum(one is None for one in flat) / count
        cells = ("carries everything", percent(scatter), "none", "-", "-", "-", "-", percent(none))
        yield Line(cells=cells, bounds=(at_least(none, count, 0.95),))


def _saturations(count: int) -> Iterator[Line]:
    for name, device in DEVICES.items():
        for scatter in (0.02, 0.05, 0.10):
            random = source(17)
            points = [depths(device, random, scatter, Saturation()) for _ in range(count)]
            found = [best(each, Saturation()) for each in points]
            shares = sorted(device.closed(one.depth) / device.capacity for one in found if one is not None)
            low, high = (shares[round(at * (len(shares) - 1))] for at in (0.05, 0.95))
            runs = sum(one.tried for each in points for one in each) / count
            cells = (
                name,
                percent(scatter),
                percent(sum(shares) / len(shares)),
                percent(low),
                percent(high),
                f"{runs:.0f}",
            )
            least = 0.85 if scatter < 0.10 else 0.75
            enough = sum(share >= least for share in shares) / count
            yield Line(cells=cells, bounds=(at_least(enough, count, 0.95),))


TABLES: Sequence[MethodTable] = (
    MethodTable(
        name="false",
        title="False verdicts where both settings are the same, by what the machine does (runs scatter by 5 %)",
        mark="5 % at most",
        heads=("disturbance", *(name for name, _ in PLANS)),
        lines=_false_verdicts,
    ),
    MethodTable(
        name="plan",
        title="The usual plan: judged after 6, 8, 10, 12, 16 and 20 pairs",
        mark="wrong ones 5 % at most",
        heads=("a run scatters by", "true effect", "faster", "slower", "no difference", "not decided", "pairs"),
        lines=_plan_of_looks,
    ),
    MethodTable(
        name="power",
        title="An effect of 5 % where runs scatter by 5 %: found by the verdict, and by its interval alone",
        mark="10, 26, 52 and 79 % at least, within 3 points of each other",
        heads=("pairs", "faster", "interval above 0"),
        lines=_power,
    ),
    MethodTable(
        name="forecasts",
        title="Where more pairs are said to decide it: how often that is said, and how often it comes true",
        mark="75 % of what is said over all effects of a scatter at least",
        heads=("after", "a run scatters by", "true effect", "said", "came true", "over all effects"),
        lines=forecasts,
    ),
    MethodTable(
        name="again",
        title="The same asked again and again in one session until it is decided: false verdicts",
        mark="7 % at most, however often",
        heads=("a run scatters by", "once", "twice", "three times", "five times"),
        lines=repeated,
        part=5,
    ),
    MethodTable(
        name="coverage",
        title="Intervals of 95 % that cover the truth",
        mark="93 to 97 %",
        heads=("plan", "scatter", "covered"),
        lines=_coverage,
    ),
    MethodTable(
        name="periods",
        title="False verdicts where both settings are the same under strong periods: sines of 10 %, scatter of 1 %",
        mark="; ".join(f"{plan} {percent(most)}" for plan, _, most in UNDER_PERIODS)
        + " at most; every 300 s 15 and 11 %",
        heads=("what comes back", *(plan for plan, _, _ in UNDER_PERIODS)),
        lines=periods,
    ),
    MethodTable(
        name="tails",
        title="False verdicts where both settings are the same and runs are far off",
        mark="5 % at most",
        heads=("runs", *(f"{pairs} pairs" for pairs in PAIRS)),
        lines=false_in_tails,
    ),
    MethodTable(
        name="hidden",
        title="An effect of +5 % where runs are far off: found",
        mark="one run of twenty ten times slower: 80 % with 12 pairs, 90 % with 20",
        heads=("runs", *(f"{pairs} pairs" for pairs in PAIRS)),
        lines=found_in_tails,
    ),
    MethodTable(
        name="named",
        title="Pairs of twelve that have a run ten times slower: named, and named with others",
        mark="all of them in 95 % at least, others in 8 % at most: nothing hangs on it",
        heads=("such pairs", "all named", "others named"),
        lines=named_far,
    ),
    MethodTable(
        name="looked",
        title="The usual plan as the program judges it, pair after pair",
        mark="wrong ones 5 % at most; 94 % covered by the interval that ended it; nothing decided between looks",
        heads=("a run scatters by", "true effect", "wrong", "covered", "decided between looks"),
        lines=looked,
    ),
    MethodTable(
        name="faults",
        title="The usual plan where runs hang, settings act late, figures come in steps, or slow runs are on one side",
        mark="as each row says",
        heads=("what happens, and what is said", *RATE_HEADS[1:]),
        lines=rate_lines(FAULTS),
        part=4,
    ),
    MethodTable(
        name="uneven",
        title="Sweeps of 12 x 2 cells, three rounds, whose runs do not all scatter alike",
        mark="as each row says",
        heads=("what is measured, and what is said", *RATE_HEADS[1:]),
        lines=rate_lines(RATES),
        part=20,
    ),
    MethodTable(
        name="matrix",
        title="Sweeps of 12 x 2 equal cells, three rounds and six pairs a winner: with any false word",
        mark="5 % at most, matrix and confirmation together",
        heads=("runs", "sweeps with a false word"),
        lines=equal_matrices,
        part=4,
    ),
    MethodTable(
        name="cells",
        title="One cell of 12 x 2 that is 20 % faster, three rounds: shown by the matrix",
        mark="95 % where runs scatter by 2 %, else 50 and 60 %",
        heads=("runs", "shown"),
        lines=found_cells,
        part=20,
    ),
    MethodTable(
        name="figures",
        title="Jobs of 12 figures without an effect, with any false word",
        mark="5 % at most",
        heads=("scatter they share", "jobs with a false word"),
        lines=_many_figures,
    ),
    MethodTable(
        name="between",
        title="Not in turn: three runs of A, three of B, three of A",
        mark="false ones 5 % at most",
        heads=("disturbance", "false, scatter 5 %", "+20 % found, scatter 1 %"),
        lines=_baseline_again,
        part=4,
    ),
    MethodTable(
        name="depths",
        title="The least queue depth within 5 % of the most IOPS: what a device can at it, by its capacity",
        mark="of 95 % of searches 85 % at least, 75 % where runs scatter by 10 %",
        heads=("device", "a run scatters by", "on the average", "5 % below", "5 % above", "runs"),
        lines=_saturations,
        part=10,
    ),
    MethodTable(
        name="knees",
        title="The knee of a throughput-latency curve, after a search of its own",
        mark="off by 10 % at most in 95 % of curves whose runs scatter by 2 %, else 25 %; 95 % of intervals cover it",
        heads=(
            "device",
            "a run scatters by",
            "true knee, of capacity",
            "saturation found, of capacity",
            "knee off by, on the average",
            "95 % are off by at most",
            "covered",
            "not found",
        ),
        lines=_knees,
        part=20,
    ),
    MethodTable(
        name="levels",
        title="Series over sessions that keep their level: with any change of level reported",
        mark="5 % at most",
        heads=("points scatter by", *(f"{length} points" for length in LENGTHS)),
        lines=false_changes,
    ),
    MethodTable(
        name="changes",
        title="Series whose level changes in the middle: found there, or one point off",
        mark="+5 % at 2 %: 90 % of 50 points, +10 %: 85 % of 6; at 5 % +20 %: 95 % of 20",
        heads=("points scatter by", "change", *(f"{length} points" for length in LENGTHS)),
        lines=found_changes,
        part=4,
    ),
    MethodTable(
        name="checks",
        title="Baseline and check, three runs each that scatter by 1 %, threshold 5 %, by distance of sessions",
        mark="unchanged ones called worse, where other sessions are known, 5 % at most",
        heads=("sessions scatter by", "other sessions", "unchanged: worse", "unchanged: not worse", "halved: worse"),
        lines=checks,
        part=4,
    ),
    MethodTable(
        name="detect",
        title="The pairs that a plan names for an effect, by what earlier runs scatter by: found with so many",
        mark="75 % at least",
        heads=("a run scatters by", "runs known", "effect", "pairs named, on the average", "found"),
        lines=detected,
        part=5,
    ),
    MethodTable(
        name="year",
        title="A year of nights without a lasting loss: alarms, by how nights scatter",
        mark="as promised at most",
        heads=("nights scatter by", "alarms a year", "promised at most"),
        lines=false_alarms,
        part=40,
    ),
    MethodTable(
        name="rhythms",
        title="Losses during a rhythm, a fault or correlated nights that scatter by 2 %: reported in time",
        mark="as promised at least",
        heads=("nights", *RATE_HEADS[1:]),
        lines=rate_lines(RHYTHMS),
        part=20,
    ),
    MethodTable(
        name="losses",
        title="A loss between two nights that differ by 2 %: nights until it is reported",
        mark="10 % in a median of 3 nights at most, 5 % in 7",
        heads=("nights", "loss", "nights before it", "half are reported by night", "nine in ten by"),
        lines=losses,
        part=10,
    ),
    MethodTable(
        name="sizes",
        title="Losses of the size that a check says it would see: reported within seven nights",
        mark="half of them at least",
        heads=("nights scatter by", "nights before it", "size named, on the average", "reported in time"),
        lines=named_sizes,
        part=10,
    ),
    MethodTable(
        name="looks",
        title="Series over sessions that keep their level, looked at after every point: with any change ever told",
        mark="5 % at most",
        heads=("points scatter by", "by 12 points", "by 30 points", "by 60 points"),
        lines=over_looks,
        part=10,
    ),
)

NAMES: Mapping[str, MethodTable] = MappingProxyType({table.name: table for table in TABLES})
"""By name."""
