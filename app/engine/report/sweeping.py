"""What the sweep of a session has found: sentences, tables, graphs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.fio.sizes import parse_size
from app.engine.judge.verdict import Judgement
from app.engine.report.blocks import Graphs, Grid, Paragraph, Section, Sentences, section
from app.engine.report.graph import Axis, Graph, HeatMap, IntervalGraph, LineGraph, Series, Spacing, Unit, Whisker
from app.engine.session.state import Session
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Rank
from app.engine.sweep.results import CellResult, Results, results
from backends.errors import InvalidValueError
from widgets.plain import units

_TITLES = {Rank.IOPS: "IOPS", Rank.BANDWIDTH: "MiB/s", Rank.P99: "p99"}
_UNITS = {Rank.IOPS: Unit.IOPS, Rank.BANDWIDTH: Unit.MIB_PER_S, Rank.P99: Unit.LATENCY}
_MOST_ROWS = 24
_MOST_LINES = 6


def sweep_sections(session: Session) -> Iterator[Section]:
    """All that a sweep has found; nothing without one."""
    record = session.sweep
    if record is None:
        return
    found = results(record, session.runs)
    design = record.design
    steps, each = units.plural(len(record.steps), "step"), units.plural(design.repeats, "run")
    how = f"{design.title}. {record.done} of {steps} done, {each} of each cell."
    yield from section(
        "Sweep",
        Paragraph(text=how),
        Sentences(items=tuple(_findings(record, found))),
        Graphs(graphs=sweep_graphs(session)),
        _matrix(found),
        level=3,
    )
    if len(found.rows) == 1:
        yield from section("Ranking", _ranking(found, [one for one in found.cells if one.value is not None]), level=3)
    else:
        for column in found.columns:
            yield from section(f"Ranking: {column}", _ranking(found, found.ranking(column)), level=3)
    yield from section("Left out, failed, or otherwise than set", Sentences(items=tuple(_gaps(record, found))), level=3)


def sweep_findings(session: Session) -> Iterator[str]:
    """The most important of it, a sentence each."""
    if session.sweep is not None:
        found = results(session.sweep, session.runs)
        yield from _best(session.sweep, found)
        yield from _confirmed(found)
        yield from _searched(session.sweep, found)


def _findings(record: SweepRecord, found: Results) -> Iterator[str]:
    yield from _confirmed(found)
    yield from _searched(record, found)
    yield from _front(found)


def _searched(record: SweepRecord, found: Results) -> Iterator[str]:
    for one in found.saturated:
        limit = record.design.saturation
        assert limit is not None
        asked = f"with a p99 of at most {units.latency(limit.p99_ns)}"
        row = f"{one.cell.row}: " if len(found.rows) > 1 else ""
        if one.best is None:
            yield f"{row}No depth that was tried reached any IOPS {asked}."
        else:
            best = one.best
            yield (
                f"{row}Most IOPS {asked} at queue depth {best.depth}: {units.iops(best.iops)} IOPS,"
                f" p99 {units.latency(best.p99_ns)}."
            )


def _front(found: Results) -> Iterator[str]:
    known = {one.cell.id: one for one in found.cells}
    if 1 < len(found.front) < sum(one.value is not None for one in found.cells):
        front = (f"{_name(found, known[one])} ({units.iops(known[one].iops)}, {units.latency(known[one].p99_ns)})"
                 for one in found.front)  # fmt: skip
        yield f"No other cell has more IOPS at a lower p99 than: {'; '.join(front)}."


def _best(record: SweepRecord, found: Results) -> Iterator[str]:
    """What leads each workload; one sentence where workloads are all there is."""
    title = _TITLES[found.rank]
    if len(found.rows) == 1:
        for name, line in _lines(found).items():
            ranked = sorted((one for one in line if one.value is not None), key=lambda one: one.value or 0.0)
            if len(ranked) > 1:
                best = ranked[0] if found.rank is Rank.P99 else ranked[-1]
                figure = f"{_figure(best.value, found.rank)} {title}"
                yield f"Sweep, {name or record.design.title}: best at {_rest(best, found)}, {figure}."
        return
    for column in found.columns:
        ranking = found.ranking(column)
        if len(ranking) > 1:
            best = ranking[0]
            word = "" if best.judgement is None else f"; against its baseline {_judged(best.judgement)}"
            yield f"Sweep, {column}: {best.cell.row} leads with {_figure(best.value, found.rank)} {title}{word}."


def _confirmed(found: Results) -> Iterator[str]:
    for one in found.confirmations:
        what = f"{one.winner.row} against {one.baseline.row}, {one.winner.column}"
        if one.judgement is None:
            yield f"Confirmation of {what}: {units.plural(one.pairs, 'pair')} so far."
        else:
            reason = f" ({one.judgement.reason})" if one.judgement.reason else ""
            pairs = units.plural(one.pairs, "fresh pair")
            yield f"Measured again in {pairs}: {what}: {_judged(one.judgement)}{reason}."


def _judged(judgement: Judgement) -> str:
    interval = "" if judgement.interval is None else f" {judgement.interval}"
    return f"{judgement.word}{interval}{'' if judgement.interleaved else ', not interleaved'}"


def _gaps(record: SweepRecord, found: Results) -> Iterator[str]:
    yield from record.damage
    for one in found.cells:
        for reason in dict.fromkeys(one.failures):
            yield f"{_name(found, one)} failed: {reason}"
    yield from dict.fromkeys(f"{one.cell.row}: {note}" for one in found.cells for note in one.notes)
    left: dict[tuple[str, str], list[str]] = {}
    for skipped in record.design.skipped:
        left.setdefault((skipped.row, skipped.reason), []).append(skipped.column)
    for (row, reason), columns in left.items():
        yield f"Left out: {row}, {', '.join(columns)}: {reason}"


def _matrix(found: Results) -> Grid | None:
    if len(found.rows) < 2 or len(found.columns) < 2:
        return None
    rows = tuple((row, *(_text(found.at(row, column), found.rank) for column in found.columns)) for row in found.rows)
    return Grid(columns=(_TITLES[found.rank], *found.columns), rows=rows)


def _ranking(found: Results, ranked: Sequence[CellResult]) -> Grid:
    compared = {one.cell.against for one in found.cells}
    rows = []
    for one in ranked:
        wide = one.figure is not None and one.figure.half is not None and one.figure.mean
        half = units.percent(one.figure.half / one.figure.mean * 100) if wide and one.figure and one.figure.half else ""
        verdict = "baseline" if one.judgement is None and one.cell.id in compared else ""
        rows.append(
            (
                one.cell.column if len(found.rows) == 1 else one.cell.row,
                str(len(one.scores)),
                _figure(one.value, found.rank),
                f"±{half}" if half else "",
                units.latency(one.mean_ns),
                units.latency(one.p99_ns),
                verdict if one.judgement is None else _judged(one.judgement),
            )
        )
    first = "Workload" if len(found.rows) == 1 else "Set-up"
    columns = (first, "n", _TITLES[found.rank], "± 95 %", "Mean latency", "p99", "Against its baseline [95 %]")
    return Grid(columns=columns, rows=tuple(rows))


def sweep_graphs(session: Session) -> tuple[Graph, ...]:
    """Curves over a numeric axis, or means with intervals, and the heat map of a matrix."""
    record = session.sweep
    if record is None:
        return ()
    found = results(record, session.runs)
    if not any(one.value is not None for one in found.cells):
        return ()
    ids = {end.run for end in record.ended}
    simulated = any(run.start.simulated for run in session.runs if run.id in ids)
    graphs: list[Graph | None] = []
    if len(found.rows) > 1 and len(found.columns) > 1:
        graphs.append(_heat(found, record.design.title, simulated))
    graphs += _curves(found, record.design.title, simulated)
    if len(found.columns) == 1 or len(found.rows) == 1:
        graphs.append(_intervals(found, record.design.title, simulated))
    return tuple(graph for graph in graphs if graph is not None)


def _heat(found: Results, title: str, simulated: bool) -> HeatMap:
    """Set-ups and workloads, the longer side down."""
    turned = len(found.columns) > len(found.rows)
    down, across = (found.columns, found.rows) if turned else (found.rows, found.columns)
    cells = [[found.at(other, one) if turned else found.at(one, other) for other in across] for one in down]
    return HeatMap(
        key="sweep-heat",
        title=f"{_TITLES[found.rank]} of every combination",
        about=f"{title}. Means of the runs; the colour is the share of the best of the same workload.",
        rows=down,
        columns=across,
        cells=tuple(tuple(None if one is None else one.value for one in line) for line in cells),
        texts=tuple(tuple(_text(one, found.rank) for one in line) for line in cells),
        along_rows=turned,
        lower_is_better=found.rank is Rank.P99,
        simulated=simulated,
    )


def _curves(found: Results, title: str, simulated: bool) -> list[Graph | None]:
    """The figure and the latency over the one field of the job that takes numbers; nothing if there is none."""
    field = _field(found)
    if field is None:
        return []
    lines = _lines(found)
    kept = {name: line for name, line in lines.items() if len(line) > 2}
    if not kept or len(kept) > _MOST_LINES:
        return []
    values = sorted({_number(one.cell.job[field]) for line in kept.values() for one in line})
    wide = values[0] > 0 and values[-1] / values[0] > 10
    unit = Unit.BYTES if field == "bs" else Unit.NUMBER
    x = Axis(label=field, unit=unit, spacing=Spacing.LOG if wide else Spacing.LINEAR, at=tuple(values))
    figure = Axis(label=_TITLES[found.rank], unit=_UNITS[found.rank])
    latency = Axis(label="p99 of the completion latency", unit=Unit.LATENCY, spacing=Spacing.LOG)
    made: list[Graph | None] = []
    for key, y, read in (("figure", figure, _value), ("p99", latency, _p99)):
        if key == "p99" and found.rank is Rank.P99:
            continue
        series = tuple(
            Series(
                name=name or line[0].cell.row,
                points=tuple(sorted((_number(one.cell.job[field]), read(one)) for one in line)),
                measured=True,
            )
            for name, line in kept.items()
        )
        if any(y is not None for each in series for _, y in each.points):
            made.append(
                LineGraph(
                    key=f"sweep-{key}",
                    title=f"{y.label} by {field}",
                    about=f"{title}. Means of the runs of each cell.",
                    x=x,
                    y=y,
                    series=series,
                    simulated=simulated,
                )
            )
    return made


def _field(found: Results) -> str | None:
    """The field of the job that takes at least three numbers; None if there is none."""
    jobs = [one.cell.job for one in found.cells]
    return next((key for key in ("iodepth", "bs", "numjobs", "rwmixread") if _numeric(key, jobs)), None)


def _lines(found: Results) -> dict[str, list[CellResult]]:
    """Cells that differ in that field only, by what else they are; all alone if there is no such field."""
    field = _field(found)
    lines: dict[str, list[CellResult]] = {}
    for one in found.cells:
        own = "" if field is None else f"{field}={one.cell.job.get(field, '')}"
        rest = [part for part in one.cell.column.split(", ") if part != own]
        row = [one.cell.row] if len(found.rows) > 1 else []
        lines.setdefault(", ".join((*row, *rest)) if field is not None else "", []).append(one)
    return lines


def _rest(one: CellResult, found: Results) -> str:
    """What a cell is beside the name of its line."""
    field = _field(found)
    return one.cell.column if field is None else f"{field}={one.cell.job.get(field, '')}"


def _intervals(found: Results, title: str, simulated: bool) -> IntervalGraph | None:
    rows = []
    for one in found.cells[:_MOST_ROWS]:
        seen = one.figure
        if seen is None:
            continue
        half = seen.half
        low, high = (None, None) if half is None else (max(0.0, seen.mean - half), seen.mean + half)
        shown = _figure(seen.mean, found.rank)
        share = f" ±{units.percent(half / seen.mean * 100)}" if half is not None and seen.mean else ""
        text = f"{shown}{share}  n={seen.n}"
        name = one.cell.column if len(found.rows) == 1 else one.cell.row
        rows.append(Whisker(label=name, mean=seen.mean, low=low, high=high, text=text))
    if len(rows) < 2:
        return None
    return IntervalGraph(
        key="sweep-intervals",
        title=f"{_TITLES[found.rank]} with 95 % intervals",
        about=f"{title}. Means of the runs of each cell and how far they may be off.",
        axis=Axis(label=_TITLES[found.rank], unit=_UNITS[found.rank]),
        rows=tuple(rows),
        simulated=simulated,
    )


def _value(one: CellResult) -> float | None:
    return one.value


def _p99(one: CellResult) -> float | None:
    return one.p99_ns


def _numeric(key: str, jobs: Sequence[dict[str, str]]) -> bool:
    """Whether a field has three different numbers at least."""
    texts = {job.get(key, "") for job in jobs}
    return len(texts) > 2 and all(_number(text) > 0 for text in texts)


def _number(text: str) -> float:
    """A size or count as a number; 0 for what is none."""
    try:
        return float(parse_size(text))
    except InvalidValueError:
        return 0.0


def _name(found: Results, one: CellResult) -> str:
    return one.cell.column if len(found.rows) == 1 else f"{one.cell.row}, {one.cell.column}"


def _figure(value: float | None, rank: Rank) -> str:
    match rank:
        case Rank.IOPS:
            return units.iops(value)
        case Rank.BANDWIDTH:
            return units.mib_per_s(value)
        case Rank.P99:
            return units.latency(value)


def _text(one: CellResult | None, rank: Rank) -> str:
    return units.NOTHING if one is None else _figure(one.value, rank)
