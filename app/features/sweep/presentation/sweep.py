"""The results of a sweep as tables and text: matrix, ranking and single cells. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.presentation.comparison import verdict_sign, verdict_tone
from app.core.presentation.percent import interval_text
from app.core.presentation.table import Align, Cell, Column, Row, Table, Tone
from app.core.presentation.verdict_text import judgement_word, no_sign_text, reason_text, verdict_word, weakened_text
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Rank, SweepCell
from app.features.sweep.engine.cells import CellResult
from app.features.sweep.engine.results import Results
from backends.values import dataclass
from widgets.text_utils import units
from widgets.text_utils.symbols import BASELINE, BUSY, FAILED, LESS, MORE, SAME, UNKNOWN

RANK_TITLES = {Rank.IOPS: "IOPS", Rank.BANDWIDTH: "MiB/s", Rank.P99: "p99"}
"""Title of each ranking metric."""

NOT_IN_TURN = "*"
"""Character that marks a verdict on runs that could not be interleaved."""


def is_single_cell(record: SweepRecord) -> bool:
    """Return whether a sweep is a search or a curve of one cell, and so has no matrix."""
    return record.design.saturation is not None and len(record.design.cells) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPlace:
    """One place of the matrix, in a row and a column."""

    text: str
    """The result of its cell, or why there is none."""
    level: float | None = None
    """Result of its cell as a share (0 to 1) of the largest result on its scale (`_scale_of`); None without one."""
    sign: str = " "
    """One character for the verdict on its cell. `legend` explains the characters."""
    tone: Tone = Tone.PLAIN
    """Meaning of the sign, for which the renderer chooses a colour."""
    leads: bool = False
    """Whether its cell is the best of the workload, or cannot be distinguished from the best."""
    running: bool = False
    """Whether its cell is being measured now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixView:
    """The matrix of set-ups and workloads. The rows are whichever of the two there are more of."""

    corner: str
    """Title of the ranking metric, for the top left corner."""
    down: tuple[str, ...]
    """Titles of the rows."""
    across: tuple[str, ...]
    """Titles of the columns."""
    places: tuple[tuple[MatrixPlace, ...], ...]
    """A tuple for every row, with a place for every column."""


def figure_text(value: float | None, rank: Rank) -> str:
    """Return a value of the ranking metric with its unit."""
    match rank:
        case Rank.IOPS:
            return units.iops(value)
        case Rank.BANDWIDTH:
            return units.mib_per_s(value)
        case Rank.P99:
            return units.latency(value)


def legend(rank: Rank) -> str:
    """Return an explanation of the signs in the matrix."""
    more, less = (Verdict.HIGHER, Verdict.LOWER) if rank is Rank.P99 else (Verdict.FASTER, Verdict.SLOWER)
    signs = {MORE: more, LESS: less, SAME: Verdict.NO_DIFFERENCE, UNKNOWN: Verdict.NOT_DECIDED}
    shown = {sign: verdict_word(verdict) for sign, verdict in signs.items()}
    shown |= {BASELINE: "baseline", BUSY: "now", FAILED: "failed"}
    return ", ".join(f"{sign.char} {text}" for sign, text in shown.items())


def workloads_go_down(results: Results) -> bool:
    """Return whether workloads are the rows of the matrix, because there are more workloads than set-ups."""
    return len(results.columns) > len(results.rows)


