"""Parser for storcli's command lines, and the simulated output.

The output is always JSON, because raidbench adds `J` (JSON) to every command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from backends.json_text import indented_json
from backends.simulator import firmware_rules
from backends.simulator.controller import STORCLI, SimulatedCard
from backends.simulator.disk import FOREIGN
from backends.simulator.rack import Rack
from backends.simulator.storcli import changes, show_all
from backends.simulator.storcli.rows import drive_row, volume_row
from backends.simulator.tool_output import SimulatedOutput
from backends.simulator.volume import Volume

Entry = dict[str, Any]
Answer = tuple[Entry, int]
"""Output entry of one controller, and exit status."""

VERSION = "007.2707.0000.0000 Dec 18, 2023"
"""Version that storcli reports."""

_PATH = re.compile(r"/c(?P<card>all|\d+)(?:/(?P<rest>.+))?")
_SHORT = 0.15
"""Duration of an ordinary command in seconds."""

_ON_SSD = {"on": "Enabled", "only-mixed": "OnlyMixed", "off": "Disabled"}


def answer(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run storcli with these arguments (without the program) and return its output."""
    try:
        entries, code, seconds = _run(rack, [word for word in args if word not in ("J", "j", "nolog")])
    except changes.CommandSyntaxError as error:
        text = f"syntax error, unexpected {str(error) or '$end'}\n\n     Storage Command Line Tool  Ver {VERSION}\n"
        return SimulatedOutput(text=text, code=1, seconds=_SHORT)
    return SimulatedOutput(text=indented_json({"Controllers": entries}, 0) + "\n", code=code, seconds=seconds)


def _run(rack: Rack, args: list[str]) -> tuple[list[Entry], int, float]:
    """Return output entries, exit status and duration in seconds. Raises CommandSyntaxError for unknown arguments."""
    visible = [card for card in rack.cards if STORCLI in card.seen_by]
    if args == ["show"]:
        if not visible:
            return [_entry(None, status="Failure", description="No Controller found")], 255, _SHORT
        return [_entry(None, show_all.overview(visible))], 0, _SHORT
    match = _PATH.fullmatch(args[0]) if args else None
    if match is None or len(args) < 2:
        raise changes.CommandSyntaxError(args[0] if args else "$end")
    cards = [card for card in visible if match["card"] in ("all", str(card.number))]
    if not cards:
        number = int(match["card"]) if match["card"].isdigit() else 0
        return [_entry(number, status="Failure", description="Controller not found")], 1, _SHORT
    outcomes = [_on_card(rack, card, match["rest"] or "", args[1:]) for card in cards]
    slow = [card.slow for card in cards if args[1:3] == ["show", "all"] and not match["rest"]]
    return [entry for entry, _ in outcomes], max(code for _, code in outcomes), max([_SHORT, *slow])


def _on_card(rack: Rack, card: SimulatedCard, rest: str, args: list[str]) -> Answer:
    """Run a command on one controller. Raises CommandSyntaxError for an unknown path."""
    handlers: list[tuple[str, Callable[..., Answer]]] = [
        (r"", _card),
        (r"v(all|\d+)", _volumes),
        (r"(?:e(?P<e>all|\d+)/)?s(?P<s>all|\d+)", _drives),
        (r"(bbu|cv)", _backup),
        (r"f(all|\d+)", _foreign),
    ]
    for pattern, handler in handlers:
        if (match := re.fullmatch(pattern, rest)) is not None:
            try:
                return handler(rack, card, match, args)
            except firmware_rules.RefusalError as error:
                subject: Entry = {"VD": "0 KB"} if args[0] == "add" else {"Ctrl": card.number}
                return _failure_entry(card.number, subject, error), 1
    raise changes.CommandSyntaxError(rest)


def _card(rack: Rack, card: SimulatedCard, _match: re.Match[str], args: list[str]) -> Answer:
    number = card.number
    match args:
        case ["show"]:
            return _entry(number, {"Product Name": card.product, **show_all.lists(rack, card)}), 0
        case ["show", "all"]:
            return _entry(number, show_all.card_all(rack, card)), 0
        case ["show", "aso"]:
            data = {"Advanced Software Option": show_all.options(card), "Safe ID": show_all.safe_id(card)}
            return _entry(number, data), 0
        case ["show", name]:
            rows = show_all.table("Ctrl_Prop", _property(card, name))
            return _entry(number, {"Controller Properties": rows}), 0
        case ["set", "aso", key, *preview] if key.startswith("key="):
            return _apply_key(card, key.removeprefix("key="), preview == ["preview"])
        case ["set", *pairs] if pairs:
            return _entry(number, {"Controller Properties": changes.set_card(card, pairs)}), 0
        case ["add", "vd", *shape]:
            changes.add_volume(rack, card, shape)
            return _entry(number, description="Add VD Succeeded."), 0
        case _:
            raise changes.CommandSyntaxError(args[:2][-1])


