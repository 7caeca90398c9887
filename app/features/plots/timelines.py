"""Timelines of runs. No I/O except for the intervals, which are read from disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.fio.run_phases import with_seconds
from app.core.session.results import DirectionSample, Sample
from app.features.plots.request import MEBI, NoPlotDataError, PlotContent, PlotRequest, failure_text, parts_to_draw
from widgets.plot_render.plot_data import CourseInterval, RunCourse, TimelineData, Unit

_MOST_POINTS = 400


def timeline(request: PlotRequest) -> PlotContent:
    """Return a plot of one run of each part over time. Raises NoPlotDataError if no intervals are available."""
    subject, options, intervals = request.subject, request.options, request.intervals
    unit = Unit.RATE if options.unit is Unit.RATE else Unit.IOPS
    chosen = [(part.name, part.runs[-1 - options.run % len(part.runs)]) for part in parts_to_draw(subject)]
    courses = [RunCourse(name=name, intervals=_course(intervals(placed), unit)) for name, placed in chosen]
    drawn = tuple(course for course in courses if len(course.intervals) > 1)
    if not drawn:
        first = chosen[0][1].run
        missing = f"Nothing to draw over time: the intervals of {first.id} are not on disk."
        raise NoPlotDataError(failure_text([chosen[0][1]], missing))
    suffix = ": one run of each" if len(subject.runs) > len(chosen) else ""
    suffix = f", {chosen[0][1].run.id}" if len(chosen) == 1 else suffix
    return f"{subject.about}{suffix}", TimelineData(courses=drawn, unit=unit, log=options.log is not False), ""


def _course(samples: Sequence[Sample], unit: Unit) -> tuple[CourseInterval, ...]:
    intervals = [_interval(at, sample, unit) for at, sample in with_seconds(samples)]
    width = -(-len(intervals) // _MOST_POINTS)
    if width <= 1:
        return tuple(intervals)
    return tuple(_merge(intervals[start : start + width]) for start in range(0, len(intervals), width))


def _interval(at: float, sample: Sample, unit: Unit) -> CourseInterval:
    both = sample.transfers
    rates = (sample.bytes_per_second / MEBI if unit is Unit.RATE else sample.iops for sample in both)
    p50, p99, p99_9, worst = (_slowest(both, read) for read in _READS)
    return CourseInterval(at=at, rate=sum(rates), p50=p50, p99=p99, p99_9=p99_9, worst=worst, stalled=sample.stalled)


_READS: tuple[Callable[[DirectionSample], int | None], ...] = (
    lambda sample: sample.p50_ns,
    lambda sample: sample.p99_ns,
    lambda sample: sample.p99_9_ns,
    lambda sample: sample.max_ns,
)


def _slowest(both: Sequence[DirectionSample], read: Callable[[DirectionSample], int | None]) -> float | None:
    """Return the highest of the values that `read` returns for the directions; None if it returns none."""
    return max((float(value) for sample in both if (value := read(sample)) is not None), default=None)


def _merge(part: Sequence[CourseInterval]) -> CourseInterval:
    """Merge consecutive intervals into one. It has their lowest rate and their highest latencies, so that no stall is
    lost.
    """

    def worst(read: Callable[[CourseInterval], float | None]) -> float | None:
        return max((value for interval in part if (value := read(interval)) is not None), default=None)

    return CourseInterval(
        at=part[-1].at,
        rate=min(interval.rate for interval in part),
        p50=worst(lambda interval: interval.p50),
        p99=worst(lambda interval: interval.p99),
        p99_9=worst(lambda interval: interval.p99_9),
        worst=worst(lambda interval: interval.worst),
        stalled=any(interval.stalled for interval in part),
    )
