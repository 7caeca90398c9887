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
"""Area size as a multiple of the cache size from which cache hits matter little."""

TURNED_OVER = 2
"""Multiple of the cache size that the ramp has to write before the cache is full."""

PARTIAL_SHARE = 0.01
"""Share of the bytes that go into partial stripes from which advice is given."""

SLOWER = 3.0
"""Ratio of the slowest member's I/O time to the fastest member's from which advice is given."""

MOSTLY_READS = 0.05
"""Share of the reads that a write-mostly member may serve without advice."""

_MIRRORED = (Level.RAID1, Level.RAID10)
_LOOK = "Look at the members' figures: the array is no faster than its busiest member allows."

_WRITES_BACK = ("write-back", "always-write-back")
_FLASH = {Media.SSD: "flash", Media.NVME: "flash", Media.VIRTUAL: "a virtual disk"}


def unwritten_flash(facts: RunFacts) -> Advice | None:
    """Return advice if the run reads blocks that were never written: the flash is not read for them."""
    front = facts.front  # a flash cache says nothing about the device behind it
    if not facts.job.reads or facts.written is True:
        return None
    if facts.written is False:
        subject = f"{'Parts of ' if facts.scratch else ''}{facts.name} were never written"
        subject = subject if facts.scratch else f"{facts.name} was created again and has not been written since"
    elif facts.media in _FLASH and not facts.content and not facts.scratch and (front is None or front.kind == ARC):
        subject = f"Nothing is known to lie on {facts.name}"
    else:
        return None
    answer = "with zeros by the filesystem" if facts.scratch else "without a look at the flash"
    return Advice(
        key="unwritten-flash",
        message=f"{subject}: blocks never written are answered {answer}, and too fast.",
        do="Write the whole area once before reading it (4M or 128k sequential write, no time limit).",
    )


def cache_larger_than_area(facts: RunFacts) -> Advice | None:
    """Return advice if a cache holds all or a large part of the measured area."""
    area, front = facts.area_bytes, facts.front
    cache = facts.cache_bytes if front is None else front.size_bytes
    if not area or not cache or area >= CACHE_FACTOR * cache:
        return None
    if not (facts.job.direct and _is_cached(facts) if front is None else is_served_by_cache(facts)):
        return None
    part = "all of it" if area <= cache else f"{units.fraction(cache / area)} of it"
    text = "the controller's cache" if front is None else front.words
    memory = front is not None and front.kind == ARC
    tail = " Direct I/O does not pass by it before OpenZFS 2.3." if memory and facts.job.direct else ""
    less = ", limit zfs_arc_max" if memory else ""
    return Advice(
        key="cache-larger-than-area",
        message=f"The area of {size_words(area)} is small against {text} of {size_words(cache)},"
        f" which can hold {part}.{tail}",
        do=f"Use {size_words(CACHE_FACTOR * cache)} or more{less}, or say that it is the cache that is measured.",
    )


def _is_cached(facts: RunFacts) -> bool:
    """Return whether the controller caches this job's I/O, as far as its settings are known."""
    now = {key: policy.in_force for key, policy in facts.before.policies.items()}
    if "write_cache" not in now and "read_ahead" not in now:
        return bool(now)  # the settings were read and have no cache policy; without a reading no advice is given
    reads = now.get("io_policy") == "cached" or now.get("read_ahead") not in ("none", None)
    writes = now.get("write_cache") in _WRITES_BACK
    return (facts.job.reads and reads) or (facts.job.writes_data and writes)


def cache_not_full(facts: RunFacts) -> Advice | None:
    """Return advice if a write-back cache absorbed the first measured writes at its own speed."""
    cache, done = facts.cache_bytes, facts.measured
    policy = facts.before.policies.get("write_cache")
    if not cache or done is None or not done.ended or policy is None or not facts.job.writes_data:
        return None
    moved = done.ramp_bytes
    if policy.in_force not in _WRITES_BACK or moved >= TURNED_OVER * cache or not done.written_bytes:
        return None
    return Advice(
        key="cache-not-full",
        message=f"The ramp moved {size_words(moved)}, less than twice the write cache of {size_words(cache)}: the first"
        " measured writes went into empty cache.",
        do=f"Lengthen the ramp until it moves {size_words(TURNED_OVER * cache)}.",
    )


def stripe_read_modify_write(facts: RunFacts) -> Advice | None:
    """Return advice if writes to a parity array are not multiples of its full stripe."""
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
    gathered = " Unless a cache gathers them," if job.sequential and max(sizes) < strip * data else ""
    tail = " the rest of a stripe is read first." if gathered else ""
    return Advice(
        key="stripe-read-modify-write",
        message=f"On {array.level.value.upper()} {stripe}: {cost_text}{gathered}{tail}",
        do=f"Expect it of small writes; to measure whole stripes write multiples of {exact_text(strip * data)},"
        " or choose a strip with which the block is one.",
    )


