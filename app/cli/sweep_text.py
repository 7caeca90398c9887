"""A sweep in words and tables: what it will do, and what it found."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import groupby

from app.cli.devices_text import terminal_width
from app.cli.output import paint
from app.cli.tables import Align, Column, table
from app.engine.judge.verdict import Judgement
from app.engine.session.state import Session
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Cell, Design, Purpose, Rank, Step, StepResult
from app.engine.sweep.estimate import switches
from app.engine.sweep.results import CellResult, Results, Saturated
from app.engine.sweep.survey import Survey
from backends.text import clean
from widgets.plain import units

_NOT_IN_TURN = "*"
"""Marks a verdict on runs that could not be made in turn."""

_WIDE = 110
"""Cells of a terminal that has room for every column."""

_TITLES = {Rank.IOPS: "IOPS", Rank.BANDWIDTH: "MiB/s", Rank.P99: "p99"}


def plan_lines(surveyed: Survey, speed: float | None = None) -> list[str]:
    """What a sweep will do: cells, changes, order, what is lost, time; `speed` is that of a simulation."""
    design = surveyed.design
    rows = [paint(clean(design.title, 200), "bold"), ""]
    rows += [f"{role}: {address}" for role, address in design.targets.items()]
    rows += ["", *_cells(design), ""]
    rows += [*_left_out(design), ""] if design.skipped else []
    rows += [_times(one.setting.key, str(one.setting.target), one.times, one.setting.slow) for one in switches(design)]
    for feature in design.features:
        if not feature.active:
            how = "the simulated host restarts for it" if feature.key else "it needs a key and a restart on the way"
            rows.append(f"{feature.name} of {feature.target} is not active: {how}.")
    rows += [f"Before: {one.key} of {one.target} = {one.value}; put back at the end." for one in design.originals]
    rows += [f"Risk: {clean(sentence, 400)}" for sentence in surveyed.risks]
    for one in design.destroys:
        rows.append(paint(f"ALL DATA ON {one.device} WILL BE LOST.", "red"))
        rows += [f"  {clean(each, 300)}" for each in one.found]
    rows += [paint(f"Refused: {clean(sentence, 300)}", "red") for sentence in surveyed.refused]
    more = " and more to confirm a winner" if design.pairs else ""
    took = f"about {units.duration(design.seconds)}"
    if speed is not None:
        took += f", simulated {speed:g} times as fast"
    rows.append(f"{units.plural(len(design.steps), 'step')}{more}, {took}, seed {design.seed}.")
    return rows


def order_lines(design: Design) -> list[str]:
    """The order of the steps, block by block."""
    known = {cell.id: cell for cell in design.cells}
    rows = []
    for number, grouped in groupby(design.steps, key=lambda step: step.block):
        steps = list(grouped)
        rows.append(f"Block {number + 1}: {_what(steps, known)}")
        rows += [
            f"  {step.number:>4}  round {step.round}  {known[step.cell].row}, {known[step.cell].column}"
            + (f"  ({step.purpose})" if step.purpose is not Purpose.SCREEN else "")
            for step in steps
        ]
    return rows


def _what(steps: Sequence[Step], known: dict[str, Cell]) -> str:
    cell = known[steps[0].cell]
    slow = [f"{one.key}={one.value}" for one in cell.settings if one.slow]
    return ", ".join([units.plural(len(steps), "step"), *slow, *cell.needs])


def _cells(design: Design) -> list[str]:
    columns = list(dict.fromkeys(cell.column for cell in design.cells))
    there = {(cell.row, cell.column) for cell in design.cells}
    rows = list(dict.fromkeys(cell.row for cell in design.cells))
    if len(columns) > len(rows):  # the longer side goes down
        headed = (Column(title="Workload"), *(Column(title=row) for row in rows))
        body = [(one, *(_runs(design, (row, one) in there) for row in rows)) for one in columns]
    else:
        headed = (Column(title="Set-up"), *(Column(title=column) for column in columns))
        body = [(row, *(_runs(design, (row, one) in there) for one in columns)) for row in rows]
    return table(headed, body)


def _runs(design: Design, there: bool) -> str:
    return units.plural(design.repeats, "run") if there else "-"


def _times(key: str, target: str, times: int, slow: bool) -> str:
    how = " (the array is made anew, or a reshape)" if slow else ""
    return f"{key} of {target} changes {units.plural(times, 'time')}{how}."


def step_line(record: SweepRecord, session: Session) -> str:
    """The step that ended last, in one line."""
    ended = record.ended[-1]
    step = next(step for step in record.steps if step.number == ended.step)
    cell = record.cell(step.cell)
    what = f"{step.number}/{len(record.steps)}  {cell.row}, {cell.column}"
    run = session.run(ended.run) if ended.run else None
    if run is None or ended.result is not StepResult.DONE:
        return f"{what}: {ended.result}. {clean(ended.reason, 300)}".rstrip()
    parts = [
        f"{units.iops(direction.iops)} IOPS {name}"
        for name, direction in (("read", run.figures.read), ("write", run.figures.write))
        if direction is not None
    ]
    return f"{what}: {', '.join(parts)}"


def result_lines(record: SweepRecord, found: Results) -> list[str]:
    """What was found: the matrix, a ranking of each workload, the front, confirmations, searches."""
    rows: list[str] = []
    if len(found.rows) > 1 and len(found.columns) > 1:
        rows += [*_matrix(found), ""]
    if len(found.rows) == 1:
        rows += [*_ranking(found, [one for one in found.cells if one.value is not None], by_column=True), ""]
    else:
        for column in found.columns:
            ranked = found.ranking(column)
            if ranked:
                rows += [paint(column, "bold"), *_ranking(found, ranked, by_column=False), ""]
    rows += _compared(found)
    rows += _front(found)
    rows += _confirmed(found)
    for one in found.saturated:
        rows += _saturation(record, one)
    rows += [
        f"{one.cell.row}, {one.cell.column} failed: {clean(reason, 300)}"
        for one in found.cells
        for reason in one.failures
    ]
    noted = dict.fromkeys(f"{one.cell.row}: {clean(note, 300)}" for one in found.cells for note in one.notes)
    rows += list(noted)
    return [*rows, *_left_out(record.design)]


def _compared(found: Results) -> list[str]:
    """What stands against what where it is not plain, and what the mark of a verdict means."""
    rows_of = {one.cell.id: one.cell.row for one in found.cells}
    against: dict[str, dict[str, None]] = {}
    for one in found.cells:
        if one.cell.against is not None:
            against.setdefault(rows_of[one.cell.against], {})[one.cell.row] = None
    rows = [f"Compared with {baseline}: {'; '.join(others)}." for baseline, others in against.items()]
    told = rows if len(rows) > 1 else []
    if any(one.judgement is not None and not one.judgement.interleaved for one in found.cells):
        told.append(f"{_NOT_IN_TURN} not interleaved (an array made anew, a restart): below 5 % nothing counts.")
    return [*told, ""] if told else []


def _left_out(design: Design) -> list[str]:
    """Combinations that are not measured, those of one reason together."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for one in design.skipped:
        reasons.setdefault(one.reason, {}).setdefault(one.row, []).append(one.column)
    every = len({cell.column for cell in design.cells} | {one.column for one in design.skipped})
    return [
        f"Left out: {row}{'' if len(columns) == every else ', ' + ' and '.join(columns)}: {clean(reason, 300)}"
        for reason, found in reasons.items()
        for row, columns in found.items()
    ]


