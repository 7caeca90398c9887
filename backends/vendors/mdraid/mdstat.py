"""/proc/mdstat, which tells of waiting work and of the bitmap's pages. Pure.

Format: drivers/md/md.c, md_seq_show and status_resync; each personality adds its own words to the second line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.answers import Whole
from backends.text import clean
from backends.values import dataclass

WHOLE = Whole(
    tool="/proc/mdstat",
    mark="the line `unused devices:` at its end",
    missing=lambda text: "" if re.search(r"^unused devices: ", text, re.MULTILINE) else "`unused devices:` is missing",
    statuses=frozenset(),
)

_HEAD = re.compile(r"(md\S{0,40}) : (active|inactive)( \([a-z-]{1,20}\))?( .*)?")
_MEMBER = re.compile(r"(\S{1,64})\[([0-9]{1,5})\]((?:\([A-Z]\)){0,8})")
_ACTION = re.compile(r"\b(resync|recovery|reshape|check|repair) {1,3}= {1,3}([0-9]{1,3}\.[0-9])% ")
_WAITING = re.compile(r"\b(resync|recovery|reshape|check|repair) {0,3}= {0,3}(DELAYED|PENDING|REMOTE)")
_SPEED = re.compile(r"speed=([0-9]{1,12})K/sec")
_BITMAP = re.compile(r"bitmap: (.{1,120})")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatRow:
    """The lines of one array."""

    state: str
    """`active`, `inactive`, `active (read-only)`, `active (auto-read-only)`."""
    level: str | None = None
    """`raid5`; None of an inactive array that says none."""
    members: Mapping[str, str] | None = None
    """Flags (`F`, `S`, `W`, `R`, `J`, together) by kernel name."""
    action: str | None = None
    """`resync`, `recovery`, `reshape`, `check`, `repair`; None if nothing is done."""
    progress: float | None = None
    """0..1."""
    speed_kib: int | None = None
    """KiB/s."""
    waiting: bool = False
    """DELAYED by another array's work, or PENDING until the array is written to."""
    bitmap: str | None = None
    """`1/1 pages [4KB], 65536KB chunk`."""


def parse_mdstat(text: str) -> Mapping[str, StatRow]:
    """Every array by its kernel name; lines of other shapes are passed over."""
    blocks: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n")[:20_000]:
        if head := _HEAD.match(line[:20_000]):
            current = blocks.setdefault(clean(head[1], 40), [])
            current.clear()
            current.append(line)
        elif current is not None and line[:1] == " ":
            current.append(line[:400])
        elif line.strip():
            current = None
    return {name: _row(lines) for name, lines in blocks.items()}


def _row(lines: list[str]) -> StatRow:
    head = _HEAD.match(lines[0][:20_000])
    assert head is not None
    words = (head[4] or "").split()
    level = clean(words[0], 32) if words and "[" not in words[0] else None
    members = {clean(one[1], 64): one[3].replace("(", "").replace(")", "") for one in map(_member, words) if one}
    body = "\n".join(lines[1:40])
    running, waiting, speed = _ACTION.search(body), _WAITING.search(body), _SPEED.search(body)
    bitmap = _BITMAP.search(body)
    return StatRow(
        state=head[2] + (head[3] or ""),
        level=level,
        members=members,
        action=running[1] if running else waiting[1] if waiting else None,
        progress=_share(running[2]) if running else None,
        speed_kib=int(speed[1]) if speed and running else None,
        waiting=running is None and waiting is not None,
        bitmap=clean(bitmap[1]) if bitmap else None,
    )


def _share(percent: str) -> float | None:
    """0..1; None of more than all."""
    share = float(percent) / 100
    return share if share <= 1 else None


def _member(word: str) -> re.Match[str] | None:
    return _MEMBER.fullmatch(word[:200])
