"""The second rack: what is in force decides how fast it is, in the direction that its makers document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.queueing_model import IoPattern, PredictedPerformance, predict
from backends.simulator.rack import Rack
from tests.backends.simulator.articles import of

Change = Callable[[Rack], None]

READS, WRITES = IoPattern(depth=64), IoPattern(depth=64, read_share=0.0)
LARGE_READS, LARGE_WRITES = (replace(work, sizes=((65536, 1.0),)) for work in (READS, WRITES))
HUGE_WRITES = replace(WRITES, sizes=((1 << 20, 1.0),))
NEAR = replace(READS, region_bytes=1 << 30)
AGAIN = replace(WRITES, region_bytes=3 << 30)
STREAM = replace(LARGE_READS, sequential=True)


def value(word: str, to: str) -> Change:
    """A setting of the Smart Array and of the SmartRAID, which have the same firmware."""

    def change(rack: Rack) -> None:
        for tool, cards in rack.smart.items():
            rack.smart[tool] = tuple(replace(card, values={**card.values, word: to}) for card in cards)

    return change


def battery(rack: Rack) -> None:
    """The Smart Array's battery fails."""
    rack.smart["ssacli"] = tuple(replace(card, battery="Failed (Replace Batteries)") for card in rack.smart["ssacli"])


def problem(rack: Rack) -> None:
    """The Smart Array's cache has a problem."""
    rack.smart["ssacli"] = tuple(replace(card, cache_problem=True) for card in rack.smart["ssacli"])


def acceleration(of_volume: int, to: str) -> Change:
    def change(rack: Rack) -> None:
        [card] = rack.smart["ssacli"]
        volumes = tuple(replace(one, acceleration=to) if one.number == of_volume else one for one in card.volumes)
        rack.smart["ssacli"] = (replace(card, volumes=volumes),)

    return change


def adaptec(**fields: object) -> Change:
    """The Adaptec 5805's logical device, or the card where it has such a field."""

    def change(rack: Rack) -> None:
        card, *others = rack.smart["arcconf"]
        for name, to in fields.items():
            if hasattr(card, name):
                card = replace(card, **{name: to})  # type: ignore[arg-type]
            else:
                volumes = tuple(replace(one, **{name: to}) for one in card.volumes)  # type: ignore[arg-type]
                card = replace(card, volumes=volumes)
        rack.smart["arcconf"] = (card, *others)

    return change


def own_caches_off(rack: Rack) -> None:
    card, *others = rack.smart["arcconf"]
    rack.smart["arcconf"] = (replace(card, bays=tuple(replace(bay, own_cache=False) for bay in card.bays)), *others)


def system(**fields: object) -> Change:
    """The DS4700, or its logical drives where they have such a field."""

    def change(rack: Rack) -> None:
        for name, to in fields.items():
            for thing in rack.systems if hasattr(rack.systems[0], name) else rack.systems[0].volumes:
                setattr(thing, name, to)

    return change


def found(device: str, work: IoPattern, *changes: Change) -> PredictedPerformance:
    rack = hpe_rack()
    for change in changes:
        change(rack)
    return predict(of(rack, device), work)