def _matrix(found: Results) -> list[str]:
    """Set-ups and workloads, the longer side down."""
    title = _TITLES[found.rank]
    if len(found.columns) > len(found.rows):
        heads, sides = found.rows, found.columns
        body = [(side, *(_shown(found.at(head, side), found.rank) for head in heads)) for side in sides]
    else:
        heads, sides = found.columns, found.rows
        body = [(side, *(_shown(found.at(side, head), found.rank) for head in heads)) for side in sides]
    return table(
        (Column(title=title, shrinks=True), *(Column(title=head, align=Align.POINT) for head in heads)),
        body,
        terminal_width(),
    )


def _figure(value: float | None, rank: Rank) -> str:
    match rank:
        case Rank.IOPS:
            return units.iops(value)
        case Rank.BANDWIDTH:
            return units.mib_per_s(value)
        case Rank.P99:
            return units.latency(value)


def _shown(one: CellResult | None, rank: Rank) -> str:
    return "-" if one is None else _figure(one.value, rank)


def _ranking(found: Results, ranked: Iterable[CellResult], *, by_column: bool) -> list[str]:
    width = terminal_width()
    wide = width is None or width >= _WIDE
    columns = (
        Column(title="Workload" if by_column else "Set-up", shrinks=True),
        Column(title=_TITLES[found.rank], align=Align.POINT),
        Column(title="+-", align=Align.POINT),
        *((Column(title="Latency", align=Align.POINT),) if wide else ()),
        Column(title="p99", align=Align.POINT),
        Column(title="Against its baseline"),
    )
    compared = {one.cell.against for one in found.cells}
    body = [
        (
            one.cell.column if by_column else one.cell.row,
            _figure(one.value, found.rank),
            _half(one),
            *((units.latency(one.mean_ns),) if wide else ()),
            units.latency(one.p99_ns),
            _verdict(one, compared),
        )
        for one in ranked
    ]
    return table(columns, body, width)


