"""md arrays for real: what raidbench sets, the kernel and mdadm tell independently."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.model import Scope, Target
from backends.vendors.mdraid import full_speed
from tests.lab.disks import Disk
from tests.lab.making import Md, md_array
from tests.lab.results import Results
from tests.lab.running import run

FOUR = ("nvme0", "nvme1", "scsi0", "scsi1")

Look = Callable[[Md], str]


pytestmark = pytest.mark.vendors("block", "md")


def target(made: Md) -> Target:
    return Target(backend="md", address=made.kernel, scope=Scope.ARRAY)


def word(attribute: str) -> Look:
    """A file of the array's `md` folder."""
    return lambda made: made.read(f"md/{attribute}")


def detail(label: str) -> Look:
    """A line of `mdadm --detail`."""

    def look(made: Md) -> str:
        found = re.search(rf"^\s*{label} : (.*)$", run("mdadm", "--detail", made.device), re.MULTILINE)
        return "none" if found is None else found[1].strip()

    return look


def marks(at: int) -> Look:
    """Letters of a member in /proc/mdstat, and its words in `mdadm --detail`."""

    def look(made: Md) -> str:
        name = made.members[at].removeprefix("/dev/")
        letters = re.search(rf"^{made.kernel} :.*\b{name}\[\d+\]((?:\(\w\))*)", Path("/proc/mdstat").read_text(), re.M)
        state = re.search(rf"active sync(.*?)\s+/dev/{name}$", run("mdadm", "--detail", made.device), re.MULTILINE)
        assert letters is not None
        assert state is not None
        return f"{letters[1]}{state[1]}".strip() or "none"

    return look


SYSFS = [
    ("raid5", "stripe_cache_size", "4096", word("stripe_cache_size"), "4096"),
    ("raid6", "stripe_cache_size", "17", word("stripe_cache_size"), "17"),
    ("raid4", "preread_bypass_threshold", "0", word("preread_bypass_threshold"), "0"),
    ("raid5", "group_thread_cnt", "1", word("group_thread_cnt"), "1"),
    ("raid6", "skip_copy", "on", word("skip_copy"), "1"),
    ("raid5", "sync_speed_min", "50000", word("sync_speed_min"), "50000 (local)"),
    ("raid10", "sync_speed_max", "123456", word("sync_speed_max"), "123456 (local)"),
    ("raid1", "safe_mode_delay", "1500", word("safe_mode_delay"), "1.500"),
    ("raid1", "bitmap", "internal", detail("Intent Bitmap"), "Internal"),
    ("raid5", "bitmap", "internal", detail("Consistency Policy"), "bitmap"),
]


@pytest.mark.parametrize(("level", "key", "value", "look", "expected"), SYSFS, ids=lambda one: str(one)[:24])
async def test_a_setting_is_set_and_taken_back(
    workbench: Workbench,
    array: Callable[..., Md],
    table: Results,
    level: str,
    key: str,
    value: str,
    look: Look,
    expected: str,
) -> None:
    made = array(level, FOUR)
    before = look(made)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), key, value))
    assert ended.result == "verified", ended.message
    seen = look(made)
    undone = await workbench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    assert table.setting(
        backend="md", on=level, setting=key, before=before, after=expected, read_back=seen, undone=look(made)
    )


@pytest.mark.parametrize(("key", "letters"), [("write_mostly", "(W) writemostly"), ("failfast", "(F) failfast")])
async def test_a_member_is_marked(
    workbench: Workbench, array: Callable[..., Md], table: Results, key: str, letters: str
) -> None:
    made = array("raid1", ["nvme0", "sata0"])
    look, member = marks(1), made.members[1].removeprefix("/dev/")
    before = look(made)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), f"{key}.{member}", "on"))
    assert ended.result == "verified", ended.message
    seen = look(made)
    await workbench.changes.undo(ended.id)
    expected = letters if key == "write_mostly" else letters.partition(" ")[2]
    assert table.setting(
        backend="md", on="raid1", setting=key, before=before, after=expected, read_back=seen, undone=look(made)
    )


