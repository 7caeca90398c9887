"""Texts and tables about runs: stalls, steady state, and the results of one or several runs. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from app.core.analysis.metric_kinds import FIGURES, SYNC, TRIM, MetricKind
from app.core.analysis.sample_groups import spread_of
from app.core.fio.stalls import IoStallDetector
from app.core.presentation.figures import figure_label, figure_value_text, formatter_for, mean_text
from app.core.presentation.members import cache_facts
from app.core.presentation.table import Align, Cell, Column, FactLine, Facts, Row, Table, Tone, facts_group
from app.core.presentation.verdict_text import WEAKENING_TEXTS
from app.core.session.results import (
    SIDES,
    Advice,
    DirectionStats,
    PartFigures,
    Phase,
    RunResult,
    RunStatus,
    SteadyStateResult,
)
from app.core.session.section_runs import shared_sections
from app.core.session.state import ActiveRun, RunRecord
from backends.sizes import size_words
from widgets.text_utils import units

# -- stalls of a running job ------------------------------------------------------------------------------------------


def stall_text(detector: IoStallDetector, measured_from: float) -> str:
    """Return a sentence about the stalls of a running job; "" if there are none.

    `measured_from`: start of the measured phase in seconds.
    """
    stalls = detector.stalls
    if not stalls:
        return ""
    stall = detector.current_stall or max(stalls, key=lambda stall: stall.seconds)
    when = units.elapsed(measured_from + stall.at)
    if detector.current_stall:
        return f"{stall.text}, since {when}."
    if len(stalls) == 1:
        return f"{stall.text} at {when}."
    return f"{len(stalls)} stalls, the longest {stall.seconds:.1f} s at {when}."


SILENT_S = 1.25
"""Seconds without output from fio after which an I/O must be stuck; fio prints four JSON documents a second."""


def silence_text(active: ActiveRun) -> str:
    """Return a warning that fio prints nothing because an I/O has not completed; "" while fio prints.

    There is no warning for a simulated or recorded fio. Such a fio is silent when its own clock stops, which says
    nothing about a device.
    """
    if active.start.simulated or active.phase is not Phase.MEASURING or active.silent_s < SILENT_S:
        return ""
    return f"Stall: no output from fio for {active.silent_s:.1f} s, an I/O has not completed."


# -- results of the steady-state rule ---------------------------------------------------------------------------------


def steady_text(result: SteadyStateResult) -> str:
    """Return the steady state so far: `steady: no, range 31 %, slope 12 % (round 7)`.

    Return `steady: round 3 of 5` before there are enough rounds.
    """
    if result.rounds < result.window:
        return f"steady: round {result.rounds} of {result.window}"
    limits = _limits_text(result) or "no I/O"
    return f"steady: {'yes' if result.attained else 'no'}, {limits} (round {result.rounds})"


def _limits_text(result: SteadyStateResult) -> str:
    """Return range and slope of the rounds, `range 31 %, slope 12 %`; "" without I/O."""
    if result.range_share is None or result.slope_share is None:
        return ""
    return f"range {units.fraction(result.range_share)}, slope {units.fraction(result.slope_share)}"


def outcome_text(result: SteadyStateResult) -> str:
    """Return the result of the steady-state rule for a finished run, as a clause."""
    limits = f" ({_limits_text(result)})" if _limits_text(result) else ""
    text = "steady" if result.attained else "NOT STEADY"
    if result.ended_early:
        return f"{text}, ended early{limits}"
    if result.capped:
        return f"{text} after waiting {units.duration(result.waited_s)}, measured anyway{limits}"
    if result.waited_s:
        return f"{text} after {units.duration(result.waited_s)}, then measured{limits}"
    return f"{text}{limits}"


# -- results of runs --------------------------------------------------------------------------------------------------

RUN_TONES: dict[RunStatus, Tone] = {
    RunStatus.RUNNING: Tone.ACCENT,
    RunStatus.OK: Tone.GOOD,
    RunStatus.STOPPED: Tone.ATTENTION,
    RunStatus.FAILED: Tone.BAD,
}
"""Tone of a run, by its status."""

STILL_RUNNING = "still running, so it has no results yet"
"""Says why a run has no results; its name and `is` come before it."""

NOT_MEASURED = "nothing was measured"
"""Text shown instead of the results of a run that has none."""

TOO_FEW = "too few I/Os"
"""Text shown instead of a percentile for which there are too few I/Os."""


def caveat_mark(figures: RunResult) -> str:
    """Return the number of warnings and advice as a suffix for lists: ` !` for 1, ` !3` for 3, "" for none."""
    count = len(figures.warnings) + len(figures.advice)
    return "" if not count else " !" if count == 1 else f" !{count}"


def measured_directions(figures: RunResult | PartFigures) -> Iterator[tuple[str, DirectionStats]]:
    """Yield the name and the results of each direction that has results: reads, writes, trims, flushes."""
    for direction in SIDES:
        if (side := figures.side(direction)) is not None:
            yield direction, side


def figure_text(figure: MetricKind, value: float | None) -> str:
    """Return the value of a metric with its unit; `too few I/Os` for a missing latency."""
    return TOO_FEW if value is None and figure.is_latency else figure_value_text(figure, value)


_LEFT_OUT = {
    "latency_p99_9999_ns": 4,
    "latency_p99_999_ns": 4,
    "latency_p99_99_ns": 3,
    "latency_p95_ns": 2,
    "latency_mean_ns": 1,
}
"""Priority of the columns that a narrow table leaves out, by metric."""


def figures_table(runs: Sequence[RunRecord]) -> Table:
    """Return a table of all metrics of runs, with a row for each direction.

    If a run has several targets or sections, its total comes first and their rows follow.
    """
    shown = _known_figures(side for run in runs for _, side in measured_directions(run.figures))
    columns = (
        Column(title="Run"),
        Column(title=""),
        *(
            Column(
                title=figure_label(figure).removesuffix(" latency"),
                align=Align.RIGHT,
                priority=_LEFT_OUT.get(figure.key, 0),
            )
            for figure in shown
        ),
        Column(title="I/Os", align=Align.RIGHT, priority=5),
        Column(title="Status"),
    )
    return Table(columns=columns, rows=tuple(row for run in runs for row in _figure_rows(run, shown)))


def _known_figures(sides: Iterable[DirectionStats]) -> tuple[MetricKind, ...]:
    """Return the metrics to show; rare ones only if one of `sides` has a value for them."""
    all_sides = tuple(sides)
    return tuple(
        figure for figure in FIGURES if not figure.rare or any(figure.read(side) is not None for side in all_sides)
    )


def _figure_rows(run: RunRecord, shown: Sequence[MetricKind]) -> Iterator[Row]:
    status = Cell(run.figures.status.value, RUN_TONES[run.figures.status])
    pairs = list(measured_directions(run.figures))
    if not pairs:
        yield Row(cells=(run.id, *[""] * (len(shown) + 2), status))
    for at, (direction, figures) in enumerate(pairs):
        first, last = (run.id, status) if at == 0 else ("", "")
        yield Row(cells=(first, direction, *_direction_cells(direction, figures, shown), last))
    for name, part in parts_of(run.figures):
        for at, (direction, figures) in enumerate(measured_directions(part)):
            first = f"  {name}" if at == 0 else ""
            yield Row(cells=(first, direction, *_direction_cells(direction, figures, shown), ""))


def parts_of(figures: RunResult) -> Iterator[tuple[str, PartFigures]]:
    """Yield the parts of a run's results with their names: each target, or each section and then each group.

    A group with only one section is left out, because its results are those of the section.
    """
    yield from ((target.target, target) for target in figures.targets)
    yield from ((section.name, section) for section in figures.sections)
    yield from ((" + ".join(group.sections), group) for group in figures.groups if len(group.sections) > 1)


def _direction_cells(direction: str, figures: DirectionStats, shown: Sequence[MetricKind]) -> tuple[str, ...]:
    cells = (figure_text(figure, figure.read(figures)) if figure.of(direction) else "" for figure in shown)
    return (*cells, str(figures.total_ios))


def targets_table(a: RunRecord, b: RunRecord, names: tuple[str, str]) -> Table:
    """Return a table of the results of several targets or sections in two runs, side by side and without a verdict.

    A target or section of one run is next to that of the same name in the other run. Without several targets or
    sections, the table has no rows.
    """
    sectioned = bool(a.figures.sections or b.figures.sections)
    columns = (
        Column(title="Section" if sectioned else "Target", shrinks=True),
        Column(title=""),
        *(
            Column(title=f"{figure_label(figure)} {name}", align=Align.RIGHT)
            for figure in FIGURES[:2]
            for name in names
        ),
    )
    both = {name: [_target(run, name) for run in (a, b)] for run in (a, b) for name, _ in parts_of(run.figures)}
    rows = [
        Row(cells=(name, direction, *_pair(direction, sides)))
        for name, sides in both.items()
        for direction in SIDES
        if any(side is not None and side.side(direction) is not None for side in sides)
    ]
    return Table(columns=columns, rows=tuple(rows))


def _target(run: RunRecord, name: str) -> PartFigures | None:
    return next((part for part_name, part in parts_of(run.figures) if part_name == name), None)


def _pair(direction: str, sides: Sequence[PartFigures | None]) -> Iterator[str]:
    for figure in FIGURES[:2]:
        for side in sides:
            stats = None if side is None else side.side(direction)
            yield units.NOTHING if stats is None else figure_text(figure, figure.read(stats))


def figure_facts(figures: RunResult) -> tuple[Facts, ...]:
    """Return all metrics of a finished run, with its advice and warnings."""
    groups = [
        Facts(heading=direction.capitalize(), facts=tuple(_direction_facts(direction, side)))
        for direction, side in measured_directions(figures)
    ]
    cpu = figures.cpu
    processor = (
        FactLine("fio", f"{units.percent(cpu.fio_percent_of_core)} of a core"),
        FactLine("host", units.percent(cpu.host_percent)),
    )
    groups += [*cache_facts(figures.caches), Facts(heading="Processor", facts=processor), *advice_facts(figures.advice)]
    if figures.steady is not None:
        tone = Tone.PLAIN if figures.steady.attained else Tone.ATTENTION
        groups.append(Facts(heading="Steady state", facts=(FactLine("", outcome_text(figures.steady), tone),)))
    notes = facts_group("Notes", (FactLine("", warning, Tone.ATTENTION) for warning in figures.warnings))
    return (*groups, *notes)


def _direction_facts(name: str, direction: DirectionStats) -> Iterator[FactLine]:
    latency = direction.latency_ns
    yield FactLine("IOPS" if name != SYNC else "Flushes/s", units.iops(direction.iops))
    if name != SYNC:
        yield FactLine("Bandwidth", units.rate(direction.bytes_per_second))
    yield FactLine("I/Os" if name != SYNC else "Flushes", f"{direction.total_ios:,}")
    if name != SYNC:
        yield FactLine("Moved" if name != TRIM else "Trimmed", size_words(direction.total_bytes))
    yield FactLine("Time", units.duration(direction.runtime_s))
    yield FactLine("Deviation", units.latency(latency.stddev))
    yield FactLine("Min", units.latency(latency.min))
    for figure in _known_figures((direction,)):
        if figure.is_latency:
            label = figure_label(figure).removesuffix(" latency").capitalize()
            yield FactLine(label, figure_text(figure, figure.read(direction)))
    parts = (("Submission", direction.submission_ns), ("Completion", direction.completion_ns))
    for label, part in parts:
        if part is not None and part.mean is not None:
            yield FactLine(label, units.latency(part.mean))


def advice_heading(key: str) -> str:
    """Return the heading of advice with its key in docs/advice.md: `Unwritten blocks read (unwritten-flash)`."""
    text = WEAKENING_TEXTS.get(key, "")
    heading = f"{text[:1].upper()}{text[1:]}"
    return key if not text else heading if text.replace(" ", "-") == key else f"{heading} ({key})"


def advice_facts(advice: Sequence[Advice]) -> tuple[Facts, ...]:
    """Return a group of facts for each piece of advice: its heading, its message, and the next step."""
    return tuple(
        Facts(
            heading=advice_heading(item.key),
            facts=(FactLine("", item.message, Tone.ATTENTION), *([FactLine("", item.do)] if item.do else [])),
        )
        for item in advice
    )


def cpu_line(fio: float | None, host: float | None) -> str:
    """Return one line with the CPU use of fio and of the host. On a remote machine, only that of fio is known."""
    shares = [f"fio {units.percent(fio)} of a core"] if fio is not None else []
    shares += [f"host {units.percent(host)}"] if host is not None else []
    return f"CPU: {', '.join(shares)}" if shares else ""


def direction_line(direction: str, figures: DirectionStats) -> str:
    """Return the results of one direction in one line: `read 85.4k IOPS, 334 MiB/s, p50 310 µs, p99 1.20 ms, ...`."""
    times = figures.latency_ns
    percentiles = f"p50 {units.latency(times.p50)}, p99 {units.latency(times.p99)}, p99.9 {units.latency(times.p99_9)}"
    if direction == SYNC:
        return f"sync {units.iops(figures.iops)} flushes/s, mean {units.latency(times.mean)}, {percentiles}"
    moved = f"{units.iops(figures.iops)} IOPS, {units.rate(figures.bytes_per_second)}"
    beyond = f", p99.999 {units.latency(times.p99_999)}" if times.p99_999 is not None else ""
    beyond += f", p99.9999 {units.latency(times.p99_9999)}" if times.p99_9999 is not None else ""
    most = "" if times.max is None else f", max {units.latency(times.max)}"
    return f"{direction} {moved}, {percentiles}{beyond}{most}"


def result_line(figures: RunResult) -> str:
    """Return the results of a run in one line; `running` until it has ended."""
    if figures.status is RunStatus.RUNNING:
        return figures.status.value
    text = "; ".join(direction_line(*side) for side in measured_directions(figures))
    if figures.steady is not None and (figures.steady.waited_s or figures.steady.ended_early):
        text = f"{text or NOT_MEASURED}; {outcome_text(figures.steady)}"
    if figures.status is RunStatus.OK:
        return f"done: {text or NOT_MEASURED}"
    reason = figures.reason or ""
    head = "" if reason.lower().startswith(str(figures.status)) else f"{figures.status}: "
    return f"{head}{reason} {text}".strip()


def means_lines(runs: Sequence[RunRecord], show: Callable[[MetricKind], bool]) -> Iterator[str]:
    """Yield one line for each direction, with the means and 95 % intervals of repeats; no line for a single run.

    `show`: returns whether a metric is part of the line.
    """
    completed = [run for run in runs if run.figures.status is RunStatus.OK]
    for direction in SIDES if len(completed) > 1 else ():
        figures = [figure for figure in FIGURES if show(figure) and figure.of(direction)]
        spreads = [(figure, spread_of(completed, direction, figure)) for figure in figures]
        means = [
            f"{figure_label(figure)} {mean_text(interval, formatter_for(figure))}"
            for figure, interval in spreads
            if interval is not None
        ]
        if means:
            yield f"Mean of {len(completed)}, {direction}: {', '.join(means)} (95 %)"
    for name, section_runs in shared_sections(completed) if len(completed) > 1 else ():
        yield from (f"{name}: {line}" for line in means_lines(section_runs, show))
