"""A job is valid or does not exist, and says at which field it is not."""

from __future__ import annotations

import pytest

from app.core.fio.job import (
    Arrival,
    Engine,
    InvalidJobError,
    Job,
    JobTarget,
    Pattern,
    TargetKind,
    field_problems,
    fit_to_block_size,
    fit_to_flushes,
)
from app.core.fio.profiles import PROFILES, profile
from app.core.fio.render import render
from app.core.fio.sizes import format_size, parse_size
from app.core.session.event_types import SteadyPlan
from backends.errors import InvalidValueError, NotFoundError
from tests.case_loop import loop_over

GIB = 1 << 30
DEVICE = JobTarget(path="/proc/42/fd/7", name="/dev/sdb", kind=TargetKind.BLOCK, size=8 * GIB)
FIELDS_WRITTEN: list[tuple[dict[str, str], dict[str, str | None]]] = [
    ({"rate": "20M"}, {"rate": "20971520"}),
    ({"rate": "20M", "arrival": "poisson"}, {"rate": "20971520", "rate_process": "poisson"}),
    ({"thinktime": "500"}, {"thinktime": "500us"}),
    (
        {"thinktime": "2ms", "thinktime_blocks": "16"},
        {"thinktime": "2ms", "thinktime_blocks": "16", "thinktime_blocks_type": "issue"},
    ),
    ({"random_distribution": "Zipf: 1.1"}, {"random_distribution": "zipf:1.1"}),
    ({"random_distribution": "zoned:60/10:40/90"}, {"random_distribution": "zoned:60/10:40/90"}),
    ({"percentage_random": "30"}, {"percentage_random": "30"}),
    ({"rw": "write", "fdatasync": "8"}, {"fdatasync": "8"}),
    ({"number_ios": "1000", "bs": "8k"}, {"number_ios": "1000", "io_size": "8192000"}),
    ({"io_size": "1G"}, {"io_size": "1073741824"}),
    ({"passes": "1"}, {"io_size": None, "time_based": None, "loops": None, "runtime": "60s"}),
    ({"passes": "3", "runtime": "0"}, {"loops": "3", "runtime": None}),
    ({"passes": "2", "io_size": "1G"}, {"loops": "2", "io_size": "1073741824"}),
    ({"passes": "1", "number_ios": "9"}, {"number_ios": "9", "io_size": None}),
    ({"rw": "randrw", "bs_write": "16k"}, {"bs": "4k,16k"}),
    ({"bsrange": "4k-64k"}, {"bsrange": "4k-64k", "bs": None}),
    ({"rw": "randrw", "rate_iops_write": "200"}, {"rate_iops": ",200"}),
    ({"rw": "randrw", "rate_iops_read": "200"}, {"rate_iops": "200,"}),
    ({"rw": "randrw", "rate_read": "8M", "rate_write": "2M"}, {"rate": "8388608,2097152"}),
    ({"rw": "randrw", "rate_iops_write": "200", "bssplit": "4k/50:12k/50"}, {"rate_iops": ",400"}),
    ({"rw": "randrw", "rate_iops_read": "200", "bs_write": "64k"}, {"rate_iops": "200,"}),
    ({"size_percent": "25"}, {"size": str(2 * GIB)}),
    ({"offset": "1M"}, {"offset": "1048576", "size": str(8 * GIB - (1 << 20))}),
    ({"offset_percent": "50", "size": "1G"}, {"offset": str(4 * GIB), "size": "1073741824"}),
    ({"extra": "iodepth_low=8 end_fsync"}, {"iodepth_low": "8", "end_fsync": "1"}),
    ({"extra": "invalidate=0 randrepeat=1"}, {"invalidate": "0", "randrepeat": "1"}),
    ({"hipri": "yes", "ioengine": "io_uring"}, {"hipri": "1"}),
    (
        {"cpus_allowed": "0-1, 3", "cpus_allowed_policy": "split"},
        {"cpus_allowed": "0-1,3", "cpus_allowed_policy": "split"},
    ),
    ({"numa_cpu_nodes": "all"}, {"numa_cpu_nodes": "all"}),
    ({"numa_mem_policy": "Bind:0-1"}, {"numa_mem_policy": "bind:0-1"}),
    ({"numa_mem_policy": "Prefer: 01"}, {"numa_mem_policy": "prefer:1"}),
]
"""Fields as people give them, and as fio gets them."""
FILE = JobTarget(path="/srv/scratch.dat", name="/srv/scratch.dat", kind=TargetKind.FILE, size=GIB)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4k", 4096), ("4K", 4096), ("4 KiB", 4096), ("4kb", 4096), ("512", 512), ("1.5M", 1572864), ("10G", 10 * GIB)],
)
def test_sizes_are_read_as_fio_reads_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@loop_over("text", ["", "k", "4q", "-4k", "4k8", "1e3", "0.3", "9" * 30, "4\x1b[31mk", "٤k"])
def test_what_is_no_size_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        parse_size(text)
    assert "\x1b" not in caught.value.message


