"""Hosts for the screens: what they tell is held back until a test lets them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import field

from app.features.fleet.hosts.overview import WORDS as FACTS
from app.features.fleet.hosts.query import Fleet
from app.features.fleet.hosts.wire_format import RawResponse
from app.features.fleet.multihost.transport import Transport
from backends.values import dataclass
from backends.version import program_version
from tests.features.fleet.multihost.test_conductor import Table as Doubles

REFUSED = "ssh: connect to host n3 port 22: Connection refused"


def thing(address: str, kind: str, of: str, **setting: str) -> dict[str, object]:
    """One thing of `hosts facts`."""
    return {"address": address, "kind": kind, "of": of, "hardware": {}, "firmware": {}, "setting": setting}


UNFIT: dict[str, object] = {
    "id": "scheduler-unfit",
    "severity": "warn",
    "where": "block:sda",
    "message": "The scheduler is bfq on flash. It costs IOPS.",
    "evidence": "queue/scheduler: bfq",
    "do": "Set scheduler to none.",
    "change": {"target": "block:sda", "key": "scheduler", "value": "none"},
    "device": "block:sda",
    "setting": None,
}
"""A finding as `hosts facts` tells it, with a fix."""


def facts(
    *findings: tuple[str, str],
    read_ahead: str = "128",
    kernel: str = "6.1.0",
    whole: tuple[dict[str, object], ...] = (),
) -> dict[str, object]:
    """A host with a disk and an array."""
    return {
        "schema": 1,
        "host": "x",
        "program": program_version(),
        "kernel": kernel,
        "things": [
            thing("block:sda", "drive", "ST4000", read_ahead_kb=read_ahead),
            thing("md:md0", "array", "raid1 of 2"),
        ],
        "findings": [*({"id": rule, "where": where} for rule, where in findings), *whole],
    }


DEVICES: dict[str, object] = {
    "schema": 1,
    "host": "x",
    "simulated": False,
    "controllers": [],
    "arrays": [],
    "drives": [
        {
            "address": "block:sda",
            "name": "sda",
            "model": "ST4000",
            "device": "/dev/sda",
            "state": "online",
            "size_bytes": 4 << 40,
            "settings": [
                {
                    "key": "scheduler",
                    "label": "I/O scheduler",
                    "now": "none",
                    "help": "Orders requests.",
                    "choices": [{"value": "none", "label": "none"}, {"value": "bfq", "label": "bfq"}],
                }
            ],
            "queue": None,
        }
    ],
    "problems": [],
}
"""What a host tells of its devices: a disk with a setting."""


@dataclass(slots=True)
class ToldFleet:
    """Hosts that tell what a test says, in the order of its words, once it says so."""

    told: dict[str, dict[str, object] | RawResponse]
    """What each tells of itself."""
    devices: dict[str, object] = field(default_factory=lambda: DEVICES)
    """What each tells of its devices."""
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    """Hosts that wait for a test."""
    doubles: Doubles = field(default_factory=Doubles)
    """How they measure."""
    asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    """Who was asked what."""

    def fleet(self, hosts: Iterable[str] = ()) -> Fleet:
        """All of them, or these."""
        return Fleet(named="n", hosts=tuple(hosts or self.told), ask=self.ask, reach=self.reach)

    @asynccontextmanager
    async def reach(self, hosts: tuple[str, ...], words: tuple[str, ...]) -> AsyncIterator[Transport]:
        """See `Fleet`."""
        self.asked.append((hosts, words))
        yield self.doubles

    async def ask(self, hosts: tuple[str, ...], words: tuple[str, ...]) -> AsyncIterator[RawResponse]:
        """See `Fleet`."""
        self.asked.append((hosts, words))
        for host in hosts:
            if host in self.gates:
                await self.gates[host].wait()
            told = self.told[host]
            if not isinstance(told, RawResponse):
                told = RawResponse(host=host, status=0, out=json.dumps(told if words == FACTS else self.devices))
            yield told


def a_fleet() -> ToldFleet:
    """Five hosts: one with a fault, one that is missing, one set otherwise, two as they should be."""
    return ToldFleet(
        told={
            "n1": facts(),
            "n2": facts(("array-degraded", "md:md0"), ("no-such-rule", "block:sda")),
            "n3": RawResponse(host="n3", status=255, err=REFUSED),
            "n4": facts(read_ahead="0"),
            "n5": facts(),
        }
    )
