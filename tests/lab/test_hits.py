"""What real caches count while they are read: a small area read again and again comes from the cache."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from app.core.benchmark.device_stats import MemberSampler, member_meter
from app.core.session.results import CacheStats
from backends.system.local import LocalHost
from tests.lab.disks import Disk
from tests.lab.making import dm_node
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import volume_group

Blank = Callable[..., tuple[Disk, ...]]

pytestmark = [pytest.mark.seconds(240), pytest.mark.vendors("block")]

NO_CHECK = 'global { cache_check_executable = "" cache_dump_executable = "" cache_repair_executable = "" }'
"""No checker of caches is needed for one that is new."""


def read(node: str, *words: str) -> None:
    """4 KiB at random in a small area."""
    fixed = ("--direct=1", "--ioengine=libaio", "--iodepth=8", "--bs=4k", "--time_based", "--eta=never")
    run("fio", "--name=lab", f"--filename={node}", *fixed, *words)


@asynccontextmanager
async def metered(node: str) -> AsyncIterator[MemberSampler]:
    """The meter of a device, begun and ended around what is done inside."""
    meter = await member_meter(LocalHost(), (node,))
    await meter.begin()
    await meter.caches.begin()
    yield meter


async def told(meter: MemberSampler) -> CacheStats:
    (found,) = await meter.caches.total()
    return found


async def test_dm_cache_counts_what_it_served(blank: Blank, table: Results, state: object) -> None:
    slow, fast = blank("scsi0", "nvme0")
    run("modprobe", "dm-cache-smq")
    with volume_group(slow, fast) as group:
        run("lvm", "lvcreate", "--yes", "--wipesignatures=n", "--size=32M", "--name=slow", group, slow.device)
        run("lvm", "lvcreate", "--yes", "--wipesignatures=n", "--size=24M", "--name=fast", group, fast.device)
        words = ("--yes", "--type=cache", "--cachevol=fast", "--cachemode=writethrough", "--chunksize=32k")
        run("lvm", "lvconvert", "--config", NO_CHECK, *words, f"{group}/slow")
        node = dm_node(f"{group}-slow")
        read(node, "--rw=randread", "--size=1m", "--runtime=6")
        async with metered(node) as meter:
            await asyncio.to_thread(read, node, "--rw=randread", "--size=1m", "--runtime=3")
            await meter.take()
            members, again = await meter.total(), await told(meter)
        async with metered(node) as meter:
            await asyncio.to_thread(read, node, "--rw=read", "--offset=8m", "--size=16m", "--runtime=1")
            once = await told(meter)
    roles = {member.device: member.role for member in members}
    assert (roles[slow.kernel], roles[fast.kernel]) == ("origin", "cache")
    assert again.device == f"{group}/slow"
    high = (again.share_of_reads or 0.0) > 0.8
    assert table.add("Members", "dm-cache", "1 MiB read again and again", "more than 80 % from the cache", ok=high), (
        again
    )
    low = (once.share_of_reads or 0.0) < (again.share_of_reads or 0.0)
    assert table.add("Members", "dm-cache", "what was not read before", "less from the cache", ok=low), once


async def test_writecache_counts_what_it_took(blank: Blank, table: Results, state: object) -> None:
    slow, fast = blank("scsi0", "nvme0")
    run("modprobe", "dm-writecache")
    with volume_group(slow, fast) as group:
        run("lvm", "lvcreate", "--yes", "--wipesignatures=n", "--size=32M", "--name=slow", group, slow.device)
        run("lvm", "lvcreate", "--yes", "--size=24M", "--name=fast", "--activate=n", group, fast.device)
        run("lvm", "lvconvert", "--yes", "--type=writecache", "--cachevol=fast", f"{group}/slow")
        node = dm_node(f"{group}-slow")
        async with metered(node) as meter:
            await asyncio.to_thread(read, node, "--rw=randwrite", "--size=1m", "--runtime=2")
            found = await told(meter)
    took = found.device == f"{group}/slow" and (found.share_of_writes or 0.0) > 0.8 and (found.dirty or 0.0) > 0.0
    assert table.add(
        "Members", "writecache", "1 MiB written again and again", "more than 80 % taken, some dirty", ok=took
    ), found