@loop_over("size", [0, 1, 512, 1000, 4096, 1536, GIB, 3 * GIB])
def test_a_size_written_is_the_size_read(size: int) -> None:
    assert parse_size(format_size(size)) == size


def test_a_job_describes_itself_in_one_line() -> None:
    assert Job(iodepth=64).describe() == "4k random read · QD 64 · 1 job · 60 s · direct"


def test_every_field_of_a_job_reads_back_what_it_writes() -> None:
    for item in PROFILES.values():
        assert Job.from_fields(item.job.texts()) == item.job


@loop_over(
    ("texts", "key"),
    [
        ({"bs": "4q"}, "bs"),
        ({"bs": "1000"}, "bs"),
        ({"bs": ""}, "bs"),
        ({"rw": "erase"}, "rw"),
        ({"ramp": "60"}, "ramp"),
        ({"runtime": "0", "ramp": "0"}, "runtime"),
        ({"runtime": "1.5"}, "runtime"),
        ({"iodepth": "0"}, "iodepth"),
        ({"bs": "4M", "iodepth": "2048"}, "iodepth"),
        ({"bssplit": "4k/50:8k/40"}, "bssplit"),
        ({"bssplit": "4k:8k"}, "bssplit"),
        ({"rwmixread": "101"}, "rwmixread"),
        ({"ioengine": "exec"}, "ioengine"),
        ({"direct": "maybe"}, "direct"),
        ({"rate_iops": "0"}, "rate_iops"),
        ({"rate_iops": "9", "rw": "randrw", "rwmixread": "90"}, "rate_iops"),
        ({"arrival": "poisson"}, "arrival"),
        ({"arrival": "now and then"}, "arrival"),
        ({"arrival": "poisson", "rate_iops": "9", "rw": "randwrite", "fsync": "8"}, "arrival"),
        ({"fsync": "1"}, "fsync"),
        ({"exec_prerun": "rm"}, "exec_prerun"),
        ({"rate": "1k"}, "rate"),
        ({"rate": "1M", "rate_iops": "100"}, "rate"),
        ({"thinktime": "soon"}, "thinktime"),
        ({"thinktime": "2s"}, "thinktime"),
        ({"thinktime_blocks": "8"}, "thinktime_blocks"),
        ({"random_distribution": "zipf"}, "random_distribution"),
        ({"random_distribution": "zipf:1.0"}, "random_distribution"),
        ({"random_distribution": "pareto:1"}, "random_distribution"),
        ({"random_distribution": "normal:101"}, "random_distribution"),
        ({"random_distribution": "zoned:60/10:30/90"}, "random_distribution"),
        ({"random_distribution": "zoned:60/10:40/80"}, "random_distribution"),
        ({"random_distribution": "zipf:1.1", "rw": "read"}, "random_distribution"),
        ({"random_distribution": "zipf:1.1", "bs": "16k", "blockalign": "4k"}, "random_distribution"),
        ({"percentage_random": "101"}, "percentage_random"),
        ({"percentage_random": "50", "rw": "write"}, "percentage_random"),
        ({"fdatasync": "1"}, "fdatasync"),
        ({"fdatasync": "1", "fsync": "1", "rw": "write"}, "fdatasync"),
        ({"number_ios": "0"}, "number_ios"),
        ({"io_size": "1k"}, "io_size"),
        ({"io_size": "1M", "number_ios": "9"}, "io_size"),
        ({"number_ios": "9", "ramp": "5"}, "ramp"),
        ({"hipri": "yes"}, "hipri"),
        ({"hipri": "yes", "ioengine": "io_uring", "direct": "no"}, "hipri"),
        ({"cpus_allowed": "3-1"}, "cpus_allowed"),
        ({"cpus_allowed": "all"}, "cpus_allowed"),
        ({"cpus_allowed_policy": "split"}, "cpus_allowed_policy"),
        ({"cpus_allowed": "0", "numa_cpu_nodes": "0"}, "numa_cpu_nodes"),
        ({"numa_mem_policy": "bind"}, "numa_mem_policy"),
        ({"numa_mem_policy": "prefer:0-1"}, "numa_mem_policy"),
        ({"numa_mem_policy": "bound:1"}, "numa_mem_policy"),
        ({"runtime": "0"}, "runtime"),
        ({"passes": "0"}, "passes"),
        ({"io_size": "1G", "ramp": "5"}, "ramp"),
        ({"bs_write": "8k"}, "bs_write"),
        ({"rw": "randrw", "bs_write": "8k", "random_distribution": "zipf:1.1"}, "bs_write"),
        ({"rw": "randrw", "bs_write": "700"}, "bs"),
        ({"bsrange": "64k-4k"}, "bsrange"),
        ({"bsrange": "12k-24k"}, "bsrange"),
        ({"bsrange": "4k"}, "bsrange"),
        ({"rate_iops_read": "200"}, "rate_iops_read"),
        ({"rw": "randrw", "rate_iops_read": "200", "rate_iops": "100"}, "rate_iops_read"),
        ({"rw": "randrw", "rate_iops_read": "200", "rate_write": "1M"}, "rate_write"),
        ({"rw": "randrw", "rate_write": "1k"}, "rate_write"),
        ({"rw": "randrw", "rate_iops_read": "200", "arrival": "poisson"}, "arrival"),
        ({"size": "1G", "size_percent": "10"}, "size_percent"),
        ({"size_percent": "101"}, "size_percent"),
        ({"offset": "1000"}, "offset"),
        ({"offset": "1M", "offset_percent": "10"}, "offset_percent"),
        ({"extra": "exec_prerun=x"}, "extra"),
        ({"extra": "mem=mmaphuge:/x"}, "extra"),
        ({"extra": "nice=-5"}, "extra"),
        ({"extra": "nice=25"}, "extra"),
    ],
)
def test_a_wrong_field_is_named(texts: dict[str, str], key: str) -> None:
    assert set(field_problems(texts)) == {key}


