"""Facts from the inventory, the session and the kernel's small files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.benchmark.conditions.collector import gather, geometry, throttles, too_warm
from app.core.benchmark.conditions.facts import JobLocation, policies_of
from app.core.fio.job import Job
from app.core.session.event_types import PreconditionWritten
from app.core.session.events import (
    ChangeEnded,
    ChangeIntended,
    InventorySeen,
    LoggedEvent,
    PreconditionEnded,
    RunEnded,
    RunStarted,
    RunTarget,
)
from app.core.session.results import DirectionStats, LatencyStats, RunResult, RunStatus, TargetStats
from app.core.session.state import Session, replay
from backends.change import Change
from backends.identity import Signature, Use
from backends.model import Array, Controller, Drive, Inventory, Level, Media, Scope, Target, Task
from backends.settings import Reading, Risk
from tests.backends.fakes import FakeHost

G = 1 << 30
CARD = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
VOLUME = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
SDB = Target(backend="block", address="sdb")
ARRAY = Array(target=VOLUME, controller=CARD, level=Level.RAID5, strip_bytes=65536, data_drives=2, device="/dev/sdb")
DISK = Drive(target=SDB, media=Media.SSD, device="/dev/sdb", physical_block=4096)
PLACE = JobLocation(
    job=Job.from_fields({"rw": "randread"}), name="megaraid:/c0/v1", device="/dev/sdb", area_bytes=G, scratch=False
)


def session(*more: LoggedEvent, array: Array = ARRAY, disk: Drive = DISK, tasks: tuple[Task, ...] = ()) -> Session:
    card = Controller(target=CARD, vendor="megaraid", cache_bytes=512 << 20, tasks=tasks)
    inventory = Inventory(controllers=(card,), arrays=(array,), drives=(disk,))
    return replay((InventorySeen(at=1.0, inventory=inventory), *more))


def host(**files: str) -> FakeHost:
    return FakeHost({path.replace("__", "/"): text for path, text in files.items()})


def filled(size: int = G, rw: str = "write") -> list[LoggedEvent]:
    """A run that wrote `size` bytes."""
    job = {"rw": rw, "size": "1G"}
    start = RunStarted(
        at=2.0,
        id="r1",
        target="",
        device="/dev/sdb",
        profile=None,
        job=job,
        title="",
        planned_seconds=1.0,
        destructive=True,
    )
    write = DirectionStats(
        iops=1.0, bytes_per_second=1.0, total_ios=1, total_bytes=size, runtime_s=1.0, latency_ns=LatencyStats()
    )
    figures = RunResult(status=RunStatus.OK, seconds=1.0, write=write)
    return [start, RunEnded(at=3.0, id="r1", figures=figures, folder="")]


def remade() -> list[LoggedEvent]:
    """The strip size was changed: the array is another one."""
    intent = ChangeIntended(
        at=4.0,
        id="c1",
        change=Change(
            target=VOLUME,
            key="strip_size",
            label="Strip size",
            before="65536",
            after="262144",
            writes=(),
            undo=(),
            risk=Risk.DESTROYS_DATA,
        ),
    )
    return [intent, ChangeEnded(at=5.0, id="c1", result="verified", now="262144")]


async def test_the_cache_is_that_of_the_arrays_controller() -> None:
    assert (await gather(host(), PLACE, session())).cache_bytes == 512 << 20


async def test_tasks_of_the_card_and_of_the_array_are_put_together() -> None:
    array = Array(target=VOLUME, controller=CARD, device="/dev/sdb", tasks=(Task(kind="rebuild"),))
    facts = await gather(host(), PLACE, session(array=array, tasks=(Task(kind="patrol-read"),)))
    assert [task.kind for task in facts.before.tasks] == ["rebuild", "patrol-read"]


async def test_nothing_known_on_the_disk_is_no_content() -> None:
    assert (await gather(host(), PLACE, session())).content is False


async def test_a_filesystem_is_content() -> None:
    disk = Drive(target=SDB, device="/dev/sdb", signatures=(Signature(kind="xfs"),))
    assert (await gather(host(), PLACE, session(disk=disk))).content is True


async def test_a_mount_is_content() -> None:
    disk = Drive(target=SDB, device="/dev/sdb", uses=(Use(kind="mount", detail="/srv"),))
    assert (await gather(host(), PLACE, session(disk=disk))).content is True


async def test_before_the_devices_are_known_content_is_not_denied() -> None:
    assert (await gather(host(), PLACE, Session())).content is True


async def test_an_area_written_in_order_is_known_as_written() -> None:
    assert (await gather(host(), PLACE, session(*filled()))).written is True


async def test_random_writes_do_not_reach_every_block() -> None:
    assert (await gather(host(), PLACE, session(*filled(rw="randwrite")))).written is None


@pytest.mark.parametrize(("rw", "known"), [("trim", False), ("randtrim", False), ("trimwrite", None)])
async def test_trimmed_blocks_are_unwritten(rw: str, known: bool | None) -> None:
    assert (await gather(host(), PLACE, session(*filled(rw=rw)))).written is known


async def test_trimmed_blocks_that_were_written_again_are_written() -> None:
    start, end = filled()
    assert isinstance(start, RunStarted)
    assert isinstance(end, RunEnded)
    again: list[LoggedEvent] = [replace(start, id="r2"), replace(end, id="r2")]
    assert (await gather(host(), PLACE, session(*filled(rw="trim"), *again))).written is True


async def test_a_part_of_it_is_not_all_of_it() -> None:
    assert (await gather(host(), PLACE, session(*filled(size=G // 2)))).written is None


def beside(where: str) -> list[LoggedEvent]:
    """The same fill by a job on several targets, of which this one is the second."""
    start, end = filled()
    assert isinstance(start, RunStarted)
    assert isinstance(end, RunEnded)
    targets = (RunTarget(target="scsi:sdz", device="/dev/sdz"), RunTarget(target=where, device="/dev/sdb"))
    each = TargetStats(target=where, write=end.figures.write)
    return [
        replace(start, device=None, targets=targets),
        replace(end, figures=replace(end.figures, targets=(each,))),
    ]


@pytest.mark.parametrize(
    ("where", "known"), [("scsi:sdb", True), ("/srv/file", None)], ids=["a device", "a file on it"]
)
async def test_what_was_written_beside_others_is_known_too(where: str, known: bool | None) -> None:
    assert (await gather(host(), PLACE, session(*beside(where)))).written is known


async def test_an_array_made_anew_is_known_as_unwritten() -> None:
    assert (await gather(host(), PLACE, session(*filled(), *remade()))).written is False


async def test_an_array_made_anew_and_filled_is_written() -> None:
    assert (await gather(host(), PLACE, session(*remade(), *filled()))).written is True


async def test_a_scsi_device_takes_its_queue_depth() -> None:
    files = {"/sys/block/sdb/queue/nr_requests": "1024", "/sys/block/sdb/device/queue_depth": "256"}
    facts = await gather(FakeHost(files), PLACE, session())
    assert (facts.queue_limit, facts.queue_limit_source) == (256, "queue_depth")


async def test_an_nvme_drive_takes_a_queue_full_for_every_job_up_to_its_queues() -> None:
    files = {"/sys/block/nvme0n1/queue/nr_requests": "1023"}
    files |= {f"/sys/block/nvme0n1/mq/{queue}/nr_tags": "1023" for queue in range(4)}
    job = Job.from_fields({"rw": "randread", "numjobs": "2"})
    place = JobLocation(job=job, name="", device="/dev/nvme0n1", area_bytes=G, scratch=False)
    assert (await gather(FakeHost(files), place, Session())).queue_limit == 2046


async def test_an_md_array_takes_what_its_disks_take() -> None:
    disks = {f"/sys/block/{name}/{file}": "32" for name in ("sda", "sdb") for file in ("device/queue_depth",)}
    links = {
        "/sys/block/md0/slaves/sda1": "/sys/devices/pci/block/sda/sda1",
        "/sys/block/md0/slaves/sdb": "/sys/devices/pci/block/sdb",
    }
    files = disks | {"/sys/devices/pci/block/sda/sda1/partition": "1", "/sys/block/md0/queue/nr_requests": "128"}
    place = JobLocation(job=PLACE.job, name="", device="/dev/md0", area_bytes=G, scratch=False)
    facts = await gather(FakeHost(files, links=links), place, Session())
    assert (facts.queue_limit, facts.queue_limit_source) == (64, "its 2 disks together")


async def test_a_device_that_was_preconditioned_is_written() -> None:
    done = PreconditionWritten(at=6.0, device="/dev/sdb", size_bytes=G, filled_bytes=2 * G)
    ended = PreconditionEnded(at=6.0, id="r2", target="", written=done, remembered=True)
    assert (await gather(host(), PLACE, session(*remade(), ended))).written is True


async def test_governors_are_counted() -> None:
    folder = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    files = {folder.format(0): "powersave", folder.format(1): "powersave", folder.format(2): "performance"}
    assert (await gather(FakeHost(files), PLACE, session())).governors == {"powersave": 2, "performance": 1}


async def test_throttled_cores_are_added_up() -> None:
    folder = "/sys/devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count"
    assert await throttles(FakeHost({folder.format(0): "3", folder.format(1): "4"})) == 7


async def test_a_drive_at_its_own_warning_is_too_warm() -> None:
    base = "/sys/block/nvme0n1/device/hwmon1"
    files = {f"{base}/temp1_input": "84850", f"{base}/temp1_max": "80000"}
    assert await too_warm(FakeHost(files), "/dev/nvme0n1") == ("nvme0n1 has 84 °C (warns at 80 °C)",)


async def test_a_cool_drive_is_not() -> None:
    base = "/sys/block/nvme0n1/device/hwmon1"
    files = {f"{base}/temp1_input": "41850", f"{base}/temp1_max": "80000"}
    assert await too_warm(FakeHost(files), "/dev/nvme0n1") == ()


def test_stripes_of_raid60_lie_in_one_span() -> None:
    members = tuple(Target(backend="megaraid", address=f"/c0/e1/s{slot}") for slot in range(11))  # one is missing
    array = Array(target=VOLUME, level=Level.RAID60, strip_bytes=65536, data_drives=8, spans=2, members=members)
    assert (geometry(array).data_drives, geometry(array).full_stripe) == (4, 256 << 10)
    assert geometry(replace(array, spans=None)).data_drives is None


def test_settings_that_are_not_reported_are_left_out() -> None:
    readings = {"write_cache": ("Write cache", Reading(now="write-back")), "x": ("X", Reading(now=None))}
    assert list(policies_of(readings)) == ["write_cache"]
