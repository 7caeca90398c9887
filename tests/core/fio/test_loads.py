"""Trims, synchronous writes, kinds of data, and options of io_uring: fields, job files, and fio's words."""

from __future__ import annotations

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.job import Job, JobTarget, TargetKind, field_problems, fit_to_flushes
from app.core.fio.job_values import Engine, Pattern, SyncMode
from app.core.fio.jobfile import import_jobfile
from app.core.fio.render import render
from app.core.fio.sampler import Sampler
from app.core.fio.summary import FioResult, summarize
from app.core.session.results import RunStatus
from backends.errors import InvalidValueError
from tests.case_loop import loop_over

DEVICE = JobTarget(path="/dev/sdx", name="sdx", kind=TargetKind.BLOCK, size=1 << 30)
TRIMS = (Pattern.TRIM, Pattern.RANDTRIM, Pattern.TRIMWRITE, Pattern.RANDTRIMWRITE)


def lines(job: Job) -> dict[str, str]:
    """The options that fio is given."""
    rows = render(job, [DEVICE], jobfile="job.fio").text.splitlines()[1:]
    return dict(row.split("=", 1) for row in rows)


# -- trims ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rw", TRIMS)
def test_a_trim_is_guarded_as_a_write(rw: Pattern) -> None:
    job = Job(rw=rw)
    assert job.writes
    assert job.trims
    assert not job.reads
    assert "--readonly" not in render(job, [DEVICE], jobfile="job.fio").argv


@loop_over("rw", Pattern)
def test_only_what_reads_alone_does_not_write(rw: Pattern) -> None:
    assert Job(rw=rw).writes is (rw not in (Pattern.READ, Pattern.RANDREAD))
    assert ("--readonly" in render(Job(rw=rw), [DEVICE], jobfile="job.fio").argv) is not Job(rw=rw).writes


def test_only_a_trim_with_writes_writes_data() -> None:
    assert [Job(rw=rw).writes_data for rw in TRIMS] == [False, False, True, True]
    assert [Job(rw=rw).sequential for rw in TRIMS] == [True, False, True, False]


@pytest.mark.parametrize(
    ("rw", "words"),
    [
        (Pattern.TRIM, "4k sequential trim"),
        (Pattern.RANDTRIM, "4k random trim"),
        (Pattern.RANDTRIMWRITE, "4k random trim and write"),
    ],
)
def test_a_description_names_the_trim(rw: Pattern, words: str) -> None:
    assert Job(rw=rw).describe().startswith(words)


def test_fio_flushes_no_trims_so_none_are_promised() -> None:
    for rw in TRIMS:
        assert set(field_problems({"rw": rw.value, "fsync": "1"})) == {"fsync"}


@pytest.mark.parametrize(
    ("rw", "rate"), [("trim", "300"), ("randtrim", "300"), ("trimwrite", "200"), ("write", "200"), ("read", "100")]
)
def test_a_rate_for_each_direction_is_that_of_the_pattern(rw: str, rate: str) -> None:
    (found,) = import_jobfile(f"[a]\nrw={rw}\nrate_iops=100,200,300\nruntime=5\n").jobs
    assert lines(found.job)["rate_iops"] == rate


@pytest.mark.parametrize(("limits", "rate"), [("9,200,150", "150"), (",,150", "150"), (",70,", "70")])
def test_the_smaller_limit_of_trims_and_writes_in_turn_holds_both(limits: str, rate: str) -> None:
    (found,) = import_jobfile(f"[a]\nrw=trimwrite\nrate_iops={limits}\nruntime=5\n").jobs
    assert lines(found.job)["rate_iops"] == rate


def document(**sides: dict[str, object]) -> FioDocument:
    entry = {"jobname": "raidbench", "error": 0, "job_runtime": 10_000, **sides}
    return FioDocument({"fio version": "fio-3.33", "timestamp_ms": 1_700_000_010_000, "jobs": [entry]})


