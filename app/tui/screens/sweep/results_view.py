"""A sweep that runs or ran, as the Sweep screen shows it: the matrix, its cells, the ranking, how far it is. Pure."""

from __future__ import annotations

from app.engine.judge.verdict import Judgement, Verdict
from app.engine.session.state import Session
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Rank, SweepResult
from app.engine.sweep.estimate import seconds_left
from app.engine.sweep.results import CellResult, Results
from app.tui.screens.sweep.plan_view import left_out
from widgets.bars import Progress
from widgets.details import Fact, FactGroup
from widgets.keyed_table import Cell, Column, Row
from widgets.matrix import Grid, MatrixCell
from widgets.plain import units
from widgets.table_layout import Tone

TITLES = {Rank.IOPS: "IOPS", Rank.BANDWIDTH: "MiB/s", Rank.P99: "p99"}
"""What the figures of the matrix are."""

_SIGNS: dict[Verdict, tuple[str, Tone]] = {
    Verdict.FASTER: ("+", "good"),
    Verdict.LOWER: ("+", "good"),
    Verdict.SLOWER: ("-", "bad"),
    Verdict.HIGHER: ("-", "bad"),
    Verdict.NO_DIFFERENCE: ("=", "muted"),
}
LEGEND = "+ faster  - slower  = no difference  ? not decided  b base  > now  ! failed"
"""What the signs of the matrix mean."""

RANKING_COLUMNS = (
    Column(key="place", label="", align="right"),
    Column(key="what", label="Set-up"),
    Column(key="figure", label="", align="decimal"),
    Column(key="half", label="+-", align="decimal", priority=2),
    Column(key="mean", label="Latency", align="decimal", priority=3),
    Column(key="p99", label="p99", align="decimal", priority=1),
    Column(key="verdict", label="Against its baseline"),
)


def figure(value: float | None, rank: Rank) -> str:
    """What cells are ranked by, in its unit."""
    match rank:
        case Rank.IOPS:
            return units.iops(value)
        case Rank.BANDWIDTH:
            return units.mib_per_s(value)
        case Rank.P99:
            return units.latency(value)


def turned(found: Results) -> bool:
    """Whether workloads go down and set-ups across: the longer side goes down."""
    return len(found.columns) > len(found.rows)


def grid(record: SweepRecord, found: Results) -> Grid:
    """The matrix: a figure where there is one, else why there is none."""
    down, across = (found.columns, found.rows) if turned(found) else (found.rows, found.columns)
    best = {column: _best(found, column) for column in found.columns}
    compared = {one.cell.against for one in found.cells}
    running = record.current.step.cell if record.current is not None else None
    done = _runs(record)

    def cell(side: str, head: str) -> MatrixCell:
        row, column = (head, side) if turned(found) else (side, head)
        one = found.at(row, column)
        if one is None:
            return MatrixCell(text="-", tone="muted")
        return _cell(one, found.rank, best[column], one.cell.id in compared, running, done, record.design.repeats)

    return Grid(
        corner=TITLES[found.rank],
        columns=across,
        rows=down,
        cells=tuple(tuple(cell(side, head) for head in across) for side in down),
    )


def names_at(found: Results, row: int, column: int) -> tuple[str, str]:
    """Set-up and workload of a place of the matrix; "" beyond its edges."""
    down, across = (found.columns, found.rows) if turned(found) else (found.rows, found.columns)
    side, head = (names[at] if at < len(names) else "" for names, at in ((down, row), (across, column)))
    return (head, side) if turned(found) else (side, head)


def why_left_out(record: SweepRecord, setup: str, workload: str) -> str:
    """Why a combination is not measured, in two lines."""
    reasons = [one.reason for one in record.design.skipped if (one.row, one.column) == (setup, workload)]
    return f"{setup}; {workload}\nleft out: {' '.join(reasons) or 'not in the plan'}"


def _runs(record: SweepRecord) -> dict[str, int]:
    """Completed runs by cell."""
    counts: dict[str, int] = {}
    cells = {step.number: step.cell for step in record.steps}
    for end in record.ended:
        if end.run is not None:
            counts[cells[end.step]] = counts.get(cells[end.step], 0) + 1
    return counts


def _best(found: Results, column: str) -> float | None:
    values = [one.value for one in found.cells if one.cell.column == column and one.value]
    return max(values, default=None)


