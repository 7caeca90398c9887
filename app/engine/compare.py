"""Two runs side by side: figures and differences, no verdict. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from app.engine import units
from app.engine.figures import DirectionFigures, RunStatus
from app.engine.session import RunRecord

Read = Callable[[DirectionFigures], float | None]

SINGLE_RUNS = (
    "These are two single runs: how far runs of the same settings lie apart is not known, so nothing says whether the "
    "difference comes from the settings. Repeat both in turn."
)
"""What has to stand under every comparison of single runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A kind of figure of one direction."""

    key: str
    """In JSON."""
    label: str
    """For people."""
    read: Read
    """Where it is found; None where too few I/Os carry it."""
    show: Callable[[float | None], str]
    """How it is written."""


FIGURES: tuple[Figure, ...] = (
    Figure(key="iops", label="IOPS", read=lambda of: of.iops, show=units.iops),
    Figure(key="bytes_per_second", label="MiB/s", read=lambda of: of.bytes_per_second, show=units.mib_per_s),
    Figure(key="latency_mean_ns", label="mean latency", read=lambda of: of.latency_ns.mean, show=units.latency),
    Figure(key="latency_p50_ns", label="p50", read=lambda of: of.latency_ns.p50, show=units.latency),
    Figure(key="latency_p95_ns", label="p95", read=lambda of: of.latency_ns.p95, show=units.latency),
    Figure(key="latency_p99_ns", label="p99", read=lambda of: of.latency_ns.p99, show=units.latency),
    Figure(key="latency_p99_9_ns", label="p99.9", read=lambda of: of.latency_ns.p99_9, show=units.latency),
    Figure(key="latency_max_ns", label="max", read=lambda of: of.latency_ns.max, show=units.latency),
)
"""In the order to show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of both runs."""

    direction: str
    """`read` or `write`."""
    figure: Figure
    """Which."""
    a: float | None
    """Of the first run; None if it has none."""
    b: float | None
    """Of the second run."""

    @property
    def percent(self) -> float | None:
        """How far the second is from the first, in percent of the first."""
        if self.a is None or self.b is None or not self.a:
            return None
        return (self.b - self.a) / self.a * 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs."""

    a: RunRecord
    """The first."""
    b: RunRecord
    """The second."""
    rows: tuple[Row, ...]
    """Figures that at least one of them has."""
    settings: tuple[tuple[str, str | None, str | None], ...]
    """Settings that differ: key, value in a, value in b; None where it was not recorded."""
    job: tuple[tuple[str, str | None, str | None], ...]
    """Fields of the job that differ."""
    caveats: tuple[str, ...]
    """Sentences that have to be read with the figures."""


def compare(a: RunRecord, b: RunRecord) -> Comparison:
    """Both runs, side by side."""
    job = differing(a.start.job, b.start.job)
    return Comparison(
        a=a,
        b=b,
        rows=tuple(_rows(a, b)),
        settings=differing(a.start.settings, b.start.settings),
        job=job,
        caveats=tuple(_caveats(a, b, bool(job))),
    )


def differing(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[tuple[str, str | None, str | None], ...]:
    """What the two mappings do not agree on."""
    keys = dict.fromkeys((*a, *b))
    return tuple((key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key))


def varying(mappings: list[Mapping[str, str]]) -> list[str]:
    """Keys whose values are not the same in all of them: the columns worth showing."""
    keys = dict.fromkeys(key for mapping in mappings for key in mapping)
    return [key for key in keys if len({mapping.get(key) for mapping in mappings}) > 1]


def _rows(a: RunRecord, b: RunRecord) -> Iterator[Row]:
    pairs = (("read", a.figures.read, b.figures.read), ("write", a.figures.write, b.figures.write))
    for direction, first, second in pairs:
        for figure in FIGURES:
            one = None if first is None else figure.read(first)
            other = None if second is None else figure.read(second)
            if one is not None or other is not None:
                yield Row(direction=direction, figure=figure, a=one, b=other)


def _caveats(a: RunRecord, b: RunRecord, jobs_differ: bool) -> Iterator[str]:
    for run in (a, b):
        if run.figures.status is not RunStatus.OK:
            yield f"{run.id} is not a whole run: {run.figures.reason or run.figures.status.value}"
    if a.start.target != b.start.target:
        yield f"The targets differ: {a.start.target} and {b.start.target}."
    if jobs_differ:
        yield "The jobs differ, so more than the settings may be behind a difference."
    if a.start.simulated or b.start.simulated:
        yield "SIMULATED: at least one of them was not measured on hardware."
    yield SINGLE_RUNS
