"""Results of each interval of a job with several sections: per section, and the sum of all running sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.fio.document import FioDocument
from app.core.fio.histogram import Histogram
from app.core.fio.render import section_names
from app.core.fio.sampler import Bins, LatencyWindow, Sampler, window_percentiles
from app.core.fio.sections import JobSection, phases
from app.core.session.results import DIRECTIONS, SIDES, DirectionSample, Phase, Sample, SectionSample

_ABOUT_OVER = 0.98
"""Share of the run time after which a section without progress counts as ended."""


class SectionSampler:
    """Samples a job of several sections. Feed it fio's documents in order; set `ending` once fio was asked to stop.

    Each section has its own sampler, because sections start, end their ramp and end at different times. The total
    sample adds up all sections that did I/O in the interval, including sections in their ramp. It belongs to the
    measured phase as soon as any section is measured.
    """

    def __init__(self, sections: Sequence[JobSection], *, period_s: float = 0.25) -> None:
        """`period_s`: seconds between two documents."""
        names = section_names(len(sections))
        self._rows = [_SectionRow(entry, section, period_s) for entry, section in zip(names, sections, strict=True)]
        first = phases(sections)[0]
        self.phase = Phase.RAMP if all(section.job.ramp for section in first) else Phase.MEASURING
        """Ramp or measuring, as of the last document."""
        self._start_ms: float | None = None
        self._windows = {name: LatencyWindow() for name in SIDES}
        self.bins: Mapping[str, Bins] = {}
        """Latency histograms of the last interval by direction, for all sections together."""

    def add_document(self, document: FioDocument, *, ending: bool = False) -> Sample | None:
        """Return the interval that this document ends, or None if no section was running."""
        moved = [row.update(document) for row in self._rows]
        taken = [(row, row.add_document(document, ending=ending, others=any(moved))) for row in self._rows]
        running = [(row, sample) for row, sample in taken if sample is not None]
        now = document.timestamp_ms
        if not running or now is None:
            return None
        if self.phase is Phase.RAMP and any(sample.phase is Phase.MEASURING for _, sample in running):
            self.phase, self._start_ms = Phase.MEASURING, None
        if self._start_ms is None:
            # A section with a later ramp does not delay the start of the phase.
            wanted = [sample.at for _, sample in running if sample.phase is self.phase]
            self._start_ms = now - 1000 * max(wanted)
        seconds = max(sample.seconds for _, sample in running)
        sums = {
            name: direction_sample
            for name in SIDES
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
            sync=sums.get("sync"),
            # If one section makes progress, fio is updating its counts, so the run is not stalled.
            stalled=all(sample.stalled for _, sample in running),
            sections=tuple(
                SectionSample(name=row.name)
                if sample is None
                else SectionSample(
                    name=row.name,
                    phase=sample.phase,
                    **{name: sample.side(name) for name in SIDES},
                )
                for row, sample in taken
            ),
        )

    def _sum(self, name: str, running: Sequence[tuple[_SectionRow, Sample]], seconds: float) -> DirectionSample | None:
        """Return the sum of all running sections for direction `name`; None if none of them has this direction."""
        parts = [(part, sample.seconds) for _, sample in running if (part := sample.side(name)) is not None]
        if not parts:
            return None
        histogram = Histogram.merged(Histogram(dict(row.sampler.bins.get(name, ()))) for row, _ in running)
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
    """One section of the job."""

    def __init__(self, entry: str, section: JobSection, period_s: float) -> None:
        """`entry`: the name of the section in fio's documents."""
        job = section.job
        self.name = section.name
        self._entry = entry
        self._job = job
        self.sampler = Sampler(ramp=job.ramp > 0, planned_s=job.runtime or None, period_s=period_s)
        self._over = False
        self._before = self._now = (0, 0)

    def update(self, document: FioDocument) -> bool:
        """Read the counters of a document; return whether they changed since the last document."""
        section = document.section(self._entry)
        parts = [part for name in (*DIRECTIONS, "mixed") if (part := section.counters(name)) is not None]
        self._before = self._now
        self._now = max((part.runtime_ms for part in parts), default=0), sum(part.total_ios for part in parts)
        return self._now != self._before

    def add_document(self, document: FioDocument, *, ending: bool, others: bool) -> Sample | None:
        """Return the interval of the section; None before its start and after its end, when fio repeats its last
        counts.

        `others`: whether any section made progress, which shows that fio and the device are working.
        """
        runtime, ios = self._now
        if self._over or not ios:
            return None
        if self._now == self._before:
            measured = self.sampler.phase is not Phase.RAMP
            late = measured and 0 < 1000 * _ABOUT_OVER * self._job.runtime <= runtime
            self._over = late
            # No document shows that an amount is complete. The section may also be pausing, and continue later.
            if late or (self._job.ends_by_amount and others):
                return None
        return self.sampler.add_document(document.section(self._entry), ending=ending)
