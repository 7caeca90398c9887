"""The course of one run, document by document: ramp, settling, measuring, and where the measured window lies."""

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
    """Feed it the documents of one run in turn; `ending` once the run was told to stop.

    fio's counters cannot be made to start anew when the run has become steady. So it is given a longer time, what it
    measured is the difference of two of its documents, and it is interrupted after the second.
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
        """`ramp`: a ramp comes first. `planned_s`: length of what is measured, None if it ends by amount.

        `plan`: None for a phase that is not judged. `targets`: their names, where several are to be told apart.
        `sections`: those of a job that has several. Each has a ramp and an end of its own, so the steady state of the
        whole is not judged.
        """
        if sections:
            plan = None
        self.part = "section" if sections else "target"
        """What each entry of a document is about."""
        self._plan = plan
        self._waits = plan is not None and plan.until
        self._planned = planned_s
        self._sampler: Sampler | SectionSampler = Sampler(
            ramp=ramp,
            # While it waits for the steady state fio has cap and run time together: no document tells the end.
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
        """Whether fio may be interrupted before its time."""
        self.since: FioDocument | None = None
        """The document from which on it is measured; None if that is the beginning, or has not come."""
        self.until: FioDocument | None = None
        """The document at which all was measured that is wanted; None before, and of a fio that ends by itself."""

    @property
    def phase(self) -> Phase:
        """As of the last document."""
        return self._sampler.phase

    @property
    def bins(self) -> Mapping[str, Bins]:
        """Return the histograms of the last interval by direction."""
        return self._sampler.bins

    @property
    def complete(self) -> bool:
        """Whether fio may be interrupted, because all was measured that is wanted."""
        return self.until is not None

    @property
    def settling(self) -> bool:
        """Whether measuring has not begun because it is waited for the steady state."""
        return self._waits and self.since is None

    @property
    def verdict(self) -> SteadyStateResult | None:
        """How the whole run stood to the rule; None of one too short for a window, unless it waited."""
        verdict = self.steady
        return verdict if verdict is not None and (self._waits or verdict.rounds >= verdict.window) else None

    @property
    def steady(self) -> SteadyStateResult | None:
        """How it stands to the rule; None before a round has ended, and where nothing is judged."""
        # What counts is how it stood when measuring began, not how the measured part went on.
        if self._waited is not None and not self.ended_early:
            return self._waited
        if self._watch is None:
            return None
        verdict = self._watch.result()
        waited = 0.0 if self._waited is None else self._waited.waited_s
        return replace(verdict, waited_s=waited, ended_early=self.ended_early) if verdict.rounds else None

    def add_document(self, document: FioDocument, *, ending: bool = False) -> tuple[Sample | None, bool]:
        """The interval this document ends, None for none; and whether a round ended with it."""
        if self.complete:
            return None, False
        sample = self._sampler.add_document(document, ending=ending)
        if sample is None or sample.phase not in _JUDGED or self._watch is None:
            return sample, False
        judged = self._watch.add(sample)
        # A document that comes after a stall holds counts of different moments: no window begins or ends there.
        if not ending and not sample.stalled:
            self._decide(document, sample, judged=judged)
        return sample, judged

    def _decide(self, document: FioDocument, sample: Sample, *, judged: bool) -> None:
        assert self._plan is not None
        assert self._watch is not None
        steady = judged and self._watch.steady
        if sample.phase is Phase.SETTLING:
            capped = not steady and sample.at >= self._plan.cap_s
            if steady or capped:
                self._waited = replace(self._watch.result(), waited_s=sample.at, capped=capped)
                self.since = document
                self._watch = SteadyStateDetector(self._plan)
                assert isinstance(self._sampler, Sampler)  # sections are not judged
                self._sampler.enter(Phase.MEASURING)
        elif self._plan.end_early and steady:
            self.ended_early = True
            self.until = document
        elif self._waits and self._planned is not None and sample.at >= self._planned:
            self.until = document


# -- the intervals of a run that is over, from the raw output of fio --------------------------------------------------

_CHUNK = 1 << 20


def read_samples(raw: Path, course: RunPhases) -> tuple[Sample, ...]:
    """Every interval in the file `fio.out` of a run folder, as they were shown live; none if it cannot be read.

    `course`: as it was when the run began.
    """
    taken = (course.add_document(FioDocument(data))[0] for data in read_documents(raw))
    return tuple(sample for sample in taken if sample is not None)


def read_documents(raw: Path) -> Iterator[Mapping[str, Any]]:
    """Every document in the file, one at a time: those of an hour take gigabytes together. None if it is not there."""
    parser = StreamParser()
    try:
        with open_input(raw) as file:
            for chunk in iter(lambda: file.read(_CHUNK), b""):
                yield from (event.data for event in parser.feed(chunk) if isinstance(event, FioJsonDocument))
    except OSError:
        return
    yield from (event.data for event in parser.close() if isinstance(event, FioJsonDocument))


def with_seconds(samples: Sequence[Sample]) -> list[tuple[float, Sample]]:
    """With the seconds since what is measured began, at the end of each interval; those before are negative."""
    placed: list[tuple[float, Sample]] = []
    after = 0.0
    for phase in (Phase.MEASURING, Phase.SETTLING, Phase.RAMP):  # backwards, as each ends where the next begins
        part = [sample for sample in samples if sample.phase is phase]
        after -= part[-1].at if part and phase is not Phase.MEASURING else 0.0
        placed = [*((sample.at + after, sample) for sample in part), *placed]
    return placed
