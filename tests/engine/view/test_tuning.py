"""How a device is tuned, in the few words of its row."""

from __future__ import annotations

from app.engine.view.tuning import tuning
from backends.settings import Reading
from backends.vendors.bcache.settings import CACHE_MODE
from backends.vendors.block.knobs import WRITE_CACHE

QUEUE = {"write_cache": (WRITE_CACHE, Reading(now="write-back"))}
"""What the kernel believes of whatever is beneath."""


def test_of_a_cached_device_the_mode_of_its_cache_counts_and_not_what_the_kernel_believes() -> None:
    assert tuning(QUEUE).write_cache.text == "back"
    assert tuning({**QUEUE, "cache_mode": (CACHE_MODE, Reading(now="write-around"))}).write_cache.text == "around"


def test_a_mode_without_a_cache_is_overruled() -> None:
    told = tuning({"cache_mode": (CACHE_MODE, Reading(now="write-back", effective="none"))}).write_cache.text
    assert told == "back ▲ none"