FASTER = {
    "Smart Path against no acceleration": ("sdb", READS, acceleration(2, "none"), acceleration(2, "path")),
    "Smart Path against the cache": ("sdb", READS, acceleration(2, "cache"), acceleration(2, "path")),
    "more of the cache for reads": ("sdc", NEAR, value("cacheratio", "10/90"), value("cacheratio", "90/10")),
    "a battery that is well": ("sda", WRITES, battery, value("cacheratio", "10/90")),
    "a cache that works": ("sda", WRITES, problem, value("cacheratio", "10/90")),
    "more of the cache for writes": ("sda", AGAIN, value("cacheratio", "75/25"), value("cacheratio", "10/90")),
    "drives' caches on": (
        "sdb",
        WRITES,
        value("drivewritecache configured", "disable"),
        value("drivewritecache configured", "enable"),
    ),
    "writes sorted on disks": ("sda", WRITES, value("elevatorsort", "disable"), value("elevatorsort", "enable")),
    "a queue at the drives": ("sdc", READS, value("queuedepth", "2"), value("queuedepth", "automatic")),
    "no surface scan": ("sda", READS, value("surfacescanmode", "high"), value("surfacescanmode", "idle")),
    "drives' caches on, Adaptec": ("sdd", WRITES, own_caches_off, adaptec()),
    "streams in strips of 1 MiB, Adaptec": ("sdd", STREAM, adaptec(strip_kib=64), adaptec(strip_kib=1024)),
    "streams that are read ahead, Adaptec": ("sdd", replace(STREAM, depth=1), adaptec(read_cache=False), adaptec()),
    "blocks that were read before, Adaptec": (
        "sdd",
        replace(NEAR, depth=1, region_bytes=256 << 20),
        adaptec(read_cache=False),
        adaptec(),
    ),
    "written streams in strips of 1 MiB, Adaptec": (
        "sdd",
        replace(STREAM, read_share=0.0),
        adaptec(strip_kib=64),
        adaptec(strip_kib=1024),
    ),
    "no mirroring": ("dm-0", WRITES, system(mirroring=True), system(mirroring=False)),
    "a write cache": ("dm-0", WRITES, system(write_cache=False), system(write_cache=True)),
    "batteries that are well": ("dm-0", WRITES, system(battery="Failed"), system(battery="Optimal")),
    "the second controller": ("dm-0", WRITES, system(second="Offline"), system(second="Online")),
    "a read cache": ("dm-0", READS, system(read_cache=False), system(read_cache=True)),
    "large cache blocks for large requests": ("dm-0", LARGE_READS, system(block_kib=4), system(block_kib=16)),
    "the same when written": ("dm-0", LARGE_WRITES, system(block_kib=4), system(block_kib=16)),
    "small cache blocks for small ones": (
        "dm-1",
        replace(READS, region_bytes=4 << 30),
        system(block_kib=16),
        system(block_kib=4),
    ),
    "flushing that begins late": (
        "dm-1",
        AGAIN,
        system(flush_start=40, flush_stop=40),
        system(flush_start=95, flush_stop=90),
    ),
    "data that may stay in the cache": ("dm-1", AGAIN, system(flush=0.0), system(flush=10.0)),
    "streams that are prefetched": ("dm-1", replace(STREAM, depth=1), system(prefetch=False), system(prefetch=True)),
}
"""Device, load, the slower state and the faster one."""


@pytest.mark.parametrize("why", FASTER)
def test_what_is_in_force_makes_it_faster_or_slower_as_its_makers_say(why: str) -> None:
    device, work, slow, fast = FASTER[why]
    assert found(device, work, fast).iops > 1.02 * found(device, work, slow).iops


SAME = {
    "what is set without a battery": ("sda", WRITES, (battery, value("cacheratio", "25/75")), (battery,)),
    "mirroring of what is not cached": ("dm-0", WRITES, (system(write_cache=False, mirroring=True),), ()),
    "the size of blocks that is small enough": ("dm-0", READS, (system(block_kib=4),), (system(block_kib=16),)),
    "sorting of what goes to flash": ("sdc", WRITES, (value("elevatorsort", "disable"),), ()),
    "the performance mode for large blocks, when they are small": ("sdd", WRITES, (adaptec(performance="3"),), ()),
    "a priority of rebuilds while there is none": ("sda", WRITES, (value("rebuildpriority", "low"),), ()),
    "how long a monitor waits": ("sdc", READS, (value("mnpdelay", "5"),), ()),
}


@pytest.mark.parametrize("why", SAME)
def test_what_is_set_and_not_in_force_changes_nothing(why: str) -> None:
    device, work, one, other = SAME[why]
    same = system(write_cache=False, mirroring=False)
    assert found(device, work, *one) == found(device, work, *(other or ((same,) if device == "dm-0" else ())))


def test_without_a_battery_the_cache_takes_writes_only_when_told_to() -> None:
    kept = found("sdc", WRITES)
    assert found("sdc", WRITES, battery, value("nobatterywritecache", "enable")) == kept
    assert found("sdc", WRITES, battery) != kept


