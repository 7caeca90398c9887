"""The measured window of a run that waits for its steady state: exactly what came in it."""

from __future__ import annotations

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.histogram import Histogram
from app.core.fio.job import Job
from app.core.fio.run_phases import RunPhases
from app.core.fio.summary import FioResult, summarize
from app.core.presentation.run import steady_text
from app.core.session.event_types import SteadyPlan
from app.core.session.results import Phase, RunResult, RunStatus, Sample
from backends.errors import InvalidValueError
from tests.core.fio.documents import direction, document

FAST, SLOW = 99840, 1048576
WAITS = SteadyPlan(until=True, cap_s=20, round_s=1, window=3)
EARLY = SteadyPlan(end_early=True, round_s=1, window=3)


def documents(*rates: int, ramp: int = 0) -> list[FioDocument]:
    """One document a second; `rates` are I/Os in each, all fast below 200 and all slow from there on."""
    found, counts, start = [], {FAST: 0, SLOW: 0}, 0
    for second, rate in enumerate(rates, 1):
        counts[FAST if rate < 200 else SLOW] += rate
        timed = {value: count for value, count in counts.items() if count}
        if second <= ramp:
            found.append(
                FioDocument(document(second * 1000, read=direction({}, runtime_ms=second * 1000, issued=rate)))
            )
            counts, start = {FAST: 0, SLOW: 0}, second
        else:
            found.append(
                FioDocument(document(second * 1000, read=direction(timed, runtime_ms=(second - start) * 1000)))
            )
    return found


def course(plan: SteadyPlan | None, *, planned_s: float = 3, ramp: bool = False) -> RunPhases:
    return RunPhases(ramp=ramp, planned_s=planned_s, plan=plan, period_s=1.0)


def taken(run: RunPhases, found: list[FioDocument]) -> list[Sample]:
    return [sample for each in found if (sample := run.add_document(each)[0]) is not None]


def summed(run: RunPhases, found: list[FioDocument], *, stopped: bool = False) -> RunResult:
    """The verdict with fio's last document being the last of `found`, interrupted."""
    taken(run, found)
    outcome = FioResult(
        document=found[-1],
        returncode=128,
        stopped=stopped,
        since=run.since,
        until=run.until,
        settling=run.settling,
        ended_early=run.ended_early,
    )
    return summarize(outcome, Job(runtime=3, ramp=0))


UNSTEADY_THEN_STEADY = (900, 400, 300, 250, 100, 100, 100, 110, 90, 120, 777)
"""The rule holds first over seconds 5 to 7, so 8 to 10 are measured, and what comes after is not."""


def test_it_measures_from_the_round_that_made_it_steady() -> None:
    phases = [sample.phase for sample in taken(course(WAITS), documents(*UNSTEADY_THEN_STEADY))]
    assert phases == [Phase.SETTLING] * 7 + [Phase.MEASURING] * 3


def test_time_begins_anew_with_the_measured_window() -> None:
    assert [sample.at for sample in taken(course(WAITS), documents(*UNSTEADY_THEN_STEADY))][6:] == [7.0, 1.0, 2.0, 3.0]


def test_figures_are_those_of_the_window_alone() -> None:
    read = summed(course(WAITS), documents(*UNSTEADY_THEN_STEADY)).read
    assert read is not None
    assert (read.total_ios, read.total_bytes, read.runtime_s) == (320, 320 * 4096, 3.0)
    assert read.iops == pytest.approx(320 / 3)


def test_percentiles_are_those_of_the_window_alone() -> None:
    read = summed(course(WAITS), documents(*UNSTEADY_THEN_STEADY)).read
    assert read is not None
    latency = read.latency_ns
    assert (read.bins, latency.p50, latency.max) == (((FAST, 320),), FAST, FAST)
    assert latency.mean == pytest.approx(FAST)


def test_a_window_that_was_measured_whole_is_a_good_run_although_fio_was_interrupted() -> None:
    assert summed(course(WAITS), documents(*UNSTEADY_THEN_STEADY)).status is RunStatus.OK


def test_it_says_how_long_it_waited_and_that_it_is_steady() -> None:
    run = course(WAITS)
    taken(run, documents(*UNSTEADY_THEN_STEADY))
    seen = run.verdict
    assert seen is not None
    assert (seen.attained, seen.waited_s, seen.capped, seen.rounds) == (True, 7.0, False, 7)


def test_at_the_cap_it_is_measured_all_the_same_and_called_not_steady() -> None:
    run = course(SteadyPlan(until=True, cap_s=5, round_s=1, window=3))
    phases = [sample.phase for sample in taken(run, documents(*(100 * 2**n for n in range(10))))]
    assert phases == [Phase.SETTLING] * 5 + [Phase.MEASURING] * 3
    assert run.verdict is not None
    assert (run.verdict.attained, run.verdict.capped, run.verdict.waited_s) == (False, True, 5.0)


