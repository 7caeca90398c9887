"""Header of a comparison on screen: title, the parts of its verdicts, and the difference as a drawing. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.analysis.comparison import Comparison, MetricComparison, tail_row
from app.core.analysis.metric_kinds import value_of
from app.core.presentation.comparison import verdict_sign, verdict_tone
from app.core.presentation.comparison_text import row_name, row_percent
from app.core.presentation.labels import key_name, key_value
from app.core.presentation.percent import between_text
from app.core.presentation.table import Tone
from app.core.presentation.verdict_text import judgement_word, reason_text
from backends.values import dataclass

_MOST_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWords:
    """Verdict on one metric, in parts that can be drawn separately."""

    sign: str
    """An arrow for a difference, `=` for no difference, "" for any other verdict."""
    word: str
    """The verdict: `slower`, `not decided`."""
    figure: str
    """Name of the metric: `read IOPS`."""
    difference: str
    """Difference of the second side from the first: `-18.4 %`."""
    between: str
    """The interval in words, from `between_text`; "" without an interval."""
    reason: str
    """Why there is no decided verdict; "" if there is one."""
    tone: Tone
    """Tone of the verdict: `GOOD` if the second side is better, `BAD` if it is worse, else `DIM`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnDifference:
    """Difference in the headline metric, for drawing on an axis in percent of the first side."""

    middle: float
    """Difference between the means of both sides, in percent."""
    low: float | None
    """Lower end of the interval; None without an interval."""
    high: float | None
    """Upper end of the interval; None without an interval."""
    points: tuple[float, ...]
    """Difference of every pair in percent; () if the runs form no pairs."""
    threshold: float
    """Largest difference that counts as none, in percent."""
    tone: Tone
    """Tone of the verdict: `GOOD` if the second side is better, `BAD` if it is worse, else `DIM`."""


def side_names(comparison: Comparison, a: str, b: str) -> tuple[str, str]:
    """Return the headings of the sides; with their values if exactly one setting differs: `r1 none`, `r7 adaptive`."""
    differing = (*comparison.settings, *comparison.job)
    if len(differing) != 1:
        return a, b
    ((key, a_value, b_value),) = differing
    return f"{a} {key_value(key, a_value)}", f"{b} {key_value(key, b_value)}"


def comparison_title(comparison: Comparison, a: str, b: str) -> str:
    """Return the title: `r7 against r1: Read-ahead 4096 KiB against 128 KiB, md127, 4k random read`."""
    differing = (*comparison.settings, *comparison.job)
    lines = [
        f"{key_name(key)} {key_value(key, y)} against {key_value(key, x)}" for key, x, y in differing[:_MOST_NAMED]
    ]
    if more := len(differing) - len(lines):
        lines.append(f"{more} more")
    started, other = comparison.a.start, comparison.b.start
    shared = [x for x, y in ((started.target, other.target), (started.workload, other.workload)) if x == y]
    return f"{b} against {a}: {', '.join((*lines, *shared)) or 'different target and job'}"


def verdict_parts(comparison: Comparison) -> tuple[VerdictWords, ...]:
    """Return the verdict on the headline metric, and on the tail latency if there are repeats."""
    rows = (comparison.headline, None if comparison.sides.alike else tail_row(comparison.rows))
    return tuple(_verdict_words(comparison, row) for row in rows if row is not None)


def _verdict_words(comparison: Comparison, row: MetricComparison) -> VerdictWords:
    judgement, alike = row.judgement, comparison.sides.alike
    return VerdictWords(
        sign=verdict_sign(judgement),
        word="repeat" if alike else judgement_word(judgement),
        figure=row_name(row),
        difference=row_percent(row),
        between="" if row.interval is None else between_text(row.interval),
        reason="" if alike or judgement is None or judgement.decided else reason_text(judgement),
        tone=verdict_tone(judgement),
    )


def drawn_difference(comparison: Comparison) -> DrawnDifference | None:
    """Return the difference in the headline metric for drawing; None if a side has no value."""
    row = comparison.headline
    if row is None or row.percent is None:
        return None
    interval = row.interval
    return DrawnDifference(
        middle=row.percent if interval is None else interval.percent,
        low=None if interval is None else interval.percent_low,
        high=None if interval is None else interval.percent_high,
        points=tuple(_pairs(comparison, row)) if comparison.sides.interleaved else (),
        threshold=comparison.sides.threshold,
        tone=verdict_tone(row.judgement),
    )


def _pairs(comparison: Comparison, row: MetricComparison) -> Iterator[float]:
    for a, b in zip(comparison.sides.a, comparison.sides.b, strict=True):
        value, other = (value_of(run.figures, row.direction, row.figure) for run in (a, b))
        if value and other is not None:
            yield (other / value - 1) * 100


def drawing_text(drawn: DrawnDifference) -> str:
    """Return a legend for the drawing, as one sentence."""
    parts = ["each point is one pair"] if drawn.points else []
    parts += ["each bar is an interval, and its mark is the middle"] if drawn.low is not None else []
    parts.append(f"shaded: up to +-{drawn.threshold:g} % counts as no difference")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
