"""The simulated fio, heard by the engine's own parser, sampler and judge."""

from __future__ import annotations

import asyncio
import random
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.fio.job import Engine, Job, JobTarget, Pattern, TargetKind
from app.core.fio.job_values import SyncMode
from app.core.fio.load import FioLoad
from app.core.fio.preflight import preflight
from app.core.fio.profiles import PROFILES
from app.core.fio.stalls import find_stalls
from app.core.fio.stream import FioJsonDocument, StreamParser
from app.core.session.results import RunStatus
from backends.fio_buckets import value_of
from backends.simulator.fio.job import parse_jobs
from backends.simulator.fio.latency import latencies, moments
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from tests.backends.simulator.asking import FAST, NOW, SDB, still_host, storcli
from tests.backends.simulator.loads import follow, run

READ = Job(rw=Pattern.RANDREAD, iodepth=64, runtime=20, ramp=5)
WRITE = Job(rw=Pattern.RANDWRITE, iodepth=64, runtime=20, ramp=5)


@pytest.fixture
def host() -> SimulatedHost:
    return still_host()


@pytest.mark.long
async def test_article_a_is_measured_through_the_whole_engine(host: SimulatedHost, tmp_path: Path) -> None:
    plain = await run(host, READ, tmp_path)
    await storcli(host, f"{SDB} set rdcache=ra")
    ahead = await run(host, READ, tmp_path)
    await storcli(host, f"{SDB} set rdcache=nora wrcache=wb")
    back = await run(host, WRITE, tmp_path)
    for ran, iops, mean_us in ((plain, 83_364, 761), (ahead, 67_792, 938), (back, 11_612, 5500)):
        found = ran.figures.read or ran.figures.write
        assert ran.figures.status is RunStatus.OK
        assert ran.figures.warnings == ()
        assert found is not None
        assert found.iops == pytest.approx(iops, rel=0.05)
        assert found.latency_ns.mean == pytest.approx(mean_us * 1000, rel=0.05)


async def test_the_latencies_are_spread_as_real_ones(host: SimulatedHost, tmp_path: Path) -> None:
    found = (await run(host, READ, tmp_path)).figures.read
    assert found is not None
    latency = found.latency_ns
    assert latency.mean is not None
    assert latency.stddev == pytest.approx(148_000, rel=0.25)
    assert latency.p50 is not None
    assert latency.p99 is not None
    assert latency.p99_9 is not None
    assert latency.max is not None
    assert latency.p50 < latency.mean < latency.p99 < latency.p99_9 < latency.max
    assert latency.p99 < 2.5 * latency.p50
    assert latency.max > 2 * latency.p99


async def test_there_is_a_sample_every_quarter_of_a_second(host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, READ, tmp_path)
    measured = [sample for sample in ran.samples if sample.phase.value == "measuring"]
    assert len(measured) == pytest.approx(80, abs=2)
    assert len(ran.samples) - len(measured) == pytest.approx(20, abs=2)
    assert not any(sample.stalled for sample in ran.samples)
    rates = [sample.read.iops for sample in measured if sample.read is not None]
    assert 0.002 < statistics.pstdev(rates) / statistics.mean(rates) < 0.04
    assert ran.phases[:3] == ["preparing", "ramp", "measuring"]


@pytest.mark.long
async def test_the_same_seed_gives_the_same_run_and_the_next_run_another(tmp_path: Path) -> None:
    first = await run(still_host(), READ, tmp_path)
    same = await run(still_host(), READ, tmp_path)
    assert first.figures == same.figures
    host = still_host()
    await run(host, READ, tmp_path)
    assert (await run(host, READ, tmp_path)).figures != first.figures


@pytest.mark.long
async def test_runs_differ_by_less_than_two_per_cent(host: SimulatedHost, tmp_path: Path) -> None:
    rates = [
        found.iops
        for _ in range(12)
        if (found := (await run(host, Job(iodepth=64, runtime=3, ramp=0), tmp_path)).figures.read)
    ]
    assert 0.002 < statistics.stdev(rates) / statistics.mean(rates) < 0.02


@pytest.fixture
def second() -> SimulatedHost:
    """A host on the second rack."""
    return SimulatedHost(hpe_rack(lambda: NOW), speed=FAST)


