"""Parsers for arcconf. No I/O.

Columns differ between builds, and old builds do not align their output. So a field is split at its colon, and a section
starts with its heading on a separate line. Headings between dashed rules divide a section: `fields` has the first value
of each key, `parts` has all values by heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from backends.model import Level, Media, State
from backends.raid import PARITY_IN_SPANS
from backends.sizes import read_size
from backends.subject import find_repeated, twice_reason
from backends.text import clean
from backends.values import dataclass
from backends.vendors._cards import BackgroundOperation, ReportedValue
from backends.vendors.smartarray import text as texts
from backends.vendors.smartarray import vocabulary
from backends.vendors.smartarray.facts import (
    BayDrive,
    CardText,
    DriveGroup,
    Family,
    LogicalDrive,
    PowerSource,
    RaidCard,
)
from backends.vendors.smartarray.ssacli.parsing import acceleration, interface_of, is_healthy, media_of, ssd_cache_of
from backends.vendors.smartarray.text import value_or_none
from backends.vendors.smartarray.vocabulary import drive_state, read_health

_RULE = re.compile(r"-{8,}", re.ASCII)
_ARRAY = re.compile(r"array number (\d{1,5})", re.ASCII | re.IGNORECASE)
_VOLUME = re.compile(r"logical (?:device|drive) number (\d{1,5})", re.ASCII | re.IGNORECASE)
_CHANNEL = re.compile(r"channel #(\d{1,3}):?", re.ASCII | re.IGNORECASE)
_DRIVE = re.compile(r"device #(\d{1,5})", re.ASCII | re.IGNORECASE)
_ORDER = re.compile(r"\d{1,3},\d{1,5}(?:\s+\d{1,3},\d{1,5})*", re.ASCII)
_MAIN = {
    "controller information": "card",
    "array information": "",
    "logical device information": "",
    "logical drive information": "",
    "physical device information": "",
}


@dataclass(slots=True)
class OutputSection:
    """Lines below one heading."""

    kind: str
    """`card`, `array`, `volume`, `drive`; "" for ignored sections."""
    name: str = ""
    """Number of the array or logical device; `channel:device` of a drive."""
    fields: dict[str, str] = field(default_factory=dict)
    """Values by key in lower case. The first value of each key counts, under whichever heading it is."""
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    """Values by the heading between dashed rules, in lower case."""
    lines: list[str] = field(default_factory=list)
    """Lines without a field."""


def read(text: str) -> list[OutputSection]:
    """Return the sections of the output in order."""
    sections = [OutputSection("")]
    channel, part, ruled = "0", "", False
    for _, bare in texts.lines(text):
        if not bare or _RULE.fullmatch(bare):
            ruled = ruled or bool(bare)
            continue
        word = " ".join(bare.lower().split()).rstrip(":")
        if word in _MAIN:
            sections.append(OutputSection(_MAIN[word]))
            part = ""
        elif kind := _heading(bare):
            channel = kind[1] if kind[0] == "channel" else channel
            name = f"{channel}:{kind[1]}" if kind[0] == "drive" else kind[1]
            sections.append(OutputSection("" if kind[0] == "channel" else kind[0], name))
            part = ""
        elif (pair := texts.field(bare)) is not None:
            sections[-1].fields.setdefault(pair[0].lower(), pair[1])
            sections[-1].parts.setdefault(part, {}).setdefault(pair[0].lower(), pair[1])
        elif ruled:
            part = word
        else:
            sections[-1].lines.append(bare)
        ruled = False
    return sections


def _heading(bare: str) -> tuple[str, str] | None:
    for kind, pattern in (("array", _ARRAY), ("volume", _VOLUME), ("channel", _CHANNEL), ("drive", _DRIVE)):
        if match := pattern.fullmatch(bare):
            return kind, str(int(match[1]))
    return None


def member_order(passage: OutputSection) -> list[str]:
    """Return the places of the members from the format of old builds, `0,0 0,1 0,2`, which may span several lines."""
    first_row = next(
        (value for key, value in passage.fields.items() if key.startswith(("stripe order", "drive(s)"))), ""
    )
    rows = [first_row, *(line for line in passage.lines if _ORDER.fullmatch(line))] if first_row else []
    return [pair.replace(",", ":") for row in rows for pair in row.split() if _ORDER.fullmatch(pair)]


_FOUND = re.compile(r"controllers found:\s*(\d{1,3})", re.ASCII | re.IGNORECASE)
_LISTED = re.compile(r"^[ \t]{0,8}controller (?:#)?(\d{1,3})[ \t]*:", re.ASCII | re.IGNORECASE | re.MULTILINE)
_MEMBER = re.compile(r"(?:group \d{1,4}, )?(?:segment|device) \d{1,5}", re.ASCII)
_PAIR = re.compile(r"(\d{1,3}),(\d{1,5})", re.ASCII)
_AT = re.compile(
    r"(enclosure|connector)\D{0,4}(\d{1,5})\D{1,12}(?:slot|device)\D{0,3}(\d{1,5})", re.ASCII | re.IGNORECASE
)

_VOLUME_STATES = {
    "optimal": State.OPTIMAL,
    "ok": State.OPTIMAL,
    "impacted": State.DEGRADED,
    "suboptimal": State.DEGRADED,
    "degraded": State.DEGRADED,
    "critical": State.DEGRADED,
    "interim": State.DEGRADED,
    "rebuilding": State.REBUILDING,
    "failed": State.FAILED,
    "offline": State.OFFLINE,
    "not available": State.OFFLINE,
}
_DRIVE_STATES = {
    "online": State.ONLINE,
    "optimal": State.ONLINE,
    "raw": State.ONLINE,
    "ready": State.UNASSIGNED,
    "rebuilding": State.REBUILDING,
    "global hot": State.SPARE,
    "dedicated hot": State.SPARE,
    "pooled hot": State.SPARE,
    "hot spare": State.SPARE,
    "hot-spare": State.SPARE,
    "auto replace": State.SPARE,
    "failed": State.FAILED,
    "defunct": State.FAILED,
    "offline": State.OFFLINE,
    "missing": State.MISSING,
    "inconsistent": State.DEGRADED,
}
_WORK = (
    ("rebuild", "rebuild"),
    ("build", "initialisation"),
    ("clear", "initialisation"),
    ("verify", "consistency-check"),
    ("compact", "migration"),
    ("expan", "migration"),
    ("migrat", "migration"),
    ("reconfig", "migration"),
    ("transform", "migration"),
)
_POWER = ("backup unit", "battery", "zmm", "green backup")
NOT_FITTED = ("not installed", "not present", "absent")


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of the controllers that `list` or `getversion` names, or 1 to N if it only counts them."""
    named = tuple(dict.fromkeys(int(item) for item in _LISTED.findall(text[: 1 << 16])))
    counted = _FOUND.search(text)
    return named or tuple(range(1, min(int(counted[1]), 64) + 1 if counted else 1))


