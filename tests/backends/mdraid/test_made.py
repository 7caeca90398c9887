"""An md array that was made here is found again by its UUIDs, and nothing else is ever taken apart for it."""

from __future__ import annotations

import pytest

from backends.array_planning import ArrayMatch, ArrayMatchState, CreatedArray, MemberDrive
from backends.change import ChangeStep
from backends.errors import RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Level
from backends.vendors.mdraid.backend import MdRaid
from tests.backends.fakes import disk
from tests.backends.mdraid.machines import MdHost, array

OWN = ("00000000:00000000:00000000:00000001", "00000000:00000000:00000000:00000002")
OUTER = "00000000:00000000:00000000:000000ff"
STRANGE = "6689836f:97e6caec:c09b0e7b:40aefd16"
SIZE = 1 << 30


class Examined(MdHost):
    """Its mdadm says which UUID a disk bears."""

    marks: dict[str, str]

    async def run(self, command: Command) -> Completed:
        if command.argv[1:3] != ("--examine", "--export"):
            return await super().run(command)
        uuid = self.marks.get(command.argv[3].removeprefix("/dev/"))
        if uuid is None:
            return Completed(
                returncode=1, stdout="", stderr=f"mdadm: No md superblock detected on {command.argv[3]}.\n"
            )
        if uuid == "?":
            return Completed(
                returncode=1, stdout="", stderr=f"mdadm: cannot open {command.argv[3]}: Input/output error\n"
            )
        return Completed(returncode=0, stdout=f"MD_LEVEL=raid1\nMD_UUID={uuid}\n", stderr="")


def refused(words: str) -> Completed:
    return Completed(returncode=1, stdout="", stderr=f"mdadm: {words}\n")


def made(level: Level, names: str, uuids: tuple[str, ...] = OWN[:1], **more: object) -> CreatedArray:
    members = tuple(MemberDrive(place=f"/dev/sd{letter}", serial=f"S-sd{letter}", size_bytes=SIZE) for letter in names)
    return CreatedArray(
        name="rb-1",
        level=level,
        controller=None,
        members=members,
        strip_bytes=65536,
        uuids=uuids,
        **more,  # type: ignore[arg-type]
    )


MIRROR = made(Level.RAID1, "ab")


async def found(array: CreatedArray, marks: dict[str, str], *parts: dict[str, str]) -> ArrayMatch:
    host = Examined(*parts)
    host.marks = marks
    return await MdRaid(host).find_made(array)


def lines(result: ArrayMatch) -> list[str]:
    return [" ".join(step.argv).removeprefix("/sbin/mdadm ") for step in result.remove]


BOTH = {"sda": OWN[0], "sdb": OWN[0]}


async def test_what_was_made_is_whole_and_taken_apart_outside_in() -> None:
    result = await found(MIRROR, BOTH, array("raid1", ("sda", "sdb"), "md100"))
    assert (result.state, str(result.target), result.device) == (ArrayMatchState.COMPLETE, "md:md100", "/dev/md100")
    assert (result.looked_at, len(result.locks)) == (("/dev/md100",), 2)
    assert lines(result) == ["--stop /dev/md100", "--zero-superblock /dev/sda /dev/sdb"]


async def test_without_a_mark_there_is_nothing_of_it_and_nothing_to_do() -> None:
    result = await found(MIRROR, {})
    assert (result.state, result.remove) == (ArrayMatchState.ABSENT, ())


@pytest.mark.parametrize(
    ("marks", "parts", "steps"),
    [
        ({"sdb": OWN[0]}, (), ["--zero-superblock /dev/sdb"]),
        (BOTH, (), ["--zero-superblock /dev/sda /dev/sdb"]),
        (
            BOTH,
            (array("raid1", ("sda", "sdb"), "md100", array_state="inactive"),),
            ["--stop /dev/md100", "--zero-superblock /dev/sda /dev/sdb"],
        ),
    ],
    ids=["one mark", "both marks", "inactive"],
)
async def test_of_parts_only_its_own_are_taken_apart(
    marks: dict[str, str], parts: tuple[dict[str, str], ...], steps: list[str]
) -> None:
    result = await found(MIRROR, marks, *parts)
    assert (result.state, lines(result)) == (ArrayMatchState.PARTIAL, steps)


@pytest.mark.parametrize(
    ("array", "marks", "parts", "why"),
    [
        (MIRROR, {"sda": STRANGE}, (), f"belongs to a different md array, {STRANGE}"),
        (MIRROR, {**BOTH, "sdb": STRANGE}, (array("raid1", ("sda", "sdb"), "md100"),), "belongs to"),
        (MIRROR, BOTH, (array("raid1", ("sda", "sdb", "sdc"), "md100"),), "has the member /dev/sdc"),
        (
            MIRROR,
            BOTH,
            (array("raid1", ("sda", "sdb"), "md100"), array("raid0", ("md100",), "md7")),
            "later created on this array",
        ),
        (MIRROR, BOTH, (array("raid1", ("sda",), "md100", raid_disks="2"),), "its level or members differ"),
        (MIRROR, BOTH, (array("raid0", ("sda", "sdb"), "md100"),), "its level or members differ"),
        (made(Level.RAID1, "az"), {}, (), "Its drive S-sdz does not exist"),
        (MIRROR, {}, (disk("sdb", devno="8:16", size=2 << 30, serial="S-sdb"),), "Its drive S-sdb does not exist"),
        (MIRROR, {}, (array("raid1", ("sda", "sdb"), "md100"),), "which it was not created with"),
    ],
    ids=[
        "another UUID",
        "in ours too",
        "a strange member",
        "an array on it",
        "a member short",
        "its level or members differ",
        "gone",
        "other size",
        "unmarked",
    ],
)
async def test_what_may_be_anothers_is_told_and_nothing_is_done(
    array: CreatedArray, marks: dict[str, str], parts: tuple[dict[str, str], ...], why: str
) -> None:
    result = await found(array, marks, *parts)
    assert (result.state, result.remove) == (ArrayMatchState.UNKNOWN, ())
    assert why in result.sentence


