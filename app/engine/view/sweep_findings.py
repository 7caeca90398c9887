"""What a sweep found, in facts and sentences, and how it ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Design, SweepResult
from app.engine.sweep.curves import curve_place, curves
from app.engine.sweep.findings import ConfirmedWinner, Saturated
from app.engine.sweep.results import Results
from app.engine.view.comparison import verdict_tone
from app.engine.view.sweep import NOT_IN_TURN, RANK_TITLES, cell_name, figure_text, verdict_words
from app.engine.view.table import FactLine, Facts, Tone
from widgets.plain import units

_NOT_IN_TURN_NOTE = (
    f"{NOT_IN_TURN} not in turn (an array created again, a restart): held to what its baseline drifted by meanwhile."
)


def finding_facts(record: SweepRecord, found: Results) -> tuple[Facts, ...]:
    """What was confirmed, what nothing beats, how far load can go; what failed, what to note, what was left out."""
    groups = (
        Facts(heading="Measured again", facts=tuple(FactLine("", *_confirmed(one)) for one in found.confirmations)),
        Facts(heading="No other cell has more IOPS at a lower p99", facts=tuple(_front(found))),
        *(_saturation(record, found, one) for one in found.saturated),
        Facts(heading="Failed", facts=tuple(_failures(record, found))),
        Facts(heading="Notes", facts=_sentences(_notes(found))),
        Facts(heading="Compared", facts=_sentences(_baselines(found))),
        left_out(record.design),
    )
    return tuple(group for group in groups if group.facts)


def _sentences(texts: Iterable[str]) -> tuple[FactLine, ...]:
    return tuple(FactLine("", text) for text in dict.fromkeys(texts))


def _confirmed(one: ConfirmedWinner) -> tuple[str, Tone]:
    what = f"{one.winner.row} against {one.baseline.row}, {one.winner.column}"
    if one.judgement is None:
        return f"{what}: {units.plural(one.pairs, 'pair')} so far", Tone.PLAIN
    reason = f" ({one.judgement.reason})" if one.judgement.reason else ""
    shown = f"{verdict_words(one.judgement)} in {units.plural(one.pairs, 'fresh pair')}{reason}"
    return f"{what}: {shown}", verdict_tone(one.judgement)


def _front(found: Results) -> Iterator[FactLine]:
    known = {one.cell.id: one for one in found.cells}
    for one in (known[name] for name in found.front if len(found.front) > 1):
        yield FactLine(
            "", f"{cell_name(found, one.cell)}: {units.iops(one.iops)} IOPS, p99 {units.latency(one.p99_ns)}"
        )


def _saturation(record: SweepRecord, found: Results, one: Saturated) -> Facts:
    of = f" of {one.cell.row}" if len(found.rows) > 1 else ""
    tried = [
        FactLine(
            f"depth {point.depth}",
            f"{units.iops(point.iops)} IOPS, p99 {units.latency(point.p99_ns)}",
            Tone.GOOD if point == one.best else Tone.PLAIN,
        )
        for point in one.points
    ]
    none = FactLine("", "No depth that was tried keeps it.", Tone.ATTENTION)
    most = none if one.best is None else FactLine("most", f"at depth {one.best.depth}", Tone.GOOD)
    return Facts(heading=f"Most IOPS{of} {_within(record)}", facts=(*tried, most))


def _within(record: SweepRecord) -> str:
    limit = record.design.saturation
    return "" if limit is None else f"with a p99 of at most {units.latency(limit.p99_ns)}"


def _failures(record: SweepRecord, found: Results) -> Iterator[FactLine]:
    yield from (FactLine("", sentence, Tone.BAD) for sentence in record.damage)
    for one in found.cells:
        yield from (FactLine("", f"{cell_name(found, one.cell)}: {reason}", Tone.BAD) for reason in one.failures)


def _notes(found: Results) -> Iterator[str]:
    yield from (f"{one.cell.row}: {note}" for one in found.cells for note in one.notes)
    if any(one.judgement is not None and not one.judgement.interleaved for one in found.cells):
        yield _NOT_IN_TURN_NOTE


def _baselines(found: Results) -> Iterator[str]:
    """What stands against what, where there is more than one baseline."""
    rows_of = {one.cell.id: one.cell.row for one in found.cells}
    against: dict[str, dict[str, None]] = {}
    for one in found.cells:
        if one.cell.against is not None:
            against.setdefault(rows_of[one.cell.against], {})[one.cell.row] = None
    if len(against) > 1:
        yield from (f"With {baseline}: {'; '.join(others)}" for baseline, others in against.items())


def left_out(design: Design) -> Facts:
    """Combinations that are not measured, those of one set-up and one reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in design.skipped:
        reasons.setdefault((one.row, one.reason), []).append(one.column)
    every = len({cell.column for cell in design.cells} | {one.column for one in design.skipped})
    facts = tuple(
        FactLine("", f"{row}{'' if len(columns) == every else ', ' + ' and '.join(columns)}: {reason}", Tone.ATTENTION)
        for (row, reason), columns in reasons.items()
    )
    return Facts(heading="Left out", facts=facts)


def in_short(record: SweepRecord, found: Results) -> Iterator[str]:
    """The most important of it, a sentence each."""
    yield from _leaders(record, found)
    yield from (f"Measured again: {_confirmed(one)[0]}." for one in found.confirmations)
    for one in found.saturated:
        row = f"{one.cell.row}: " if len(found.rows) > 1 else ""
        best, within = one.best, _within(record)
        yield (
            f"{row}No depth that was tried reached any IOPS {within}."
            if best is None
            else (
                f"{row}Most IOPS {within} at queue depth {best.depth}: {units.iops(best.iops)} IOPS,"
                f" p99 {units.latency(best.p99_ns)}."
            )
        )


def _leaders(record: SweepRecord, found: Results) -> Iterator[str]:
    """What leads each workload; where workloads are all there is, each of their curves."""
    title = RANK_TITLES[found.rank]
    if len(found.rows) == 1:
        for name, line in curves(found).items():
            ranked = found.best_first(line)
            if len(ranked) > 1:
                figure = f"{figure_text(ranked[0].value, found.rank)} {title}"
                yield f"Sweep, {name or record.design.title}: best at {curve_place(found, ranked[0])}, {figure}."
        return
    for column in found.columns:
        ranked = found.ranking(column)
        if len(ranked) > 1:
            best = ranked[0]
            word = "" if best.judgement is None else f"; against its baseline {verdict_words(best.judgement)}"
            yield f"Sweep, {column}: {best.cell.row} leads with {figure_text(best.value, found.rank)} {title}{word}."


def ending(record: SweepRecord) -> tuple[str, Tone]:
    """How a sweep that nobody runs stands, in a sentence or two, and how that is."""
    end = record.end
    done = f"{record.done} of {units.plural(len(record.steps), 'step')}"
    if end is None:
        return f"CUT SHORT after {done}: its settings may not be as before", Tone.BAD
    if end.left:
        return f"{end.result.upper()}: NOT ALL SETTINGS ARE AS BEFORE: {' '.join(end.left)}", Tone.BAD
    back = "the settings are as before"
    if end.result is SweepResult.FINISHED:
        return f"FINISHED: {units.plural(len(record.steps), 'step')}; {back}", Tone.GOOD
    return f"{end.result.upper()} after {done}; {back}. {end.reason}".rstrip(), Tone.ATTENTION