async def test_the_mode_of_a_journal_is_set_and_taken_back(
    workbench: Workbench, blank: Callable[..., tuple[Disk, ...]]
) -> None:
    *members, journal = blank("nvme0", "nvme1", "nvme2", "nvme3")
    with md_array("raid5", members, f"--write-journal={journal.device}", "--chunk=64") as made:
        assert made.read("md/journal_mode") == "[write-through] write-back"
        ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), "journal_mode", "write-back"))
        assert ended.result == "verified", ended.message
        assert made.read("md/journal_mode") == "write-through [write-back]"
        await workbench.changes.undo(ended.id)
        assert made.read("md/journal_mode") == "[write-through] write-back"


async def test_a_partial_parity_log_is_taken_off_and_put_back(
    workbench: Workbench, array: Callable[..., Md], table: Results
) -> None:
    made = array("raid5", FOUR, "--consistency-policy=ppl")
    made.settle()
    look = detail("Consistency Policy")
    before = look(made)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), "consistency_policy", "resync"))
    assert ended.result == "verified", ended.message
    seen = look(made)
    await workbench.changes.undo(ended.id)
    assert table.setting(
        backend="md",
        on="raid5",
        setting="consistency_policy",
        before=before,
        after="resync",
        read_back=seen,
        undone=look(made),
    )


async def test_where_there_is_no_room_for_a_partial_parity_log_mdadm_says_so(
    workbench: Workbench, array: Callable[..., Md], table: Results
) -> None:
    made = array("raid5", FOUR)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), "consistency_policy", "ppl"))
    assert table.setting(
        backend="md",
        on="raid5, no room",
        setting="consistency_policy",
        before="resync",
        after="ppl",
        read_back=made.read("md/consistency_policy"),
        undone="not needed",
        ok=ended.result == "failed" and "Not enough space" in (ended.message or ""),
    )


async def test_read_ahead_of_an_array_is_that_of_its_queue(
    workbench: Workbench, array: Callable[..., Md], table: Results
) -> None:
    made = array("raid5", FOUR)
    await workbench.hardware.probe()
    before = made.read("queue/read_ahead_kb")
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), "read_ahead_kb", "4096"))
    assert ended.result == "verified", ended.message
    seen = str(int(run("blockdev", "--getra", made.device)) // 2)
    await workbench.changes.undo(ended.id)
    assert table.setting(
        backend="md",
        on="raid5",
        setting="read_ahead_kb",
        before=before,
        after="4096",
        read_back=seen,
        undone=made.read("queue/read_ahead_kb"),
    )


async def test_every_value_offered_is_taken_by_the_kernel(workbench: Workbench, array: Callable[..., Md]) -> None:
    made = array("raid5", FOUR)
    for key, reading in (await workbench.hardware.read(target(made))).items():
        if key in ("chunk_size", "layout", "bitmap", "consistency_policy"):
            continue
        span = reading.span
        values = [
            choice.value for choice in reading.choices if key != full_speed.KEY or choice.value == full_speed.FULL
        ]
        values = values or [str(one) for one in (span.minimum, span.minimum + span.step)] if span else values
        for value in values:
            plan = await workbench.hardware.plan(target(made), key, value)
            ended = await workbench.changes.apply(plan)
            assert ended.result == "verified", f"{key}={value}: {ended.message}"


def test_changes_through_the_command_line(raidbench: Callable[..., object], array: Callable[..., Md]) -> None:
    made = array("raid5", FOUR)
    done = raidbench("set", f"md:{made.kernel}", "stripe_cache_size=1024", "skip_copy=on", "--yes")
    assert getattr(done, "status", None) == 0, done
    assert (made.read("md/stripe_cache_size"), made.read("md/skip_copy")) == ("1024", "1")
