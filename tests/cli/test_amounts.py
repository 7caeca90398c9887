"""A job that ends by amount, on every command that takes a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.bench_job import JobOptions, job_of
from app.core.config import Config
from tests.cli.conftest import Cli, Outcome

FAST = ("--demo", "--demo-speed", "1000")

ENDS = [("--io-size", "8M"), ("--number-ios", "1000")]


@pytest.fixture
def demo(cli: Cli) -> Cli:
    def run(*words: str) -> Outcome:
        return cli(*FAST, *words)

    return run


@pytest.mark.parametrize(("option", "amount"), ENDS)
@pytest.mark.parametrize(
    "command", [("bench", "block:sdb"), ("ab", "megaraid:/c0/v1", "read_ahead=read-ahead", "--pairs", "3", "--dry-run")]
)
def test_an_end_by_amount_is_taken(demo: Cli, command: tuple[str, ...], option: str, amount: str) -> None:
    done = demo(*command, option, amount)
    assert (done.status, "ramp" in done.err) == (0, False)


@pytest.mark.parametrize("key", ["io_size", "number_ios"])
def test_such_a_job_bears_no_name_of_a_workload_that_ends_by_time(key: str) -> None:
    job, name, _ = job_of(JobOptions(texts={key: "8192"}, profile="randread-4k"), Config())
    assert (job.ramp, name) == (0, None)


def test_a_run_time_of_ones_own_keeps_the_name() -> None:
    _, name, told = job_of(JobOptions(texts={"runtime": "7"}, profile="randread-4k"), Config())
    assert (name, told) == ("randread-4k", True)


@pytest.mark.parametrize(
    ("lines", "texts", "gone"),
    [
        ("rw=randread\nbsrange=4k-64k", {"bs": "8k"}, "bsrange"),
        ("rw=randrw\nbs=4k,64k", {"bs": "8k"}, "bs_write"),
        ("rw=randread\nbssplit=4k/50:8k/50", {"bs": "8k"}, "bssplit"),
        ("rw=randread\nsize=50%", {"size": "1G"}, "size_percent"),
        ("rw=randread\noffset=50%", {"offset": "1G"}, "offset_percent"),
        ("rw=randrw\nrate_iops=,200", {"rate_iops": "500"}, "rate_iops_write"),
    ],
)
def test_an_option_replaces_what_a_job_file_says_of_the_same(
    tmp_path: Path, lines: str, texts: dict[str, str], gone: str
) -> None:
    file = tmp_path / "job.fio"
    file.write_text(f"[a]\n{lines}\nruntime=9\n")
    before, *_ = job_of(JobOptions(texts={}, jobfile=file), Config())
    after, *_ = job_of(JobOptions(texts=texts, jobfile=file), Config())
    ((key, value),) = texts.items()
    assert getattr(before, gone) is not None
    assert (getattr(after, gone), after.texts()[key]) == (None, value)
