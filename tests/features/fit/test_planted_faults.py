"""A fast folder whose flushes a power loss would undo: each fault, planted beneath it, turns the yes of the command."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.cli import session_context
from app.features.fit import engine
from backends.host import Host
from tests.backends.loops import ext4, loop, mounted, needs_loops, run
from tests.cli.conftest import Cli, Outcome
from tests.features.check.planted import C0_BBU, MOUNTS, PLANTED, STORCLI_BATTERY, Plant, PlantedHost
from tests.packages import needs

pytestmark = pytest.mark.long

_OF_CHECK = {fault.id: fault for fault in PLANTED}


def _mounted(device: str, number: str, plant: Plant) -> Plant:
    """The plant, with a filesystem of this disk at /srv."""
    line = f"\n36 1 {number} / /srv rw,relatime shared:9 - ext4 {device} rw\n"
    return replace(plant, edits=(*plant.edits, (MOUNTS, r"\Z", line)))


def _zfs(value: str) -> Plant:
    return Plant(answers=(("zfs get", r"(tank/files\tsync\t)\S+\t-\t\S+", rf"\g<1>{value}\t-\tlocal"),))


def _rotating(flag: str) -> Plant:
    return _mounted("/dev/sda", "8:0", Plant(files={"/sys/block/sda/queue/rotational": flag}))


def _cached(words: str) -> Plant:
    return _mounted("/dev/sda", "8:0", Plant(files={"/sys/block/sda/queue/write_cache": words}))


BARRIERS, BATTERY = _OF_CHECK["barriers-off"], _OF_CHECK["battery-failed"]
DEAD = (C0_BBU, STORCLI_BATTERY, r'\1"Failed"')
DRIVES_CACHE = ("/c0/v", '"Disk\'s Default"', '"Enabled"')
FORCED = (("/c0", '"ARWBD"', '"ARAWBD"'), ("/c0/v", '"WriteBack"', '"AlwaysWriteBack"'))

FAULTS: dict[str, tuple[str, str, Plant, Plant]] = {
    "flushes-off": ("linux", "/srv", _cached("write through"), _cached("write back")),
    "barriers-off": ("linux", "/", BARRIERS.fault, BARRIERS.near),
    "sync-off": ("linux", "/tank/files", _zfs("disabled"), _zfs("always")),
    "A rotating drive needs longer": ("linux", "/srv", _rotating("1"), _rotating("0")),
    "battery-failed": ("lsi", "/", BATTERY.fault, BATTERY.near),
    "drive-cache-unprotected": ("lsi", "/", Plant(answers=(DEAD, DRIVES_CACHE)), Plant(answers=(DRIVES_CACHE,))),
    "writes-always-cached": ("lsi", "/", Plant(answers=(*FORCED, DEAD)), Plant(answers=FORCED)),
}
"""By the words that the answer has to say: the rack, the folder, the fault and its near miss."""


@pytest.fixture
def answer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, Plant], Outcome]:
    """The command on a rack with something planted, in three runs of a second."""
    monkeypatch.setattr(engine, "plan_fit", partial(engine.plan_fit, runs=3, seconds=1))
    original = session_context.host_of

    def ask(rack: str, folder: str, plant: Plant) -> Outcome:
        hosts: list[PlantedHost] = []

        def planted(*given: Any, **more: Any) -> Host:
            hosts.append(PlantedHost(original(*given, **more), plant))
            return hosts[-1]

        monkeypatch.setattr(session_context, "host_of", planted)
        done = cli("--demo", rack, "--demo-speed", "1000", "fit", "postgres", folder, "--commits", "5")
        assert {*plant.answers, *plant.edits} <= set().union(*(host.grown for host in hosts))
        return done

    return ask


@pytest.mark.parametrize("words", FAULTS)
def test_a_fault_beneath_turns_yes_into_fast_not_safe_and_its_near_miss_does_not(
    answer: Callable[[str, str, Plant], Outcome], words: str
) -> None:
    rack, folder, fault, near = FAULTS[words]
    fit, unsafe = answer(rack, folder, near), answer(rack, folder, fault)
    assert (fit.status, fit.out.partition(":")[0], "Change: " in fit.out) == (0, "YES", False), fit.out
    assert (unsafe.status, unsafe.out.partition(":")[0], "Change: " in unsafe.out) == (5, "FAST, NOT SAFE", True)
    assert re.search(rf"Safe: not safe\..*{words}", unsafe.out), unsafe.out


def test_a_virtual_machine_is_fit_but_not_known_to_be_safe(answer: Callable[[str, str, Plant], Outcome]) -> None:
    done = answer("linux", "/", Plant(files={"/proc/cpuinfo": "flags\t\t: fpu hypervisor"}))
    assert (done.status, "Safe: not known. This machine is virtual" in done.out) == (0, True), done.out


def decided(cli: Cli, *words: str) -> Outcome:
    """Return the outcome of a command that measures. Where other programs disturbed it, it measures again, twice."""
    done = cli(*words)
    for _ in range(2):
        if not done.out.startswith("NOT DECIDED: "):
            break
        done = cli(*words)
    return done


@pytest.mark.fio
@pytest.mark.root
@needs("fio")
@needs_loops()
def test_a_real_filesystem_without_barriers_is_fast_but_not_safe(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PAUSE_S", (0.1, 0.2))
    monkeypatch.setattr(engine, "plan_fit", partial(engine.plan_fit, runs=8, seconds=2))
    folder = tmp_path / "fs"
    with loop(Path(f"/dev/shm/raidbench-fit-{os.getpid()}"), size=1 << 30) as made:
        ext4(made.sure())
        with mounted(made.sure(), folder):
            said = []
            for barrier in ("1", "0"):
                run("mount", "-o", f"remount,barrier={barrier}", str(folder))
                said.append(decided(cli, "fit", "postgres", str(folder), "--commits", "1"))
            assert not list(folder.glob("raidbench*"))
    assert (said[0].status, said[0].out.startswith("YES: ")) == (0, True), said[0].out
    assert (said[1].status, said[1].out.startswith("FAST, NOT SAFE: ")) == (5, True), said[1].out
    assert "barriers-off: The filesystem sends no flushes." in said[1].out