@pytest.mark.long
async def test_flash_that_was_formatted_is_read_as_flash_once_it_was_written(
    second: SimulatedHost, tmp_path: Path
) -> None:
    [module] = second.rack.flash
    module.written_bytes = 0
    job = Job(rw=Pattern.RANDWRITE, iodepth=32, runtime=20, ramp=0, size=1 << 30)
    await run(second, job, tmp_path, "/dev/fioa")
    assert module.written_bytes == pytest.approx(20 * 5_851 * 4096, rel=0.1)
    found = (await run(second, replace(job, rw=Pattern.RANDREAD), tmp_path, "/dev/fioa")).figures.read
    assert found is not None
    assert found.iops < 100_000


@pytest.mark.long
async def test_flash_that_writes_in_bursts_is_uneven_and_as_fast_as_published(
    second: SimulatedHost, tmp_path: Path
) -> None:
    ran = await run(second, Job(rw=Pattern.RANDWRITE, iodepth=32, runtime=20, ramp=19), tmp_path, "/dev/fioa")
    found = ran.figures.write
    assert found is not None
    assert found.iops == pytest.approx(5_851, rel=0.05)
    assert found.latency_ns.mean == pytest.approx(5.30e6, rel=0.08)
    rates = [one.write.iops for one in ran.samples if one.phase.value == "measuring" and one.write is not None]
    assert min(rates) == 0
    assert max(rates) * 4096 == pytest.approx(94e6, rel=0.1)
    assert find_stalls(ran.samples) == ()
    assert found.latency_ns.p99 is not None
    assert found.latency_ns.p99_9 is not None
    assert found.latency_ns.p99 < 1e7 < 5e8 < found.latency_ns.p99_9  # few wait, and those for long


async def test_an_array_that_is_rebuilt_stands_still_once(host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, Job(rw=Pattern.RANDREAD, iodepth=64, runtime=20, ramp=10), tmp_path, "/dev/sdd")
    (still,) = find_stalls(ran.samples)
    assert still.at == pytest.approx(14.0, abs=0.3)
    assert still.seconds == pytest.approx(2.0, abs=0.3)
    assert ran.figures.read is not None
    assert ran.figures.read.latency_ns.max == pytest.approx(2.1e9, rel=0.05)


async def test_reads_and_writes_share_as_asked(host: SimulatedHost, tmp_path: Path) -> None:
    job = Job(rw=Pattern.RANDRW, rwmixread=67, iodepth=128, runtime=10, ramp=0)
    figures = (await run(host, job, tmp_path)).figures
    assert figures.read is not None
    assert figures.write is not None
    assert figures.read.total_ios / (figures.read.total_ios + figures.write.total_ios) == pytest.approx(0.67, abs=0.01)


@pytest.mark.parametrize("name", PROFILES)
async def test_every_workload_runs_to_a_good_end(name: str, host: SimulatedHost, tmp_path: Path) -> None:
    job = Job.from_fields({"runtime": "3", "ramp": "1"}, PROFILES[name].job)
    figures = (await run(host, job, tmp_path)).figures
    assert figures.status is RunStatus.OK, figures.reason
    assert figures.seconds == pytest.approx(3.0)


async def test_a_limit_of_writes_leaves_reads_alone(host: SimulatedHost, tmp_path: Path) -> None:
    job = Job(rw=Pattern.RANDRW, rate_iops_write=200, iodepth=16, runtime=5, ramp=0)
    figures = (await run(host, job, tmp_path)).figures
    assert figures.read is not None
    assert figures.write is not None
    assert figures.write.iops <= 220
    assert figures.read.iops > 1000


async def test_a_job_without_a_run_time_moves_its_region_as_often_as_it_says(
    host: SimulatedHost, tmp_path: Path
) -> None:
    figures = (await run(host, Job(passes=3, size=32 << 20, numjobs=2, runtime=0, ramp=0), tmp_path)).figures
    assert figures.read is not None
    assert figures.read.total_bytes == pytest.approx(3 * 2 * (32 << 20), rel=0.01)


