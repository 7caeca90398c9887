"""What the advisor says of runs only, as rows of the table of rules."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.check.finding import Severity

_NOTE, _WARN = Severity.NOTE, Severity.WARN

RUNS: Mapping[str, tuple[Severity, str]] = {
    "page-cache": (_WARN, "the job goes through the page cache"),
    "unwritten-flash": (_WARN, "what is read was never written"),
    "policy-changed": (_WARN, "a policy changed during the run"),
    "device-busy": (_WARN, "others use the device"),
    "throttled": (_WARN, "a processor or drive slowed down for its temperature"),
    "fio-cpu-bound": (_WARN, "fio's own processor time is the limit"),
    "host-cpu-bound": (_WARN, "all processors are busy"),
    "cache-larger-than-area": (_WARN, "a cache holds what is measured"),
    "stream-bypasses-cache": (_NOTE, "a sequential job passes by the cache"),
    "writecache-fills": (_WARN, "the writecache fills up on the way"),
    "cache-cold": (_NOTE, "the cache does not hold yet what is read"),
    "zfs-sync": (_WARN, "ZFS is told not to wait, or to wait each time"),
    "rate-not-held": (_WARN, "the asked-for rate was not reached"),
    "depth-not-kept": (_WARN, "fewer I/Os were under way than asked for"),
    "not-steady": (_WARN, "the figures still move"),
    "sync-depth": (_WARN, "a synchronous engine keeps one I/O under way"),
    "same-blocks": (_WARN, "all jobs use the same blocks"),
    "same-seed": (_NOTE, "all runs use the same blocks in the same order"),
    "member-imbalance": (_WARN, "one member holds the others up"),
    "sector-misaligned": (_WARN, "I/Os begin inside a sector"),
    "stripe-read-modify-write": (_NOTE, "writes are parts of a stripe"),
    "zfs-block-size": (_NOTE, "I/Os are smaller than ZFS's blocks"),
    "zfs-compression": (_NOTE, "ZFS compresses, and fio's data cannot be"),
    "cache-not-full": (_WARN, "the first writes went into an empty cache"),
    "depth-beyond-device": (_NOTE, "more I/Os are under way than the device takes"),
    "too-short": (_WARN, "the run is too short"),
    "few-ios": (_WARN, "too few I/Os for a percentile"),
    "random-map": (_NOTE, "fio's map of blocks costs time"),
    "long-steady": (_NOTE, "the figures were steady long before the end"),
}
"""Severity and a line by the advisor's key; docs/advice.md has each with its source."""
