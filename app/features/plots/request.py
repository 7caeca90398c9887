"""The request for a picture, and the texts that all pictures share. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from app.core.presentation.labels import field_name
from app.core.session.results import RunStatus, Sample
from app.core.session.state import RunRecord
from app.core.session.sweep_steps import Rank
from app.features.plots.selection import PlacedRun, PlotSelection, RunGroup, completed
from app.features.sweep.engine.cells import RunScore, score_of
from app.features.sweep.engine.load_curve import numeric_field
from backends.values import dataclass
from widgets.plot_render.plot_data import MOST_CURVES, Data, Unit
from widgets.text_utils import units

Intervals = Callable[[PlacedRun], Sequence[Sample]]
"""Reads the intervals of a run from disk."""

Made = tuple[str, Data, str]
"""Title, data, and what is worth saying of it."""

MEBI = float(1 << 20)

UNITS = {Rank.IOPS: Unit.IOPS, Rank.BANDWIDTH: Unit.RATE, Rank.P99: Unit.LATENCY}
"""What a sweep ranks by, as an axis counts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotOptions:
    """How a picture is wanted."""

    unit: Unit = Unit.IOPS
    """What boxes, curves and the timeline count."""
    log: bool | None = None
    """Ratios; None leaves it to the picture."""
    zero: bool = False
    """Axes begin at 0."""
    run: int = 0
    """Which of the runs of each part the timeline shows, counted from the last one back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRequest:
    """Of what, and how."""

    subject: PlotSelection
    options: PlotOptions
    intervals: Intervals


class NoPlotDataError(Exception):
    """Why there is nothing to show: a sentence, and the keys that would fill it."""

    def __init__(self, sentence: str, keys: str = "") -> None:
        super().__init__(sentence)
        self.keys = keys


def value_of(score: RunScore, unit: Unit) -> float | None:
    """A figure of a run in that unit, both directions together; None where too few I/Os carry it."""
    match unit:
        case Unit.IOPS:
            return score.iops
        case Unit.RATE:
            return score.bytes_per_second / MEBI
        case Unit.LATENCY:
            return None if score.p99_ns is None else float(score.p99_ns)


def values_of(runs: Iterable[PlacedRun], unit: Unit) -> tuple[float, ...]:
    """That of every whole run."""
    scores = (score_of(placed.run.figures) for placed in completed(runs))
    numbers = (None if score is None else value_of(score, unit) for score in scores)
    return tuple(value for value in numbers if value is not None)


def parts_to_draw(subject: PlotSelection) -> Sequence[RunGroup]:
    """As many parts as can be told apart: of a sweep the best, else the first."""
    if subject.results is None or len(subject.parts) <= MOST_CURVES:
        return subject.parts[:MOST_CURVES]
    rank = subject.results.rank
    ranked = [(sum(there) / len(there), part) for part in subject.parts if (there := values_of(part.runs, UNITS[rank]))]
    ranked.sort(key=lambda pair: pair[0], reverse=rank is not Rank.P99)
    return [part for _, part in ranked[:MOST_CURVES]]


def count_text(subject: PlotSelection) -> str:
    """`, 6 runs each`; "" of single ones."""
    counts = {len(part.runs) for part in subject.parts if not part.baseline}
    if counts == {1}:
        return ""
    text = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    return f", {text} runs{' each' if len(subject.parts) > 1 else ''}"


def by_field(subject: PlotSelection) -> str:
    """` by queue depth` of a sweep over it."""
    field = None if subject.results is None else numeric_field(subject.results.cells)
    return "" if field is None else f" by {field_name(field)}"


def failure_text(runs: Sequence[PlacedRun], otherwise: str = "") -> str:
    """Return why nothing can be shown of runs of which none completed; `otherwise` if one did."""
    if otherwise and completed(runs):
        return otherwise
    first = runs[0].run
    if len(runs) > 1:
        return f"None of {len(runs)} runs ended well: {first.id} {_ending_text(first)}"
    return f"{first.id} has nothing to show: it {_ending_text(first)}"


def missing_text(subject: PlotSelection) -> str:
    """Which of its parts have no whole run, a sentence each; "" where all have."""
    lost = [part for part in subject.parts if not completed(part.runs)]
    return " ".join(f"{part.runs[0].run.id} is not drawn: it {_ending_text(part.runs[0].run)}" for part in lost)


def _ending_text(run: RunRecord) -> str:
    if run.end is None:
        return "has not ended."
    word = "was stopped" if run.figures.status is RunStatus.STOPPED else "failed"
    reason = f": {run.figures.reason.rstrip('.')}" if run.figures.reason and word == "failed" else ""
    return f"{word} after {units.duration(max(0.0, round(run.end.at - run.start.at, 1)))}{reason}."
