"""A helper in this process whose machine is the simulated rack, and a workbench that has to ask it for everything."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from app.core.workbench import Workbench
from app.privsep import device_claims, dispatcher
from app.privsep.dispatcher import ReplyFrame, RequestDispatcher
from backends.helper_interface import decode_error
from backends.simulator.host import SimulatedHost
from backends.system.local import LocalHost
from backends.system.privsep.host import SplitHost
from tests.backends.simulator.asking import FAST, still_rack
from tests.tui.stage import paths_in


class DeskSide:
    """The desk without a connection: requests and answers are JSON all the same."""

    def __init__(self, one: RequestDispatcher) -> None:
        self.desk = one
        self._asked = 0

    async def fetch(self, verb: str, **args: object) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """See `RootSide.fetch`."""
        return _settled(await self.desk.answer(self._request(verb, args)))

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        """See `RootSide.ask`."""
        return (await self.fetch(verb, **args))[0]

    def ask_now(self, verb: str, **args: object) -> Mapping[str, Any]:
        """See `RootSide.ask_now`: of verbs that wait for nothing."""
        return _settled(_at_once(self.desk.answer(self._request(verb, args))))[0]

    def _request(self, verb: str, args: Mapping[str, object]) -> bytes:
        self._asked += 1
        return json.dumps({"id": self._asked, "verb": verb, "args": args}).encode()


class UsersSide(SplitHost):
    """The rack as its user sees it: no card can be asked."""

    firmware = None  # type: ignore[assignment]


def _settled(reply: ReplyFrame) -> tuple[Mapping[str, Any], tuple[int, ...]]:
    if "error" in reply.message:
        raise decode_error(reply.message["error"])
    return json.loads(json.dumps(reply.message["ok"])), reply.descriptors


def _at_once(answer: Coroutine[Any, Any, ReplyFrame]) -> ReplyFrame:
    try:
        answer.send(None)
    except StopIteration as done:
        return cast(ReplyFrame, done.value)
    raise AssertionError("the helper waits for something")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rack:
    """A rack with its helper."""

    bench: Workbench
    """Can do nothing by itself but ask."""
    host: SimulatedHost
    """What root sees."""
    side: DeskSide
    """The helper."""


def side_on(host: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> DeskSide:
    """A helper whose machine is this host, greeted."""
    monkeypatch.setattr(dispatcher, "LocalHost", lambda firmware_queries: host)
    side = DeskSide(RequestDispatcher(paths=paths_in(folder), uid=0, gid=0))
    side.ask_now("hello", version=1, read_only=False, firmware=True)
    return side


def asking_rack(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Rack:
    """A rack whose workbench asks a helper of its own."""
    host = SimulatedHost(still_rack(), speed=FAST)
    monkeypatch.setattr(device_claims, "node_of", lambda path: path)  # the rack has its own
    side = side_on(host, folder / "root", monkeypatch)
    own = UsersSide(cast(LocalHost, host), side, runs=lambda argv: False, reads=lambda path: False)
    return Rack(bench=Workbench(own, paths=paths_in(folder / "own")), host=host, side=side)
