"""Advice rules about the array, its cache and its queue."""

from __future__ import annotations

from app.core.benchmark.conditions.facts import ARC, RunFacts
from app.core.benchmark.device_stats.sampler import ENOUGH_IOPS, UNEVEN
from app.core.fio.sizes import format_size
from app.core.session.results import Advice, MemberStats
from app.features.advice.cache_rules import is_served_by_cache
from app.features.advice.stripe_cost import StripeCost, stripe_cost
from backends.model import Level, Media
from backends.sizes import exact_text, size_words
from widgets.text_utils import units

CACHE_FACTOR = 4
"""Minimum ratio of the measured area to the cache size at which cache hits have little effect on the results."""

TURNED_OVER = 2
"""The cache counts as full when the ramp has written this many times the size of the cache."""

PARTIAL_SHARE = 0.01
"""Advice is given if at least this share of the bytes goes into partial stripes."""

SLOWER = 3.0
"""Advice is given if an I/O on the slowest member takes at least this many times as long as on the fastest."""

MOSTLY_READS = 0.05
"""Advice is given if a write-mostly member serves more than this share of the reads."""

_MIRRORED = (Level.RAID1, Level.RAID10)
_LOOK = "Compare the results of the members. The busiest member limits the array."

_WRITES_BACK = ("write-back", "always-write-back")
_FLASH = {Media.SSD: "flash", Media.NVME: "flash", Media.VIRTUAL: "a virtual disk"}


def unwritten_flash(facts: RunFacts) -> Advice | None:
    """Return advice if the run reads, or may read, unwritten blocks. Such reads do not access the flash."""
    upstream = facts.upstream_cache  # behind a flash cache, the device may be a hard disk
    if not facts.job.reads or facts.written is True:
        return None
    if facts.written is False:
        subject = f"{'Parts of ' if facts.scratch else ''}{facts.name} were never written"
        subject = subject if facts.scratch else f"{facts.name} was created again and has not been written since"
    elif (
        facts.media in _FLASH and not facts.content and not facts.scratch and (upstream is None or upstream.kind == ARC)
    ):
        subject = f"{facts.name} may never have been written"
    else:
        return None
    answer = "The filesystem returns zeros" if facts.scratch else "The device reads no flash"
    return Advice(
        key="unwritten-flash",
        message=f"{subject}. {answer} for reads of unwritten blocks, so the results are too fast.",
        do="Before you measure reads, write the whole area once (sequential write of 128k or 4M blocks without a"
        " time limit).",
    )


def cache_larger_than_area(facts: RunFacts) -> Advice | None:
    """Return advice if a cache holds all or a large part of the measured area."""
    area, upstream = facts.area_bytes, facts.upstream_cache
    cache = facts.cache_bytes if upstream is None else upstream.size_bytes
    if not area or not cache or area >= CACHE_FACTOR * cache:
        return None
    if not (facts.job.direct and _is_cached(facts) if upstream is None else is_served_by_cache(facts)):
        return None
    part = "all of it" if area <= cache else f"{units.fraction(cache / area)} of it"
    text = "the controller's cache" if upstream is None else upstream.name_text
    memory = upstream is not None and upstream.kind == ARC
    tail = " Before OpenZFS 2.3, direct I/O does not bypass it." if memory and facts.job.direct else ""
    less = ", limit zfs_arc_max" if memory else ""
    return Advice(
        key="cache-larger-than-area",
        message=f"The area of {size_words(area)} is small compared to {text} of {size_words(cache)}, which can hold"
        f" {part}.{tail}",
        do=f"Use an area of at least {size_words(CACHE_FACTOR * cache)}{less}, or report the result as cache"
        " performance.",
    )