def direction(ios: int, *, bins: dict[str, int] | None = None) -> dict[str, object]:
    times = {"min": 1000, "max": 9000, "mean": 2000.0, "stddev": 10.0, "N": ios, "bins": bins or {"2000": ios}}
    return {
        "io_bytes": ios * 4096,
        "io_kbytes": ios * 4,
        "total_ios": ios,
        "runtime": 10_000,
        "iops": ios / 10,
        "lat_ns": times,
        "clat_ns": times,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
    }


def test_trims_have_figures_of_their_own() -> None:
    job = Job(rw=Pattern.RANDTRIM, runtime=10, ramp=0)
    figures = summarize(FioResult(document=document(trim=direction(5000)), returncode=0), job)
    assert figures.status is RunStatus.OK
    assert (figures.read, figures.write, figures.sync) == (None, None, None)
    assert figures.trim is not None
    assert (figures.trim.iops, figures.trim.total_ios, figures.seconds) == (500.0, 5000, 10.0)
    assert figures.transfers == (figures.trim,)
    assert figures.side("trim") is figures.trim


def test_failed_trims_are_not_passed_over() -> None:
    broken = direction(5000)
    broken["total_ios"] = 6000
    job = Job(rw=Pattern.RANDTRIM, runtime=10, ramp=0)
    figures = summarize(FioResult(document=document(trim=broken), returncode=0), job)
    assert figures.status is RunStatus.FAILED
    assert "1000 of 6000" in (figures.reason or "")


def test_trims_are_sampled_beside_writes() -> None:
    machine = Sampler(ramp=False, planned_s=None, period_s=0.25)
    machine.add_document(document(write=direction(100), trim=direction(101)))
    later = document(write=direction(400), trim=direction(401))
    later._data = {**later._data, "timestamp_ms": 1_700_000_011_000}
    sample = machine.add_document(later)
    assert sample is not None
    assert sample.trim is not None
    assert sample.write is not None
    assert (sample.trim.ios, sample.write.ios, sample.read) == (300, 300, None)
    assert machine.bins == {"write": ((2000, 300),), "trim": ((2000, 300),)}


# -- synchronous writes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mode", "fio"),
    [
        ("none", None, None),
        ("0", None, None),
        ("sync", SyncMode.SYNC, "1"),
        ("1", SyncMode.SYNC, "1"),
        ("dsync", SyncMode.DSYNC, "dsync"),
    ],
)
def test_synchronous_writes_are_read_as_fio_does(text: str, mode: SyncMode | None, fio: str | None) -> None:
    (found,) = import_jobfile(f"[a]\nrw=write\nsync={text}\nruntime=5\n").jobs
    assert found.job.sync is mode
    assert lines(found.job).get("sync") == fio
    assert found.job.is_durable is (mode is not None)
    assert Job.from_fields(found.job.texts()) == found.job


def test_synchronous_writes_keep_their_engine_and_have_no_flushes() -> None:
    job = Job(rw=Pattern.RANDWRITE, sync=SyncMode.DSYNC)
    assert fit_to_flushes(job) == (job, ())
    assert not job.flushes
    assert "dsync writes" in job.describe()


def test_reads_are_not_synchronous_writes() -> None:
    assert set(field_problems({"rw": "read", "sync": "1"})) == {"sync"}


# -- data -------------------------------------------------------------------------------------------------------------


def test_kinds_of_data_reach_fio_and_tell_workloads_apart() -> None:
    content = (
        "[a]\nrw=randwrite\nruntime=5\nbuffer_compress_percentage=50\nbuffer_compress_chunk=4k\nbs=8k\n"
        "dedupe_percentage=30\ndedupe_mode=working_set\ndedupe_working_set_percentage=10\nrefill_buffers\n"
        "scramble_buffers=0\n"
    )
    (found,) = import_jobfile(content).jobs
    wanted = {
        "buffer_compress_percentage": "50",
        "buffer_compress_chunk": "4k",
        "dedupe_percentage": "30",
        "dedupe_mode": "working_set",
        "dedupe_working_set_percentage": "10",
        "refill_buffers": "1",
        "scramble_buffers": "0",
    }
    given = lines(found.job)
    assert {key: given.get(key) for key in wanted} == wanted
    assert found.job.texts() != Job.from_fields({**found.job.texts(), "dedupe_percentage": "31"}).texts()
    assert Job.from_fields(found.job.texts()) == found.job