def _property(card: SimulatedCard, name: str) -> list[tuple[str, Any]]:
    """Return the rows of `show NAME` for a controller property. Raises CommandSyntaxError for an unknown property."""
    if name == "patrolread":
        mode = {"off": "Disable", "auto": "Auto", "manual": "Manual"}[card.patrol]
        return [
            ("PR Mode", mode),
            ("PR Execution Delay", f"{card.property('patrol_delay')} hours"),
            ("PR iterations completed", 41),
            ("PR on SSD", _ON_SSD[card.property("patrol_ssds")]),
            ("PR Current State", "Stopped"),
            ("PR Excluded VDs", "None"),
            ("PR MaxConcurrentPd", card.property("patrol_drives")),
        ]
    if name == "cc":
        mode = {"off": "Disabled", "sequential": "Sequential", "concurrent": "Concurrent"}[card.check]
        delay = f"{card.property('check_delay')} hours"
        return [("CC Operation Mode", mode), ("CC Execution Delay", delay), ("CC Current State", "Stopped")]
    if name == "perfmode":
        return [("Perf Mode", f"{card.perf_mode} - {('BestIOPS', 'LeastLatency')[card.perf_mode]}")]
    if name in changes.SWITCHES:
        key, shown = changes.SWITCHES[name]
        return [(shown, card.property(key).upper())]
    if name == "copyback":
        names = {"ctrl": "Copyback", "smarthdd": "Copyback SmartHDD", "smartssd": "Copyback SmartSSD"}
        return [(names[kind], card.property(key).upper()) for kind, key in changes.COPYBACK.items()]
    if name in changes.CARD_WORDS:
        key, shown = changes.CARD_WORDS[name]
        return [(shown, f"{card.rates.get(key, 30)}{' sec' if key == 'flush' else '%'}")]
    raise changes.CommandSyntaxError(name)


def _apply_key(card: SimulatedCard, key: str, preview: bool) -> Answer:
    options = firmware_rules.apply_key(card, key, preview=preview)
    if preview:
        rows = [{"Adv S/W Opt": name, " Time Remaining": " Unlimited", " Mode": " -"} for name in options]
        return _entry(card.number, {"Advanced Software Option": rows}), 0
    text = "Controller reset is required for the activation key to take effect"
    row = {"Ctrl": card.number, "Status": "Failed", "Property": "ASO", "ErrMsg": text}
    row["ErrCd"] = firmware_rules.RESET_REQUIRED
    status = _entry(card.number, status="Failure", detailed=[row])
    return status, firmware_rules.RESET_REQUIRED


def _volumes(rack: Rack, card: SimulatedCard, match: re.Match[str], args: list[str]) -> Answer:
    number = card.number
    chosen = [volume for volume in card.volumes if match[1] in ("all", str(volume.number))]
    if not chosen and args[0] != "del":
        text = "No VD's have been configured." if match[1] == "all" else "Some of the specified VDs does not exist"
        return _entry(number, status="Failure", description=text), 255
    match args:
        case ["show"]:
            return _entry(number, {"Virtual Drives": [volume_row(card, volume) for volume in chosen]}), 0
        case ["show", "all"]:
            data: dict[str, Any] = {}
            for volume in chosen:
                data |= show_all.volume_all(rack, card, volume)
            return _entry(number, data), 0
        case ["show", "autobgi"]:
            rows = [{"VD": volume.number, "AutoBGI": "On" if volume.auto_bgi else "Off"} for volume in chosen]
            return _entry(number, {"VD Operation Status": rows}), 0
        case ["show", ("bgi" | "cc" | "init" | "migrate") as work]:
            return _entry(number, {"VD Operation Status": [_work(rack, volume, work) for volume in chosen]}), 0
        case ["set", *pairs] if pairs:
            detailed = changes.set_volumes(card, chosen, pairs)
            has_failed = any(row["Status"] != "Success" for row in detailed)
            # Like the real tool, exits with 0 although a row failed.
            return _entry(number, status="Failure" if has_failed else "Success", detailed=detailed), 0
        case ["del", *flags] if set(flags) <= {"force", "discardcache"}:
            return _delete(rack, card, match[1], force="force" in flags)
        case _:
            raise changes.CommandSyntaxError(args[:2][-1])