@loop_over(("texts", "written"), FIELDS_WRITTEN)
def test_a_field_is_written_in_fios_words(texts: dict[str, str], written: dict[str, str | None]) -> None:
    found = options(render(Job.from_fields(texts), [DEVICE], jobfile="j").text)
    assert {key: found.get(key) for key in written} == written


@loop_over("texts", [texts for texts, _ in FIELDS_WRITTEN])
def test_a_field_reads_back_what_it_writes(texts: dict[str, str]) -> None:
    job = Job.from_fields(texts)
    assert Job.from_fields(job.texts()) == job


@loop_over("texts", [texts for texts, _ in FIELDS_WRITTEN])
def test_a_job_tells_what_is_unusual_about_it(texts: dict[str, str]) -> None:
    assert Job.from_fields(texts).describe() != Job.from_fields({"rw": texts.get("rw", "randread")}).describe()


def test_a_job_that_ends_by_amount_has_no_ramp_unless_one_is_named() -> None:
    assert Job.from_fields({"number_ios": "1000"}).ramp == 0


@pytest.mark.parametrize(
    ("texts", "reach"),
    [
        ({}, None),
        ({"size": "64M"}, 64 << 20),
        ({"size": "64M", "offset": "1G"}, GIB + (64 << 20)),
        ({"offset": "1G"}, None),
        ({"size": "64M", "offset_percent": "50"}, None),
        ({"size_percent": "50"}, None),
    ],
)
def test_a_job_reaches_to_the_end_of_its_region(texts: dict[str, str], reach: int | None) -> None:
    assert Job.from_fields(texts).reach == reach


def test_a_region_behind_the_end_of_the_target_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=" after 8 GiB"):
        render(Job(offset=8 * GIB), [DEVICE], jobfile="j")