def _half(one: CellResult) -> str:
    """Half the interval of the mean, in percent of it."""
    figure = one.figure
    if figure is None or figure.half is None or not figure.mean:
        return "-"
    return f"{figure.half / figure.mean * 100:.1f} %"


def _interval(judgement: Judgement) -> str:
    return "" if judgement.interval is None else str(judgement.interval)


def _verdict(one: CellResult, compared: Container[str | None]) -> str:
    if one.judgement is None:
        return "baseline" if one.cell.id in compared else ""
    mark = "" if one.judgement.interleaved or one.judgement.interval is None else _NOT_IN_TURN
    return f"{one.judgement.word}{mark} {_interval(one.judgement)}".rstrip()


def _front(found: Results) -> list[str]:
    known = {one.cell.id: one for one in found.cells}
    if len(found.front) < 2:
        return []
    rows = ["No other cell has more IOPS at a lower p99 than these (Pareto):"]
    for cell_id in found.front:
        one = known[cell_id]
        name = ", ".join([one.cell.row, one.cell.column] if len(found.rows) > 1 else [one.cell.column])
        rows.append(f"  {name}: {units.iops(one.iops)} IOPS, p99 {units.latency(one.p99_ns)}")
    return [*rows, ""]


def _confirmed(found: Results) -> list[str]:
    rows = []
    for one in found.confirmations:
        what = f"{one.winner.row} against {one.baseline.row}, {one.winner.column}"
        if one.judgement is None:
            rows.append(f"Confirmation of {what}: {units.plural(one.pairs, 'pair')} so far.")
        else:
            shown = _interval(one.judgement)
            reason = f" ({one.judgement.reason})" if one.judgement.reason else ""
            word = one.judgement.word
            rows.append(f"Confirmed in {units.plural(one.pairs, 'fresh pair')}: {what}: {word} {shown}{reason}")
    return [*rows, ""] if rows else []


def _saturation(record: SweepRecord, one: Saturated) -> list[str]:
    limit = record.design.saturation
    assert limit is not None
    several = len({cell.row for cell in record.design.cells}) > 1
    rows = [f"Most IOPS{f' of {one.cell.row}' if several else ''} with a p99 of at most {units.latency(limit.p99_ns)}:"]
    columns = tuple(Column(title=title, align=Align.POINT) for title in ("Depth", "IOPS", "p99"))
    rows += table(
        columns, [(str(point.depth), units.iops(point.iops), units.latency(point.p99_ns)) for point in one.points]
    )
    if one.best is None:
        rows.append("No depth that was tried keeps it.")
    else:
        best = one.best
        rows.append(f"Depth {best.depth}: {units.iops(best.iops)} IOPS at p99 {units.latency(best.p99_ns)}.")
    return [*rows, ""]