def matrix(record: SweepRecord, results: Results) -> MatrixView:
    """Return the matrix. Each place has its result, or the reason why there is none."""
    down, across = (results.columns, results.rows) if workloads_go_down(results) else (results.rows, results.columns)
    best: dict[str, float] = {}
    for cell_result in results.cells:
        scale = _scale_of(results, cell_result)
        best[scale] = max(best.get(scale, 0.0), cell_result.value or 0.0)
    by_place = {(result.cell.row, result.cell.column): result for result in results.cells}
    baselines, done = results.baselines, _completed_runs(record)
    running = None if record.current is None else record.current.step.cell
    leading = frozenset(name for line in results.leaders for name in line)

    def place(side: str, head: str) -> MatrixPlace:
        cell_result = by_place.get(_setup_and_workload(results, side, head))
        if cell_result is None:
            return MatrixPlace(text=units.NOTHING, tone=Tone.DIM)
        sign, tone = _sign(cell_result, baselines)
        if cell_result.cell.id == running:
            sign, tone = BUSY.char, Tone.ACCENT
        if cell_result.value is not None:
            most = best[_scale_of(results, cell_result)]
            return MatrixPlace(
                text=figure_text(cell_result.value, results.rank),
                level=cell_result.value / most if most else None,
                sign=sign,
                tone=tone,
                leads=cell_result.cell.id in leading,
                running=cell_result.cell.id == running,
            )
        if cell_result.failures:
            return MatrixPlace(text="failed", sign=FAILED.char, tone=Tone.BAD)
        if cell_result.cell.id == running:
            return MatrixPlace(text="now", sign=sign, tone=tone, running=True)
        return MatrixPlace(text=f"{done[cell_result.cell.id]}/{record.design.repeats}", sign=sign, tone=Tone.DIM)

    places = tuple(tuple(place(side, head) for head in across) for side in down)
    return MatrixView(corner=RANK_TITLES[results.rank], down=down, across=across, places=places)


def _scale_of(results: Results, cell_result: CellResult) -> str:
    """Return the key of a cell's scale.

    Each workload has its own scale. If the sweep has a single set-up, all cells share one scale.
    """
    return "" if len(results.rows) == 1 else cell_result.cell.column


def scale_text(results: Results) -> str:
    """Return an explanation of the strongest shade, the highest bar and the frame in the matrix."""
    largest = "the highest" if len(results.rows) == 1 else "the highest of its workload"
    return f"{largest}; [ ] best, or tied with it"


def _completed_runs(record: SweepRecord) -> Counter[str]:
    """Return the number of completed runs by cell id."""
    cells = {step.number: step.cell for step in record.steps}
    return Counter(cells[end.step] for end in record.ended if end.run is not None and not end.again)


def matrix_table(record: SweepRecord, results: Results) -> Table | None:
    """Return the matrix as a table; None if it has a single row or column."""
    if min(len(results.rows), len(results.columns)) < 2:
        return None
    shown = matrix(record, results)
    heads = (Column(title=head, align=Align.RIGHT) for head in shown.across)
    return Table(
        columns=(Column(title=shown.corner, shrinks=True), *heads),
        rows=tuple(
            Row(cells=(name, *(cell.text for cell in places)))
            for name, places in zip(shown.down, shown.places, strict=True)
        ),
    )


def names_at(results: Results, row: int, column: int) -> tuple[str, str]:
    """Return the names of the set-up and the workload at a place of the matrix; "" for an index beyond its edge."""
    down, across = (results.columns, results.rows) if workloads_go_down(results) else (results.rows, results.columns)
    side, head = (names[at] if at < len(names) else "" for names, at in ((down, row), (across, column)))
    return _setup_and_workload(results, side, head)


def _setup_and_workload(results: Results, side: str, head: str) -> tuple[str, str]:
    return (head, side) if workloads_go_down(results) else (side, head)


def _sign(cell_result: CellResult, baselines: Container[str]) -> tuple[str, Tone]:
    if cell_result.failures:
        return FAILED.char, Tone.BAD
    if cell_result.judgement is None:
        return (BASELINE.char, Tone.ACCENT) if cell_result.cell.id in baselines else (" ", Tone.PLAIN)
    return verdict_sign(cell_result.judgement) or UNKNOWN.char, verdict_tone(cell_result.judgement)


def cell_name(results: Results, cell: SweepCell) -> str:
    """Return the names of a cell's set-up and workload; only that of its workload if the sweep has a single set-up."""
    return cell.column if len(results.rows) == 1 else f"{cell.row}, {cell.column}"


def cell_text(results: Results, record: SweepRecord, cell_result: CellResult) -> str:
    """Return two lines about a cell: its name and its result."""
    cell = cell_result.cell
    head = cell.row if cell.row == cell.column else f"{cell.row}; {cell.column}"
    parts = [f"{len(cell_result.scores)} of {record.design.repeats} runs"]
    if cell_result.value is not None:
        half = half_interval_text(cell_result)
        figure = f"{figure_text(cell_result.value, results.rank)} {RANK_TITLES[results.rank]}"
        parts.append(f"{figure} +- {half}" if half else figure)
        parts.append(f"p99 {_p99(cell_result)}")
    if cell_result.judgement is not None:
        parts.append(judgement_text(cell_result.judgement))
    return "\n".join([head, " · ".join([*parts, *cell_result.failures[:1], *cell_notes(cell_result)[:1]])])


