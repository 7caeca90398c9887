"""What a device lies on changes during a run, or nobody can tell any more: the run is ended and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.core.benchmark import stack_watch
from app.core.benchmark.stack_watch import FootingWatch, WatchedDevice
from app.core.session.results import RunResult, RunStatus
from backends.guard import Intent, judge_device
from backends.host import Command, Completed, FileStat
from tests.backends.fakes import FakeHost, disk
from tests.backends.topology.test_device_mapper import AFTER, SECTORS, WHOLE, beside, tell

ELSEWHERE = "the device-mapper table of /dev/dm-0 was changed, so the devices below it are different"
LOADED = "a new device-mapper table was loaded for /dev/dm-0, with "
LONG = 120.0
"""Seconds after which what has to come counts as not coming."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_watch, "FOOTING", replace(stack_watch.FOOTING, every=0.005))
    monkeypatch.setattr(stack_watch, "_EVENT_SECONDS", 0.01)
    monkeypatch.setattr(stack_watch, "_TABLE_SECONDS", 0.02)
    monkeypatch.setattr(stack_watch, "_NAMING_SECONDS", 0.5)


class Host(FakeHost):
    """A host of which dmsetup can be slow, silent or broken, and counts how often it is asked."""

    def __init__(self, other: FakeHost) -> None:
        super().__init__(other.files, stats=other.stats, tools=other.tools)
        self.asked = 0
        self.silent = False
        self.breaks: type[Exception] | None = None

    async def run(self, command: Command) -> Completed:
        if "dmsetup" in command.argv[0]:
            self.asked += 1
            if self.silent:
                await asyncio.Event().wait()
        return await super().run(command)

    async def list(self, pattern: str) -> tuple[str, ...]:
        if self.breaks is not None:
            raise self.breaks("no")
        return await super().list(pattern)


@pytest.fixture
def host() -> Host:
    return Host(beside(WHOLE, AFTER, mounted=False))


async def judged(host: Host, device: str = "/dev/dm-0", *, writing: bool = True) -> WatchedDevice:
    """The device with what it is built on as the guard sees it."""
    facts, _ = await judge_device(host, device, Intent.WRITE if writing else Intent.READ)
    return WatchedDevice(device=facts.device, footing=facts.footing, writing=writing)


def watch(host: Host, *devices: WatchedDevice, blind_after: float = LONG) -> FootingWatch:
    return FootingWatch(host, devices, asyncio.Event(), blind_after=blind_after)


async def ended(host: Host, *devices: WatchedDevice, by: Callable[[], None], blind_after: float = LONG) -> RunResult:
    """The figures of a run in the middle of which something happens."""
    watching = watch(host, *devices, blind_after=blind_after)
    async with watching:
        assert not watching._stop.is_set(), watching._reasons
        by()
        await asyncio.wait_for(watching._stop.wait(), LONG)
    return watching.explain(RunResult(status=RunStatus.STOPPED, reason="Stopped by the user"))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not condition():
            await asyncio.sleep(0.005)


def other(host: Host, words: str = f"8:0 {SECTORS}") -> None:
    tell(host, f"a: 0 {SECTORS} linear {words}\nb: {AFTER}\n")


# -- tables ----------------------------------------------------------------------------------------------------------


async def test_the_same_table_at_every_look_is_no_reason_to_end(host: Host) -> None:
    watching = watch(host, await judged(host))
    async with watching:
        before = host.asked
        await until(lambda: host.asked >= before + 4)
    figures = RunResult(status=RunStatus.OK)
    assert watching.explain(figures) is figures


async def test_a_table_that_only_fails_at_times_is_no_reason_to_end(host: Host) -> None:
    watching = watch(host, await judged(host))
    async with watching:
        line = f"0 {SECTORS} flakey 8:0 0 1 4"
        tell(host, f"a: {line}\nb: {AFTER}\n")
        before = host.asked
        await until(lambda: host.asked >= before + 4)
    figures = RunResult(status=RunStatus.FAILED)
    assert watching.explain(figures) is figures


