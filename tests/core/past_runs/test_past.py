"""What the history has of a run: the thing it was measured on, whatever that was called; its headline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.analysis.past_runs.earlier_runs import PastRun, past_runs
from app.core.session.events import ExperimentMark, LoggedEvent, RunStarted
from app.core.session.store import load
from backends.identity import Identity
from backends.model import Inventory
from tests.core import sessions

WWN = "naa.5000c500a1b2c3d4"


def past(folder: Path, *events: LoggedEvent) -> list[PastRun]:
    return list(past_runs(load(sessions.written(folder / "s1", sessions.started(), *events))))


def one(folder: Path, *events: LoggedEvent) -> PastRun:
    return past(folder, *events)[-1]


def identified(identity: Identity, *, node: str = "/dev/sda", partitions: tuple[str, ...] = ()) -> LoggedEvent:
    seen = sessions.seen()
    drive = replace(seen.inventory.drives[0], identity=identity, device=node, partitions=partitions)
    return replace(seen, inventory=Inventory(drives=(drive,)))


def run(**more: Any) -> list[LoggedEvent]:
    start, *end = sessions.run()
    assert isinstance(start, RunStarted)
    return [replace(start, **more), *end]


def test_a_disk_is_its_wwn(tmp_path: Path) -> None:
    assert one(tmp_path, sessions.seen(wwn=WWN), *sessions.run()).thing == f"wwn {WWN}"


def test_under_another_name_it_is_the_same(tmp_path: Path) -> None:
    disk = Identity(name="sdb", wwn=WWN)
    there = one(tmp_path, identified(disk, node="/dev/sdb"), *run(target="block:sdb", device="/dev/sdb"))
    assert there.thing == f"wwn {WWN}"


def test_another_disk_under_the_same_name_is_another_thing(tmp_path: Path) -> None:
    later = sessions.run("r2", at=2000.0)
    events = (sessions.seen(wwn=WWN), *sessions.run(), sessions.seen(wwn="naa.other"), *later)
    first, second = past(tmp_path, *events)
    assert first.thing != second.thing


def test_read_with_and_without_root_it_is_the_same(tmp_path: Path) -> None:
    with_serial = Identity(name="sda", wwn=WWN, serial="Z1", model="X", size_bytes=1)
    events = (sessions.seen(wwn=WWN), *sessions.run(), identified(with_serial), *sessions.run("r2", at=2000.0))
    first, second = past(tmp_path, *events)
    assert first.thing == second.thing


@pytest.mark.parametrize(
    ("serial", "thing"), [("Z2", f"wwn {WWN}, serial Z1"), ("Z1", "pear block:sda"), (None, "pear block:sda")]
)
def test_beside_a_disk_of_the_same_wwn_it_is_its_serial_number_too(
    tmp_path: Path, serial: str | None, thing: str
) -> None:
    seen = sessions.seen()
    first = replace(seen.inventory.drives[0], identity=Identity(name="sda", wwn=WWN, serial="Z1"), device="/dev/sda")
    other = replace(first, identity=Identity(name="sdb", wwn=WWN, serial=serial), device="/dev/sdb")
    both = replace(seen, inventory=Inventory(drives=(first, other)))
    assert one(tmp_path, both, *sessions.run()).thing == thing
    paths = replace(first, paths=("/dev/sda", "/dev/sdb"))
    assert one(
        tmp_path / "paths", replace(both, inventory=Inventory(drives=(paths, other))), *sessions.run()
    ).thing == (f"wwn {WWN}")


def test_without_a_wwn_it_is_serial_number_model_and_size(tmp_path: Path) -> None:
    disk = Identity(name="sda", serial="Z1", model="X", size_bytes=10)
    assert one(tmp_path, identified(disk), *sessions.run()).thing == "serial Z1, X, 10"


def test_a_loop_device_is_its_file(tmp_path: Path) -> None:
    assert one(tmp_path, identified(Identity(name="sda", backing="/x.img")), *sessions.run()).thing == "file /x.img"


def test_what_nothing_tells_is_its_name_on_its_host(tmp_path: Path) -> None:
    assert one(tmp_path, sessions.seen(), *sessions.run()).thing == "pear block:sda"


def test_a_partition_is_that_of_its_disk(tmp_path: Path) -> None:
    disk = Identity(name="sda", wwn=WWN)
    there = one(tmp_path, identified(disk, partitions=("sda2",)), *run(target="/dev/sda2", device="/dev/sda2"))
    assert there.thing == f"wwn {WWN}, partition 2"


def test_scratch_files_on_one_disk_are_one_thing(tmp_path: Path) -> None:
    seen = sessions.seen(wwn=WWN)
    first = run(target="/srv/a", scratch="/srv/a")
    second = run(id="r2", target="/srv/b", scratch="/srv/b")
    assert len({each.thing for each in past(tmp_path, seen, *first, *second)}) == 1


def test_a_file_that_stays_is_a_thing_of_its_own(tmp_path: Path) -> None:
    assert one(tmp_path, sessions.seen(wwn=WWN), *run(target="/srv/a")).thing == f"wwn {WWN}, /srv/a"


def test_the_headline_is_what_the_job_is_about(tmp_path: Path) -> None:
    found = one(tmp_path, sessions.seen(), *sessions.run(iops=1234.0))
    assert (found.figure, found.direction, found.value, found.p99_ns) == ("iops", "read", 1234.0, 2_000_000)


def test_a_field_of_the_job_that_says_nothing_makes_no_other_job(tmp_path: Path) -> None:
    plain = one(tmp_path / "a", *run(job={"rw": "randread", "bs": "4k", "iodepth": "8"}))
    told = one(tmp_path / "b", *run(job={"rw": "randread", "bs": "4k", "iodepth": "8", "bssplit": ""}))
    assert plain.job == told.job


def test_what_it_came_from_is_known_but_not_the_boot(tmp_path: Path) -> None:
    found = one(tmp_path, sessions.seen(), *run(provenance={"drive_firmware": "CC46", "boot_id": "b1"}))
    assert (found.around["drive_firmware"], found.around["kernel"], "boot_id" in found.around) == (
        "CC46",
        "6.1.0",
        False,
    )


@pytest.mark.parametrize(("letter", "counts"), [("A", True), ("B", False)])
def test_of_an_experiment_only_what_was_in_force_anyway_counts(tmp_path: Path, letter: str, counts: bool) -> None:
    mark = ExperimentMark(experiment="e1", letter=letter, pair=1)
    assert one(tmp_path, sessions.seen(), *run(mark=mark)).counts is counts


def test_a_run_without_an_end_does_not_count(tmp_path: Path) -> None:
    assert not one(tmp_path, *sessions.run(ended=False)).counts