def test_a_distribution_of_everywhere_alike_is_none() -> None:
    assert Job.from_fields({"random_distribution": "random"}) == Job()


def test_an_amount_and_the_wait_for_the_steady_state_exclude_each_other() -> None:
    with pytest.raises(InvalidValueError, match="amount"):
        render(Job(number_ios=9, ramp=0), [DEVICE], jobfile="j", steady=SteadyPlan(until=True))


def test_a_short_run_time_shortens_the_ramp() -> None:
    assert Job.from_fields({"runtime": "5"}).ramp == 1


def test_all_wrong_fields_are_named_at_once() -> None:
    assert set(field_problems({"bs": "x", "iodepth": "y"})) == {"bs", "iodepth"}


def test_an_empty_optional_field_clears_the_base() -> None:
    assert Job.from_fields({"size": ""}, Job(size=GIB)).size is None


def test_no_invalid_job_can_be_made() -> None:
    with pytest.raises(InvalidJobError):
        Job(ramp=60, runtime=60)


def test_the_alignment_a_device_must_take_follows_from_blocks_and_offsets() -> None:
    assert profile("iometer-file-server-4k").job.required_alignment == 512
    assert Job(bs=8192, blockalign=512).required_alignment == 512
    assert Job(bs=12288).required_alignment == 4096


def test_a_4kn_device_gets_whole_blocks_and_a_sentence() -> None:
    job, notes = fit_to_block_size(profile("iometer-file-server").job, 4096)
    assert job.bssplit == ((4096, 80), (8192, 2), (16384, 4), (32768, 4), (65536, 10))
    assert notes
    assert "4096" in notes[0]


def test_a_512_byte_device_gets_the_job_as_it_is() -> None:
    job = profile("iometer-web-server").job
    assert fit_to_block_size(job, 512) == (job, ())


def test_an_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(NotFoundError) as caught:
        profile("nosuch")
    assert "randread-4k" in caught.value.hint


def test_profiles_of_programs_flush_after_each_write_as_the_program_does() -> None:
    flushes = {name: (item.job.fsync, item.job.fdatasync) for name, item in PROFILES.items()}
    assert {name: each for name, each in flushes.items() if any(each)} == {
        "etcd": (None, 1),
        "ceph-osd": (1, None),
        "postgres": (None, 1),
    }


def test_profile_names_are_words_and_ramps_end_before_the_run() -> None:
    for name, item in PROFILES.items():
        assert name == item.name
        assert item.job.runtime == 60
        assert item.job.ramp == 10


def options(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines()[1:])


def test_a_reading_job_cannot_write() -> None:
    assert "--readonly" in render(Job(rw=Pattern.READ), [DEVICE], jobfile="job.fio").argv
    for pattern in (Pattern.WRITE, Pattern.RANDWRITE, Pattern.READWRITE, Pattern.RANDRW):
        assert "--readonly" not in render(Job(rw=pattern), [DEVICE], jobfile="job.fio").argv


def test_every_job_runs_in_threads_and_reports_four_times_a_second() -> None:
    assert render(Job(), [DEVICE], fio="/usr/bin/fio", jobfile="job.fio").argv == (
        "/usr/bin/fio",
        "--output-format=json+",
        "--status-interval=250ms",
        "--eta=never",
        "--thread",
        "--allow_file_create=0",
        "--readonly",
        "job.fio",
    )


def test_colons_in_a_path_do_not_split_it() -> None:
    target = JobTarget(path="/dev/disk/by-path/pci-0:0:1", name="x", kind=TargetKind.BLOCK, size=GIB)
    assert options(render(Job(), [target], jobfile="j").text)["filename"] == r"/dev/disk/by-path/pci-0\:0\:1"


@loop_over("path", ["a", "/a\n[b]", "/a#b", "/a;b", "/a$b", "/a`b", "/a ", "/a\tb", "/a\\b", "/a*"])
def test_a_path_fio_would_read_otherwise_is_refused(path: str) -> None:
    with pytest.raises(InvalidValueError):
        JobTarget(path=path, name="x", kind=TargetKind.FILE, size=GIB)


