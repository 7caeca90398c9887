"""Parser of sdparm's output about the caching mode page of a SCSI drive. No I/O. It never raises an error.

sdparm 1.12 has no JSON output. If the drive has no page of default or saved values, sdparm prints the current value but
exits with 5 (illegal request). Therefore the lines are parsed, and the exit status is only a hint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.subject import find_repeated
from backends.text import clean
from backends.tool_output import CompletenessCheck, line_end
from backends.values import dataclass

FIELDS = ("WCE", "RCD", "DRA")
"""Fields that are read: write cache enable, read cache disable, disable read-ahead (SBC-3, 6.5.6)."""

UNIT_ATTENTION = 6
"""Exit status for a pending unit attention (mode parameters changed). A second query then succeeds."""

NOT_SAVEABLE = 97
"""Exit status of `--save` for a page that the drive cannot save."""

_LINE = re.compile(
    r"^ {0,4}(WCE|RCD|DRA) {1,20}(\d{1,3})(?: {1,4}(\[[^\]\n]{0,60}\]))?[^\S\n]*(?:$|[A-Z])",
    re.MULTILINE | re.ASCII,
)
_MARK = re.compile(r"(cha|def|sav): {0,3}(\w{1,4})")


WHOLE = CompletenessCheck(
    tool="sdparm",
    mark="a newline at the end",
    missing=line_end,
    hides="fields after the last line, which are then not offered",
    statuses=frozenset(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One bit of the caching mode page."""

    now: bool
    """Current value."""
    changeable: bool | None
    """Whether it can be changed; None if it is not reported."""
    saved: bool | None
    """Value that is kept over a power cycle; None if the drive reports none."""
    raw: str
    """What sdparm prints for the bit: `1  [cha: y, def:  1]`."""


def parse_sdparm(text: str) -> Mapping[str, Field]:
    """Return the fields of the page by name. A field with another value than 0 or 1, or with two values, is
    left out.
    """
    by_name: dict[str, Field] = {}
    lines = set(_LINE.findall(text))
    twice = find_repeated(name for name, _, _ in lines)
    for name, value, marks in _LINE.findall(text):
        if value not in ("0", "1") or name in by_name or name in twice:
            continue
        texts = dict(_MARK.findall(marks))
        by_name[name] = Field(
            now=value == "1",
            changeable={"y": True, "n": False}.get(texts.get("cha", "")),
            saved={"1": True, "0": False}.get(texts.get("sav", "")),
            raw=clean(f"{value} {marks}"),
        )
    return by_name


def attention(code: int, text: str) -> bool:
    """Return whether the drive reported a unit attention, so that the command must be repeated."""
    return code == UNIT_ATTENTION or "unit attention" in text.lower()


def refusal(code: int, text: str) -> str | None:
    """Return why a change failed, as sdparm reports it; None on success."""
    if code == 0:
        return None
    if code == NOT_SAVEABLE:
        return "the drive cannot store this page over a power cycle"
    rows = (row.strip() for row in text.splitlines())
    line = next((row for row in rows if row and not row.startswith("/dev/")), f"exit status {code}")
    return clean(line, 200)
