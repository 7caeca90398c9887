"""Simulated bcache device: its sysfs files as in Linux 6.1, and the effect of writes to them."""

from __future__ import annotations

import re
from dataclasses import field

from backends.simulator.caches import CacheCounts
from backends.simulator.tool_output import invalid_argument
from backends.values import dataclass

_MOST = (1 << 32) - 1

BLOCK_BYTES = 4096
"""Block size in the superblock, which is the smallest I/O size of the device, in bytes."""

_NUMBERS = {
    "sequential_cutoff": (4 << 20, 0, _MOST),
    "writeback_percent": (10, 0, 40),
    "writeback_delay": (30, 0, _MOST),
    "writeback_running": (1, 0, 1),
    "writeback_rate_update_seconds": (5, 1, 60),
    "writeback_rate_minimum": (8, 1, _MOST),
    "congested_read_threshold_us": (2000, 0, _MOST),
    "congested_write_threshold_us": (20_000, 0, _MOST),
}
"""Default, minimum and maximum of each numeric setting. The kernel silently clamps other values
(drivers/md/bcache/sysfs.c)."""

_OF_SET = ("congested_read_threshold_us", "congested_write_threshold_us")

_WORDS = {
    "cache_mode": ("writethrough", "writeback", "writearound", "none"),
    "readahead_cache_policy": ("all", "meta-only"),
    "cache_replacement_policy": ("lru", "fifo", "random"),
}
"""Legal values of each setting with named values, the default first. Cache mode and replacement policy are stored in
the superblocks."""

_STORED = ("cache_mode", "cache_replacement_policy")


@dataclass(slots=True, kw_only=True)
class BcacheDevice:
    """One bcache device with its cache."""

    name: str
    """Kernel name such as `bcache0`."""
    backing: str
    """Kernel name of the backing disk."""
    cache: str
    """Kernel name of the cache disk, the only one in its cache set."""
    uuid: str
    """UUID of the backing device."""
    set_uuid: str
    """UUID of the cache set."""
    state: str = "clean"
    """`clean`, `inconsistent` or `no cache`. A clean device with unwritten data reports `dirty`."""
    values: dict[str, str] = field(default_factory=dict)
    """Changed settings, by file name."""

    @property
    def attached(self) -> bool:
        """True if a cache is attached to the device."""
        return self.state != "no cache"

    @property
    def mode(self) -> str:
        """Effective cache mode; `none` if no cache is attached, so that writes go to the backing disk."""
        return self.word("cache_mode") if self.attached else "none"

    def word(self, key: str) -> str:
        """Return the effective value of a setting with named values."""
        return self.values.get(key, _WORDS[key][0])

    def number(self, key: str) -> int:
        """Return the effective value of a numeric setting."""
        return int(self.values.get(key, _NUMBERS[key][0]))

    def files(self, counts: CacheCounts) -> dict[str, str]:
        """Return the files of the device's `bcache` folder, by name. `counts`: contents and counters of the cache."""
        settings = {key: str(self.number(key)) for key in _NUMBERS if key not in _OF_SET}
        # The kernel prints this size in a short format such as `4.0M`, but accepts bytes.
        settings["sequential_cutoff"] = human(self.number("sequential_cutoff"))
        settings |= {key: _choice(self.word(key), _WORDS[key]) for key in ("cache_mode", "readahead_cache_policy")}
        # The hit counters of bcache count only reads (request.c, cached_dev_read_done_bh).
        hits, misses = int(counts.read_hits), int(counts.read_misses)
        counted = {
            "cache_hits": hits,
            "cache_misses": misses,
            "cache_bypass_hits": int(counts.bypass_hits),
            "cache_bypass_misses": int(counts.bypass_misses),
            "cache_hit_ratio": 100 * hits // (hits + misses) if hits + misses else 0,
        }
        return {
            **settings,
            **{f"stats_total/{key}": str(value) for key, value in counted.items()},
            "stats_total/bypassed": human(int(counts.bypassed_bytes)),
            "state": "dirty" if self.state == "clean" and counts.dirty_bytes >= 1 else self.state,
            "running": "1",
            "dirty_data": human(int(counts.dirty_bytes)),
            "backing_dev_name": self.backing,
            "backing_dev_uuid": self.uuid,
        }

    def set_files(self) -> dict[str, str]:
        """Return the files in the folder of the device's cache set, by name."""
        return {
            **{key: str(self.number(key)) for key in _OF_SET},
            "block_size": human(BLOCK_BYTES),
            "bucket_size": "512.0k",
            "cache_available_percent": "100",
            "cache0/cache_replacement_policy": _choice(
                self.word("cache_replacement_policy"), _WORDS["cache_replacement_policy"]
            ),
        }

    def write(self, key: str, text: str) -> None:
        """Write `text` to the file `key` of device or cache set. Raises ToolFailedError if the kernel refuses it."""
        name = key.rpartition("/")[2]
        if name in _WORDS and text in _WORDS[name]:
            self.values[name] = text
        elif name in _NUMBERS and re.fullmatch(r"\d{1,19}", text):
            _, low, high = _NUMBERS[name]
            self.values[name] = str(min(max(int(text), low), high))
        else:
            raise invalid_argument(text)

    def restart(self) -> None:
        """Reboot: reset settings that are not stored in a superblock."""
        self.values = {key: value for key, value in self.values.items() if key in _STORED}


def human(value: int) -> str:
    """Return a size as bcache prints it: up to three digits and one decimal, truncated (util.c, bch_hprint)."""
    unit = 0
    while True:
        unit += 1
        rest, value = value & 1023, value >> 10
        if value < 1000:
            return f"{value}.{rest * 10 // 1024}{'?kMGTPEZY'[unit]}"


def _choice(word: str, choices: tuple[str, ...]) -> str:
    """Return the legal values `choices` of a setting as one string, with the effective value `word` in brackets."""
    return " ".join(f"[{name}]" if name == word else name for name in choices)