def _is_cached(facts: RunFacts) -> bool:
    """Return whether the controller caches the I/O of this job, judging by the settings that were read."""
    now = {key: policy.in_force for key, policy in facts.before.policies.items()}
    if "write_cache" not in now and "read_ahead" not in now:
        return bool(now)  # other settings do not rule out a cache; if none were read, do not assume one
    reads = now.get("io_policy") == "cached" or now.get("read_ahead") not in ("none", None)
    writes = now.get("write_cache") in _WRITES_BACK
    return (facts.job.reads and reads) or (facts.job.writes_data and writes)


def cache_not_full(facts: RunFacts) -> Advice | None:
    """Return advice if the ramp was too short to fill a write-back cache, so that it absorbed measured writes."""
    cache, done = facts.cache_bytes, facts.measured
    policy = facts.before.policies.get("write_cache")
    if not cache or done is None or not done.ended or policy is None or not facts.job.writes_data:
        return None
    moved = done.ramp_bytes
    if policy.in_force not in _WRITES_BACK or moved >= TURNED_OVER * cache or not done.written_bytes:
        return None
    return Advice(
        key="cache-not-full",
        message=f"The ramp wrote {size_words(moved)}, less than twice the write cache of {size_words(cache)}. The"
        " first measured writes went into an empty cache.",
        do=f"Lengthen the ramp until it writes {size_words(TURNED_OVER * cache)}.",
    )


def stripe_read_modify_write(facts: RunFacts) -> Advice | None:
    """Return advice if writes to a parity array do not fill whole stripes."""
    job, array = facts.job, facts.array
    if not job.writes_data or not job.direct or array is None or not array.parity:
        return None
    if array.strip_bytes is None or array.data_drives is None:
        return None
    strip, data = array.strip_bytes, array.data_drives
    align = job.blockalign or min(job.block_sizes)
    split = job.shares if job.bs_write is None else ((job.bs_write, 100),)
    sizes = [size for size, percent in split if percent]
    costs = [(stripe_cost(s, align, strip=strip, data=data, parity=array.parity), p / 100) for s, p in split if p]
    share = sum(cost.partial_share * weight for cost, weight in costs)
    if share < PARTIAL_SHARE:
        return None
    stripe = f"a full stripe is {exact_text(strip * data)} ({data} x {exact_text(strip)})"
    stripe_costs = [cost for cost, _ in costs]
    cost_text = _one_size_text(stripe_costs[0], sizes[0]) if len(costs) == 1 else _mixed_sizes_text(stripe_costs, share)
    gathered = " Unless a cache merges the writes," if job.sequential and max(sizes) < strip * data else ""
    tail = " the rest of each stripe is read first." if gathered else ""
    return Advice(
        key="stripe-read-modify-write",
        message=f"On {array.level.value.upper()} {stripe}: {cost_text}{gathered}{tail}",
        do="This is normal for small writes. To measure full-stripe writes, write multiples of"
        f" {exact_text(strip * data)}, or match the strip size to the block size.",
    )


def _one_size_text(cost: StripeCost, size: int) -> str:
    """Return a sentence with the cost of writes that all have the same size."""
    block = format_size(size)
    if not cost.full_stripes:
        return f"every write of {block} is a partial stripe and costs at least {cost.member_ios:.0f} member I/Os."
    return (
        f"a write of {block} is {size / cost.stripe_bytes:.2f} full stripes. It touches"
        f" {units.three(cost.touched_stripes)} stripes, {units.three(cost.partial)} of them partially."
        f" {units.fraction(cost.partial_share)} of the bytes need a read first: at least {cost.member_ios:.0f}"
        f" member I/Os instead of {cost.ideal_ios:.0f}."
    )


def _mixed_sizes_text(costs: list[StripeCost], share: float) -> str:
    least, most = min(c.member_ios for c in costs), max(c.member_ios for c in costs)
    return (
        f"{units.fraction(share)} of the bytes go into partial stripes. Depending on its size, a write costs at least"
        f" {least:.0f} to {most:.0f} member I/Os."
    )