def cell_notes(cell_result: CellResult) -> tuple[str, ...]:
    """Return notes on a cell: why it has no verdict, which values were not effective, and its caveats."""
    judgement, caveats = cell_result.judgement, weakened_text(cell_result.weakened)
    refused = judgement is not None and judgement.verdict is Verdict.REFUSED
    return (
        *((f"verdict refused: {reason_text(judgement)}",) if judgement is not None and refused else ()),
        *filter(None, (no_sign_text(judgement),)),
        *cell_result.notes,
        *((f"caveats: {caveats}",) if caveats else ()),
    )


def left_out_text(record: SweepRecord, setup: str, workload: str) -> str:
    """Return two lines about a combination that is not measured: its name and the reason."""
    reasons = [cell.reason for cell in record.design.skipped if (cell.row, cell.column) == (setup, workload)]
    return f"{setup}; {workload}\nleft out: {' '.join(reasons) or 'not in the plan'}"


def half_interval_text(cell_result: CellResult) -> str:
    """Return half the width of the interval of a cell's mean, in percent; "" without an interval."""
    mean = cell_result.figure
    if mean is None or mean.half is None or not mean.mean:
        return ""
    return f"{mean.half / mean.mean * 100:.1f} %"


def judgement_text(judgement: VerdictResult) -> str:
    """Return a verdict and its interval as a string, with the mark `NOT_IN_TURN` if the runs were not interleaved."""
    mark = "" if judgement.interleaved or judgement.interval is None else NOT_IN_TURN
    shown = "" if judgement.interval is None else interval_text(judgement.interval)
    return f"{judgement_word(judgement)}{mark} {shown}".rstrip()


def rankings(results: Results) -> Iterator[Table]:
    """Yield a ranking table for each measured workload. With a single set-up, yield one table of all workloads."""
    if len(results.cells) == 1 and results.saturated:
        return  # a single cell needs no ranking; its search or curve is the result
    for column in results.columns[:1] if len(results.rows) == 1 else results.columns:
        ranked = ranking(results, column)
        if ranked.rows:
            yield ranked


def ranking(results: Results, column: str) -> Table:
    """Return a table of the measured cells of a workload, best first. With a single set-up, it has the cells of all
    workloads.
    """
    alone = len(results.rows) == 1
    listed = results.best_first(results.cells) if alone else results.ranking(column)
    columns = (
        Column(title="", key="place", align=Align.RIGHT),
        Column(title="Workload" if alone else f"Configuration, {column}", key="what", shrinks=True),
        Column(title="n", key="n", align=Align.RIGHT, priority=4),
        Column(title=RANK_TITLES[results.rank], key="figure", align=Align.RIGHT),
        Column(title="+-", key="half", align=Align.RIGHT, priority=2),
        Column(title="Latency", key="mean", align=Align.RIGHT, priority=3),
        Column(title="p99", key="p99", align=Align.RIGHT, priority=1),
        Column(title="Against its baseline", key="verdict"),
    )
    baselines = results.baselines
    tied = {name for line in results.leaders if len(line) > 1 for name in line}
    rows = tuple(
        _ranking_row(results, "1=" if cell_result.cell.id in tied else str(number), cell_result, baselines)
        for number, cell_result in enumerate(listed, 1)
    )
    return Table(columns=columns, rows=rows)


def _ranking_row(results: Results, number: str, cell_result: CellResult, baselines: Container[str]) -> Row:
    text = "baseline" if cell_result.cell.id in baselines else ""
    return Row(
        key=cell_result.cell.id,
        cells=(
            number,
            cell_result.cell.column if len(results.rows) == 1 else cell_result.cell.row,
            str(len(cell_result.scores)),
            figure_text(cell_result.value, results.rank),
            half_interval_text(cell_result) or units.NOTHING,
            units.latency(cell_result.mean_ns),
            _p99(cell_result),
            Cell(
                text if cell_result.judgement is None else judgement_text(cell_result.judgement),
                _sign(cell_result, baselines)[1],
            ),
        ),
    )


def _p99(cell_result: CellResult) -> str:
    return units.latency(cell_result.p99_ns) if cell_result.p99_ns else "too few I/Os"
