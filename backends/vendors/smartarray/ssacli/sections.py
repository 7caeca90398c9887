"""Parser from ssacli's text to sections for controllers, arrays, logical drives and drives. No I/O.

Indentation is the only structure of the text, and recordings do not always keep it. So a heading is recognised at any
depth, a member below a mirror group never ends the logical drive, and a line without a field starts a new, ignored
section.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache

from backends.text import clean
from backends.values import dataclass
from backends.vendors.smartarray import text as texts

_TITLE = re.compile(
    r"(?P<model>[^\s:#][^:]{0,120}?) in (?:Slot (?P<slot>\w{1,40})|[^:,.]{1,60}?)(?P<rest>(?: +\([^()]*\))*)", re.ASCII
)
_ARRAY = re.compile(r"array:?\s+(?P<name>[A-Za-z]{1,4})\s*(?:\((?P<row>.*)\))?", re.ASCII | re.IGNORECASE)
_VOLUME = re.compile(
    r"logical\s?drive:?\s+(?P<number>\d{1,5})\s*(?:\((?P<row>.*)\))?\s*(?::\s*(?P<state>.+))?",
    re.ASCII | re.IGNORECASE,
)
_DRIVE = re.compile(
    r"physical\s?drive:?\s+(?P<place>[A-Za-z0-9]{1,6}(?::[A-Za-z0-9]{1,6}){1,3})\s*(?:\((?P<row>.*)\))?\s*(?::\s+(?P<state>\S.*))?",
    re.ASCII | re.IGNORECASE,
)
_LOOSE = re.compile(r"(?:unassigned|hba drives|unused drives)\s*", re.ASCII | re.IGNORECASE)
_SHOUTED = re.compile(r"[A-Z][A-Z /-]{7,60}:", re.ASCII)
_JOINED = re.compile(r"(?<! ) {3,}+(?=[A-Z][A-Za-z /-]{2,40}: )", re.ASCII)
_PARAGRAPH = 1000
"""Maximum length of a warning in characters; the rest is dropped."""
_WRAPS = 40
"""Minimum length in characters of a value that may continue in the next line."""
_ROWS = 12
"""Maximum number of lines of an error message."""
_SENSOR = "sensor id"
_WITH_CHILDREN = (_SENSOR, "port name")
_SERIAL = re.compile(r"\(sn: *([A-Za-z0-9]{4,40})\)", re.ASCII)


@dataclass(slots=True)
class TextSection:
    """Lines below one heading."""

    kind: str
    """`card`, `array`, `volume`, `drive`; "" for ignored sections."""
    name: str = ""
    """Slot ("" if there is none), letter, number or place; for an ignored section, its heading in lower case."""
    indent: int = 0
    """Indentation of its heading."""
    fields: dict[str, str] = field(default_factory=dict)
    """Values by key in lower case; the first of each key counts."""
    row: str = ""
    """Text that the heading has in parentheses; "" if there is none."""
    state: str = ""
    """State that the heading contains; "" if there is none."""
    array: str | None = None
    """Letter of the array whose heading precedes it; None if there is none."""
    loose: bool = False
    """Whether it is below `Unassigned`."""
    drives: list[str] = field(default_factory=list)
    """Places of the drives named below it."""


@dataclass(slots=True)
class CardSections:
    """Sections of one controller."""

    card: TextSection
    """Section of the controller itself."""
    model: str
    """Model in the title."""
    mode: str | None
    """`HBA` if the title contains `(HBA Mode)`, else None."""
    sections: list[TextSection] = field(default_factory=list)
    """Arrays, logical drives and drives, in order."""
    paragraphs: list[str] = field(default_factory=list)
    """Warnings and notes."""
    passed: list[str] = field(default_factory=list)
    """Ignored headings and lines, in lower case."""
    ends_in: tuple[TextSection, ...] = ()
    """Sections that are still open at the end of the text, outermost first."""

    @property
    def open(self) -> list[TextSection]:
        """Return the sections that are incomplete if the output is truncated."""
        headed = [section for section in self.ends_in if section.kind]
        children = [section.name for section in self.ends_in if not section.kind]
        if headed[-1] is self.card and any(not name.startswith(_SENSOR) for name in children):
            return []  # the output continues after the controller's own lines, so these are complete
        return headed[-1:]


@dataclass(slots=True)
class _SectionReader:
    cards: list[CardSections] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    stack: list[TextSection] = field(default_factory=list)
    array: str | None = None
    loose: bool = False
    flat: bool = False
    wrapped: tuple[dict[str, str], str] | None = None
    """Field whose value may continue in the next line, with the fields of its section."""

    def continues(self, indent: int, bare: str) -> bool:
        """Append a line at the left margin to the wrapped value that it continues; return whether it continues one."""
        if self.wrapped is None or indent or self.flat or _TITLE.fullmatch(bare):
            return False
        fields, key = self.wrapped
        fields[key] = f"{fields[key]} {bare}"[:_PARAGRAPH]
        return True

    def heading(self, indent: int, bare: str) -> bool:
        if indent == 0 and (title := _TITLE.fullmatch(bare)):
            self._card(title["model"], title["slot"] or "", title["rest"])
        elif array := _ARRAY.fullmatch(bare):
            self.array, self.loose = array["name"].upper(), False
            self._open(TextSection("array", self.array, indent, row=array["row"] or ""))
        elif _LOOSE.fullmatch(bare):
            self.array, self.loose = None, True
            self._open(TextSection("", "unassigned", indent))
        elif volume := _VOLUME.fullmatch(bare):
            self._open(
                TextSection(
                    "volume",
                    volume["number"],
                    indent,
                    row=volume["row"] or "",
                    state=volume["state"] or "",
                    array=self.array,
                )
            )
        elif drive := _DRIVE.fullmatch(bare):
            self._drive(indent, drive)
        else:
            return False
        return True

    def _card(self, model: str = "", slot: str = "", tail: str = "") -> None:
        card = TextSection("card", slot)
        if serial := _SERIAL.search(tail):
            card.fields["serial number"] = serial[1]
        mode = "HBA" if "(hba mode)" in tail.lower() else None
        self.close()
        self.cards.append(CardSections(card, model.strip(), mode, paragraphs=self.early))
        self.early, self.stack, self.array, self.loose = [], [card], None, False

    def close(self) -> None:
        """Finish the last controller at the end of the text."""
        if self.cards:
            self.cards[-1].ends_in = tuple(self.stack)

    def _some_card(self) -> None:
        if not self.cards:  # output about a part of a controller has no title
            self._card()

    def _drive(self, indent: int, drive: re.Match[str]) -> None:
        section = TextSection("drive", drive["place"], indent, array=self.array, loose=self.loose)
        section.row, section.state = drive["row"] or "", drive["state"] or ""
        if drive["row"] is None and drive["state"] is None:
            self._open(section)
            return
        self._some_card()
        top = self.stack[-1]
        if top.kind == "volume" and not top.row:  # in lists, drives are at the same level as logical drives
            top.drives.append(section.name)
        self.cards[-1].sections.append(section)

    def _open(self, section: TextSection) -> None:
        self._some_card()
        self._close(section.indent)
        self.stack.append(section)
        if section.kind:
            self.cards[-1].sections.append(section)
        else:
            self.cards[-1].passed.append(section.name)

    def _close(self, indent: int) -> None:
        while len(self.stack) > 1 and (self.stack[-1].indent >= indent or self.flat):
            self.stack.pop()

    def line(self, indent: int, bare: str) -> None:
        """Parse a line that is not a heading."""
        self._some_card()
        pair = texts.field(bare)
        if pair is None:
            self._open(TextSection("", bare.lower(), indent))
            return
        key, value = pair[0].lower(), pair[1]
        if key.startswith(("mirror group", "parity group")):
            return
        if key in _WITH_CHILDREN:
            self._open(TextSection("", key, indent))
            return
        if not self.flat:
            self._close(indent)
        fields = self.stack[-1].fields
        self.wrapped = (fields, key) if key not in fields and len(value) >= _WRAPS else None
        fields.setdefault(key, value)


@lru_cache(2)  # cached because the completeness check and the parser read the same output
def read(text: str) -> tuple[CardSections, ...]:
    """Return the controllers in the output in order. The result is cached: do not change it."""
    rows = _dedent(list(texts.lines(text.removeprefix("\ufeff"))))
    reader = _SectionReader(flat=not any(indent for indent, _ in rows))
    paragraph: list[str] | None = None
    for indent, bare in rows:
        if not bare:
            paragraph, reader.wrapped = None, None
        elif reader.continues(indent, bare):
            continue
        elif paragraph is not None and (indent or " in Slot " not in bare):
            if len(paragraph[-1]) < _PARAGRAPH:
                paragraph[-1] = f"{paragraph[-1]} {bare}"
        elif _starts_paragraph(indent, bare):
            paragraph = reader.cards[-1].paragraphs if reader.cards else reader.early
            paragraph.append(bare)
        else:
            paragraph, reader.wrapped = None, None
            for part in _JOINED.split(bare):
                if not reader.heading(indent, part) and (reader.cards or indent):
                    reader.line(indent, part)
    reader.close()
    return tuple(
        card_sections
        for card_sections in reader.cards
        if card_sections.model or card_sections.sections or card_sections.card.fields
    )


def _dedent(rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines without their common indentation, which a pasted recording may have."""
    least = min((indent for indent, bare in rows if bare), default=0)
    if not least or not any(indent == least and _TITLE.fullmatch(bare) for indent, bare in rows):
        return rows
    return [(indent - least, bare) for indent, bare in rows]


def _starts_paragraph(indent: int, bare: str) -> bool:
    return indent == 0 and (
        _SHOUTED.match(bare) is not None or bare.lower().startswith(("warning:", "note:", "error:"))
    )


def errors(text: str) -> Iterator[str]:
    """Yield every `Error: ...` in the output, complete and cleaned."""
    rows = [bare for _, bare in texts.lines(text)]
    for at, bare in enumerate(rows):
        if bare.lower().startswith("error:"):
            message = itertools.takewhile(bool, rows[at : at + _ROWS])
            yield clean(" ".join(message), 400)
