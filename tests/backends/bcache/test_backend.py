"""bcache devices: what is shown, what a change writes and what the kernel makes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backends.change import ChangeStep
from backends.errors import AnotherDeviceError, BlockedError, InvalidValueError, NotFoundError, RefusedError
from backends.model import Array, Level, State, Target
from backends.settings import Risk
from backends.simulator.bcache import human
from backends.testing.conformance import Conformance
from backends.topology import scan_topology
from backends.udev import match_keys
from backends.vendors.bcache.backend import RULES, Bcache
from backends.vendors.bcache.inventory import displayed_size, parse_size
from backends.vendors.bcache.settings import KEPT, OF_SET, SETTINGS
from backends.vendors.block.backend import BlockBackend
from tests.backends.bcache.machines import BCACHE0, OWN, SET, UUID, alone, files, simulated
from tests.backends.fakes import FakeHost
from tests.case_loop import loop_over


class TestWithACache(Conformance):
    @pytest.fixture
    def backend(self) -> Bcache:
        return Bcache(simulated())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (BCACHE0,)


class TestWithoutOne(Conformance):
    @pytest.fixture
    def backend(self) -> Bcache:
        return Bcache(simulated(alone))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (BCACHE0,)


async def found(host: FakeHost) -> Array:
    return (await Bcache(host).inventory()).arrays[0]


def facts(array: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in array.facts}


async def test_what_is_cached_and_what_caches_it_are_its_members() -> None:
    array = await found(files())
    assert [str(one) for one in array.members] == ["block:sdm", "block:nvme4n1"]
    assert (array.device, array.level, array.state) == ("/dev/bcache0", Level.CACHED, State.OPTIMAL)
    assert facts(array)["Cache set"] == SET.rpartition("/")[2]


@pytest.mark.parametrize(
    ("state", "shown", "why"),
    [
        ("clean", State.OPTIMAL, ""),
        ("dirty", State.OPTIMAL, ""),
        ("inconsistent", State.FAILED, "it was started without its cache, which had unwritten data"),
        ("no cache", State.ONLINE, "no cache is attached"),
        ("new in Linux 9", State.UNKNOWN, ""),
    ],
)
async def test_its_state_is_the_kernels(state: str, shown: State, why: str) -> None:
    host = files()
    host.files[f"{OWN}/state"] = state
    array = await found(host)
    assert (array.state, array.why, facts(array)["Cache state"]) == (shown, why, state)


async def test_unwritten_data_are_told() -> None:
    host = files()
    host.files |= {f"{OWN}/state": "dirty", f"{OWN}/dirty_data": "3.0G"}
    assert facts(await found(host))["Unwritten data"] == "3 GiB"


async def test_without_a_cache_the_mode_is_not_in_force_and_the_rest_is_not_applicable() -> None:
    readings = await Bcache(files(alone)).read(BCACHE0)
    mode = readings["cache_mode"]
    assert (mode.now, mode.effective, mode.why_effective) == ("write-through", "none", "no cache is attached")
    assert {readings[one.key].availability.why_not for one in SETTINGS[1:]} == {"no cache is attached"}
    assert mode.availability.available


@pytest.mark.parametrize("link", ["/sys/devices/virtual/sdm/other", "/bcache", "/sys//bcache", ""])
async def test_a_link_that_leads_elsewhere_names_no_disk(link: str) -> None:
    host = files()
    host.links[OWN] = host.links[f"{SET}/cache0"] = link
    array = await found(host)
    assert (array.members, facts(array)["Cache device"]) == ((), "none")


async def test_without_a_cache_no_mode_is_nothing_to_be_told_apart() -> None:
    host = files(alone)
    host.files[f"{OWN}/cache_mode"] = "writethrough writeback writearound [none]"
    assert (await Bcache(host).read(BCACHE0))["cache_mode"].effective is None
    del host.files[f"{OWN}/cache_mode"]
    assert (await Bcache(host).read(BCACHE0))["cache_mode"].effective is None


async def test_without_a_cache_write_back_is_still_a_risk() -> None:
    assert (await Bcache(files(alone)).plan(BCACHE0, "cache_mode", "write-back")).risk is Risk.POWER_LOSS


@pytest.mark.parametrize(("key", "now"), [("cache_mode", "writethrough new-one"), ("sequential_cutoff", "4,0M")])
async def test_what_is_not_understood_is_not_put_back(key: str, now: str) -> None:
    host = files()
    host.files[f"{OWN}/{key}"] = now
    reading = (await Bcache(host).read(BCACHE0))[key]
    assert (reading.now, reading.raw) == ("unknown", now)
    assert (await Bcache(host).plan(BCACHE0, key, reading.choices[0].value)).undo == ()


async def test_a_cutoff_has_words_and_so_has_none() -> None:
    choices = {one.value: one for one in (await Bcache(files()).read(BCACHE0))["sequential_cutoff"].choices}
    assert (choices["0"].label, choices["0"].help) == ("no limit", "Sequential streams are cached as well.")
    assert (choices["4194304"].label, choices["65536"].label) == ("4 MiB", "64 KiB")
    assert choices["65536"].help.startswith("Longer sequential streams bypass")


async def test_no_more_bytes_are_cut_off_at_than_the_kernel_counts() -> None:
    most = (1 << 32) - 1
    assert (await Bcache(files()).plan(BCACHE0, "sequential_cutoff", str(most))).writes[0].text == str(most)
    with pytest.raises(InvalidValueError):
        await Bcache(files()).plan(BCACHE0, "sequential_cutoff", str(most + 1))


async def test_other_numbers_that_are_too_large_are_no_cut() -> None:
    with pytest.raises(InvalidValueError, match="cannot be 61 here"):
        await Bcache(files()).plan(BCACHE0, "writeback_rate_update_seconds", "61")


@pytest.mark.parametrize("asked", [41, 200, 10**18])
async def test_a_share_that_the_kernel_would_cut_is_told_before(asked: int) -> None:
    with pytest.raises(InvalidValueError, match=rf"would be 40, not {asked}"):
        await Bcache(files()).plan(BCACHE0, "writeback_percent", str(asked))


async def test_a_share_that_the_module_was_loaded_with_may_stay() -> None:
    host = files()
    host.files[f"{OWN}/writeback_percent"] = "70"
    span = (await Bcache(host).read(BCACHE0))["writeback_percent"].span
    assert span is not None
    assert span.maximum == 70


async def test_a_cutoff_goes_back_in_bytes_for_the_kernel_refuses_its_own_words() -> None:
    change = await Bcache(files()).plan(BCACHE0, "sequential_cutoff", "0")
    assert (change.before, change.undo) == ("4194304", (ChangeStep(path=f"{OWN}/sequential_cutoff", text="4194304"),))


async def test_any_number_of_bytes_may_be_cut_off_at_and_is_expected_as_it_will_be_told() -> None:
    host = simulated()
    change = await Bcache(host).plan(BCACHE0, "sequential_cutoff", "1500000")
    assert (change.after, change.asked, change.writes[0].text) == ("1468416", "1500000", "1500000")
    await Bcache(host).apply(change)
    assert (await Bcache(host).read(BCACHE0))["sequential_cutoff"].now == change.after


@given(st.integers(0, (1 << 32) - 1))
@example(1000 << 20)
@example(1000 << 10)
@example(102)
@example(512)
@example(999 << 10)
@example(999 << 20)
@example(1023)
@example((1000 << 20) + (700 << 10))
def test_a_size_read_back_is_what_was_expected_and_reads_the_same_when_it_is_put_back(count: int) -> None:
    told = parse_size(human(count))
    assert told == displayed_size(count)
    assert told is not None
    assert human(told) == human(count)
    assert told <= count


@loop_over("text", ["", "4.0", "4M", "4.00M", "-4.0M", "4.0m", "4.0M\n", "٤.0M", "9" * 20 + ".0k"])
def test_what_is_no_size_is_none(text: str) -> None:
    assert parse_size(text) is None


@pytest.mark.parametrize(
    ("key", "value", "path", "text"),
    [
        ("cache_mode", "write-back", f"{OWN}/cache_mode", "writeback"),
        ("cache_mode", "writearound", f"{OWN}/cache_mode", "writearound"),
        ("writeback_running", "off", f"{OWN}/writeback_running", "0"),
        ("readahead_cache_policy", "meta-only", f"{OWN}/readahead_cache_policy", "meta-only"),
        ("congested_read_threshold_us", "0", f"{SET}/congested_read_threshold_us", "0"),
        ("cache_replacement_policy", "fifo", f"{SET}/cache0/cache_replacement_policy", "fifo"),
    ],
)
async def test_each_is_written_where_it_belongs(key: str, value: str, path: str, text: str) -> None:
    assert (await Bcache(files()).plan(BCACHE0, key, value)).writes == (ChangeStep(path=path, text=text),)


async def test_write_back_is_a_risk_where_the_cache_has_no_copy() -> None:
    change = await Bcache(files()).plan(BCACHE0, "cache_mode", "write-back")
    assert (change.risk, "only on the cache device" in change.risk_text) == (Risk.POWER_LOSS, True)
    assert (await Bcache(files()).plan(BCACHE0, "cache_mode", "write-around")).risk is Risk.NONE


@pytest.mark.parametrize(("level", "risk"), [("raid1", Risk.NONE), ("raid0", Risk.POWER_LOSS)])
async def test_a_mirrored_cache_may_write_back(level: str, risk: Risk) -> None:
    host = files()
    host.links[f"{SET}/cache0"] = "/sys/devices/virtual/block/md0/bcache"
    host.files["/sys/block/md0/md/level"] = level
    backend = Bcache(host)
    assert (await backend.plan(BCACHE0, "cache_mode", "write-back")).risk is risk
    assert (await backend.plan(BCACHE0, "writeback_running", "off")).risk is Risk.PERFORMANCE


async def test_what_all_of_a_cache_set_share_is_changed_by_one_at_a_time() -> None:
    backend = Bcache(files())
    shared, own = [
        await backend.plan(BCACHE0, key, "0") for key in ("congested_read_threshold_us", "sequential_cutoff")
    ]
    assert shared.lock == f"bcache-{SET.rpartition('/')[2]}\n{own.lock}"


async def test_two_devices_of_one_set_are_told_of_each_other() -> None:
    host = files()
    for tree in (host.files, host.links):
        tree |= {path.replace("bcache0", "bcache1"): text for path, text in tree.items() if "/bcache0/" in path}
    first, second = (await Bcache(host).inventory()).arrays
    assert facts(first)["Cache set serves"] == "/dev/bcache0, /dev/bcache1"
    assert facts(second)["Cache set serves"] == "/dev/bcache1, /dev/bcache0"


async def test_what_is_set_is_not_set_again() -> None:
    host = files()
    await Bcache(host).apply(await Bcache(host).plan(BCACHE0, "cache_mode", "write-through"))
    assert host.written == []


async def test_another_cache_set_than_was_planned_for_is_left_alone() -> None:
    host = files()
    change = await Bcache(host).plan(BCACHE0, "cache_replacement_policy", "fifo")
    other = SET.replace("8d0f4a86", "00000000")
    host.links[f"{OWN}/cache"] = other
    with pytest.raises(RefusedError, match="not cache_replacement_policy of bcache:bcache0"):
        await Bcache(host).apply(change)
    assert host.written == []


async def test_another_device_of_that_name_is_left_alone() -> None:
    host = files()
    change = await Bcache(host).plan(BCACHE0, "cache_mode", "none")
    host.files[f"{OWN}/backing_dev_uuid"] = UUID.replace("3c3f", "0000")
    with pytest.raises(AnotherDeviceError):
        await Bcache(host).apply(change)


async def test_no_other_file_is_written_whatever_a_journal_says() -> None:
    host = files()
    change = await Bcache(host).plan(BCACHE0, "cache_mode", "none")
    for path in ("/sys/block/bcache0/bcache/stop", "/sys/block/sda/queue/nomerges"):
        with pytest.raises(RefusedError):
            await Bcache(host).apply(replace(change, writes=(ChangeStep(path=path, text="1"),)))
    assert host.written == []


async def test_a_disk_without_a_name_of_its_own_is_not_taken_for_what_caches_it() -> None:
    """The device's folder is that of its backing device, so the UUID stands there, too."""
    host = files()
    for name in ("wwid", "serial"):
        host.files.pop(f"/sys/block/sdm/device/{name}", None)
    number = host.files["/sys/block/sdm/dev"]
    host.files |= {"/sys/block/sdm/bcache/backing_dev_uuid": UUID, f"/run/udev/data/b{number}": "E:ID_FS_TYPE=bcache"}
    picture = await scan_topology(host)
    assert picture.twins == {}
    with pytest.raises(BlockedError, match="no serial number and no WWN"):
        match_keys(picture.tree.nodes["sdm"])