def short_list(text: str) -> str:
    """Return how many controllers a list counts and names, as a clause, if it names only some of them; else ""."""
    named, counted = len(set(_LISTED.findall(text[: 1 << 16]))), _FOUND.search(text)
    if not named or counted is None or named >= int(counted[1]):
        return ""
    return f"it counts {int(counted[1])} controllers but lists {named}"


def refusal_reason(text: str) -> str | None:
    """Return arcconf's reason for a failure, or None if it reports success."""
    if "command completed successfully" in text.lower() and "command aborted" not in text.lower():
        return None
    rows = [clean(bare, 300) for _, bare in texts.lines(text)]
    reasons = [row for row in rows if row and not _FOUND.match(row) and not row.lower().startswith("command aborted")]
    return " ".join(reasons)[:400] or "it reports neither success nor an error"


def card_text(text: str, number: int, *, status: str = "", cut: bool = False) -> CardText | None:
    """Return the state of a controller from output, or None if the output does not describe it.

    `status`: output of `getstatus`. `cut`: whether `text` is truncated. Its last section is then left out, because a
    line may be missing from it.
    """
    passages = read(text)[: -1 if cut else None]
    marks = ("controller status", "controller model")
    described = [
        section
        for section in passages
        if section.kind and (section.kind != "card" or any(mark in section.fields for mark in marks))
    ]
    twice = find_repeated((section.kind, section.name) for section in described)
    torn = any(kind in ("drive", "array") for kind, _ in twice)
    passages = [section for section in passages if (section.kind, section.name) not in twice or section.kind == "card"]
    card = next(
        (passage for passage in passages if passage.kind == "card" and any(mark in passage.fields for mark in marks)),
        None,
    )
    if card is None and all(passage.kind in ("", "card") for passage in passages):
        return None
    drives = tuple({drive.place: drive for passage in passages if (drive := _drive(passage)) is not None}.values())
    groups = tuple(_group(passage) for passage in passages if passage.kind == "array")
    jobs = tasks(status)
    volumes = tuple(
        _volume(passage, groups, None if cut or torn else drives, jobs)
        for passage in passages
        if passage.kind == "volume"
    )
    family = _family(passages)
    owners = {bay: volume.array for volume in volumes for bay in volume.drives}
    return CardText(
        card=_facts(card or OutputSection("card"), number, family),
        groups=groups,
        volumes=tuple({volume.number: volume for volume in volumes}.values()),
        drives=tuple(replace(drive, array=drive.array or owners.get(drive.place)) for drive in drives),
        twice=twice_reason(" and ".join(f"{_NAMES[kind]} {name}".strip() for kind, name in sorted(twice)))
        if twice
        else "",
    )


