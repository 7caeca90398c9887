"""Conversion of tw_cli's rows to controllers, arrays and drives. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from backends.model import (
    Array,
    Controller,
    Drive,
    Health,
    Inventory,
    Level,
    Problem,
    Protection,
    Scope,
    State,
    Target,
    Task,
)
from backends.raid import data_drives
from backends.reported_words import plain_words, word_text
from backends.sizes import read_size
from backends.topology import Node, Topology
from backends.topology.device_identity import exact_size, identity
from backends.values import dataclass
from backends.vendors._read_only import facts
from backends.vendors.threeware.settings import Row

NAME = "threeware"
"""Prefix of this backend's targets."""

CARD = re.compile(r"/(c\d{1,3})", re.ASCII)
"""Address of a controller."""

UNIT = re.compile(r"/c(\d{1,3})/u(\d{1,4})", re.ASCII)
"""Address of a unit. It becomes an argument of a command, so nothing else is accepted."""

_PERCENT = re.compile(r"(\d{1,3})%", re.ASCII)
_ADDRESS = re.compile(r"/host\d+/target\d+:\d+:\d+/\d+:\d+:(\d+):0/", re.ASCII)
_MAKERS = ("AMCC", "LSI", "3ware")

_UNITS = {
    "OK": State.OPTIMAL,
    "VERIFYING": State.OPTIMAL,
    "INITIALIZING": State.REBUILDING,
    "MIGRATING": State.OPTIMAL,
    "REBUILDING": State.REBUILDING,
    "DEGRADED": State.DEGRADED,
    "RECOVERY": State.DEGRADED,
    "INOPERABLE": State.FAILED,
}
_TASKS = {
    "VERIFYING": "consistency-check",
    "INITIALIZING": "initialisation",
    "REBUILDING": "rebuild",
    "MIGRATING": "reshape",
}
_PAUSED = {
    "VERIFY": "VERIFYING",
    "INIT": "INITIALIZING",
    "INITIALIZE": "INITIALIZING",
    "REBUILD": "REBUILDING",
    "MIGRATE": "MIGRATING",
}
"""Status of a running task, by the first part of the status of the same task when it is paused (`VERIFY-PAUSED`)."""

_BATTERIES = {"ok": "optimal", "charging": "learning", "testing": "learning", "missing": "missing"}
"""Battery state by the value, in lower case, of column BBU or Status. Any other value (Fault, WeakBat) is a failure."""

_FAILING = "SMART-FAILURE"
"""Status of a drive that still works but predicts its failure."""

