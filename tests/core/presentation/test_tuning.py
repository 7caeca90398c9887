"""How a device is tuned, in the few words of its row."""

from __future__ import annotations

from app.core.presentation.setting import tuning_cells
from backends.settings import Reading
from backends.vendors.bcache.settings import CACHE_MODE
from backends.vendors.block.settings import WRITE_CACHE
from backends.vendors.lvm.settings import READ_AHEAD, STRIPE_SIZE
from backends.vendors.zfs.settings import COMPRESSION, SYNC

QUEUE = {"write_cache": (WRITE_CACHE, Reading(now="write-back"))}
"""What the kernel believes of whatever is beneath."""


def test_of_a_cached_device_the_mode_of_its_cache_counts_and_not_what_the_kernel_believes() -> None:
    assert tuning_cells(QUEUE).write_cache.text == "back"
    assert tuning_cells({**QUEUE, "cache_mode": (CACHE_MODE, Reading(now="write-around"))}).write_cache.text == "around"


def test_a_mode_without_a_cache_is_overruled() -> None:
    told = tuning_cells({"cache_mode": (CACHE_MODE, Reading(now="write-back", effective="none"))}).write_cache.text
    assert told == "back ▲none"


def test_of_what_is_inherited_the_value_in_force_is_told() -> None:
    inherited = Reading(now="inherit", effective="standard", follows=True)
    told = tuning_cells({"sync": (SYNC, inherited), "compression": (COMPRESSION, Reading(now="lz4"))})
    assert told.others == "sync standard, compression lz4"


def test_a_volume_of_lvm_tells_its_own_read_ahead_and_stripe_size() -> None:
    own = {"lv_read_ahead": (READ_AHEAD, Reading(now="none")), "stripe_size": (STRIPE_SIZE, Reading(now="65536"))}
    told = tuning_cells(own)
    assert (told.read_ahead.text, told.strip.text) == ("none", "64K")
