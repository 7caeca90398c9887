"""DRBD's devices are listed with the disk below and the state of the copies, and guarded by what they lie on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backends import guard
from backends.guard import GuardResult, Intent, judge_device
from backends.host import Command, Completed, FileStat
from backends.model import Array, Level, State, Task
from backends.topology.replicas import Replica, parse_show
from backends.vendors.block.backend import BlockBackend
from backends.vendors.drbd import Drbd, parse_proc, parse_status
from tests.backends.topology.test_stacking import Machine

SHOW_9 = """\
resource "mail" {
    options {
        quorum          majority;
    }
    _this_host {
        node-id                 1;
        volume 0 {
            device                      minor 0;
            disk                        "/dev/sda";
            meta-disk                   internal;
            disk {
                size                    2097152s; # bytes
            }
        }
        volume 1 {
            device                      minor 1;
            disk                        none;
        }
    }
    connection {
        _peer_node_id 0;
        volume 0 {
            disk {
                resync-rate             250k;
            }
        }
    }
}
"""

SHOW_8 = """\
resource web {
    net {
        max-buffers     8000;
    }
    _remote_host {
        address                 ipv4 10.0.0.2:7789;
    }
    _this_host {
        address                 ipv4 10.0.0.1:7789;
        volume 0 {
            device                      minor 0;
            disk                        "/dev/sda";
            meta-disk                   "/dev/sdb" [ 0 ];
        }
    }
}
"""

PROC_8 = """\
version: 8.4.11 (api:1/proto:86-101)
srcversion: 211FB288A383ED945B83420

 0: cs:SyncTarget ro:Secondary/Primary ds:Inconsistent/UpToDate C r-----
    ns:0 nr:235 dw:235 dr:0 al:0 bm:0 lo:1 pe:0 ua:1 ap:0 ep:1 wo:f oos:8000
\t[===>................] sync'ed: 23.4% (8000/10000)K
\tfinish: 0:00:08 speed: 1,000 (1,000) K/sec
 1: cs:Unconfigured
 2: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----
    ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:8
"""


def status(**more: Any) -> str:
    """What drbdsetup tells of a volume with one peer; members of the device, the peer's device and the resource."""
    device = {"volume": 0, "minor": 0, "disk-state": "UpToDate", "client": False, "quorum": True}
    peer: dict[str, Any] = {"volume": 0, "replication-state": "Established", "peer-disk-state": "UpToDate"}
    link = {"peer-node-id": 0, "name": "bob", "connection-state": "Connected", "peer-role": "Secondary"}
    resource: dict[str, Any] = {"name": "mail", "role": "Primary", "suspended": False}
    for key, value in more.items():
        name = key.replace("_", "-")
        next(one for one in (device, link, resource, peer) if name in one or one is peer)[name] = value
    return json.dumps([{**resource, "devices": [device], "connections": [{**link, "peer_devices": [peer]}]}])


class Replicating(Machine):
    """A machine with /dev/drbd0 on /dev/sda, as `show` and `told` say."""

    def __init__(self, show: str = SHOW_9, told: str | None = None, *, linked: bool = False) -> None:
        super().__init__()
        self.add("sda")
        self.add("sdb")
        self.add("drbd0", *(("sda",) if linked else ()))
        del self.files["/sys/block/drbd0/wwid"]
        self.stats["/dev/drbd0"] = FileStat(kind="block", size=0, devno="147:0")
        self.files |= {"/sys/block/drbd0/dev": "147:0", "/proc/drbd": "version: 9.2.8 (api:2/proto:86-122)\n"}
        self.answers = {"show": show, "status": told or status()}
        self.tools["drbdsetup"] = Completed(returncode=0, stdout="", stderr="")

    async def run(self, command: Command) -> Completed:
        if command.argv[0].endswith("drbdsetup"):
            text = self.answers.get(command.argv[1], "")
            return Completed(returncode=0 if text else 10, stdout=text, stderr="")
        return await super().run(command)


async def only(machine: Machine) -> Array:
    (array,) = (await Drbd(machine).inventory()).arrays
    return array


def facts(array: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in array.facts}


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)


async def verdict(machine: Machine, device: str) -> GuardResult:
    return (await judge_device(machine, device, Intent.WRITE))[1]


def test_volumes_are_read_with_their_disks_from_both_generations() -> None:
    assert parse_show(SHOW_9) == (
        Replica(resource="mail", volume=0, minor=0, disk="/dev/sda"),
        Replica(resource="mail", volume=1, minor=1),
    )
    assert parse_show(SHOW_8) == (Replica(resource="web", volume=0, minor=0, disk="/dev/sda", meta="/dev/sdb"),)


async def test_a_device_is_listed_with_its_resource_the_disk_below_and_the_copies() -> None:
    array = await only(Replicating())
    assert (str(array.target), array.name, array.level, array.state, array.device) == (
        "drbd:drbd0",
        "mail/0",
        Level.REPLICATED,
        State.OPTIMAL,
        "/dev/drbd0",
    )
    assert [str(member) for member in array.members] == ["block:sda"]
    assert facts(array)["On"] == "/dev/sda"
    assert facts(array)["Copy elsewhere"] == "bob: Connected, Established, UpToDate"


async def test_its_queue_is_the_kernels_disk() -> None:
    drives = (await BlockBackend(Replicating()).inventory()).drives
    assert "/dev/drbd0" in [drive.device for drive in drives]


