"""The findings of a sweep as facts and sentences, and the message about how it ended. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from app.core.analysis.reasons import Reason
from app.core.analysis.verdict import Verdict
from app.core.presentation.comparison import verdict_tone
from app.core.presentation.labels import field_name, key_name
from app.core.presentation.percent import interval_text
from app.core.presentation.table import FactLine, Facts, Tone
from app.core.presentation.verdict_text import judgement_word, reason_text
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Design, Rank, SweepCell, SweepResult
from app.features.sweep.engine.best_cells import ConfirmedWinner
from app.features.sweep.engine.cells import CellResult, LatencyFigure, latency
from app.features.sweep.engine.load_curve import column_without, curve_place, curves, number_of, numeric_field
from app.features.sweep.engine.results import LOAD, Results
from app.features.sweep.presentation.arrays import array_result_facts
from app.features.sweep.presentation.load_curve import curve_facts, knee_text, search_facts, search_text
from app.features.sweep.presentation.sweep import (
    NOT_IN_TURN,
    RANK_TITLES,
    cell_name,
    cell_notes,
    figure_text,
    judgement_text,
)
from widgets.text_utils import units

FRONT_HEADING = "Best trade-offs between IOPS and p99 (by their means)"
"""Heading of a Pareto front. Among its cells, better IOPS cost latency, so the user has to choose."""

MOST_EFFECTS = 8
"""Maximum number of sentences about significant effects. The largest effects come first."""

_MOST_NAMES = 4

_NOT_IN_TURN_NOTE = (
    f"{NOT_IN_TURN} not interleaved (re-created array or restart): compared with the baseline before and after."
)


def finding_facts(record: SweepRecord, results: Results) -> tuple[Facts, ...]:
    """Return the findings: confirmations, Pareto fronts, reads by member, curves, searches, failures and notes."""
    groups = (
        Facts(
            heading="Confirmation runs",
            facts=tuple(FactLine("", *_confirmation_line(confirmation)) for confirmation in results.confirmations),
        ),
        *(_pareto_facts(results, front) for front in results.fronts),
        Facts(heading="Reads by member", facts=tuple(_members(results))),
        *_curves(record, results),
        *_searches(record, results),
        array_result_facts(record),
        Facts(heading="Failed", facts=tuple(_failures(record, results))),
        Facts(heading="Notes", facts=sentence_lines(dict.fromkeys(_notes(results)))),
        Facts(heading="Compared", facts=sentence_lines(_baselines(results))),
        left_out_facts(record.design),
    )
    return tuple(group for group in groups if group.facts)


def sentence_lines(texts: Iterable[str], tone: Tone = Tone.PLAIN) -> tuple[FactLine, ...]:
    """Return a line without a label for each text that is not empty."""
    return tuple(FactLine("", text, tone) for text in texts if text)


def _confirmation_line(winner: ConfirmedWinner) -> tuple[str, Tone]:
    subject = f"{winner.winner.row} against {winner.baseline.row}, {winner.winner.column}"
    if winner.judgement is None:
        return f"{subject}: {units.plural(winner.pairs, 'pair')} so far", Tone.PLAIN
    text = reason_text(winner.judgement)
    reason = f" ({text})" if text else ""
    shown = f"{judgement_text(winner.judgement)} in {units.plural(winner.pairs, 'fresh pair')}{reason}"
    return f"{subject}: {shown}", verdict_tone(winner.judgement)


def _pareto_facts(results: Results, front: Sequence[str]) -> Facts:
    """Return the mean IOPS and p99 of each cell of a Pareto front."""
    by_id = {result.cell.id: result for result in results.cells}
    facts = (
        FactLine(
            "",
            f"{cell_name(results, by_id[name].cell)}: {units.iops(by_id[name].iops)} IOPS,"
            f" p99 {units.latency(by_id[name].p99_ns)}",
        )
        for name in front
    )
    work = ", ".join(column_without(by_id[front[0]].cell, LOAD))
    return Facts(heading=f"{FRONT_HEADING}{f': {work}' if work else ''}", facts=tuple(facts))


def _members(results: Results) -> Iterator[FactLine]:
    """Yield the share of the reads that each member served, and how many combinations had equal shares.

    Only these shares show whether a setting that should keep reads away from a member (such as write-mostly) works.
    """
    read = [result for result in results.cells if result.reads_by]
    uneven = [result for result in read if len({units.fraction(share) for _, share in result.reads_by}) > 1]
    for result in uneven:
        shares = ", ".join(f"{name} {units.fraction(share)}" for name, share in result.reads_by)
        yield FactLine("", f"{cell_name(results, result.cell)}: {shares}")
    if even := len(read) - len(uneven):
        yield FactLine("", f"{units.plural(even, 'combination')}: the same share from each member.")


def _searches(record: SweepRecord, results: Results) -> Iterator[Facts]:
    goal = record.design.saturation
    if goal is not None:
        yield from (search_facts(search, goal, cell_name(results, search.cell)) for search in results.saturated)


def _curves(record: SweepRecord, results: Results) -> Iterator[Facts]:
    complete = record.end is not None
    yield from (curve_facts(curve, cell_name(results, curve.cell), complete=complete) for curve in results.load_curves)


def _failures(record: SweepRecord, results: Results) -> Iterator[FactLine]:
    yield from (FactLine("", sentence, Tone.BAD) for sentence in record.damage)
    for result in results.cells:
        yield from (
            FactLine("", f"{cell_name(results, result.cell)}: {reason}", Tone.BAD) for reason in result.failures
        )


def _notes(results: Results) -> Iterator[str]:
    yield from (f"{result.cell.row}: {note}" for result in results.cells for note in cell_notes(result))
    if any(cell.judgement is not None and not cell.judgement.interleaved for cell in results.cells):
        yield _NOT_IN_TURN_NOTE


def _baselines(results: Results) -> Iterator[str]:
    """Yield, per baseline, which set-ups are compared with it; nothing if there is only one baseline."""
    rows_of = {result.cell.id: result.cell.row for result in results.cells}
    against: dict[str, dict[str, None]] = {}
    for result in results.cells:
        if result.cell.against is not None:
            against.setdefault(rows_of[result.cell.against], {})[result.cell.row] = None
    if len(against) > 1:
        yield from (f"With {baseline}: {'; '.join(others)}" for baseline, others in against.items())


def left_out_facts(design: Design) -> Facts:
    """Return the combinations of set-up and workload that are not measured, grouped by set-up and reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for skipped in design.skipped:
        reasons.setdefault((skipped.row, skipped.reason), []).append(skipped.column)
    every = len({cell.column for cell in design.cells} | {cell.column for cell in design.skipped})
    facts = tuple(
        FactLine("", f"{row}{'' if len(columns) == every else ', ' + ' and '.join(columns)}: {reason}", Tone.ATTENTION)
        for (row, reason), columns in reasons.items()
    )
    return Facts(heading="Skipped", facts=facts)


