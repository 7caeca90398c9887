"""Parsers of nvme-cli's output: Identify, namespaces, health log, Get Features; JSON or text.

They never raise an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backends.json_text import keys_once
from backends.protocol import DEVICE, RootReads
from backends.text import clean
from backends.vendors.nvme.facts import ControllerId, LbaFormat, NamespaceId, NvmeHealth, PowerState

_WHOLE = re.compile(r"\s*(0[xX][0-9a-fA-F]{1,32}|\d{1,3}(?:,\d{3}){1,12}|\d{1,39})(?:\.0{1,6})?(?![\w.,])", re.ASCII)


def lenient_json(text: str) -> Mapping[str, Any]:
    """Return the JSON object in the output, ignoring anything around it; empty if there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        match = json.loads(text[start : end + 1], strict=False, object_pairs_hook=keys_once)
    except (ValueError, RecursionError):
        return {}
    return match if isinstance(match, dict) else {}


def whole(value: object) -> int | None:
    """Return the whole number in a value such as 30, 30.0, "30", "0x1e", "1,928", "5%" or "1 (512.00 kB)".

    None for other values and for negative numbers. All these forms occur: smart-log of nvme-cli 2.3 prints the same
    field as integer, float or string.
    """
    match value:
        case bool():
            return None
        case int():
            return value if 0 <= value < 1 << 128 else None
        case float():
            return int(value) if value.is_integer() and 0 <= value < 1e38 else None
        case str():
            match = _WHOLE.match(value)
            if match is None:
                return None
            digits = match[1].replace(",", "")
            return int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
        case {"value": inner}:  # nvme-cli 2.11 prints critical_warning as an object
            return whole(inner) if not isinstance(inner, dict) else None
        case _:
            return None


def word(value: object) -> str | None:
    """Return a string from the device without control characters; None for other values and for blanks."""
    return clean(value) or None if isinstance(value, str) else None


def rows(text: str) -> dict[str, str]:
    """Return the values of lines `key : value` by key. Keys are in lower case with single blanks.

    Keys that occur with different values are left out.
    """
    by_name: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        name = " ".join(key.lower().replace("_", " ").split())
        is_pair = colon and name and len(name) < 64 and not name.startswith("[")
        if is_pair and by_name.setdefault(name, value.strip()) != value.strip():
            twice.add(name)
    return {name: value for name, value in by_name.items() if name not in twice}


# -- SMART / Health log -----------------------------------------------------------------------------------------------

_KELVIN = re.compile(r"\((\d{1,5})\s*K", re.ASCII)
_CELSIUS = re.compile(r"\s*(-?\d{1,4})\s*(?:°|\ufffd|&deg;)?\s*C\b", re.ASCII)

ZERO_CELSIUS = 273
"""0 °C in kelvin, rounded like in nvme-cli."""


def parse_smart_log(text: str) -> NvmeHealth:
    """Return the values of `nvme smart-log`, with or without `-o json`."""
    fields = lenient_json(text)
    if fields:
        kelvin = whole(fields.get("temperature"))
    else:
        fields = rows(text)
        kelvin = _kelvin(fields.get("temperature", ""))

    def number(*names: str) -> int | None:
        return next((count for name in names if (count := whole(fields.get(name))) is not None), None)

    def percent(*names: str) -> int | None:
        count = number(*names)
        return count if count is not None and count <= 255 else None

    return NvmeHealth(
        kelvin=kelvin if kelvin and kelvin < 1 << 16 else None,
        percent_used=percent("percent_used", "percentage used"),
        spare=percent("avail_spare", "available spare"),
        spare_threshold=percent("spare_thresh", "available spare threshold"),
        critical_warning=percent("critical_warning", "critical warning"),
        media_errors=number("media_errors", "media errors"),
        warning_minutes=number("warning_temp_time", "warning temperature time"),
        throttled_light=number("thm_temp1_trans_count", "thermal management t1 trans count"),
        throttled_heavy=number("thm_temp2_trans_count", "thermal management t2 trans count"),
        hours=number("power_on_hours", "power on hours"),
    )