def test_data_that_nobody_asked_for_leaves_fio_s_defaults() -> None:
    (found,) = import_jobfile("[a]\nrw=write\nruntime=5\nscramble_buffers=1\nrefill_buffers=0\nzero_buffers=0\n").jobs
    given = lines(found.job)
    keys = ("scramble_buffers", "refill_buffers", "zero_buffers", "buffer_pattern", "dedupe_percentage")
    assert [key for key in keys if key in given] == []


@pytest.mark.parametrize("pattern", ["0xdeadbeef", "1234", "-7", '"abcd"', '0xff"abcd"-12', "%o", '"a:b,c=d"'])
def test_a_pattern_of_data_is_passed_on(pattern: str) -> None:
    (found,) = import_jobfile(f"[a]\nrw=write\nruntime=5\nbuffer_pattern={pattern}\n").jobs
    assert lines(found.job)["buffer_pattern"] == pattern


@pytest.mark.parametrize(
    "pattern", ["'/etc/shadow'", "0xff'x'", "/etc/shadow", "abc", '"a\nfilename=/x"', '"$HOME"', ""]
)
def test_a_pattern_that_names_a_file_or_more_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidValueError):
        Job(rw=Pattern.WRITE, buffer_pattern=pattern)


@loop_over(
    ("texts", "key"),
    [
        ({"rw": "read", "buffer_compress_percentage": "50"}, "buffer_compress_percentage"),
        ({"rw": "randtrim", "zero_buffers": "yes"}, "zero_buffers"),
        ({"rw": "read", "scramble_buffers": "no"}, "scramble_buffers"),
        ({"rw": "write", "buffer_compress_percentage": "101"}, "buffer_compress_percentage"),
        ({"rw": "write", "dedupe_percentage": "101"}, "dedupe_percentage"),
        ({"rw": "write", "buffer_compress_chunk": "4k"}, "buffer_compress_chunk"),
        ({"rw": "write", "buffer_compress_percentage": "5", "buffer_compress_chunk": "8k"}, "buffer_compress_chunk"),
        ({"rw": "write", "dedupe_mode": "repeat"}, "dedupe_mode"),
        (
            {"rw": "write", "dedupe_percentage": "5", "dedupe_working_set_percentage": "5"},
            "dedupe_working_set_percentage",
        ),
        ({"rw": "write", "zero_buffers": "yes", "dedupe_percentage": "5"}, "zero_buffers"),
    ],
)
def test_data_that_cannot_be_is_named(texts: dict[str, str], key: str) -> None:
    assert set(field_problems(texts)) == {key}


# -- io_uring ---------------------------------------------------------------------------------------------------------


def test_the_ring_s_own_options_reach_fio() -> None:
    content = (
        "[a]\nrw=randread\nruntime=5\nioengine=io_uring\ndirect=1\nsqthread_poll=1\nsqthread_poll_cpu=1\nfixedbufs\n"
        "registerfiles=1\nnonvectored=0\nhipri\n"
    )
    (found,) = import_jobfile(content).jobs
    given = lines(found.job)
    wanted = {
        "sqthread_poll": "1",
        "sqthread_poll_cpu": "1",
        "fixedbufs": "1",
        "registerfiles": "1",
        "nonvectored": "0",
        "hipri": "1",
    }
    assert {key: given.get(key) for key in wanted} == wanted
    assert Job(ioengine=Engine.IO_URING, direct=False, uncached=True)


