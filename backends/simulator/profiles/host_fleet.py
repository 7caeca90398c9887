"""Faults for fleets of simulated hosts. In a given fleet, the same few hosts always have a fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from backends.simulator.disk import FAILED, GOOD
from backends.simulator.rack import Rack
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """Fault of one host of a simulated fleet."""

    name: str
    """Short name."""
    change: Callable[[Rack], None] | None
    """Function that adds the fault, if the host has the affected part; None makes the host unreachable."""


def _fail_battery(rack: Rack) -> None:
    card = next((card for card in rack.cards if card.battery is not None), None)
    if card is not None and card.battery is not None:
        card.battery.state = "failed"
    _change_smart(rack, battery="Failed (Replace Batteries)")


def _change_firmware(rack: Rack) -> None:
    if rack.cards:
        rack.cards[-1].firmware = "4.270.00-4382"
    _change_smart(rack, firmware="5.32")


def _change_smart(rack: Rack, **values: Any) -> None:
    """Set fields of the first Smart Array or Adaptec controller to the given values."""
    for tool, (first, *others) in list(rack.smart.items())[:1]:
        rack.smart[tool] = (replace(first, **values), *others)


def _turn_read_ahead_off(rack: Rack) -> None:
    volume = next((volume for card in rack.cards for volume in card.volumes if volume.read_ahead != "none"), None)
    if volume is not None:
        volume.read_ahead = "none"
        return
    rack.queues.setdefault(_first_disk(rack), {})["read_ahead_kb"] = "0"


def _shrink_queue(rack: Rack) -> None:
    rack.queues.setdefault(_first_disk(rack), {})["nr_requests"] = "64"


def _fail_drive(rack: Rack) -> None:
    for card in rack.cards:
        for disk in card.disks:
            if disk.state == GOOD:
                disk.state = FAILED
                return


def _first_disk(rack: Rack) -> str:
    return next(iter((*rack.nvme, *rack.sata)), "sda")


FAULTS: Sequence[InjectedFault] = (
    InjectedFault(name="unreachable", change=None),
    InjectedFault(name="battery", change=_fail_battery),
    InjectedFault(name="firmware", change=_change_firmware),
    InjectedFault(name="read-ahead", change=_turn_read_ahead_off),
    InjectedFault(name="queue", change=_shrink_queue),
    InjectedFault(name="drive", change=_fail_drive),
)


def faults_by_host(hosts: Sequence[str]) -> Mapping[str, InjectedFault]:
    """Return the faults by host name. Fewer than half of the hosts have one; they are evenly spread over the list."""
    faults = FAULTS[: max(0, (len(hosts) - 1) // 2)]
    return {hosts[len(hosts) * (index + 1) // (len(faults) + 1)]: fault for index, fault in enumerate(faults)}
