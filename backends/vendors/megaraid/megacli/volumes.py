"""Parsers for virtual drives: -LDInfo and -LdPdInfo, in old and new wording. No I/O; they never raise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from backends.model import Level, State
from backends.sizes import read_size
from backends.subject import find_repeated, twice_reason
from backends.values import dataclass
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue
from backends.vendors.megaraid.facts import PhysicalDrive, Policies, VirtualDrive, ddf_level
from backends.vendors.megaraid.megacli.drives import drive, records
from backends.vendors.megaraid.megacli.progress import KINDS, parse_ongoing
from backends.vendors.megaraid.megacli.text import lines, parse_yes, whole, word
from backends.vendors.megaraid.sizes import strip

_STATES = {
    "optimal": State.OPTIMAL,
    "degraded": State.DEGRADED,
    "partially degraded": State.DEGRADED,
    "offline": State.OFFLINE,
    "failed": State.FAILED,
    "missing": State.MISSING,
}
_CACHECADE = "cachecade virtual drive"
_CACHED = {"read only": "reads", "read and write": "reads and writes"}
"""Meanings of `Cache Cade Type`."""

_ACCESS = {
    "read/write": "read-write",
    "read write": "read-write",
    "read only": "read-only",
    "readonly": "read-only",
    "read-only": "read-only",
    "blocked": "blocked",
    "hidden": "hidden",
}
_DRIVE_CACHE = {"enabled": "on", "disabled": "off", "disk's default": "default"}
_WRITE = {
    "writethrough": "write-through",
    "writeback": "write-back",
    "forcedwriteback": "always-write-back",
    "forced writeback": "always-write-back",
    "always writeback": "always-write-back",
}
_READ = {"readaheadnone": "none", "readahead": "read-ahead", "readadaptive": "adaptive"}
_IO = {"direct": "direct", "cached": "cached"}
_BAD_BBU = {"write cache ok if bad bbu": True, "no write cache if bad bbu": False}
_NUMBER = re.compile(r"([0-9]{1,6})(?: ?\(Target Id: ?([0-9]{1,6})\))?$", re.ASCII | re.IGNORECASE)
_CARD = re.compile(r"Adapter #?([0-9]{1,6})(?: -- Virtual Drive Information)?:?$", re.ASCII | re.IGNORECASE)
_LEVEL = re.compile(r"Primary-([0-9]{1,4})(?:, ?Secondary-([0-9]{1,4}))?(?![0-9])", re.ASCII | re.IGNORECASE)
_SPAN = re.compile(r"[0-9]{1,6} - Number of PDs: ?([0-9]{1,6})$", re.ASCII | re.IGNORECASE)
_BEGINNINGS = ("virtual drive", "virtual disk", _CACHECADE)
_REPEATED = frozenset({"span", "number of pds", *KINDS})
"""Labels that normally occur several times for one virtual drive, with different values."""

_MEMBERS = ("pd", "physical disk", "enclosure device id")


@dataclass(slots=True)
class _Record:
    """Lines about one virtual drive."""

    card: int
    number: int
    ssd_cache: bool
    fields: dict[str, str] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)
    """Labels that occur twice for this virtual drive, with different values."""
    spans: list[int] = field(default_factory=list)
    jobs: list[BackgroundOperation] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """Lines about its members, for the parser of drives."""

    def value(self, *keys: str) -> str:
        """Return the value of the first of `keys` that has one, or ""."""
        return next((self.fields[key] for key in keys if self.fields.get(key)), "")


def parse_volumes(text: str, card: int = 0) -> tuple[VirtualDrive, ...]:
    """Return the virtual drives of -LDInfo or -LdPdInfo, in order.

    `card` is their controller until the output names another one. A virtual drive that the output lists more than once
    is returned once, as refused.
    """
    parsed = list(_records(text, card))
    twice = find_repeated((record.card, record.number) for record in parsed)
    once = {(record.card, record.number): record for record in reversed(parsed)}
    unique = [record for record in parsed if once[record.card, record.number] is record]
    return tuple(
        VirtualDrive(card=record.card, number=record.number, refused=twice_reason(f"virtual drive {record.number}"))
        if (record.card, record.number) in twice
        else _volume(record)
        for record in unique
    )


def _records(text: str, card: int) -> Iterator[_Record]:
    current: _Record | None = None
    in_member = False
    for row in text.split("\n"):
        for line in lines(row):
            named = _CARD.match(f"{line.key}:" if line.key.startswith("adapter") else line.value)
            begins = _NUMBER.match(line.value) if line.key in _BEGINNINGS else None
            if named or begins or line.key == "exit code":
                if current is not None:
                    yield current
                current = _Record(card, int(begins[2] or begins[1]), line.key == _CACHECADE) if begins else None
                in_member = False
            if named:
                card = int(named[1])
            if current is None or begins:
                continue
            if line.key in _MEMBERS:
                in_member = True
            elif line.key == "span" and (span := _SPAN.match(line.value)):
                in_member = False
                current.spans.append(int(span[1]))
            if in_member:
                current.text.append(row)
            elif line.key:
                if current.fields.setdefault(line.key, line.value) != line.value and line.key not in _REPEATED:
                    current.differing.append(line.label)
                if job := parse_ongoing(line):
                    current.jobs.append(job)
    if current is not None:
        yield current


def _volume(record: _Record) -> VirtualDrive:
    value = record.value
    members = [drive(member) for member in records("\n".join(record.text), record.card)]
    members = [member for member in members if member.slot is not None]
    if why := _contradiction(record, members):
        return VirtualDrive(card=record.card, number=record.number, refused=why)
    groups = {member.group for member in members}
    spans = whole(value("span depth")) or whole(value("number of spans")) or None
    state_raw = value("state")
    level_raw = value("raid level", "virtual drive type")
    default, current = value("default cache policy", "cache policy"), value("current cache policy")
    return VirtualDrive(
        card=record.card,
        number=record.number,
        group=groups.pop() if len(groups) == 1 else None,
        name=value("name") or None,
        level=level(level_raw, spans),
        level_raw=level_raw,
        spans=spans,
        drives_per_span=_per_span(record),
        size_bytes=read_size(value("size")),
        strip_bytes=strip(value("strip size", "stripe size")),
        state=_STATES.get(state_raw.lower(), State.UNKNOWN),
        state_raw=state_raw,
        access=word(value("current access policy", "access policy", "default access policy"), _ACCESS),
        configured=policies(default),
        in_force=policies(current) if current else None,
        drive_cache=word(value("disk cache policy"), _DRIVE_CACHE),
        bad_bbu_write_back=_bad_bbu(default or current),
        drives=tuple(member.place for member in members),
        jobs=tuple(record.jobs),
        secured={"none": False, "fde": True}.get(value("encryption type").lower()),
        ssd_cache=record.ssd_cache,
        cached=_cached(value("is vd cached"), value("cache cade type")),
        lost=parse_yes(value("bad blocks exist")),
    )


def _contradiction(record: _Record, members: Sequence[PhysicalDrive]) -> str:
    """Return why a record cannot be about one virtual drive, as a clause; "" if it can."""
    if record.differing:
        return f"it gives two different values of {record.differing[0]} for virtual drive {record.number}"
    twice = sorted(find_repeated(member.place for member in members))
    return f"it names drive {twice[0]} of virtual drive {record.number} more than once" if twice else ""


def _cached(output: str, kind: str) -> ReportedValue | None:
    """Return what CacheCade caches: `off`, `on`, `reads`, `reads and writes` or `unknown`; None if it is not reported.

    `output`: value of `Is VD Cached`. `kind`: value of `Cache Cade Type`, the line below it; "" without that line.
    """
    match parse_yes(output):
        case None:
            return ReportedValue(value=UNKNOWN, raw=output) if output else None
        case False:
            return ReportedValue(value="off", raw=output)
        case True:
            return ReportedValue(value=_CACHED.get(kind.lower(), "on"), raw=", ".join(filter(None, (output, kind))))


def _per_span(record: _Record) -> int | None:
    """Return the drives in each span. `Number Of Drives` is per span too: 2 for a RAID 10 with 3 spans."""
    number = whole(record.value("number of drives per span", "number of drives"))
    counted = set(record.spans)
    if len(counted) == 1:
        number = number or counted.pop()
    return number if number and len(counted) <= 1 else None


def level(raw: str, spans: int | None) -> Level:
    """Return the level of `Primary-1, Secondary-3, RAID Level Qualifier-0` (SNIA DDF) with this number of spans."""
    match = _LEVEL.match(raw)
    if match is None:
        return Level.UNKNOWN
    return ddf_level(int(match[1]), int(match[2] or 0), spans or 1)


def policies(line: str) -> Policies:
    """Return the policies in `WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU`.

    Each policy is recognised by its name at any position. If no name is known, the name at its usual position is
    reported as unknown. Write-back that stays on with a bad battery is always-write-back.
    """
    policy_words = [part.strip() for part in line.split(",") if part.strip()] if line else []
    write, read, io = (_policy(policy_words, position, table) for position, table in enumerate((_WRITE, _READ, _IO)))
    if write is not None and write.value == "write-back" and _bad_bbu(line):
        battery_word = next(part for part in policy_words if _BAD_BBU.get(part.lower()))
        write = ReportedValue(value="always-write-back", raw=battery_word)
    return Policies(write_cache=write, read_ahead=read, io_policy=io)


def _policy(policy_words: list[str], position: int, table: Mapping[str, str]) -> ReportedValue | None:
    for word_part in policy_words:
        if word_part.lower() in table:
            return ReportedValue(value=table[word_part.lower()], raw=word_part)
    known_words = {**_WRITE, **_READ, **_IO, **_BAD_BBU}
    if position < len(policy_words) and policy_words[position].lower() not in known_words:
        return ReportedValue(value=UNKNOWN, raw=policy_words[position])
    return None


def _bad_bbu(line: str) -> bool | None:
    readings = (_BAD_BBU.get(part.strip().lower()) for part in line.split(","))
    return next((reading for reading in readings if reading is not None), None)


def parse_background(text: str) -> Mapping[int, bool]:
    """Return whether background initialisation starts automatically, by number of the virtual drive.

    Parses `-LDBI -GetSetting -LALL`. No recording of it is known, so any line counts that has the number of a virtual
    drive and Enabled or Disabled (or On, Off). A virtual drive with both is left out.
    """
    by_volume: dict[int, set[bool]] = {}
    for row in text.split("\n"):
        match = _BACKGROUND.search(row[:400])
        if match:
            by_volume.setdefault(int(match[2] or match[1]), set()).add(match[3].lower() in ("enabled", "on"))
    return {number: states.pop() for number, states in by_volume.items() if len(states) == 1}


_BACKGROUND = re.compile(
    r"\bVD ?#? ?([0-9]{1,6})\b(?: ?\(target id ?[:#]*? ?([0-9]{1,6})\))?[^0-9]{0,80}?\b(Enabled|Disabled|On|Off)\b",
    re.ASCII | re.IGNORECASE,
)
