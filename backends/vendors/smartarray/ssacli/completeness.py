"""Completeness checks for ssacli. No I/O.

Its output has no fixed last line, so the check is whether every object that it names is also described.
"""

from __future__ import annotations

from backends.model import Level, State
from backends.tool_output import CompletenessCheck, line_end
from backends.vendors.smartarray.facts import CardText, LogicalDrive
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smartarray.ssacli.sections import CardSections, TextSection, read

_BEHIND = ("phy count", "phy transfer rate")
"""Labels in a drive's section that follow all parsed lines, except for the disk name of an exposed drive."""
_AFTER = ("port name", "sep ")
"""Starts of lines that follow the cages of a controller without drives."""
_GONE = ("failed", "missing", "offline")
"""States of a drive that the output may name without a description."""
_LEAST = {Level.RAID1: 2, Level.RAID10: 2, Level.RAID5: 3, Level.RAID6: 4, Level.RAID50: 6, Level.RAID60: 8}
_REDUNDANT = {Level.RAID5: 1, Level.RAID6: 2, Level.RAID50: 2, Level.RAID60: 4}


def missing(text: str) -> str:
    """Return what is missing from the output of `show config detail`; "" if it is complete."""
    if torn := line_end(text):
        return torn
    card_sections = read(text)
    if not card_sections:
        return "it reports no controller"
    return next(
        filter(
            None,
            (
                *map(_undescribed_reason, card_sections),
                _early_end_reason(card_sections[-1]),
                *map(_short_array_reason, cards(text)),
            ),
        ),
        "",
    )


def _undescribed_reason(card: CardSections) -> str:
    """Return a clause about a drive that a cage, array or mirror group names but nothing describes, or ""."""
    drives = [section for section in card.sections if section.kind == "drive"]
    described = {drive.name for drive in drives if drive.fields}
    for drive in drives:
        if drive.name not in described and not any(word in drive.row.lower() for word in _GONE):
            return f"drive {drive.name} is named but not described"
    return ""


def _early_end_reason(card: CardSections) -> str:
    """Return a clause if the output ends before the drives, or in the middle of an object; else ""."""
    last = card.ends_in[-1]
    described = [section for section in card.sections if section.kind == "drive" and section.fields]
    if not described:
        return "" if last.name.startswith(_AFTER) and _has_no_drives(card) else "the output ends before the drives"
    for inner in card.open:
        if not _ended(inner, described):
            return f"it ends in {inner.kind} {inner.name}".replace("volume", "logical drive")
    return ""


def _has_no_drives(card: CardSections) -> bool:
    """Return whether the controller lists no drives at all."""
    return "none attached" in card.passed and not any(section.kind == "drive" for section in card.sections)


def _ended(drive: TextSection, described: list[TextSection]) -> bool:
    keys = list(drive.fields)
    if any(key in keys for key in _BEHIND):
        handed_on = drive.fields.get("drive exposed to os", "").lower() == "true"
        return not handed_on or "disk name" in keys
    # The last line of a drive's section varies, so compare it with the last lines of the longest sections.
    other_keys = [list(section.fields) for section in described if section is not drive]
    longest = max(map(len, other_keys), default=0)
    return any(keys[-1:] == keys_of_other[-1:] for keys_of_other in other_keys if len(keys_of_other) == longest)


def _short_array_reason(text: CardText) -> str:
    """Return a clause about an array that names fewer drives than a logical drive on it needs, or ""."""
    for volume in text.volumes:
        drives = [drive for drive in text.drives if drive.array == volume.array and drive.state is not State.SPARE]
        if volume.array is not None and volume.state is State.OPTIMAL and len(drives) < _fewest_drives(volume):
            return f"array {volume.array} names {len(drives)} drives, but logical drive {volume.number} needs more"
    return ""


def _fewest_drives(volume: LogicalDrive) -> int:
    """Return the minimum number of drives of a logical drive, by its level and full stripe."""
    data = (volume.stripe_bytes or 0) // (volume.strip_bytes or 1)
    match volume.level:
        case Level.RAID1 | Level.RAID10:
            return max(2 * data, _LEAST[volume.level])
        case Level.RAID0:
            return max(data, 1)
        case level:
            return max(data + _REDUNDANT.get(level, 0), _LEAST.get(level, 1))


CONFIG = CompletenessCheck(
    tool="ssacli, hpssacli, hpacucli: `show config detail`",
    mark="a description of every named drive, all drives that the level and the stripe of each array need, the PHYs of "
    "the last drive, and no truncated line",
    hides="unassigned drives after the last array, if a build does not list the drives of the cages before the "
    "arrays; and lines that raidbench ignores",
    missing=missing,
)
LIST = CompletenessCheck(
    tool="ssacli, hpssacli, hpacucli: `ctrl all show`",
    mark="no truncated line, and as many controllers as the kernel has",
    hides="a controller on a recorded host, if the recording does not contain its driver",
    missing=line_end,
)
OFFERED = CompletenessCheck(
    tool="ssacli, hpssacli, hpacucli: possible values",
    mark="no truncated line",
    hides="the last values, which raidbench then does not offer",
    missing=line_end,
    statuses=frozenset(),
)
