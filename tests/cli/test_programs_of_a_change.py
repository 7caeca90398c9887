"""`set` and `undo` look once at what is there, and then ask no more than the change needs."""

from __future__ import annotations

import asyncio

import pytest

from backends.host import Command, Completed
from backends.model import Target
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from tests.cli.conftest import Cli
from tests.counting import counting_rack

CHANGES = (
    ("lsi", "megaraid:/c0/v1", "read_ahead", "read-ahead", 0),
    ("lsi", "megaraid:/c0", "rebuild_rate", "40", 0),
    ("lsi", "md:md0", "bitmap", "none", 0),
    ("lsi", "scsi:sdb", "queue_depth", "32", 0),
    ("hpe", "smartarray:/aac1/ld0", "read_cache", "off", 0),
    ("hpe", "smartarray:/slot0", "cache_ratio", "50/50", 0),
    ("hpe", "smcli:DS4700_A/fast", "read_cache", "off", 0),
    ("linux", "bcache:bcache0", "cache_mode", "write-around", 0),
    ("linux", "lvm:vg0/db", "writeback_jobs", "512", 1),  # what the kernel has loaded no look asks for
    ("linux", "zfs:tank/files", "recordsize", "1048576", 2),  # nor who inherits a value, and all values of one dataset
    ("linux", "block:sda", "read_ahead_kb", "256", 0),
)
"""Rack, target, key, a value that it does not have, and programs for the question that a look does not answer."""


async def whole(rack: str, address: str) -> tuple[int, int]:
    """How many programs a look at everything takes, and one reading of a target."""
    host = counting_rack(rack)
    machine = MachineBackends.of(host)
    found = (await machine.probe()).find(address)
    assert found is not None
    target: Target = found.target
    look = len(host.ran)
    host.ran.clear()
    await machine.read(target)
    return look, len(host.ran)


@pytest.mark.long
@pytest.mark.parametrize(("rack", "target", "key", "value", "besides"), CHANGES)
def test_a_change_and_its_undo_take_one_look_two_readings_and_what_sets_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, rack: str, target: str, key: str, value: str, besides: int
) -> None:
    look, reading = asyncio.run(whole(rack, target))
    ran: list[Command] = []
    plain = SimulatedHost.run

    async def run(host: SimulatedHost, command: Command) -> Completed:
        ran.append(command)
        return await plain(host, command)

    monkeypatch.setattr(SimulatedHost, "run", run)
    for words in (("set", target, f"{key}={value}", "--yes"), ("undo", "--yes")):
        ran.clear()
        done = cli("--demo", rack, "--demo-speed", "1000", *words)
        assert done.status == 0, done.err
        sets = sum(command.mutates for command in ran)
        assert len(ran) <= look + 2 * reading + sets + besides, [command.shown() for command in ran]