def test_a_cache_with_a_problem_takes_no_reads() -> None:
    work, mostly_read = replace(NEAR, depth=1), value("cacheratio", "90/10")
    assert found("sdc", work, mostly_read).iops > 1.02 * found("sdc", work, mostly_read, problem).iops


def test_writes_beyond_the_bypass_threshold_go_past_the_cache_and_smaller_ones_do_not() -> None:
    low = value("writecachebypassthreshold", "512")
    through = value("cacheratio", "100/0")
    assert found("sdc", HUGE_WRITES, low).iops == found("sdc", HUGE_WRITES, through).iops
    assert found("sdc", HUGE_WRITES, low).iops != found("sdc", HUGE_WRITES).iops
    assert found("sdc", LARGE_WRITES, low) == found("sdc", LARGE_WRITES)
    assert found("sde", HUGE_WRITES, low) == found("sde", HUGE_WRITES)


def test_the_performance_mode_for_large_blocks_keeps_them_out_of_the_cache() -> None:
    mode, through = adaptec(performance="3"), adaptec(write_cache="wt")
    assert found("sdd", LARGE_WRITES, mode).iops == found("sdd", LARGE_WRITES, through).iops
    assert found("sdd", LARGE_WRITES, mode).iops != found("sdd", LARGE_WRITES).iops


def test_mirroring_off_gains_two_to_three_per_cent() -> None:
    gain = found("dm-0", WRITES, system(mirroring=False)).iops / found("dm-0", WRITES).iops - 1
    assert 0.02 <= gain <= 0.03


def test_flash_that_was_never_written_answers_without_being_read() -> None:
    rack = hpe_rack()
    [module] = rack.flash
    size = 20 << 30
    work = IoPattern(depth=32, region_bytes=size)
    written = predict(of(rack, "fioa"), work)
    for program, *words in (("fio-detach",), ("fio-format", "-y", "-b4096"), ("fio-attach",)):
        module.answer(program, [*words, "/dev/fct0"])
    fresh = predict(of(rack, "fioa"), work)
    assert fresh.iops > 3 * written.iops
    assert fresh.drive_busy == 0
    rack.note_written({"sdb": size})
    assert predict(of(rack, "fioa"), work) == fresh
    rack.note_written({"fioa": size})
    assert predict(of(rack, "fioa"), work) == written


def test_heads_have_a_short_way_in_a_small_region() -> None:
    assert found("md0", replace(READS, region_bytes=20 << 30)).iops > 1.5 * found("md0", READS).iops
    assert found("sdb", replace(READS, region_bytes=20 << 30)).iops == found("sdb", READS).iops
    alone = replace(WRITES, depth=1)
    assert found("md0", replace(alone, region_bytes=20 << 30)).iops > 1.5 * found("md0", alone).iops


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_four_disks_stream_nearly_four_times_as_fast_as_one(share: float) -> None:
    work = IoPattern(read_share=share, sequential=True, depth=32, sizes=((1 << 20, 1.0),))
    assert 3.9 < found("md0", work).iops / found("sdf", work).iops < 4.1


def test_a_stream_is_answered_from_the_cache_only_if_all_of_it_fits() -> None:
    fits, spills, large = (
        found("dm-1", replace(STREAM, region_bytes=size)).iops for size in (1 << 30, 3 << 29, 64 << 30)
    )
    assert fits > 1.2 * spills
    assert spills == large


def test_what_is_written_over_in_the_cache_costs_no_parity() -> None:
    assert found("dm-0", WRITES).iops > 0.5 * found("dm-0", READS).iops
    assert found("dm-1", WRITES).iops < 0.1 * found("dm-0", WRITES).iops


def test_only_random_writes_at_full_speed_come_in_bursts() -> None:
    def burst(work: IoPattern) -> float:
        written = found("fioa", work).write
        assert written is not None
        return written.burst

    assert burst(WRITES) == pytest.approx(94e6 / (5_851 * 4096), rel=0.01)
    assert burst(replace(WRITES, rate_iops=2000.0)) == 1.0
    assert burst(replace(WRITES, sequential=True)) == 1.0
    assert burst(HUGE_WRITES) < 1.5