def depth_beyond_device(facts: RunFacts) -> Advice | None:
    """Return advice if the job keeps more I/Os in flight than the device accepts."""
    queue = facts.job.queue
    if facts.queue_limit is None or queue <= facts.queue_limit or not facts.job.direct:
        return None
    return Advice(
        key="depth-beyond-device",
        message=f"The job keeps {queue} I/Os in flight, but the device accepts {facts.queue_limit} at a time"
        f" ({facts.queue_limit_source}). The others wait in the kernel, which adds to the latency.",
        do=f"Reduce the queue depth times the number of jobs to {facts.queue_limit}, "
        "or raise the queue depth of the device.",
    )


def member_imbalance(facts: RunFacts) -> Advice | None:
    """Return advice if the load on the members is uneven, or if one of them is much slower than the others."""
    members = [m for m in facts.measured.members if m.depth == 0] if facts.measured is not None else []
    if sum(_iops(member) for member in members) < ENOUGH_IOPS:
        return None
    plain = [member for member in members if not member.role and member.read_iops is not None]
    message, do = _write_mostly_text(members) or _slowest_text(plain), _LOOK
    mirrored = facts.array is not None and facts.array.level in _MIRRORED
    if not message and (message := _uneven_text(plain, "reads")) and mirrored:
        message += " Each read uses only one copy, so other members may be idle."
        do = "To use all copies, run more jobs, or use RAID 10 with layout f2 (sequential reads use all drives)."
    message = message or _uneven_text(plain, "writes")
    return Advice(key="member-imbalance", message=message, do=do) if message else None


def _write_mostly_text(members: list[MemberStats]) -> str:
    for member in members:
        share = member.share_of_reads
        if member.role == "write-mostly" and share is not None and share > MOSTLY_READS:
            return (
                f"{member.device} is marked write-mostly, but serves {units.fraction(share)} of the reads. The flag"
                " has no effect at this RAID level."
            )
    return ""


def _slowest_text(members: list[MemberStats]) -> str:
    """Return a sentence if I/Os on the slowest member take `SLOWER` times as long as on the fastest; "" otherwise."""
    timed = [(wait, member) for member in members if (wait := _wait(member)) is not None]
    if len(timed) < 2:
        return ""
    fast, fastest = min(timed, key=lambda pair: pair[0])
    slow, slowest = max(timed, key=lambda pair: pair[0])
    if slow < SLOWER * fast:
        return ""
    return (
        f"{slowest.device} is slower than the other members: {units.latency(slow)} per I/O"
        f" ({units.fraction(slowest.utilisation)} busy), against {units.latency(fast)} on {fastest.device}"
        f" ({units.fraction(fastest.utilisation)} busy). It limits the array."
    )


def _uneven_text(members: list[MemberStats], direction: str) -> str:
    """Return a sentence if one member has far more or fewer I/Os than the mean of all members; "" otherwise.

    `direction`: `reads` or `writes`. The limits are the mean times `UNEVEN`, and the mean divided by `UNEVEN`.
    """
    shares = [
        (member.share_of_reads if direction == "reads" else member.share_of_writes, member.device) for member in members
    ]
    reported = [(share, device) for share, device in shares if share is not None]
    if len(members) < 2 or len(reported) < len(members):
        return ""
    even = sum(share for share, _ in reported) / len(reported)
    (least, idle), (most, busy) = min(reported), max(reported)
    if even and (most > UNEVEN * even or least < even / UNEVEN):
        return f"{busy} serves {units.fraction(most)} of the {direction}, {idle} only {units.fraction(least)}."
    return ""


def _iops(member: MemberStats) -> float:
    return (member.read_iops or 0.0) + (member.write_iops or 0.0)


def _wait(member: MemberStats) -> float | None:
    """Return the mean time of an I/O on a member in nanoseconds, by Little's law; None if there are too few I/Os."""
    iops = _iops(member)
    return member.queue / iops * 1e9 if member.queue and iops >= ENOUGH_IOPS else None