def _kelvin(text: str) -> int | None:
    """Return the temperature in kelvin from `50°C (323 Kelvin)`, `122 °F (323 K)` or `39 C`; None for other strings."""
    if match := _KELVIN.search(text[:200]):
        return int(match[1])
    if match := _CELSIUS.match(text[:200]):
        return max(0, int(match[1]) + ZERO_CELSIUS)
    return None


# -- Identify Controller, Identify Namespace and the list of namespaces -----------------------------------------------

_GAP, _BLANKS = r"[ \t]{0,8}", r"[ \t]{1,8}"
"""Patterns of blanks within a line. Their length is limited, so that no text makes matching slow."""

_POWER = re.compile(
    rf"^ps{_BLANKS}(?P<number>\d{{1,2}}){_GAP}:{_GAP}mp:(?P<watts>\d{{1,5}}(?:\.\d{{1,6}})?)W"
    rf"{_BLANKS}(?P<kind>non-operational|operational)"
    rf"(?:{_BLANKS}enlat:(?P<entry>\d{{1,10}})(?!\d))?(?:{_BLANKS}exlat:(?P<exit>\d{{1,10}})(?!\d))?",
    re.MULTILINE | re.ASCII,
)
_PLAIN = re.compile(
    rf"^lbaf{_BLANKS}(?P<index>\d{{1,2}}){_GAP}:{_GAP}ms:(?P<ms>\d{{1,5}})"
    rf"{_BLANKS}(?:lba)?ds:(?P<ds>\d{{1,3}}){_BLANKS}rp:(?P<rp>0x[0-9a-f]|\d)",
    re.MULTILINE | re.ASCII | re.IGNORECASE,
)
_HUMAN = re.compile(
    rf"^LBA Format{_BLANKS}(?P<index>\d{{1,2}}){_GAP}:{_GAP}Metadata Size:{_GAP}(?P<ms>\d{{1,5}}){_GAP}bytes{_GAP}-"
    rf"{_GAP}Data Size:{_GAP}(?P<bytes>\d{{1,10}}){_GAP}bytes{_GAP}-"
    rf"{_GAP}Relative Performance:{_GAP}(?P<rp>0x[0-9a-f]|\d)",
    re.MULTILINE | re.ASCII | re.IGNORECASE,
)
_LISTED = re.compile(
    r"^[ \t]{0,8}\[ {0,6}\d{1,6}\] {0,8}: {0,8}(0x[0-9a-fA-F]{1,8}|\d{1,10})[ \t\r]{0,8}$", re.MULTILINE | re.ASCII
)

_SHIFT_MIN, _SHIFT_MAX = 9, 31
"""Smallest and largest legal block size, as binary logarithm. A smaller one marks a format that must not be used."""


def parse_id_ctrl(text: str) -> ControllerId:
    """Return the values of `nvme id-ctrl`, with or without `-o json` and `-H`."""
    fields: Mapping[str, Any] = lenient_json(text)
    states = _states_of(fields.get("psds")) if fields else tuple(_states_in(text))
    fields = fields or rows(text)
    return ControllerId(
        model=word(fields.get("mn")),
        serial=word(fields.get("sn")),
        firmware=word(fields.get("fr")),
        vwc=_byte(fields.get("vwc")),
        oacs=_bits(fields.get("oacs"), 16),
        oncs=_bits(fields.get("oncs"), 16),
        fna=_byte(fields.get("fna")),
        warning_kelvin=_bits(fields.get("wctemp"), 16) or None,
        power_states=states,
    )


def parse_id_ns(text: str) -> NamespaceId:
    """Return the values of `nvme id-ns`, with or without `-o json` and `-H`."""
    fields: Mapping[str, Any] = lenient_json(text)
    formats = _formats_of(fields.get("lbafs")) if fields else _formats_in(text)
    fields = fields or rows(text)
    flbas, dps, nmic = _byte(fields.get("flbas")), _byte(fields.get("dps")), _byte(fields.get("nmic"))
    highest = _byte(fields.get("nlbaf"))
    return NamespaceId(
        formats=formats,
        in_use=_in_use(flbas, highest),
        extended=None if flbas is None else bool(flbas & 0x10),
        protection=None if dps is None else dps & 7,
        protection_first=None if dps is None else bool(dps & 8),
        shared=None if nmic is None else bool(nmic & 1),
        blocks=_bits(fields.get("nsze"), 64),
    )


