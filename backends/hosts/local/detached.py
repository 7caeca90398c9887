"""A program that outlives this one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Sequence

from backends.hosts.local.child import clean_environment

_BEGIN = "import runpy, sys; sys.path[:] = sys.argv[2:]; runpy.run_module(sys.argv[1], run_name='__main__')"


def own_program(module: str) -> tuple[str, ...]:
    """The words that start a module of this program in an interpreter of its own, isolated from the environment.

    It looks for modules where this process does: in a folder, an archive or whatever else it was started from.
    """
    return (sys.executable, "-I", "-c", _BEGIN, module, *(os.path.abspath(place) for place in sys.path if place))


async def start_detached(module: str, order: str, seconds: float, keep: Sequence[int] = ()) -> str:
    """Start a module that is to outlive this program and its terminal; give it `order`, return its first line.

    It must fork once more and let its parent end when it has spoken, so that nobody here has a child to wait for.
    "" when it says nothing within `seconds`; then it is killed. `keep`: descriptors that it inherits. Raises OSError.
    """
    return await asyncio.to_thread(_start_detached, module, order, seconds, keep)


def _start_detached(module: str, order: str, seconds: float, keep: Sequence[int]) -> str:
    with subprocess.Popen(
        own_program(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Its own folder may be unmounted or removed while it waits.
        cwd="/",
        env=clean_environment({}),
        start_new_session=True,
        pass_fds=keep,
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
