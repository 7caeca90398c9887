"""A program that outlives this one."""

from __future__ import annotations

import asyncio
import contextlib
import select
import subprocess
from collections.abc import Sequence

from backends.hosts.local.child import clean_environment


async def start_detached(argv: Sequence[str], order: str, seconds: float) -> str:
    """Start a program that is to outlive this one and its terminal; give it `order`, return its first line.

    It must fork once more and let its parent end when it has spoken, so that nobody here has a child to wait for.
    "" when it says nothing within `seconds`; then it is killed. Raises OSError.
    """
    return await asyncio.to_thread(_start_detached, argv, order, seconds)


def _start_detached(argv: Sequence[str], order: str, seconds: float) -> str:
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Its own folder may be unmounted or removed while it waits.
        cwd="/",
        env=clean_environment({}),
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(order.encode())
            process.stdin.close()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            process.kill()
            return ""
        return process.stdout.readline().decode("utf-8", "replace").strip()
