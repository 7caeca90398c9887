"""Parser for MegaCli command lines, and the simulated output."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.simulator import firmware_rules
from backends.simulator.controller import MEGACLI, SimulatedCard
from backends.simulator.disk import REBUILD
from backends.simulator.megacli import changes, lists
from backends.simulator.rack import Rack
from backends.simulator.tool_output import SimulatedOutput
from backends.simulator.volume import Volume

VERSION = "8.07.14 Dec 16, 2013"
"""Version that MegaCli reports."""

_LONG = ("-AdpAllInfo",)
"""Commands that take a long time on a slow controller."""

_SHORT = 0.15
_NOT_PRESENT = "The required hardware component is not present."
_WORDS = {
    firmware_rules.INVALID: "The current operation is not allowed because a parameter is invalid.",
    firmware_rules.WRONG_STATE: "The requested operation is not allowed in the present state of the device.",
    firmware_rules.NO_ROOM: "The specified drives do not have enough capacity.",
    firmware_rules.UNFIT: "The specified physical disk does not have the appropriate attributes to complete the"
    " requested command.",
    firmware_rules.PINNED: "The current operation is not allowed because the controller has data in cache for offline"
    " or missing virtual drives.",
}

_ADDS = ("-CfgLDAdd", "-CfgLdAdd", "-CfgSpanAdd")


def answer(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run MegaCli with these arguments (without the program) and return its output."""
    plain = [word for word in args if word.lower() not in ("-nolog", "-silent")]
    cards = [card for card in rack.cards if MEGACLI in card.seen_by]
    if plain[:1] == ["-v"]:
        banner = f"      MegaCLI SAS RAID Management Tool  Ver {VERSION}"
        return _output(["", "", banner, "", "    (c)Copyright 2013, LSI Corporation, All Rights Reserved."], 0)
    if plain[:1] == ["-adpCount"]:
        # The number of controllers is also the exit code.
        return _output(["", f"Controller Count: {len(cards)}."], len(cards))
    adapter = next((word for word in plain if re.fullmatch(r"-a(\d+|all)", word.lower())), None)
    if adapter is None or not plain:
        return _output(["Invalid input at or near token " + (plain or [""])[0]], 1)
    chosen = [card for card in cards if adapter.lower() in ("-aall", f"-a{card.number}")]
    if not chosen:
        return _output(
            [f"User specified controller is not present. Failed to get CpController object for {adapter}"], 1
        )
    rest = [word for word in plain if word != adapter]
    lines: list[str] = []
    code = 0
    for card in chosen:
        try:
            more_lines, code = _on_card(rack, card, rest)
        except changes.UsageError:
            return _output([f"Invalid input at or near token {rest[-1]}"], 1)
        except firmware_rules.RefusalError as error:
            more_lines, code = _refusal(card, error, rest[0])
        lines += more_lines
    seconds = max([_SHORT, *(card.slow for card in chosen if rest[0] in _LONG)])
    return _output(lines, code, seconds=seconds)


def _on_card(rack: Rack, card: SimulatedCard, args: list[str]) -> tuple[list[str], int]:
    """Run a command on one controller. Return the lines of output and the exit status.

    Raises UsageError if the command is unknown, and RefusalError if the firmware refuses it.
    """
    answer = _read(rack, card, args)
    if answer is not None:
        return answer
    verb, rest = args[0], args[1:]
    match verb:
        case "-LDSetProp":
            names, volumes = _volumes(card, rest)
            return ["", *changes.set_volumes(card, volumes, names)], 0
        case "-AdpSetProp" | "-AdpPR" | "-AdpCcSched" | "-AdpAutoRbld":
            return ["", *changes.set_card(card, args)], 0
        case "-LDBI":
            names, volumes = _volumes(card, rest)
            return ["", *changes.background(card, volumes, names[0])], 0
        case "-CfgLdDel":
            names, volumes = _volumes(card, [word for word in rest if word != "-Force"])
            lines = [""]
            for volume in list(volumes):
                # Unlike storcli, MegaCli does not require `force`: it deletes every virtual drive that is not in use.
                lines += changes.delete(rack, card, volume.number, force=True)
            return lines, 0
        case _ if verb in _ADDS:
            return ["", *changes.add(rack, card, verb, rest)], 0
        case "-ELF":
            return _apply_key(card, rest)
        case _:
            raise changes.UsageError