_NAMES = {"array": "array", "volume": "logical device", "drive": "device", "card": "the controller"}


_SMART_MARKS = frozenset(
    ("no-battery write cache", "ld acceleration method", "caching", "ssd i/o bypass", "volume unique identifier")
)
"""Labels that only occur with Smart Array and SmartRAID."""


def _family(passages: Iterable[OutputSection]) -> Family:
    for passage in passages:
        if _SMART_MARKS & passage.fields.keys() or passage.fields.get("driver name", "").lower() == "smartpqi":
            return Family.SMART
    return Family.SERIES


def _facts(card: OutputSection, number: int, family: Family) -> RaidCard:
    fields = card.fields
    state = value_or_none(fields.get("controller status"))
    gone = (state or "").lower().startswith("inaccessible")
    values = vocabulary.values(fields, vocabulary.SMART if family is Family.SMART else vocabulary.SERIES)
    shares = [texts.count(fields.get(f"{kind} cache percentage")) for kind in ("read", "write")]
    if None not in shares and sum(filter(None, shares)) == 100:
        values["cache_ratio"] = ReportedValue(
            value=f"{shares[0]}/{shares[1]}", raw=f"{shares[0]}% read, {shares[1]}% write"
        )
    name = value_or_none(fields.get("driver name"))
    version = card.parts.get("controller version information", {})
    trouble = (
        "This arcconf reports the controller as inaccessible. It is too old for the controller or does not support it."
    )
    return RaidCard(
        number=str(number),
        family=family,
        model=value_or_none(fields.get("controller model")),
        serial=value_or_none(fields.get("controller serial number")),
        firmware=value_or_none(version.get("firmware") or fields.get("firmware")),
        driver=" ".join(filter(None, (name, value_or_none(version.get("driver"))))) if name else None,
        pci=value_or_none(next((value for key, value in fields.items() if key.startswith("pci address")), None)),
        state_raw=state,
        mode=value_or_none(fields.get("controller mode")),
        cache_bytes=read_size(fields.get("cache memory") or fields.get("installed memory")),
        cache_state=value_or_none(fields.get("cache status")),
        cache_details=_cache_details(fields),
        power=_power(card, family),
        temperature_c=texts.count(fields.get("temperature")),
        values=values,
        problems=(trouble,) if gone else (),
        locked="arcconf reports the controller as inaccessible" if gone else None,
    )


_REASON = re.compile(r"\(?\breason\s*:\s*([^()]*(?:\([^()]*\)[^()]*)*)", re.ASCII | re.IGNORECASE)


