"""How long fio is given for what, and how it is made to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from backends.host import Process
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. fio reports nothing while a worker is stuck in an I/O, so silence alone is no reason to kill it."""

    before_signal: float = 0.5
    """Without a byte of output fio may not have its signal handler yet, and would die without a summary."""
    remark: float = 10.0
    """After the interrupt, until it is said what is being waited for."""
    terminate: float = 30.0
    """After the interrupt, until SIGTERM."""
    kill: float = 40.0
    """After the interrupt, until SIGKILL."""
    look: float = 1.0
    """Between two looks at the clock and at processor time."""
    silence: float = 10.0
    """Without a document, until it is said."""
    overdue: float = 60.0
    """Beyond ramp and run time, until it is said."""
    give_up: float = 300.0
    """Beyond ramp and run time, until it is made to stop."""


async def end_fio(process: Process, patience: Timeouts, over: asyncio.Event, say: Callable[[str], None]) -> None:
    """Interrupt fio and wait until `over`; it answers with its summary once outstanding I/O came back."""
    # SIGINT, because fio answers it with a whole summary.
    process.interrupt()
    if await _wait(over, patience.remark):
        return
    say("Waiting for outstanding I/O to come back")
    if await _wait(over, patience.terminate - patience.remark):
        return
    say("I/O does not come back: fio is asked to terminate")
    process.terminate()
    if await _wait(over, patience.kill - patience.terminate):
        return
    say("fio does not end and is killed")
    process.kill()


async def _wait(over: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await over.wait()
    except TimeoutError:
        return False
    return True
