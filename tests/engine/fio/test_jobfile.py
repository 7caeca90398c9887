"""Job files come in by an allow-list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.fio.job import Arrival, Engine, Job, JobTarget, Pattern, TargetKind
from app.engine.fio.jobfile import Imported, import_jobfile
from app.engine.fio.render import render
from backends.errors import InvalidValueError


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
    assert "one at a time" in found.notes[0]


def test_what_is_not_taken_over_is_said() -> None:
    (found,) = import_jobfile("[a]\nloops=3\nstonewall\n").jobs
    assert any("loops=3" in note for note in found.notes)
    assert any("60 s" in note for note in found.notes)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("exec_prerun=rm -rf x", "run a program"),
        ("exec_postrun=x", "run a program"),
        ("trigger=x", "run a program"),
        ("ioengine=exec", "runs programs"),
        ("ioengine=external:/tmp/x.so", "runs programs"),
        ("ioengine=/tmp/x.so", "runs programs"),
        ("ioengine=net", "leaves the machine"),
        ("filename=/dev/sda", "target"),
        ("directory=/etc", "target"),
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
        ("bs=4k,8k", "reads and writes"),
        ("bssplit=4k/50:8k/50,16k/100", "reads and writes"),
        ("random_distribution=zipf:1.0", "zipf takes theta"),
        ("bs=4kib", "powers of 1000"),
        ("size=50%", "share"),
        ("bs=banana", "not a size"),
        ("rw=erase", "pattern"),
        ("offset=1g", "start of the target"),
        ("runtime=1.5", "time"),
        ("iodepth=many", "whole number"),
    ],
)
def test_a_dangerous_or_unknown_line_is_refused_by_number(line: str, word: str) -> None:
    error = refusal(f"[job]\nrw=read\n{line}\n")
    assert "line 3" in error.message
    assert word in error.message


def test_a_refused_line_in_another_section_refuses_the_file() -> None:
    assert "line 4" in refusal("[a]\nrw=read\n[b]\nexec_prerun=x\n").message


def test_all_refused_lines_are_in_the_evidence() -> None:
    assert refusal("[a]\nfilename=x\nzzz=1\n").evidence.count("\n") == 1


def test_fields_that_do_not_fit_together_name_the_line() -> None:
    assert "line 3: ramp" in refusal("[a]\nruntime=5\nramp_time=9\n").message


@pytest.mark.parametrize(
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
    with pytest.raises(InvalidValueError, match="filename"):
        import_jobfile(end.join(("[j]", "filename=/dev/sda", "rw=write")))


def test_nothing_may_follow_a_section_name() -> None:
    with pytest.raises(InvalidValueError, match="not a section name"):
        import_jobfile("[j] rw=write\n")


@pytest.mark.parametrize(
    ("lines", "rate", "share"),
    [
        ("rw=randread\nrate_iops=700", 700, 50),
        ("rw=randwrite\nrate_iops=700,300", 300, 50),
        ("rate_iops=700,300\nrw=randrw\nrwmixread=20", 1000, 70),
        ("rw=randrw\nrwmixread=20\nrate_iops=700", 1400, 50),
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


def test_an_amount_is_passed_over_where_fio_does_so() -> None:
    (found,) = import_jobfile("[a]\ntime_based\nnumber_ios=1000\nruntime=9\n").jobs
    assert (found.job.number_ios, "number_ios" in " ".join(found.notes)) == (None, True)


def test_the_way_requests_arrive_is_understood() -> None:
    assert only("[a]\nrate_iops=700\nrate_process=poisson\nruntime=9\n").arrival is Arrival.POISSON
    assert only("[a]\nrate_iops=700\nrate_process=linear\nruntime=9\n").arrival is None


@pytest.mark.parametrize(("line", "told"), [("runtime=60", True), ("bs=4k", False)])
def test_a_file_that_names_a_run_time_of_a_minute_means_it(line: str, told: bool) -> None:
    (job,) = import_jobfile(f"[reads]\nrw=read\n{line}\n").jobs
    assert (job.job.runtime, job.told) == (60, told)