def _cache_details(fields: Mapping[str, str]) -> str | None:
    """Return the tool's details about the cache, or its reason if the cache is not used; None if there are none."""
    state = (value_or_none(fields.get("cache status")) or "").lower()
    if state in ("ok", "optimal"):
        return value_or_none(fields.get("cache status details"), 300)
    for key in ("cache status details", "cache state details", "cache disable reason", "cache state"):
        details = value_or_none(fields.get(key), 300)
        if details is not None and details.lower() not in (state, "enabled", "disabled"):
            reason = _REASON.search(details)
            return (reason[1].strip() if reason is not None else "") or details
    return None


def _power(card: OutputSection, family: Family) -> PowerSource | None:
    for heading, fields in card.parts.items():
        mark = next((name for name in _POWER if name in heading), None)
        keys = ("overall backup unit status", "backup power status", "status")
        state = next((value for key in keys if (value := value_or_none(fields.get(key)))), None)
        if mark is None or state is None:
            continue
        if any(part in state.lower() for part in NOT_FITTED):
            return PowerSource(kind="none", state=state, healthy=False)
        kind = "bbu" if mark == "battery" else "capacitor"
        return PowerSource(kind=kind, state=state, healthy=is_healthy(state.lower().removeprefix("zmm ")))
    if family is Family.SMART and value_or_none(card.fields.get("cache memory")) is not None:
        return PowerSource(kind="none", state="not fitted", healthy=False)
    return None


def _group(passage: OutputSection) -> DriveGroup:
    fields = passage.fields
    path = value_or_none(fields.get("ssd i/o bypass"))
    return DriveGroup(
        name=passage.name,
        media=media_of(fields.get("interface")),
        smart_path=None if path is None else vocabulary.phrase(path, vocabulary.switch(path)),
    )


def _volume(
    passage: OutputSection,
    groups: Sequence[DriveGroup],
    drives: Sequence[BayDrive] | None,
    jobs: Mapping[int, tuple[BackgroundOperation, ...]],
) -> LogicalDrive:
    fields = passage.fields
    states = (value_or_none(value) for key, value in fields.items() if key.startswith("status of logical"))
    raw = next(filter(None, states), "")
    array = value_or_none(fields.get("array"))
    group = next((group for group in groups if group.name == array), None)
    device = (fields.get("disk name") or "").strip()
    smart = any(key in fields for key in ("caching", "ld acceleration method"))
    setting, mode = fields.get("write-cache setting"), fields.get("write-cache mode")
    status = fields.get("write-cache status") or (mode if setting is not None else None)
    level = fields.get("raid level")
    number = int(passage.name)
    volume_jobs = jobs.get(number, ())
    state_job = _job(raw.partition("(")[2]) if "%" in raw else None
    return LogicalDrive(
        number=number,
        array=array,
        name=value_or_none(
            next((v for k, v in fields.items() if re.fullmatch("logical (device|drive) name", k)), None)
        ),
        level=texts.level(level) if level else Level.UNKNOWN,
        level_raw=value_or_none(level) or "",
        size_bytes=read_size(fields.get("size")),
        strip_bytes=read_size(fields.get("stripe-unit size")),
        stripe_bytes=read_size(fields.get("full stripe size")),
        state=texts.state(raw, _VOLUME_STATES),
        state_raw=raw,
        acceleration=acceleration(fields.get("ld acceleration method"), fields.get("caching"), group)
        if smart
        else None,
        read_cache=_switch_value(fields.get("read-cache setting") or fields.get("read-cache mode")),
        reading_cached=_switch_value(fields.get("read-cache status")),
        write_cache=None if (word := setting or mode) is None else write_cache(word),
        writing_back=_switch_value(status),
        device=clean(device, 64) if device.startswith("/dev/") else None,
        wwn=texts.naa(fields.get("volume unique identifier")),
        drives=_members(passage, drives),
        width=_width(passage),
        parity_groups=_parity_groups(passage) if texts.level(level) in PARITY_IN_SPANS else None,
        ssd_cache=_maxcache_text(fields) or ssd_cache_of(fields.get("ld acceleration method")),
        jobs=volume_jobs or ((state_job,) if state_job is not None else ()),
        lost="Failed stripes" if fields.get("failed stripes", "").lower() == "yes" else None,
    )


