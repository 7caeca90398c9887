"""The set of hosts to query, and the process that queries them over ssh and returns each answer as it arrives."""

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
"""Maximum characters of the request. It is passed as one argument, and MAX_ARG_STRLEN (linux/binfmts.h) is 131072."""
_SLACK_S = 30.0
"""Seconds that the fan-out process may take in addition to the time limits of the hosts."""


Ask = Callable[[tuple[str, ...], tuple[str, ...]], AsyncIterator[RawResponse]]
"""Queries hosts with a command line of raidbench, and yields each response as it arrives.

Closing the iterator ends every ssh. Raises the errors of `ask_hosts`.
"""

OpenReach = Callable[[tuple[str, ...], tuple[str, ...]], AbstractAsyncContextManager[Transport]]
"""Opens connections for a run on hosts. The first argument names the hosts, the second holds the arguments of `bench`.

Raises RaidbenchError.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A set of hosts, and how to reach them."""

    named: str
    """The node set that the user typed."""
    hosts: tuple[str, ...]
    """Names of all hosts, each once, in the order of the node set."""
    ask: Ask
    """Queries some of the hosts."""
    reach: OpenReach
    """Opens connections for a run on some of the hosts."""


async def ask_hosts(host: Host, order: HostsRequest) -> AsyncIterator[RawResponse]:
    """Yield the response of each host of a request as it arrives; `host` is this machine.

    There is exactly one response for every host, also if it failed. Closing the iterator ends every ssh. Raises
    ToolMissingError if ssh is not installed, InvalidValueError if the host names are too long for one command.
    """
    if host.which(("ssh",)) is None:
        raise ToolMissingError(
            "OpenSSH (ssh) is not installed.", hint="Install the package openssh-client or openssh-clients."
        )
    order = replace(order, options=await ssh_options(host))
    word = order.line()
    if len(word) > _MOST_NAMES:
        raise InvalidValueError("The list of host names is too long for one command.", hint="Use several commands.")
    left = dict.fromkeys(order.hosts)
    turns = math.ceil(len(order.hosts) / FANOUT)
    # ssh needs the user's environment: it names the SSH agent, the Kerberos tickets and helper programs.
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
    """Yield complete lines of a process's output, until it ends or until the time `end` (`time.monotonic`)."""
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
