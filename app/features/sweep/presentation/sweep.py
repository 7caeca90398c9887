"""What is told of a sweep that runs or ran: the matrix, the ranking, what was found, how it stands. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.presentation.comparison import verdict_sign, verdict_tone
from app.core.presentation.percent import interval_text
from app.core.presentation.table import Align, Cell, Column, Row, Table, Tone
from app.core.presentation.verdict_text import judgement_word, no_sign_words, reason_words, verdict_word, weakened_words
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Rank, SweepCell
from app.features.sweep.engine.cells import CellResult
from app.features.sweep.engine.results import Results
from backends.values import dataclass
from widgets.text_utils import units
from widgets.text_utils.symbols import BASELINE, BUSY, FAILED, LESS, MORE, SAME, UNKNOWN

RANK_TITLES = {Rank.IOPS: "IOPS", Rank.BANDWIDTH: "MiB/s", Rank.P99: "p99"}
"""What a sweep is ranked by."""

NOT_IN_TURN = "*"
"""Marks a verdict on runs that could not be made in turn."""


def alone(record: SweepRecord) -> bool:
    """Whether a sweep is a search or a curve of a single cell: then there is no matrix to look at."""
    return record.design.saturation is not None and len(record.design.cells) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPlace:
    """A place of the matrix."""

    text: str
    """Its figure, or why there is none."""
    level: float | None = None
    """Its figure by the largest that it is compared with: see `scale_words`; None without one."""
    sign: str = " "
    """One character for how it stands: see `legend`."""
    tone: Tone = Tone.PLAIN
    """What the sign means."""
    leads: bool = False
    """Whether it is the best of its workload, or cannot be told from it."""
    running: bool = False
    """Whether it is being measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixView:
    """Set-ups against workloads, the longer side down."""

    corner: str
    """What the figures are."""
    down: tuple[str, ...]
    """Headings of the rows."""
    across: tuple[str, ...]
    """Headings of the columns."""
    places: tuple[tuple[MatrixPlace, ...], ...]
    """A tuple for every row, with a place for every column."""


def figure_text(value: float | None, rank: Rank) -> str:
    """What cells are ranked by, in its unit."""
    match rank:
        case Rank.IOPS:
            return units.iops(value)
        case Rank.BANDWIDTH:
            return units.mib_per_s(value)
        case Rank.P99:
            return units.latency(value)


def legend(rank: Rank) -> str:
    """What the signs of the matrix mean."""
    more, less = (Verdict.HIGHER, Verdict.LOWER) if rank is Rank.P99 else (Verdict.FASTER, Verdict.SLOWER)
    signs = {MORE: more, LESS: less, SAME: Verdict.NO_DIFFERENCE, UNKNOWN: Verdict.NOT_DECIDED}
    shown = {sign: verdict_word(verdict) for sign, verdict in signs.items()}
    shown |= {BASELINE: "baseline", BUSY: "now", FAILED: "failed"}
    return ", ".join(f"{sign.char} {words}" for sign, words in shown.items())


def turned(found: Results) -> bool:
    """Whether workloads go down and set-ups across: the longer side goes down."""
    return len(found.columns) > len(found.rows)


