"""The hosts that somebody named, and the process that asks them over ssh, each answer as it comes."""

from __future__ import annotations

import math
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from app.features.fleet.hosts.wire_format import CONNECT_S, FANOUT, HostsRequest, RawResponse, parse_response
from app.features.fleet.multihost.transport import Transport
from app.features.fleet.ssh.command import ssh_options
from backends.errors import InvalidValueError, ToolMissingError
from backends.host import Command, Host, Process
from backends.self_exec import self_exec_argv
from backends.values import dataclass

_MODULE = "app.features.fleet.hosts.fanout"
_MOST_NAMES = 120_000
"""Characters that the kernel takes as one word, less some (MAX_ARG_STRLEN of linux/binfmts.h is 131072)."""
_SLACK_S = 30.0
"""Seconds that the process itself may take besides."""


Ask = Callable[[tuple[str, ...], tuple[str, ...]], AsyncIterator[RawResponse]]
"""What each of these hosts gives when it is asked these words of its raidbench, as it comes. Closing it ends every ssh.

Raises ToolMissingError, InvalidValueError.
"""

OpenReach = Callable[[tuple[str, ...], tuple[str, ...]], AbstractAsyncContextManager[Transport]]
"""The way to a run on each of these hosts; the words are those behind `bench` there. Raises RaidbenchError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The hosts."""

    named: str
    """As they were named: a node set."""
    hosts: tuple[str, ...]
    """Each once, in their order."""
    ask: Ask
    """Asks some of them."""
    reach: OpenReach
    """Lets some of them measure."""


async def ask_hosts(host: Host, order: HostsRequest) -> AsyncIterator[RawResponse]:
    """What each host of an order gave, as it comes; `host` is this machine.

    Each is told once, those that nothing came of as well. Closing this ends every ssh.

    Raises ToolMissingError, InvalidValueError.
    """
    if host.which(("ssh",)) is None:
        raise ToolMissingError("OpenSSH's ssh cannot be found.", hint="It comes in openssh-client or openssh-clients.")
    order = replace(order, options=await ssh_options(host))
    word = order.line()
    if len(word) > _MOST_NAMES:
        raise InvalidValueError("So many names of hosts are too long for one command.", hint="Ask them in several.")
    left = dict.fromkeys(order.hosts)
    turns = math.ceil(len(order.hosts) / FANOUT)
    # The user's ssh takes agents, tickets and programs of the user's own from the environment.
    command = Command(argv=(*self_exec_argv(_MODULE), word), env={**os.environ, "LC_ALL": "C"})
    end = time.monotonic() + turns * (order.seconds + CONNECT_S) + _SLACK_S
    async with host.stream(command) as process:
        async for line in _lines(process, end):
            answer = parse_response(line)
            if answer is not None and answer.host in left:
                del left[answer.host]
                yield answer
        text = process.stderr()
    for name in left:
        yield RawResponse(host=name, status=None, err=text, late=time.monotonic() >= end)


async def _lines(process: Process, end: float) -> AsyncIterator[bytes]:
    """Whole lines of its output, until it ends or its time is over (`time.monotonic`)."""
    import asyncio

    parts: list[bytes] = []
    chunks = aiter(process.chunks())
    while True:
        try:
            async with asyncio.timeout(max(0.0, end - time.monotonic())):
                chunk = await anext(chunks)
        except (StopAsyncIteration, TimeoutError):
            return
        first, *more = chunk.split(b"\n")
        parts.append(first)
        for part in more:
            yield b"".join(parts)
            parts = [part]