def parse_list_ns(text: str) -> tuple[int, ...] | None:
    """Return the namespace IDs in `nvme list-ns`; None for other output."""
    fields = lenient_json(text)
    listed = fields.get("nsid_list")
    if isinstance(listed, list):
        numbers = [whole(item.get("nsid")) if isinstance(item, dict) else whole(item) for item in listed[:4096]]
        return tuple(number for number in numbers if number) if None not in numbers else None
    numbers_in_text = tuple(int(item, 16 if item[:2] == "0x" else 10) for item in _LISTED.findall(text))
    return numbers_in_text or None


def _bits(value: object, width: int) -> int | None:
    number = whole(value)
    return number if number is not None and number < 1 << width else None


def _byte(value: object) -> int | None:
    return _bits(value, 8)


def _in_use(flbas: int | None, highest: int | None) -> int | None:
    """Return the number of the current format from FLBAS; None if unknown. `highest`: the highest number of a format.

    With more than 16 formats, bits 6:5 of FLBAS are the upper bits of the number (NVMe 2.0, FLBAS).
    """
    if flbas is None:
        return None
    upper = (flbas & 0x60) >> 1 if highest is not None and highest >= 16 else 0
    return (flbas & 0x0F) | upper


def _format(index: int | None, data_bytes: int | None, metadata: int | None, rank: int | None) -> LbaFormat | None:
    if index is None or data_bytes is None or metadata is None or not 1 << _SHIFT_MIN <= data_bytes <= 1 << _SHIFT_MAX:
        return None
    return LbaFormat(index=index, data_bytes=data_bytes, metadata_bytes=metadata, performance=rank)


def _block_bytes(power: int | None) -> int | None:
    return 1 << power if power is not None and _SHIFT_MIN <= power <= _SHIFT_MAX else None


def _usable(formats: Iterable[LbaFormat | None]) -> tuple[LbaFormat, ...]:
    """Return the formats with a legal number (below 64), ordered by number. None entries are skipped."""
    by_index = {entry.index: entry for entry in formats if entry is not None and entry.index < 64}
    return tuple(by_index[index] for index in sorted(by_index))


def _formats_of(listed: object) -> tuple[LbaFormat, ...]:
    """Return the formats in the JSON list `lbafs`. With option `-v` of nvme-cli 2.12, the entries have other keys."""
    if not isinstance(listed, list):
        return ()
    formats: list[LbaFormat | None] = []
    for position, item in enumerate(listed[:64]):
        if not isinstance(item, dict):
            continue
        if "ds" in item:
            size, metadata, rank = _block_bytes(whole(item["ds"])), whole(item.get("ms")), whole(item.get("rp"))
        else:
            size, metadata = whole(item.get("Data Size")), whole(item.get("Metadata Size"))
            rank = whole(item.get("Relative Performance"))
        formats.append(_format(position, size, metadata, rank))
    return _usable(formats)


def _formats_in(text: str) -> tuple[LbaFormat, ...]:
    plain = [
        _format(int(row["index"]), _block_bytes(int(row["ds"])), int(row["ms"]), int(row["rp"], 16))
        for row in _PLAIN.finditer(text)
    ]
    human = [
        _format(int(row["index"]), int(row["bytes"]), int(row["ms"]), int(row["rp"], 16))
        for row in _HUMAN.finditer(text)
    ]
    return _usable(plain or human)


def _states_of(listed: object) -> tuple[PowerState, ...]:
    """Return the power states in the JSON list `psds`. Older versions have `flags`, newer versions single fields."""
    if not isinstance(listed, list):
        return ()
    return tuple(_state(number, item) for number, item in enumerate(listed[:32]) if isinstance(item, dict))


def _state(number: int, record: Mapping[str, Any]) -> PowerState:
    flags = whole(record.get("flags"))
    if flags is not None:
        fine, idle = flags & 1, bool(flags & 2)
        operational: bool | None = not idle
    else:
        fine = whole(record.get("max_power_scale")) or 0
        non_operational = whole(record.get("non-operational_state"))
        operational = None if non_operational is None else not non_operational
    power = whole(record.get("max_power"))
    hundredths = power if power and power < 1 << 32 else None
    return PowerState(
        number=number,
        watts=None if hundredths is None else hundredths / (10_000 if fine else 100),
        operational=operational,
        entry_us=_bits(record.get("entry_lat"), 32),
        exit_us=_bits(record.get("exit_lat"), 32),
    )


