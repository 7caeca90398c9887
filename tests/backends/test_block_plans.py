"""Plans of the block backend on a machine made by hand, and the kernel's traps played by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.errors import BlockedError, DeviceGoneError, InvalidValueError, NotFoundError, ToolFailedError
from backends.model import Target
from backends.settings import Risk, Span
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import QUEUE, FakeHost, disk, machine

SDA = Target(backend="block", address="sda")


def backend(host: FakeHost) -> BlockBackend:
    return BlockBackend(host)


def host(root: bool = True, drop: tuple[str, ...] = (), **queue: str) -> FakeHost:
    mine = {key: value for key, value in (QUEUE | queue).items() if key not in drop}
    return FakeHost(machine(disk("sda", queue=mine, serial="S1", mq__0__nr_tags="32")), root=root)


async def test_a_plan_is_the_line_a_person_would_type() -> None:
    change = await backend(host()).plan(SDA, "read_ahead_kb", "4096")
    assert [write.shown() for write in change.writes] == ["echo 4096 > /sys/block/sda/queue/read_ahead_kb"]
    assert [write.shown() for write in change.undo] == ["echo 128 > /sys/block/sda/queue/read_ahead_kb"]
    assert (change.before, change.after, change.lock) == ("128", "4096", "disk-serial S1, 1073741824")


async def test_the_kernels_words_are_written_for_the_common_ones() -> None:
    change = await backend(host()).plan(SDA, "write_cache", "write-through")
    assert (change.writes[0].text, change.undo[0].text) == ("write through", "write back")
    assert change.risk is Risk.POWER_LOSS
    assert "power failure" in change.risk_text


async def test_going_back_to_write_back_risks_nothing() -> None:
    change = await backend(host(write_cache="write through")).plan(SDA, "write_cache", "write-back")
    assert (change.risk, change.risk_text) == (Risk.NONE, "")


async def test_undo_of_a_scheduler_comes_in_the_order_the_kernel_needs() -> None:
    machine = host()
    machine.files["/sys/block/sda/queue/iosched/read_expire"] = "500"
    change = await backend(machine).plan(SDA, "scheduler", "none")
    assert [(write.path or "").rpartition("queue/")[2] for write in change.undo] == [
        "scheduler",
        "nr_requests",
        "wbt_lat_usec",
        "iosched/read_expire",
    ]
    assert change.undo[0].text == "mq-deadline"
    assert change.moves == ("nr_requests", "wbt_lat_usec")


@pytest.mark.parametrize(("rotational", "default"), [("1", "75000"), ("0", "2000")])
async def test_the_default_of_throttling_depends_on_the_medium(rotational: str, default: str) -> None:
    change = await backend(host(rotational=rotational)).plan(SDA, "wbt_lat_usec", "-1")
    assert (change.writes[0].text, change.after) == ("-1", default)


async def test_throttling_that_cannot_be_read_can_be_set_and_not_taken_back() -> None:
    machine = host(drop=("wbt_lat_usec",))
    machine.refusing["/sys/block/sda/queue/wbt_lat_usec"] = "Invalid argument"
    now = (await backend(machine).read(SDA))["wbt_lat_usec"]
    change = await backend(machine).plan(SDA, "wbt_lat_usec", "0")
    assert (now.now, now.availability.available, change.before) == (None, True, None)
    assert change.undo == ()
    with pytest.raises(ToolFailedError, match="Invalid argument"):
        await backend(machine).apply(change)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("read_ahead_kb", "4095"),
        ("read_ahead_kb", "-4"),
        ("read_ahead_kb", "lots"),
        ("nr_requests", "0"),
        ("nr_requests", "2049"),
        ("max_sectors_kb", "4097"),
        ("max_sectors_kb", "3"),
        ("scheduler", "cfq"),
        ("nomerges", "3"),
        ("write_cache", "write back; reboot"),
        ("wbt_lat_usec", "-2"),
    ],
)
async def test_values_the_kernel_would_bend_or_refuse_are_refused_first(key: str, value: str) -> None:
    machine = host()
    with pytest.raises(InvalidValueError):
        await backend(machine).plan(SDA, key, value)
    assert machine.written == []


async def test_queue_size_without_a_scheduler_ends_at_the_devices_tags() -> None:
    now = await backend(host(scheduler="[none] bfq", nr_requests="32")).read(SDA)
    assert now["nr_requests"].span == Span(minimum=4, maximum=32, unit="requests")


async def test_labels_are_taken_for_values() -> None:
    assert (await backend(host()).plan(SDA, "iostats", "off")).after == "0"


@pytest.mark.parametrize(
    ("machine", "key", "why"),
    [
        (host(root=False), "nomerges", "needs root"),
        (host(drop=("add_random",)), "add_random", "does not support it"),
        (host(scheduler="none"), "scheduler", "no other scheduler"),
        (
            host(scheduler="[none]", drop=("max_hw_sectors_kb", "max_sectors_kb")),
            "max_sectors_kb",
            "the kernel does not support it for this device",
        ),
    ],
)
async def test_what_cannot_be_changed_says_why(machine: FakeHost, key: str, why: str) -> None:
    assert why in ((await backend(machine).read(SDA))[key].availability.why_not or "")
    with pytest.raises(BlockedError, match=why):
        await backend(machine).plan(SDA, key, "0")


async def test_a_word_not_understood_is_unknown_and_kept_raw() -> None:
    now = (await backend(host(write_cache="write sideways")).read(SDA))["write_cache"]
    assert (now.now, now.raw) == ("unknown", "write sideways")


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("/sys/block/sda/serial", "S2", "serial was S1, is S2"),
        ("/sys/block/sda/diskseq", "10", "disk sequence number was 9, is 10"),
        ("/sys/block/sda/dev", "8:16", "device number was 8:0, is 8:16"),
        ("/sys/block/sda/size", "4", "size was 1073741824, is 2048"),
    ],
)
async def test_another_device_under_the_name_is_never_written(path: str, text: str, words: str) -> None:
    machine = host()
    change = await backend(machine).plan(SDA, "nomerges", "2")
    back = replace(change, before=change.after, after=change.before or "", writes=change.undo)
    machine.files[path] = text
    for act in (change, back):
        with pytest.raises(DeviceGoneError, match=words):
            await backend(machine).apply(act)
    assert machine.written == []


async def test_a_device_that_vanishes_during_the_write_is_gone() -> None:
    machine = host()
    change = await backend(machine).plan(SDA, "nomerges", "2")

    def vanish(fake: FakeHost, path: str, text: str) -> None:
        fake.files.clear()
        raise ToolFailedError("The kernel refused the value '2': No such device.")

    machine.kernel = vanish
    with pytest.raises(DeviceGoneError):
        await backend(machine).apply(change)


@pytest.mark.parametrize("address", ["../../etc", "", ".", "sda/../sdb", "sdx"])
async def test_what_is_no_disk_is_not_found(address: str) -> None:
    with pytest.raises((NotFoundError, DeviceGoneError)):
        await backend(host()).plan(Target(backend="block", address=address), "nomerges", "2")


async def test_a_choice_or_a_span_for_every_setting() -> None:
    for key, now in (await backend(host()).read(SDA)).items():
        assert bool(now.choices) is not (now.span is not None), key
        assert all(choice.help for choice in now.choices), key


async def test_the_doctor_names_what_is_missing() -> None:
    told = " ".join(problem.message for problem in await backend(host(root=False)).diagnose())
    assert all(
        word in told for word in ("Without root", "blkid and wipefs are not installed", "udevadm is not installed")
    )


async def test_a_queue_that_only_the_new_scheduler_allows_is_planned_with_it() -> None:
    machine = host(scheduler="[none] mq-deadline", nr_requests="32")
    changes = await backend(machine).plan_together(SDA, {"nr_requests": "256", "scheduler": "mq-deadline"})
    assert [(change.key, change.after) for change in changes] == [("scheduler", "mq-deadline"), ("nr_requests", "256")]


async def test_a_queue_that_the_new_scheduler_does_not_allow_is_refused_with_it() -> None:
    machine = host(scheduler="none [mq-deadline]", nr_requests="256")
    with pytest.raises(InvalidValueError):
        await backend(machine).plan_together(SDA, {"scheduler": "none", "nr_requests": "512"})


async def test_a_device_without_a_queue_of_its_own_takes_no_size() -> None:
    """An md or dm device reports one, and the kernel refuses every write."""
    machine_ = FakeHost(machine(disk("md0", queue={"scheduler": "none", "nr_requests": "128"})))
    reading = (await backend(machine_).read(Target(backend="block", address="md0")))["nr_requests"]
    assert (reading.now, reading.availability.why_not) == ("128", "it forwards requests and has no queue of its own")


async def test_a_size_that_the_scheduler_does_not_take_is_no_way_back() -> None:
    machine_ = host(scheduler="[none] mq-deadline", nr_requests="8")
    with pytest.raises(InvalidValueError, match="cannot be 256 with this scheduler"):
        await backend(machine_).back(SDA, "nr_requests", "256", {})


NVME = Target(backend="block", address="nvme0n1")


def namespace(now: str | None = "30000") -> FakeHost:
    queue = QUEUE | {"io_timeout": now} if now is not None else QUEUE
    return FakeHost(machine(disk("nvme0n1", devno="259:0", queue=queue, serial="S1", mq__0__nr_tags="1023")))


async def test_an_nvme_disk_has_a_timeout_and_others_have_none() -> None:
    assert (await backend(namespace()).read(NVME))["io_timeout"].now == "30000"
    assert "io_timeout" not in await backend(host(io_timeout="30000")).read(SDA)


async def test_the_timeout_is_set_in_milliseconds_and_taken_back() -> None:
    change = await backend(namespace()).plan(NVME, "io_timeout", "60000")
    assert [write.shown() for write in change.writes] == ["echo 60000 > /sys/block/nvme0n1/queue/io_timeout"]
    assert [write.shown() for write in change.undo] == ["echo 30000 > /sys/block/nvme0n1/queue/io_timeout"]
    assert change.risk is Risk.OUTAGE


@pytest.mark.parametrize("wrong", ["0", "900", "30050", "4294967300", "-1", "30m", "0.5 ms"])
async def test_a_timeout_that_the_kernel_would_refuse_or_round_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidValueError):
        await backend(namespace()).plan(NVME, "io_timeout", wrong)


async def test_the_largest_timeout_comes_back_as_the_kernel_had_it() -> None:
    change = await backend(namespace("4294967295")).plan(NVME, "io_timeout", "30000")
    assert change.undo[0].text == "4294967295"
    back = await backend(namespace()).back(NVME, "io_timeout", "4294967295", {})
    assert back.writes[0].text == "4294967295"


async def test_a_path_without_a_queue_of_its_own_says_that_the_kernel_is_silent() -> None:
    now = (await backend(namespace(None)).read(NVME))["io_timeout"]
    assert (now.now, now.availability.available) == (None, False)
