"""Sentences about the results of comparisons, for screens, command line and report. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1

from app.core.analysis.comparison import Comparison, MetricComparison, compare_headline, latency_kinds, tail_row
from app.core.analysis.drift import DriftPattern, RunPattern
from app.core.analysis.metric_kinds import FIGURES
from app.core.analysis.pair_design import LEVEL, RULE, due_look
from app.core.analysis.reasons import Reason
from app.core.analysis.sample_groups import (
    ComparisonSides,
    RunOrder,
    is_silent,
    pairs_of,
    place_in_session,
    silent_side,
    without_silent_runs,
)
from app.core.analysis.stats import THRESHOLD_PERCENT, MeanInterval
from app.core.analysis.stored_verdicts import interval_of
from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.presentation.figures import figure_label, figure_name
from app.core.presentation.labels import key_name, key_value, with_value
from app.core.presentation.percent import covers_text, difference_text, interval_text, is_too_noisy, percent_text
from app.core.presentation.run import STILL_RUNNING
from app.core.presentation.verdict_text import (
    judgement_word,
    outliers_text,
    reason_text,
    slow_text,
    verdict_word,
    weakened_text,
)
from app.core.session.events import ExperimentEnded, ExperimentStarted
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord, Session
from app.core.session.unit_labels import value_text, within_sentence
from widgets.text_utils import units

SINGLE_RUNS = (
    "These are two single runs. The run-to-run noise is not known, so the difference may not come from the "
    "settings. Measure both repeatedly with `raidbench ab`."
)
"""Caveat that is shown with every comparison of single runs."""

NOT_INTERLEAVED = (
    "Runs that are not measured in turn can differ by drift alone: use `raidbench ab`. If that is not "
    "possible, measure the first side once more after the second."
)
"""Caveat that is shown with every comparison of groups."""

COMES_AND_GOES = (
    "A disturbance with a period of two to four groups of runs could look like a difference here. A strong one "
    "does so in up to 30 % of comparisons with three runs per group, and in up to half of those with five. "
    "`raidbench ab` randomises the order."
)
"""Caveat that is shown with every comparison whose first side was measured before and after the second."""

_MOST_NAMED = 6
_MOST_SETTINGS = 2


# -- names, differences and counts of metrics -------------------------------------------------------------------------


def row_name(row: MetricComparison) -> str:
    """Return the name of a metric with its direction: `read IOPS`."""
    return figure_name(row.figure, row.direction)


def row_percent(row: MetricComparison) -> str:
    """Return the difference between the sides without its interval: `-18.4 %`."""
    return difference_text(row.a, row.b) if row.interval is None else percent_text(row.interval.percent)


def row_difference(row: MetricComparison) -> str:
    """Return the difference between the sides with its interval, if it has one: `-17.9 % [-19.7, -16.1]`."""
    if row.judgement is not None and row.judgement.verdict is Verdict.STOPPED_ANSWERING:
        return units.NOTHING
    return difference_text(row.a, row.b) if row.interval is None else interval_text(row.interval)


def count_text(sides: ComparisonSides) -> str:
    """Return a phrase with the number of runs: `6 pairs`, `3 and 2 runs from two sessions`."""
    if sides.interleaved:
        earlier = f", {sides.before} of them from {' and '.join(sides.others)}" if sides.before else ""
        answered = len(without_silent_runs(sides).a)
        of = f"{answered} of " if 0 < answered < len(sides.a) else ""
        return f"{of}{units.plural(len(sides.a), 'pair')}{earlier}"
    where = " from two sessions" if sides.apart else ""
    if len(sides.a) == len(sides.b) == 1:
        return f"two single runs{where}"
    return f"{len(sides.a)} and {units.plural(len(sides.b), 'run')}{where}"


# -- labels of the sides ----------------------------------------------------------------------------------------------


def letter_labels(start: ExperimentStarted) -> tuple[str, str]:
    """Return the labels of both sides of an experiment: `read-ahead 128 KiB`, `read-ahead 4096 KiB`."""
    label = within_sentence(start.label)
    return with_value(label, value_text(start.key, start.a)), with_value(label, value_text(start.key, start.b))


def side_labels(comparison: Comparison) -> tuple[str, str]:
    """Return labels of both sides: `read-ahead none`, `read-ahead 128 KiB`; their names if no setting differs."""
    if comparison.experiment is not None:
        return ("A", "B") if comparison.experiment.is_null else letter_labels(comparison.experiment)
    differing = (*comparison.settings, *comparison.job)
    if not differing:
        return comparison.names
    named = differing[:_MOST_SETTINGS]
    more = f" and {len(differing) - len(named)} more" if len(differing) > len(named) else ""
    a, b = (", ".join(_named_setting(key, values[at]) for key, *values in named) + more for at in (0, 1))
    a_name, b_name = comparison.names
    return (a, b) if len(differing) == 1 else (f"{a_name} ({a})", f"{b_name} ({b})")


def _named_setting(key: str, value: str | None) -> str:
    """Return a setting with its value, `I/O scheduler none`; `no I/O scheduler recorded` if it was not recorded."""
    name = within_sentence(key_name(key))
    return with_value(name, key_value(key, value)) if value else f"no {name} recorded"


def _short_labels(comparison: Comparison) -> tuple[str, str]:
    """Return short labels, for use in a sentence after the full label of the other side.

    A short label is the value alone, because the full label of the other side already names the setting.
    """
    a, b = side_labels(comparison)
    start, differing = comparison.experiment, (*comparison.settings, *comparison.job)
    if start is not None and not start.is_null:
        values = value_text(start.key, start.a), value_text(start.key, start.b)
    elif len(differing) == 1:
        ((key, a_value, b_value),) = differing
        if not a_value or not b_value:
            return a, b
        values = key_value(key, a_value), key_value(key, b_value)
    else:
        return a, b
    return values[0] if b != values[1] else a, values[1] if a != values[0] else b


# -- sentences about the result of a comparison -----------------------------------------------------------------------


def comparison_sentence(comparison: Comparison) -> str:
    """Return sentences about a comparison: provenance that differs, the headline metric, and caveats."""
    return " ".join((*_provenance_sentences(comparison), *_result_sentences(comparison)))


def _result_sentences(comparison: Comparison) -> Iterator[str]:
    headline = comparison.headline
    if headline is not None:
        yield from _silence_sentences(comparison, headline)
        yield _headline_sentence(comparison, headline)
        if comparison.between is not None:
            yield between_sessions_text(comparison.between)
        yield from _tail_sentences(comparison, headline)
        yield from map(disturbance_text, comparison.disturbances)
    if caveats := weakened_text(comparison.weakened):
        yield f"Caveats: {caveats}."


def _tail_sentences(comparison: Comparison, headline: MetricComparison) -> Iterator[str]:
    """Yield a sentence about the tail latency if the headline has a verdict."""
    tail = tail_row(comparison.rows)
    if tail is None or tail.judgement is None or comparison.sides.alike or headline.judgement is None:
        return
    if tail.judgement.verdict is not Verdict.REFUSED:
        name = row_name(tail)
        level = comparison.level if tail.interval is None else tail.interval.level
        covers = f" ({covers_text(level)})" if level != comparison.level else ""
        yield f"{name[:1].upper()}{name[1:]} {row_difference(tail)}{covers}: {judgement_word(tail.judgement)}."


def _headline_sentence(comparison: Comparison, row: MetricComparison) -> str:
    name, judgement, sides = row_name(row), row.judgement, comparison.sides
    if judgement is None:
        if all(map(is_silent, (*sides.a, *sides.b))):
            return "Nothing to compare: neither side completed any I/O."
        return f"{name[:1].upper()}{name[1:]} cannot be compared: one side has no value."
    if judgement.verdict is Verdict.STOPPED_ANSWERING:
        return _stopped_sentence(comparison)
    if sides.alike:
        a, b = comparison.names
        # Repeats with the same provenance can differ only by chance and drift.
        why = "" if comparison.provenance else ", which is due to chance and drift"
        return f"{b} repeats {a}: {name} {row_difference(row)}{why}."
    if judgement.reason is Reason.NO_IO and judgement.interval is None:
        a, b = side_labels(comparison)[0], _short_labels(comparison)[1]
        return f"Not decided between {a} and {b}: {reason_text(judgement)}."
    clauses = "; ".join(
        filter(None, (_verdict_clause(comparison, row, judgement), *_detail_clauses(judgement, comparison)))
    )
    return f"{clauses}."


def _verdict_clause(comparison: Comparison, row: MetricComparison, judgement: VerdictResult) -> str:
    (a, b), (than, second) = side_labels(comparison), _short_labels(comparison)
    within = "with " if _one_setting(comparison) else ""
    difference, reason = _difference_text(row, judgement, comparison.sides), _reason_clause(judgement, comparison.sides)
    match judgement.verdict:
        case Verdict.NO_DIFFERENCE:
            return f"No difference between {a} and {second}: {difference}, {reason}"
        case Verdict.NOT_DECIDED:
            return "; ".join(filter(None, (f"Not decided between {a} and {second}: {difference}", reason)))
        case Verdict.REFUSED:
            return f"No verdict on {b} against {than}: {reason}; {difference}"
        case _:
            word = verdict_word(judgement.verdict)
            if row.figure.is_latency:
                clause = f"{_latency(row)} is {word} {within}{b} than {within}{than}"
                mean = "mean " if row.figure.key == "latency_mean_ns" else ""
                difference = mean + difference.removeprefix(f"{row_name(row)} ")
            elif within:
                clause = f"{word.capitalize()} with {b} than with {than}"
            else:
                clause = f"{b} is {word} than {than}"
            return (", " if judgement.reason is Reason.SMALL else "; ").join(
                filter(None, (f"{clause}: {difference}", reason))
            )


def _one_setting(comparison: Comparison) -> bool:
    """Return whether exactly one setting differs, so that its values name the sides."""
    if comparison.experiment is not None:
        return not comparison.experiment.is_null
    return len((*comparison.settings, *comparison.job)) == 1


def _reason_clause(judgement: VerdictResult, sides: ComparisonSides) -> str:
    """Return the reason for a verdict as a clause; "" for two single runs, because a caveat gives the reason."""
    alone = judgement.reason is Reason.NO_REPEATS and len(sides.a) == len(sides.b) == 1
    return "" if alone else reason_text(judgement)


def _difference_text(row: MetricComparison, judgement: VerdictResult, sides: ComparisonSides) -> str:
    """Return the difference, `read IOPS -17.9 % [-19.7, -16.1] in 3 pairs`, with its confidence unless that is 95 %."""
    interval = judgement.interval
    unusual = interval is not None and interval.level != LEVEL and not is_too_noisy(interval)
    level = f" ({covers_text(interval.level)})" if interval is not None and unusual else ""
    return f"{row_name(row)} {row_difference(row)}{level} in {count_text(sides)}"


def _latency(row: MetricComparison) -> str:
    """Return the name of a latency, `Sync latency`, `Read p99 latency`."""
    figure = "" if row.figure.key == "latency_mean_ns" else f" {figure_label(row.figure)}"
    return f"{row.direction.capitalize()}{figure} latency"


def _detail_clauses(judgement: VerdictResult, comparison: Comparison) -> Iterator[str]:
    sides = comparison.sides
    if judgement.slow is not None:
        yield slow_text(judgement.slow, _side_phrases(comparison))
    if sides.threshold != THRESHOLD_PERCENT and judgement.verdict is not Verdict.NO_DIFFERENCE:
        yield f"up to +-{sides.threshold:g} % counts as no difference here"
    if judgement.outliers:
        yield outliers_text(judgement.outliers)


def _stopped_sentence(comparison: Comparison) -> str:
    """Return a sentence about the side that completed no I/O, which is the most severe verdict."""
    a_is_silent = silent_side(comparison.sides) == "A"
    runs = comparison.sides.a if a_is_silent else comparison.sides.b
    silent_ids = [run.id for run in runs if is_silent(run)]
    where = _side_phrases(comparison)[not a_is_silent]
    count = f"{len(silent_ids)} of {units.plural(len(runs), 'run')} ({units.first_of(silent_ids, _MOST_NAMED)})"
    return f"STOPPED ANSWERING {where}: no I/O was completed in {count}. Every run of the other side completed I/O."


def _silence_sentences(comparison: Comparison, headline: MetricComparison) -> Iterator[str]:
    """Yield a sentence about the runs without I/O on each side, unless the verdict itself reports them."""
    sides = comparison.sides
    stopped = headline.judgement is not None and headline.judgement.verdict is Verdict.STOPPED_ANSWERING
    if stopped or all(map(is_silent, (*sides.a, *sides.b))):
        return
    clauses = []
    for runs, where in zip((sides.a, sides.b), _side_phrases(comparison), strict=True):
        if silent_ids := [run.id for run in runs if is_silent(run)]:
            named = units.first_of(silent_ids, _MOST_NAMED)
            clauses.append(f"in {len(silent_ids)} of {units.plural(len(runs), 'run')} {where} ({named})")
    if clauses:
        drawn = sides.order in (RunOrder.EXPERIMENT, RunOrder.BETWEEN)
        why = ": too few runs to show the cause" if drawn else ": only a randomised order can show the cause"
        yield f"STOPPED ANSWERING {' and '.join(clauses)}{'' if len(clauses) == 2 else why}."


def _side_phrases(comparison: Comparison) -> tuple[str, str]:
    """Return phrases for both sides: `with read-ahead 128 KiB`, or `in r1`."""
    a, b = side_labels(comparison)
    preposition = "with" if _one_setting(comparison) else "in"
    return f"{preposition} {a}", f"{preposition} {b}"


def experiment_end_text(event: ExperimentEnded) -> str:
    """Return the result of an ended experiment, `slower, read IOPS -17.9 % [-19.7, -16.1]`; "" if no pair ended."""
    first = next((verdict for verdict in event.verdicts if verdict.headline), None)
    if first is None:
        return ""
    word = first.verdict.replace("-", " ")
    interval = interval_of(first)
    figure = next((figure for figure in FIGURES if figure.key == first.figure), None)
    if interval is None or figure is None:
        return word
    return f"{word}, {figure_name(figure, first.direction)} {interval_text(interval)}"


def interim_text(session: Session, experiment_id: str) -> str:
    """Return the headline metric of a running experiment with its interval, but never with a verdict.

    After an interim analysis that gave no verdict, the text says so. Return "" before the first interval, and if a
    verdict is due.
    """
    sides = pairs_of(session, experiment_id)
    if not sides.a:
        return ""
    row = compare_headline(sides)  # only the headline metric, because this is computed again for every sample
    if row is None or row.judgement is None or row.interval is None:
        return ""
    pairs = len(sides.a)
    if due_look(sides.looks, pairs) is None:
        return f"{row_name(row)} {interval_text(row.interval)}, not yet decided"
    if row.judgement.decided or pairs >= sides.looks[-1].pairs:
        return ""
    return f"{row_name(row)} {interval_text(row.interval)}, not decided after {units.plural(pairs, 'pair')}"


# -- provenance and caveats -------------------------------------------------------------------------------------------


def _provenance_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence about the provenance that differs between sessions or groups of runs.

    Yield nothing for runs in pairs, because the experiment reports what else changed with the value.
    """
    sides, differing = comparison.sides, comparison.provenance
    if sides.interleaved:
        return
    if differing:
        names = units.first_of([key_name(key) for key, _, _ in differing], _MOST_NAMED)
        yield f"Differences in addition to settings and job: {names}."
    elif sides.apart:
        yield "No recorded difference in addition to settings and job."


