"""What sdparm prints of the fields of a SCSI drive's caching mode page. Pure, never raises.

sdparm 1.12 has no JSON, and exits with 5 (illegal request) although it printed the value, where a drive lacks one of
the pages of defaults or saved values. So the lines are read, and the exit status is only a hint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.subject import find_repeated
from backends.text import clean
from backends.tool_output import CompletenessCheck, line_end
from backends.values import dataclass

FIELDS = ("WCE", "RCD", "DRA")
"""Write cache enable, read cache disable, disable read-ahead (SBC-3, 6.5.6)."""

UNIT_ATTENTION = 6
"""Exit status: the drive first had something to tell (mode parameters changed); asked again it answers."""

NOT_SAVEABLE = 97
"""Exit status of `--save` for a page that the drive cannot save."""

_LINE = re.compile(
    r"^ {0,4}(WCE|RCD|DRA) {1,20}(\d{1,3})(?: {1,4}(\[[^\]\n]{0,60}\]))?[^\S\n]*(?:$|[A-Z])",
    re.MULTILINE | re.ASCII,
)
_MARK = re.compile(r"(cha|def|sav): {0,3}(\w{1,4})")


WHOLE = CompletenessCheck(
    tool="sdparm",
    mark="a line end",
    missing=line_end,
    hides="fields behind the last line: they are not offered",
    statuses=frozenset(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One bit of the page."""

    now: bool
    """The current value."""
    changeable: bool | None
    """Whether the drive lets it be changed; None if it does not say."""
    saved: bool | None
    """The value kept over a power cycle; None where the drive keeps none."""
    raw: str
    """As printed: `1  [cha: y, def:  1]`."""


def parse_sdparm(text: str) -> Mapping[str, Field]:
    """The fields by their names; values other than 0 and 1 are none, and those of which two lines differ."""
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
    """Whether the drive only wanted to tell something first: the same command again is answered."""
    return code == UNIT_ATTENTION or "unit attention" in text.lower()


def refusal(code: int, text: str) -> str | None:
    """Why a change failed, in sdparm's words; None if it did not."""
    if code == 0:
        return None
    if code == NOT_SAVEABLE:
        return "the drive cannot keep this page over a power cycle"
    rows = (row.strip() for row in text.splitlines())
    line = next((row for row in rows if row and not row.startswith("/dev/")), f"exit status {code}")
    return clean(line, 200)