@pytest.mark.parametrize("name", ["bcache0/../sda", "sda", "", "bcache9", "bcache*"])
async def test_nothing_else_is_a_target(name: str) -> None:
    with pytest.raises(NotFoundError if name != "bcache9" else Exception, match=r"There is no|does not exist"):
        await Bcache(files()).read(Target(backend="bcache", address=name))


async def test_a_rule_keeps_what_a_reboot_takes_away() -> None:
    rule = await Bcache(files()).persist(BCACHE0, {"writeback_running": "off", "sequential_cutoff": "0"})
    match = f'ATTR{{bcache/backing_dev_uuid}}=="{UUID}"'
    assert rule.text.splitlines()[1] == (
        'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", '
        f'{match}, ATTR{{bcache/sequential_cutoff}}="0", ATTR{{bcache/writeback_running}}="0"'
    )


async def test_its_queue_has_a_line_of_its_own() -> None:
    host = files()
    host.files[RULES.path] = (await Bcache(host).persist(BCACHE0, {"writeback_delay": "5"})).text
    queue = await BlockBackend(host).persist(Target(backend="block", address="bcache0"), {"read_ahead_kb": "4096"})
    host.files[RULES.path] = queue.text
    assert queue.text.count(UUID) == 2
    assert (await Bcache(host).persist(BCACHE0, {})).text.count(UUID) == 1


@pytest.mark.parametrize("key", [one.key for one in SETTINGS if one.key not in KEPT])
async def test_no_rule_keeps_what_is_stored_or_shared(key: str) -> None:
    value = (await Bcache(files()).read(BCACHE0))[key].now or ""
    with pytest.raises(BlockedError, match="superblock" if key not in OF_SET else "cache set"):
        await Bcache(files()).persist(BCACHE0, {key: value})


async def test_a_disk_that_waits_for_its_cache_is_told() -> None:
    host = files()
    host.files["/sys/block/sdb/sdb1/bcache/running"] = "0"
    host.files["/sys/block/sdc/bcache/running"] = "1"
    messages = [one.message for one in await Bcache(host).diagnose()]
    assert messages == ["/dev/sdb1 waits for its bcache cache device."]


async def test_a_kernel_without_one_of_the_files_offers_the_rest() -> None:
    host = files()
    del host.files[f"{OWN}/readahead_cache_policy"]
    reading = (await Bcache(host).read(BCACHE0))["readahead_cache_policy"]
    assert (reading.now, reading.availability.why_not) == (None, "the kernel does not support it for this device")
