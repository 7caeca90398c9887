"""Queries many hosts, prints equal answers only once, and then prints why hosts are missing."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

import click

from app.cli.async_runner import run
from app.cli.devices_progress import WAITING_S, WaitingStatusLine
from app.cli.exit_status import DONE, MISSING
from app.cli.options import current, is_terminal
from app.cli.output import Verbatim, document, lines, paint, print_json, say, say_lines
from app.core.presentation import json_schema as forms
from app.features.fleet.hosts.failure_causes import HostResponse, MissingHost, interpret
from app.features.fleet.hosts.grouping import (
    HostResponses,
    answered_text,
    answers_json,
    counts_json,
    loss_rows,
    outcome_json,
    text_rows,
)
from app.features.fleet.hosts.query import Fleet, ask_hosts
from app.features.fleet.hosts.wire_format import HostsRequest, RawResponse
from app.features.fleet.multihost.transport import Transport
from app.features.fleet.ssh.command import PROGRAM, SECONDS
from app.features.fleet.ssh.nodesets import fold_names, parse_hosts
from backends.text import clean
from widgets.text_utils.units import plural

T = TypeVar("T")

_BETWEEN_S = 0.25
"""Minimum seconds between two updates of the status line about hosts that have not answered yet."""


def query_hosts(
    nodes: str,
    parts: tuple[str, ...],
    *,
    as_json: bool,
    stream: bool,
    seconds: float | None,
    program: str | None,
) -> int:
    """Run a command on the hosts of `nodes`, print their answers, and return the exit status.

    `parts`: the name and the arguments of the command; `stream`: print one JSON line per host as it answers.
    Raises whatever `gather` raises.
    """
    text = () if as_json or stream else (f"--with-text={_columns()}",)
    name, *rest = parts
    gathered = HostResponses(asked=parse_hosts(nodes), by_text=not as_json)
    statuses: list[int] = []

    def take(outcome: HostResponse | MissingHost) -> None:
        statuses.append(DONE if isinstance(outcome, MissingHost) else outcome.status)
        if stream:
            document(outcome_json(outcome), compact=True)
            gathered.count(outcome)
        else:
            gathered.take(outcome)

    gather(gathered, (name, "--json", *text, *rest), seconds=seconds, program=program, take=take)
    if stream:
        document(forms.document(counts=counts_json(gathered)), compact=True)
    elif as_json:
        print_json(**answers_json(gathered))
    else:
        for group in gathered.in_order():
            head = clean(f"{fold_names(group.hosts)} ({plural(len(group.hosts), 'host')})", 2000)
            lines([paint(head, "bold"), *map(Verbatim, text_rows(group.document)), ""])
    print_losses(gathered)
    return combined_status(gathered, max(statuses, default=DONE))


def _columns() -> int:
    """Return the width of this terminal in columns, or 0 if there is no terminal."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 0


def combined_status(gathered: HostResponses, status: int) -> int:
    """Return the exit status MISSING if a host is missing, else `status`."""
    return MISSING if gathered.missing else status


def print_losses(gathered: HostResponses) -> None:
    """Print to standard error how many hosts answered and why the others are missing."""
    say(answered_text(gathered))
    say_lines(loss_rows(gathered))


def collect_into(
    gathered: HostResponses, values: dict[str, T], read: Callable[[HostResponse], T]
) -> Callable[[HostResponse | MissingHost], None]:
    """Return a function that counts the outcome of a host in `gathered`.

    If the host answered, the function also applies `read` to the answer and stores the result in `values`, by host.
    """

    def take(outcome: HostResponse | MissingHost) -> None:
        gathered.count(outcome)
        if not isinstance(outcome, MissingHost):
            values[outcome.host] = read(outcome)

    return take


def gather(
    gathered: HostResponses,
    parts: tuple[str, ...],
    *,
    seconds: float | None,
    program: str | None,
    take: Callable[[HostResponse | MissingHost], None],
) -> None:
    """Query all hosts of `gathered`. `take` is called once per host, with its answer or why it is missing.

    Raises InterruptedByUserError, ToolMissingError, InvalidValueError.
    """
    _require_plain_options()
    order = _order(gathered.asked, parts, seconds=seconds, program=program)
    if current().demo:
        say("SIMULATED: these hosts do not exist.")
    ask_all(gathered, order, take)


def ask_all(gathered: HostResponses, order: HostsRequest, take: Callable[[HostResponse | MissingHost], None]) -> None:
    """Query the hosts of the request `order`. The other parameters and the errors are those of `gather`."""
    run(lambda _: _gather(gathered, _source(order), take))


def open_fleet(nodes: str, *, seconds: float | None, program: str | None) -> Fleet:
    """Return the hosts of `nodes` for the TUI. Raises the errors of `parse_hosts`."""
    hosts = parse_hosts(nodes)

    def ask(some: tuple[str, ...], parts: tuple[str, ...]) -> AsyncIterator[RawResponse]:
        return _source(_order(some, parts, seconds=seconds, program=program), hosts)

    def reach(some: tuple[str, ...], parts: tuple[str, ...]) -> AbstractAsyncContextManager[Transport]:
        from app.features.fleet.cli.bench import open_transport

        return open_transport(some, parts, program)

    return Fleet(named=nodes, hosts=hosts, ask=ask, reach=reach)


def _order(
    hosts: tuple[str, ...], parts: tuple[str, ...], *, seconds: float | None, program: str | None
) -> HostsRequest:
    before = current().argv_of("read_only", "no_helper")
    return HostsRequest(hosts=hosts, words=(program or PROGRAM, *before, *parts), seconds=seconds or SECONDS)


def _source(order: HostsRequest, fleet: tuple[str, ...] = ()) -> AsyncIterator[RawResponse]:
    """Yield the responses to a request as they arrive.

    `fleet`: all hosts. With `--demo`, their order decides which host has which simulated fault.
    """
    if current().demo:
        from app.features.fleet.cli.simulated_hosts import query_simulated

        return query_simulated(order, current().demo, fleet or order.hosts)
    from backends.system.local import LocalHost

    return ask_hosts(LocalHost(), order)


async def _gather(
    gathered: HostResponses, source: AsyncIterator[RawResponse], take: Callable[[HostResponse | MissingHost], None]
) -> None:
    waiting = WaitingStatusLine()
    loop = asyncio.get_running_loop()
    due = [loop.time() + WAITING_S]

    def show() -> None:
        if loop.time() < due[0]:
            return
        due[0] = loop.time() + _BETWEEN_S
        left = gathered.waiting
        waiting.show([f"{len(left)} of {plural(len(gathered.asked), 'host')}: {fold_names(left)}"] if left else [])

    timer = loop.call_later(WAITING_S, show)
    try:
        async with contextlib.aclosing(source):  # type: ignore[type-var]
            async for raw in source:
                take(interpret(raw))
                show()
    finally:
        timer.cancel()
        waiting.clear()


def _require_plain_options() -> None:
    """Raise click.UsageError if a global option was given that applies to this machine only."""
    options = current()
    for given, name in (
        (options.machine is not None, "--machine"),
        (options.session is not None, "--session"),
        (options.demo_reset, "--demo-reset"),
        (options.demo_reboot, "--demo-reboot"),
        (bool(options.demo_state), "--demo-state"),
        (options.demo_speed is not None, "--demo-speed"),
    ):
        if given:
            raise click.UsageError(f"{name} is for one host, not for several hosts.")
