"""Simulated hosts by the dozen: each has the rack as new, and a few have something else, always the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from backends.simulator.disk import FAILED, GOOD
from backends.simulator.rack import Rack
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """What one host of a simulated fleet has and the others have not."""

    name: str
    """In a word."""
    change: Callable[[Rack], None] | None
    """Makes its rack so, as far as the rack has such a part; None: the host cannot be reached."""


def _battery(rack: Rack) -> None:
    card = next((card for card in rack.cards if card.battery is not None), None)
    if card is not None and card.battery is not None:
        card.battery.state = "failed"
    _change_smart(rack, battery="Failed (Replace Batteries)")


def _firmware(rack: Rack) -> None:
    if rack.cards:
        rack.cards[-1].firmware = "4.270.00-4382"
    _change_smart(rack, firmware="5.32")


def _change_smart(rack: Rack, **values: Any) -> None:
    """Change the first Smart Array or Adaptec card."""
    for tool, (first, *others) in list(rack.smart.items())[:1]:
        rack.smart[tool] = (replace(first, **values), *others)


def _read_ahead(rack: Rack) -> None:
    volume = next((volume for card in rack.cards for volume in card.volumes if volume.read_ahead != "none"), None)
    if volume is not None:
        volume.read_ahead = "none"
        return
    rack.queues.setdefault(_disk(rack), {})["read_ahead_kb"] = "0"


def _queue(rack: Rack) -> None:
    rack.queues.setdefault(_disk(rack), {})["nr_requests"] = "64"


def _drive(rack: Rack) -> None:
    for card in rack.cards:
        for disk in card.disks:
            if disk.state == GOOD:
                disk.state = FAILED
                return


def _disk(rack: Rack) -> str:
    return next(iter((*rack.nvme, *rack.sata)), "sda")


FAULTS: Sequence[InjectedFault] = (
    InjectedFault(name="unreachable", change=None),
    InjectedFault(name="battery", change=_battery),
    InjectedFault(name="firmware", change=_firmware),
    InjectedFault(name="read-ahead", change=_read_ahead),
    InjectedFault(name="queue", change=_queue),
    InjectedFault(name="drive", change=_drive),
)


def faults_by_host(hosts: Sequence[str]) -> Mapping[str, InjectedFault]:
    """Return which hosts of a fleet have a fault: by their place in it, spread out, and fewer than half."""
    plants = FAULTS[: max(0, (len(hosts) - 1) // 2)]
    return {hosts[len(hosts) * (at + 1) // (len(plants) + 1)]: plant for at, plant in enumerate(plants)}
