"""Simulated hosts by name, and a function that applies faults to a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from backends.simulator.profiles import SOUND
from backends.simulator.profiles.arrays import arrays_rack
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.profiles.ssds import ssds_rack
from backends.simulator.rack import Rack

MACHINES: Mapping[str, Callable[..., Rack]] = {
    "lsi": demo_rack,
    "hpe": hpe_rack,
    "linux": linux_rack,
    "arrays": arrays_rack,
    "ssds": ssds_rack,
}
"""Functions that return a simulated host in its initial state, by name of the host. They take the host's clock."""


def apply_states(rack: Rack, states: Iterable[str]) -> None:
    """Apply these faults of `STATES` to the host, and remove all others."""
    rack.states = sorted(set(states) - {SOUND})
    new, failed, broken = MACHINES[rack.name](), "battery-failed" in rack.states, "cache-problem" in rack.states
    for card, as_new in zip(rack.cards, new.cards, strict=True):
        if card.battery is not None and as_new.battery is not None:
            card.battery.state = "failed" if failed else as_new.battery.state
    for tool, cards in new.smart.items():
        batteries = {card.number: card.battery for card in cards}
        rack.smart[tool] = tuple(
            replace(
                card,
                battery="Failed (Replace Batteries)" if failed and card.battery else batteries[card.number],
                cache_problem=broken and tool == "ssacli",
            )
            for card in rack.smart[tool]
        )
    for system, as_made in zip(rack.systems, new.systems, strict=True):
        system.battery = "Failed" if failed else as_made.battery
        system.locked = "locked" in rack.states