@pytest.mark.parametrize("words", ["8:16 0", f"8:0 {SECTORS}"], ids=["another disk", "another part of it"])
async def test_a_table_that_leads_elsewhere_ends_the_run(host: Host, words: str) -> None:
    figures = await ended(host, await judged(host), by=lambda: other(host, words))
    assert (figures.status, figures.reason) == (RunStatus.STOPPED, f"Stopped: {ELSEWHERE}.")
    assert "dmsetup table" in figures.hint


async def test_another_kind_of_target_on_the_same_part_ends_the_run(host: Host) -> None:
    line = f"0 {SECTORS} snapshot-origin 8:0"
    figures = await ended(host, await judged(host), by=lambda: tell(host, f"a: {line}\nb: {AFTER}\n"))
    assert ELSEWHERE in (figures.reason or "")


async def test_a_table_that_changed_since_it_was_judged_ends_the_run_before_it_begins(host: Host) -> None:
    device = await judged(host)
    other(host)
    watching = watch(host, device)
    async with watching:
        assert watching._stop.is_set(), "before anything is written"
    assert ELSEWHERE in (watching.explain(RunResult(status=RunStatus.STOPPED)).reason or "")


async def test_a_table_that_changed_at_the_very_end_spoils_a_run_that_ended_well(host: Host) -> None:
    watching = watch(host, await judged(host))
    watching._watch_sysfs = watching._watch_tables = _never  # type: ignore[method-assign]
    async with watching:
        other(host)
    figures = watching.explain(RunResult(status=RunStatus.OK))
    assert (figures.status, figures.reason) == (RunStatus.STOPPED, f"Stopped: {ELSEWHERE}.")


async def _never() -> None:
    await asyncio.Event().wait()


async def test_a_run_that_failed_for_it_names_both(host: Host) -> None:
    watching = watch(host, await judged(host))
    async with watching:
        other(host)
        await asyncio.wait_for(watching._stop.wait(), LONG)
    figures = watching.explain(RunResult(status=RunStatus.FAILED, reason="I/O error."))
    assert (figures.status, figures.reason) == (RunStatus.FAILED, f"Stopped: {ELSEWHERE}. I/O error.")


async def test_the_table_of_a_layer_below_counts_and_that_of_a_neighbour_does_not(host: Host) -> None:
    host.files |= disk("dm-2", devno="253:2", dm__name="c") | {
        "/sys/block/dm-2/slaves/dm-0": "",
        "/sys/block/dm-0/holders/dm-2": "",
    }
    host.stats["/dev/dm-2"] = FileStat(kind="block", size=0, devno="253:2")
    third = f"c: 0 {SECTORS} linear 253:0 0\n"
    tell(host, f"a: {WHOLE}\nb: {AFTER}\n{third}")
    above, beside_it = await judged(host, "/dev/dm-2"), await judged(host, "/dev/dm-1")
    figures = await ended(host, above, by=lambda: tell(host, f"a: 0 {SECTORS} linear 8:16 0\nb: {AFTER}\n{third}"))
    assert ELSEWHERE in (figures.reason or "")
    watching = watch(host, beside_it)
    async with watching:
        pass
    assert watching._reasons == ()


async def test_what_changes_by_itself_in_a_table_is_no_change(host: Host) -> None:
    paths = "0 {0} multipath 0 0 1 {1} service-time 0 1 2 8:0 1 1"
    tell(host, f"a: {paths.format(SECTORS, 1)}\nb: {AFTER}\n")
    device = await judged(host)
    tell(host, f"a: {paths.format(SECTORS, 2)}\nb: {AFTER}\n")
    watching = watch(host, device)
    async with watching:
        pass
    assert watching._reasons == ()


async def test_an_event_is_followed_by_a_look_at_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_watch, "_TABLE_SECONDS", 10 * LONG)
    host.files["/sys/kernel/uevent_seqnum"] = "7"
    watching = watch(host, await judged(host))
    async with watching:
        await until(lambda: watching._events == "7")
        other(host)
        host.files["/sys/kernel/uevent_seqnum"] = "8"
        await asyncio.wait_for(watching._stop.wait(), LONG)


# -- blindness -------------------------------------------------------------------------------------------------------