def _cell(
    one: CellResult,
    rank: Rank,
    best: float | None,
    compared: bool,
    running: str | None,
    done: dict[str, int],
    repeats: int,
) -> MatrixCell:
    sign, tone = _sign(one, compared)
    if one.cell.id == running:
        sign, tone = ">", "accent"
    if one.value is None:
        if one.failures:
            return MatrixCell(text="failed", sign="!", tone="bad")
        told = "now" if one.cell.id == running else f"{done.get(one.cell.id, 0)}/{repeats}"
        return MatrixCell(text=told, sign=sign, tone="accent" if one.cell.id == running else "muted")
    level = one.value / best if best else None
    return MatrixCell(text=figure(one.value, rank), level=level, sign=sign, tone=tone)


def _sign(one: CellResult, compared: bool) -> tuple[str, Tone]:
    if one.failures:
        return "!", "bad"
    if one.judgement is None:
        return ("b", "accent") if compared else (" ", "")
    return _SIGNS.get(one.judgement.verdict, ("?", "muted"))


def cell_words(one: CellResult, record: SweepRecord, rank: Rank) -> str:
    """The cell under the cursor in two lines: what it is, what is known of it."""
    head = one.cell.row if one.cell.row == one.cell.column else f"{one.cell.row}; {one.cell.column}"
    parts = [f"{len(one.scores)} of {record.design.repeats} runs"]
    if one.value is not None:
        parts.append(f"{figure(one.value, rank)} {TITLES[rank]}{half(one, ' +- ')}")
        parts.append(f"p99 {units.latency(one.p99_ns) if one.p99_ns else 'too few I/Os'}")
    if one.judgement is not None:
        parts.append(verdict_words(one.judgement))
    return "\n".join([head, " · ".join([*parts, *one.failures[:1], *one.notes[:1]])])


def half(one: CellResult, before: str = "") -> str:
    """Half the interval of the mean in percent of it; "" when there is none."""
    seen = one.figure
    if seen is None or seen.half is None or not seen.mean:
        return ""
    return f"{before}{seen.half / seen.mean * 100:.1f} %"


def verdict_words(judgement: Judgement) -> str:
    """The verdict and its interval; a mark where the runs could not be made in turn."""
    shown = "" if judgement.interval is None else str(judgement.interval)
    mark = "" if judgement.interleaved or judgement.interval is None else "*"
    return f"{judgement.word}{mark} {shown}".rstrip()


def ranking(found: Results, column: str) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """The measured cells of a workload, best first; of a single set-up all its workloads."""
    alone = len(found.rows) == 1
    listed = [one for one in found.cells if one.value is not None] if alone else list(found.ranking(column))
    if alone:
        listed.sort(key=lambda one: one.value or 0.0, reverse=found.rank is not Rank.P99)
    compared = {one.cell.against for one in found.cells}
    columns = tuple(
        Column(
            key=each.key,
            label={"figure": TITLES[found.rank], "what": "Workload" if alone else f"Set-up, {column}"}.get(
                each.key, each.label
            ),
            align=each.align,
            priority=each.priority,
        )
        for each in RANKING_COLUMNS
    )
    rows = tuple(_ranked(at, one, found.rank, alone, one.cell.id in compared) for at, one in enumerate(listed, 1))
    return columns, rows


def _ranked(at: int, one: CellResult, rank: Rank, alone: bool, compared: bool) -> Row:
    _, tone = _sign(one, compared)
    words = "baseline" if compared else ""
    if one.judgement is not None:
        words = verdict_words(one.judgement)
    return Row(
        key=one.cell.id,
        cells=(
            str(at),
            one.cell.column if alone else one.cell.row,
            figure(one.value, rank),
            half(one) or "-",
            units.latency(one.mean_ns),
            units.latency(one.p99_ns) if one.p99_ns else "too few",
            Cell(text=words, tone=tone),
        ),
    )


