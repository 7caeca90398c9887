"""Running totals turned into intervals."""

from __future__ import annotations

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.sampler import Sampler
from app.core.session.results import Phase, Sample
from tests.core.fio.documents import direction, document, reads

FAST, SLOW = 99840, 1048576


def sampler(*, ramp: bool = False, planned_s: float | None = 60) -> Sampler:
    return Sampler(ramp=ramp, planned_s=planned_s)


def taken(machine: Sampler, *documents: FioDocument) -> list[Sample | None]:
    return [machine.add_document(found) for found in documents]


def test_the_first_document_is_an_interval_from_the_start() -> None:
    sample = sampler().add_document(reads(250, {FAST: 500}))
    assert sample is not None
    assert sample.read is not None
    assert (sample.at, sample.seconds, sample.read.iops) == (0.25, 0.25, 2000.0)
    assert sample.write is None


def test_an_interval_holds_what_came_since_the_last() -> None:
    _, sample = taken(sampler(), reads(250, {FAST: 500}), reads(500, {FAST: 500, SLOW: 1500}))
    assert sample is not None
    assert sample.read is not None
    assert (sample.read.ios, sample.read.iops, sample.read.bytes_per_second) == (1500, 6000.0, 6000 * 4096.0)
    assert (sample.read.p50_ns, sample.read.p99_9_ns) == (SLOW, SLOW)


def test_the_maximum_is_exact_when_it_rose_and_a_bucket_otherwise() -> None:
    machine = sampler()
    samples = taken(
        machine,
        reads(250, {SLOW: 100}, maximum=SLOW + 77),
        reads(500, {SLOW: 100, FAST: 100}, maximum=SLOW + 77),
        reads(750, {SLOW: 100, FAST: 101}, maximum=SLOW + 99),
    )
    assert [sample.read.max_ns for sample in samples if sample and sample.read] == [SLOW + 77, FAST, SLOW + 99]


def test_iops_and_bandwidth_use_their_own_clocks_in_a_stall() -> None:
    machine = sampler()
    machine.add_document(reads(1000, {FAST: 1000}))
    # Three seconds later: the count is of now, bytes and run time of before the stall.
    data = document(4000, read=direction({FAST: 1300}, runtime_ms=1250))
    data["jobs"][0]["read"]["io_bytes"] = 1250 * 4096
    late = machine.add_document(FioDocument(data))
    after = machine.add_document(reads(4250, {FAST: 1800}))
    assert late is not None
    assert after is not None
    assert late.read is not None
    assert after.read is not None
    assert (late.stalled, late.seconds, late.read.iops) == (True, 3.0, 100.0)
    assert late.read.bytes_per_second == 1000 * 4096
    assert (after.stalled, after.seconds, after.read.iops) == (False, 0.25, 2000.0)


def test_a_late_count_is_divided_by_the_time_it_took() -> None:
    machine = sampler()
    machine.add_document(FioDocument(document(800, read=direction({FAST: 40}, runtime_ms=390))))
    sample = machine.add_document(FioDocument(document(1000, read=direction({FAST: 1040}, runtime_ms=1000))))
    assert sample is not None
    assert sample.seconds == 0.61


def test_the_ramp_shows_what_is_issued_and_no_latencies() -> None:
    machine = sampler(ramp=True)
    samples = taken(machine, reads(250, {}, issued=500), reads(500, {}, issued=1000))
    assert samples[1] is not None
    assert samples[1].read is not None
    assert (samples[1].phase, samples[1].read.iops, samples[1].read.p50_ns) == (Phase.RAMP, 2000.0, None)


def test_the_clock_starts_anew_at_the_end_of_the_ramp() -> None:
    machine = sampler(ramp=True)
    first, second = taken(
        machine,
        reads(1000, {}, issued=9000),
        reads(1250, {FAST: 500}, runtime_ms=200),
    )
    assert first is not None
    assert second is not None
    assert second.read is not None
    assert (second.phase, second.at, second.read.iops) == (Phase.MEASURING, 0.2, 2500.0)


def test_a_document_torn_between_ramp_and_measuring_gives_no_figures() -> None:
    machine = sampler(ramp=True)
    samples = taken(
        machine,
        reads(1000, {}, issued=9000),
        reads(1250, {FAST: 100}, issued=5000, runtime_ms=240),
        reads(1500, {FAST: 500}, issued=504, runtime_ms=490),
    )
    assert samples[1] is None
    assert samples[2] is None or samples[2].read is not None
    assert machine.phase is Phase.MEASURING


def test_a_repeated_last_document_is_no_interval() -> None:
    machine = sampler(planned_s=1)
    taken(machine, reads(750, {FAST: 750}), reads(1000, {FAST: 1000}))
    assert machine.add_document(FioDocument(document(1200, read=direction({FAST: 1000}, runtime_ms=1000)))) is None


def test_the_last_interval_ends_with_the_job_and_is_no_stall() -> None:
    machine = sampler(planned_s=1)
    machine.add_document(reads(750, {FAST: 750}))
    sample = machine.add_document(FioDocument(document(1200, read=direction({FAST: 1000}, runtime_ms=1000))))
    assert sample is not None
    assert (sample.seconds, sample.stalled) == (0.25, False)


