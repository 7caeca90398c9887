"""From what a tool printed to its answers, one a card: JSON however wrapped, or text. Pure, never raises.

Met in the field: a banner before the body, control characters in strings, `J` ignored, syntax
errors in plain text, `Response Data` within `Response Data`, several cards, several documents, numbers as strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from backends.text import clean
from backends.values import dataclass
from backends.vendors.megaraid.storcli.fields import Data, Fields, whole
from backends.vendors.megaraid.storcli.textual import sections

_OPENING = re.compile(r'(?:^|(?<=\}))[ \t]*\{|\{(?=\s*"Controllers")', re.MULTILINE)
_TRIES = 12
"""Beginnings of JSON that are tried: banners may hold a brace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What was answered for one card, or for none (`show`)."""

    card: int | None
    """Its number as the tool counts; None if it names none."""
    status: Fields
    """`Command Status`: `status`, `description`, `cli version`, ..."""
    data: Data
    """`Response Data`; empty if there is none. A bare table is under ""."""

    @property
    def ok(self) -> bool:
        """Whether the whole says success."""
        return (self.status.text("status") or "").lower() == "success"

    @property
    def description(self) -> str:
        """The tool's sentence; "" if it has none."""
        text = self.status.text("description") or ""
        return "" if text.lower() == "none" else text


def replies(text: str) -> tuple[Reply, ...]:
    """Every answer in what was printed, in its order; of two for one card the first. Empty if nothing is understood."""
    plain = text.replace("\0", "").replace("\ufeff", "")
    found = [reply for document in _documents(plain) for reply in _entries(document)]
    if not found:
        found = [_reply(status, data, ends=None if closed else False) for status, data, closed in sections(plain)]
    return tuple(found)


def chosen(found: tuple[Reply, ...], card: int) -> Reply | None:
    """The answer for a card, by the number it names, never by its place; None if there is none.

    An answer that names no card (a syntax error) is for whoever asked.
    """
    named = [reply for reply in found if reply.card == card]
    unnamed = [reply for reply in found if reply.card is None]
    return next(iter([*named, *unnamed]), None)


def said(text: str) -> str:
    """The first lines of an answer that could not be understood, for a person."""
    lines = [line for row in text[:20_000].splitlines() if (line := clean(row, 200))]
    return clean(" ".join(lines[:3]), 300)


def _documents(text: str) -> Iterator[Mapping[str, object]]:
    """Every JSON document that lists controllers: it begins a line, or stands behind a warning on the same one."""
    decoder = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=str, parse_constant=str)
    place = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        try:
            document, place = decoder.raw_decode(text, opening.end() - 1)
        except (ValueError, RecursionError):
            place = opening.end()
            continue
        if isinstance(document, Mapping) and isinstance(document.get("Controllers"), list):
            yield document


def _integer(digits: str) -> int | str:
    """Numbers longer than any that a card may mean stay text."""
    return int(digits) if len(digits) < 19 else digits


def _entries(document: Mapping[str, object]) -> Iterator[Reply]:
    controllers = document["Controllers"]
    assert isinstance(controllers, list)
    for entry in controllers:
        if not isinstance(entry, Mapping):
            continue
        data = entry.get("Response Data")
        for _ in range(3):  # nested in itself on some versions
            if not (isinstance(data, Mapping) and "Response Data" in data):
                break
            inner = data["Response Data"]
            rest = {key: value for key, value in data.items() if key != "Response Data"}
            data = {**rest, **inner} if isinstance(inner, Mapping) else {**rest, "": inner}
        status = entry.get("Command Status")
        if isinstance(status, Mapping):
            yield _reply(status, data)


def _reply(status: Mapping[str, object], data: object, *, ends: bool | None = True) -> Reply:
    head = Fields(status)
    if isinstance(data, list):
        data = {"": data}
    found = Data(data if isinstance(data, Mapping) else None, ends=ends)
    return Reply(card=whole(head.text("controller")), status=head, data=found)