def findings(record: SweepRecord, found: Results) -> tuple[FactGroup, ...]:
    """What was confirmed, what nothing beats, how far load can go; what failed and what was left out."""
    groups = []
    confirmed = tuple(
        Fact(
            label="",
            value=f"{one.winner.row} against {one.baseline.row}, {one.winner.column}: "
            + (
                f"{units.plural(one.pairs, 'pair')} so far"
                if one.judgement is None
                else f"{verdict_words(one.judgement)} in {units.plural(one.pairs, 'fresh pair')}"
            ),
            tone="" if one.judgement is None else _SIGNS.get(one.judgement.verdict, ("?", ""))[1],
        )
        for one in found.confirmations
    )
    if confirmed:
        groups.append(FactGroup(heading="Confirmed", facts=confirmed))
    known = {one.cell.id: one for one in found.cells}
    if len(found.front) > 1:
        front = tuple(
            Fact(
                label="",
                value=f"{known[name].cell.row}, {known[name].cell.column}: {units.iops(known[name].iops)} IOPS, "
                f"p99 {units.latency(known[name].p99_ns)}",
            )
            for name in found.front
        )
        groups.append(FactGroup(heading="No other cell has more IOPS at a lower p99", facts=front))
    limit = record.design.saturation
    for one in found.saturated:
        best = (
            "no depth that was tried keeps it"
            if one.best is None
            else f"depth {one.best.depth}: {units.iops(one.best.iops)} IOPS at p99 {units.latency(one.best.p99_ns)}"
        )
        what = f"p99 of at most {units.latency(limit.p99_ns)}" if limit is not None else "limit"
        groups.append(FactGroup(heading=f"Most IOPS, {what}", facts=(Fact(label="", value=f"{one.cell.row}: {best}"),)))
    failed = tuple(
        Fact(label="", value=f"{one.cell.row}, {one.cell.column}: {reason}", tone="bad")
        for one in found.cells
        for reason in one.failures
    )
    if failed:
        groups.append(FactGroup(heading="Failed", facts=failed))
    if record.design.skipped:
        groups.append(FactGroup(heading="Left out", facts=left_out(record.design)))
    if any(one.judgement is not None and not one.judgement.interleaved for one in found.cells):
        note = "* not interleaved (an array made anew, a restart): below 5 % nothing counts."
        groups.append(FactGroup(facts=(Fact(label="", value=note, tone="muted"),)))
    return tuple(groups)


def left_seconds(record: SweepRecord, now: float, speed: float) -> float:
    """Time to its end; until a step is over nobody knows how fast a simulation really is."""
    return seconds_left(record, now) / (1.0 if record.ended else speed)


def whole(record: SweepRecord, now: float, speed: float = 1.0) -> Progress:
    """How far the sweep is, and how long it will still take. `speed`: that of a simulation."""
    at = record.current.step.number if record.current is not None else record.done
    left = left_seconds(record, now, speed)
    return Progress(
        phase=f"step {at} of {len(record.steps)}",
        fraction=record.done / len(record.steps) if record.steps else None,
        eta=left,
    )


def short(record: SweepRecord, now: float, speed: float = 1.0) -> str:
    """A running sweep in the header of every screen: `sweep 12/48 ETA 20 min`."""
    at = record.current.step.number if record.current is not None else record.done
    return f"sweep {at}/{len(record.steps)} ETA {units.duration(round(left_seconds(record, now, speed)))}"


def state_words(record: SweepRecord, *, running: bool, stopping: bool = False) -> tuple[str, Tone]:
    """How it stands, in a sentence, and how that is."""
    end = record.end
    done = f"{record.done} of {units.plural(len(record.steps), 'step')}"
    if running:
        if stopping:
            return f"STOPPING after {done}: the settings are put back first", "warning"
        step = record.current
        if step is None:
            return f"RUNNING, {done} done: settings are being put back, or more steps planned", "accent"
        cell = record.cell(step.step.cell)
        return f"RUNNING step {step.step.number}: {cell.row}; {cell.column}, {step.step.purpose}", "accent"
    if end is None:
        return f"CUT SHORT after {done}: its settings may still stand; c goes on", "bad"
    if end.left:
        return f"{end.result.upper()}: NOT ALL SETTINGS ARE AS BEFORE: {' '.join(end.left)}", "bad"
    back = "the settings are as before"
    if end.result is SweepResult.FINISHED:
        return f"FINISHED: {units.plural(len(record.steps), 'step')}; {back}", "good"
    go_on = " c goes on." if record.todo else ""
    return f"{end.result.upper()} after {done}; {back}. {end.reason}{go_on}", "warning"


def title_words(session: Session, record: SweepRecord) -> str:
    """Title, target and session."""
    targets = ", ".join(dict.fromkeys(record.design.targets.values()))
    title = record.design.title
    on = "" if all(each in title for each in record.design.targets.values()) else f" on {targets}"
    return f"{title}{on} ({session.id})"
