"""A program that still sets something when its raidbench was killed: it is named, waited for, never overlooked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.slow_disk import SlowDisk, killed_in_the_setter, slow_disk, until

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SlowDisk]:
    with slow_disk(tmp_path / "disk") as made:
        yield made


@pytest.fixture(scope="module")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SlowDisk, int]]:
    """A disk that is still being set, for those who may change nothing; and the setter's process id."""
    with slow_disk(tmp_path_factory.mktemp("stuck") / "disk") as made:
        yield made, killed_in_the_setter(made)


@pytest.mark.long
def test_recover_never_says_restored_while_it_runs(stuck: tuple[SlowDisk, int]) -> None:
    disk, pid = stuck
    outcome = disk.run("recover", "--restore")
    assert (outcome.status, "restored" in outcome.out) == (3, False)
    assert re.search(
        rf"Still running: sdparm \(PID {pid}\), started ..:..:.. to set Write cache of slow:d0\.", outcome.err
    )


@pytest.mark.long
def test_recover_restores_once_it_has_ended(disk: SlowDisk) -> None:
    killed_in_the_setter(disk)
    disk.let_go()
    recovery = disk.start("recover", "--restore")
    disk.until_begun()
    disk.let_go()
    out, _ = recovery.communicate()
    assert ("restored" in out, disk.value) == (True, "off")


@pytest.mark.long
def test_recover_waits_a_while_for_it(disk: SlowDisk) -> None:
    killed_in_the_setter(disk)
    recovery = disk.start("recover", "--restore")
    disk.let_go()  # the killed one's
    disk.until_begun()  # the recovery's own
    disk.let_go()
    out, err = recovery.communicate()
    assert (recovery.returncode, disk.value) == (0, "off"), out + err


@pytest.mark.long
def test_a_value_that_may_still_move_cannot_be_kept(stuck: tuple[SlowDisk, int]) -> None:
    outcome = stuck[0].run("recover", "--keep")
    assert (outcome.status, "Still running: sdparm" in outcome.err) == (3, True)


@pytest.mark.long
def test_undo_does_not_call_it_taken_back(stuck: tuple[SlowDisk, int]) -> None:
    outcome = stuck[0].run("undo", "--yes")
    assert (outcome.status, "Still running: sdparm" in outcome.err) == (3, True)


@pytest.mark.long
def test_another_raidbench_sets_nothing_meanwhile(disk: SlowDisk) -> None:
    killed_in_the_setter(disk)
    (disk.folder / "value").write_text("none\n")
    outcome = disk.run("set", "slow:d0", "wce=on", "--yes")
    assert (outcome.status, "Still running: sdparm" in outcome.err) == (3, True)


def test_every_command_says_at_its_start_that_it_runs(stuck: tuple[SlowDisk, int]) -> None:
    assert "Still running: sdparm" in stuck[0].run("devices").err


def test_what_was_left_is_listed_with_it(stuck: tuple[SlowDisk, int]) -> None:
    assert "Still running: sdparm" in stuck[0].run("recover", "--list").out


@pytest.mark.long
def test_a_trial_waits_for_it_and_then_takes_it_back(disk: SlowDisk) -> None:
    killed_in_the_setter(disk, "--trial", "10")
    journal = disk.folder.parent / "state/journal/journal.log"
    deadline = re.search(r'"until":([0-9.]+)', journal.read_text())
    assert deadline is not None
    until(lambda: float(Path("/proc/uptime").read_text().split()[0]) > float(deadline[1]) + 2)
    disk.let_go()  # now it sets the value, after the deadline
    disk.until_begun()  # the watchdog
    disk.let_go()
    until(lambda: '"restored"' in journal.read_text())
    assert disk.value == "off"


def test_it_is_not_ended_by_what_it_prints_to_nobody(disk: SlowDisk) -> None:
    killed_in_the_setter(disk)
    disk.let_go()
    assert disk.value == "on"