_DRIVES = {
    "OK": State.ONLINE,
    "VERIFYING": State.ONLINE,
    "REBUILDING": State.REBUILDING,
    "INITIALIZING": State.ONLINE,
    _FAILING: State.ONLINE,
    "ECC-ERROR": State.ONLINE,
}
_LEVELS = {
    "RAID-0": Level.RAID0,
    "RAID-1": Level.RAID1,
    "RAID-5": Level.RAID5,
    "RAID-6": Level.RAID6,
    "RAID-10": Level.RAID10,
    "RAID-50": Level.RAID50,
    "JBOD": Level.JBOD,
    "SINGLE": Level.JBOD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreewareCard:
    """The output of tw_cli about one controller."""

    row: Row
    """Its row in the list of controllers."""
    units: tuple[Row, ...]
    """Rows of its units."""
    ports: tuple[Row, ...]
    """Rows of its drives, including empty ports."""
    battery: Row | None = None
    """Row of its battery."""
    pci: str | None = None
    """Its PCI address; only known if it is the only controller."""
    cut: Mapping[str, Problem] = field(default_factory=dict)
    """Problems about incomplete output, by the argument of the query, such as `unitstatus`."""

    @property
    def name(self) -> str:
        """Return the name of the controller, `c0`."""
        return self.row["Ctl"]

    @property
    def is_protected(self) -> bool:
        """Return whether its cache is known to survive a power failure."""
        return self.protection == "optimal"

    @property
    def uncached_reason(self) -> str:
        """Return why its battery prevents it from caching writes now; "" if it caches writes."""
        if self.protection in (None, "optimal", "unknown"):
            return ""
        battery = (self.battery or {}).get("Status") or self.row.get("BBU", "")
        ready = "not ready" if battery == "OK" else word_text(battery)
        return f"the battery is {ready}, so the controller does not cache writes until it is ready"

    @property
    def protection(self) -> str | None:
        """Return the state of its battery as raidbench names it, such as `optimal`; None without a battery."""
        if self.row.get("BBU", "") == "-":
            return None
        if "bbustatus" in self.cut:
            return "unknown"
        if self.battery is not None and self.battery.get("Status"):
            ready = self.battery.get("BBUReady") == "Yes"
            state = _BATTERIES.get(self.battery["Status"].lower(), "failed")
            return state if ready or state != "optimal" else "learning"
        column = self.row.get("BBU", "")
        return _BATTERIES.get(column.lower(), "failed") if column else "unknown"


def controller_target(name: str) -> Target:
    """Return the target of a controller."""
    return Target(backend=NAME, address=f"/{name}", scope=Scope.CONTROLLER)


def unit_target(card: str, unit: str) -> Target:
    """Return the target of a unit."""
    return Target(backend=NAME, address=f"/{card}/{unit}", scope=Scope.ARRAY)


def inventory(card: ThreewareCard, picture: Topology) -> Inventory:
    """Return a controller with its units and drives. Units that are spares are shown as spare drives."""
    owner = controller_target(card.name)
    units = [row for row in card.units if row["UnitType"] != "SPARE"]
    ports = [row for row in card.ports if row["Status"] != "NOT-PRESENT"]
    return Inventory(
        controllers=(_controller(card, owner),),
        arrays=tuple(
            _array(card, row, owner, [port for port in ports if port["Unit"] == row["Unit"]], picture) for row in units
        ),
        drives=tuple(drive for _, drive in inventory_drives(card)),
        problems=tuple(card.cut.values()),
    )


def inventory_drives(card: ThreewareCard) -> tuple[tuple[Row, Drive], ...]:
    """Return each drive of a controller with its row, which also has its port as `Place`."""
    owner = controller_target(card.name)
    spares = {row["Unit"] for row in card.units if row["UnitType"] == "SPARE"}
    ports = (port for port in card.ports if port["Status"] != "NOT-PRESENT")
    return tuple(({**port, "Place": place_of(port)}, _drive(card, port, owner, spares)) for port in ports)


def place_of(port: Row) -> str:
    """Return the place of a drive, `p3`: the first column of the table of drives, `Port` or `VPort`."""
    return next(iter(port.values()))


def level_of(unit: Row) -> Level:
    """Return the level of a unit."""
    return _LEVELS.get(unit["UnitType"], Level.UNKNOWN)


def running_word(status: str) -> str:
    """Return the status of a unit as if its task were not paused: `REBUILDING` for `REBUILD-PAUSED`."""
    task, pause, ending = status.partition("-PAUSE")
    return _PAUSED.get(task, task) if pause and ending in ("", "D") else status


def node_of(unit: Row, picture: Topology) -> Node | None:
    """Return the kernel's disk of a unit, or None.

    It has the unit's number as SCSI target, 3ware as vendor and the same size.
    """
    number, size = unit["Unit"].removeprefix("u"), _size(unit)
    nodes = [
        node
        for node in picture.tree.nodes.values()
        if node.parent is None
        and node.attributes.get("device/vendor", "").strip() in _MAKERS
        and (address := _ADDRESS.search(node.path or "")) is not None
        and address[1] == number
        and size is not None
        and node.size_bytes is not None
        and abs(node.size_bytes - size) < size // 100
    ]
    return nodes[0] if len(nodes) == 1 else None


def _controller(card: ThreewareCard, owner: Target) -> Controller:
    row, battery, state = card.row, card.battery, card.protection
    pairs = [("Units with faults", row.get("NotOpt") if row.get("NotOpt") != "0" else None)]
    pairs += [("Rebuild rate", row.get("RRate")), ("Verify rate", row.get("VRate"))]
    pairs += [("Battery", battery.get("Status") if battery is not None and not card.is_protected else None)]
    return Controller(
        target=owner,
        vendor=NAME,
        model=f"3ware {row['Model']}",
        pci=card.pci,
        protection=None if state is None else Protection(kind="bbu", state=state),
        facts=facts(pairs),
    )


def missing_rows(card: ThreewareCard) -> Mapping[str, str]:
    """Return a clause for each query that lists fewer units, drives or batteries than `info` reports.

    The keys are the arguments of the queries: `unitstatus`, `drivestatus`, `bbustatus`.
    """
    drive_count = sum(port["Status"] != "NOT-PRESENT" for port in card.ports)
    counts = {
        "unitstatus": ("units", card.row.get("Units", ""), len(card.units)),
        "drivestatus": ("drives", card.row.get("Drives", ""), drive_count),
    }
    fields = {
        word: f"`info` counts {number} {kind}, but {count} {('is' if count == 1 else 'are')} listed"
        for word, (kind, number, count) in counts.items()
        if number.isascii() and number.isdigit() and len(number) < 5 and count < int(number)
    }
    if card.row.get("BBU", "-") not in ("-", "") and card.battery is None:
        fields["bbustatus"] = "`info` names a battery, but none is listed"
    return fields


def _array(card: ThreewareCard, row: Row, owner: Target, ports: Iterable[Row], picture: Topology) -> Array:
    members = () if "drivestatus" in card.cut else tuple(_port_target(card, port) for port in ports)
    level, status_word = level_of(row), row["Status"]
    status = running_word(status_word)
    node = node_of(row, picture)
    task, state = _TASKS.get(status), _UNITS.get(status, State.UNKNOWN)
    columns = (_PERCENT.match(row.get(name, "")) for name in ("%RCmpl", "%V/I/M", "%Cmpl"))
    done = next(filter(None, columns), None)
    return Array(
        target=unit_target(card.name, row["Unit"]),
        controller=owner,
        name=row["Unit"],
        level=level,
        state=state,
        why=plain_words(status_word)
        if status != status_word or status not in (*_UNITS, *_TASKS) or status == "RECOVERY"
        else "",
        size_bytes=exact_size(node, _size(row)),
        strip_bytes=read_size(row.get("Stripe")),
        # None if degraded, because missing drives are not listed, and for RAID 50, whose groups are not reported.
        data_drives=data_drives(level, len(members)) if state is not State.DEGRADED else None,
        device=node.device if node is not None else None,
        members=members,
        identity=identity(node) if node is not None else None,
        tasks=()
        if task is None
        else (Task(kind=task, progress=min(int(done[1]), 100) / 100 if done else None, paused=status != status_word),),
    )


def _port_target(card: ThreewareCard, port: Row) -> Target:
    return Target(backend=NAME, address=f"/{card.name}/{place_of(port)}")


def _drive(card: ThreewareCard, port: Row, owner: Target, spares: set[str]) -> Drive:
    unit = port["Unit"]
    state = _DRIVES.get(port["Status"], State.DEGRADED)
    is_unknown_unit = "unitstatus" in card.cut and unit not in ("-", *(row["Unit"] for row in card.units))
    if state is State.ONLINE and unit in spares:
        state = State.SPARE
    elif state is State.ONLINE and unit == "-":
        state = State.UNASSIGNED
    elif state is State.ONLINE and is_unknown_unit:  # the missing rows may list its unit as a spare
        state = State.UNKNOWN
    blocks = port.get("Blocks", "")
    location = port.get("Encl-Slot", "-")
    pairs = [("Place", location if location != "-" else None)]
    pairs += [("Card's word", port["Status"] if port["Status"] not in _USUAL else None)]
    return Drive(
        target=_port_target(card, port),
        controller=owner,
        array=None if unit == "-" or unit in spares or is_unknown_unit else unit_target(card.name, unit),
        model=port.get("Model"),
        serial=port.get("Serial") or None,
        interface=port["Type"].lower() if port.get("Type", "-") != "-" else None,
        size_bytes=int(blocks) * 512 if blocks.isascii() and blocks.isdigit() else read_size(port.get("Size")),
        state=state,
        health=_health(port["Status"]),
        facts=facts(pairs),
    )


_USUAL = ("OK", "VERIFYING", "REBUILDING", "INITIALIZING")
"""Statuses of a drive that report no fault, and whose text is therefore not shown as a fact."""


def _health(status: str) -> Health:
    """Return the health that follows from the status: a predicted failure, or at least one unreadable sector."""
    if status == _FAILING:
        return Health(predicts_failure=True)
    if status == "ECC-ERROR":
        return Health(media_errors=1)
    return Health(predicts_failure=False) if status in _USUAL else Health()


def _size(unit: Row) -> int | None:
    """Return the size of a unit in bytes.

    A number without a unit is in the unit of the column's title (GB), which means GiB.
    """
    return read_size(unit.get("Size(GB)"), bare="g")