def short_facts(record: SweepRecord, results: Results) -> Facts:
    """Return the most important results as a summary; see `session_highlights`."""
    return Facts(heading="Summary", facts=sentence_lines(dict.fromkeys(session_highlights(record, results))))


def session_highlights(record: SweepRecord, results: Results) -> Iterator[str]:
    """Yield the most important results as sentences: why there is no verdict, or significant effects, largest first;
    then the best cells, then the highest load.
    """
    if undecided := undecided_text(record, results):
        yield undecided
    effects = sorted(shown_effects(results), reverse=True)
    yield from (sentence for _, sentence in effects[:MOST_EFFECTS])
    if len(effects) > MOST_EFFECTS:
        yield f"{len(effects) - MOST_EFFECTS} smaller effects are in the ranking."
    yield from standings(record, results)


_NEXT_STEPS = {
    Reason.BEFORE_ROUNDS: "Resume the sweep to complete the rounds.",
    Reason.NOT_SHOWN: "Measure with more repeats.",
    Reason.MADE_ONCE: "Use fewer or smaller drives: arrays that take less than 10 minutes are created in each round.",
}
"""What decides a sweep, by the reason why it decides nothing."""


def undecided_text(record: SweepRecord, results: Results) -> str:
    """Return why no cell of a sweep has a verdict, and what would give one; "" if a cell has one or none is due."""
    judgements = [result.judgement for result in results.cells if result.judgement is not None]
    judgements += [winner.judgement for winner in results.confirmations if winner.judgement is not None]
    if not judgements or any(judgement.verdict not in _WITHOUT_RESULT for judgement in judgements):
        return ""
    reason = Counter(judgement.reason for judgement in judgements).most_common(1)[0][0]
    judgement = next(judgement for judgement in judgements if judgement.reason is reason)
    step = "" if reason is None else _NEXT_STEPS.get(reason, "")
    if reason is Reason.FEW_ROUNDS and judgement.wanted is not None:
        step = f"Measure with {judgement.wanted.enough} repeats."
    why = f"{reason_text(judgement) or 'the differences are within the noise'}"
    done = f", and {record.done} of {units.plural(len(record.steps), 'step')} are done" if record.todo else ""
    return f"No difference is decided: {why}{done}. {step}".rstrip()


