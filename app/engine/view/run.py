"""What is told of runs: the list of them, and every figure of one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from app.engine.judge.kinds import FIGURES, SYNC, Figure
from app.engine.judge.repeats import mean_text, spread_of
from app.engine.session.figures import SIDES, Advice, DirectionFigures, RunFigures, RunStatus, TargetFigures
from app.engine.session.state import RunRecord
from app.engine.view.caches import cache_facts
from app.engine.view.percentiles import intervals
from app.engine.view.steady import outcome_words
from app.engine.view.table import Align, Cell, Column, FactLine, Facts, Row, Table, Tone
from widgets.plain import units

DIRECTIONS = ("read", "write")
"""In the order to tell them."""

RUN_TONES: dict[RunStatus, Tone] = {
    RunStatus.OK: Tone.GOOD,
    RunStatus.STOPPED: Tone.ATTENTION,
    RunStatus.FAILED: Tone.BAD,
}
"""How a run ended, for its colour."""

TOO_FEW = "too few I/Os"
"""Stands for a percentile that too few I/Os carry."""


def caveat_mark(figures: RunFigures) -> str:
    """Behind a run's state in lists: how much speaks against its figures. ` !`, ` !3`, or nothing."""
    count = len(figures.warnings) + len(figures.advice)
    return "" if not count else " !" if count == 1 else f" !{count}"


def both_directions(figures: RunFigures | TargetFigures) -> Iterator[tuple[str, DirectionFigures]]:
    """What did something, by name: reads, writes, flushes."""
    for direction in SIDES:
        if (found := figures.side(direction)) is not None:
            yield direction, found


def figure_text(figure: Figure, value: float | None) -> str:
    """A figure in its unit; a latency that is not there has too few I/Os."""
    return TOO_FEW if value is None and figure.is_latency else figure.show(value)


def figures_table(runs: Sequence[RunRecord]) -> Table:
    """All figures of runs, a row for each direction; of several targets together, then of each."""
    columns = (
        Column(title="Run"),
        Column(title=""),
        *(Column(title=figure.label.removesuffix(" latency"), align=Align.POINT) for figure in FIGURES),
        Column(title="I/Os", align=Align.POINT),
        Column(title="Status"),
    )
    return Table(columns=columns, rows=tuple(row for run in runs for row in _figure_rows(run)))


def _figure_rows(run: RunRecord) -> Iterator[Row]:
    status = Cell(run.figures.status.value, RUN_TONES[run.figures.status])
    found = list(both_directions(run.figures))
    if not found:
        yield Row(cells=(run.id, *[""] * (len(FIGURES) + 2), status))
    for at, (direction, figures) in enumerate(found):
        first, last = (run.id, status) if at == 0 else ("", "")
        yield Row(cells=(first, direction, *_direction_cells(direction, figures), last))
    for target in run.figures.targets:
        for at, (direction, figures) in enumerate(both_directions(target)):
            first = f"  {target.target}" if at == 0 else ""
            yield Row(cells=(first, direction, *_direction_cells(direction, figures), ""))


def _direction_cells(direction: str, figures: DirectionFigures) -> tuple[str, ...]:
    shown = (figure_text(figure, figure.read(figures)) if figure.of(direction) else "" for figure in FIGURES)
    return (*shown, str(figures.total_ios))


def targets_table(a: RunRecord, b: RunRecord, names: tuple[str, str]) -> Table:
    """What each of several targets did in two runs, side by side without a verdict; no rows where there was one."""
    columns = (
        Column(title="Target", shrinks=True),
        Column(title=""),
        *(Column(title=f"{figure.label} {name}", align=Align.POINT) for figure in FIGURES[:2] for name in names),
    )
    both = {name: [_target(run, name) for run in (a, b)] for run in (a, b) for name in _targets(run)}
    rows = [
        Row(cells=(name, direction, *_pair(direction, sides)))
        for name, sides in both.items()
        for direction in SIDES
        if any(side is not None and side.side(direction) is not None for side in sides)
    ]
    return Table(columns=columns, rows=tuple(rows))


def _targets(run: RunRecord) -> Iterator[str]:
    return (each.target for each in run.figures.targets)


def _target(run: RunRecord, name: str) -> TargetFigures | None:
    return next((each for each in run.figures.targets if each.target == name), None)


def _pair(direction: str, sides: Sequence[TargetFigures | None]) -> Iterator[str]:
    for figure in FIGURES[:2]:
        for side in sides:
            found = None if side is None else side.side(direction)
            yield units.NOTHING if found is None else figure_text(figure, figure.read(found))


def figure_facts(figures: RunFigures) -> tuple[Facts, ...]:
    """Every figure of one finished run, with what speaks against them."""
    groups = [
        Facts(heading=direction.capitalize(), facts=tuple(_direction_facts(direction, found)))
        for direction, found in both_directions(figures)
    ]
    cpu = figures.cpu
    processor = (
        FactLine("fio", f"{units.percent(cpu.fio_percent_of_core)} of a core"),
        FactLine("host", units.percent(cpu.host_percent)),
    )
    groups += [*cache_facts(figures.caches), Facts(heading="Processor", facts=processor), *advice_facts(figures.advice)]
    if figures.steady is not None:
        tone = Tone.PLAIN if figures.steady.attained else Tone.ATTENTION
        groups.append(Facts(heading="Steady state", facts=(FactLine("", outcome_words(figures.steady), tone),)))
    if figures.warnings:
        groups.append(
            Facts(heading="Notes", facts=tuple(FactLine("", each, Tone.ATTENTION) for each in figures.warnings))
        )
    return tuple(groups)


