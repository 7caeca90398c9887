"""Parsers from ssacli's sections to the data of a controller. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from backends.model import Media, State
from backends.sizes import read_size
from backends.subject import find_repeated, twice_reason
from backends.text import clean
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue
from backends.vendors.smartarray import text as texts
from backends.vendors.smartarray import vocabulary
from backends.vendors.smartarray.facts import BayDrive, CardText, DriveGroup, LogicalDrive, PowerSource, RaidCard
from backends.vendors.smartarray.ssacli.sections import CardSections, TextSection, read
from backends.vendors.smartarray.text import value_or_none
from backends.vendors.smartarray.vocabulary import PREDICTED, drive_state, read_health

LOCKED = "CACHE STATUS PROBLEM"
"""Start of the paragraph in which the tool reports that the controller refuses changes."""

_AFFECTED = re.compile(r"logical drives? (?:is|are) affected: *([\d, ]{1,400})", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,5}", re.ASCII)

_VOLUME_STATES = {
    "ok": State.OPTIMAL,
    "interim recovery": State.DEGRADED,
    "ready for recovery": State.DEGRADED,
    "ready for rebuild": State.DEGRADED,
    "waiting for rebuild": State.DEGRADED,
    "recovering": State.REBUILDING,
    "rebuilding": State.REBUILDING,
    "transforming": State.OPTIMAL,
    "expanding": State.OPTIMAL,
    "queued for expansion": State.OPTIMAL,
    "undergoing expansion": State.OPTIMAL,
    "failed": State.FAILED,
    "wrong physical drive": State.FAILED,
    "not available": State.OFFLINE,
    "disabled": State.OFFLINE,
    "offline": State.OFFLINE,
}
_DRIVE_STATES = {
    "ok": State.ONLINE,
    "rebuilding": State.REBUILDING,
    "failed": State.FAILED,
    "erase": State.OFFLINE,
    "offline": State.OFFLINE,
    "missing": State.MISSING,
}
_JOBS = {
    "recovering": "rebuild",
    "rebuilding": "rebuild",
    "transforming": "migration",
    "expanding": "migration",
    "undergoing expansion": "migration",
    "in progress": "initialisation",
    "initializing": "initialisation",
}


@lru_cache(maxsize=4)  # the check that an output is complete parses it first
def cards(text: str, *, cut: bool = False) -> tuple[CardText, ...]:
    """Return every controller in the output.

    `cut`: whether `text` is truncated. The truncated section is then left out, because a line may be missing from it.
    """
    card_sections = read(text)
    return tuple(
        _card(sections, sections.open if cut and sections is card_sections[-1] else None) for sections in card_sections
    )


def _card(card_sections: CardSections, torn: list[TextSection] | None) -> CardText:
    """Return a controller. `torn`: the truncated sections; None if the output is complete."""
    if torn is not None:
        card_sections = _without_cut_sections(card_sections, torn)
    twice = _repeated_sections(card_sections.sections)
    sections = [section for section in card_sections.sections if (section.kind, section.name) not in twice]
    card_sections = replace(card_sections, sections=sections)
    groups = {section.name: _group(section) for section in card_sections.sections if section.kind == "array"}
    drives: dict[str, BayDrive] = {}
    for section in card_sections.sections:
        if section.kind != "drive":
            continue
        before = drives.get(section.name)
        if before is None or section.fields:
            drives[section.name] = _drive(section, alone=torn is not None)
        elif before.array is None and section.array is not None and section.row:
            drives[section.name] = replace(before, array=section.array)
    believed = None if any(kind in ("drive", "array") for kind, _ in twice) else drives
    affected = _affected_volumes(card_sections.paragraphs)
    volumes = {
        int(section.name): _volume(section, groups, believed, affected)
        for section in card_sections.sections
        if section.kind == "volume"
    }
    shown = any(volume.lost for volume in volumes.values())
    return CardText(
        card=_facts(
            replace(
                card_sections,
                paragraphs=[paragraph for paragraph in card_sections.paragraphs if not (shown and _is_lost(paragraph))],
            )
        ),
        groups=tuple(groups.values()),
        volumes=tuple(volumes.values()),
        drives=tuple(drives.values()),
        twice=twice_reason(" and ".join(f"{_KINDS[kind]} {name}" for kind, name in sorted(twice))) if twice else "",
    )


def _is_lost(paragraph: str) -> bool:
    return paragraph.lower().startswith("warning: unrecoverable media errors")


def _affected_volumes(paragraphs: Iterable[str]) -> frozenset[int]:
    """Return the numbers of the logical drives that have lost data according to warnings."""
    ends = (_AFFECTED.search(paragraph) for paragraph in paragraphs if _is_lost(paragraph))
    return frozenset(int(number) for end in ends if end is not None for number in _NUMBER.findall(end[1]))


_KINDS = {"array": "array", "volume": "logical drive", "drive": "physical drive"}


def _repeated_sections(sections: Sequence[TextSection]) -> frozenset[tuple[str, str]]:
    """Return kind and name of objects that are described more than once. A list that names drives does not count."""
    described = [
        section
        for section in sections
        if section.kind in _KINDS and (section.fields or (section.kind == "volume" and section.row))
    ]
    return find_repeated(
        (section.kind, str(int(section.name)) if section.kind == "volume" else section.name) for section in described
    )


def _without_cut_sections(card_sections: CardSections, torn: list[TextSection]) -> CardSections:
    """Return the sections without the truncated ones. A truncated controller section keeps only its first fields."""
    card = card_sections.card
    if card in torn:
        names = ("serial number", "firmware version")
        card = TextSection("card", card.name, fields={key: card.fields[key] for key in names if key in card.fields})
    complete = [
        section for section in card_sections.sections if all(section is not cut_section for cut_section in torn)
    ]
    return replace(card_sections, card=card, sections=complete)


def _facts(card_sections: CardSections) -> RaidCard:
    fields = card_sections.card.fields
    driver = " ".join(
        filter(None, (value_or_none(fields.get("driver name")), value_or_none(fields.get("driver version"))))
    )
    passes = fields.get("hba mode enabled", "").lower() == "true" or card_sections.mode == "HBA"
    problems = tuple(clean(paragraph, 500) for paragraph in card_sections.paragraphs)
    limits = {}
    if (most := texts.count(fields.get("max parallel surface scan count"))) is not None:
        limits["parallel_surface_scan"] = most
    return RaidCard(
        number=card_sections.card.name,
        model=clean(card_sections.model) or None,
        serial=value_or_none(fields.get("serial number")),
        firmware=value_or_none(fields.get("firmware version")),
        driver=driver or None,
        pci=value_or_none(next((value for key, value in fields.items() if key.startswith("pci address")), None)),
        state_raw=value_or_none(fields.get("controller status")),
        mode="HBA" if passes else value_or_none(fields.get("controller mode")),
        cache_bytes=read_size(fields.get("total cache size") or fields.get("cache size"), bare="G"),
        cache_state=value_or_none(fields.get("cache status")),
        cache_details=_cache_details(fields),
        power=_power(fields),
        temperature_c=texts.count(fields.get("controller temperature (c)")),
        capacitor_c=texts.count(fields.get("capacitor temperature (c)") or fields.get("battery temperature (c)")),
        cache_module_c=texts.count(fields.get("cache module temperature (c)")),
        values=vocabulary.values(fields, vocabulary.SMART),
        limits=limits,
        problems=tuple(problem for problem in problems if not problem.lower().startswith("note:")),
        locked=next((problem for problem in problems if problem.startswith(LOCKED)), None),
    )


def _cache_details(fields: Mapping[str, str]) -> str | None:
    """Return the tool's reason for the state of the cache, or None."""
    details = (
        value_or_none(fields.get("cache status details"), 300),
        value_or_none(fields.get("cache disable reason"), 300),
    )
    return ". ".join(dict.fromkeys(name.rstrip(".") for name in details if name is not None)) or None


