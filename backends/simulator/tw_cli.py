"""Simulated tw_cli: its output, and its changes to 3ware controllers."""

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
"""Attributes of `SimulatedUnit`, by tw_cli's name of the setting, for settings that are on or off."""
_ASKS = ("cache", "storsave")
"""Settings that require the argument `quiet`, according to tw_cli's usage message."""

_POLICIES = {"protect": "protection", "balance": "balance", "perform": "performance"}
_ROW = "{:<6}{:<10}{:<15}{:<8}{:<8}{:<8}{:<10}{:<7}{:<7}"
_PART = "{:<9}{:<10}{:<15}{:<8}{:<8}{:<6}{:<8}{:<10}"
_CARD, _UNIT, _PORT = (re.compile(form) for form in (r"/?c(\d+)", r"/c(\d+)/u(\d+)", r"/c(\d+)/p(\d+)"))
_INVALID = SimulatedOutput(text="Error: (CLI:008) Invalid ID specified.\n", code=1)
_UNKNOWN = SimulatedOutput(text="Error: (CLI:009) Invalid command.\n", code=1)

Cards = Sequence[SimulatedThreeware]


def question(args: Sequence[str]) -> str:
    """Return the question that tw_cli asks before a deletion, or an empty string for other commands."""
    if len(args) == 2 and _UNIT.fullmatch(args[0]) and args[1] == "del":
        return (
            f"Deleting {args[0]} will cause the data on the unit to be permanently lost.\n"
            "Do you want to continue ? Y|N [N]: "
        )
    return ""


def answer(cards: Cards, args: Sequence[str], now: float = 0.0) -> SimulatedOutput:
    """Run tw_cli and return its output. The caller has already asked the question."""
    if list(args) == ["info"]:
        title = "Ctl   Model        (V)Ports  Drives   Units   NotOpt  RRate   VRate  BBU"
        return _table(title, [_card_row(card, now) for card in cards])
    subject = args[1] if args[:1] == ["info"] or args[:1] == ("info",) else (args or ("",))[0]
    address = re.match(_CARD, subject)
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
        case [path, "add", *rest] if _CARD.fullmatch(path):
            return _add(card, dict(word.partition("=")[::2] for word in rest), now)
        case [path, "show", "serial"] if port := _PORT.fullmatch(path):
            drive = next((candidate for candidate in card.ports if candidate.number == int(port[2])), None)
            return _INVALID if drive is None else SimulatedOutput(text=f"{path} Serial = {drive.serial}\n", seconds=0.1)
        case [path, *rest] if address := _UNIT.fullmatch(path):
            unit = card.unit(int(address[2]))
            return _INVALID if unit is None else _answer_unit(card, unit, path, rest, now)
        case _:
            return _INVALID


def _answer_unit(
    card: SimulatedThreeware, unit: SimulatedUnit, path: str, args: list[str], now: float
) -> SimulatedOutput:
    match args:
        case ["show", "storsave"]:
            return SimulatedOutput(text=f"{path} Storsave Policy = {_POLICIES[unit.storsave]}\n", seconds=0.4)
        case ["show", "qpolicy"]:
            return SimulatedOutput(
                text=f"{path} Command Queuing Policy = {_on_off(unit.queues).lower()}\n", seconds=0.4
            )
        case ["show", "all"]:
            return SimulatedOutput(text="\n".join(_show_all(unit, path, now)) + "\n\n", seconds=0.4)
        case ["del"]:
            card.units.remove(unit)
            return SimulatedOutput(text=f"Deleting unit {path[1:]} ...Done.\n", seconds=1)
        case ["set", word, *quiet] if match := _SET.fullmatch(word):
            if quiet != (["quiet"] if match[1] in _ASKS else []):
                return _UNKNOWN
            return _set(card, unit, path, match[1], match[2])
        case _:
            return _INVALID


def _card_row(card: SimulatedThreeware, now: float) -> str:
    not_optimal = sum(unit.status(now) not in ("OK", "VERIFYING") for unit in card.units)
    count = len(card.ports)
    counts = f"{count:<10}{count:<9}{len(card.units):<8}{not_optimal:<8}"
    return f"c{card.number:<5}{card.model:<13}{counts}2       3      {card.battery}"


def _unit_row(unit: SimulatedUnit, now: float) -> str:
    is_spare, done = unit.kind == "SPARE", unit.initialised_share(now)
    return _ROW.format(
        f"u{unit.number}",
        unit.kind,
        unit.status(now),
        "-",
        "-" if done is None else f"{done:.0%}",
        f"{unit.stripe_kib}K" if unit.striped else "-",
        f"{unit.size_gib:.6g}",
        "-" if is_spare else _cache_text(unit),
        _on_off(unit.verify),
    )


