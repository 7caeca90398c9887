"""What a look takes in: all mounts of all programs where something is to be written, and little otherwise."""

from __future__ import annotations

from backends.topology.scan import READ_LIMIT, scan_topology
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine

THEIRS = "40 25 8:0 / /srv rw - ext4 /dev/sda rw"


def host(own: str = MOUNTS) -> FakeHost:
    """A disk that two programs have mounted in namespaces that cannot be named."""
    one = FakeHost(machine(disk("sda", devno="8:0", serial="S1")))
    one.files["/proc/self/mountinfo"] = own
    for pid in ("77", "78"):
        one.files |= {f"/proc/{pid}/mountinfo": THEIRS, f"/proc/{pid}/comm": f"vault{pid}"}
    return one


async def test_the_same_mounts_of_two_programs_are_seen_once() -> None:
    mounts = (await scan_topology(host(), everywhere=True)).mounts
    assert [mount.seen_in for mount in mounts if mount.seen_in] == ["in the mount namespace of vault77, process 77"]


async def test_a_look_goes_into_every_program_and_every_table_only_where_it_is_told_to() -> None:
    picture = await scan_topology(host())
    assert (picture.mapped, [mount for mount in picture.mounts if mount.seen_in]) == (None, [])


async def test_mounts_that_may_be_cut_are_told() -> None:
    told = "the list of mounts is too long to read"
    assert told not in (await scan_topology(host())).blind
    assert told in (await scan_topology(host(MOUNTS.ljust(READ_LIMIT)))).blind
