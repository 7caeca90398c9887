"""The request for a picture, and the texts that all kinds of pictures use. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from app.core.presentation.labels import field_name
from app.core.presentation.run import STILL_RUNNING
from app.core.session.results import RunStatus, Sample
from app.core.session.state import RunRecord
from app.core.session.sweep_steps import Rank
from app.features.plots.selection import PlacedRun, PlotSelection, RunGroup, completed_runs
from app.features.sweep.engine.cells import RunScore, score_of
from app.features.sweep.engine.load_curve import numeric_field
from backends.values import dataclass
from widgets.plot_render.plot_data import MOST_CURVES, Data, Unit
from widgets.text_utils import units

Intervals = Callable[[PlacedRun], Sequence[Sample]]
"""Function that returns the measured intervals of a run, usually from disk."""

PlotContent = tuple[str, Data, str]
"""Title of a picture, its data, and a note below it."""

MEBI = float(1 << 20)

UNITS = {Rank.IOPS: Unit.IOPS, Rank.BANDWIDTH: Unit.RATE, Rank.P99: Unit.LATENCY}
"""Axis unit for each ranking metric of a sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotOptions:
    """Options for the display of a picture."""

    unit: Unit = Unit.IOPS
    """Metric of box plots, curves and timelines."""
    log: bool | None = None
    """Whether axes are logarithmic; None for the default of the picture."""
    zero: bool = False
    """Whether axes begin at 0."""
    run: int = 0
    """Which run of each part the timeline shows: 0 for its last run, 1 for the one before, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRequest:
    """The selection to draw, the display options, and the reader of intervals."""

    subject: PlotSelection
    options: PlotOptions
    intervals: Intervals


class NoPlotDataError(Exception):
    """There is nothing to draw. The message is the reason, and `keys` a hint that names keys to press."""

    def __init__(self, sentence: str, keys: str = "") -> None:
        super().__init__(sentence)
        self.keys = keys


def value_of(score: RunScore, unit: Unit) -> float | None:
    """Return the run's metric that has this unit, for reads and writes together; None if the I/Os were too few."""
    match unit:
        case Unit.IOPS:
            return score.iops
        case Unit.RATE:
            return score.bytes_per_second / MEBI
        case Unit.LATENCY:
            return None if score.p99_ns is None else float(score.p99_ns)


def values_of(runs: Iterable[PlacedRun], unit: Unit) -> tuple[float, ...]:
    """Return, for every successful run, its metric that has this unit."""
    scores = (score_of(placed.run.figures) for placed in completed_runs(runs))
    numbers = (None if score is None else value_of(score, unit) for score in scores)
    return tuple(value for value in numbers if value is not None)


def parts_to_draw(subject: PlotSelection) -> Sequence[RunGroup]:
    """Return the parts of a selection to draw, at most as many as a user can distinguish: the best ones of a sweep,
    otherwise the first ones.
    """
    if subject.results is None or len(subject.parts) <= MOST_CURVES:
        return subject.parts[:MOST_CURVES]
    rank = subject.results.rank
    ranked = [
        (sum(values) / len(values), part) for part in subject.parts if (values := values_of(part.runs, UNITS[rank]))
    ]
    ranked.sort(key=lambda pair: pair[0], reverse=rank is not Rank.P99)
    return [part for _, part in ranked[:MOST_CURVES]]


def count_text(subject: PlotSelection) -> str:
    """Return the number of runs of each part as a suffix such as `, 6 runs each`; "" if each part has one run."""
    counts = {len(part.runs) for part in subject.parts if not part.baseline}
    if counts == {1}:
        return ""
    text = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    return f", {text} runs{' each' if len(subject.parts) > 1 else ''}"


def by_field_text(subject: PlotSelection) -> str:
    """Return ` by queue depth` for a sweep over one field; "" otherwise."""
    field = None if subject.results is None else numeric_field(subject.results.cells)
    return "" if field is None else f" by {field_name(field)}"


def failure_text(runs: Sequence[PlacedRun], otherwise: str = "") -> str:
    """Return `otherwise` if a run succeeded. If none did, or `otherwise` is "", return a sentence about failed runs."""
    if otherwise and completed_runs(runs):
        return otherwise
    first = runs[0].run
    if len(runs) > 1:
        return f"None of {len(runs)} runs was successful: {first.id} {_ending_text(first)}"
    return f"{first.id} has no results: it {_ending_text(first)}"


def missing_text(subject: PlotSelection) -> str:
    """Return a sentence for each part without a successful run; "" if all have one."""
    lost = [part for part in subject.parts if not completed_runs(part.runs)]
    return " ".join(f"{part.runs[0].run.id} is not drawn: it {_ending_text(part.runs[0].run)}" for part in lost)


def _ending_text(run: RunRecord) -> str:
    if run.running:
        return f"is {STILL_RUNNING}."
    if run.end is None:
        return f"failed: {run.figures.reason}"
    word = "was stopped" if run.figures.status is RunStatus.STOPPED else "failed"
    reason = f": {run.figures.reason.rstrip('.')}" if run.figures.reason and word == "failed" else ""
    return f"{word} after {units.duration(max(0.0, round(run.end.at - run.start.at, 1)))}{reason}."
