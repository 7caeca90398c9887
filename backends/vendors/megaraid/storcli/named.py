"""Check that storcli's output is about the requested objects; output about others is refused. No I/O.

The output of every `/cN ...` command names its controller once, in `Command Status`. It names other objects in paths
(`/c0/v5`, `Drive /c0/e252/s1`), headings (`VD5 Properties`, `PDs for VD 5`) and columns (`DG/VD`, `EID:Slt`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from backends.subject import find_repeated, misnamed_reason, twice_reason
from backends.vendors.megaraid.storcli.document import Reply
from backends.vendors.megaraid.storcli.fields import Fields, nested_dicts, tables, whole
from backends.vendors.megaraid.storcli.topology import Place, drive_path, parse_place, place_text, volume, volume_path

_CARD_PATH = re.compile(r"(?:Drive )?/c([0-9]{1,4})(?![0-9])", re.ASCII | re.IGNORECASE)
_ASKED = re.compile(r"/c([0-9]{1,4})(?:/v([0-9]{1,6}))?(?![0-9a-z])", re.ASCII)
_OF_VOLUME = re.compile(r"(?:vd ?|pds for vd ?)([0-9]{1,6})(?: properties)?", re.ASCII | re.IGNORECASE)


def misnaming_reason(replies: Sequence[Reply], where: str) -> str:
    """Return why replies are not, or not only, about the object of a path (`/c0`, `/c0/v5`), as a clause, or ""."""
    asked = _ASKED.match(where)
    if asked is None:
        return ""
    card, number = int(asked[1]), None if asked[2] is None else int(asked[2])
    named = [_controller(reply) for reply in replies if "controller" in reply.status]
    why = misnamed_reason(f"controller {card}", named, required=any(reply.data for reply in replies))
    for reply in replies if not why else ():
        controller = Fields(reply.data).fields("basics").whole("controller")
        paths = [f"/c{path}" for path in _card_paths(reply.data)]
        paths += [] if controller is None else [f"/c{controller}"]
        why = why or misnamed_reason(f"/c{card}", paths, once=False, required=False)
        if number is not None:
            volumes = [f"virtual drive {mentioned}" for mentioned in _volumes_named(reply.data)]
            rows = [f"virtual drive {mentioned}" for mentioned in _volume_rows(reply.data)]
            why = why or misnamed_reason(f"virtual drive {number}", volumes, once=False, required=False)
            why = why or misnamed_reason(f"virtual drive {number}", rows, required=False)
            why = why or next((f"it has {key} twice, with different values" for key in reply.data.differing), "")
    return why


def _controller(reply: Reply) -> str:
    number = whole(reply.status.text("controller"))
    return f"controller {number if number is not None else reply.status.text('controller')}"


def _card_paths(data: Mapping[str, object]) -> Iterator[int]:
    headings = (*data, *(heading for heading, _ in nested_dicts(data)))
    return (int(match[1]) for heading in dict.fromkeys(headings) if (match := _CARD_PATH.match(heading)))


def _volume_rows(data: Mapping[str, object]) -> Iterator[int]:
    return (pair[1] for _, row in tables(data, "dg/vd") if (pair := volume(row)) is not None)


def _volumes_named(data: Mapping[str, object]) -> Iterator[int]:
    yield from _volume_rows(data)
    for heading in dict.fromkeys((*data, *(heading for heading, _ in nested_dicts(data)))):
        if (number := _volume_of(heading)) is not None:
            yield number


@lru_cache(maxsize=4096)
def _volume_of(heading: str) -> int | None:
    """Return the virtual drive of a heading: `/c0/v5`, `VD5 Properties`, `PDs for VD 5`."""
    match = _OF_VOLUME.fullmatch(heading.strip())
    return int(match[1]) if match is not None else volume_path(heading)


def refused_volumes(data: Mapping[str, object], differing: Sequence[str] = ()) -> dict[int, str]:
    """Return the virtual drives whose data in one command's output is refused, with the reason as a clause.

    `differing`: keys that occur twice in the output, with different values.
    """
    why: dict[int, str] = {}
    numbers = list(_volume_rows(data))
    for number in find_repeated(numbers):
        why[number] = twice_reason(f"virtual drive {number}")
    for heading, entry in nested_dicts(data):
        # The path of a virtual drive is the heading of its row (version 7), or of all its data (version 8).
        heading_number = volume_path(heading) if "DG/VD" in entry or "VD Info" in entry else None
        row = volume(Fields(entry.get("VD Info", entry))) if heading_number is not None else None
        if heading_number is not None and row is not None and row[1] != heading_number:
            text = f"it names virtual drive {row[1]} below the heading of virtual drive {heading_number}"
            why.setdefault(heading_number, text)
            why.setdefault(row[1], text)
    for key in differing:
        if (other := _volume_of(key)) is not None:
            why.setdefault(other, f"it has {key} twice, with different values")
    return why


def refused_drives(data: Mapping[str, object], differing: Sequence[str] = ()) -> dict[Place, str]:
    """Return the drives whose data in one command's output is refused, with the reason as a clause."""
    why: dict[Place, str] = {}
    listed: list[tuple[str, Place]] = []
    for heading, row in tables(data, "eid:slt"):
        at = parse_place(row.raw("eid:slt"))
        if at is None:
            continue
        heading_place = drive_path(heading)
        if heading_place is not None and heading_place != at:
            text = f"it names drive {place_text(at)} below the heading of drive {place_text(heading_place)}"
            why.setdefault(heading_place, text)
            why.setdefault(at, text)
        if heading not in _BENEATH:
            listed.append((heading, at))
    for _, at in find_repeated(listed):
        why.setdefault(at, twice_reason(f"drive {place_text(at)}"))
    for key in differing:
        if (other := drive_path(key)) is not None:
            why.setdefault(other, f"it has {key} twice, with different values")
    return why


_BENEATH = ("PDs", "Drive Information", "")
"""Headings that version 8 repeats below every virtual drive or drive."""