async def test_drives_are_known_by_serial_number_under_other_names() -> None:
    moved = CreatedArray(
        name="rb-1",
        level=Level.RAID1,
        controller=None,
        members=(
            MemberDrive(place="/dev/sdx", serial="S-sda", size_bytes=SIZE),
            MemberDrive(place="/dev/sda", serial="S-sdb", size_bytes=SIZE),
        ),
        strip_bytes=None,
        uuids=OWN[:1],
    )
    result = await found(moved, BOTH, array("raid1", ("sda", "sdb"), "md100"))
    assert (result.state, lines(result)[1]) == (ArrayMatchState.COMPLETE, "--zero-superblock /dev/sda /dev/sdb")


async def test_a_disk_that_cannot_be_asked_is_no_blank_one() -> None:
    with pytest.raises(ToolFailedError, match="Input/output error"):
        await found(MIRROR, {"sda": "?"})


@pytest.mark.parametrize("read", [None, (b"",), (bytes(4096),)], ids=["nothing", "no bytes", "too little"])
async def test_a_disk_of_which_no_superblock_can_be_read_is_no_blank_one(
    monkeypatch: pytest.MonkeyPatch, read: tuple[bytes, ...] | None
) -> None:
    monkeypatch.setattr("backends.vendors.mdraid.creation.pieces_on", lambda _host: lambda *_words: read)
    with pytest.raises(ToolFailedError, match="/dev/sda cannot be read"):
        await found(MIRROR, {})


async def test_a_disk_whose_beginning_can_be_read_is_asked_for_the_place_of_the_superblock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    def reader(*words: object) -> tuple[bytes, ...]:
        asked.append(words)
        return (bytes(8192),)

    monkeypatch.setattr("backends.vendors.mdraid.creation.pieces_on", lambda _host: reader)
    assert (await found(MIRROR, {})).state is ArrayMatchState.ABSENT
    assert [words[0] for words in asked if isinstance(words, tuple)] == ["/dev/sda", "/dev/sdb"]
    assert all(isinstance(words, tuple) and words[2] == ((0, 8192),) for words in asked)


NESTED = made(Level.RAID50, "abcdef", (OUTER, *OWN), spans=2)
MARKS = {**dict.fromkeys(("sda", "sdb", "sdc"), OWN[0]), **dict.fromkeys(("sdd", "sde", "sdf"), OWN[1])}
SIX = {**disk("sde", devno="8:64", serial="S-sde"), **disk("sdf", devno="8:80", serial="S-sdf")}
INNER = (SIX, array("raid5", ("sda", "sdb", "sdc"), "md101"), array("raid5", ("sdd", "sde", "sdf"), "md102"))
OUTER_MARKS = {"md101": OUTER, "md102": OUTER}


async def test_of_a_nested_array_the_outer_one_goes_first() -> None:
    result = await found(NESTED, MARKS | OUTER_MARKS, *INNER, array("raid0", ("md101", "md102"), "md100"))
    assert (result.state, result.looked_at) == (ArrayMatchState.COMPLETE, ("/dev/md100",))
    assert lines(result) == [
        "--stop /dev/md100",
        "--zero-superblock /dev/md101 /dev/md102",
        "--stop /dev/md101",
        "--stop /dev/md102",
        "--zero-superblock /dev/sda /dev/sdb /dev/sdc /dev/sdd /dev/sde /dev/sdf",
    ]


async def test_inner_arrays_without_the_outer_one_are_parts_and_looked_at() -> None:
    result = await found(NESTED, MARKS, *INNER)
    assert (result.state, result.looked_at) == (ArrayMatchState.PARTIAL, ("/dev/md101", "/dev/md102"))
    assert lines(result)[:2] == ["--stop /dev/md101", "--stop /dev/md102"]


async def test_a_nested_array_that_was_changed_since_is_not_touched() -> None:
    grown = array("raid6", ("sdd", "sde", "sdf"), "md102")
    result = await found(NESTED, MARKS, SIX, INNER[1], grown)
    assert (result.state, result.remove) == (ArrayMatchState.UNKNOWN, ())


async def test_an_inner_array_that_another_outer_one_uses_is_not_touched() -> None:
    marks = {**MARKS, "md101": STRANGE, "md102": STRANGE}
    result = await found(NESTED, marks, *INNER, array("raid0", ("md101", "md102"), "md100"))
    assert (result.state, result.remove) == (ArrayMatchState.UNKNOWN, ())


@pytest.mark.parametrize("argv", [("/sbin/mdadm", "--fail", "/dev/md0"), ("/sbin/rm", "--stop", "/dev/md0"), ()])
async def test_nothing_runs_but_what_makes_an_array_or_takes_one_apart(argv: tuple[str, ...]) -> None:
    host = MdHost()
    with pytest.raises(RefusedError, match="neither creates nor stops an array"):
        await MdRaid(host).run_making(
            None, (ChangeStep(argv=("/sbin/mdadm", "--stop", "/dev/md0")), ChangeStep(argv=argv))
        )
    assert host.ran == []