def _maxcache_text(fields: Mapping[str, str]) -> str | None:
    """Return the tool's text about maxCache in front of a logical device; None if maxCache does not serve it.

    The status is the effective value. The setting is used only if there is no status.
    """
    on = {}
    for kind in ("read", "write"):
        lines = (value_or_none(fields.get(f"maxcache {kind} cache {last}")) for last in ("status", "setting"))
        setting = next(filter(None, lines), None)
        if setting is not None and vocabulary.onoff(setting) != "off":
            on[kind] = setting
    policy = value_or_none(fields.get("maxcache write cache policy"))
    if on:
        text = ", ".join(f"{kind} cache {setting}" for kind, setting in on.items())
        return f"{text} ({policy})" if policy is not None and "write" in on else text
    assigned = value_or_none(fields.get("maxcache assigned")) or value_or_none(fields.get("maxcache"))
    return None if assigned is None or vocabulary.onoff(assigned) == "off" or assigned.lower() == "no" else assigned


def _switch_value(text: str | None) -> ReportedValue | None:
    """Return `on` or `off`; None if it is not reported or does not apply."""
    if value_or_none(text) is None or (text or "").lower().startswith("not "):
        return None
    return vocabulary.phrase(text or "", vocabulary.onoff(text or ""))


def write_cache(text: str) -> ReportedValue | None:
    """Return the configured write policy. `Enabled` alone means that writes are cached regardless of the battery."""
    word = text.lower()
    if value_or_none(text) is None or word.startswith("not "):
        return None
    if "when protected" in word:
        return vocabulary.phrase(text, "write-back")
    return vocabulary.phrase(
        text, {"on": "always-write-back", "off": "write-through"}.get(vocabulary.onoff(text) or "")
    )


def _members(passage: OutputSection, drives: Sequence[BayDrive] | None) -> tuple[str, ...]:
    """Return the places of the members, found by unique serial number or else as reported.

    `drives`: all drives; None if they are not all known.
    """
    if order := member_order(passage):
        return tuple(dict.fromkeys(order))
    if drives is None:
        return ()
    counts = Counter(drive.serial for drive in drives)
    by_serial = {
        drive.serial: drive.place for drive in drives if drive.serial is not None and counts[drive.serial] == 1
    }
    by_seat = {seat: drive.place for drive in drives if (seat := _seat(drive.slot)) is not None}
    places = []
    for heading, fields in passage.parts.items():
        if not ("segment" in heading or "physical device" in heading):
            continue
        for key, value in fields.items():
            if not _MEMBER.fullmatch(key) or value.lower().startswith("missing"):
                continue
            inside, _, serial = value.partition("(")[2].rpartition(")")
            pair = _PAIR.fullmatch(inside.strip())
            seat = _seat(inside)
            bay = f"{int(pair[1])}:{int(pair[2])}" if pair else by_seat.get(seat) if seat is not None else None
            places.append(by_serial.get(serial.strip()) or bay)
    return tuple(dict.fromkeys(name for name in places if name is not None))


def _width(passage: OutputSection) -> int | None:
    """Return the number of members that the section names, including missing ones."""
    if order := member_order(passage):
        return len(dict.fromkeys(order))
    parts = [part for heading, part in passage.parts.items() if "segment" in heading] or [
        part for heading, part in passage.parts.items() if "physical device" in heading
    ]
    return sum(_MEMBER.fullmatch(key) is not None for part in parts for key in part) or None


def _parity_groups(passage: OutputSection) -> int | None:
    """Return the number of parity groups, which the members' labels contain: `Group 1, Segment 0`."""
    keys = (key for heading, part in passage.parts.items() if "segment" in heading for key in part)
    return len({key.partition(",")[0] for key in keys if _MEMBER.fullmatch(key) and "," in key}) or None


