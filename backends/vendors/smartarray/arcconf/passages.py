"""arcconf's text as passages: the card, arrays, logical devices, drives, by their headings. Pure.

Columns differ from build to build, and old ones print none, so a field is split at its colon, and what begins a passage
is its heading alone. Headings between dashed rules divide a passage: its first fields count, the rest by their heading.
"""

from __future__ import annotations

import re
from dataclasses import field

from backends.values import dataclass
from backends.vendors.smartarray import text as texts

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
class Passage:
    """What stands below one heading."""

    kind: str
    """`card`, `array`, `volume`, `drive`; "" for what is passed over."""
    name: str = ""
    """Number of the array or logical device; `channel:device` of a drive."""
    fields: dict[str, str] = field(default_factory=dict)
    """Values by their keys in lower case; the first of each counts, whatever heading it stands below."""
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    """The same by the heading between dashed rules, in lower case."""
    lines: list[str] = field(default_factory=list)
    """Lines that are no fields."""


def read(text: str) -> list[Passage]:
    """The passages of an answer, in its order."""
    found = [Passage("")]
    channel, part, ruled = "0", "", False
    for _, bare in texts.lines(text):
        if not bare or _RULE.fullmatch(bare):
            ruled = ruled or bool(bare)
            continue
        word = " ".join(bare.lower().split()).rstrip(":")
        if word in _MAIN:
            found.append(Passage(_MAIN[word]))
            part = ""
        elif kind := _heading(bare):
            channel = kind[1] if kind[0] == "channel" else channel
            name = f"{channel}:{kind[1]}" if kind[0] == "drive" else kind[1]
            found.append(Passage("" if kind[0] == "channel" else kind[0], name))
            part = ""
        elif (told := texts.field(bare)) is not None:
            found[-1].fields.setdefault(told[0].lower(), told[1])
            found[-1].parts.setdefault(part, {}).setdefault(told[0].lower(), told[1])
        elif ruled:
            part = word
        else:
            found[-1].lines.append(bare)
        ruled = False
    return found


def _heading(bare: str) -> tuple[str, str] | None:
    for kind, pattern in (("array", _ARRAY), ("volume", _VOLUME), ("channel", _CHANNEL), ("drive", _DRIVE)):
        if found := pattern.fullmatch(bare):
            return kind, str(int(found[1]))
    return None


def orders(passage: Passage) -> list[str]:
    """Places of the members as old builds write them: `0,0 0,1 0,2`, over several lines."""
    told = next((value for key, value in passage.fields.items() if key.startswith(("stripe order", "drive(s)"))), "")
    rows = [told, *(line for line in passage.lines if _ORDER.fullmatch(line))] if told else []
    return [pair.replace(",", ":") for row in rows for pair in row.split() if _ORDER.fullmatch(pair)]
