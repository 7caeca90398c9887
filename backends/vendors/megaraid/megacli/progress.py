"""Parsers for background operations: output of `-ShowProg`, and `Ongoing Progresses` in lists.

No I/O; they never raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.vendors._cards import BackgroundOperation
from backends.vendors.megaraid.megacli.text import Line

KINDS = {
    "check consistency": "consistency-check",
    "consistency check": "consistency-check",
    "background initialization": "background-initialisation",
    "initialization": "initialisation",
    "foreground initialization": "initialisation",
    "reconstruction": "migration",
    "rebuild": "rebuild",
    "copyback": "copyback",
    "patrol read": "patrol-read",
}
"""Kinds of operations by the tool's name in lower case."""

_VOLUME = re.compile(
    r"^(?P<kind>[A-Za-z ]{4,40}?) on VD #?(?P<number>[0-9]{1,6})(?: ?\(target id #?:? ?(?P<target>[0-9]{1,6})\))?"
    r",? Completed? (?P<percent>[0-9]{1,3}) ?%",
    re.ASCII | re.IGNORECASE,
)
_DRIVE = re.compile(
    r"^(?P<kind>Rebuild|Copyback) Progress on Device at Enclosure (?P<enclosure>[0-9]{1,6}|N/A|-|), ?"
    r"Slot (?P<slot>[0-9]{1,6}),? Completed? (?P<percent>[0-9]{1,3}) ?%",
    re.ASCII | re.IGNORECASE,
)
_COMPLETED = re.compile(r"Completed? ([0-9]{1,3}) ?%", re.ASCII | re.IGNORECASE)


def fraction(percent: str) -> float | None:
    """Return a percentage as a fraction (0..1), or None above 100."""
    value = int(percent)
    return value / 100 if value <= 100 else None


def parse_ongoing(line: Line) -> BackgroundOperation | None:
    """Return the operation of a line like `Check Consistency : Completed 4%, Taken 616 min.`, or None."""
    kind = KINDS.get(line.key)
    match = _COMPLETED.match(line.value) if kind else None
    return BackgroundOperation(kind=kind, progress=fraction(match[1])) if kind and match else None


def volume_progress(text: str) -> Mapping[int, BackgroundOperation]:
    """Return the operation of each virtual drive by number, from `Check Consistency on VD #3 (...) Completed 4% ...`"""
    by_volume: dict[int, BackgroundOperation] = {}
    for row in text.split("\n"):
        match = _VOLUME.match(row[:400].strip())
        kind = KINDS.get(match["kind"].lower()) if match else None
        if match and kind:
            job = BackgroundOperation(kind=kind, progress=fraction(match["percent"]))
            by_volume.setdefault(int(match["target"] or match["number"]), job)
    return by_volume


def drive_progress(text: str) -> Mapping[str, BackgroundOperation]:
    """Return the operations by place (`245:1`, `:67` without an enclosure) from `-PDRbld -ShowProg`.

    The lines have the form `Rebuild Progress on Device at Enclosure N/A, Slot 67 Completed 31% in 959 Minutes.`
    """
    by_place: dict[str, BackgroundOperation] = {}
    for row in text.split("\n"):
        match = _DRIVE.match(row[:400].strip())
        if match:
            enclosure = match["enclosure"] if match["enclosure"].isdigit() else ""
            slot_address = f"{int(enclosure) if enclosure else ''}:{int(match['slot'])}"
            by_place.setdefault(
                slot_address,
                BackgroundOperation(kind=KINDS[match["kind"].lower()], progress=fraction(match["percent"])),
            )
    return by_place