@pytest.mark.parametrize(
    "texts",
    [
        {"numjobs": "8", "iodepth": "16"},
        {"bs": "1M", "rw": "write"},
        {"bs": "512", "blockalign": "512"},
        {"ioengine": "psync", "iodepth": "1"},
        {"rate_iops": "1000"},
        {"rate_iops": "1000", "arrival": "poisson"},
        {"rate": "20M"},
        {"thinktime": "2ms", "thinktime_blocks": "4"},
        {"random_distribution": "zipf:1.1", "percentage_random": "50"},
        {"number_ios": "1000"},
        {"io_size": "40M", "numjobs": "2"},
        {"passes": "1", "size": "64M", "runtime": "0"},
        {"passes": "2", "size": "32M", "numjobs": "2", "offset_increment": "0", "rw": "read"},
        {"passes": "1", "size": "64M", "bsrange": "4k-64k"},
        {"passes": "1", "size": "64M", "number_ios": "500"},
        {"rw": "randrw", "bs_write": "16k", "rate_iops_write": "200"},
        {"offset": "1G", "size_percent": "10", "extra": "invalidate=0 iodepth_low=4"},
        {"ioengine": "io_uring", "hipri": "yes", "cpus_allowed": "0-1", "numa_mem_policy": "local"},
        {"direct": "no", "rw": "read", "iodepth": "1"},
        {"size": "1G", "randseed": "7"},
        {"rw": "randwrite", "fsync": "10"},
    ],
)
async def test_every_kind_of_job_runs_to_a_good_end(texts: dict[str, str], host: SimulatedHost, tmp_path: Path) -> None:
    job = Job.from_fields({"runtime": "3", "ramp": "0", **texts})
    figures = (await run(host, job, tmp_path)).figures
    assert figures.status is RunStatus.OK, figures.reason


async def test_a_rate_limit_is_kept(host: SimulatedHost, tmp_path: Path) -> None:
    figures = (await run(host, Job(iodepth=16, rate_iops=5000, runtime=5, ramp=0), tmp_path)).figures
    assert figures.read is not None
    assert 4500 < figures.read.iops <= 5001


@pytest.mark.parametrize("texts", [{"rw": "randrw", "rwmixread": "70"}, {"bssplit": "4k/50:64k/50"}])
async def test_a_rate_is_of_all_ios_of_whatever_kind(
    texts: dict[str, str], host: SimulatedHost, tmp_path: Path
) -> None:
    job = Job.from_fields({"iodepth": "16", "rate_iops": "5000", "runtime": "5", "ramp": "0", **texts})
    figures = (await run(host, job, tmp_path)).figures
    done = sum(one.iops for one in (figures.read, figures.write) if one is not None)
    assert 4500 < done <= 5002


async def test_stopping_keeps_the_figures_until_then(host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, Job(iodepth=64, runtime=60, ramp=0), tmp_path, stop_after=12)
    assert ran.figures.status is RunStatus.STOPPED
    assert ran.figures.read is not None
    assert 2.5 < ran.figures.seconds < 59
    assert ran.figures.read.iops == pytest.approx(83_364, rel=0.05)
    assert "terminating on signal 2" in (tmp_path / "fio.out").read_text()


async def test_stopping_in_the_ramp_measures_nothing(host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, Job(iodepth=64, runtime=60, ramp=30), tmp_path, stop_after=3)
    assert ran.figures.status is RunStatus.STOPPED
    assert ran.figures.read is None


async def test_the_output_is_fio_s_own_document_by_document(host: SimulatedHost, tmp_path: Path) -> None:
    await run(host, Job(iodepth=4, runtime=2, ramp=0), tmp_path)
    text = (tmp_path / "fio.out").read_text()
    assert all(line in ("{", "}", "") or line.startswith("  ") for line in text.split("\n"))
    parser = StreamParser()
    documents = [event.data for event in parser.feed(text.encode()) if isinstance(event, FioJsonDocument)]
    assert len(documents) == 8
    last = documents[-1]["jobs"][0]
    assert documents[-1]["fio version"] == "fio-3.33"
    assert last["job options"]["iodepth"] == "4"
    assert last["read"]["total_ios"] == last["read"]["clat_ns"]["N"] == sum(last["read"]["clat_ns"]["bins"].values())
    assert last["eta"] == 0
    assert last["trim"]["clat_ns"]["N"] == 0
    assert documents[-1]["disk_util"][0]["name"] == "sdb"


async def test_every_engine_works_there(host: SimulatedHost) -> None:
    ready = await preflight(host)
    assert ready.version == "fio-3.33"
    assert not ready.refused
    assert Engine.IO_URING in ready.engines


async def test_a_scratch_file_is_laid_out_and_measured_without_being_made(host: SimulatedHost, tmp_path: Path) -> None:
    path = "/srv/vm/raidbench-scratch.dat"
    target = JobTarget(path=path, name=path, kind=TargetKind.FILE, size=1 << 30)
    stop = asyncio.Event()
    laid = await follow(FioLoad(host).layout(target, tmp_path, stop), stop)
    assert laid.figures.status is RunStatus.OK, laid.figures.reason
    assert not Path(path).exists()
    stat = await host.stat(path)
    assert stat is not None
    assert (stat.kind, stat.size) == ("file", 1 << 30)
    ran = await follow(FioLoad(host).run(Job(runtime=2, ramp=0, iodepth=8), [target], tmp_path, stop), stop)
    assert ran.figures.status is RunStatus.OK