def _read(rack: Rack, card: SimulatedCard, args: list[str]) -> tuple[list[str], int] | None:
    """Return the output and exit status of a read-only command; None for any other command."""
    match args:
        case ["-AdpAllInfo"]:
            return lists.adapter(card), 0
        case ["-AdpGetPciInfo"]:
            return _pci_lines(card), 0
        case ["-LdPdInfo" | "-LDPDInfo"]:
            return lists.volumes(rack, card, members=True), 0
        case ["-LDInfo", _]:
            return lists.volumes(rack, card, members=False), 0
        case ["-PDList"]:
            return lists.drives(rack, card), 0
        case ["-AdpBbuCmd"]:
            if card.battery is None:
                failed = f"Adapter {card.number}: Get BBU Status Failed."
                return ["", failed, "", "FW error description:", f" {_NOT_PRESENT}"], 0x22
            return lists.battery(rack, card), 0
        case ["-ELF", "-ControllerFeatures"]:
            return lists.options(card), 0
        case ["-AdpPR", "-Info"]:
            return _patrol_lines(card), 0
        case ["-AdpCcSched", "-Info"]:
            return _check_lines(card), 0
        case ["-AdpGetProp", "NCQDsply"]:
            state = "Enabled" if card.property("ncq") == "on" else "Disabled"
            return ["", f"Adapter {card.number}: NCQ Status is {state}"], 0
        case ["-LDBI", "-GetSetting", *which]:
            _, volumes = _volumes(card, which)
            return ["", *(_setting_line(card, volume) for volume in volumes)], 0
        case [("-LDInit" | "-LDBI" | "-LDCC" | "-LDRecon") as job, "-ShowProg", *which]:
            _, volumes = _volumes(card, which)
            return ["", *(_progress_line(rack, volume, job) for volume in volumes)], 0
        case ["-PDRbld", "-ShowProg", places]:
            return _rebuild_lines(rack, card, places), 0
        case _:
            return None


def _volumes(card: SimulatedCard, args: Sequence[str]) -> tuple[list[str], list[Volume]]:
    """Return the arguments without the option `-LN`, and the virtual drives that this option selects.

    Raises RefusalError if there is no such virtual drive.
    """
    selection = next((word for word in args if re.fullmatch(r"-l(\d+(,\d+)*|all)", word.lower())), "-lall").lower()
    numbers = None if selection == "-lall" else {int(number) for number in selection[2:].split(",")}
    volumes = [volume for volume in card.volumes if numbers is None or volume.number in numbers]
    if numbers is not None and len(volumes) < len(numbers):
        raise firmware_rules.RefusalError(firmware_rules.NOT_FOUND, "Virtual Drive doesn't exist")
    return [word for word in args if word.lower() != selection], volumes


def _pci_lines(card: SimulatedCard) -> list[str]:
    return [
        "",
        f"PCI information for Controller {card.number}",
        "--------------------------------",
        "Vendor Id       : 1000",
        f"Device Id       : {'005d' if '93' in card.product else '0079'}",
        "SubVendorId     : 1000",
        "SubDeviceId     : 9280",
        "Host Interface  : PCIE",
        "Link Speed          : 0",
        "Number of Frontend Port: 0",
        "Device Interface  : PCIE",
        f"Bus Number      : {card.bus:x}",
        "Device Number   : 0",
        "Function Number : 0",
    ]


def _patrol_lines(card: SimulatedCard) -> list[str]:
    mode = {"off": "Disabled", "auto": "Auto", "manual": "Manual"}[card.patrol]
    return [
        "",
        f"Adapter {card.number}: Patrol Read Information:",
        "",
        f"Patrol Read Mode: {mode}",
        f"Patrol Read Execution Delay: {card.property('patrol_delay')} hours",
        "Number of iterations completed: 41",
        "Current State: Stopped",
        f"Patrol Read on SSD Devices: {'Disabled' if card.property('patrol_ssds') == 'off' else 'Enabled'}",
    ]