def test_the_last_interval_of_a_stopped_run_ends_with_the_job() -> None:
    machine = sampler()
    machine.add_document(reads(750, {FAST: 750}))
    late = FioDocument(document(1200, read=direction({FAST: 1000}, runtime_ms=1000)))
    sample = machine.add_document(late, ending=True)
    assert sample is not None
    assert not sample.stalled


def test_a_document_right_after_another_joins_the_next_interval() -> None:
    machine = sampler()
    samples = taken(machine, reads(250, {FAST: 250}), reads(300, {FAST: 300}), reads(500, {FAST: 500}))
    assert samples[1] is None
    assert samples[2] is not None
    assert samples[2].seconds == 0.25


@pytest.mark.parametrize(("per_interval", "seconds"), [(37, 0.75), (500, 0.25)])
def test_slow_devices_get_p99_from_a_wider_window(per_interval: int, seconds: float) -> None:
    machine = sampler()
    for n in range(1, 40):
        sample = machine.add_document(reads(250 * n, {FAST: per_interval * n}))
        assert sample is not None
        assert sample.read is not None
        assert (sample.read.p99_ns is not None) == (n * 0.25 >= seconds)


def test_too_few_ios_in_five_seconds_have_no_p99_9() -> None:
    machine = sampler()
    for n in range(1, 60):
        sample = machine.add_document(reads(250 * n, {FAST: 37 * n}))
        assert sample is not None
        assert sample.read is not None
        assert sample.read.p99_9_ns is None


def test_an_interval_without_io_has_no_maximum() -> None:
    _, sample = taken(sampler(), reads(250, {FAST: 5}), reads(500, {FAST: 5}))
    assert sample is not None
    assert sample.read is not None
    assert (sample.read.iops, sample.read.max_ns) == (0.0, None)


def test_a_clock_set_back_loses_one_interval_only() -> None:
    machine = sampler()
    machine.add_document(reads(10_000, {FAST: 10_000}))
    jumped = FioDocument(document(5_250, read=direction({FAST: 10_250}, runtime_ms=10_250)))
    later = FioDocument(document(5_500, read=direction({FAST: 10_500}, runtime_ms=10_500)))
    assert machine.add_document(jumped) is None
    sample = machine.add_document(later)
    assert sample is not None
    assert sample.read is not None
    assert (sample.at, sample.read.iops) == (10.5, 1000.0)


def test_both_directions_are_told_apart() -> None:
    found = document(
        250, read=direction({FAST: 300}, runtime_ms=250), write=direction({SLOW: 100}, runtime_ms=250, bs=512)
    )
    sample = sampler().add_document(FioDocument(found))
    assert sample is not None
    assert sample.read is not None
    assert sample.write is not None
    assert (sample.read.iops, sample.write.iops, sample.write.bytes_per_second) == (1200.0, 400.0, 204_800.0)


def test_the_histogram_of_an_interval_is_that_of_its_own_ios() -> None:
    machine = sampler()
    taken(machine, reads(250, {FAST: 500}), reads(500, {FAST: 600, SLOW: 1500}))
    assert machine.bins == {"read": ((FAST, 100), (SLOW, 1500))}


def test_each_direction_has_its_own_histogram() -> None:
    machine = sampler()
    both = document(250, read=direction({FAST: 5}, runtime_ms=250), write=direction({SLOW: 7}, runtime_ms=250))
    machine.add_document(FioDocument(both))
    assert machine.bins == {"read": ((FAST, 5),), "write": ((SLOW, 7),)}


def test_what_has_no_direction_is_told_as_the_first() -> None:
    machine = sampler()
    machine.add_document(FioDocument(document(250, mixed=direction({FAST: 5}, runtime_ms=250))))
    assert machine.bins == {"read": ((FAST, 5),)}


def flushed(at_ms: int, flushes: dict[int, int], *, key: str = "write") -> FioDocument:
    """A document of as many writes as flushes."""
    data = document(at_ms)
    data["jobs"][0][key] = direction({FAST: sum(flushes.values())}, runtime_ms=at_ms)
    data["jobs"][0]["sync"] = {"total_ios": 0, "lat_ns": direction(flushes, runtime_ms=at_ms)["clat_ns"]}
    return FioDocument(data)


def test_flushes_have_a_side_of_their_own_and_are_no_transfers() -> None:
    machine = sampler()
    _, sample = taken(machine, flushed(250, {FAST: 100}), flushed(500, {FAST: 100, SLOW: 200}))
    assert sample is not None
    assert sample.sync is not None
    assert (sample.sync.ios, sample.sync.iops, sample.sync.bytes_per_second) == (200, 800.0, 0.0)
    assert sample.sync.p99_ns == SLOW
    assert sample.transfers == (sample.write,)
    assert machine.bins["sync"] == ((SLOW, 200),)


def test_a_job_without_flushes_has_no_side_for_them() -> None:
    sample = sampler().add_document(reads(250, {FAST: 500}))
    assert sample is not None
    assert sample.sync is None


def test_flushes_do_not_replace_io_without_a_direction() -> None:
    sample = sampler().add_document(flushed(250, {FAST: 100}, key="mixed"))
    assert sample is not None
    assert sample.read is not None
    assert sample.read.ios == 100
