"""Hosts round a host: reading is passed on, a change is refused or told of."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from backends.errors import RaidbenchError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.system.local import LocalHost
from backends.system.recorded import ReplayHost
from backends.system.wrapped import ExecutedCommand, HostWrapper, LoggingHost, ReadOnlyHost

SET = Command(argv=("/opt/storcli", "set", "wrcache=wb"), mutates=True)
SHOW = Command(argv=("/opt/storcli", "show"))


@pytest.fixture
def inner(tmp_path: Path) -> Host:
    data = {
        "format": 1,
        "name": "apricot",
        "root": True,
        "files": {"/sys/a": "1", "/sys/b": "2"},
        "lists": {"/sys/*": ["/sys/a", "/sys/b"]},
        "links": {"/sys/l": "/sys/a"},
        "stats": {"/dev/sda": {"kind": "block", "size": 0, "devno": "8:0"}},
        "commands": [
            {"argv": list(command.argv), "returncode": 0, "stdout": "fine", "stderr": ""} for command in (SET, SHOW)
        ],
        "which": {"storcli": "/opt/storcli"},
    }
    (tmp_path / "machine.json").write_text(json.dumps(data))
    return ReplayHost(tmp_path)


class Failing(HostWrapper):
    """A host on which every change fails in the given way."""

    def __init__(self, inner: Host, error: BaseException) -> None:
        super().__init__(inner)
        self._error = error

    async def run(self, command: Command) -> Completed:
        raise self._error

    async def write(self, path: str, text: str) -> None:
        raise self._error

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        raise self._error


READS: list[Callable[[Host], Awaitable[object]]] = [
    lambda host: host.run(SHOW),
    lambda host: host.read("/sys/a"),
    lambda host: host.read_many(("/sys/a", "/sys/c")),
    lambda host: host.list("/sys/*"),
    lambda host: host.link("/sys/l"),
    lambda host: host.stat("/dev/sda"),
]
NAMES = ["run", "read", "read_many", "list", "link", "stat"]


@pytest.mark.parametrize("read", READS, ids=NAMES)
@pytest.mark.parametrize("wrap", [HostWrapper, ReadOnlyHost, lambda host: LoggingHost(host, lambda ran: None)])
async def test_a_wrapped_host_reads_what_the_host_reads(
    inner: Host, wrap: Callable[[Host], Host], read: Callable[[Host], Awaitable[object]]
) -> None:
    assert await read(wrap(inner)) == await read(inner)


def test_a_wrapped_host_is_who_the_host_is(inner: Host) -> None:
    wrapped = HostWrapper(inner)
    assert (wrapped.name, wrapped.simulated, wrapped.is_root, wrapped.which(("storcli",))) == (
        "apricot",
        True,
        True,
        "/opt/storcli",
    )


# -- read-only -------------------------------------------------------------------------------------------------------


async def test_a_read_only_host_refuses_a_mutating_command(inner: Host) -> None:
    with pytest.raises(RefusedError, match=r"prevents this change: .*wrcache=wb"):
        await ReadOnlyHost(inner).run(SET)


def test_a_read_only_host_refuses_a_mutating_stream(inner: Host) -> None:
    with pytest.raises(RefusedError):
        ReadOnlyHost(inner).stream(SET)


async def test_a_read_only_host_writes_nothing(inner: Host) -> None:
    with pytest.raises(RefusedError):
        await ReadOnlyHost(inner).write("/sys/a", "9")
    assert await inner.read("/sys/a") == "1"


async def test_a_read_only_host_installs_nothing(inner: Host) -> None:
    with pytest.raises(RefusedError):
        await ReadOnlyHost(inner).install("/etc/x", b"9", before=None)
    assert await inner.read("/etc/x") is None


async def test_on_a_read_only_host_nothing_is_writable(inner: Host) -> None:
    assert await ReadOnlyHost(inner).writable("/sys/a") == "read-only mode"


# -- logging ---------------------------------------------------------------------------------------------------------


async def told(inner: Host, act: Callable[[Host], Awaitable[object]]) -> list[ExecutedCommand]:
    heard: list[ExecutedCommand] = []
    with contextlib.suppress(RaidbenchError, asyncio.CancelledError):
        await act(LoggingHost(inner, heard.append))
    return heard


async def test_a_command_is_told_as_it_would_be_typed(inner: Host) -> None:
    (ran,) = await told(inner, lambda host: host.run(SET))
    assert (ran.line, ran.mutates, ran.returncode, ran.stdout) == ("/opt/storcli set wrcache=wb", True, 0, "fine")


async def test_a_write_is_told_as_it_would_be_typed(inner: Host) -> None:
    (ran,) = await told(inner, lambda host: host.write("/sys/a", "9"))
    assert (ran.line, ran.mutates, ran.returncode) == ("echo 9 > /sys/a", True, 0)


async def test_an_installed_file_is_told_with_its_text(inner: Host) -> None:
    (ran,) = await told(inner, lambda host: host.install("/etc/x", b"rule", before=None))
    assert (ran.line, ran.stdout) == ("install /etc/x", "rule")


async def test_file_reads_are_not_told(inner: Host) -> None:
    assert await told(inner, lambda host: host.read("/sys/a")) == []


CHANGES: list[Callable[[Host], Awaitable[object]]] = [
    lambda host: host.run(SET),
    lambda host: host.write("/sys/a", "9"),
    lambda host: host.install("/etc/x", b"9", before=None),
]


@pytest.mark.parametrize("change", CHANGES, ids=["run", "write", "install"])
async def test_a_refused_change_is_told_in_the_kernels_words(
    inner: Host, change: Callable[[Host], Awaitable[object]]
) -> None:
    failing = Failing(inner, ToolFailedError("Refused.", evidence="EINVAL"))
    (ran,) = await told(failing, change)
    assert (ran.stderr, ran.returncode == 0) == ("EINVAL", False)


@pytest.mark.parametrize("change", CHANGES, ids=["run", "write", "install"])
async def test_a_change_whose_caller_went_away_is_told(
    inner: Host, change: Callable[[Host], Awaitable[object]]
) -> None:
    (ran,) = await told(Failing(inner, asyncio.CancelledError()), change)
    assert (ran.mutates, ran.returncode) == (True, None)


async def test_a_secret_is_not_told(inner: Host) -> None:
    command = Command(argv=("/opt/storcli", "key", "ABC-123"), mutates=True, secret=("ABC-123",))
    failing = Failing(inner, ToolFailedError("Refused."))
    (ran,) = await told(failing, lambda host: host.run(command))
    assert ran.line == "/opt/storcli key ***"


async def test_a_secret_that_the_tool_repeats_is_not_told(inner: Host) -> None:
    command = Command(argv=("/bin/echo", "key=ABC-123", "is good"), mutates=True, secret=("key=ABC-123", "ABC-123"))
    ran: list[ExecutedCommand] = []
    await LoggingHost(LocalHost(), ran.append).run(command)
    assert "ABC" not in ran[0].stdout + ran[0].line
