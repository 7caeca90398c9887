"""What is told of controllers, arrays and drives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation.device import count_texts, device_facts, kind_text, state_cell, values_in_force
from app.core.presentation.device_table import devices_table
from app.core.presentation.device_tree import DeviceTreeNode
from app.core.presentation.table import Cell, StatusSymbol, Tone, text_of
from backends.identity import Signature, Use
from backends.model import (
    Array,
    Controller,
    Drive,
    Fact,
    Feature,
    Inventory,
    Level,
    Media,
    Protection,
    Scope,
    State,
    Target,
    Task,
)
from backends.settings import Reading
from tests.case_loop import loop_over

CARD = Controller(
    target=Target(backend="mega", address="/c0", scope=Scope.CONTROLLER),
    vendor="mega",
    model="LSI 9361",
    firmware="24.21",
    pci="0000:03:00.0",
    protection=Protection(kind="bbu", state="failed"),
    facts=(Fact(label="PCI address", value="03:00.0"), Fact(label="Alarm", value="off")),
)
VOLUME = Array(
    target=Target(backend="mega", address="/c0/v0", scope=Scope.ARRAY),
    controller=CARD.target,
    name="data",
    level=Level.RAID5,
    state=State.DEGRADED,
    size_bytes=64 << 20,
    strip_bytes=64 << 10,
    data_drives=2,
    device="/dev/sda",
    tasks=(Task(kind="rebuild", progress=0.37),),
)
DISK = Drive(
    target=Target(backend="mega", address="/c0/s1"),
    controller=CARD.target,
    array=VOLUME.target,
    model="SM883",
    media=Media.SSD,
    interface="sata",
    state=State.FAILED,
)
RACK = Inventory(controllers=(CARD,), arrays=(VOLUME,), drives=(DISK,))


def told(thing: Controller | Array | Drive) -> dict[str, str]:
    return {fact.label: fact.value for group in device_facts(thing) for fact in group.facts}


def column(key: str) -> list[str]:
    return [text_of(row.cells[0]) for row in devices_table(RACK).only(key).rows]


def test_members_hang_below_their_array_and_arrays_below_their_controller() -> None:
    assert [(row.key, row.depth) for row in devices_table(RACK).rows] == [
        ("mega:/c0", 0),
        ("mega:/c0/v0", 1),
        ("mega:/c0/s1", 2),
    ]


def test_everything_is_told_how_it_is() -> None:
    assert column("state") == ["battery failed", "rebuild 37 %", "failed"]


def test_an_array_has_a_level_and_a_drive_a_kind() -> None:
    assert (column("level"), column("kind")) == (["", "raid5", ""], ["controller", "", "sata ssd"])


@pytest.mark.parametrize(
    ("interface", "media", "words"),
    [
        ("nvme", Media.NVME, "nvme"),
        ("sata", Media.SSD, "sata ssd"),
        ("virtio", Media.VIRTUAL, "virtio"),
        (None, Media.HDD, "hdd"),
        (None, Media.UNKNOWN, "unknown"),
    ],
)
def test_a_kind_is_not_said_twice(interface: str | None, media: Media, words: str) -> None:
    assert kind_text(Drive(target=DISK.target, interface=interface, media=media)) == words


def test_a_card_without_battery_says_so() -> None:
    bare = Controller(target=CARD.target, vendor="mega", protection=Protection(kind="none", state="missing"))
    assert state_cell(DeviceTreeNode(device=bare)).text == "no battery"


def test_what_a_member_does_says_more_than_that_it_is_there() -> None:
    online = Drive(target=DISK.target, state=State.ONLINE)
    assert state_cell(DeviceTreeNode(device=online, role="faulty")) == Cell("faulty", Tone.BAD, StatusSymbol.FAILED)


@loop_over("state", list(State))
def test_every_state_has_a_sign(state: State) -> None:
    assert state_cell(DeviceTreeNode(device=Drive(target=DISK.target, state=state))).mark is not None


def test_each_kind_is_counted_and_none_is_not_told() -> None:
    assert count_texts(Inventory(arrays=(VOLUME,), drives=(DISK, Drive(target=CARD.target)))) == ("1 array", "2 drives")


def test_facts_name_what_lies_on_a_drive() -> None:
    marked = Drive(target=DISK.target, signatures=(Signature(kind="ext4", label="home", part="sda1"),))
    group = next(group for group in device_facts(marked) if group.heading == "Content")
    assert "home" in group.facts[0].value


def test_what_uses_a_drive_wants_attention() -> None:
    used = Drive(target=DISK.target, uses=(Use(kind="mount", detail="mounted on /srv", part="sda1"),))
    group = next(group for group in device_facts(used) if group.heading == "In use")
    assert [(fact.value, fact.tone) for fact in group.facts] == [("sda1: mounted on /srv", Tone.ATTENTION)]


def test_an_array_tells_its_full_stripe() -> None:
    assert told(VOLUME)["Full stripe"] == "128 KiB (2 x 64 KiB)"


def test_a_cards_place_is_told_once() -> None:
    assert [fact.value for group in device_facts(CARD) for fact in group.facts if fact.label == "PCI address"] == [
        CARD.pci
    ]


def test_unknown_facts_are_left_out() -> None:
    assert "Serial" not in told(DISK)


def test_a_card_tells_its_cache_and_what_was_activated_on_it() -> None:
    card = replace(CARD, cache_bytes=1 << 30, features=(Feature(name="FastPath", state="active"),))
    assert (told(card)["Cache"], told(card)["FastPath"]) == ("1 GiB", "active")


def test_a_drive_tells_its_size() -> None:
    assert told(replace(DISK, size_bytes=256 << 30))["Size"] == "256 GiB"


def test_an_array_that_is_rebuilt_is_marked_busy_and_one_that_only_lacks_a_drive_is_not() -> None:
    marks = [state_cell(DeviceTreeNode(device=array)).mark for array in (VOLUME, replace(VOLUME, tasks=()))]
    assert (marks[0], marks[1] is StatusSymbol.BUSY) == (StatusSymbol.BUSY, False)


def test_of_what_is_set_and_not_in_force_the_latter_counts() -> None:
    readings = {
        "write_cache": ("Write cache", Reading(now="write-back", effective="write-through")),
        "read_ahead": ("Read-ahead", Reading(now="none")),
        "io_policy": ("I/O policy", Reading(now="unknown")),
    }
    assert values_in_force(readings) == {"write_cache": "write-through", "read_ahead": "none"}


def test_the_state_of_a_drive_is_a_fact() -> None:
    assert told(DISK)["State"] == "failed"
