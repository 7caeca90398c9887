"""Why a setting is fixed or not effective, and why a drive is not free, is said in plain words on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from backends.model import Array, Inventory, Target
from backends.registry import MachineBackends
from backends.settings import Reading
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES, apply_states
from tests.backends.simulator.asking import FAST

APART = re.compile(r"\([^()]*\)|\"[^\"]*\"|'[^']*'")
"""Brackets and quotes, where a tool's own word may be."""


def sentences(inventory: Inventory, readings: Mapping[Target, Mapping[str, Reading]]) -> Iterator[str]:
    for each in (reading for one in readings.values() for reading in one.values()):
        yield each.availability.why_not or ""
        yield each.why_effective or ""
    yield from (device.why for device in inventory.devices if isinstance(device, Array))


def codes(inventory: Inventory) -> set[str]:
    """The words with which the tools report states."""
    reported = (fact.value for device in inventory.devices for fact in device.facts if fact.label == "Reported as")
    words = {word for text in reported for word in text.split(", ") if word != word.lower()}
    return words | {"Failed", "Degraded", "Offline", "Temporarily Disabled"}  # of batteries, caches and controllers


@pytest.mark.long
@pytest.mark.parametrize("name", MACHINES)
async def test_no_sentence_has_a_tools_code_outside_of_brackets(name: str) -> None:
    rack = MACHINES[name]()
    apply_states(rack, ("battery-failed", "cache-problem"))
    machine = MachineBackends.of(SimulatedHost(rack, speed=FAST))
    inventory = await machine.probe()
    readings, _ = await machine.read_devices(inventory)
    bare = {APART.sub("", text) for text in sentences(inventory, readings)}
    words = sorted(map(re.escape, codes(inventory)), key=len, reverse=True)
    assert len(bare) > 1
    assert [text for text in bare if re.search(rf"\b({'|'.join(words)})\b", text)] == []
