"""Get Features: the value and what may be done with it, from every form that nvme-cli has printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.protocol import DEVICE, RootReads
from backends.vendors.nvme.answers import tolerant

_LINE = re.compile(
    r"get-feature:[ \t]{0,8}(?:0x)?(?P<number>[0-9a-f]{1,4})[ \t]{0,8}\([^)\n]{0,80}\),?[ \t]{0,8}"
    r"(?P<select>[a-z ]{1,40}?)value:[ \t]{0,8}(?:0x)?(?P<value>[0-9a-f]{1,8})(?![0-9a-z])",
    re.IGNORECASE | re.ASCII,
)
_HEX = re.compile(r"(?:0x)?([0-9a-f]{1,8})", re.IGNORECASE | re.ASCII)

CURRENT, SUPPORTED = 0, 3
"""Values of `--sel`: the value in force; what may be done with the feature."""


def parse_value(text: str, number: int) -> int | None:
    """The current value of a feature; None if the text does not hold it.

    The number is hexadecimal with and without `0x`: `Current value:00000001` of 2.x for small ones too, `0x000001`
    of 1.x; JSON only from about 2.12.
    """
    if tolerant(text):
        return _json_value(text, ("current", "current value", "value", "result"))
    return _text_value(text, number, "current")


def parse_changeable(text: str, number: int) -> bool | None:
    """Whether a feature can be changed at all (`--sel=3`); None if the text does not say."""
    value = _json_value(text, ("supported capabilities", "value", "result")) if tolerant(text) else None
    if value is None:
        value = _text_value(text, number, "supported")
    if value is not None:
        return bool(value & 4)
    words = next(filter(None, (_words(inner) for _, inner in _members(tolerant(text)))), None)
    return None if words is None else "changeable" in words


def _text_value(text: str, number: int, select: str) -> int | None:
    for found in _LINE.finditer(text):
        if int(found["number"], 16) == number and found["select"].strip().lower().startswith(select):
            return int(found["value"], 16)
    return None


def _json_value(text: str, names: tuple[str, ...]) -> int | None:
    members = {key.lower(): inner for key, inner in _members(tolerant(text))}
    for name in names:
        match members.get(name):
            case bool():
                continue
            case int() as value if 0 <= value < 1 << 32:
                return value
            case str() as text_value if (found := _HEX.fullmatch(text_value.strip())) is not None:
                return int(found[1], 16)
    return None


def _members(found: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Every member of an object and of the objects in it, three levels deep."""
    if isinstance(found, dict):
        for key, inner in found.items():
            yield key, inner
            if depth < 3:
                yield from _members(inner, depth + 1)
    elif isinstance(found, list) and depth < 3:
        for inner in found[:64]:
            yield from _members(inner, depth + 1)


def _words(inner: object) -> list[str]:
    """The list of abilities as words; empty if this is none."""
    known = ("saveable", "per-namespace", "changeable")
    return list(inner) if isinstance(inner, list) and all(one in known for one in inner) else []


_ROOT_SHAPES = tuple(
    ("|".join(words), DEVICE, *more)
    for words, more in (
        (("id-ctrl", "id-ns", "smart-log"), ()),
        (("id-ctrl", "id-ns", "smart-log"), ("-o", "json")),
        (("list-ns",), ("--all",)),
        (("get-feature",), (r"--feature-id=\d{1,3}", f"--sel=({CURRENT}|{SUPPORTED})")),
    )
)

ROOT_READS: RootReads = {("nvme",): _ROOT_SHAPES}
"""What root starts for a user: it reads, and changes nothing."""