def between_sessions_text(spread: MeanInterval) -> str:
    """Return a sentence about the standard deviation between sessions of the same configuration."""
    percent = expm1(spread.sd or 0.0) * 100
    return f"Session-to-session noise: {percent:.1f} % ({units.plural(spread.n, 'other session')})."


def disturbance_text(pattern: DriftPattern) -> str:
    """Return sentences about a pattern over time in the runs, which the setting did not cause."""
    match pattern.pattern:
        case RunPattern.ORDER:
            size = percent_text(pattern.size)
            return f"In each pair the second run differed from the first by {size}, whichever side came first."
        case RunPattern.TREND:
            return f"Drift: the runs changed by {percent_text(pattern.size)} from the first to the last."
        case RunPattern.CARRY_OVER:
            return (
                f"Pairs in which the setting had just changed show a difference of {percent_text(pattern.size)}, the "
                f"other pairs {percent_text(pattern.others)}. The setting takes effect only after the ramp, so its "
                "real effect is larger than shown. Measure again with a longer `--ramp`."
            )
        case RunPattern.PERIOD:
            every = f"a period of about {pattern.size:.1f} runs"
            return f"The runs rose and fell with {every}: a periodic disturbance affects them."


def caveat_texts(comparison: Comparison) -> tuple[str, ...]:
    """Return the caveats of a comparison: sentences that must be shown together with its results."""
    return tuple(_caveats(comparison))