def _work(rack: Rack, volume: Volume, work: str) -> Entry:
    done = volume.initialised_share(rack.now()) if work == "bgi" else None
    row = {"VD": volume.number, "Operation": work.upper(), "Progress%": "-", "Status": "Not in progress"}
    return row if done is None else row | {"Progress%": int(done * 100), "Status": "In progress"}


def _delete(rack: Rack, card: SimulatedCard, selection: str, *, force: bool) -> Answer:
    numbers = [volume.number for volume in card.volumes] if selection == "all" else [int(selection)]
    for number in numbers:
        try:
            firmware_rules.delete(rack, card, number, force=force)
        except firmware_rules.RefusalError as error:
            row = {"VD": number, "Operation": "Delete", "Status": "Failed", "ErrCd": error.code, "ErrMsg": error.text}
            return _entry(card.number, status="Failure", description="Delete VD failed", detailed=[row]), 1
    return _entry(card.number, description="Delete VD succeeded"), 0


def _drives(rack: Rack, card: SimulatedCard, match: re.Match[str], args: list[str]) -> Answer:
    chosen = [
        disk
        for disk in card.disks
        if match["s"] in ("all", str(disk.slot))
        and (disk.enclosure is None if match["e"] is None else match["e"] in ("all", str(disk.enclosure)))
    ]
    if not chosen:
        return _entry(card.number, status="Failure", description="No drive found!"), 255
    match args:
        case ["show"]:
            return _entry(card.number, {"Drive Information": [drive_row(disk) for disk in chosen]}), 0
        case ["show", "all"]:
            data: dict[str, Any] = {}
            for disk in chosen:
                data |= show_all.drive_all(card, disk)
            return _entry(card.number, data, description="Show Drive Information Succeeded."), 0
        case ["show", "rebuild"]:
            places = {show_all.drive_path(card, disk) for disk in chosen}
            rows = [row for row in show_all.rebuilds(rack, card) if row["Drive-ID"] in places]
            return _entry(card.number, rows, description="Show Drive Rebuild Status Succeeded."), 0
        case _:
            raise changes.CommandSyntaxError(args[:2][-1])


def _backup(rack: Rack, card: SimulatedCard, match: re.Match[str], args: list[str]) -> Answer:
    if args not in (["show"], ["show", "all"], ["show", "status"]):
        raise changes.CommandSyntaxError(args[0])
    data = show_all.battery_all(rack, card, match[1])
    if data is not None:
        return _entry(card.number, data), 0
    other = "use /cx/cv" if match[1] == "bbu" and card.battery is not None else ""
    text = other or ("Cachevault doesn't exist" if match[1] == "cv" else "The required hardware is absent")
    code = firmware_rules.TOOL_MESSAGE if other else 34
    row = {"Ctrl": card.number, "Status": "Failed", "Property": "-", "ErrMsg": text, "ErrCd": code}
    return _entry(card.number, status="Failure", detailed=[row]), code


def _foreign(_rack: Rack, card: SimulatedCard, _match: re.Match[str], args: list[str]) -> Answer:
    """Report foreign configurations. Each foreign array has one present drive; its other drives are missing."""
    if args not in (["show"], ["show", "all"]):
        raise changes.CommandSyntaxError(args[:2][-1])
    number, count = card.number, sum(disk.state == FOREIGN for disk in card.disks)
    if count:
        data = {"Total Foreign PDs": count, "Total Locked Foreign PDs": 0}
        text = "Incomplete foreign configuration"
        return _entry(number, data, status="Failure", description=text), firmware_rules.INCOMPLETE
    row = {"Controller": number, "Status": "Failure", "ErrCd": 50, "ErrMsg": "No foreign configuration"}
    text = "No foreign configuration found."
    return _entry(number, status="Failure", description=text, detailed=[row]), 50


def _failure_entry(number: int, subject: Entry, error: firmware_rules.RefusalError) -> Entry:
    row = {**subject, "ErrCd": error.code, "Status": "Failed", "ErrMsg": error.text, "Description": error.text}
    return _entry(number, status="Failure", description=error.text, detailed=[row])


def _entry(
    card: int | None,
    data: object = None,
    *,
    status: str = "Success",
    description: str = "None",
    detailed: list[Entry] | None = None,
) -> Entry:
    head: Entry = {"CLI Version": VERSION, "Operating system": "Linux 6.1.0-18-amd64"}
    head |= {"Status Code": 0} if card is None else {"Controller": card}
    head |= {"Status": status, "Description": description}
    if detailed:
        head["Detailed Status"] = detailed
    return {"Command Status": head, **({"Response Data": data} if data is not None else {})}
