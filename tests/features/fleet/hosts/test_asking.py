"""The process that asks hosts: what comes of it, of its silence and of its death, on a host that is made up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from app.features.fleet.hosts import query
from app.features.fleet.hosts.query import ask_hosts
from app.features.fleet.hosts.wire_format import HostsRequest, RawResponse
from app.features.fleet.ssh.command import OPTIONS
from backends.errors import InvalidValueError, ToolMissingError
from backends.host import Command, Completed

ORDER = HostsRequest(hosts=("a", "b", "c"), words=("raidbench", "doctor"), seconds=5)


class Machine:
    """This machine, where a program prints what the test says."""

    def __init__(self, *chunks: bytes, ssh: str | None = "/usr/bin/ssh") -> None:
        self._chunks, self._ssh = chunks, ssh
        self.commands: list[Command] = []

    def which(self, names: Sequence[str]) -> str | None:
        return self._ssh

    async def run(self, command: Command) -> Completed:
        return Completed(returncode=0, stdout="", stderr="OpenSSH_7.6p1, OpenSSL 1.0.2k-fips  26 Jan 2017")

    def stream(self, command: Command) -> AbstractAsyncContextManager[Program]:
        self.commands.append(command)

        @asynccontextmanager
        async def started() -> AsyncIterator[Program]:
            yield Program(self._chunks)

        return started()


class Program:
    """One that runs."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = chunks

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    def stderr(self) -> str:
        return "Killed"


async def all_of(machine: Machine, order: HostsRequest = ORDER) -> list[RawResponse]:
    return [raw async for raw in ask_hosts(machine, order)]  # type: ignore[arg-type]


async def test_each_host_is_told_once_however_its_lines_are_cut() -> None:
    lines = "".join(f"{RawResponse(host=name, status=0, out='{}').line()}\n" for name in ("b", "b", "x", "a", "c"))
    text = lines.encode()
    machine = Machine(*(text[at : at + 7] for at in range(0, len(text), 7)))
    assert [raw.host for raw in await all_of(machine)] == ["b", "a", "c"]
    assert json.loads(machine.commands[0].argv[-1])["words"] == ["raidbench", "doctor"]
    assert json.loads(machine.commands[0].argv[-1])["options"] == [*OPTIONS, "RemoteCommand=none"]


async def test_hosts_that_nothing_came_of_are_told_with_the_last_words_of_the_process() -> None:
    found = await all_of(Machine(f"{RawResponse(host='b', status=0).line()}\nrubbish".encode()))
    assert [(raw.host, raw.status, raw.err, raw.late) for raw in found[1:]] == [
        ("a", None, "Killed", False),
        ("c", None, "Killed", False),
    ]


async def test_when_its_time_is_over_the_rest_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "_SLACK_S", -1000.0)
    assert [raw.late for raw in await all_of(Machine(b""))] == [True, True, True]


async def test_without_ssh_and_with_endless_names_nothing_is_started() -> None:
    machine = Machine(ssh=None)
    with pytest.raises(ToolMissingError):
        await all_of(machine)
    machine = Machine()
    with pytest.raises(InvalidValueError):
        await all_of(machine, HostsRequest(hosts=("n" * 130_000,), words=(), seconds=1))
    assert machine.commands == []