def _states_in(text: str) -> Iterable[PowerState]:
    numbers: set[int] = set()
    for row in _POWER.finditer(text):
        if (number := int(row["number"])) in numbers:
            continue
        numbers.add(number)
        yield PowerState(
            number=number,
            watts=float(row["watts"]) or None,
            operational=row["kind"] == "operational",
            entry_us=int(row["entry"]) if row["entry"] else None,
            exit_us=int(row["exit"]) if row["exit"] else None,
        )


_LINE = re.compile(
    r"get-feature:[ \t]{0,8}(?:0x)?(?P<number>[0-9a-f]{1,4})[ \t]{0,8}\([^)\n]{0,80}\),?[ \t]{0,8}"
    r"(?P<select>[a-z ]{1,40}?)value:[ \t]{0,8}(?:0x)?(?P<value>[0-9a-f]{1,8})(?![0-9a-z])",
    re.IGNORECASE | re.ASCII,
)
_HEX = re.compile(r"(?:0x)?([0-9a-f]{1,8})", re.IGNORECASE | re.ASCII)

CURRENT, SUPPORTED = 0, 3
"""Values of nvme-cli's option `--sel`: for the current value of a feature, and for the supported operations on it."""


def parse_value(text: str, number: int) -> int | None:
    """Return the current value of a feature; None if the text does not have it.

    The value is hexadecimal with or without `0x`: nvme-cli 2.x prints `Current value:00000001`, and 1.x prints
    `0x000001`. JSON is supported only since about 2.12.
    """
    if lenient_json(text):
        return _json_value(text, ("current", "current value", "value", "result"))
    return _text_value(text, number, "current")


def parse_changeable(text: str, number: int) -> bool | None:
    """Return whether a feature can be changed (`--sel=3`); None if the text does not report it."""
    value = _json_value(text, ("supported capabilities", "value", "result")) if lenient_json(text) else None
    if value is None:
        value = _text_value(text, number, "supported")
    if value is not None:
        return bool(value & 4)
    abilities = next(filter(None, (_abilities(inner) for _, inner in _members(lenient_json(text)))), None)
    return None if abilities is None else "changeable" in abilities


def _text_value(text: str, number: int, select: str) -> int | None:
    for match in _LINE.finditer(text):
        if int(match["number"], 16) == number and match["select"].strip().lower().startswith(select):
            return int(match["value"], 16)
    return None


def _json_value(text: str, names: tuple[str, ...]) -> int | None:
    members = {key.lower(): inner for key, inner in _members(lenient_json(text))}
    for name in names:
        match members.get(name):
            case bool():
                continue
            case int() as value if 0 <= value < 1 << 32:
                return value
            case str() as text_value if (match := _HEX.fullmatch(text_value.strip())) is not None:
                return int(match[1], 16)
    return None


def _members(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield all members of an object and of objects in it, three levels deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            if depth < 3:
                yield from _members(inner, depth + 1)
    elif isinstance(value, list) and depth < 3:
        for inner in value[:64]:
            yield from _members(inner, depth + 1)


def _abilities(inner: object) -> list[str]:
    """Return the names of the supported operations in a JSON value; empty if it is not a list."""
    abilities = ("saveable", "per-namespace", "changeable")
    return list(inner) if isinstance(inner, list) and all(item in abilities for item in inner) else []


_ROOT_SHAPES = tuple(
    ("|".join(commands), DEVICE, *more)
    for commands, more in (
        (("id-ctrl", "id-ns", "smart-log"), ()),
        (("id-ctrl", "id-ns", "smart-log"), ("-o", "json")),
        (("list-ns",), ("--all",)),
        (("get-feature",), (r"--feature-id=\d{1,3}", f"--sel=({CURRENT}|{SUPPORTED})")),
    )
)

ROOT_READS: RootReads = {("nvme",): _ROOT_SHAPES}
"""Commands that the root helper runs for a user. All of them only read."""
