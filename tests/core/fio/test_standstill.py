"""A device that completes nothing for a second has stood still, and that is told while it lasts."""

from __future__ import annotations

from dataclasses import replace

from app.core.fio.stalls import IoStall, IoStallDetector, find_stalls, longest_unexplained_stall
from app.core.session.results import DirectionSample, Phase, Sample, SectionSample


def interval(at: float, seconds: float = 0.25, *, ios: int = 100, phase: Phase = Phase.MEASURING) -> Sample:
    part = DirectionSample(iops=ios / seconds, bytes_per_second=0.0, ios=ios)
    return Sample(at=at, seconds=seconds, phase=phase, read=part)


def taken(*samples: Sample) -> IoStallDetector:
    course = IoStallDetector()
    for sample in samples:
        course.add(sample)
    return course


def test_intervals_in_which_nothing_came_back_are_one_standstill() -> None:
    samples = (interval(1.0), *(interval(1.0 + n, 1.0, ios=0) for n in (1, 2, 3)), interval(4.25))
    assert find_stalls(samples) == (IoStall(at=1.0, seconds=3.0),)


def test_a_short_pause_is_none() -> None:
    assert find_stalls((interval(0.25), interval(1.0, 0.75, ios=0), interval(1.25))) == ()


def test_a_second_is_one() -> None:
    assert find_stalls((interval(0.25), interval(1.25, 1.0, ios=0))) == (IoStall(at=0.25, seconds=1.0),)


def test_two_short_pauses_are_not_one_long_one() -> None:
    pause = interval(1.0, 0.75, ios=0)
    assert find_stalls((pause, interval(1.25), interval(2.0, 0.75, ios=0), interval(2.25))) == ()


def test_the_ramp_does_not_count() -> None:
    assert find_stalls((interval(9.0, 9.0, ios=0, phase=Phase.RAMP),)) == ()


def test_a_standstill_up_to_the_end_counts() -> None:
    assert find_stalls((interval(1.0), interval(6.0, 5.0, ios=0))) == (IoStall(at=1.0, seconds=5.0),)


def test_silence_of_fio_itself_is_one_although_something_was_counted() -> None:
    silent = Sample(at=3.0, seconds=2.0, phase=Phase.MEASURING, read=interval(3.0, 2.0).read, stalled=True)
    assert find_stalls((interval(1.0), silent)) == (IoStall(at=1.0, seconds=2.0),)


def test_a_job_of_writes_alone_does_not_stand_still() -> None:
    writes = Sample(at=3.0, seconds=2.0, phase=Phase.MEASURING, write=interval(3.0, 2.0).read)
    assert find_stalls((writes,)) == ()


def test_one_that_lasts_is_told_and_grows() -> None:
    first = taken(interval(1.0), interval(2.5, 1.5, ios=0))
    assert first.current_stall == IoStall(at=1.0, seconds=1.5)
    first.add(interval(3.0, 0.5, ios=0))
    assert (first.current_stall, len(first.stalls)) == (IoStall(at=1.0, seconds=2.0), 1)


def test_one_that_is_over_does_not_go_on() -> None:
    course = taken(interval(1.0), interval(3.0, 2.0, ios=0), interval(3.25))
    assert (course.current_stall, len(course.stalls)) == (None, 1)


def test_a_second_one_is_another() -> None:
    course = taken(interval(2.0, 2.0, ios=0), interval(2.25), interval(4.25, 2.0, ios=0))
    assert course.stalls == [IoStall(at=0.0, seconds=2.0), IoStall(at=2.25, seconds=2.0)]


def of_section(name: str, sample: Sample) -> Sample:
    return replace(sample, sections=(SectionSample(name=name, phase=sample.phase, read=sample.read),))


def test_the_pace_of_an_earlier_phase_makes_no_standstill_of_a_slow_section() -> None:
    fast = [of_section("fast", interval(at / 4, ios=1000)) for at in range(1, 9)]
    slow = [of_section("slow", interval(2 + at / 4, ios=1 if at % 8 == 0 else 0)) for at in range(1, 25)]
    assert find_stalls([*fast, *slow])
    assert longest_unexplained_stall([*fast, *slow]) is None


def test_a_section_whose_own_pace_breaks_off_stands_still() -> None:
    fast = [of_section("fast", interval(at / 4, ios=1000)) for at in range(1, 9)]
    other = [of_section("other", interval(2 + at / 4, ios=0 if 8 < at < 16 else 50)) for at in range(1, 25)]
    found = longest_unexplained_stall([*fast, *other])
    assert found is not None
    assert found.at == 4.0