def _direction_facts(name: str, direction: DirectionFigures) -> Iterator[FactLine]:
    latency = direction.latency_ns
    yield FactLine("IOPS" if name != SYNC else "Flushes/s", units.iops(direction.iops))
    if name != SYNC:
        yield FactLine("Bandwidth", units.rate(direction.bytes_per_second))
    yield FactLine("I/Os" if name != SYNC else "Flushes", f"{direction.total_ios:,}")
    if name != SYNC:
        yield FactLine("Moved", units.size(direction.total_bytes))
    yield FactLine("Time", units.duration(direction.runtime_s))
    yield FactLine("Deviation", units.latency(latency.stddev))
    yield FactLine("Min", units.latency(latency.min))
    within = intervals(direction)
    for figure in FIGURES:
        if figure.is_latency:
            key = figure.key.removeprefix("latency_").removesuffix("_ns")
            between = f" ({range_text(*within[key])})" if key in within else ""
            label = figure.label.removesuffix(" latency").capitalize()
            yield FactLine(label, figure_text(figure, figure.read(direction)) + between)
    parts = (("Submission", direction.submission_ns), ("Completion", direction.completion_ns))
    for label, part in parts:
        if part is not None and part.mean is not None:
            yield FactLine(label, units.latency(part.mean))


def range_text(low: float, high: float) -> str:
    """`1.15 ms to 1.31 ms`."""
    return f"{units.latency(low)} to {units.latency(high)}"


def within_lines(runs: Sequence[RunRecord]) -> Iterator[str]:
    """How far the percentiles of each run may be off by the number of its I/Os alone."""
    for run in runs:
        for direction, figures in both_directions(run.figures):
            told = [
                f"{key.replace('_', '.')} {range_text(*between)}"
                for key, between in intervals(figures).items()
                if key != "p95"
            ]
            if told:
                yield f"Within {run.id}, {direction}: {', '.join(told)} (95 %)"


def advice_facts(advice: Sequence[Advice]) -> tuple[Facts, ...]:
    """Every piece of advice under its key, with what to do."""
    return tuple(
        Facts(
            heading=each.key,
            facts=(FactLine("", each.message, Tone.ATTENTION), *([FactLine("", each.do)] if each.do else [])),
        )
        for each in advice
    )


def cpu_line(fio: float | None, host: float | None) -> str:
    """Who works how much; of a machine that is not this one only fio's own count is known."""
    shares = [f"fio {units.percent(fio)} of a core"] if fio is not None else []
    shares += [f"host {units.percent(host)}"] if host is not None else []
    return f"CPU: {', '.join(shares)}" if shares else ""


def direction_line(direction: str, figures: DirectionFigures) -> str:
    """`read 85.4k IOPS, 334 MiB/s, p50 310 µs, p99 1.20 ms, p99.9 3.60 ms, max 9.00 ms`."""
    times = figures.latency_ns
    percentiles = f"p50 {units.latency(times.p50)}, p99 {units.latency(times.p99)}, p99.9 {units.latency(times.p99_9)}"
    if direction == SYNC:
        return f"sync {units.iops(figures.iops)} flushes/s, mean {units.latency(times.mean)}, {percentiles}"
    moved = f"{units.iops(figures.iops)} IOPS, {units.rate(figures.bytes_per_second)}"
    most = "" if times.max is None else f", max {units.latency(times.max)}"
    return f"{direction} {moved}, {percentiles}{most}"


def result_line(figures: RunFigures) -> str:
    """A finished run in one line."""
    text = "; ".join(direction_line(*each) for each in both_directions(figures))
    if figures.steady is not None and (figures.steady.waited_s or figures.steady.ended_early):
        text = f"{text or 'nothing was measured'}; {outcome_words(figures.steady)}"
    if figures.status is RunStatus.OK:
        return f"done: {text or 'nothing was measured'}"
    reason = figures.reason or ""
    head = "" if reason.lower().startswith(str(figures.status)) else f"{figures.status}: "
    return f"{head}{reason} {text}".strip()


def means_lines(runs: Sequence[RunRecord], show: Callable[[Figure], bool]) -> Iterator[str]:
    """Mean and 95 % interval of repeats: how far another run may lie is not in a single one."""
    whole = [run for run in runs if run.figures.status is RunStatus.OK]
    for direction in SIDES if len(whole) > 1 else ():
        told = [figure for figure in FIGURES if show(figure) and figure.of(direction)]
        seen = [(figure, spread_of(whole, direction, figure)) for figure in told]
        means = [f"{figure.label} {mean_text(each, figure.show)}" for figure, each in seen if each is not None]
        if means:
            yield f"Mean of {len(whole)}, {direction}: {', '.join(means)} (95 %)"
