"""Settings and raw runs on a real loop device of our own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops, thin_loop
from tests.cli.conftest import Cli, Outcome, program
from tests.cli.terminal import on_terminal

pytestmark = [needs_loops(), pytest.mark.root]

SHORT = ("--runtime", "1", "--ramp", "0", "--rate-iops", "1000")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


def read_ahead(disk: Loop) -> str:
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()


def test_a_change_is_in_sysfs(cli: Cli, disk: Loop) -> None:
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    assert read_ahead(disk) == "512"


def test_a_dry_run_leaves_sysfs_alone(cli: Cli, disk: Loop) -> None:
    before = read_ahead(disk)
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes", "--dry-run")
    assert read_ahead(disk) == before


def test_undo_brings_the_old_value_back(cli: Cli, disk: Loop) -> None:
    before = read_ahead(disk)
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    cli("undo", "--yes")
    assert read_ahead(disk) == before


def test_undo_takes_back_a_change_of_an_earlier_session(cli: Cli, disk: Loop, tmp_path: Path) -> None:
    before = read_ahead(disk)
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    cli("--session", str(tmp_path / "state/sessions/newer"), "persist", disk.name, "--remove", "--yes")
    cli("undo", "--yes")
    assert read_ahead(disk) == before


@pytest.mark.long
def test_undo_all_takes_everything_back(cli: Cli, disk: Loop) -> None:
    before = read_ahead(disk)
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    cli("set", disk.sure(), "nomerges=2", "read_ahead_kb=1024", "--yes")
    cli("undo", "--all", "--yes")
    assert read_ahead(disk) == before


def test_a_value_changed_by_somebody_else_is_left_alone(cli: Cli, disk: Loop) -> None:
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").write_text("64")
    assert (cli("undo", "--yes").status, read_ahead(disk)) == (3, "64")


def test_the_log_has_the_write(cli: Cli, disk: Loop) -> None:
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    assert f"echo 512 > /sys/block/{disk.name}/queue/read_ahead_kb" in cli("log").out


def test_the_report_says_what_is_still_in_force(cli: Cli, disk: Loop) -> None:
    cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
    after = cli("report").out.partition("## Still changed")[2]
    assert f"Read-ahead of block:{disk.name} is 512" in after


def test_a_typed_y_applies(disk: Loop) -> None:
    on_terminal("set", disk.sure(), "read_ahead_kb=512", answers={"Apply? [y/N]": "y\n"})
    assert read_ahead(disk) == "512"


def test_an_empty_answer_does_not(disk: Loop) -> None:
    before = read_ahead(disk)
    status, _, _ = on_terminal("set", disk.sure(), "read_ahead_kb=512", answers={"Apply? [y/N]": "\n"})
    assert (status, read_ahead(disk)) == (3, before)


def test_ctrl_c_at_the_question_ends_it(disk: Loop) -> None:
    before = read_ahead(disk)
    status, _, _ = on_terminal("set", disk.sure(), "read_ahead_kb=512", answers={"Apply? [y/N]": signal.SIGINT})
    assert (status, read_ahead(disk)) == (130, before)


def test_a_y_is_not_enough_for_what_risks_data(disk: Loop) -> None:
    question = "despite the risk above? Type yes"
    status, _, _ = on_terminal("set", disk.sure(), "write_cache=write-through", answers={question: "y\n"})
    assert status == 3


@pytest.mark.long
def test_a_raw_write_without_the_name_is_refused(cli: Cli, disk: Loop) -> None:
    assert cli("bench", disk.sure(), "--profile", "randwrite-4k", "--runtime", "1", "--ramp", "0").status == 3


@pytest.mark.long
def test_a_refused_raw_write_writes_nothing(cli: Cli, disk: Loop) -> None:
    disk.write(0, b"kept" * 1024)
    cli("bench", disk.sure(), "--profile", "seqwrite-4k", "--runtime", "1", "--ramp", "0")
    assert disk.backing.read_bytes()[:8] == b"keptkept"


@pytest.mark.long
def test_a_raw_write_with_another_name_is_refused(cli: Cli, disk: Loop) -> None:
    words = ("--profile", "randwrite-4k", "--runtime", "1", "--ramp", "0", "--confirm", "loop999")
    assert cli("bench", disk.sure(), *words).status == 3


@pytest.mark.fio
def test_a_raw_write_with_the_name_is_measured(disk: Loop) -> None:
    words = ("--profile", "randwrite-4k", *SHORT, "--confirm", disk.name, "--json")
    outcome = program("bench", disk.sure(), *words)
    assert outcome.json["run"]["write"]["total_ios"] > 0


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, str, str]:
    """A raw read, the address of its target, and its read-ahead."""
    folder = tmp_path_factory.mktemp("read")
    with loop(folder / "disk.img") as disk:
        target, state = f"block:{disk.name}", {"RAIDBENCH_STATE_DIR": str(folder / "state")}
        done = program("bench", target, *SHORT, "--json", env=state)
        return done, target, read_ahead(disk)


@pytest.mark.long
@pytest.mark.fio
def test_a_raw_read_needs_no_name(read: tuple[Outcome, str, str]) -> None:
    outcome, target, _ = read
    assert (outcome.status, outcome.json["run"]["target"]) == (0, target)


@pytest.mark.long
@pytest.mark.fio
def test_a_run_records_the_settings_of_its_device(read: tuple[Outcome, str, str]) -> None:
    outcome, _, ahead = read
    assert outcome.json["run"]["settings"]["read_ahead_kb"] == ahead


@pytest.mark.long
def test_a_write_to_the_disk_of_the_system_is_refused_whatever_is_confirmed(cli: Cli) -> None:
    number = os.stat("/").st_dev
    node = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not node.exists():
        pytest.skip("the root filesystem has no block device of its own")
    name = node.resolve().name
    words = ("--profile", "randwrite-4k", "--runtime", "1", "--ramp", "0", "--confirm", name)
    assert cli("bench", f"/dev/{name}", *words).status == 3


def measured_in(session: Path, disk: Loop) -> str:
    """A run in a session of its own, as `compare` names it."""
    done = program("--session", str(session), "bench", disk.sure(), *SHORT)
    assert done.status == 0, done.err
    return f"{session}/r1"


@pytest.mark.long
@pytest.mark.fio
def test_a_file_that_was_swapped_between_two_sessions_is_named_and_nothing_is_called_chance(
    cli: Cli, tmp_path: Path
) -> None:
    with loop(tmp_path / "disk.img") as before:
        first = measured_in(tmp_path / "first", before)
        (tmp_path / "other.img").write_bytes(bytes(8 << 20))  # there before the first one goes, so it has another inode
    (tmp_path / "other.img").replace(tmp_path / "disk.img")
    with loop(tmp_path / "disk.img") as after:
        second = measured_in(tmp_path / "second", after)
    told = cli("compare", first, second, "--json").json
    differing = {row["key"] for row in told["provenance"]}
    assert {"backing_inode", "backing_bytes", "size_bytes"} <= differing
    assert told["sentence"].startswith(
        "Differences in addition to settings and job: inode of the backing file, size of"
    )
    assert "chance" not in told["sentence"]


@pytest.mark.long
@pytest.mark.fio
def test_what_moves_along_with_a_scheduler_is_told(disk: Loop) -> None:
    queue = Path(f"/sys/block/{disk.name}/queue")
    if "bfq" not in (queue / "scheduler").read_text():
        pytest.skip("this kernel has no bfq")
    before = (queue / "nr_requests").read_text().strip()
    words = ("--pairs", "1", *SHORT, "--rest", "0", "--yes", "--json")
    told = program("ab", disk.sure(), "scheduler=bfq", *words).json["experiment"]
    assert told["moved"]["nr_requests"].startswith(f"{before} -> ")


SWEEP = """
[targets]
thin = "{device}"
[measure]
target = "thin"
repeats = 2
[job]
rw = "randwrite"
runtime = "1s"
ramp = "0s"
[[axis]]
setting = "read_ahead_kb"
values = ["128", "256"]
"""

WRITERS = {
    "bench": ("bench", "{device}", "--profile", "randwrite-4k", "--confirm", "{name}"),
    "precondition": ("precondition", "{device}", "--confirm", "{name}", "--yes"),
    "ab": ("ab", "{device}", "read_ahead_kb=256", "--profile", "randwrite-4k", "--confirm", "{name}", "--yes"),
    "sweep": ("sweep", "{plan}", "--confirm", "{name}", "--yes"),
}


@pytest.mark.long
@pytest.mark.fio
@pytest.mark.parametrize("words", WRITERS.values(), ids=WRITERS)
def test_no_way_to_write_fills_the_file_system_beneath_a_sparse_file(
    cli: Cli, tmp_path: Path, words: tuple[str, ...]
) -> None:
    with thin_loop(tmp_path, size=500 << 20, on=64 << 20) as thin:
        plan = tmp_path / "plan.toml"
        plan.write_text(SWEEP.format(device=thin.device))
        before = os.stat(thin.backing).st_blocks
        outcome = cli(*(word.format(device=thin.sure(), name=thin.name, plan=plan) for word in words))
        assert outcome.status == 3, outcome.err
        assert "may need 500 MiB of the filesystem on" in outcome.err
        assert os.stat(thin.backing).st_blocks == before
