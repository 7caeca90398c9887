"""Job files come in by an allow-list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.fio.job import Arrival, Engine, Job, JobTarget, Pattern, TargetKind
from app.core.fio.jobfile import Imported, depends_on_fio, import_jobfile
from app.core.fio.option_table import SHIPPED, OptionTable
from app.core.fio.render import render
from backends.errors import InvalidValueError, NotFoundError
from tests.case_loop import loop_over

FILE = JobTarget(path="/srv/scratch", name="/srv/scratch", kind=TargetKind.FILE, size=1 << 30)


def only(text: str) -> Job:
    (found,) = import_jobfile(text).jobs
    return found.job


def refusal(text: str | bytes) -> InvalidValueError:
    with pytest.raises(InvalidValueError) as caught:
        import_jobfile(text)
    return caught.value


def test_a_usual_job_file_is_understood() -> None:
    job = only(
        "; a comment\n[global]\nioengine=libaio ; engine\ndirect=1\nruntime=2m\ntime_based\ngroup_reporting\n\n"
        "[mixed]\nreadwrite=randrw\nblocksize=8k\niodepth=32\nnumjobs=4\nrwmixwrite=30\nsize=4g\nramp_time=5s\n"
    )
    assert job == Job(
        rw=Pattern.RANDRW, bs=8192, iodepth=32, numjobs=4, rwmixread=70, runtime=120, ramp=5, size=4 << 30,
        norandommap=False,
    )  # fmt: skip


def test_what_the_file_leaves_open_is_fios_default_not_ours() -> None:
    job = only("[a]\nruntime=10\n")
    assert (job.rw, job.direct, job.ioengine, job.iodepth, job.ramp) == (Pattern.READ, False, Engine.PSYNC, 1, 0)


def test_sections_come_in_order_with_the_globals_above_them() -> None:
    found = import_jobfile("[global]\nbs=8k\n[a]\nrw=read\n[global]\niodepth=7\n[b]\nrw=write\nbs=1m\n")
    assert [(job.name, job.job.bs, job.job.iodepth) for job in found.jobs] == [("a", 8192, 1), ("b", 1 << 20, 7)]


def test_a_file_of_several_sections_is_one_job() -> None:
    found = import_jobfile("[global]\nruntime=9\n[a]\nrw=read\n[a]\nrw=write\n[b]\nstonewall\nruntime=3\n").combined_job
    assert [(one.name, one.waits, one.job.runtime) for one in found.job.sections] == [
        ("a", False, 9),
        ("a #2", False, 9),
        ("b", True, 3),
    ]
    assert (found.job.writes, found.job.runtime, found.names_runtime) == (True, 12, True)


def test_a_file_of_one_section_is_that_job() -> None:
    found = import_jobfile("[a]\nruntime=9\nstonewall\n")
    assert found.combined_job is found.jobs[0]


def test_the_run_time_of_a_file_is_named_only_where_every_section_names_it() -> None:
    assert not import_jobfile("[a]\nruntime=9\n[b]\nrw=read\n").combined_job.names_runtime


def test_a_note_names_its_section_unless_it_is_about_all() -> None:
    found = import_jobfile(
        "[global]\nstartdelay=3\n[a]\nruntime=9\ntime_based\nloops=2\n[b]\nruntime=9\ntime_based\n"
    ).combined_job
    assert [note.split("=")[0] for note in found.notes] == ["startdelay", "a: loops"]


def test_sections_do_not_end_each_other() -> None:
    found = import_jobfile("[global]\nexitall\nruntime=9\n[a]\nrw=read\n[b]\nrw=read\n").combined_job
    assert any("exitall" in note for note in found.notes)


def test_a_section_is_found_by_its_name() -> None:
    found = import_jobfile("[a]\nruntime=8\n[a]\nruntime=9\n")
    assert [found.section(name).job.runtime for name in found.names] == [8, 9]
    with pytest.raises(NotFoundError, match="no section c") as caught:
        found.section("c")
    assert "a, a #2" in caught.value.hint


@loop_over(
    ("line", "value", "other"),
    [
        ("filename=/dev/sda", "/dev/sda", "chosen in raidbench"),
        ("filename=${DISK}", "${DISK}", "chosen in raidbench"),
        ("directory=/etc", "/etc", "chosen in raidbench"),
        ("name=first", "first", "target"),
        ("nrfiles=4", "4", "one target"),
        ("startdelay=5", "5", "startdelay=0"),
        ("fallocate=posix", "posix", "fallocate=none"),
        ("overwrite=1", "1", "laid out"),
        ("thread=0", "0", "thread=1"),
        ("exitall", "1", "exitall=0"),
        ("group_reporting=0", "0", "together"),
        ("percentile_list=50:90", "50:90", "99.99"),
        ("runtime=2500ms", "2500ms", "3 s"),
        ("number_ios=77", "number_ios", "time_based"),
        ("loops=3", "loops=3", "time_based"),
        ("bssplit=4k/50:64k/50\nrate_iops=1000", "1000", "118"),
        ("numjobs=4", "4 jobs its own file", "the target"),
        ("rw=read\nblockalign=8k", "blockalign=8k", "random"),
        ("rw=write\nrandom_distribution=zipf:1.1", "zipf:1.1", "random"),
        ("rw=read\npercentage_random=50", "percentage_random=50", "random"),
        ("rw=randread\nfsync=8", "fsync=8", "write"),
        ("thinktime_blocks=8", "thinktime_blocks=8", "thinktime"),
        ("rate_process=poisson", "rate_process=poisson", "a rate"),
        ("cpus_allowed_policy=split", "cpus_allowed_policy=split", "cpus_allowed"),
    ],
)
def test_a_value_that_raidbench_replaces_is_named_with_what_it_does_instead(line: str, value: str, other: str) -> None:
    (found,) = import_jobfile(f"[a]\nruntime=9\ntime_based\n{line}\n").jobs
    assert any(value in note and other in note for note in found.notes), found.notes


@loop_over(
    "line",
    [
        "fsync=0", "fdatasync=0", "thinktime=0", "rate_iops=0", "rate=0", "rate_iops=0,0", "number_ios=0", "io_size=0",
        "iodepth_batch=1", "iodepth_batch_complete=1", "invalidate=1", "softrandommap=0", "refill_buffers=0",
        "scramble_buffers=1", "end_fsync=0", "random_generator=tausworthe", "overwrite=0", "nrfiles=1", "loops=1",
        "startdelay=0", "offset=0", "offset=0%", "size=100%", "percentage_random=100", "thread", "fallocate=native",
        "allow_mounted_write=0", "unlink=0", "gtod_reduce=0", "verify=0", "kb_base=1024", "zonemode=none",
        "random_distribution=random", "continue_on_error=none", "group_reporting", "stonewall=0", "disk_util=1",
        "numjobs=1", "bs=4k", "bs=4096,4k", "bs=4k,", "blockalign=0", "rate_process=linear", "hipri=0",
    ],
)  # fmt: skip
def test_a_default_of_fio_that_is_written_out_changes_nothing(line: str) -> None:
    plain, *_ = import_jobfile("[a]\nrw=randrw\nruntime=9\ntime_based\n").jobs
    (found,) = import_jobfile(f"[a]\nrw=randrw\nruntime=9\ntime_based\n{line}\n").jobs
    assert replace(found.job, percentage_random=None) == plain.job
    assert found.notes == ()


@loop_over(
    ("line", "word"),
    [
        ("exec_prerun=rm -rf x", "run a program"),
        ("exec_postrun=x", "run a program"),
        ("trigger=x", "run a program"),
        ("ioengine=exec", "runs programs"),
        ("ioengine=external:/tmp/x.so", "runs programs"),
        ("ioengine=/tmp/x.so", "runs programs"),
        ("ioengine=net", "uses the network"),
        ("opendir=/", "target"),
        ("read_iolog=x", "other files"),
        ("write_bw_log=/etc/x", "other files"),
        ("write_new_thing=x", "other files"),
        ("include other.fio", "other files"),
        ("allow_mounted_write=1", "mounted"),
        ("verify=crc32c", "verify"),
        ("gtod_reduce=1", "latencies"),
        ("kb_base=1000", "sizes"),
        ("bs=${BS}", "expand"),
        ("bs=`id`", "expand"),
        ("zzz=1", "does not know it"),
        ("rw=randrw\nbssplit=4k/50:8k/50,16k/100", "reads and writes"),
        ("bs=1.5k", "fraction"),
        ("bs = 8k", "blank"),
        ("bs=2*4k", "not a size"),
        ("runtime=5 m", "time"),
        ("runtime=60sec", "time"),
        ("io_size=50%", "share"),
        ("offset_increment=10%", "share"),
        ("random_distribution=zoned:70/10:/90", "whole number"),
        *((f"{name}=5", "does not know it") for name in ("ramp", "arrival", "passes", "rate_iops_read", "extra")),
        ("rate_process=later", "rate_process"),
        ("pre_read=1", "cache"),
        ("unlink=1", "deleted"),
        ("ioscheduler=none", "setting"),
        ("continue_on_error=all", "failed"),
        ("mem=mmaphuge:/dev/shm/x", "not one of"),
        ("random_distribution=zipf:1.0", "zipf needs theta"),
        ("bs=4kib", "powers of 1000"),
        ("bs=banana", "not a size"),
        ("rw=erase", "pattern"),
        ("rw=trimwrite\nbs=4k,8k,16k", "different block sizes for trims and writes"),
        ("runtime=1.5", "time"),
        ("iodepth=many", "whole number"),
    ],
)
def test_a_dangerous_or_unknown_line_is_refused_by_number(line: str, word: str) -> None:
    error = refusal(f"[job]\nrw=read\n{line}\n")
    assert re.search("line [34]", error.message)
    assert word in error.message


def test_an_option_is_refused_by_who_does_not_know_it() -> None:
    table = OptionTable(version="fio-3.20", names=SHIPPED.names - {"iodepth_low"}, installed=True)
    with pytest.raises(InvalidValueError) as caught:
        import_jobfile("[a]\nsteadystate=iops:1%\nzoink=1\niodepth_low=4\n", table)
    assert caught.value.evidence.splitlines() == [
        "line 2: steadystate is not supported by raidbench",
        "line 3: zoink is not supported: fio-3.20 does not know it",
        "line 4: iodepth_low is not supported: fio-3.20 does not know it",
    ]


@pytest.mark.parametrize(("line", "asks"), [("bs=4k", False), ("zoink=1", True), ("iodepth_low=4", True)])
def test_the_installed_fio_is_asked_where_not_every_fio_has_an_option(line: str, asks: bool) -> None:
    assert depends_on_fio(f"; a word\n[a b=1]\n{line} # {line}\n".encode()) is asks


def test_a_refused_line_in_another_section_refuses_the_file() -> None:
    assert "line 4" in refusal("[a]\nrw=read\n[b]\nexec_prerun=x\n").message


def test_all_refused_lines_are_in_the_evidence() -> None:
    assert refusal("[a]\nlockfile=x\nzzz=1\n").evidence.count("\n") == 1


def test_fields_that_do_not_fit_together_name_the_line() -> None:
    assert "line 3: ramp" in refusal("[a]\nruntime=5\nramp_time=9\n").message


@loop_over(
    "text",
    [
        "",
        "hello",
        "rw=read\n",
        "[\n",
        "[]\n",
        "[global]\nbs=4k\n",
        "x" * 1_000_000,
        "\0ELF",
        b"\xff\xfe[a]\0",
        "[a]\n" * 5000,
    ],
)
def test_what_is_no_job_file_is_refused_in_a_sentence(text: str | bytes) -> None:
    error = refusal(text)
    assert len(error.message) < 300


lines = st.lists(
    st.one_of(
        st.sampled_from(["[a]", "[global]", "rw=randread", "bs=4k", "iodepth=-1", "runtime=0", "size=100%", "direct"]),
        st.text(max_size=20),
    ),
    max_size=10,
)


@pytest.mark.exhaustive
@given(lines.map("\n".join) | st.text() | st.binary())
def test_nothing_but_a_job_or_a_sentence_comes_out(text: str | bytes) -> None:
    try:
        found = import_jobfile(text)
    except InvalidValueError:
        return
    assert isinstance(found, Imported)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"], ids=["CR", "CRLF", "LF"])
def test_lines_end_as_in_any_system(end: str) -> None:
    imported = import_jobfile(end.join(("[j]", "rw=randread", "bs=8k", "")))
    assert imported.jobs[0].job.bs == 8192


@pytest.mark.parametrize("end", ["\r", "\r\n"], ids=["CR", "CRLF"])
def test_what_names_another_target_is_refused_however_lines_end(end: str) -> None:
    with pytest.raises(InvalidValueError, match="opendir"):
        import_jobfile(end.join(("[j]", "filename=/dev/sda", "opendir=/", "rw=write")))


def test_nothing_may_follow_a_section_name() -> None:
    with pytest.raises(InvalidValueError, match="not a section name"):
        import_jobfile("[j] rw=write\n")


@pytest.mark.parametrize(
    ("lines", "rate", "share"),
    [
        ("rw=randread\nrate_iops=700", 700, 50),
        ("rw=randwrite\nrate_iops=700,300", 300, 50),
        ("rate_iops=700,300\nrw=randrw\nrwmixread=70", 1000, 70),
        ("rw=randrw\nrate_iops=700", 1400, 50),
    ],
)
def test_a_rate_is_understood_as_fio_holds_it(lines: str, rate: int, share: int) -> None:
    job = only(f"[a]\n{lines}\nruntime=9\n")
    assert (job.rate_iops, job.rwmixread) == (rate, share)


def test_every_field_that_raidbench_writes_is_read() -> None:
    job = Job.from_fields(
        {
            "rw": "randrw", "rwmixread": "70", "rate": "10M", "random_distribution": "zipf:1.1", "fdatasync": "8",
            "thinktime": "2ms", "thinktime_blocks": "4", "percentage_random": "60", "io_size": "1G",
            "ioengine": "io_uring", "hipri": "yes", "cpus_allowed": "0-3", "cpus_allowed_policy": "split",
            "numa_mem_policy": "local",
        }
    )  # fmt: skip
    device = JobTarget(path="/dev/x", name="x", kind=TargetKind.BLOCK, size=1 << 34)
    written = render(job, [device], jobfile="j").text
    assert only(written.replace("filename=/dev/x\n", "")) == job


@pytest.mark.parametrize(
    ("lines", "fields", "written"),
    [
        ("rate_iops=,300", {"rate_iops_write": 300}, "rate_iops=,300"),
        ("rate_iops=300,", {"rate_iops_read": 300}, "rate_iops=300,"),
        ("rate_iops=300,0", {"rate_iops_read": 300}, "rate_iops=300,"),
        ("rate_iops=2k,700", {"rate_iops_read": 2048, "rate_iops_write": 700}, "rate_iops=2048,700"),
        ("rwmixread=20\nrate_iops=700", {"rate_iops_read": 700, "rate_iops_write": 700}, "rate_iops=700,700"),
        ("rate=,3m", {"rate_write": 3 << 20}, "rate=,3145728"),
        ("rate=9m,3m,1m", {"rate_read": 9 << 20, "rate_write": 3 << 20}, "rate=9437184,3145728"),
    ],
)
def test_a_rate_of_one_direction_holds_that_alone(lines: str, fields: Mapping[str, int], written: str) -> None:
    job = only(f"[a]\nrw=randrw\n{lines}\nruntime=9\n")
    named = ("rate_iops", "rate", "rate_iops_read", "rate_iops_write", "rate_read", "rate_write")
    assert {key: value for key in named if (value := getattr(job, key)) is not None} == fields
    assert f"\n{written}\n" in render(job, [FILE], jobfile="j").text


def test_an_amount_is_passed_over_where_fio_does_so() -> None:
    (found,) = import_jobfile("[a]\ntime_based\nnumber_ios=1000\nruntime=9\n").jobs
    assert (found.job.number_ios, "number_ios" in " ".join(found.notes)) == (None, True)


def test_the_way_requests_arrive_is_understood() -> None:
    assert only("[a]\nrate_iops=700\nrate_process=poisson\nruntime=9\n").arrival is Arrival.POISSON
    assert only("[a]\nrate_iops=700\nrate_process=linear\nruntime=9\n").arrival is None


@pytest.mark.parametrize(("line", "runtime", "told"), [("runtime=60", 60, True), ("bs=4k", 0, False)])
def test_a_file_that_names_a_run_time_of_a_minute_means_it(line: str, runtime: int, told: bool) -> None:
    (job,) = import_jobfile(f"[reads]\nrw=read\n{line}\n").jobs
    assert (job.job.runtime, job.names_runtime) == (runtime, told)


def test_a_section_says_how_it_follows_the_one_above() -> None:
    first, second, third = import_jobfile(
        "[global]\nruntime=9\n[a]\n[b]\nwait_for_previous\n[c]\nnew_group\nstonewall=0\nstartdelay=3\n"
    ).jobs
    assert [(job.stonewall, job.new_group) for job in (first, second, third)] == [
        (False, False),
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("name", ["global", "globals", "global two"])
def test_a_section_whose_name_begins_with_global_is_global(name: str) -> None:
    found = import_jobfile(f"[{name}]\nbs=16k\n[GLOBAL]\nrw=write\n").jobs
    assert [(job.name, job.job.bs) for job in found] == [("GLOBAL", 16384)]


@loop_over(
    ("above", "own", "fields"),
    [
        ("direct=1\nbuffered=0", "direct=0", {"direct": False}),
        ("buffered=1", "direct=1", {"direct": True}),
        ("direct=1", "buffered=1", {"direct": False}),
        ("rwmixwrite=5\nrwmixread=95", "rwmixwrite=40", {"rwmixread": 60}),
        ("blocksize=64k", "bs=8k", {"bs": 8192}),
        ("bs=64k", "blocksize=8k", {"bs": 8192}),
        ("timeout=7", "runtime=9", {"runtime": 9}),
        ("readwrite=randread", "rw=write", {"rw": Pattern.WRITE}),
        ("iodepth_batch_submit=4", "iodepth_batch=8", {"extra": (("iodepth_batch", "8"),)}),
        ("rate_iops=,7", "rate_iops=9,", {"rate_iops_read": 9, "rate_iops_write": 7}),
        ("rate_iops=100,200", "rate_iops=,300", {"rate_iops_read": 100, "rate_iops_write": 300}),
        ("bs=16k,32k", "bs=,8k", {"bs": 16384, "bs_write": 8192}),
        ("bs=16k,32k", "bs=8k,", {"bs": 8192, "bs_write": 32768}),
    ],
)
def test_a_section_wins_over_the_globals_in_whatever_spelling(
    above: str, own: str, fields: Mapping[str, object]
) -> None:
    job = only(f"[global]\nrw=randrw\n{above}\n[a]\n{own}\n")
    assert {key: getattr(job, key) for key in fields} == fields


@pytest.mark.parametrize(
    ("lines", "percent"),
    [
        ("rwmixread=80\nrwmixwrite=30", 70),
        ("rwmixwrite=30\nrwmixread=80", 80),
        ("rwmixread=10\nrwmixwrite=30\nrwmixread=80", 80),
    ],
)
def test_the_last_line_of_a_section_wins(lines: str, percent: int) -> None:
    assert only(f"[a]\nrw=rw\n{lines}\nruntime=9\n").rwmixread == percent


@loop_over(
    ("lines", "written"),
    [
        ("invalidate=0", "invalidate=0"),
        ("end_fsync=1", "end_fsync=1"),
        ("randrepeat=1", "randrepeat=1"),
        ("iodepth_low=4", "iodepth_low=4"),
        ("refill_buffers", "refill_buffers=1"),
        ("random_generator=lfsr", "random_generator=lfsr"),
        ("thinktime=1ms\nthinktime_blocks=8", "thinktime_blocks_type=complete"),
        ("thinktime=1ms\nthinktime_blocks=8\nthinktime_blocks_type=issue", "thinktime_blocks_type=issue"),
        ("bs=4k,16k", "bs=4k,16k"),
        ("rw=randwrite\nbs=4k,16k", "bs=16k"),
        ("bsrange=4k-32k", "bsrange=4k-32k"),
        ("bsrange=4k:32k", "bsrange=4k-32k"),
        ("bssplit=4k/60:16k/:64k/", "bssplit=4k/60:16k/20:64k/20"),
        ("random_distribution=zoned:70/10:20/20:10/", "random_distribution=zoned:70/10:20/20:10/70"),
        ("size=25%", "size=268435456"),
        ("offset=512m", "offset=536870912"),
        ("offset=50%", "offset=536870912"),
        ("offset=512m\nsize=64m", "size=67108864"),
        ("filesize=32m", "size=33554432"),
        ("filesize=32m\nsize=64m", "size=33554432"),
        ("filesize=64m\nsize=32m", "size=67108864"),
        ("offset_increment=64m\nsize=64m\nnumjobs=4", "size=67108864"),
        ("bs=0x2000", "bs=8k"),
    ],
)
def test_an_option_is_honoured(lines: str, written: str) -> None:
    text = render(only(f"[a]\nrw=randrw\nruntime=9\ntime_based\n{lines}\n"), [FILE], jobfile="j").text.splitlines()
    assert written in text
    keys = [line.partition("=")[0] for line in text]
    assert len(keys) == len(set(keys))


def test_jobs_of_a_file_all_have_the_whole_region() -> None:
    job = only("[a]\nrw=read\nsize=64m\nnumjobs=4\nruntime=9\ntime_based\n")
    text = render(job, [FILE], jobfile="j").text
    assert "\nsize=67108864\n" in text
    assert "offset_increment" not in text


@loop_over(
    ("lines", "fields", "written", "absent"),
    [
        ("size=64m\nruntime=20", {"passes": 1, "runtime": 20}, "runtime=20s", "time_based"),
        ("size=64m", {"passes": 1, "runtime": 0}, "size=67108864", "runtime"),
        ("size=64m\nloops=3", {"passes": 3}, "loops=3", "time_based"),
        ("size=64m\nio_size=1g", {"passes": None, "io_size": 1 << 30}, "io_size=1073741824", "loops"),
        ("size=64m\nio_size=1g\nloops=2", {"passes": 2, "io_size": 1 << 30}, "loops=2", "time_based"),
        ("size=64m\nnumber_ios=5k", {"passes": 1, "number_ios": 5120}, "number_ios=5120", "io_size"),
        ("size=64m\ntime_based", {"passes": 1, "runtime": 0}, "size=67108864", "time_based"),
        ("size=64m\nruntime=20\nramp_time=2", {"passes": 1, "ramp": 2}, "ramp_time=2s", "time_based"),
    ],
)
def test_a_job_that_is_not_time_based_ends_as_with_fio(
    lines: str, fields: Mapping[str, object], written: str, absent: str
) -> None:
    job = only(f"[a]\n{lines}\n")
    assert job.ends_by_amount
    assert {key: getattr(job, key) for key in fields} == fields
    text = render(job, [FILE], jobfile="j").text
    assert f"\n{written}\n" in text
    assert f"\n{absent}" not in text
    assert "ends after" in job.describe()
