"""What a program told is asked once where somebody says so, and never counts for more than it is worth."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from backends.errors import RefusedError
from backends.host import Command, Completed
from backends.system.caching import CachingHost, cache_across_changes, cached_since, uncached
from backends.system.wrapped import HostWrapper
from tests.backends.fakes import FakeHost

ASK = Command(argv=("tool", "show"))
SET = Command(argv=("tool", "set"), mutates=True)


class Answering(HostWrapper):
    """Answers by counting; waits for the gate if there is one."""

    def __init__(self) -> None:
        super().__init__(FakeHost({}))
        self.asked = 0
        self.code = 0
        self.cut = False
        self.gate: asyncio.Event | None = None
        self.installed: list[tuple[str, bytes, bytes | None]] = []

    async def run(self, command: Command) -> Completed:
        self.asked += not command.mutates
        told = Completed(returncode=self.code, stdout=str(self.asked), stderr="", truncated=self.cut)
        if self.gate is not None and not command.mutates:
            await self.gate.wait()
        return told

    async def write(self, path: str, text: str) -> None:
        if path == "/refused":
            raise RefusedError("No.")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        self.installed.append((path, content, before))


def hosts() -> tuple[CachingHost, Answering]:
    inner = Answering()
    return CachingHost(inner), inner


async def told(host: CachingHost, command: Command = ASK) -> str:
    return (await host.run(command)).stdout


async def test_it_is_asked_each_time_unless_somebody_says_otherwise() -> None:
    host, _ = hosts()
    assert [await told(host), await told(host)] == ["1", "2"]
    with cached_since(0.0):
        assert [await told(host), await told(host)] == ["2", "2"]
        with uncached():
            assert await told(host) == "3"
        assert await told(host) == "3"
    assert await told(host) == "4"


async def test_what_was_told_before_the_moment_is_asked_again() -> None:
    host, _ = hosts()
    await told(host)
    with cached_since(time.monotonic()):
        assert [await told(host), await told(host)] == ["2", "2"]


async def test_other_words_and_another_environment_are_another_question() -> None:
    host, _ = hosts()
    with cached_since(0.0):
        assert [await told(host), await told(host, Command(argv=("tool", "list")))] == ["1", "2"]
        assert await told(host, Command(argv=ASK.argv, env={"LANG": "x"})) == "3"


async def _run(host: CachingHost) -> None:
    await host.run(SET)


async def _write(host: CachingHost) -> None:
    await host.write("/file", "1")


async def _install(host: CachingHost) -> None:
    await host.install("/rules", b"new", before=b"old")


async def _refused(host: CachingHost) -> None:
    with pytest.raises(RefusedError):
        await host.write("/refused", "1")


async def _there(host: CachingHost) -> None:
    host.forget()


@pytest.mark.parametrize("change", [_run, _write, _install, _refused, _there])
async def test_nothing_told_before_a_change_counts_after_it(change: Callable[[CachingHost], Awaitable[None]]) -> None:
    host, _ = hosts()
    with cached_since(0.0):
        await told(host)
        await change(host)
        assert [await told(host), await told(host)] == ["2", "2"]


async def test_a_file_is_installed_with_what_it_replaces() -> None:
    host, inner = hosts()
    await _install(host)
    assert inner.installed == [("/rules", b"new", b"old")]


async def test_what_no_setting_moves_counts_after_a_change_as_well_until_it_is_told_anew() -> None:
    host, _ = hosts()
    with cached_since(0.0):
        await told(host)
        await host.run(SET)
        with cache_across_changes():
            assert await told(host) == "1"
        assert await told(host) == "2"
        with cache_across_changes():
            assert await told(host) == "2"


async def test_an_answer_that_was_under_way_during_a_change_does_not_count() -> None:
    host, inner = hosts()
    inner.gate = asyncio.Event()
    with cached_since(0.0):
        asking = asyncio.create_task(told(host))
        await asyncio.sleep(0)
        await host.run(SET)
        inner.gate.set()
        assert await asking == "1"
        assert await told(host) == "2"


async def test_what_failed_or_was_cut_is_no_answer() -> None:
    host, inner = hosts()
    with cached_since(0.0):
        inner.code = 1
        await told(host)
        inner.code, inner.cut = 0, True
        assert await told(host) == "2"
        inner.cut = False
        assert [await told(host), await told(host)] == ["3", "3"]


async def test_a_task_that_outlives_it_asks_each_time() -> None:
    host, _ = hosts()
    with cached_since(0.0):
        await told(host)
        left = asyncio.Event()

        async def later() -> str:
            await left.wait()
            return await told(host)

        task = asyncio.create_task(later())
    left.set()
    assert await task == "2"


async def test_what_names_a_secret_is_not_remembered() -> None:
    host, _ = hosts()
    preview = Command(argv=("tool", "preview", "KEY"), secret=("KEY",))
    with cached_since(0.0):
        assert [await told(host, preview), await told(host, preview)] == ["1", "2"]
