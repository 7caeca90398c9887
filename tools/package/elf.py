"""Read from an ELF file what a program requires of its host (elf(5))."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

MACHINES = {62: "x86_64", 183: "aarch64"}
"""Supported CPU architectures by their numbers in the ELF field e_machine."""

_DYNAMIC, _DYNSYM, _VERNEED = 6, 11, 0x6FFFFFFE
"""Types of sections: what the loader reads, the symbols that it resolves, and versions of symbols."""

_DT_NEEDED = 1
_SECTION = struct.Struct("<IIQQQQIIQQ")


def is_elf(path: Path) -> bool:
    """Return whether a file is an ELF file."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def machine(path: Path) -> str:
    """Return the CPU architecture that a program is for, `x86_64` or `aarch64`. Raises KeyError for any other."""
    return MACHINES[struct.unpack_from("<H", path.read_bytes(), 18)[0]]


def is_static(path: Path) -> bool:
    """Return whether a program needs no dynamic loader, that is, has no PT_INTERP program header."""
    data = path.read_bytes()
    start, size, count = _headers(data, 32, 54)
    return all(struct.unpack_from("<I", data, start + number * size)[0] != 3 for number in range(count))


def glibc(path: Path) -> tuple[int, ...] | None:
    """Return the newest glibc version that a program needs, such as (2, 17), or None if it needs none."""
    versions = []
    for table, files, names in _tables(path.read_bytes(), _VERNEED):
        versions += _needed(table, files, names)
    needed = [tuple(map(int, version[1].split("."))) for name in versions if (version := re.match(_GLIBC, name))]
    return max(needed, default=None)


def libraries(path: Path) -> list[str]:
    """Return the names of the shared libraries that a program loads, such as `libc.so.6` (DT_NEEDED)."""
    return [
        _name(names, value)
        for table, _, names in _tables(path.read_bytes(), _DYNAMIC)
        for tag, value in struct.iter_unpack("<QQ", table)
        if tag == _DT_NEEDED
    ]


def exported(path: Path) -> list[str]:
    """Return the names of the functions and variables that a program or library defines for others."""
    return [
        _name(names, name)
        for table, _, names in _tables(path.read_bytes(), _DYNSYM)
        for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table)
        if section  # 0: defined elsewhere
    ]


_GLIBC = r"GLIBC_(\d+(?:\.\d+)+)$"


def _headers(data: bytes, offset: int, sizes: int) -> tuple[int, int, int]:
    """Return the offset of a header table, the size of one header, and the number of headers."""
    (start,) = struct.unpack_from("<Q", data, offset)
    size, count = struct.unpack_from("<HH", data, sizes)
    return start, size, count


def _tables(data: bytes, kind: int) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield contents, number (sh_info) and names of each section of a kind."""
    start, size, count = _headers(data, 40, 58)
    sections = [_SECTION.unpack_from(data, start + number * size) for number in range(count)]
    for section in sections:
        if section[1] == kind:
            names = sections[section[6]]
            yield data[section[4] : section[4] + section[5]], section[7], data[names[4] : names[4] + names[5]]


def _name(names: bytes, at: int) -> str:
    return names[at : names.index(b"\0", at)].decode()


def _needed(table: bytes, files: int, names: bytes) -> list[str]:
    """Return the version names in `table` (section .gnu.version_r), with a list for each of `files` libraries."""
    versions, at = [], 0
    for _ in range(files):
        _, count, _, first, following = struct.unpack_from("<HHIII", table, at)
        entry = at + first
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", table, entry)
            versions.append(_name(names, name))
            entry += step
        at += following
    return versions
