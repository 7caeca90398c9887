"""From what a tool printed to its answers, one a card: JSON however wrapped, or text. Pure, never raises.

Met in the field: a banner before the body, control characters in strings, `J` ignored, syntax
errors in plain text, `Response Data` within `Response Data`, several cards, several documents, numbers as strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from backends.values import dataclass
from backends.vendors.megaraid.storcli.fields import Data, Fields, whole

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
    """Every answer in what was printed, in its order. Empty if nothing is understood."""
    plain = text.replace("\0", "").replace("\ufeff", "")
    answers = [reply for document, differing in _documents(plain) for reply in _entries(document, differing)]
    if not answers and _OPENING.search(plain) is not None:
        # JSON of a line for each key in which every text is escaped: the tool prints names as they are
        mended = "\n".join(map(_escape, plain.splitlines()))
        answers = [reply for document, differing in _documents(mended) for reply in _entries(document, differing)]
    if not answers:
        answers = [
            _reply(status, data, ends=None if closed else False, differing=differing)
            for status, data, closed, differing in sections(plain)
        ]
    return tuple(answers)


_LINE = re.compile(r'([ \t]*"[^"\\]{1,120}"[ \t]*:[ \t]*)"(.{0,2000})"([ \t]*,?[ \t]*)')
"""A line with one key and its text, as the tool breaks its JSON."""


def _escape(line: str) -> str:
    match = _LINE.fullmatch(line)
    if match is None:
        return line
    key, value, end = match.groups()
    try:
        json.loads(f'{{{key}"{value}"}}', strict=False)
    except ValueError:
        return f"{key}{json.dumps(value)}{end}"
    return line


def chosen(matches: tuple[Reply, ...], card: int) -> Reply | None:
    """The answer for a card, by the number it names, never by its place; None if there is none.

    An answer that names no card (a syntax error) is for whoever asked.
    """
    named = [reply for reply in matches if reply.card == card]
    unnamed = [reply for reply in matches if reply.card is None]
    return next(iter([*named, *unnamed]), None)


@dataclass(frozen=True, slots=True)
class _JsonObject:
    """Collects the keys that objects of one document have twice, with different values."""

    differing: list[str] = field(default_factory=list)

    def __call__(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        """Return the object without those keys: neither value is believed."""
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        for key, value in pairs:
            if key in members and members[key] != value:
                self.differing.append(key)
                del members[key]
        return members


def _documents(text: str) -> Iterator[tuple[Mapping[str, object], tuple[str, ...]]]:
    """Every JSON document that lists controllers: it begins a line, or stands behind a warning on the same one.

    With each the keys that it has twice, with different values.
    """
    position = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        objects = _JsonObject()
        decoder = json.JSONDecoder(
            strict=False, parse_int=_integer, parse_float=str, parse_constant=str, object_pairs_hook=objects
        )
        try:
            document, position = decoder.raw_decode(text, opening.end() - 1)
        except (ValueError, RecursionError):
            position = opening.end()
            continue
        if isinstance(document, Mapping) and isinstance(document.get("Controllers"), list):
            yield document, tuple(dict.fromkeys(objects.differing))


def _integer(digits: str) -> int | str:
    """Numbers longer than any that a card may mean stay text."""
    return int(digits) if len(digits) < 19 else digits


def _entries(document: Mapping[str, object], differing: tuple[str, ...]) -> Iterator[Reply]:
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
            outer = {key: value for key, value in data.items() if key != "Response Data"}
            data = {**outer, **inner} if isinstance(inner, Mapping) else {**outer, "": inner}
        status = entry.get("Command Status")
        if isinstance(status, Mapping):
            yield _reply(status, data, differing=differing)


def _reply(
    status: Mapping[str, object], data: object, *, ends: bool | None = True, differing: tuple[str, ...] = ()
) -> Reply:
    head = Fields(status)
    if isinstance(data, list):
        data = {"": data}
    response = Data(data if isinstance(data, Mapping) else None, ends=ends, differing=differing)
    return Reply(card=whole(head.text("controller")), status=head, data=response)


# -- the same out of plain text, which some versions print in spite of `J` --------------------------------------------

# The plain text of the tools in the same shape as their JSON: headings, tables, `key = value`. Pure, never raises.
# For builds that ignore `J`. A heading is a line `Name :` over a row of `=`; a table stands between rows
# of `-`, its columns are where header and rows have no blank in common; legends below it have no ` = `.

_HEAD_KEYS = ("cli version", "operating system", "controller", "status", "status code", "description")
_VALUES = ("success", "failure", "0")
_RULE = re.compile(r"-{5,}\s*")
_UNDER = re.compile(r"={2,}\s*")
_PAIR = re.compile(r"([^=|]{1,120}?)\s+= ?(.*)")
_KEYS = re.compile(r"\b(?:EID:Slt|DG/VD)\b")
"""Tables whose column names have no blanks, but for the `LU/NS Count` of version 8."""
_UNITS = {"KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "PiB", "hours", "Gbps"}
_LINES = 200_000
"""Lines looked at: far more than the largest chassis prints."""

Section = tuple[Mapping[str, object], Mapping[str, object], bool, tuple[str, ...]]


def sections(text: str) -> Iterator[Section]:
    """(`Command Status`, `Response Data`, whether every table has its end, headings that it has twice) of every card.

    Nothing without a status.
    """
    lines = [line.rstrip() for line in text.splitlines()[:_LINES]]
    starts = [at for at, line in enumerate(lines) if _begins(lines, at, line)]
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(lines)
        section = _parse_section(lines[start:end])
        if "Status" in section[0] or "Description" in section[0]:
            yield section


def _begins(lines: list[str], at: int, line: str) -> bool:
    """Whether an answer begins here: at its version, or at the controller or status where that is not printed."""
    key = _key(line)
    before = [_key(text) for text in lines[max(0, at - 4) : at]]
    match key:
        case "cli version":
            return True
        case "controller":
            follows = [_key(text) for text in lines[at + 1 : at + 3]]
            return "status" in follows and "cli version" not in before
        case "status" | "status code":
            value = line.partition("=")[2].strip().lower()
            return not {"cli version", "controller", "status code"} & set(before) and value in _VALUES
        case _:
            return False


def _key(line: str) -> str:
    match = _PAIR.fullmatch(line.strip())
    return match[1].strip().lower() if match is not None else ""


def _parse_section(lines: list[str]) -> Section:
    closed = True
    status: dict[str, object] = {}
    data: dict[str, object] = {}
    differing: list[str] = []
    heading = ""
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if line.endswith(":") and at + 1 < len(lines) and _UNDER.fullmatch(lines[at + 1].strip()):
            heading = line[:-1].strip()
            differing += [heading] if heading in data else []
            at += 2
            continue
        if _RULE.fullmatch(line):
            rows, at, closed = _table(lines, at)
            if rows and heading == "Detailed Status":
                status.setdefault(heading, rows)
            elif rows:
                data.setdefault(heading, rows)
            continue
        pair = _PAIR.fullmatch(line)
        if pair is not None:
            closed = True  # a table without its last rule, and the text goes on
            _put(status, data, heading, pair[1].strip(), pair[2].strip())
        at += 1
    return status, data, closed, tuple(differing)


def _put(status: dict[str, object], data: dict[str, object], heading: str, key: str, value: str) -> None:
    """Under its heading; what comes after a table belongs to the whole, as `Physical Drives = 16` does."""
    if not heading and key.lower() in _HEAD_KEYS and key not in status:
        status[key] = value
        return
    section = data.get(heading) if heading else None
    if section is None and heading:
        section = data[heading] = {}
    if isinstance(section, dict):
        section.setdefault(key, value)
    else:
        data.setdefault(key, value)


def _table(lines: list[str], at: int) -> tuple[list[dict[str, object]], int, bool]:
    """The table whose first rule is at `at`, the line after it, whether it has its last rule. Empty if it is none."""
    if at + 2 >= len(lines) or not _RULE.fullmatch(lines[at + 2].strip()):
        return [], at + 1, at + 2 < len(lines)
    end = at + 3
    while end < len(lines) and lines[end].strip() and not _RULE.fullmatch(lines[end].strip()):
        end += 1
    closed = end < len(lines) and _RULE.fullmatch(lines[end].strip()) is not None
    header = lines[at + 1]
    body = [line for line in lines[at + 3 : end] if len(line) <= 4 * len(lines[at]) + 200]
    columns = _columns(header, body)
    if _KEYS.search(header) and any(" " in name and name != "LU/NS Count" for name, _, _ in columns):
        return [_row_by_tokens(header.split(), line.split()) for line in body], end + closed, closed
    rows: list[dict[str, object]] = [{name: line[start:stop].strip() for name, start, stop in columns} for line in body]
    return rows, end + closed, closed


def _row_by_tokens(names: list[str], tokens: list[str]) -> dict[str, object]:
    """A row of a table whose columns are shifted against each other, word by word.

    A unit belongs to the number before it; what is left over belongs to the one column that may hold blanks.
    """
    joined: list[str] = []
    for word in tokens:
        if word in _UNITS and joined and joined[-1].replace(".", "", 1).isdigit():
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    loose = next((at for at, name in enumerate(names) if name in ("Model", "Name")), len(names) - 1)
    over = len(joined) - len(names)
    if over > 0:
        joined[loose : loose + over + 1] = [" ".join(joined[loose : loose + over + 1])]
    return dict(zip(names, joined, strict=False))


def _columns(header: str, body: list[str]) -> list[tuple[str, int, int]]:
    """(name, from, to) of each column."""
    width = max(map(len, [header, *body]))
    used = [False] * width
    for line in [header, *body]:
        for position, char in enumerate(line):
            if char != " ":
                used[position] = True
    pieces: list[tuple[int, int]] = []
    start = None
    for position in range(width + 1):
        if position < width and used[position]:
            start = position if start is None else start
        elif start is not None:
            pieces.append((start, position))
            start = None
    return _named(header, body, pieces)


def _named(header: str, body: list[str], pieces: list[tuple[int, int]]) -> list[tuple[str, int, int]]:
    """Pieces without a name of their own belong to a neighbour: a number to the unit after it, else to the left."""
    columns: list[tuple[str, int, int]] = []
    waiting: int | None = None
    for start, stop in pieces:
        name = header[start:stop].strip()
        if not name and not columns:
            waiting = start if waiting is None else waiting
        elif not name:
            last, begun, _ = columns[-1]
            columns[-1] = (last, begun, stop)
            tail = {line[start:stop].strip() for line in body} - {""}
            numbers = all(word.replace(".", "", 1).isdigit() for word in tail)
            if numbers and tail and _unit_follows(body, pieces, stop):
                columns[-1] = (last, begun, start)
                waiting = start
        else:
            columns.append((name, start if waiting is None else waiting, stop))
            waiting = None
    return columns


def _unit_follows(body: list[str], pieces: list[tuple[int, int]], after: int) -> bool:
    following = next(((start, stop) for start, stop in pieces if start >= after), None)
    if following is None:
        return False
    names = {line[following[0] : following[1]].strip() for line in body} - {""}
    return bool(names) and names <= _UNITS
