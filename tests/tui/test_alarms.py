"""What befalls a running job is said once, as soon as it is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.fio.run_phases import RunPhases, read_samples
from app.core.session.results import DirectionSample, MemberStats, Phase, Sample
from app.core.session.state import ActiveRun
from app.tui.alarms import RunAlerts
from app.tui.bench.curves import Curves, marks_of
from tests.core.fio.record import STREAMS
from tests.tui.test_bench_view import active


def at(second: float, ios: int) -> Sample:
    read = DirectionSample(iops=ios * 4.0, bytes_per_second=0.0, ios=ios)
    return Sample(at=second, seconds=0.25, phase=Phase.MEASURING, read=read)


def flowing(*ios: int) -> ActiveRun:
    """A job with so many I/Os completed in each quarter of a second."""
    return replace(active(), samples=tuple(at((number + 1) * 0.25, count) for number, count in enumerate(ios)))


def heard(*moments: ActiveRun) -> list[tuple[str, ...]]:
    alarms = RunAlerts()
    return [alarms.update(moment) for moment in moments]


def test_a_stall_is_told_within_a_second_and_once() -> None:
    before, first, later = flowing(9, 0, 0, 0), flowing(9, 0, 0, 0, 0), flowing(9, 0, 0, 0, 0, 0)
    assert heard(before, first, later) == [(), ("No I/O completed for 1.0 s, since 0:00.",), ()]


def test_the_end_of_a_stall_is_told_with_its_length() -> None:
    during, after = flowing(9, *[0] * 8), flowing(9, *[0] * 8, 9)
    assert heard(during, after)[1] == ("No I/O completed for 2.0 s at 0:00.",)


def test_a_stall_of_the_next_run_is_another_one() -> None:
    stalled = flowing(9, 0, 0, 0, 0)
    next_run = replace(stalled, start=replace(stalled.start, id="r2"))
    assert [len(said) for said in heard(stalled, next_run)] == [1, 1]


def test_a_member_that_fails_in_the_run_is_told_once() -> None:
    good = replace(active(), members=(MemberStats(device="sdb"),))
    failed = replace(active(), members=(MemberStats(device="sdb", role="faulty"),))
    assert heard(good, failed, failed) == [(), ("sdb failed during the run and is marked faulty.",), ()]


def test_a_member_that_had_failed_before_is_no_news() -> None:
    failed = replace(active(), members=(MemberStats(device="sdb", role="faulty"),))
    assert heard(failed, failed) == [(), ()]


def test_nothing_is_told_while_nothing_is_measured() -> None:
    assert RunAlerts().update(None) == ()


def held() -> tuple[Sample, ...]:
    """What a real fio told whose worker was stopped for a second and a half."""
    return read_samples(STREAMS / "worker_held.stdout", RunPhases(ramp=False, planned_s=4.0))


def test_a_real_stall_is_told_with_its_length_as_soon_as_fio_tells_again() -> None:
    samples = held()
    said = heard(*(replace(active(), samples=samples[: count + 1]) for count in range(len(samples))))
    assert said[2:4] == [
        ("No I/O completed for 1.7 s, since 0:00.",),
        ("No I/O completed for 1.7 s at 0:00.",),
    ]


def test_while_fio_tells_nothing_that_is_said_once() -> None:
    silences = [replace(flowing(9), silent_s=seconds) for seconds in (0.3, 1.3, 2.3)]
    assert heard(*silences) == [(), ("Stall: no output from fio for 1.3 s, an I/O has not completed.",), ()]


def test_the_silence_of_a_simulation_says_nothing_of_a_device() -> None:
    run = replace(flowing(9), silent_s=5.0)
    assert heard(replace(run, start=replace(run.start, simulated=True))) == [()]


def test_before_the_measured_phase_silence_is_no_stall() -> None:
    ramp = replace(active(Phase.RAMP), silent_s=5.0)
    assert heard(ramp) == [()]


def test_a_real_stall_is_on_the_graph_at_its_second() -> None:
    curves = Curves()
    curves.take(held(), 0.0)
    (mark,) = marks_of(curves, ascii=False)
    assert mark.at == pytest.approx(0.4, abs=0.05)
    assert mark.text.startswith("stall 1.")