def matrix(record: SweepRecord, found: Results) -> MatrixView:
    """A figure where there is one, else why there is none."""
    down, across = (found.columns, found.rows) if turned(found) else (found.rows, found.columns)
    best: dict[str, float] = {}
    for one in found.cells:
        best[_scale_of(found, one)] = max(best.get(_scale_of(found, one), 0.0), one.value or 0.0)
    known, baselines, done = (
        {(result.cell.row, result.cell.column): result for result in found.cells},
        found.baselines,
        _done(record),
    )
    running = None if record.current is None else record.current.step.cell
    leading = frozenset(one for line in found.leaders for one in line)

    def place(side: str, head: str) -> MatrixPlace:
        one = known.get(_setup_and_workload(found, side, head))
        if one is None:
            return MatrixPlace(text=units.NOTHING, tone=Tone.DIM)
        sign, tone = _sign(one, baselines)
        if one.cell.id == running:
            sign, tone = BUSY.char, Tone.ACCENT
        if one.value is not None:
            most = best[_scale_of(found, one)]
            return MatrixPlace(
                text=figure_text(one.value, found.rank),
                level=one.value / most if most else None,
                sign=sign,
                tone=tone,
                leads=one.cell.id in leading,
                running=one.cell.id == running,
            )
        if one.failures:
            return MatrixPlace(text="failed", sign=FAILED.char, tone=Tone.BAD)
        if one.cell.id == running:
            return MatrixPlace(text="now", sign=sign, tone=tone, running=True)
        return MatrixPlace(text=f"{done[one.cell.id]}/{record.design.repeats}", sign=sign, tone=Tone.DIM)

    places = tuple(tuple(place(side, head) for head in across) for side in down)
    return MatrixView(corner=RANK_TITLES[found.rank], down=down, across=across, places=places)


def _scale_of(found: Results, one: CellResult) -> str:
    """What shares a scale: the set-ups of a workload; where there is one set-up, all workloads."""
    return "" if len(found.rows) == 1 else one.cell.column


def scale_words(found: Results) -> str:
    """What the strongest shade and the highest bar are, and what a frame means."""
    whole = "the largest" if len(found.rows) == 1 else "the largest of its workload"
    return f"{whole}; [ ] best, or not told from it"


def _done(record: SweepRecord) -> Counter[str]:
    """Completed runs by cell."""
    cells = {step.number: step.cell for step in record.steps}
    return Counter(cells[end.step] for end in record.ended if end.run is not None and not end.again)


def matrix_table(record: SweepRecord, found: Results) -> Table | None:
    """The matrix in figures; None where one of its sides is a single one."""
    if min(len(found.rows), len(found.columns)) < 2:
        return None
    shown = matrix(record, found)
    heads = (Column(title=head, align=Align.RIGHT) for head in shown.across)
    return Table(
        columns=(Column(title=shown.corner, shrinks=True), *heads),
        rows=tuple(
            Row(cells=(name, *(place.text for place in places)))
            for name, places in zip(shown.down, shown.places, strict=True)
        ),
    )


def names_at(found: Results, row: int, column: int) -> tuple[str, str]:
    """Set-up and workload of a place of the matrix; "" beyond its edges."""
    down, across = (found.columns, found.rows) if turned(found) else (found.rows, found.columns)
    side, head = (names[at] if at < len(names) else "" for names, at in ((down, row), (across, column)))
    return _setup_and_workload(found, side, head)


def _setup_and_workload(found: Results, side: str, head: str) -> tuple[str, str]:
    return (head, side) if turned(found) else (side, head)


def _sign(one: CellResult, baselines: Container[str]) -> tuple[str, Tone]:
    if one.failures:
        return FAILED.char, Tone.BAD
    if one.judgement is None:
        return (BASELINE.char, Tone.ACCENT) if one.cell.id in baselines else (" ", Tone.PLAIN)
    return verdict_sign(one.judgement) or UNKNOWN.char, verdict_tone(one.judgement)


def cell_name(found: Results, cell: SweepCell) -> str:
    """Set-up and workload, the workload alone where there is one set-up."""
    return cell.column if len(found.rows) == 1 else f"{cell.row}, {cell.column}"


def cell_words(found: Results, record: SweepRecord, one: CellResult) -> str:
    """A cell in two lines: what it is, what is known of it."""
    head = one.cell.row if one.cell.row == one.cell.column else f"{one.cell.row}; {one.cell.column}"
    parts = [f"{len(one.scores)} of {record.design.repeats} runs"]
    if one.value is not None:
        half = half_text(one)
        figure = f"{figure_text(one.value, found.rank)} {RANK_TITLES[found.rank]}"
        parts.append(f"{figure} +- {half}" if half else figure)
        parts.append(f"p99 {_p99(one)}")
    if one.judgement is not None:
        parts.append(verdict_words(one.judgement))
    return "\n".join([head, " · ".join([*parts, *one.failures[:1], *cell_notes(one)[:1]])])