def is_power_cause(details: str | None) -> bool:
    """Return whether the tool's reason names the battery or capacitor of the cache, or its cable."""
    word = (details or "").lower()
    return any(part in word for part in ("batter", "capacitor", "backup power", "power source", "cable", "charg"))


def _power(fields: Mapping[str, str]) -> PowerSource | None:
    state = value_or_none(fields.get("battery/capacitor status") or fields.get("battery status"))
    count = texts.count(fields.get("battery/capacitor count") or fields.get("battery pack count"))
    kind = "capacitor" if fields.get("cache backup power source", "").lower().startswith("capac") else "bbu"
    details = _cache_details(fields)
    off = fields.get("cache status", "").lower() not in ("", "ok", "not configured")
    if (state is None or count == 0) and off and details is not None and is_power_cause(details):
        gone = any(part in details.lower() for part in ("not attached", "not present", "not installed", "no batter"))
        return PowerSource(kind="none" if gone else kind, state=details, healthy=False)
    source = value_or_none(fields.get("cache backup power source"))
    if count == 0 or (
        (state, count, source) == (None, None, None) and fields.get("cache board present", "").lower() == "true"
    ):
        return PowerSource(kind="none", state="not fitted", healthy=False)
    if state is None:
        return PowerSource(kind=kind, state=UNKNOWN) if count or source is not None else None
    return PowerSource(kind=kind, state=state, healthy=is_healthy(state))