def _one_size_text(cost: StripeCost, size: int) -> str:
    """Return the cost of writes that all have the same size."""
    block = format_size(size)
    if not cost.full_stripes:
        return f"every write of {block} is a part of one and costs at least {cost.member_ios:.0f} I/Os of members."
    return (
        f"a write of {block} is {size / cost.stripe_bytes:.2f} of them. It touches {units.three(cost.touched_stripes)},"
        f" {units.three(cost.partial)} of them in part; {units.fraction(cost.partial_share)} of the bytes cost reading"
        f" first, at least {cost.member_ios:.0f} I/Os of members instead of {cost.ideal_ios:.0f}."
    )


def _mixed_sizes_text(costs: list[StripeCost], share: float) -> str:
    least, most = min(c.member_ios for c in costs), max(c.member_ios for c in costs)
    return (
        f"{units.fraction(share)} of the bytes go into stripes written in part, and a write costs at least"
        f" {least:.0f} to {most:.0f} I/Os of members."
    )


def depth_beyond_device(facts: RunFacts) -> Advice | None:
    """Return advice if the job keeps more I/Os in flight than the device accepts."""
    queue = facts.job.queue
    if facts.takes is None or queue <= facts.takes or not facts.job.direct:
        return None
    return Advice(
        key="depth-beyond-device",
        message=f"The job keeps {queue} I/Os in flight, the device takes {facts.takes} at a time ({facts.takes_why}):"
        " the rest waits in the kernel and counts as latency.",
        do=f"Lower the depth or the jobs to {facts.takes} in all, or raise the device's queue.",
    )


def member_imbalance(facts: RunFacts) -> Advice | None:
    """Return advice if the members have uneven load, or if one of them slows down the others."""
    members = [m for m in facts.measured.members if m.depth == 0] if facts.measured is not None else []
    if sum(_iops(member) for member in members) < ENOUGH_IOPS:
        return None
    plain = [member for member in members if not member.role and member.read_iops is not None]
    message, do = _write_mostly_text(members) or _slowest_text(plain), _LOOK
    mirrored = facts.array is not None and facts.array.level in _MIRRORED
    if not message and (message := _uneven_text(plain, "reads")) and mirrored:
        message += " Each read goes to one copy, the nearer or less busy one, so the others may be idle."
        do = "More jobs at a time, or RAID 10 in layout f2 (every drive serves reads in order), use all copies."
    message = message or _uneven_text(plain, "writes")
    return Advice(key="member-imbalance", message=message, do=do) if message else None


def _write_mostly_text(members: list[MemberStats]) -> str:
    for member in members:
        share = member.share_of_reads
        if member.role == "write-mostly" and share is not None and share > MOSTLY_READS:
            return (
                f"{member.device} is marked write-mostly and yet serves {units.fraction(share)} of the reads:"
                " the mark has no effect at this level."
            )
    return ""


def _slowest_text(members: list[MemberStats]) -> str:
    """Return a sentence if I/Os on one member take several times as long as on the fastest; "" otherwise."""
    timed = [(wait, member) for member in members if (wait := _wait(member)) is not None]
    if len(timed) < 2:
        return ""
    fast, fastest = min(timed, key=lambda pair: pair[0])
    slow, slowest = max(timed, key=lambda pair: pair[0])
    if slow < SLOWER * fast:
        return ""
    return (
        f"An I/O takes {units.latency(slow)} on {slowest.device} ({units.fraction(slowest.utilisation)} busy) and"
        f" {units.latency(fast)} on {fastest.device} ({units.fraction(fastest.utilisation)}): the"
        " slower one sets the pace."
    )


def _uneven_text(members: list[MemberStats], direction: str) -> str:
    """Return a sentence if a member has over twice or under half its share of `reads` or `writes`; else ""."""
    shares = [
        (member.share_of_reads if direction == "reads" else member.share_of_writes, member.device) for member in members
    ]
    reported = [(share, device) for share, device in shares if share is not None]
    if len(members) < 2 or len(reported) < len(members):
        return ""
    even = sum(share for share, _ in reported) / len(reported)
    (least, idle), (most, busy) = min(reported), max(reported)
    if even and (most > UNEVEN * even or least < even / UNEVEN):
        return f"{busy} has {units.fraction(most)} of the {direction}, {idle} {units.fraction(least)}."
    return ""


def _iops(member: MemberStats) -> float:
    return (member.read_iops or 0.0) + (member.write_iops or 0.0)


def _wait(member: MemberStats) -> float | None:
    """Return the mean time of an I/O in nanoseconds by Little's law, or None with too few I/Os."""
    iops = _iops(member)
    return member.queue / iops * 1e9 if member.queue and iops >= ENOUGH_IOPS else None