def test_sequential_streams_share_the_target_out() -> None:
    found = options(render(Job(rw=Pattern.READ, numjobs=3), [DEVICE], jobfile="j").text)
    step = int(found["offset_increment"])
    assert int(found["size"]) == step
    assert step % (1 << 20) == 0
    assert 3 * step <= DEVICE.size < 3 * step + 3 * (1 << 20)


def test_random_jobs_share_all_of_a_device() -> None:
    found = options(render(Job(numjobs=4), [DEVICE], jobfile="j").text)
    assert "size" not in found
    assert "offset_increment" not in found


def test_a_file_is_used_as_far_as_it_was_laid_out() -> None:
    assert options(render(Job(size=4 * GIB), [FILE], jobfile="j").text)["size"] == str(GIB)


def test_too_many_streams_for_the_target_are_refused() -> None:
    small = JobTarget(path="/x", name="x", kind=TargetKind.FILE, size=8192)
    with pytest.raises(InvalidValueError):
        render(Job(rw=Pattern.READ, numjobs=8), [small], jobfile="j")


def test_the_same_blocks_are_not_read_again_unless_asked() -> None:
    plain = options(render(Job(), [DEVICE], jobfile="j").text)
    seeded = options(render(Job(randseed=7), [DEVICE], jobfile="j").text)
    assert plain["randrepeat"] == "0"
    assert "randseed" not in plain
    assert seeded["randseed"] == "7"


@pytest.mark.parametrize(
    ("job", "held"),
    [
        (Job(rate_iops=1000), {"rate_iops": "1000"}),
        (Job(rate_iops=1000, arrival=Arrival.POISSON), {"rate_iops": "1000", "rate_process": "poisson"}),
        (Job(rate_iops=1000, rw=Pattern.RANDRW, rwmixread=70), {"rate_iops": "700,300"}),
        (Job(rate_iops=1000, bssplit=((4096, 50), (8192, 50))), {"rate_iops": "1500"}),
        (Job(), {}),
    ],
)
def test_a_rate_is_written_so_that_fio_holds_it(job: Job, held: dict[str, str]) -> None:
    written = options(render(job, [DEVICE], jobfile="job.fio").text)
    assert {key: value for key, value in written.items() if key.startswith("rate")} == held


def test_a_rate_of_poisson_arrivals_is_of_i_os_whatever_their_sizes_are() -> None:
    job = Job(rate_iops=1000, arrival=Arrival.POISSON, bssplit=((4096, 50), (8192, 50)))
    assert options(render(job, [DEVICE], jobfile="job.fio").text)["rate_iops"] == "1000"


def test_a_job_says_how_its_requests_arrive() -> None:
    job = Job(rate_iops=500, arrival=Arrival.POISSON)
    assert job.describe().endswith("at most 500 IOPS a job · Poisson arrivals")


def test_even_arrivals_are_what_a_rate_means_unless_another_is_named() -> None:
    assert Job.from_fields({"arrival": "uniform"}, Job(rate_iops=9, arrival=Arrival.POISSON)) == Job(rate_iops=9)


def test_a_job_that_flushes_at_depth_1_runs_with_psync_and_says_why() -> None:
    job, notes = fit_to_flushes(Job(rw=Pattern.RANDWRITE, fsync=1))
    assert job.ioengine is Engine.PSYNC
    assert "overlaps" in notes[0]


def test_a_deeper_one_keeps_its_engine_and_says_that_its_flushes_overlap() -> None:
    deep = Job(rw=Pattern.RANDWRITE, fdatasync=4, iodepth=8)
    job, notes = fit_to_flushes(deep)
    assert job == deep
    assert notes[0].startswith("At queue depth 8 each flush overlaps")


@pytest.mark.parametrize(
    "job", [Job(), Job(rw=Pattern.RANDWRITE), Job(rw=Pattern.RANDWRITE, fsync=1, ioengine=Engine.IO_URING)]
)
def test_other_jobs_and_engines_that_somebody_chose_stay_as_they_are(job: Job) -> None:
    assert fit_to_flushes(job) == (job, ())


@pytest.mark.parametrize(("job", "seconds"), [(Job(), 0.0), (Job(thinktime=500_000), 0.5), (Job(rate_iops=2), 0.5)])
def test_how_long_a_job_pauses_by_itself(job: Job, seconds: float) -> None:
    assert job.idle_s == seconds