_WITHOUT_RESULT = (Verdict.NOT_DECIDED, Verdict.REFUSED)


def shown_effects(results: Results) -> Iterator[tuple[float, str]]:
    """Yield the size (as a log-ratio) and a sentence for each significant difference from a baseline.

    For a cell that was measured again, only the fresh pairs count, because the cell was chosen by its screening runs,
    which therefore tend to show too large a difference.
    """
    rows = {result.cell.id: result for result in results.cells}
    again = {confirmation.winner.id for confirmation in results.confirmations if confirmation.judgement is not None}
    for confirmation in results.confirmations:
        judgement = confirmation.judgement
        if judgement is not None and judgement.differs and judgement.interval is not None:
            against = rows[confirmation.baseline.id].cell
            text = f"{interval_text(judgement.interval)} in {units.plural(confirmation.pairs, 'fresh pair')}"
            effect = _effect(confirmation.winner, against, judgement_word(judgement), text)
            yield abs(judgement.interval.mean), effect
    for cell_result in results.cells:
        cell, judgement = cell_result.cell, cell_result.judgement
        if cell.against is None or cell.id in again or judgement is None or judgement.interval is None:
            continue
        if judgement.differs:
            base = rows[cell.against]
            title = RANK_TITLES[results.rank]
            figure, other = (figure_text(value, results.rank) for value in (cell_result.value, base.value))
            figures = f"{figure} against {other} {title}"
            mark = "" if judgement.interleaved else NOT_IN_TURN
            text = f"{figures}, {interval_text(judgement.interval)}{mark}"
            yield abs(judgement.interval.mean), _effect(cell, base.cell, judgement_word(judgement), text)


def _effect(cell: SweepCell, base: SweepCell, word: str, how: str) -> str:
    return f"{cell.column}: {cell.row} is {word} than {base.row}, {how}."


def standings(record: SweepRecord, results: Results) -> Iterator[str]:
    """Yield sentences about the best cells and their ties, confirmations without a difference, and the highest load."""
    cells = {result.cell.id: result for result in results.cells}
    names = (name for name, line in results.lines.items() if len(line) > 1)
    for name, line in zip(names, results.leaders, strict=True):
        yield _leader_text(record, results, name, [cells[name] for name in line])
    for confirmed in results.confirmations:
        if confirmed.judgement is None or not confirmed.judgement.differs:
            yield f"Confirmation: {_confirmation_line(confirmed)[0]}."
    goal = record.design.saturation
    if goal is not None:
        yield from (_cell_prefix(results, search.cell) + search_text(search, goal) for search in results.saturated)
    for curve in results.load_curves:
        yield _cell_prefix(results, curve.cell) + knee_text(curve, complete=record.end is not None)
    if record.end is not None:
        yield from _price_lines(results)