async def test_fio_refuses_what_it_refuses(host: SimulatedHost, tmp_path: Path) -> None:
    mounted = await run(host, Job(rw=Pattern.RANDWRITE, runtime=2, ramp=0), tmp_path, "/dev/sdd1")
    assert mounted.figures.status is RunStatus.FAILED
    assert "mounted" in (mounted.figures.reason or "")
    gone = await run(host, Job(runtime=2, ramp=0), tmp_path, "/dev/sdz")
    assert gone.figures.status is RunStatus.FAILED


async def test_writing_to_a_raw_device_destroys_what_lay_on_it(host: SimulatedHost, tmp_path: Path) -> None:
    record = "/run/udev/data/b8:32"
    assert "bench-old" in (await host.read(record) or "")
    await run(host, Job(rw=Pattern.RANDWRITE, runtime=2, ramp=0), tmp_path, "/dev/sdc")
    assert "bench-old" not in (await host.read(record) or "")


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [3, 250, 5000, 80_000])
@pytest.mark.parametrize("mean", [60_000.0, 761_000.0, 14_600_000.0])
def test_latencies_have_the_mean_that_was_asked_for(count: int, mean: float) -> None:
    chance = random.Random(4)
    rounds = 200_000 // count if count < 1000 else 20
    found = [latencies(count, mean, 0.2, 4.0, chance) for _ in range(rounds)]
    assert all(sum(each.values()) == count for each in found)
    total = sum(moments(each)[0] for each in found)
    assert total / (count * rounds) == pytest.approx(mean, rel=0.01)
    assert all(value_of(bucket) > 0 for each in found for bucket in each)


async def test_trims_are_counted_by_themselves_and_take_the_data(host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, replace(WRITE, rw=Pattern.RANDTRIM), tmp_path)
    assert ran.figures.status is RunStatus.OK
    assert ran.figures.trim is not None
    assert (ran.figures.read, ran.figures.write) == (None, None)
    assert ran.figures.trim.iops > 100
    assert all(sample.trim is not None and sample.write is None for sample in ran.samples)


async def test_trims_and_writes_alternate(host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, replace(WRITE, rw=Pattern.RANDTRIMWRITE), tmp_path)
    plain = await run(host, WRITE, tmp_path)
    assert ran.figures.trim is not None
    assert ran.figures.write is not None
    assert plain.figures.write is not None
    assert ran.figures.trim.iops == pytest.approx(ran.figures.write.iops, rel=0.02)
    assert ran.figures.write.iops == pytest.approx(plain.figures.write.iops / 2, rel=0.05)


@pytest.mark.parametrize("rw", [Pattern.TRIM, Pattern.TRIMWRITE])
async def test_a_trim_of_a_mounted_device_is_refused(rw: Pattern, host: SimulatedHost, tmp_path: Path) -> None:
    ran = await run(host, Job(rw=rw, runtime=2, ramp=0), tmp_path, "/dev/sdd1")
    assert ran.figures.status is RunStatus.FAILED
    assert "mounted" in (ran.figures.reason or "")


def test_a_trim_that_ends_by_amount_ends_there() -> None:
    (job,) = parse_jobs("[a]\nfilename=/dev/sdb\nrw=trim\nbs=64k\nio_size=1M\nruntime=60s\n", ("fio", "--readonly"))
    assert (job.trims, job.writes, job.writes_data, job.reads, job.readonly) == (True, True, False, False, True)
    assert job.amount(1 << 30) == 1 << 20


@pytest.mark.parametrize("mode", SyncMode)
async def test_a_synchronous_write_waits_for_the_medium(mode: SyncMode, host: SimulatedHost, tmp_path: Path) -> None:
    plain = (await run(host, replace(WRITE, iodepth=1), tmp_path)).figures.write
    ran = (await run(host, replace(WRITE, iodepth=1, sync=mode), tmp_path)).figures
    assert ran.sync is None
    assert ran.write is not None
    assert plain is not None
    assert (ran.write.latency_ns.mean or 0) > 1.5 * (plain.latency_ns.mean or 0)
    assert ran.write.iops < plain.iops / 1.5