def cell_notes(one: CellResult) -> tuple[str, ...]:
    """Why a cell has no verdict, what was in force otherwise than set, what weakens a verdict."""
    judgement, caveats = one.judgement, weakened_words(one.weakened)
    refused = judgement is not None and judgement.verdict is Verdict.REFUSED
    return (
        *((f"verdict refused: {reason_words(judgement)}",) if judgement is not None and refused else ()),
        *filter(None, (no_sign_words(judgement),)),
        *one.notes,
        *((f"caveats: {caveats}",) if caveats else ()),
    )


def why_left_out(record: SweepRecord, setup: str, workload: str) -> str:
    """Why a combination is not measured, in two lines."""
    reasons = [one.reason for one in record.design.skipped if (one.row, one.column) == (setup, workload)]
    return f"{setup}; {workload}\nleft out: {' '.join(reasons) or 'not in the plan'}"


def half_text(one: CellResult) -> str:
    """Half the interval of the mean in percent of it; "" when there is none."""
    seen = one.figure
    if seen is None or seen.half is None or not seen.mean:
        return ""
    return f"{seen.half / seen.mean * 100:.1f} %"


def verdict_words(judgement: VerdictResult) -> str:
    """The verdict and its interval; a mark where the runs could not be made in turn."""
    mark = "" if judgement.interleaved or judgement.interval is None else NOT_IN_TURN
    shown = "" if judgement.interval is None else interval_text(judgement.interval)
    return f"{judgement_word(judgement)}{mark} {shown}".rstrip()


def rankings(found: Results) -> Iterator[Table]:
    """A ranking of each workload in which something was measured; of a single set-up one of all its workloads."""
    if len(found.cells) == 1 and found.saturated:
        return  # what leads where there is one thing says nothing; its search or curve does
    for column in found.columns[:1] if len(found.rows) == 1 else found.columns:
        ranked = ranking(found, column)
        if ranked.rows:
            yield ranked


def ranking(found: Results, column: str) -> Table:
    """The measured cells of a workload, best first; of a single set-up all its workloads."""
    alone = len(found.rows) == 1
    listed = found.best_first(found.cells) if alone else found.ranking(column)
    columns = (
        Column(title="", key="place", align=Align.RIGHT),
        Column(title="Workload" if alone else f"Set-up, {column}", key="what", shrinks=True),
        Column(title="n", key="n", align=Align.RIGHT, priority=4),
        Column(title=RANK_TITLES[found.rank], key="figure", align=Align.RIGHT),
        Column(title="+-", key="half", align=Align.RIGHT, priority=2),
        Column(title="Latency", key="mean", align=Align.RIGHT, priority=3),
        Column(title="p99", key="p99", align=Align.RIGHT, priority=1),
        Column(title="Against its baseline", key="verdict"),
    )
    baselines, tied = found.baselines, _tied(found)
    rows = tuple(
        _ranked(found, "1=" if one.cell.id in tied else str(place), one, baselines)
        for place, one in enumerate(listed, 1)
    )
    return Table(columns=columns, rows=rows)


def _tied(found: Results) -> frozenset[str]:
    """Cells that share the first place, by id."""
    return frozenset(one for line in found.leaders if len(line) > 1 for one in line)


def _ranked(found: Results, place: str, one: CellResult, baselines: Container[str]) -> Row:
    words = "baseline" if one.cell.id in baselines else ""
    return Row(
        key=one.cell.id,
        cells=(
            place,
            one.cell.column if len(found.rows) == 1 else one.cell.row,
            str(len(one.scores)),
            figure_text(one.value, found.rank),
            half_text(one) or units.NOTHING,
            units.latency(one.mean_ns),
            _p99(one),
            Cell(words if one.judgement is None else verdict_words(one.judgement), _sign(one, baselines)[1]),
        ),
    )


def _p99(one: CellResult) -> str:
    return units.latency(one.p99_ns) if one.p99_ns else "too few I/Os"
