"""Which disks do not answer, found by reading from them: of some that stand still the kernel counts nothing.

A multipath device without a path that queues, or one whose requests device-mapper keeps back, has no request under way
as /sys/block/*/stat counts them.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterable

from backends.again import interpreter
from backends.errors import RaidbenchError
from backends.host import Command
from backends.hosts.local.child import START, Child, start

MOST = 256
"""Disks that are read from at once."""

_READY = "ready"

_CHILD = f"""
import mmap, os, sys, threading
def ask(node):
    try:
        os.preadv(os.open(node, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK), [mmap.mmap(-1, 4096)], 0)
    except OSError:
        pass
    os.write(1, node.encode() + b"\\n")
threading.stack_size(65536)
os.write(1, b"{_READY}\\n")
for node in sys.argv[1:]:
    threading.Thread(target=ask, args=(node,)).start()
"""
"""A process of its own, since one that waits for a disk cannot even be killed. An error is an answer."""


async def unanswered(nodes: Iterable[str], seconds: float) -> tuple[str, ...]:
    """Those of the nodes below /dev of which the first bytes were not read in so long; waits for all of that time."""
    asked = tuple(nodes)[:MOST]
    if not asked:
        await asyncio.sleep(seconds)
        return ()
    try:
        child = await start(Command(argv=(interpreter(), "-I", "-S", "-B", "-c", _CHILD, *asked)), "/", None)
    except RaidbenchError:
        await asyncio.sleep(seconds)
        return ()
    try:
        return await _silent(child, asked, seconds)
    finally:
        child.signal(signal.SIGKILL)
        child.close()


async def _silent(child: Child, asked: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    answered: set[str] = set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START):  # on a busy machine an interpreter needs some to be there
            ready = await child.stdout.readline()
    if ready.decode().strip() != _READY:
        return ()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while line := await child.stdout.readline():
                answered.add(line.decode().strip())
            answered |= set(asked)  # it ends when all have, and if it ended otherwise nothing is known
            await asyncio.sleep(seconds)
    return tuple(node for node in asked if node not in answered)
