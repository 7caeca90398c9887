"""Data of the Bench screen for a running or finished job: charts, progress, and steady state. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.presentation.comparison import ab_progress
from app.core.presentation.device import informative_settings, target_texts
from app.core.presentation.run import cpu_line, steady_text
from app.core.session.event_types import SteadyPlan
from app.core.session.events import RunTarget
from app.core.session.results import DIRECTIONS, Advice, Phase, SteadyStateResult
from app.core.session.state import ActiveRun, RunRecord, Session
from app.tui.bench.advice import command_of
from app.tui.bench.curves import MEAN_LATENCY, Curves
from backends.model import Inventory
from widgets.bars import Progress
from widgets.chart import WAITING, ChartData, Reference, Series, TimeMark
from widgets.choice_list import ChoiceItem
from widgets.text_utils import units
from widgets.text_utils.symbols import ATTENTION
from widgets.text_utils.text import shorten, width_of

# -- choices for the steady state -------------------------------------------------------------------------------------

_WAYS = {"": (False, False), "until": (True, False), "early": (False, True), "both": (True, True)}


def steady_choices(base: SteadyPlan) -> tuple[ChoiceItem, ...]:
    """Return the choices for the steady state, with the rounds and the time limit of `base`."""
    rule = f"{base.window} rounds of {base.round_s} s vary by at most 20 % of their mean and drift by at most 10 %"
    cap = units.duration(base.cap_s)
    return (
        ChoiceItem(value="", label="measure at once", help="Measures after the ramp, for the whole run time."),
        ChoiceItem(
            value="until",
            label="wait until steady",
            help=f"Starts to measure when {rule}, or after {cap}.",
        ),
        ChoiceItem(
            value="early",
            label="end when steady",
            help=f"Measures at once and ends when {rule}. The run time varies.",
        ),
        ChoiceItem(
            value="both",
            label="wait, and end when steady",
            help="Waits as above, then ends when the measured values are steady, too.",
        ),
    )


def steady_way(plan: SteadyPlan | None) -> str:
    """Return the value of the choice (`steady_choices`) that corresponds to a plan."""
    flags = (False, False) if plan is None else (plan.until, plan.end_early)
    return next(value for value, choice_flags in _WAYS.items() if choice_flags == flags)


def steady_plan(base: SteadyPlan, value: str) -> SteadyPlan | None:
    """Return the plan for the value of a choice; None for measuring at once."""
    until, end_early = _WAYS[value]
    return replace(base, until=until, end_early=end_early) if until or end_early else None


# -- charts and lines of a job ----------------------------------------------------------------------------------------

_AFTER_THE_RAMP = "latencies are shown after the ramp"
"""Text in an empty latency graph: during the ramp, fio reports no latencies."""


def throughput_chart(
    curves: Curves,
    *,
    rate: bool,
    total: float | None,
    references: tuple[Reference, ...] = (),
    marks: tuple[TimeMark, ...] = (),
    waiting: str = WAITING,
    over: bool = False,
    close: bool = False,
) -> ChartData:
    """Return the upper graph: IOPS, or bytes per second (`rate`), of reads, writes and trims, with references.

    `total`: seconds of the time axis; None to follow the samples. `over`: whether the run has ended. `close`: whether
    the axis shows only the range of the values.
    """
    unit = "rate" if rate else "iops"
    colors = {"read": "$primary", "write": "$warning", "trim": "$error"}
    series = tuple(
        Series(name=name, points=curves.points(f"{name} {unit}"), color=color)
        for name, color in colors.items()
        if f"{name} {unit}" in curves.series
    )
    return replace(
        _chart(curves, total, marks, waiting, over=over),
        series=series,
        references=references,
        shaded_text="ramp",
        y_format=units.mib_per_s if rate else units.iops,
        close=close,
    )


def _chart(
    curves: Curves, total: float | None, marks: tuple[TimeMark, ...], waiting: str, *, over: bool = False
) -> ChartData:
    """Return a graph without curves, with the parts that all graphs of a job have in common."""
    return ChartData(
        marks=marks,
        shaded_until=curves.measured_from if total is not None else 0.0,
        x_max=total,
        y_format=units.latency,
        ends=True,
        over=over,
        waiting=waiting,
    )


def baseline_references(run: RunRecord, curves: Curves, *, rate: bool) -> tuple[Reference, ...]:
    """Return references for the means of the baseline `run`.

    Once the intervals of the baseline have been read into `curves`, each mean has a band of one standard deviation.
    """
    unit = "rate" if rate else "iops"
    sides = [(name, side) for name in DIRECTIONS if (side := run.figures.side(name)) is not None and side.iops]
    return tuple(
        Reference(
            label=f"baseline {run.id}" if len(sides) == 1 else f"baseline {run.id} {name}",
            value=side.bytes_per_second if rate else side.iops,
            half=curves.deviation(f"{name} {unit}"),
        )
        for name, side in sides
    )


def heat_chart(
    curves: Curves, *, total: float | None, marks: tuple[TimeMark, ...] = (), waiting: str = WAITING
) -> ChartData:
    """Return the lower graph as a heat map: the latency distribution of each interval."""
    return replace(_chart(curves, total, marks, waiting), heat=tuple(curves.heat))


def latency_chart(
    curves: Curves,
    *,
    total: float | None,
    marks: tuple[TimeMark, ...] = (),
    waiting: str = WAITING,
    over: bool = False,
) -> ChartData:
    """Return the lower graph: latency percentiles of each interval, and the maximum as points.

    The present I/O of a device has only a mean latency.
    """
    names = (("p50", "p50_ns", "$success"), ("p99", "p99_ns", "$warning"), ("p99.9", "p99_9_ns", "$error"))
    if MEAN_LATENCY in curves.series:
        mean = Series(name="mean", points=curves.points(MEAN_LATENCY), color="$success")
        return replace(_chart(curves, total, marks, waiting), series=(mean,))
    lines = [Series(name=name, points=curves.points(key), color=color) for name, key, color in names]
    most = Series(name="max", points=curves.points("max_ns"), color="$foreground", joined=False)
    text = _AFTER_THE_RAMP if curves.taken and not curves.measured else waiting
    series = (most, *lines)  # Lines are drawn over the points.
    return replace(_chart(curves, total, marks, text, over=over), series=series, shaded_text="ramp", bands=True)


def progress(active: ActiveRun, now: float) -> Progress:
    """Return the progress of the job over all its phases."""
    within = active.passed(now)
    planned = active.start.planned_seconds
    waits = active.start.steady is not None and active.start.steady.until
    match active.phase:
        case Phase.SETTLING:
            return Progress(phase="settling", elapsed=within, total=active.phase_seconds)
        case Phase.RAMP if waits:
            return Progress(phase="ramp", elapsed=within)
        case Phase.FILLING:
            fraction = active.moved_bytes / active.total_bytes if active.total_bytes else None
            return Progress(phase="filling", fraction=fraction, elapsed=within, eta=active.amount_left(now))
        case Phase.RAMP | Phase.MEASURING:
            if not planned:
                return Progress(phase=str(active.phase), elapsed=within)
            runtime = active.phase_seconds if active.phase is Phase.MEASURING and active.phase_seconds else None
            ramp = planned - runtime if runtime is not None else 0.0
            elapsed = within + (ramp if active.phase is Phase.MEASURING else 0.0)
            elapsed = min(elapsed, planned)
            return Progress(
                phase=str(active.phase),
                fraction=elapsed / planned if planned else None,
                elapsed=elapsed,
                total=planned,
                eta=max(0.0, planned - elapsed),
            )
        case _:
            return Progress(phase=str(active.phase), elapsed=within)


def machine_line(steady: SteadyStateResult | None, fio: float | None, host: float | None) -> str:
    """Return the line about the steady state and the CPU use: `fio` in percent of a core, `host` in percent."""
    return " · ".join(filter(None, (steady_text(steady) if steady is not None else "", cpu_line(fio, host))))


def chart_seconds(active: ActiveRun) -> float | None:
    """Return the length of the time axis in seconds: the complete run; None if unknown, to follow the samples."""
    if active.phase not in (Phase.RAMP, Phase.MEASURING, Phase.STOPPING):
        return None
    waits = active.start.steady is not None and active.start.steady.until
    if not active.start.planned_seconds or (waits and not active.settled):
        return None
    return active.start.planned_seconds + active.settled


def advice_line(advice: tuple[Advice, ...], width: int, *, ascii: bool = False, past: bool = False) -> str:
    """Return a line with the number of pieces of advice, the key for the first (most important) one, and its text.

    `past`: the run was opened again, on a screen without the commands that fix its conditions.
    """
    if not advice:
        return ""
    command = None if past else command_of(advice[0])
    keys = "i" if command is None else f"i, {command.shown_keys.split()[0]} {command.label}"
    return shorten(f"{ATTENTION.shown(ascii=ascii)} {len(advice)} ({keys}) {advice[0].message}", width)


def short_progress(session: Session, active: ActiveRun, now: float) -> str:
    """Return the progress of a job for the header: `randread-4k 42 % ETA 35 s`. For an A/B, it covers all runs."""
    state = progress(active, now)
    mark = active.start.mark
    record = None if mark is None else session.experiment(mark.experiment)
    if record is not None:
        ab = ab_progress(session, record, state.eta or 0.0)
        return f"A/B {ab.begun}/{ab.planned} ETA {units.duration(round(ab.left or 0.0))}"
    name = active.start.profile or "custom job"
    if state.fraction is None:
        return f"{name}: {state.phase}"
    return f"{name} {int(state.fraction * 100 + 1e-9)} % ETA {units.duration(round(state.eta or 0))}"


JOIN = " · "
"""Separates the parts of a line about a target or a job."""


def target_line(inventory: Inventory, targets: Sequence[RunTarget], values: Mapping[str, str], width: int) -> str:
    """Return the target and its settings in a line: `ssd · raid5 · sdb · write through · read-ahead none · strip 64K`.

    Settings that do not fit into `width` cells are left out.
    For targets that are measured at the same time: `2 targets · ssd, vmstore · write through, back`.
    """
    parts = [target_texts(inventory, target.device, target.target) for target in targets]
    if len(parts) > 1:
        parts = [(f"{len(parts)} targets", ", ".join(name for name, *_ in parts))]
    line = JOIN.join(parts[0])
    for setting in informative_settings(values):
        if width_of(longer := f"{line}{JOIN}{setting}") > width:
            break
        line = longer
    return line


def job_line(profile: str | None, title: str, plan: SteadyPlan | None) -> str:
    """Return a line with the name of the profile, the job, and its steady-state plan."""
    named = f"{profile}: {title}" if profile else title
    text = "" if plan is None else plan.describe()
    return JOIN.join(filter(None, (named, text)))