def _check_lines(card: SimulatedCard) -> list[str]:
    mode = {"off": "Disabled", "sequential": "Sequential", "concurrent": "Concurrent"}[card.check]
    return [
        "",
        f"Adapter #{card.number}",
        "",
        f"Operation Mode: {mode}",
        f"Execution Delay: {card.property('check_delay')}",
        "Current State: Stopped",
        "Number of iterations: 0",
        "Number of VD completed: 0",
        "Excluded VDs          : None",
    ]


def _setting_line(card: SimulatedCard, volume: Volume) -> str:
    state = "Enabled" if volume.auto_bgi else "Disabled"
    return f"Adapter {card.number}, VD {volume.number}: Auto Background Initialization is {state}"


def _progress_line(rack: Rack, volume: Volume, job: str) -> str:
    name = {
        "-LDInit": "Initialization",
        "-LDBI": "Background Initialization",
        "-LDCC": "Check Consistency",
        "-LDRecon": "Reconstruction",
    }[job]
    subject = f"{name} on VD #{volume.number} (target id #{volume.number})"
    done = volume.initialised_share(rack.now()) if job == "-LDBI" else None
    if done is None:
        return f"{subject} is not in progress."
    minutes = int((rack.now() - (volume.bgi_since or 0.0)) / 60)
    return f"{subject} Completed {int(done * 100)}% in {minutes} Minutes."


def _rebuild_lines(rack: Rack, card: SimulatedCard, positions: str) -> list[str]:
    """Return the lines of `-PDRbld -ShowProg`. Raises RefusalError if a drive does not exist."""
    lines = [""]
    for position in positions.removeprefix("-PhysDrv[").removesuffix("]").split(","):
        disk = card.disk(position)
        if disk is None:
            raise firmware_rules.RefusalError(firmware_rules.NOT_FOUND, f"drive {position} not found")
        enclosure = "N/A" if disk.enclosure is None else disk.enclosure
        line = f"Device(Encl-{enclosure} Slot-{disk.slot}) is not in rebuild process"
        if disk.state == REBUILD:
            minutes = disk.rebuild_minutes(rack.now())
            done = int(disk.rebuild_share(rack.now()) * 100)
            position_text = f"Enclosure {enclosure}, Slot {disk.slot}"
            line = f"Rebuild Progress on Device at {position_text} Completed {done}% in {minutes} Minutes."
        lines.append(line)
    return lines


def _apply_key(card: SimulatedCard, args: list[str]) -> tuple[list[str], int]:
    """Apply or preview an activation key. Raises UsageError for unknown arguments."""
    match args:
        case ["-Applykey" | "-ApplyKey", "key", key, *preview] if preview in ([], ["-preview"]):
            try:
                options = firmware_rules.apply_key(card, key, preview=bool(preview))
            except firmware_rules.RefusalError as error:
                args = ["", "Failed to apply the Activation key.", "FW error description:", f" {error.text}."]
                return args, error.code
            if preview:
                return ["", *(f"Advanced Software Option    : {name}" for name in options)], 0
            done = "Successfully applied the Activation key. Please restart the system for the changes to take effect."
            return ["", done], firmware_rules.RESET_REQUIRED
        case _:
            raise changes.UsageError


def _refusal(card: SimulatedCard, error: firmware_rules.RefusalError, verb: str) -> tuple[list[str], int]:
    code = 3 if error.code == firmware_rules.TOOL_MESSAGE else error.code
    text = _WORDS.get(error.code, error.text)
    # MegaCli itself refuses an unfit drive, before it calls the controller.
    if verb in _ADDS and code == firmware_rules.UNFIT:
        return ["", text], code
    failure = "Configure Adapter Failed" if verb in _ADDS else "Operation Failed"
    return ["", f"Adapter {card.number}: {failure}", "", "FW error description:", f" {text}"], code


def _output(lines: Sequence[str], code: int, *, seconds: float = _SHORT) -> SimulatedOutput:
    text = "\n".join([*lines, "", f"Exit Code: 0x{code:02x}", ""])
    return SimulatedOutput(text=text, code=code & 0xFF, seconds=seconds)