NO_ANSWERS: dict[str, Callable[[Host], None]] = {
    "fails": lambda host: tell(host, "", 1),
    "says nothing": lambda host: tell(host, ""),
    "does not name it": lambda host: tell(host, f"b: {AFTER}\n"),
    "is gone": lambda host: host.tools.clear(),
    "hangs": lambda host: setattr(host, "silent", True),
}
BLIND = "the devices below /dev/dm-0 may have changed: dmsetup has not reported them for 1 s"


@pytest.mark.parametrize("how", NO_ANSWERS)
async def test_a_writing_run_without_an_answer_is_ended(host: Host, how: str) -> None:
    figures = await ended(host, await judged(host), by=lambda: NO_ANSWERS[how](host), blind_after=1)
    assert BLIND in (figures.reason or "")
    assert figures.status is RunStatus.STOPPED


@pytest.mark.parametrize("how", NO_ANSWERS)
async def test_a_writing_run_does_not_begin_without_an_answer(host: Host, how: str) -> None:
    device = await judged(host)
    NO_ANSWERS[how](host)
    watching = watch(host, device, blind_after=1)
    async with watching:
        assert watching._stop.is_set()


@pytest.mark.parametrize("how", NO_ANSWERS)
async def test_a_run_that_ended_while_nobody_could_tell_is_not_called_good(host: Host, how: str) -> None:
    watching = watch(host, await judged(host), blind_after=1)
    async with watching:
        NO_ANSWERS[how](host)
    figures = watching.explain(RunResult(status=RunStatus.OK))
    assert (figures.status, BLIND in (figures.reason or "")) == (RunStatus.STOPPED, True)


@pytest.mark.parametrize("how", ["fails", "hangs"])
async def test_an_answer_in_time_lets_the_run_go_on(host: Host, how: str) -> None:
    """Answers are missing again and again, for more time together than one may be missed for."""
    watching = watch(host, await judged(host), blind_after=2)
    good = dict(host.tools)
    async with watching:
        for _ in range(4):
            NO_ANSWERS[how](host)
            await asyncio.sleep(0.6)
            host.tools, host.silent = dict(good), False
            watching._answered = watching._clock()  # the answer that comes now
        assert not watching._stop.is_set(), watching._reasons


async def test_a_slow_answer_counts_from_the_time_it_was_asked_for(host: Host) -> None:
    now = 100.0
    watching = FootingWatch(host, [await judged(host)], asyncio.Event(), clock=lambda: now, blind_after=15)

    async def tables() -> dict[str, str]:
        nonlocal now
        now += 7
        return dict(watching._before)

    watching._tables = tables  # type: ignore[method-assign]
    await watching._compare_tables()
    assert (watching._answered, watching._reasons) == (100.0, ())


async def test_a_watch_that_breaks_ends_the_run(host: Host) -> None:
    figures = await ended(host, await judged(host), by=lambda: setattr(host, "breaks", ValueError))
    assert "cannot be checked any longer (ValueError)" in (figures.reason or "")


async def test_a_reading_run_goes_on_without_answers(host: Host) -> None:
    device = await judged(host, writing=False)
    tell(host, "", 1)
    watching = watch(host, device, blind_after=0.05)
    async with watching:
        await asyncio.sleep(0.2)
    figures = RunResult(status=RunStatus.OK)
    assert watching.explain(figures) is figures


async def test_a_disk_without_device_mapper_asks_no_program(host: Host) -> None:
    host.files = {path: text for path, text in host.files.items() if "/dm-" not in path}
    watching = watch(host, await judged(host, "/dev/sda"), blind_after=0.05)
    before = host.asked
    async with watching:
        await asyncio.sleep(0.2)
    assert (host.asked, watching._reasons) == (before, ())


async def test_fifteen_seconds_are_the_limit() -> None:
    assert stack_watch.BLIND_SECONDS == 15


# -- what the kernel tells root, with dmsetup silent -----------------------------------------------------------------