def _seat(text: str | None) -> tuple[str, int, int] | None:
    """Return the reported location: `enclosure` or `connector`, its number, and the number of the slot or device."""
    match = _AT.search((text or "")[: texts.LINE])
    return (match[1].lower(), int(match[2]), int(match[3])) if match is not None else None


def _drive(passage: OutputSection) -> BayDrive | None:
    """Return a drive, or None for an enclosure or expander, which arcconf lists with the drives."""
    kind = next((line.lower() for line in passage.lines if line.lower().startswith("device is a")), "")
    if passage.kind != "drive" or any(part in kind for part in ("enclosure", "expander", "processor", "controller")):
        return None
    fields = passage.fields
    at = next((value for key, value in fields.items() if key.startswith("reported channel,device")), "")
    pair = _PAIR.match(at.strip())
    raw = value_or_none(fields.get("state")) or ""
    speed = fields.get("transfer speed", "")
    flash = fields.get("ssd", "").lower()
    media = {"yes": Media.SSD, "no": Media.HDD}.get(flash, Media.UNKNOWN)
    maker, product = value_or_none(fields.get("vendor")), value_or_none(fields.get("model"))
    array = value_or_none(fields.get("array"))
    state, predicted = drive_state(raw, _DRIVE_STATES)
    return BayDrive(
        place=f"{int(pair[1])}:{int(pair[2])}" if pair else passage.name,
        array=array if array is not None and array.isdigit() else None,
        model=_model(maker if maker not in ("ATA", "*MISSING*") else None, product),
        serial=value_or_none(fields.get("serial number")),
        wwn=texts.naa(fields.get("world-wide name")),
        firmware=value_or_none(fields.get("firmware")),
        media=Media.NVME if "nvme" in speed.lower() or "pcie" in speed.lower() else media,
        interface="scsi" if speed.lower().startswith("ultra") else interface_of(speed),
        size_bytes=read_size(fields.get("total size") or fields.get("size")) or None,
        sector_bytes=read_size(fields.get("block size")),
        physical_bytes=read_size(fields.get("physical block size")),
        state=State.MISSING if maker == "*MISSING*" else state,
        state_raw=raw,
        health=read_health(fields, predicted),
        link=texts.link_speed(speed.removeprefix("SATA").removeprefix("SAS")),
        write_cache=_switch_value(fields.get("write cache")),
        slot=value_or_none(fields.get("reported location")),
        usage_left=value_or_none(fields.get("usage remaining")),
    )


def _model(maker: str | None, product: str | None) -> str | None:
    """Return the model, joined from vendor and product.

    If the model of an ATA drive fills the eight characters of the SCSI vendor, both are joined without a blank.
    """
    split = maker is not None and len(maker) == 8 and any(char.isdigit() for char in maker)
    return ("" if split else " ").join(filter(None, (maker, product))) or None


def tasks(text: str) -> dict[int, tuple[BackgroundOperation, ...]]:
    """Return the running operations from `getstatus`, by logical device."""
    by_volume: dict[int, tuple[BackgroundOperation, ...]] = {}
    volume: int | None = None
    kind = ""
    for _, bare in texts.lines(text):
        key, value = texts.field(bare) or ("", "")
        match key.lower():
            case "logical device" | "logical drive":
                volume = texts.count(value)
            case "current operation":
                kind = _kind(value)
            case "percentage complete" if volume is not None and kind:
                share = texts.number(value)
                progress = None if share is None or not 0 <= share <= 100 else share / 100
                by_volume[volume] = (*by_volume.get(volume, ()), BackgroundOperation(kind=kind, progress=progress))
                volume, kind = None, ""
    return by_volume


def _kind(operation: str) -> str:
    word = operation.lower()
    return next((kind for part, kind in _WORK if part in word), "" if word == "none" else clean(word, 40))


def _job(text: str) -> BackgroundOperation | None:
    kind = _kind(text.partition(":")[0].strip())
    return BackgroundOperation(kind=kind, progress=texts.progress(text)) if kind else None