@pytest.mark.parametrize(
    ("told", "state", "why"),
    [
        ({}, State.OPTIMAL, ""),
        ({"disk_state": "Inconsistent"}, State.DEGRADED, "the local replica is inconsistent"),
        (
            {"disk_state": "Inconsistent", "replication_state": "SyncTarget"},
            State.REBUILDING,
            "the local replica is inconsistent",
        ),
        ({"disk_state": "Failed"}, State.FAILED, "the local disk has failed"),
        ({"disk_state": "Diskless"}, State.DEGRADED, "it has lost its local disk, so all I/O goes to another host"),
        ({"disk_state": "Diskless", "client": True}, State.OPTIMAL, ""),
        (
            {"connection_state": "StandAlone", "peer_disk_state": "DUnknown"},
            State.DEGRADED,
            "bob is stand alone (StandAlone)",
        ),
        ({"peer_disk_state": "Outdated"}, State.DEGRADED, "the replica on bob is outdated"),
        (
            {"peer_disk_state": "Inconsistent", "replication_state": "SyncSource"},
            State.REBUILDING,
            "the replica on bob is inconsistent",
        ),
        ({"peer_disk_state": "Diskless", "peer_client": True}, State.OPTIMAL, ""),
        ({"suspended": True}, State.FAILED, "suspended: all I/O waits"),
        ({"quorum": False}, State.FAILED, "too few hosts are connected (no quorum)"),
    ],
)
async def test_a_device_says_how_it_is_and_why(told: dict[str, Any], state: State, why: str) -> None:
    array = await only(Replicating(told=status(**told)))
    assert (array.state, array.why) == (state, why)


@pytest.mark.parametrize(
    ("replication", "tasks"),
    [
        ("Established", ()),
        ("SyncSource", (Task(kind="resync", progress=0.25),)),
        ("VerifyS", (Task(kind="consistency-check", progress=0.25),)),
        ("PausedSyncS", ()),
    ],
)
async def test_what_is_copied_now_is_a_task(replication: str, tasks: tuple[Task, ...]) -> None:
    told = status(replication_state=replication, percent_in_sync=25.0)
    assert (await only(Replicating(told=told))).tasks == tasks


def test_the_older_generation_tells_its_states_in_proc() -> None:
    found = parse_proc(PROC_8)
    assert found.keys() == {0, 2}
    assert found[0].state == (State.REBUILDING, "the local replica is inconsistent")
    assert found[0].tasks == (Task(kind="resync", progress=0.234),)
    assert found[2].state == (State.DEGRADED, "the other host is stand alone (StandAlone)")
    assert not found[0].suspended
    assert parse_proc(PROC_8.replace("C r-----", "C s-----"))[0].state == (State.FAILED, "suspended: all I/O waits")
    assert parse_proc("version: 9.2.8 (api:2/proto:86-122)\n") == {}


@pytest.mark.parametrize("text", ["", "[", "[{}]", '[{"devices": [{"minor": 0}]}]', '[{"devices": "x"}]', "{}"])
def test_an_answer_of_another_form_tells_nothing(text: str) -> None:
    assert parse_status(text) == {}


async def test_without_an_answer_the_device_is_there_and_its_state_is_said_to_be_unknown() -> None:
    machine = Replicating(linked=True)
    machine.answers = {}
    found = await Drbd(machine).inventory()
    assert [(array.state, facts(array)["On"]) for array in found.arrays] == [(State.UNKNOWN, "/dev/sda")]
    assert ["unknown: DRBD does not report it" in problem.message for problem in found.problems] == [True]


# -- the guard --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linked", [True, False], ids=["sysfs tells", "drbdsetup tells"])
async def test_the_disk_below_is_refused_with_the_name_of_the_device(linked: bool) -> None:
    assert (await verdict(Replicating(linked=linked), "/dev/sda")).refused == ("/dev/sda: /dev/drbd0 is built on it.",)
    assert "/dev/drbd0" in str((await verdict(Replicating(SHOW_8), "/dev/sdb")).refused)


@pytest.mark.parametrize("linked", [True, False], ids=["sysfs tells", "drbdsetup tells"])
async def test_the_device_itself_can_be_written_to(linked: bool) -> None:
    answer = await verdict(Replicating(linked=linked), "/dev/drbd0")
    assert (answer.ok, answer.refused) == (True, ())


async def test_a_device_that_is_mounted_is_refused_and_so_is_the_disk_below() -> None:
    machine = Replicating()
    machine.files["/proc/self/mountinfo"] += "\n40 25 147:0 / /srv rw - ext4 /dev/drbd0 rw\n"
    assert (await verdict(machine, "/dev/drbd0")).refused == ("/dev/drbd0 is mounted on /srv.",)
    assert not (await verdict(machine, "/dev/sda")).ok


async def test_a_device_of_which_nothing_tells_what_it_lies_on_is_refused() -> None:
    machine = Replicating()
    machine.answers = {}
    refused = (await verdict(machine, "/dev/drbd0")).refused
    words = "neither the kernel nor drbdsetup reports the devices below /dev/drbd0."
    assert refused == (f"/dev/drbd0 cannot be verified as unused: {words}",)


@pytest.mark.parametrize("cut", [20, 60, 200, len(SHOW_9) - 3])
async def test_half_an_answer_of_drbdsetup_tells_nothing(cut: int) -> None:
    assert not (await verdict(Replicating(SHOW_9[:cut]), "/dev/drbd0")).ok


async def test_a_device_without_a_disk_of_this_host_is_no_doubt() -> None:
    machine = Replicating(SHOW_9.replace('"/dev/sda"', "none"))
    assert (await verdict(machine, "/dev/drbd0")).ok
    assert (await verdict(machine, "/dev/sda")).ok