async def test_a_table_in_the_kernel_ends_the_run_before_dmsetup_answers(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = await judged(host)
    kernel = {"253:0": WHOLE}
    lines = lambda numbers: "".join(f"{one}: {kernel[one]}\n" for one in numbers)  # noqa: E731
    monkeypatch.setattr(stack_watch, "read_tables", lines)
    host.reached = replace(host.reached, opens_devices=True)

    def load() -> None:
        host.silent = True
        kernel["253:0"] = f"0 {SECTORS} linear 8:0 {SECTORS}"

    figures = await ended(host, device, by=load)
    assert ELSEWHERE in (figures.reason or "")


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
async def test_where_the_kernel_does_not_tell_dmsetup_does(
    host: Host, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    def refuse(_numbers: object) -> str:
        raise error

    device = await judged(host)
    monkeypatch.setattr(stack_watch, "read_tables", refuse)
    host.reached = replace(host.reached, opens_devices=True)
    figures = await ended(host, device, by=lambda: other(host))
    assert ELSEWHERE in (figures.reason or "")


# -- what sysfs tells, with dmsetup silent ---------------------------------------------------------------------------


async def test_a_table_that_is_loaded_is_seen_before_it_is_in_force(host: Host) -> None:
    def load() -> None:
        host.silent = True
        host.files["/sys/block/dm-0/slaves/sdb"] = ""

    figures = await ended(host, await judged(host), by=load)
    assert f"{LOADED}/dev/sdb" in (figures.reason or "")


async def test_a_new_member_of_an_array_ends_the_run_and_a_lost_one_does_not(host: Host) -> None:
    host.files |= disk("md0", devno="9:0") | {"/sys/block/md0/slaves/sda": "", "/sys/block/md0/slaves/sdb": ""}
    host.stats["/dev/md0"] = FileStat(kind="block", size=0, devno="9:0")
    device = await judged(host, "/dev/md0")
    del host.files["/sys/block/md0/slaves/sdb"]
    figures = await ended(host, device, by=lambda: host.files.update({"/sys/block/md0/slaves/sdc": ""}))
    assert figures.reason == "Stopped: /dev/md0 has a new member, /dev/sdc."


async def test_another_file_behind_a_loop_device_ends_the_run(host: Host) -> None:
    host.files |= disk("loop0", devno="7:0", loop__backing_file="/srv/one", loop__offset="0")
    host.stats |= {
        "/dev/loop0": FileStat(kind="block", size=0, devno="7:0"),
        "/srv/one": FileStat(kind="file", size=1, place="8:1:7"),
    }
    device = await judged(host, "/dev/loop0")
    changed = {"/sys/block/loop0/loop/backing_file": "/srv/two"}
    figures = await ended(host, device, by=lambda: host.files.update(changed))
    assert "/dev/loop0 now has a different backing file" in (figures.reason or "")


def snapshot(host: Host) -> None:
    """As lvcreate --snapshot does it: the volume on a hidden device, which the snapshot is on, too."""
    for number, name in ((2, "vg-lin-real"), (3, "vg-snap-cow"), (4, "vg-snap")):
        host.files |= disk(f"dm-{number}", devno=f"253:{number}", dm__name=name, dm__uuid=f"LVM-{'x' * 64}")
        host.stats[f"/dev/dm-{number}"] = FileStat(kind="block", size=0, devno=f"253:{number}")
    del host.files["/sys/block/dm-0/slaves/sda"]
    for upper, lower in ((0, 2), (4, 2), (4, 3)):
        host.files[f"/sys/block/dm-{upper}/slaves/dm-{lower}"] = ""
        host.files[f"/sys/block/dm-{lower}/holders/dm-{upper}"] = ""


def snapshot_tables(status: str = "snapshot 253:2 253:3 P 8") -> str:
    return (
        f"a: 0 {SECTORS} snapshot-origin 253:2\nb: {AFTER}\nvg-lin-real: {WHOLE}\n"
        f"vg-snap-cow: 0 {SECTORS} linear 8:0 {9 * SECTORS}\nvg-snap: 0 {SECTORS} {status}\n"
    )


@pytest.mark.parametrize("answers", [True, False], ids=["dmsetup answers", "dmsetup is silent"])
async def test_a_snapshot_that_is_created_is_named(host: Host, answers: bool) -> None:
    def create() -> None:
        snapshot(host)
        tell(host, snapshot_tables()) if answers else tell(host, "", 1)

    figures = await ended(host, await judged(host), by=create)
    assert "/dev/mapper/a is the origin of the active snapshot vg/snap" in (figures.reason or "")


async def test_a_second_snapshot_on_what_is_an_origin_already_is_named(host: Host) -> None:
    """The table of the origin does not change then."""
    snapshot(host)
    tell(host, snapshot_tables("linear 8:0 0"))
    later = {path: text for path, text in host.files.items() if "holders/dm-4" in path or "/dm-4/slaves/" in path}
    host.files = {path: text for path, text in host.files.items() if path not in later}
    device = await judged(host)

    def create() -> None:
        host.files |= later
        tell(host, snapshot_tables())

    figures = await ended(host, device, by=create)
    assert figures.reason == "Stopped: /dev/mapper/a is the origin of the active snapshot vg/snap."


async def test_what_is_built_beside_it_on_the_same_disk_is_no_reason_to_end(host: Host) -> None:
    device = await judged(host)
    host.files |= disk("dm-2", devno="253:2", dm__name="c", dm__uuid="CRYPT-c")
    host.files |= {"/sys/block/dm-2/slaves/sda": "", "/sys/block/sda/holders/dm-2": ""}
    tell(host, f"a: {WHOLE}\nb: {AFTER}\nc: 0 {SECTORS} linear 8:0 {9 * SECTORS}\n")
    watching = watch(host, device)
    async with watching:
        await until(lambda: "dm-2" in " ".join(watching._signs))
    assert watching._reasons == ()


async def test_a_mount_of_the_same_part_of_the_disk_ends_the_run(host: Host) -> None:
    """A target over the same sectors is no use of them before something uses it."""
    device = await judged(host)
    host.files.update(disk("dm-2", devno="253:2", dm__name="c", dm__uuid="CRYPT-c"))
    host.files.update({"/sys/block/dm-2/slaves/sda": "", "/sys/block/sda/holders/dm-2": ""})
    tell(host, f"a: {WHOLE}\nb: {AFTER}\nc: {WHOLE}\n")
    mounts = host.files["/proc/self/mountinfo"] + "\n40 25 253:2 / /mnt rw - ext4 /dev/mapper/c rw"
    figures = await ended(host, device, by=lambda: host.files.update({"/proc/self/mountinfo": mounts}))
    assert "/dev/mapper/a is on the same part of /dev/sda as /dev/mapper/c, mounted on /mnt" in (figures.reason or "")


async def test_swap_on_the_same_part_of_the_disk_ends_the_run(host: Host) -> None:
    device = await judged(host)
    host.files.update(disk("dm-2", devno="253:2", dm__name="c", dm__uuid="CRYPT-c"))
    host.files.update({"/sys/block/dm-2/slaves/sda": "", "/sys/block/sda/holders/dm-2": ""})
    host.stats["/dev/dm-2"] = FileStat(kind="block", size=0, devno="253:2")
    tell(host, f"a: {WHOLE}\nb: {AFTER}\nc: {WHOLE}\n")
    swaps = "Filename Type Size Used Priority\n/dev/dm-2 partition 1 0 -2\n"
    watching = watch(host, device)
    async with watching:
        await until(lambda: "dm-2" in " ".join(watching._signs))  # judged, and free so far
        host.files["/proc/swaps"] = swaps
        await asyncio.wait_for(watching._stop.wait(), LONG)
    assert "/dev/mapper/c, active swap" in " ".join(watching._reasons)


async def test_a_loop_device_set_up_on_the_disk_below_ends_the_run(host: Host) -> None:
    def set_up() -> None:
        host.files.update(disk("loop0", devno="7:0", loop__backing_file="/dev/sda", loop__offset="0"))
        host.stats["/dev/loop0"] = FileStat(kind="block", size=0, devno="7:0")
        host.tools["losetup"] = Completed(returncode=0, stdout="", stderr="")

    figures = await ended(host, await judged(host), by=set_up)
    assert "/dev/loop0" in (figures.reason or "")


async def test_a_use_that_cannot_be_looked_at_ends_the_run(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_args: object, **_options: object) -> None:
        await asyncio.Event().wait()

    device = await judged(host)
    monkeypatch.setattr(stack_watch, "scan_topology", silent)
    files = {"/sys/block/loop0/loop/backing_file": "/dev/sda"}
    figures = await ended(host, device, by=lambda: host.files.update(files), blind_after=1)
    assert "its use is still unknown" in (figures.reason or "")