@pytest.mark.parametrize("key", ["sqthread_poll", "fixedbufs", "registerfiles", "nonvectored", "uncached"])
def test_the_ring_s_own_options_need_it(key: str) -> None:
    assert set(field_problems({key: "no" if key == "nonvectored" else "yes"})) == {key}
    ring = {key: "no" if key == "nonvectored" else "yes", "ioengine": "io_uring", "direct": "no"}
    assert field_problems(ring) == {}


def test_the_submission_cpu_needs_its_thread_and_uncached_the_cache() -> None:
    assert set(field_problems({"ioengine": "io_uring", "sqthread_poll_cpu": "1"})) == {"sqthread_poll_cpu"}
    assert set(field_problems({"ioengine": "io_uring", "uncached": "yes"})) == {"uncached"}


# -- what is refused --------------------------------------------------------------------------------------------------


@loop_over(
    ("line", "why"),
    [
        ("zonemode=zbd", "not measure zoned disks"),
        ("zonemode=strided", "not measure zoned disks"),
        ("zonesize=256m", "not measure zoned disks"),
        ("zoneskip=1m", "not measure zoned disks"),
        ("max_open_zones=8", "not measure zoned disks"),
        ("latency_target=1ms", "sweep iodepth"),
        ("latency_window=5s", "sweep iodepth"),
        ("latency_percentile=99", "sweep iodepth"),
        ("max_latency=10ms", "slowest"),
        ("ioengine=io_uring_cmd", "block device"),
        ("cmd_type=nvme", "block device"),
    ],
)
def test_what_is_not_measured_is_refused_with_a_way_out(line: str, why: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        import_jobfile(f"[a]\nrw=read\nruntime=5\n{line}\n")
    assert "line 4" in refused.value.message
    assert why in refused.value.message


@pytest.mark.parametrize("line", ["zonemode=none", "max_latency=0", "latency_target=0", "zonesize=0"])
def test_fio_s_own_defaults_of_these_pass_without_a_word(line: str) -> None:
    (found,) = import_jobfile(f"[a]\nrw=read\nruntime=5\n{line}\n").jobs
    assert found.notes == ()


# -- percentiles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ios", "known"), [(950_000, (False, False)), (1_000_000, (True, False)), (10_000_000, (True, True))]
)
def test_rare_percentiles_need_ten_ios_beyond(ios: int, known: tuple[bool, bool]) -> None:
    beyond = ios // 100_000
    part = direction(ios, bins={"1000": ios - beyond, "9024": beyond}) if beyond else direction(ios)
    figures = summarize(FioResult(document=document(read=part), returncode=0), Job(runtime=10, ramp=0))
    assert figures.read is not None
    times = figures.read.latency_ns
    assert (times.p99_999 is not None, times.p99_9999 is not None) == known
    if known[0]:
        assert times.p99_999 == 1000
    if known[1]:
        assert times.p99_9999 == 9024


def test_percentiles_that_are_not_reported_are_named_with_those_that_are() -> None:
    (plain,) = import_jobfile("[a]\nrw=read\nruntime=5\npercentile_list=50.0:99:99.999\n").jobs
    assert plain.notes == ()
    (other,) = import_jobfile("[a]\nrw=read\nruntime=5\npercentile_list=90:99\n").jobs
    assert other.notes == ("percentile_list=90:99 was ignored: raidbench reports 50:95:99:99.9:99.99:99.999:99.9999",)
    with pytest.raises(InvalidValueError, match="separated by colons"):
        import_jobfile("[a]\nrw=read\nruntime=5\npercentile_list=99,99.9\n")


def test_a_trim_waits_for_the_one_before_whatever_the_depth() -> None:
    assert Job(rw=Pattern.RANDTRIM, iodepth=32, numjobs=2).queue == 2
    assert Job(rw=Pattern.RANDTRIMWRITE, iodepth=32, numjobs=2).queue == 64