def _caveats(comparison: Comparison) -> Iterator[str]:
    a, b, sides = comparison.a, comparison.b, comparison.sides
    for run in (a, b):
        if run.running:
            yield f"{run.id} is {STILL_RUNNING}."
        elif run.figures.status is not RunStatus.OK:
            why = (run.figures.reason or run.figures.status.value).rstrip(".")
            yield f"{run.id} is not a complete run: {why}."
    if a.start.target != b.start.target:
        yield f"The targets differ: {a.start.target} and {b.start.target}."
    if comparison.job:
        yield "The jobs differ, so a difference may not come from the settings alone."
    if len(latency_kinds(sides)) > 1:
        yield "Latencies are not compared: some runs are from an older version, whose latencies exclude submission."
    if a.start.simulated or b.start.simulated:
        yield "SIMULATED: at least one of the runs was not measured on hardware."
    if order := _order_sentence(sides):
        yield order
    if comparison.rule is not None:
        yield rule_text(comparison.rule)
    if sides.alike:
        return
    if len(sides.a) == len(sides.b) == 1 and not sides.interleaved:
        yield SINGLE_RUNS
    elif not sides.interleaved:
        yield COMES_AND_GOES if sides.after else NOT_INTERLEAVED


def rule_text(rule: int) -> str:
    """Return sentences about the rule that gave a recorded verdict, and about how to apply the current rule."""
    if rule == RULE:
        return f"Judged by rule {rule} when the experiment ended."
    return f"Judged by rule {rule} when the experiment ended. To judge by the current rule {RULE}, use `--judge-again`."


def _order_sentence(sides: ComparisonSides) -> str:
    """Return a sentence about the runs that are compared and the order in which they ran."""
    match sides.order:
        case RunOrder.EXPERIMENT:
            pairs = f"all {len(sides.a)} pairs" if len(sides.a) > 1 else "the only pair"
            return f"{pairs.capitalize()} of the experiment {sides.experiment}."
        case RunOrder.IN_TURN:
            timed = sorted((*sides.a, *sides.b), key=place_in_session)
            return f"Measured in turn: {', '.join(run.id for run in timed)}."
        case RunOrder.BETWEEN:
            before, after = sides.a[: -sides.after], sides.a[-sides.after :]
            return f"{_ids(before)}, then {_ids(sides.b)}, then {_ids(after)}."
        case RunOrder.GROUPS:
            first, second = (" from the first session", " from the second") if sides.apart else ("", "")
            return f"Not measured in turn: {_ids(sides.a)}{first} against {_ids(sides.b)}{second}."
        case RunOrder.SINGLE:
            return ""


def _ids(runs: Sequence[RunRecord]) -> str:
    return ", ".join(run.id for run in runs)