_WEAK = (
    *("fail", "recharg", "charg", "low", "not ", "missing", "replace", "degrad", "disconnect", "learn", "error"),
    *("cable", "expired", "worn", "calibrat", "abnormal", "unable", "absent"),
)
"""Parts of the tool's text for a battery or capacitor that cannot keep the cache."""


def is_healthy(state: str) -> bool | None:
    """Return whether a battery or capacitor in this state can keep the cache; None for an unknown state."""
    word = state.lower()
    if word in ("ok", "optimal", "okay", "ready"):
        return True
    return False if any(part in word for part in _WEAK) else None


def media_of(interface: str | None) -> Media:
    """Return the media. The tool names flash explicitly; `SAS` or `SATA` alone means a hard disk."""
    word = (interface or "").lower()
    if "nvme" in word or "pcie" in word:
        return Media.NVME
    if "solid state" in word or "ssd" in word:
        return Media.SSD
    return Media.HDD if any(part in word for part in ("sas", "sata", "scsi", "hdd")) else Media.UNKNOWN


def interface_of(text: str | None) -> str | None:
    """Return `sas`, `sata`, `nvme` or `scsi`, or None."""
    word = (text or "").lower()
    if "serial attached" in word:
        return "sas"
    return next((literal for literal in ("nvme", "sata", "sas", "scsi") if literal in word), None)


_SMART_PATH = ("smart path", "hp ssd smart path", "ssd smart path", "hpe ssd smart path")
"""Labels of Smart Path."""


def _group(section: TextSection) -> DriveGroup:
    fields = section.fields
    path = next((fields[key] for key in _SMART_PATH if key in fields), None)
    return DriveGroup(
        name=section.name,
        media=media_of(fields.get("interface type")),
        smart_path=None
        if path is None or value_or_none(path) is None
        else vocabulary.phrase(path, vocabulary.switch(path)),
    )


_NO_ACCELERATOR = ("none", "disabled", "all disabled", "not enabled", "no acceleration")
"""Texts for a logical drive without an accelerator."""


def ssd_cache_of(method: str | None) -> str | None:
    """Return the acceleration method if it names an SSD cache (SSD Smart Cache, maxCache), else None."""
    word = "".join((method or "").lower().split())
    return value_or_none(method) if "smartcache" in word or "maxcache" in word or "ssdcach" in word else None


def acceleration(method: str | None, caching: str | None, group: DriveGroup | None) -> ReportedValue | None:
    """Return the accelerator of a logical drive: from its own line, else from the array's Smart Path or its caching."""
    if method is not None and (word := method.strip().lower()):
        if "smart path" in word or "bypass" in word:
            return vocabulary.phrase(method, "smart-path")
        accelerators = {"controller cache": "controller-cache"} | dict.fromkeys(_NO_ACCELERATOR, "none")
        return vocabulary.phrase(method, accelerators.get(word))
    if group is not None and group.smart_path is not None and group.smart_path.value == "enable":
        return ReportedValue(value="smart-path", raw=f"Smart Path {group.smart_path.raw}")
    if caching is None or value_or_none(caching) is None:
        return None
    return vocabulary.phrase(caching, {"on": "controller-cache", "off": "none"}.get(vocabulary.onoff(caching) or ""))


_FRONT = (
    "ssd smart cache",
    "smart cache",
    "hp ssd smart cache",
    "hpe ssd smart cache",
    "ssd caching",
    "cached by",
    "cached by logical drive",
    "cache logical drive",
    "ssd smart cache logical drive",
    "caching logical drive",
    "caching array",
    "cache write policy",
    "ssd smart cache write policy",
)
"""Labels that occur only if an SSD cache serves the logical drive."""