def test_the_ramp_is_not_waited_for_twice() -> None:
    run = course(WAITS, ramp=True)
    samples = taken(run, documents(100, 100, *[100] * 8, ramp=2))
    assert [sample.phase for sample in samples][-6:] == [Phase.SETTLING] * 3 + [Phase.MEASURING] * 3


def test_stopped_while_it_waits_it_has_measured_nothing() -> None:
    figures = summed(course(WAITS), documents(900, 400, 300), stopped=True)
    assert (figures.status, figures.read, figures.reason) == (
        RunStatus.STOPPED,
        None,
        "Stopped while waiting for the steady state",
    )


def test_stopped_in_the_window_it_keeps_what_that_held_until_then() -> None:
    figures = summed(course(WAITS), documents(*UNSTEADY_THEN_STEADY[:9]), stopped=True)
    assert figures.read is not None
    assert (figures.status, figures.read.total_ios) == (RunStatus.STOPPED, 200)


def test_a_run_may_end_early_once_what_it_measured_is_steady() -> None:
    run = course(EARLY, planned_s=60)
    assert len(taken(run, documents(*UNSTEADY_THEN_STEADY))) == 7
    assert (run.complete, run.ended_early) == (True, True)


def test_one_that_ended_early_is_a_good_run_of_what_was_measured() -> None:
    figures = summed(course(EARLY, planned_s=60), documents(100, 100, 100))
    assert figures.read is not None
    assert (figures.status, figures.read.total_ios) == (RunStatus.OK, 300)


def test_nothing_is_ended_unless_that_was_asked_for() -> None:
    run = course(SteadyPlan(round_s=1, window=3), planned_s=60)
    assert len(taken(run, documents(*UNSTEADY_THEN_STEADY))) == len(UNSTEADY_THEN_STEADY)
    assert not run.complete


def test_every_run_is_judged_by_its_last_rounds() -> None:
    run = course(SteadyPlan(round_s=1, window=3), planned_s=10)
    taken(run, documents(100, 100, 100, 100, 150))
    assert run.verdict is not None
    assert (run.verdict.attained, run.verdict.waited_s) == (False, 0.0)


def test_a_run_too_short_for_a_window_is_not_judged() -> None:
    run = course(SteadyPlan(round_s=1, window=3), planned_s=2)
    taken(run, documents(100, 100))
    assert run.verdict is None


def test_a_stall_begins_no_window() -> None:
    run = course(WAITS)
    late = document(5500, read=direction({FAST: 300}, runtime_ms=3000))
    phases = [sample.phase for sample in taken(run, [*documents(100, 100), FioDocument(late)])]
    assert phases == [Phase.SETTLING] * 3
    assert run.settling


def test_the_words_name_the_round_and_the_limits() -> None:
    run = course(WAITS)
    found = documents(900, 400, 300, 250)
    taken(run, found[:2])
    assert run.steady is not None
    assert steady_text(run.steady) == "steady: round 2 of 3"
    taken(run, found[2:])
    assert steady_text(run.steady) == "steady: no, range 47 %, slope 47 % (round 4)"


def test_a_histogram_of_the_window_is_that_of_its_ios() -> None:
    read = summed(course(WAITS), documents(*[100] * 3, *[300, 100, 100])).read
    assert read is not None
    assert Histogram(dict(read.bins)).total == read.total_ios == 500


def test_a_wait_is_long_enough_when_just_one_window_fits_into_it() -> None:
    enough = SteadyPlan(until=True, cap_s=50, round_s=10, window=5)
    assert enough.checked() == enough
    with pytest.raises(InvalidValueError, match="too short"):
        SteadyPlan(until=True, cap_s=49, round_s=10, window=5).checked()


@pytest.mark.parametrize("plan", [{"window": 3}, {"window": 25}, {"round_s": 1}, {"round_s": 3600}, {"cap_s": 1}])
def test_rounds_and_windows_have_limits_that_are_allowed_themselves(plan: dict[str, int]) -> None:
    assert SteadyPlan(**plan).checked() == SteadyPlan(**plan)  # type: ignore[arg-type]


@pytest.mark.parametrize("plan", [{"window": 2}, {"window": 26}, {"round_s": 0}, {"round_s": 3601}, {"cap_s": 0}])
def test_beyond_the_limits_a_plan_is_refused(plan: dict[str, int]) -> None:
    with pytest.raises(InvalidValueError):
        SteadyPlan(**plan).checked()  # type: ignore[arg-type]