def _price_lines(results: Results) -> Iterator[str]:
    """Yield sentences that compare throughput and latency at the best and at the lowest value of a numeric field."""
    field = None if results.load_curves or results.saturated else numeric_field(results.cells)
    if field is None or results.rank is Rank.P99:
        return
    for name, line in curves(results.cells).items():
        measured = sorted(
            (cell_result for cell_result in line if cell_result.value),
            key=lambda cell_result: number_of(cell_result.cell.job[field]),
        )
        if len(measured) < 2:
            continue
        low, most = measured[0], max(measured, key=lambda cell_result: cell_result.value or 0.0)
        before, after = (latency(cell_result.scores, LatencyFigure.P99) for cell_result in (low, most))
        if most is low or before is None or after is None or not before.mean:
            continue
        more, longer = (most.value or 0.0) / (low.value or 1.0), after.mean / before.mean
        values = (cell_result.cell.job[field] for cell_result in (most, low))
        where = f"{name}: " if name else ""
        named = field_name(field) if name else key_name(field)
        yield (
            f"{where}{named} {next(values)} gives {more:.3g}x the {RANK_TITLES[results.rank]} of {next(values)} "
            f"at {longer:.3g}x its p99, by their means."
        )


def _cell_prefix(results: Results, cell: SweepCell) -> str:
    """Return the set-up of a cell as the prefix of a sentence about it; "" if the sweep has a single set-up."""
    return f"{cell.row}: " if len(results.rows) > 1 else ""


def _leader_text(record: SweepRecord, results: Results, name: str, tied: list[CellResult]) -> str:
    """Return a sentence about which cell is the best of a workload or a curve, and which cells cannot be distinguished
    from it.
    """
    best, title = tied[0], RANK_TITLES[results.rank]
    most = f"{'the lowest' if results.rank is Rank.P99 else 'the most'} {title}"
    where = f"{name or record.design.title}: "
    figure = f"{figure_text(best.value, results.rank)}"
    others = len(results.lines[name]) - len(tied)
    if len(tied) == 1:
        return (
            f"{where}{_place_of(results, best)} has {most}, {figure}; it is significantly better than each of the"
            " others."
        )
    if not others:
        span = f"{figure_text(tied[-1].value, results.rank)} to {figure} {title}"
        return f"{where}no configuration is significantly better than another, {span}."
    names = units.first_of([_place_of(results, cell_result) for cell_result in tied[1:]], _MOST_NAMES)
    return (
        f"{where}a tie for {most}: {_place_of(results, best)} with {figure}, which is not significantly different"
        f" from {names}."
    )


def _place_of(results: Results, cell_result: CellResult) -> str:
    return curve_place(results.cells, cell_result) if len(results.rows) == 1 else cell_result.cell.row


def ending_text(record: SweepRecord) -> tuple[str, Tone]:
    """Return one or two sentences about the state of a sweep that is not running, and the tone in which to display
    them.
    """
    end = record.end
    done = f"{record.done} of {units.plural(len(record.steps), 'step')}"
    if end is None:
        return f"INTERRUPTED after {done}: settings may not be restored", Tone.BAD
    if end.left:
        return f"{end.result.upper()}: NOT ALL SETTINGS WERE RESTORED: {' '.join(end.left)}", Tone.BAD
    back = "settings restored"
    if end.result is SweepResult.FINISHED:
        return f"FINISHED: {units.plural(len(record.steps), 'step')}; {back}", Tone.GOOD
    return f"{end.result.upper()} after {done}; {back}. {end.reason}".rstrip(), Tone.ATTENTION
