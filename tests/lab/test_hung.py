"""A disk that answers after ten minutes, beside volume groups it has nothing to do with: all else is told as ever.

A delay of device-mapper holds every request. Looks with it are compared with one before it: the emulated processor
alone takes its time for a look.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.disks import Disks
from tests.lab.making import Dm, dm_target
from tests.lab.running import Outcome, ask_only, raidbench, run

pytestmark = [pytest.mark.vendors("block", "lvm"), pytest.mark.seconds(900)]

SILENT = 600.0
"""Seconds after which the disk answers."""

MOST = SILENT / 5
"""Seconds that it may add to a look: far more than a busy machine takes for the looks, far less than a wait for it."""

GROUPS = {"hungA": "nvme0", "hungB": "nvme1"}


@dataclass(frozen=True)
class Looked:
    """What the command line did, and how long that took."""

    outcome: Outcome
    seconds: float


def looked(*words: str) -> Looked:
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        ask_only(patch, "block", "lvm")
        outcome = raidbench(*words)
    return Looked(outcome, time.monotonic() - began)


def delay(milliseconds: int) -> str:
    device = Disks()["nvme2"].device
    return f"0 {64 * 2048} delay {device} 2048 {milliseconds}"


def volumes(listed: Any) -> dict[str, tuple[object, ...]]:
    """What is told of the volumes, by name."""
    return {
        one["name"]: (one["size_bytes"], one["state"], one["level"], one["device"], json.dumps(one["settings"]))
        for one in listed["arrays"]
        if one["address"].startswith("lvm:")
    }


@pytest.fixture(scope="module")
def groups() -> Iterator[None]:
    """Two groups, each with a volume on a disk of its own."""
    own = Path(os.environ["LVM_SYSTEM_DIR"], "lvm.conf").read_text()
    Path("/etc/lvm").mkdir(exist_ok=True)
    Path("/etc/lvm/lvm.conf").write_text(own)
    for group, name in GROUPS.items():
        disk = Disks()[name]
        disk.wipe()
        run("vgcreate", "--yes", "--physicalextentsize=1M", group, disk.device)
        run("lvcreate", "--yes", "--zero=n", "--wipesignatures=n", "--size=8M", "--name=free", group)
    yield
    for group, name in GROUPS.items():
        run("vgremove", "--yes", group, status=None)
        Disks()[name].wipe()


@pytest.fixture(scope="module")
def before(groups: None) -> Looked:
    """A look while every disk answers."""
    return looked("devices", "--json")


@pytest.fixture(scope="module")
def hung(before: Looked) -> Iterator[Dm]:
    """The device that answers after ten minutes; what waits for it is let go at the end, when its table is another."""
    Disks()["nvme2"].wipe()
    with dm_target(delay(int(SILENT * 1000))) as made:
        try:
            yield made
        finally:
            made.load(delay(0))


def test_everything_else_is_listed_as_before_and_the_device_named(before: Looked, hung: Dm) -> None:
    now = looked("devices", "--json")
    assert now.outcome.status == 0
    assert now.seconds - before.seconds <= MOST
    told, was = volumes(now.outcome.json), volumes(before.outcome.json)
    assert {name: one[:4] for name, one in told.items()} == {name: one[:4] for name, one in was.items()}
    assert {f"{group}/free" for group in GROUPS} <= set(told)
    problems = [one["message"] for one in now.outcome.json["problems"]]
    # The kernel counts no request under way of what a delay keeps back.
    assert any(f"{hung.device} does not respond to a read of its first bytes" in message for message in problems)


def test_a_volume_of_another_disk_is_shown_and_says_why_nothing_is_changed_now(before: Looked, hung: Dm) -> None:
    now = looked("show", "lvm:hungB/free", "--json")
    assert now.outcome.status == 0
    assert now.seconds - before.seconds <= MOST
    (ahead,) = [one for one in now.outcome.json["target"]["settings"] if one["key"] == "lv_read_ahead"]
    assert ahead["now"] == "auto"
    assert hung.device in json.dumps(ahead)


def test_a_run_that_only_asks_for_confirmation_asks_soon(before: Looked, hung: Dm) -> None:
    now = looked("bench", "lvm:hungB/free", "--profile", "randwrite-4k", "--runtime", "1")
    assert now.outcome.status != 0
    assert "--confirm" in now.outcome.out + now.outcome.err
    assert now.seconds - before.seconds <= 2 * MOST  # what is to be written to is looked at twice
