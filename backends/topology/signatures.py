"""What lies on a device, by the words of udev, lsblk, blkid and wipefs, and by the UUIDs at its beginning. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from backends.identity import Signature
from backends.json_text import document
from backends.text import clean

# -- the UUIDs at the beginning of a disk -----------------------------------------------------------------------------

# Where they differ, two disks are two whatever serial number they report.
#
# Every offset is that of libblkid's prober of the same name (util-linux: libblkid/src).

LENGTH = 128 * 1024
"""Bytes from the first on that hold all of them."""

Marks = Callable[[str, str], frozenset[str] | None]
"""Reads them of a device (path, MAJ:MIN), past every cache; None where that is not possible."""

_PLAIN = (
    ("ext", 1080, b"\x53\xef", 1128, 16),
    ("xfs", 0, b"XFSB", 32, 16),
    ("luks", 0, b"LUKS\xba\xbe", 168, 40),
    ("swap", 4086, b"SWAPSPACE2", 1036, 16),
    ("gpt", 512, b"EFI PART", 568, 16),
    ("gpt", 4096, b"EFI PART", 4152, 16),
    ("md", 0, b"\xfc\x4e\x2b\xa9", 168, 16),
    ("md", 4096, b"\xfc\x4e\x2b\xa9", 4264, 16),
    ("btrfs", 65600, b"_BHRfS_M", 65568, 16),
    ("btrfs device", 65600, b"_BHRfS_M", 65803, 16),
    *(("lvm", at, b"LABELONE", at + 32, 32) for at in (0, 512, 1024, 1536)),
    ("mbr", 510, b"\x55\xaa", 440, 4),
)
"""What it is, where its magic lies and what that is, where its UUID lies and how long that is. Members of one array or
file system have one of their own besides that of the whole: for those of md and LVM it stands here alone."""


def uuids_in(head: bytes) -> frozenset[str]:
    """Of tables, file systems and members, each with its kind. Zeros are none."""
    return frozenset(
        f"{kind} {own.hex()}"
        for kind, at, magic, start, length in _PLAIN
        if head[at : at + len(magic)] == magic and (own := head[start : start + length]).strip(b"\0")
    )


def are_two(marks: Marks, pair: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two nodes (path, MAJ:MIN) prove to be two disks: both bear UUIDs, and not the same.

    In turn and twice: what somebody writes meanwhile proves nothing.
    """
    first, second, again, last = (marks(*node) for node in (pair, other, pair, other))
    return bool(first and second) and first == again and second == last and first != second


# -- what lies on a device: parsers of udev's database, lsblk, blkid and wipefs ---------------------------------------


def parse_udev(text: str) -> Mapping[str, str]:
    """The properties (`E:KEY=VALUE`) of one file of /run/udev/data."""
    matches: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.removeprefix("E:").partition("=")
        if line.startswith("E:") and equals and key:
            matches[key] = value
    return matches


def udev_signatures(properties: Mapping[str, str], part: str | None, size: int | None) -> tuple[Signature, ...]:
    """What udev's own blkid found when the device appeared."""
    label = _udev_decode(properties.get("ID_FS_LABEL_ENC", properties.get("ID_FS_LABEL", "")))
    content = (properties.get("ID_FS_TYPE", ""), label, properties.get("ID_FS_UUID", ""))
    table = (properties.get("ID_PART_TABLE_TYPE", ""), "", properties.get("ID_PART_TABLE_UUID", ""))
    return _signatures((content, table) if part is None else (content,), part, size)


def _signatures(rows: Iterable[tuple[str, str, str]], part: str | None, size: int | None) -> tuple[Signature, ...]:
    """Return a signature for each row of kind, label and UUID that has a kind."""
    cleaned = [[clean(text) for text in row] for row in rows]
    return tuple(
        Signature(kind=kind, label=label or None, uuid=uuid or None, part=part, size_bytes=size)
        for kind, label, uuid in cleaned
        if kind
    )


_ESCAPE = re.compile(r"\\x([0-7][0-9A-Fa-f])")


def _udev_decode(text: str) -> str:
    r"""udev's `\x20` escapes undone, for ASCII only: the rest is left as it stands."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def parse_lsblk(text: str) -> Mapping[str, Mapping[str, str]]:
    """The string columns of `lsblk -J` by kernel name, whatever columns this version has.

    Numbers and booleans become their JSON words, nulls and nested things are left out.
    Empty for what is not lsblk's JSON.
    """
    matches: dict[str, Mapping[str, str]] = {}
    for row in _rows(document(text), "blockdevices"):
        name = row.get("kname", row.get("name"))
        if isinstance(name, str) and name:
            matches[name] = {key: _word(value) for key, value in row.items() if isinstance(value, str | int | float)}
    return matches


def lsblk_signatures(row: Mapping[str, str], part: str | None, size: int | None) -> tuple[Signature, ...]:
    """What lsblk says lies on one device."""
    content = (row.get("fstype", ""), row.get("label", ""), row.get("uuid", ""))
    table = (row.get("pttype", ""), "", row.get("ptuuid", ""))
    return _signatures((content, table) if part is None else (content,), part, size)


def parse_blkid(text: str) -> tuple[Mapping[str, str], ...]:
    r"""The devices of `blkid -p -o export`: `KEY=value` lines, devices apart by blank lines, `\` before quotes."""
    devices: list[dict[str, str]] = [{}]
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if not line.strip():
            devices.append({})
        elif equals and key.replace("_", "").isalnum():
            devices[-1][key] = value.replace("\\", "")
    return tuple(device for device in devices if device)


def blkid_signatures(text: str, part: str | None, size: int | None) -> tuple[Signature, ...]:
    """Filesystem, RAID member or partition table in blkid's low-level answer; partition entries are none."""
    keys = (("TYPE", "LABEL", "UUID"), ("PTTYPE", "", "PTUUID"))
    rows = [
        (row.get(kind, ""), row.get(label, ""), row.get(uuid, ""))
        for row in parse_blkid(text)
        for kind, label, uuid in keys
    ]
    return _signatures(rows, part, size)


def wipefs_signatures(text: str, part: str | None, size: int | None) -> tuple[Signature, ...] | None:
    """Every signature `wipefs -n -J` lists; None when this is not its JSON, which proves nothing."""
    answer = document(text)
    if not isinstance(answer, dict) or not isinstance(answer.get("signatures"), list):
        return None
    rows = [
        {key: clean(value) for key, value in row.items() if isinstance(value, str)}
        for row in _rows(answer, "signatures")
    ]
    return _signatures(
        [(row.get("type") or "unknown", row.get("label", ""), row.get("uuid", "")) for row in rows], part, size
    )


def group_in(text: str) -> str | None:
    """The volume group in `pvs --reportformat json -o vg_name` of one device; None where it is in none."""
    reports = _rows(document(text), "report")
    names = [row["vg_name"] for report in reports for row in _rows(report, "pv") if isinstance(row.get("vg_name"), str)]
    return clean(names[0]) or None if len(names) == 1 else None


def _rows(answer: Any, key: str) -> Iterator[dict[str, Any]]:
    """The objects under `key` and, without recursion, their `children`."""
    waiting = [answer.get(key)] if isinstance(answer, dict) else []
    while waiting:
        rows = waiting.pop()
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield row
                waiting.append(row.get("children"))


def _word(value: str | int | float) -> str:
    """A JSON scalar as the word it was."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 80 else "unknown"
    return value if isinstance(value, str) else repr(value)
