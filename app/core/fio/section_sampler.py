"""Figures of each interval of a job of several sections: of each section, and of all that run at the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.fio.document import FioDocument
from app.core.fio.histogram import Histogram
from app.core.fio.render import section_names
from app.core.fio.sampler import Bins, LatencyWindow, Sampler, window_percentiles
from app.core.fio.sections import JobSection, phases
from app.core.session.results import DIRECTIONS, DirectionSample, Phase, Sample, SectionSample

_ABOUT_OVER = 0.98
"""Share of its run time from which a section without progress is over."""


class SectionSampler:
    """Feed it the documents of one run in turn; `ending` once the run was told to stop.

    Each section has a sampler of its own, because each starts, ends its ramp and ends at a time of its own. The sample
    of the whole adds up all sections that did I/O in the interval, those in their ramp too. It belongs to the measured
    phase as soon as a section is measured.
    """

    def __init__(self, sections: Sequence[JobSection], *, period_s: float = 0.25) -> None:
        """`period_s`: seconds between two documents."""
        names = section_names(len(sections))
        self._rows = [_SectionRow(entry, section, period_s) for entry, section in zip(names, sections, strict=True)]
        first = phases(sections)[0]
        self.phase = Phase.RAMP if all(section.job.ramp for section in first) else Phase.MEASURING
        """Ramp or measuring, as of the last document."""
        self._start_ms: float | None = None
        self._windows = {name: LatencyWindow() for name in DIRECTIONS}
        self.bins: Mapping[str, Bins] = {}
        """Histograms of the last interval by direction, of all sections together."""

    def add_document(self, document: FioDocument, *, ending: bool = False) -> Sample | None:
        """The interval this document ends; None for one in which no section was running."""
        moved = [row.update(document) for row in self._rows]
        taken = [(row, row.add_document(document, ending=ending, others=any(moved))) for row in self._rows]
        running = [(row, sample) for row, sample in taken if sample is not None]
        now = document.timestamp_ms
        if not running or now is None:
            return None
        if self.phase is Phase.RAMP and any(sample.phase is Phase.MEASURING for _, sample in running):
            self.phase, self._start_ms = Phase.MEASURING, None
        if self._start_ms is None:
            # Sections of a later ramp do not make it start later.
            wanted = [sample.at for _, sample in running if sample.phase is self.phase]
            self._start_ms = now - 1000 * max(wanted)
        seconds = max(sample.seconds for _, sample in running)
        sums = {
            name: direction_sample
            for name in DIRECTIONS
            if (direction_sample := self._sum(name, running, seconds)) is not None
        }
        self.bins = {name: self._windows[name].last for name in sums}
        return Sample(
            at=(now - self._start_ms) / 1000,
            seconds=seconds,
            phase=self.phase,
            read=sums.get("read"),
            write=sums.get("write"),
            trim=sums.get("trim"),
            # One section that goes on shows that fio tells its counts.
            stalled=all(sample.stalled for _, sample in running),
            sections=tuple(
                SectionSample(name=row.name)
                if sample is None
                else SectionSample(
                    name=row.name, phase=sample.phase, read=sample.read, write=sample.write, trim=sample.trim
                )
                for row, sample in taken
            ),
        )

    def _sum(self, name: str, running: Sequence[tuple[_SectionRow, Sample]], seconds: float) -> DirectionSample | None:
        """One direction of all that run; None where none of them has it."""
        parts = [(part, sample.seconds) for _, sample in running if (part := sample.side(name)) is not None]
        if not parts:
            return None
        histogram = Histogram.merged(Histogram(dict(row.bins.get(name, ()))) for row, _ in running)
        window = self._windows[name]
        window.add(seconds, histogram)
        p50, p99, p99_9 = window_percentiles(window, histogram)
        lowest, spread = histogram.spread()
        return DirectionSample(
            iops=sum(part.iops * length for part, length in parts) / seconds,
            bytes_per_second=sum(part.bytes_per_second * length for part, length in parts) / seconds,
            ios=sum(part.ios for part, _ in parts),
            p50_ns=p50,
            p99_ns=p99,
            p99_9_ns=p99_9,
            max_ns=max((part.max_ns for part, _ in parts if part.max_ns is not None), default=None),
            spread_from=lowest,
            spread=spread,
        )


class _SectionRow:
    """One section of the file."""

    def __init__(self, entry: str, section: JobSection, period_s: float) -> None:
        """`entry`: its name in fio's documents."""
        job = section.job
        self.name = section.name
        self._entry = entry
        self._job = job
        self._sampler = Sampler(ramp=job.ramp > 0, planned_s=job.runtime or None, period_s=period_s)
        self._over = False
        self._before = self._now = (0, 0)

    @property
    def bins(self) -> Mapping[str, Bins]:
        """Histograms of its last interval by direction."""
        return self._sampler.bins

    def update(self, document: FioDocument) -> bool:
        """Whether it did anything since the last document."""
        own = document.section(self._entry)
        parts = [part for name in (*DIRECTIONS, "mixed") if (part := own.counters(name)) is not None]
        self._before = self._now
        self._now = max((part.runtime_ms for part in parts), default=0), sum(part.total_ios for part in parts)
        return self._now != self._before

    def add_document(self, document: FioDocument, *, ending: bool, others: bool) -> Sample | None:
        """Its interval; None before it starts and after its end, for which fio repeats its last counts.

        `others`: whether any section did something, so that fio and the device go on.
        """
        runtime, ios = self._now
        if self._over or not ios:
            return None
        if self._now == self._before:
            measured = self._sampler.phase is not Phase.RAMP
            late = measured and 0 < 1000 * _ABOUT_OVER * self._job.runtime <= runtime
            self._over = late
            # No document tells that an amount is done: it may also do nothing for a while, and go on.
            if late or (self._job.ends_by_amount and others):
                return None
        return self._sampler.add_document(document.section(self._entry), ending=ending)
