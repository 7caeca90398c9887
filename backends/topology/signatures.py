"""Content of devices as reported by udev, lsblk, blkid and wipefs, and UUIDs at the beginning of a disk. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from backends.identity import Signature
from backends.json_text import document
from backends.text import clean

# -- the UUIDs at the beginning of a disk -----------------------------------------------------------------------------

# Disks with different UUIDs are different disks, even if they report the same serial number. The offsets are those of
# libblkid's probers of the same names (util-linux: libblkid/src).

LENGTH = 128 * 1024
"""Bytes at the beginning of a disk that contain all UUIDs."""

Marks = Callable[[str, str], frozenset[str] | None]
"""Function that reads the UUIDs of a device (path, MAJ:MIN) without using a cache. It returns None on failure."""

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
"""For each type of content: its name, offset of the magic bytes, the magic bytes, offset and length of the UUID.

Members of an array or filesystem have their own UUID in addition to the common one. For md and LVM, only the UUID of
the member is in this table.
"""


def uuids_in(head: bytes) -> frozenset[str]:
    """Return the UUIDs of partition tables, filesystems and members, each after its type. Zeros are not a UUID."""
    return frozenset(
        f"{kind} {uuid.hex()}"
        for kind, at, magic, start, length in _PLAIN
        if head[at : at + len(magic)] == magic and (uuid := head[start : start + length]).strip(b"\0")
    )


def are_two(marks: Marks, pair: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two nodes (path, MAJ:MIN) are proven different disks: both contain UUIDs, and these differ.

    Both are read twice, alternately, because UUIDs that are written meanwhile prove nothing.
    """
    first, second, again, last = (marks(*node) for node in (pair, other, pair, other))
    return bool(first and second) and first == again and second == last and first != second


# -- parsers of udev's database, lsblk, blkid and wipefs --------------------------------------------------------------


def parse_udev(text: str) -> Mapping[str, str]:
    """Return the properties (`E:KEY=VALUE`) of one file of /run/udev/data."""
    properties: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.removeprefix("E:").partition("=")
        if line.startswith("E:") and equals and key:
            properties[key] = value
    return properties


def udev_signatures(properties: Mapping[str, str], part: str | None, size: int | None) -> tuple[Signature, ...]:
    """Return the content that blkid, run by udev, detected when the device appeared."""
    label = _udev_decode(properties.get("ID_FS_LABEL_ENC", properties.get("ID_FS_LABEL", "")))
    content = (properties.get("ID_FS_TYPE", ""), label, properties.get("ID_FS_UUID", ""))
    table = (properties.get("ID_PART_TABLE_TYPE", ""), "", properties.get("ID_PART_TABLE_UUID", ""))
    return _signatures((content, table) if part is None else (content,), part, size)


def _signatures(rows: Iterable[tuple[str, str, str]], part: str | None, size: int | None) -> tuple[Signature, ...]:
    """Return a signature for each row (kind, label, UUID) whose kind is not empty."""
    cleaned = [[clean(text) for text in row] for row in rows]
    return tuple(
        Signature(kind=kind, label=label or None, uuid=uuid or None, part=part, size_bytes=size)
        for kind, label, uuid in cleaned
        if kind
    )


_ESCAPE = re.compile(r"\\x([0-7][0-9A-Fa-f])")


def _udev_decode(text: str) -> str:
    r"""Return text with udev's `\x20` escapes decoded, for ASCII only; the rest is unchanged."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def parse_lsblk(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return the columns of each device in the output of `lsblk -J` as strings, by kernel name.

    Numbers and booleans become their JSON text; nulls and nested values are left out. The result is empty if the text
    is not lsblk's JSON.
    """
    columns: dict[str, Mapping[str, str]] = {}
    for row in _rows(document(text), "blockdevices"):
        name = row.get("kname", row.get("name"))
        if isinstance(name, str) and name:
            columns[name] = {key: _word(value) for key, value in row.items() if isinstance(value, str | int | float)}
    return columns


def lsblk_signatures(row: Mapping[str, str], part: str | None, size: int | None) -> tuple[Signature, ...]:
    """Return the content that lsblk reports for one device."""
    content = (row.get("fstype", ""), row.get("label", ""), row.get("uuid", ""))
    table = (row.get("pttype", ""), "", row.get("ptuuid", ""))
    return _signatures((content, table) if part is None else (content,), part, size)


def parse_blkid(text: str) -> tuple[Mapping[str, str], ...]:
    r"""Return the properties of each device in the output of `blkid -p -o export`. `\` escapes quotes in values."""
    devices: list[dict[str, str]] = [{}]
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if not line.strip():
            devices.append({})
        elif equals and key.replace("_", "").isalnum():
            devices[-1][key] = value.replace("\\", "")
    return tuple(device for device in devices if device)


def blkid_signatures(text: str, part: str | None, size: int | None) -> tuple[Signature, ...]:
    """Return filesystem, RAID member or partition table from blkid's low-level output, without partition entries."""
    keys = (("TYPE", "LABEL", "UUID"), ("PTTYPE", "", "PTUUID"))
    rows = [
        (row.get(kind, ""), row.get(label, ""), row.get(uuid, ""))
        for row in parse_blkid(text)
        for kind, label, uuid in keys
    ]
    return _signatures(rows, part, size)


def wipefs_signatures(text: str, part: str | None, size: int | None) -> tuple[Signature, ...] | None:
    """Return every signature that `wipefs -n -J` lists; None if the output is not such JSON and so proves nothing."""
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
    """Return the volume group of a device, from `pvs --reportformat json -o vg_name`; None if it belongs to none."""
    reports = _rows(document(text), "report")
    names = [row["vg_name"] for report in reports for row in _rows(report, "pv") if isinstance(row.get("vg_name"), str)]
    return clean(names[0]) or None if len(names) == 1 else None


def _rows(answer: Any, key: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in the list `key` of a JSON document, and the objects in their lists `children`, at all
    depths.
    """
    waiting = [answer.get(key)] if isinstance(answer, dict) else []
    while waiting:
        rows = waiting.pop()
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield row
                waiting.append(row.get("children"))


def _word(value: str | int | float) -> str:
    """Return a JSON scalar as a string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 80 else "unknown"
    return value if isinstance(value, str) else repr(value)