def _volume(
    section: TextSection,
    groups: Mapping[str, DriveGroup],
    drives: Mapping[str, BayDrive] | None,
    affected: frozenset[int],
) -> LogicalDrive:
    """Return a logical drive.

    `drives`: all drives of the controller; None if a drive or an array is refused. `affected`: numbers of the logical
    drives that have lost data according to a warning.
    """
    fields = dict(section.fields)
    if section.row:
        parts = [part.strip() for part in section.row.split(",")]
        fields.setdefault("size", parts[0])
        fields.setdefault("fault tolerance", parts[1] if len(parts) > 1 else "")
        fields.setdefault("status", section.state or ", ".join(parts[2:]))
    raw = value_or_none(fields.get("status")) or ""
    group = groups.get(section.array or "")
    named = tuple(dict.fromkeys(section.drives))
    members = tuple(
        bay for bay, drive in (drives or {}).items() if drive.array == section.array and drive.state is not State.SPARE
    )
    front = next((fields[key] for key in fields if key in _FRONT), None)
    old = "caching" not in fields and "array accelerator" in fields
    return LogicalDrive(
        number=int(section.name),
        array=section.array,
        name=value_or_none(fields.get("logical drive label")),
        level=texts.level(fields.get("fault tolerance")),
        level_raw=value_or_none(fields.get("fault tolerance")) or "",
        size_bytes=read_size(fields.get("size")),
        strip_bytes=read_size(fields.get("strip size") or fields.get("stripe size")),
        stripe_bytes=read_size(fields.get("full stripe size")),
        state=texts.state(raw, _VOLUME_STATES),
        state_raw=raw,
        acceleration=acceleration(
            fields.get("ld acceleration method"), fields.get("caching") or fields.get("array accelerator"), group
        ),
        old_words=old,
        device=_device(fields),
        wwn=texts.naa(fields.get("unique identifier")),
        drives=named or (members if section.array is not None else ()),
        parity_groups=texts.count(fields.get("number of parity groups")),
        ssd_cache=value_or_none(front) or ssd_cache_of(fields.get("ld acceleration method")),
        jobs=_jobs(raw, fields.get("parity initialization status")),
        lost=value_or_none(fields.get("unrecoverable media errors"))
        or ("Detected" if int(section.name) in affected else None),
    )


def _device(fields: Mapping[str, str]) -> str | None:
    name = fields.get("disk name", "").strip()
    return clean(name, 64) if name.startswith("/dev/") else None


def _jobs(state: str, initialisation: str | None) -> tuple[BackgroundOperation, ...]:
    jobs = []
    for text in (state, initialisation or ""):
        word = text.lower()
        kind = next((kind for front, kind in _JOBS.items() if word.startswith(front)), None)
        if kind is not None:
            jobs.append(BackgroundOperation(kind=kind, progress=texts.progress(text)))
    # Until the initialisation ends, every write covers the full stripe, so a queued one already slows benchmarks.
    if (initialisation or "").lower().startswith("queued"):
        jobs.append(BackgroundOperation(kind="initialisation", progress=0.0))
    return tuple(jobs)


def _drive(section: TextSection, *, alone: bool = False) -> BayDrive:
    """Return a drive. `alone`: whether truncated output may have only its row, which does not report its use."""
    fields = dict(section.fields)
    spare = False
    if section.row:
        spare = _row(section, fields)
    raw = value_or_none(fields.get("status")) or ""
    use = fields.get("drive type", "").lower()
    state, predicted = drive_state(raw, _DRIVE_STATES)
    if state is State.ONLINE and alone and section.row and not (section.array or section.loose):
        state = State.UNKNOWN
    if state is State.ONLINE and (use.startswith("unassigned") or (section.loose and not use)):
        state = State.UNASSIGNED
    if state is State.ONLINE and (spare or use.startswith("spare")):
        state = State.SPARE
    interface = fields.get("interface type")
    logical, _, physical = fields.get("logical/physical block size", "").partition("/")
    limit = texts.link_speed(fields.get("phy maximum link rate"))
    # The speed is useless without the limit, and truncated output may end between these two lines.
    link = texts.link_speed(fields.get("phy physical link rate")) if limit is not None else None
    return BayDrive(
        place=section.name,
        array=section.array,
        model=value_or_none(fields.get("model")),
        serial=value_or_none(fields.get("serial number")),
        wwn=texts.naa(fields.get("wwid")),
        firmware=value_or_none(fields.get("firmware revision")),
        media=media_of(interface),
        interface=interface_of(interface),
        size_bytes=read_size(fields.get("size"), base=1000),
        sector_bytes=texts.count(logical or fields.get("native block size")),
        physical_bytes=texts.count(physical),
        state=state,
        state_raw=raw,
        use_raw=value_or_none(fields.get("drive type")) or "",
        health=read_health(fields, predicted),
        usage_left=value_or_none(fields.get("usage remaining")),
        link=link if link != limit else None,
        link_limit=limit if link != limit else None,
        device=_device(fields),
    )


def _row(section: TextSection, fields: dict[str, str]) -> bool:
    """Add the data in `(port 1I:box 1:bay 1, SATA SSD, 960 GB, OK)` to `fields`. Return whether it is a spare drive."""
    parts = [part.strip() for part in section.row.split(",") if not part.strip().lower().startswith("port ")]
    at = next((index for index, part in enumerate(parts) if read_size(part) is not None), len(parts))
    if at:
        fields.setdefault("interface type", parts[0])
    if at < len(parts):
        fields.setdefault("size", parts[at])
    tail = parts[at + 1 :]
    announced = [part for part in tail[1:] if PREDICTED in part.lower()]
    fields.setdefault("status", section.state or ", ".join([*tail[:1], *announced]))
    return any("spare" in part.lower() for part in tail)
