"""The phases of one run (ramp, settling, measuring) and its measured window, tracked document by document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.core.fio.document import FioDocument
from app.core.fio.sampler import Bins, Sampler
from app.core.fio.section_sampler import SectionSampler
from app.core.fio.sections import JobSection
from app.core.fio.steady_state import SteadyStateDetector
from app.core.fio.stream import FioJsonDocument, StreamParser
from app.core.session.event_types import SteadyPlan
from app.core.session.results import Phase, Sample, SteadyStateResult
from backends.input_file import open_input

_JUDGED = (Phase.SETTLING, Phase.MEASURING)


class RunPhases:
    """Tracks the phase of a run. Feed it fio's documents in order; set `ending` once fio was asked to stop.

    fio's counters cannot be reset when a run becomes steady. So fio gets a longer run time, the result is the
    difference of two of its documents, and fio is interrupted after the second one.
    """

    def __init__(
        self,
        *,
        ramp: bool,
        planned_s: float | None,
        plan: SteadyPlan | None = None,
        period_s: float = 0.25,
        phase: Phase = Phase.MEASURING,
        targets: Sequence[str] = (),
        sections: Sequence[JobSection] = (),
    ) -> None:
        """Prepare to track one run.

        `ramp`: whether the run starts with a ramp. `planned_s`: planned seconds of measuring, None for a job that ends
        by amount. `plan`: the steady state plan, None for a phase that is not judged. `targets`: names of the targets,
        if there are several. `sections`: the sections of a job that has several. Each section has its own ramp and end,
        so the steady state of the run is not judged.
        """
        if sections:
            plan = None
        self.part = "section" if sections else "target"
        """Kind of the parts that have an entry of their own in fio's documents: `section` or `target`."""
        self._plan = plan
        self._waits = plan is not None and plan.until
        self._planned = planned_s
        self._sampler: Sampler | SectionSampler = Sampler(
            ramp=ramp,
            # With a wait for the steady state, fio's run time includes the maximum wait: it does not show the end.
            planned_s=None if self._waits else planned_s,
            period_s=period_s,
            phase=Phase.SETTLING if self._waits else phase,
            targets=targets,
        )
        if sections:
            self._sampler = SectionSampler(sections, period_s=period_s)
        self._watch = None if plan is None else SteadyStateDetector(plan)
        self._waited: SteadyStateResult | None = None
        self.ended_early = False
        """Whether the run is steady and may end before its planned time."""
        self.since: FioDocument | None = None
        """The document at which measuring began; None if measuring begins with the run, or has not begun."""
        self.until: FioDocument | None = None
        """The document at which measuring was complete; None before that, and for a run that fio ends."""

    @property
    def phase(self) -> Phase:
        """Return the phase as of the last document."""
        return self._sampler.phase

    @property
    def bins(self) -> Mapping[str, Bins]:
        """Return the latency histograms of the last interval, by direction."""
        return self._sampler.bins

    @property
    def complete(self) -> bool:
        """Return whether measuring is complete, so that fio may be interrupted."""
        return self.until is not None

    @property
    def settling(self) -> bool:
        """Return whether the run is still waiting for the steady state."""
        return self._waits and self.since is None

    @property
    def verdict(self) -> SteadyStateResult | None:
        """Return the steady state result; None if the run did not wait for it and is too short for one window."""
        verdict = self.steady
        return verdict if verdict is not None and (self._waits or verdict.rounds >= verdict.window) else None

    @property
    def steady(self) -> SteadyStateResult | None:
        """Return the steady state result so far; None before the first round, or if nothing is judged."""
        # If the run waited for the steady state, the result at the start of measuring counts, not the later course.
        if self._waited is not None and not self.ended_early:
            return self._waited
        if self._watch is None:
            return None
        verdict = self._watch.result()
        waited = 0.0 if self._waited is None else self._waited.waited_s
        return replace(verdict, waited_s=waited, ended_early=self.ended_early) if verdict.rounds else None

    def add_document(self, document: FioDocument, *, ending: bool = False) -> tuple[Sample | None, bool]:
        """Return the interval that this document ends (None for none), and whether the interval ended a round."""
        if self.complete:
            return None, False
        sample = self._sampler.add_document(document, ending=ending)
        if sample is None or sample.phase not in _JUDGED or self._watch is None:
            return sample, False
        judged = self._watch.add(sample)
        # A document after a stall has counts of different moments, so no window begins or ends there.
        if not ending and not sample.stalled:
            self._decide(document, sample, judged=judged)
        return sample, judged

    def _decide(self, document: FioDocument, sample: Sample, *, judged: bool) -> None:
        assert self._plan is not None
        assert self._watch is not None
        steady = judged and self._watch.result().attained
        if sample.phase is Phase.SETTLING:
            capped = not steady and sample.at >= self._plan.cap_s
            if steady or capped:
                self._waited = replace(self._watch.result(), waited_s=sample.at, capped=capped)
                self.since = document
                self._watch = SteadyStateDetector(self._plan)
                assert isinstance(self._sampler, Sampler)  # no steady state for sections
                self._sampler.enter(Phase.MEASURING)
        elif self._plan.end_early and steady:
            self.ended_early = True
            self.until = document
        elif self._waits and self._planned is not None and sample.at >= self._planned:
            self.until = document


# -- the intervals of a finished run, from the raw output of fio -----------------------------------------------------

_CHUNK = 1 << 20


def read_samples(raw: Path, course: RunPhases) -> tuple[Sample, ...]:
    """Return all intervals in the file `fio.out` of a run folder, as they were shown live.

    `course`: a new phase tracker, set up as at the start of the run. Returns an empty tuple if the file cannot be read.
    """
    taken = (course.add_document(FioDocument(data))[0] for data in read_documents(raw))
    return tuple(sample for sample in taken if sample is not None)


def read_documents(raw: Path) -> Iterator[Mapping[str, Any]]:
    """Yield fio's documents in a file one at a time, because those of an hour would take gigabytes of memory.

    Yields nothing if the file cannot be read.
    """
    parser = StreamParser()
    try:
        with open_input(raw) as file:
            for chunk in iter(lambda: file.read(_CHUNK), b""):
                yield from (event.data for event in parser.feed(chunk) if isinstance(event, FioJsonDocument))
    except OSError:
        return
    yield from (event.data for event in parser.close() if isinstance(event, FioJsonDocument))


def with_seconds(samples: Sequence[Sample]) -> list[tuple[float, Sample]]:
    """Return each interval with the seconds from the start of measuring to its end, negative for earlier phases."""
    placed: list[tuple[float, Sample]] = []
    after = 0.0
    for phase in (Phase.MEASURING, Phase.SETTLING, Phase.RAMP):  # backwards: each phase ends where the next begins
        part = [sample for sample in samples if sample.phase is phase]
        after -= part[-1].at if part and phase is not Phase.MEASURING else 0.0
        placed = [*((sample.at + after, sample) for sample in part), *placed]
    return placed
