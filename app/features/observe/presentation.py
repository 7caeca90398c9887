"""An observation as sentences and as JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.benchmark.device_stats.diskstats import SECTOR
from app.core.presentation import json_schema
from app.doors import FEATURES
from app.features.observe.observer import Observation
from app.features.observe.rates import DeviceActivity
from app.features.observe.waiting import Waiting
from backends.sizes import size_words
from widgets.text_utils import units

_LEAST_WAIT, _LEAST_BUSY_SHARE = 0.01, 0.8
"""Share of the time below which no process waits, and share of all busy time from which a disk is the cause."""

_LEAST_FLUSH_SHARE = 0.1
"""Mean number of flushes in flight from which flushes are the cause, if a flush takes longer than a read."""

_SMALL_READ, _LEAST_DEPTH = 16384, 4.0
"""Bytes of a small read, and the depth from which small reads are the cause, if they are most of the I/O."""

_MOST_OTHERS = 5

_RATES = (
    *("read_iops", "read_bytes_per_second", "read_latency_ns", "write_iops", "write_bytes_per_second"),
    *("write_latency_ns", "flush_iops", "flush_latency_ns", "utilisation", "queue"),
)


def observation_lines(seen: Observation) -> list[str]:
    """Return the observation as sentences: what the device did, what other disks did, who waited, and what follows."""
    others = [f"{other.device} {_rates_text(other)}" for other in seen.others if other.has_io or other.reason]
    below = f"{'Below it' if seen.is_chosen else 'Other disks'}: {units.first_of(others, _MOST_OTHERS)}."
    target, lower = seen.target, units.first_of([other.device for other in seen.others] or ["unknown"], _MOST_OTHERS)
    level = f" The disks below it ({lower}) can differ." if target.is_level and target.has_io else ""
    return [
        f"{target.device}, {units.duration(round(seen.seconds))}: {_rates_text(target)}.{_bursts_text(target)}{level}",
        *([below] if others else []),
        f"Who waits: {_waiting_text(seen.waiting)}",
        f"Next: {next_step(seen)[1]}",
    ]


def note_text(seen: Observation) -> str:
    """Return the note that records an observation in the session."""
    return "\n".join(("Observed by the kernel's counters:", *observation_lines(seen)))


def _bursts_text(activity: DeviceActivity) -> str:
    if not activity.has_io:
        return ""
    if activity.peak_time is None:
        return " Bursts: not known (too few readings)."
    answer = "no, few I/Os" if activity.bursts == "few" else activity.bursts
    return f" Bursts: {answer} (80 % of the I/Os in {units.fraction(activity.peak_time)} of the time)."


def _rates_text(activity: DeviceActivity) -> str:
    """Return rate, mean size and mean latency of reads, writes and flushes, the busy time and the depth.

    With flushes, writes are a range: an explicit flush also counts as a write, one that is part of a write does not.
    """
    rates = activity.rates
    if rates is None:
        return f"not known: {activity.reason}"
    if not activity.has_io:
        return "no I/O"
    done, data = rates.done, rates.done.sectors_written * SECTOR
    reads = f"reads {units.iops(rates.read_iops)}/s"
    if done.reads:
        reads += f" of {size_words(done.sectors_read * SECTOR // done.reads)}{_latency_text(rates.read_latency_ns)}"
    writes, low = f"{units.iops(rates.write_iops)}/s", max(0, done.writes - done.flushes)
    if low != done.writes:
        writes = f"{units.iops(low / rates.seconds)} to {writes}"
    if done.writes:
        most = "" if low == done.writes else f" to {size_words(data // low)}" if low else " or more"
        writes += f" of {size_words(data // done.writes)}{most}{_latency_text(rates.write_latency_ns)}"
    busy = f"busy {units.fraction(rates.utilisation)}, {units.three(rates.queue)} in flight"
    return f"{reads}, writes {writes}, {_flush_text(activity)}, {busy}"


def _flush_text(activity: DeviceActivity) -> str:
    if activity.rates is None or not activity.counts_flushes:
        counting = "only disks below it" if activity.is_level else "Linux before 5.5 does not"
        return f"flushes not known ({counting} count them)"
    if not activity.rates.done.flushes:
        return "no flushes"
    return f"{units.iops(activity.rates.flush_iops)} flushes/s{_latency_text(activity.rates.flush_latency_ns)}"


def _latency_text(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else f" ({units.latency(nanoseconds)})"


def _waiting_text(waiting: Waiting) -> str:
    """Return which units waited, and for how long any process did. Pressure is of all disks together."""
    if waiting.units is None:
        services = f"services not known: {waiting.units_reason}"
    else:
        shares = ", ".join(f"{name} {units.fraction(share)}" for name, share in waiting.units.items())
        services = f"{shares} of the time" if shares else "no service for 1 % of the time or longer"
        services += f" (others not known: {waiting.units_reason})" if waiting.units_reason else ""
    share = f"{units.fraction(waiting.share)} of the time" if waiting.share is not None else waiting.reason
    return f"{services}. Any process, on all disks together: {'not known: ' if waiting.reason else ''}{share}."


def next_step(seen: Observation) -> tuple[str, str]:
    """Return the rule that applies, and its sentences. Nothing is advised without the figures on which it rests.

    Rules: `unknown`, `none`, `elsewhere`, `flushes`, `background`, `small-reads`, `bursts` and `other`.
    """
    share, busy_share = seen.waiting.share, seen.busy_share
    if share is None:
        return "unknown", f"no advice, because it is not known whether processes wait: {seen.waiting.reason}."
    waits = f"processes wait {units.fraction(share)} of the time"
    if share < _LEAST_WAIT:
        return "none", f"nothing. Because {waits}, tuning a disk changes nothing that users notice."
    if seen.target.rates is None or busy_share is None:
        return "unknown", f"no advice: {waits}, but the cause is not known: {seen.target.reason or 'no disk was busy'}."
    subject = f"the disks below {seen.target.device} have" if seen.target.is_level else f"{seen.target.device} has"
    figures = f"{waits}, and {subject} {units.fraction(busy_share)} of the busy time of all disks"
    if busy_share < _LEAST_BUSY_SHARE:
        hint = " `raidbench observe` without a target lists all disks." if seen.is_chosen else ""
        return "elsewhere", f"no advice for one disk: {figures}.{hint}"
    rule, text = next(_causes(seen, seen.target))
    return rule, f"{text} This matters because {figures}."


def _causes(seen: Observation, target: DeviceActivity) -> Iterator[tuple[str, str]]:
    """Yield the rules that explain why processes wait, the most likely first, each with its figures and its advice."""
    assert target.rates is not None
    rates, done = target.rates, target.rates.done
    flushing = max((target, *(seen.others if seen.is_chosen else ())), key=lambda activity: activity.flush_share)
    flush_ns = flushing.rates.flush_latency_ns if flushing.rates is not None else None
    if flushing.flush_share >= _LEAST_FLUSH_SHARE and (flush_ns or 0.0) > (rates.read_latency_ns or 0.0):
        fit = " `raidbench fit` measures whether the disk flushes fast enough." if "fit" in FEATURES else ""
        share = units.fraction(min(1.0, flushing.flush_share))
        figures = f"{flushing.device} does {_flush_text(flushing)}, one is in flight {share} of the time"
        advice = "The write cache and the I/O scheduler can matter, read_ahead_kb cannot."
        yield "flushes", f"programs wait for flushes: {figures}. {advice}{fit}"
    if seen.background:
        yield "background", f"`raidbench check`, because background work runs ({', '.join(seen.background)})."
    size = done.sectors_read * SECTOR // done.reads if done.reads else 0
    if 2 * done.reads >= done.reads + done.writes and size <= _SMALL_READ and rates.queue >= _LEAST_DEPTH:
        figures = f"{units.iops(rates.read_iops)}/s of {size_words(size)}, {units.three(rates.queue)} in flight"
        yield "small-reads", f"small reads queue ({figures}). Compare schedulers and nr_requests with `raidbench ab`."
    if target.bursts == "yes":
        yield "bursts", f"compare settings by p99 latency with `raidbench ab`.{_bursts_text(target)}"
    yield "other", "`raidbench check` lists background work: flushes, small reads and bursts are not the cause."


def observation_json(seen: Observation) -> json_schema.Json:
    """Return the JSON body of `observe --json`. Values that are not known are null."""
    rule, _ = next_step(seen)
    body = json_schema.pick(seen, "seconds", "busy_share", "background")
    return body | {
        "target": _activity_json(seen.target),
        "others": [_activity_json(other) for other in seen.others],
        "waiting": json_schema.pick(seen.waiting, "share", "reason", "units", "units_reason"),
        "next": rule,
        "sentences": observation_lines(seen),
    }


def _activity_json(activity: DeviceActivity) -> json_schema.Json:
    rates = dict.fromkeys(_RATES) if activity.rates is None else json_schema.pick(activity.rates, *_RATES)
    unknown = {} if activity.counts_flushes else {"flush_iops": None}
    body = json_schema.pick(activity, "device", "is_level", "reason", "dispersion", "peak_time", "bursts")
    return body | rates | unknown
