"""Table of all rules: those that the check applies to a snapshot, and those of the advisor, which need a run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.features.advice.rules import KEYS
from app.features.check import controller_rules, health_rules, layout_rules, link_rules, queue_rules, stack_rules
from app.features.check.finding import NOTE, WARN, Rule, Severity

_MODULES = (health_rules, controller_rules, layout_rules, queue_rules, stack_rules, link_rules)

_FIRST = """
array-degraded drive-failed drive-failing drive-warns array-blocks-lost battery-failed flushes-off barriers-off
sync-off pool-data-errors group-incomplete filesystem-errors nvme-down card-memory-errors policy-not-in-force
battery-replace drive-cache-unprotected drive-unusable drive-locked drive-foreign drive-errors drive-other-errors
drive-worn drive-hot array-mismatches pool-filling wwn-shared pcie-link-slow irq-one-cpu irq-far misaligned
stack-misaligned fs-stripe-other ashift-small sector-format-slow scheduler-unfit queue-smaller no-queueing trim-lost
cache-dirty cache-bypassed one-path path-dead rebuild-paused card-hot battery-hot write-throttled pool-errors
md-member-errors array-read-only md-no-bitmap md-resync-slow drive-link-slow queue-tiny requests-small merges-off
background-task battery-learning writes-always-cached drive-throttled stripe-misaligned fs-stripe-unset
volblocksize-small md-bitmap-fine md-stripe-cache md-journal-through drive-copyback rebuild-rate-high
read-ahead-small read-ahead-large card-read-ahead one-queue power-state governor io-capped discard-twice path-policy
firmware-mixed
"""
"""Rule ids in the order in which findings of the same severity are shown. Rules that are not listed come last."""

_RUNS: Mapping[str, tuple[Severity, str]] = {
    "page-cache": (WARN, "the job goes through the page cache"),
    "unwritten-flash": (WARN, "reads hit blocks that were never written"),
    "policy-changed": (WARN, "a setting changed during the run"),
    "device-busy": (WARN, "other programs use the device"),
    "throttled": (WARN, "a CPU or drive throttled because of its temperature"),
    "fio-cpu-bound": (WARN, "the CPU time of fio is the limit"),
    "host-cpu-bound": (WARN, "all CPUs are busy"),
    "cache-larger-than-area": (WARN, "a cache holds the measured area"),
    "stream-bypasses-cache": (NOTE, "a sequential job bypasses the cache"),
    "writecache-fills": (WARN, "the writecache fills up during the run"),
    "cache-cold": (NOTE, "the cache is still cold"),
    "zfs-sync": (WARN, "ZFS syncs no writes, or all of them"),
    "rate-not-held": (WARN, "the requested rate was not reached"),
    "depth-not-kept": (WARN, "fewer I/Os were in flight than requested"),
    "not-steady": (WARN, "the results are not steady"),
    "sync-depth": (WARN, "a synchronous engine keeps one I/O in flight"),
    "same-blocks": (WARN, "all jobs use the same blocks"),
    "same-seed": (NOTE, "all runs use the same blocks in the same order"),
    "member-imbalance": (WARN, "one member limits the array"),
    "sector-misaligned": (WARN, "I/Os begin inside a sector"),
    "stripe-read-modify-write": (NOTE, "writes do not fill whole stripes"),
    "zfs-block-size": (NOTE, "I/Os are smaller than the ZFS blocks"),
    "zfs-compression": (NOTE, "ZFS compresses, but the data of fio is incompressible"),
    "cache-not-full": (WARN, "the first measured writes went into an empty cache"),
    "depth-beyond-device": (NOTE, "more I/Os are in flight than the device accepts"),
    "too-short": (WARN, "the run is too short"),
    "few-ios": (WARN, "too few I/Os for a percentile"),
    "random-map": (NOTE, "fio's random map costs time"),
    "long-steady": (NOTE, "the results were steady long before the end"),
}
"""Severity and summary of each rule of the advisor, by its key. docs/advice.md gives the sources."""


def _at_rest() -> dict[str, Rule]:
    """Return the rules that need no run, by id, in the order of `_FIRST`."""
    rules = {rule.id: rule for module in _MODULES for rule in vars(module).values() if isinstance(rule, Rule)}
    return {id: rules[id] for id in dict.fromkeys((*_FIRST.split(), *rules))}


RULES: Mapping[str, Rule] = MappingProxyType(
    _at_rest()
    | {
        key: Rule(id=key, severity=_RUNS[key][0], what=_RUNS[key][1], source="docs/advice.md")
        for key in KEYS
        if key in _RUNS
    }
)
"""All rules by id. Rules that need no run come first."""
