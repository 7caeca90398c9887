"""Asking the rack's tools as a person would."""

from __future__ import annotations

import json
from typing import Any

from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.programs import PATHS
from backends.simulator.rack import Rack

NOW = 1_700_000_000.0
"""A moment at which time stands still."""

FAST = 100_000.0
"""Simulated seconds in a real one, for tests."""

SDB = "/c0/v1"
"""Article A's array."""


def still_rack() -> Rack:
    """The demonstration's rack, at a moment that does not pass."""
    return demo_rack(lambda: NOW)


def still_host() -> SimulatedHost:
    """A host on such a rack."""
    return SimulatedHost(still_rack(), speed=FAST)


async def ask(host: SimulatedHost, tool: str, line: str, *, mutates: bool = False) -> Completed:
    """`ask(host, "storcli64", "/c0/v1 show all")`."""
    return await host.run(Command(argv=(PATHS[tool], *line.split()), mutates=mutates))


async def storcli(host: SimulatedHost, line: str) -> Any:
    """The first controller's answer; anything but `show` may change something."""
    done = await ask(host, "storcli64", f"{line} J nolog", mutates=" show" not in f" {line}")
    return json.loads(done.stdout)["Controllers"][0]


async def megacli(host: SimulatedHost, line: str, *, mutates: bool = False) -> str:
    """The text."""
    return (await ask(host, "MegaCli64", f"{line} -NoLog", mutates=mutates)).stdout


def row(answer: Any) -> Any:
    """The first row of the detailed status."""
    return answer["Command Status"]["Detailed Status"][0]


def cache(answer: Any, path: str) -> str:
    """The cache column of a volume."""
    return str(answer["Response Data"][path][0]["Cache"])
