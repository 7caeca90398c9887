"""By which words a thing is found, and what it is called in a list."""

from __future__ import annotations

import pytest

from backends.display_names import addresses, find_by_name, is_path, name_of
from backends.model import Array, Controller, Drive, Inventory, Scope, Target
from tests.case_loop import loop_over

CARD = Controller(target=Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER), vendor="megaraid")
SSD = Array(
    target=Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY),
    controller=CARD.target,
    name="ssd",
    device="/dev/sdb",
)
VOLUME = Array(
    target=Target(backend="lvm", address="vg0/db", scope=Scope.ARRAY),
    name="vg0/db",
    device="/dev/dm-3",
    link="/dev/vg0/db",
)
MD = Array(target=Target(backend="md", address="md0", scope=Scope.ARRAY), name="apricot:md0", device="/dev/md0")
BAY = Drive(target=Target(backend="megaraid", address="/c0/e245/s1"), controller=CARD.target)
PATHS = ("/dev/sdg", "/dev/sdi")


def pathed(backend: str, node: str) -> Drive:
    """A disk of two paths by one of them."""
    return Drive(target=Target(backend=backend, address=node.removeprefix("/dev/")), device=node, paths=PATHS)


FOUND = Inventory(
    controllers=(CARD,),
    arrays=(SSD, VOLUME, MD),
    drives=(
        Drive(target=Target(backend="block", address="sdb"), device="/dev/sdb"),
        BAY,
        *(pathed(backend, node) for backend in ("block", "scsi") for node in PATHS),
    ),
)


def test_a_thing_is_called_as_administrators_call_it() -> None:
    assert [name_of(one) for one in (CARD, SSD, VOLUME, MD, BAY)] == ["c0", "ssd", "vg0/db", "md0", "e245:s1"]


@pytest.mark.parametrize("word", ["lvm:vg0/db", "block:dm-3", "/dev/dm-3", "/dev/vg0/db"])
def test_a_volume_is_found_by_every_address_that_it_has(word: str) -> None:
    assert FOUND.find(word) == VOLUME


def test_the_kernels_number_is_no_name() -> None:
    assert find_by_name(FOUND, "dm-3") == ()
    assert find_by_name(FOUND, "ssd") == (SSD,)


def test_all_addresses_of_a_device_are_told_its_own_first() -> None:
    assert addresses(FOUND, SSD) == ("megaraid:/c0/v1", "block:sdb")
    assert addresses(FOUND, VOLUME) == ("lvm:vg0/db", "block:dm-3")
    (shown,) = find_by_name(FOUND, "sdg")
    assert addresses(FOUND, shown) == ("scsi:sdg", "block:sdg", "scsi:sdi", "block:sdi")
    assert all(FOUND.find(one) is not None for one in addresses(FOUND, shown))


@loop_over(
    ("text", "path"),
    [
        ("/srv", True),
        ("./scratch", True),
        ("~/x", True),
        ("/dev/sda", False),
        ("/c0/v1", False),
        ("/slot0/ld1", False),
        ("vg0/mail", False),
        ("megaraid:/c0/v1", False),
        ("sda", False),
    ],
)
def test_what_is_written_as_a_path_is_no_device(text: str, path: bool) -> None:
    assert is_path(text) is path
