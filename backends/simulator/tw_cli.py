"""What a simulated tw_cli prints of 3ware cards, and what it does to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from backends.simulator.threeware import (
    LEVELS,
    STRIPES,
    CardRefusesError,
    SimulatedPort,
    SimulatedThreeware,
    SimulatedUnit,
)
from backends.simulator.tool_output import SimulatedOutput

_SET = re.compile(r"(cache|rdcache|autoverify|storsave|qpolicy)=(\w+)")
_SWITCHES = {"cache": "write", "autoverify": "verify", "qpolicy": "queues"}
"""Settings that are on or off, by the attribute of a unit."""
_ASKS = ("cache", "storsave")
"""What has `quiet` in the usage."""

_POLICIES = {"protect": "protection", "balance": "balance", "perform": "performance"}
_ROW = "{:<6}{:<10}{:<15}{:<8}{:<8}{:<8}{:<10}{:<7}{:<7}"
_PART = "{:<9}{:<10}{:<15}{:<8}{:<8}{:<6}{:<8}{:<10}"
_CARD, _UNIT, _PORT = (re.compile(form) for form in (r"/?c(\d+)", r"/c(\d+)/u(\d+)", r"/c(\d+)/p(\d+)"))
_INVALID = SimulatedOutput(text="Error: (CLI:008) Invalid ID specified.\n", code=1)
_UNKNOWN = SimulatedOutput(text="Error: (CLI:009) Invalid command.\n", code=1)

Cards = Sequence[SimulatedThreeware]


def question(args: Sequence[str]) -> str:
    """What it asks before it does something; "" for nothing."""
    if len(args) == 2 and _UNIT.fullmatch(args[0]) and args[1] == "del":
        return (
            f"Deleting {args[0]} will cause the data on the unit to be permanently lost.\n"
            "Do you want to continue ? Y|N [N]: "
        )
    return ""


def answer(cards: Cards, args: Sequence[str], now: float = 0.0) -> SimulatedOutput:
    """What tw_cli prints, and what it does; a question was answered already."""
    if list(args) == ["info"]:
        title = "Ctl   Model        (V)Ports  Drives   Units   NotOpt  RRate   VRate  BBU"
        return _table(title, [_card_row(card, now) for card in cards])
    named = args[1] if args[:1] == ["info"] or args[:1] == ("info",) else (args or ("",))[0]
    address = re.match(_CARD, named)
    card = next((threeware for threeware in cards if address is not None and threeware.number == int(address[1])), None)
    if card is None:
        return _INVALID
    return _answer_card(card, list(args), now)


def _answer_card(card: SimulatedThreeware, args: list[str], now: float) -> SimulatedOutput:
    match args:
        case ["info", _, "unitstatus"]:
            titles = ("Unit", "UnitType", "Status", "%RCmpl", "%V/I/M", "Stripe", "Size(GB)", "Cache", "AVrfy")
            return _table(_ROW.format(*titles), [_unit_row(unit, now) for unit in card.units])
        case ["info", _, "drivestatus"]:
            rows = [_port_row(card, port) for port in card.ports]
            return _table("VPort Status         Unit Size      Type  Phy Encl-Slot    Model", rows)
        case ["info", _, "bbustatus"]:
            ready = "Yes" if card.battery == "OK" else "No"
            row = f"bbu   On           {ready:<10}{card.battery:<10}OK       OK       93     24-Jul-2012"
            return _table("Name  OnlineState  BBUReady  Status    Volt     Temp     Hours  LastCapTest", [row])
        case [where, "add", *rest] if _CARD.fullmatch(where):
            return _add(card, dict(word.partition("=")[::2] for word in rest), now)
        case [where, "show", "serial"] if port := _PORT.fullmatch(where):
            drive = next((candidate for candidate in card.ports if candidate.number == int(port[2])), None)
            return (
                _INVALID if drive is None else SimulatedOutput(text=f"{where} Serial = {drive.serial}\n", seconds=0.1)
            )
        case [where, *rest] if address := _UNIT.fullmatch(where):
            unit = card.unit(int(address[2]))
            return _INVALID if unit is None else _answer_unit(card, unit, where, rest, now)
        case _:
            return _INVALID


def _answer_unit(
    card: SimulatedThreeware, unit: SimulatedUnit, where: str, args: list[str], now: float
) -> SimulatedOutput:
    match args:
        case ["show", "storsave"]:
            return SimulatedOutput(text=f"{where} Storsave Policy = {_POLICIES[unit.storsave]}\n", seconds=0.4)
        case ["show", "qpolicy"]:
            return SimulatedOutput(text=f"{where} Command Queuing Policy = {_on(unit.queues).lower()}\n", seconds=0.4)
        case ["show", "all"]:
            return SimulatedOutput(text="\n".join(_all(unit, where, now)) + "\n\n", seconds=0.4)
        case ["del"]:
            card.units.remove(unit)
            return SimulatedOutput(text=f"Deleting unit {where[1:]} ...Done.\n", seconds=1)
        case ["set", word, *quiet] if match := _SET.fullmatch(word):
            if quiet != (["quiet"] if match[1] in _ASKS else []):
                return _UNKNOWN
            return _set(card, unit, where, match[1], match[2])
        case _:
            return _INVALID


def _card_row(card: SimulatedThreeware, now: float) -> str:
    bad = sum(unit.status(now) not in ("OK", "VERIFYING") for unit in card.units)
    count = len(card.ports)
    counts = f"{count:<10}{count:<9}{len(card.units):<8}{bad:<8}"
    return f"c{card.number:<5}{card.model:<13}{counts}2       3      {card.battery}"


def _unit_row(unit: SimulatedUnit, now: float) -> str:
    spare, done = unit.kind == "SPARE", unit.initialised(now)
    return _ROW.format(
        f"u{unit.number}",
        unit.kind,
        unit.status(now),
        "-",
        "-" if done is None else f"{done:.0%}",
        f"{unit.stripe_kib}K" if unit.striped else "-",
        f"{unit.size_gib:.6g}",
        "-" if spare else _cache(unit),
        _on(unit.verify),
    )


def _port_row(card: SimulatedThreeware, port: SimulatedPort) -> str:
    unit = card.unit_of(port.number)
    size = f"{port.size_bytes / 2**30:.2f} GB"
    start = f"p{port.number:<5}{port.status:<15}{'-' if unit is None else f'u{unit.number}':<5}"
    return f"{start}{size:<10}SATA  {port.number:<4}-            {port.model[:20]}"


def _all(unit: SimulatedUnit, where: str, now: float) -> Iterator[str]:
    status = unit.status(now)
    done = unit.initialised(now)
    values = {
        "status": status,
        "Write Cache": _on(unit.write).lower(),
        "Read Cache": unit.read.capitalize(),
        "volume(s)": "1",
        "name": unit.name,
        "serial number": unit.serial,
        "Auto Verify Policy": _on(unit.verify).lower(),
        "Storsave Policy": _POLICIES[unit.storsave],
        "Command Queuing Policy": _on(unit.queues).lower(),
    }
    yield from (f"{where} {label} = {value}" for label, value in values.items())
    yield ""
    title = _PART.format("Unit", "UnitType", "Status", "%RCmpl", "%V/I/M", "VPort", "Stripe", "Size(GB)")
    yield title
    yield "-" * len(title.rstrip())
    alone = len(unit.ports) == 1
    stripe, size = f"{unit.stripe_kib}K" if unit.striped else "-", f"{unit.size_gib:.6g}"
    own, progress = f"u{unit.number}", "-" if done is None else f"{done:.0%}"
    yield _PART.format(own, unit.kind, status, "-", progress, f"p{unit.ports[0]}" if alone else "-", stripe, size)
    for at, port in enumerate(unit.ports if not alone else ()):
        below = f"{own}-{at}" if not unit.each else f"{own}-{at // unit.each}-{at % unit.each}"
        if unit.each and at % unit.each == 0:
            inner = "RAID-1" if unit.kind == "RAID-10" else "RAID-5"
            yield _PART.format(f"{own}-{at // unit.each}", inner, "OK", "-", "-", "-", "-", "-")
        yield _PART.format(below, "DISK", "OK", "-", "-", f"p{port}", "-", "-")
    yield _PART.format(f"{own}/v0", "Volume", "-", "-", "-", "-", "-", size)


def _add(card: SimulatedThreeware, given: dict[str, str], now: float) -> SimulatedOutput:
    """`add`: a unit, and what it has from the first day."""
    where = f"/c{card.number}"
    kind, stripe = LEVELS.get(given.get("type", "")), given.get("stripe", "64")
    if (
        kind is None
        or given.keys() - {"type", "disk", "stripe", "group", "nocache", "name", "storsave"}
        or stripe not in map(str, STRIPES)
        or given.get("storsave", "protect") not in _POLICIES
        or not re.fullmatch(r"\d+(:\d+)*", given.get("disk", ""))
        or not re.fullmatch(r"\d?", given.get("group", ""))
    ):
        return _UNKNOWN
    new = SimulatedUnit(
        stripe_kib=int(stripe),
        each=int(given.get("group") or 0),
        write="nocache" not in given,
        storsave=given.get("storsave", "balance"),
        name=given.get("name", ""),
    )
    try:
        made = card.make(kind, tuple(map(int, given["disk"].split(":"))), new, now)
    except CardRefusesError as error:
        return SimulatedOutput(
            text=f"Creating new unit on controller {where} ... Failed.\n(0x0B:0x0033): {error}\n", code=1
        )
    unit = f"{where}/u{made.number}"
    lines = (
        f"Creating new unit on controller {where} ... Done. The new unit is {unit}.",
        "Setting AutoVerify=ON for the new unit ... Done.",
        f"Setting Storsave policy to [{made.storsave}] for the new unit ... Done.",
        f"Setting default Command Queuing policy for unit {unit} to [on] ... Done.",
        f"Setting write cache = {_on(made.write)} for the new unit ... Done.",
    )
    return SimulatedOutput(text="\n".join(lines) + "\n", seconds=2)


def _set(card: SimulatedThreeware, unit: SimulatedUnit, where: str, word: str, value: str) -> SimulatedOutput:
    names = {"cache": "Write Cache Policy", "rdcache": "Read Cache Policy", "autoverify": "Auto Verify Policy"}
    names |= {"storsave": "Storsave Policy", "qpolicy": "Command Queuing Policy"}
    action = f"Setting {names[word]} on {where} to [{value}] ..."
    switch = {"on": True, "off": False}.get(value)
    if word == "cache" and switch and card.battery not in ("-", "OK"):
        return SimulatedOutput(text=f"{action} Failed.\n(0x0B:0x0017): Battery is not ready\n", code=1, seconds=1)
    if word == "rdcache" and value in ("off", "basic", "intelligent"):
        unit.read = value
    elif word in _SWITCHES and switch is not None:
        setattr(unit, _SWITCHES[word], switch)
    elif word == "storsave" and value in _POLICIES:
        unit.storsave = value
    else:
        return SimulatedOutput(text=f"{action} Failed.\n", code=1, seconds=1)
    return SimulatedOutput(text=f"{action} Done.\n", seconds=1)


def _cache(unit: SimulatedUnit) -> str:
    read = {"off": "", "basic": "Rb", "intelligent": "Ri"}[unit.read]
    return (read + ("W" if unit.write else "")) or "OFF"


def _table(title: str, rows: Sequence[str]) -> SimulatedOutput:
    lines = ["", title, "-" * len(title.rstrip()), *rows, "", ""]
    return SimulatedOutput(text="\n".join(lines), seconds=0.4)


def _on(switch: bool) -> str:
    return "ON" if switch else "OFF"
