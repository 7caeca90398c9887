"""Parsers for the answers of SANtricity's web services. No I/O; fields that are not understood are left out.

Fields are as in recorded answers of versions 1.5 to 5.x (volumes, storage pools, storage systems) and in NetApp's
published models (VolumeEx, DriveEx, ControllerEx, BatteryEx of the SANtricity Web Services API).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from backends.errors import NotFoundError, RefusedError, ToolFailedError
from backends.host import Completed
from backends.json_text import document, flag, rows, table, whole_number, word
from backends.model import Health
from backends.text import clean
from backends.vendors.santricity.facts import WebController, WebDrive, WebGroup, WebHardware, WebSystem, WebVolume

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
"""Pattern of ids that are allowed in a path: digits, UUIDs or references of 40 hexadecimal digits."""
_NAME = re.compile(r"[A-Za-z0-9_.#-]{1,64}", re.ASCII)
_WWN = re.compile(r"[0-9a-z]{16}(?:[0-9a-z]{16})?", re.ASCII)
"""Pattern of a world wide name. Any letters are allowed: anonymised names in recordings are not hexadecimal."""
_ZEROS = frozenset("0")
_IDENTIFYING = (
    "serialnumber",
    "vendorsn",
    "worldwidename",
    "wwn",
    "portname",
    "nodename",
    "macaddr",
    "iqn",
    "addressid",
)
"""Suffixes of field names, in lower case. Values of these fields identify a part of the hardware."""
_MOST_PARTS = 100_000
"""Maximum number of objects and lists of a hardware inventory that are searched."""


def is_whole(text: str, begin: str) -> bool:
    """Return whether an answer is one complete JSON list (`begin` is `[`) or object (`{`), that is, not truncated."""
    value = document(text, begin) if text.lstrip().startswith(begin) else None
    return isinstance(value, list if begin == "[" else dict)


def systems(text: str, door: str) -> tuple[WebSystem, ...]:
    """Return the disk systems in an answer of `storage-systems`."""
    named = [(row, name) for row in rows(document(text, "["), 256) if (name := _id(row.get("id"))) is not None]
    names = _unique_names((word(row.get("name")), ident) for row, ident in named)
    return tuple(
        WebSystem(
            door=door,
            id=ident,
            name=names[ident],
            model=word(row.get("model")),
            firmware=word(row.get("fwVersion")),
            wwn=_wwn(row.get("wwn")),
            serial=word(row.get("chassisSerialNumber")),
            status=word(row.get("status")),
            password=word(row.get("passwordStatus")),
        )
        for row, ident in named
    )


def volumes(text: str) -> tuple[WebVolume, ...]:
    """Return the volumes in an answer of `volumes`."""
    pairs = [
        (row, name) for row in rows(document(text, "[")) if (name := _id(_first(row, "volumeRef", "id"))) is not None
    ]
    names = _unique_names((word(_first(row, "label", "name")), ident) for row, ident in pairs)
    return tuple(_volume(row, ident, names[ident]) for row, ident in pairs)


def _volume(row: Mapping[str, object], id: str, name: str) -> WebVolume:
    return WebVolume(
        id=id,
        name=name,
        wwn=_wwn(_first(row, "worldWideName", "wwn")),
        level=word(row.get("raidLevel")),
        status=word(row.get("status")),
        action=word(row.get("action")),
        size_bytes=whole_number(_first(row, "capacity", "totalSizeInBytes")),
        segment_bytes=whole_number(row.get("segmentSize"), 1 << 30),
        group=_id(row.get("volumeGroupRef")),
        owner=_id(_first(row, "currentManager", "currentControllerId")),
        preferred=_id(_first(row, "preferredManager", "preferredControllerId")),
        thin=flag(row.get("thinProvisioned")) is True,
        changeable=flag(table(row.get("perms")).get("cacheParametersChangeable")),
        cache=table(_first(row, "cache", "cacheSettings")),
    )


def groups(text: str) -> tuple[WebGroup, ...]:
    """Return the volume groups and pools in an answer of `storage-pools`."""
    return tuple(
        WebGroup(
            id=name,
            name=word(_first(row, "label", "name")),
            pool=flag(row.get("diskPool")) is True or row.get("raidLevel") == "raidDiskPool",
            wwn=_wwn(row.get("worldWideName")),
        )
        for row in rows(document(text, "["))
        if (name := _id(_first(row, "volumeGroupRef", "id"))) is not None
    )


def hardware(text: str) -> WebHardware:
    """Return the hardware in an answer of `hardware-inventory`."""
    parts = table(document(text))
    trays = {_id(row.get("trayRef")): whole_number(row.get("trayId"), 999) for row in rows(parts.get("trays"))}
    batteries = tuple(rows(parts.get("batteries")))
    drives: dict[str, WebDrive] = {}
    for row in rows(parts.get("drives")):
        drive = _drive(row, trays)
        if drive is not None:
            drives.setdefault(drive.place, drive)
    return WebHardware(
        controllers=tuple(_controller(row) for row in rows(parts.get("controllers"), 16)),
        drives=tuple(drives.values()),
        batteries=tuple(word(row.get("status")) or "unknown" for row in batteries),
        serials=tuple(
            _identifying_texts({name: part for name, part in parts.items() if name not in ("drives", "controllers")})
        ),
    )


def _identifying_texts(value: object) -> dict[str, None]:
    """Return the serial numbers and addresses in a hardware inventory, so that a recording can hide them."""
    fields: dict[str, None] = {}
    waiting = [value]
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        match waiting.pop():
            case dict() as row:
                waiting += row.values()
                names = (name for name in row if isinstance(name, str) and name.lower().endswith(_IDENTIFYING))
                fields |= {
                    text: None for name in names if (text := word(row[name])) is not None and set(text) != _ZEROS
                }
            case list() as several:
                waiting += several
            case _:
                pass
    return fields


def _controller(row: Mapping[str, object]) -> WebController:
    location_fields = table(row.get("physicalLocation"))
    slot = whole_number(location_fields.get("slot"), 99)
    return WebController(
        id=_id(_first(row, "controllerRef", "id")) or "",
        place=word(location_fields.get("label"), 16)
        or ("?" if slot is None else {1: "A", 2: "B"}.get(slot, str(slot))),
        model=word(row.get("modelName")),
        serial=word(row.get("serialNumber")),
        firmware=word(row.get("appVersion")),
        status=word(row.get("status")),
    )


def _drive(row: Mapping[str, object], trays: Mapping[str | None, int | None]) -> WebDrive | None:
    location_fields = table(row.get("physicalLocation"))
    tray, slot = trays.get(_id(location_fields.get("trayRef"))), whole_number(location_fields.get("slot"), 9999)
    reference = _id(_first(row, "driveRef", "id"))
    location = f"{tray},{slot}" if tray is not None and slot is not None else reference
    if location is None:
        return None
    return WebDrive(
        place=location,
        group=_id(row.get("currentVolumeGroupRef")),
        model=word(row.get("productID")),
        serial=word(row.get("serialNumber")),
        firmware=word(_first(row, "firmwareVersion", "softwareVersion")),
        wwn=_wwn(row.get("worldWideName")),
        media=word(row.get("driveMediaType")),
        interface=word(row.get("phyDriveType")),
        size_bytes=whole_number(_first(row, "rawCapacity", "usableCapacity")),
        status=word(row.get("status")),
        spare=flag(row.get("hotSpare")) is True,
        health=_health(row),
    )


def _health(row: Mapping[str, object]) -> Health:
    """Return the health of a drive. `refTemp` is the temperature that it had when new, not a limit."""
    wear = table(row.get("ssdWearLife"))
    used = (
        whole_number(wear.get("percentEnduranceUsed"), 255) if flag(wear.get("isWearLifeMonitoringSupported")) else None
    )
    now = whole_number(table(row.get("driveTemperature")).get("currentTemp"), _HOTTEST)
    return Health(
        predicts_failure=flag(row.get("pfa")),
        wear_percent=None if used is None else float(used),
        temperature=float(now) if now else None,
        locked=flag(row.get("fdeLocked")),
    )


_HOTTEST = 150
"""Highest plausible temperature in degrees Celsius; 255 means that a drive does not report it."""


def refusal(done: Completed, shown: str) -> NotFoundError | RefusedError | ToolFailedError:
    """Return the error for a refused request; `shown` names the web services."""
    status = next(iter(re.findall(r"^HTTP (\d{3})\b", done.stderr, re.ASCII)), "")
    fields = table(document(done.stdout))
    message = word(fields.get("errorMessage"), 300) or word(fields.get("localizedMessage"), 300)
    text = f": {message.rstrip('.')}." if message else "."
    evidence = f"{done.stderr}\n{done.stdout[:4000]}"
    match status:
        case "401":
            return RefusedError(
                f"{shown} rejects the user and password{text}",
                hint="Check user and password_file in the configuration.",
                evidence=evidence,
            )
        case "403":
            return ToolFailedError(
                f"{shown} denies this action to the user{text}",
                hint="Reading needs the role monitor, changing needs storage.admin.",
                evidence=evidence,
            )
        case "404":
            return NotFoundError(f"{shown} does not have this object{text}", evidence=evidence)
        case "409" | "423":
            return ToolFailedError(f"{shown} is busy{text}", hint="Try again when it has finished.", evidence=evidence)
        case "422":
            return ToolFailedError(f"{shown} refuses the value{text}", evidence=evidence)
        case _ if status.startswith("3"):
            return ToolFailedError(
                f"{shown} redirects to another address ({clean(done.stderr, 60)}). raidbench does not follow "
                "redirects.",
                hint="If the new address is correct, set it in the configuration.",
                evidence=evidence,
            )
        case _:
            return ToolFailedError(f"{shown} failed ({clean(done.stderr, 60)}){text}", evidence=evidence)


def foreign_answer_error(done: Completed, shown: str) -> ToolFailedError:
    """Return the error for a successful answer that does not come from SANtricity's web services."""
    return ToolFailedError(
        f"{shown} does not respond like the SANtricity web services.",
        hint="Check its address in the configuration.",
        evidence=done.stdout[:4000],
    )


def _first(row: Mapping[str, object], *names: str) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _id(value: object) -> str | None:
    """Return an id if it is allowed in a path; None if not, and for a reference of zeros, which refers to nothing."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32:
        value = str(value)
    if not isinstance(value, str) or _ID.fullmatch(value) is None:
        return None
    return None if len(value) > 8 and set(value) == _ZEROS else value


def _wwn(value: object) -> str | None:
    digits = (word(value) or "").lower().replace(":", "")
    return digits if _WWN.fullmatch(digits) else None


def _unique_names(named: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    """Return a name for each id: its own name if it is valid and unique, else the id."""
    pairs = list(named)
    count = Counter(name for name, _ in pairs)
    taken = {name for _, name in pairs}
    return {
        ident: name if name is not None and count[name] == 1 and name not in taken and _NAME.fullmatch(name) else ident
        for name, ident in pairs
    }