def _port_row(card: SimulatedThreeware, port: SimulatedPort) -> str:
    unit = card.unit_of(port.number)
    size = f"{port.size_bytes / 2**30:.2f} GB"
    start = f"p{port.number:<5}{port.status:<15}{'-' if unit is None else f'u{unit.number}':<5}"
    return f"{start}{size:<10}SATA  {port.number:<4}-            {port.model[:20]}"


def _show_all(unit: SimulatedUnit, path: str, now: float) -> Iterator[str]:
    status = unit.status(now)
    done = unit.initialised_share(now)
    values = {
        "status": status,
        "Write Cache": _on_off(unit.write).lower(),
        "Read Cache": unit.read.capitalize(),
        "volume(s)": "1",
        "name": unit.name,
        "serial number": unit.serial,
        "Auto Verify Policy": _on_off(unit.verify).lower(),
        "Storsave Policy": _POLICIES[unit.storsave],
        "Command Queuing Policy": _on_off(unit.queues).lower(),
    }
    yield from (f"{path} {label} = {value}" for label, value in values.items())
    yield ""
    title = _PART.format("Unit", "UnitType", "Status", "%RCmpl", "%V/I/M", "VPort", "Stripe", "Size(GB)")
    yield title
    yield "-" * len(title.rstrip())
    is_single = len(unit.ports) == 1
    stripe, size = f"{unit.stripe_kib}K" if unit.striped else "-", f"{unit.size_gib:.6g}"
    unit_name, progress = f"u{unit.number}", "-" if done is None else f"{done:.0%}"
    yield _PART.format(
        unit_name, unit.kind, status, "-", progress, f"p{unit.ports[0]}" if is_single else "-", stripe, size
    )
    for index, port in enumerate(unit.ports if not is_single else ()):
        part = f"{unit_name}-{index}" if not unit.each else f"{unit_name}-{index // unit.each}-{index % unit.each}"
        if unit.each and index % unit.each == 0:
            inner = "RAID-1" if unit.kind == "RAID-10" else "RAID-5"
            yield _PART.format(f"{unit_name}-{index // unit.each}", inner, "OK", "-", "-", "-", "-", "-")
        yield _PART.format(part, "DISK", "OK", "-", "-", f"p{port}", "-", "-")
    yield _PART.format(f"{unit_name}/v0", "Volume", "-", "-", "-", "-", "-", size)


def _add(card: SimulatedThreeware, options: dict[str, str], now: float) -> SimulatedOutput:
    """Run `add`: create a unit with its settings."""
    path = f"/c{card.number}"
    kind, stripe = LEVELS.get(options.get("type", "")), options.get("stripe", "64")
    if (
        kind is None
        or options.keys() - {"type", "disk", "stripe", "group", "nocache", "name", "storsave"}
        or stripe not in map(str, STRIPES)
        or options.get("storsave", "protect") not in _POLICIES
        or not re.fullmatch(r"\d+(:\d+)*", options.get("disk", ""))
        or not re.fullmatch(r"\d?", options.get("group", ""))
    ):
        return _UNKNOWN
    new = SimulatedUnit(
        stripe_kib=int(stripe),
        each=int(options.get("group") or 0),
        write="nocache" not in options,
        storsave=options.get("storsave", "balance"),
        name=options.get("name", ""),
    )
    try:
        created = card.make(kind, tuple(map(int, options["disk"].split(":"))), new, now)
    except CardRefusesError as error:
        return SimulatedOutput(
            text=f"Creating new unit on controller {path} ... Failed.\n(0x0B:0x0033): {error}\n", code=1
        )
    unit = f"{path}/u{created.number}"
    lines = (
        f"Creating new unit on controller {path} ... Done. The new unit is {unit}.",
        "Setting AutoVerify=ON for the new unit ... Done.",
        f"Setting Storsave policy to [{created.storsave}] for the new unit ... Done.",
        f"Setting default Command Queuing policy for unit {unit} to [on] ... Done.",
        f"Setting write cache = {_on_off(created.write)} for the new unit ... Done.",
    )
    return SimulatedOutput(text="\n".join(lines) + "\n", seconds=2)


def _set(card: SimulatedThreeware, unit: SimulatedUnit, path: str, word: str, value: str) -> SimulatedOutput:
    names = {"cache": "Write Cache Policy", "rdcache": "Read Cache Policy", "autoverify": "Auto Verify Policy"}
    names |= {"storsave": "Storsave Policy", "qpolicy": "Command Queuing Policy"}
    action = f"Setting {names[word]} on {path} to [{value}] ..."
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


def _cache_text(unit: SimulatedUnit) -> str:
    read = {"off": "", "basic": "Rb", "intelligent": "Ri"}[unit.read]
    return (read + ("W" if unit.write else "")) or "OFF"


def _table(title: str, rows: Sequence[str]) -> SimulatedOutput:
    lines = ["", title, "-" * len(title.rstrip()), *rows, "", ""]
    return SimulatedOutput(text="\n".join(lines), seconds=0.4)


def _on_off(switch: bool) -> str:
    return "ON" if switch else "OFF"
