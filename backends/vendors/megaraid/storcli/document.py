"""Parser that converts output, JSON or text, to one reply for each controller. No I/O; it never raises.

Output seen in practice has a banner before the JSON, control characters in strings, text although `J` asks for JSON,
syntax errors as plain text, `Response Data` within `Response Data`, several controllers, several documents, or numbers
as strings.
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
"""Maximum number of braces to try as the start of JSON, because a banner may contain one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Reply about one controller, or about no particular one (`show`)."""

    card: int | None
    """Number of the controller in the tool; None if the reply names no controller."""
    status: Fields
    """Fields of `Command Status`: `status`, `description`, `cli version`, ..."""
    data: Data
    """Fields of `Response Data`; empty if there is none. A table without a heading is under ""."""

    @property
    def ok(self) -> bool:
        """Return whether the overall status is success."""
        return (self.status.text("status") or "").lower() == "success"

    @property
    def description(self) -> str:
        """Return the tool's message, or ""."""
        text = self.status.text("description") or ""
        return "" if text.lower() == "none" else text


def replies(text: str) -> tuple[Reply, ...]:
    """Return every reply in the output, in order; () if no part of it is understood."""
    plain = text.replace("\0", "").replace("\ufeff", "")
    answers = [reply for document, differing in _documents(plain) for reply in _entries(document, differing)]
    if not answers and _OPENING.search(plain) is not None:
        # The tool does not escape names, so its JSON may be invalid: escape the string value in each line.
        escaped = "\n".join(map(_escape, plain.splitlines()))
        answers = [reply for document, differing in _documents(escaped) for reply in _entries(document, differing)]
    if not answers:
        answers = [
            _reply(status, data, ends=None if closed else False, differing=differing)
            for status, data, closed, differing in sections(plain)
        ]
    return tuple(answers)


_LINE = re.compile(r'([ \t]*"[^"\\]{1,120}"[ \t]*:[ \t]*)"(.{0,2000})"([ \t]*,?[ \t]*)')
"""Line with one key and one string value, the form in which the tool's JSON may be invalid."""


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


def reply_about(matches: tuple[Reply, ...], card: int) -> Reply | None:
    """Return the first reply that names this controller, at any position; None if there is none.

    A reply that names no controller, such as a syntax error, counts as a reply about this controller.
    """
    named = [reply for reply in matches if reply.card == card]
    unnamed = [reply for reply in matches if reply.card is None]
    return next(iter([*named, *unnamed]), None)


@dataclass(frozen=True, slots=True)
class _JsonObject:
    """Collects the keys that occur twice, with different values, in one object of a document."""

    differing: list[str] = field(default_factory=list)

    def __call__(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        """Return the object without such keys, because neither value is trusted."""
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        for key, value in pairs:
            if key in members and members[key] != value:
                self.differing.append(key)
                del members[key]
        return members


def _documents(text: str) -> Iterator[tuple[Mapping[str, object], tuple[str, ...]]]:
    """Yield every JSON document that lists controllers, with the keys that occur twice with different values.

    A document starts at the beginning of a line, or after a warning on the same line.
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
    """Return the number, or the digits unchanged if they are more than any value of a controller has."""
    return int(digits) if len(digits) < 19 else digits


def _entries(document: Mapping[str, object], differing: tuple[str, ...]) -> Iterator[Reply]:
    controllers = document["Controllers"]
    assert isinstance(controllers, list)
    for entry in controllers:
        if not isinstance(entry, Mapping):
            continue
        data = entry.get("Response Data")
        for _ in range(3):  # some versions nest `Response Data` in itself
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


# The functions below parse plain text to the structure of the JSON, for builds that ignore `J`. A heading is a line
# `Name :` above a row of `=`. A table is between rows of `-`. Its columns are separated by blanks in both header and
# rows. Lines of a legend below a table contain no ` = `.

_HEAD_KEYS = ("cli version", "operating system", "controller", "status", "status code", "description")
_VALUES = ("success", "failure", "0")
_RULE = re.compile(r"-{5,}\s*")
_UNDER = re.compile(r"={2,}\s*")
_PAIR = re.compile(r"([^=|]{1,120}?)\s+= ?(.*)")
_KEYS = re.compile(r"\b(?:EID:Slt|DG/VD)\b")
"""Headers of tables whose column names contain no blanks, apart from `LU/NS Count` of version 8."""
_UNITS = {"KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "PiB", "hours", "Gbps"}
_LINES = 200_000
"""Maximum number of lines to parse, far more than the output for the largest chassis has."""

Section = tuple[Mapping[str, object], Mapping[str, object], bool, tuple[str, ...]]


def sections(text: str) -> Iterator[Section]:
    """Yield for each controller its status, its data, whether its last table is complete, and repeated headings.

    A section without a status is left out.
    """
    lines = [line.rstrip() for line in text.splitlines()[:_LINES]]
    starts = [at for at, line in enumerate(lines) if _is_start(lines, at, line)]
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(lines)
        section = _parse_section(lines[start:end])
        if "Status" in section[0] or "Description" in section[0]:
            yield section


def _is_start(lines: list[str], at: int, line: str) -> bool:
    """Return whether a reply starts at this line: its version, or else its controller or status."""
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
            closed = True  # more text follows, so a table without its last rule is not truncated
            _put(status, data, heading, pair[1].strip(), pair[2].strip())
        at += 1
    return status, data, closed, tuple(differing)


def _put(status: dict[str, object], data: dict[str, object], heading: str, key: str, value: str) -> None:
    """Store a value under its heading, or at the top level after a table (`Physical Drives = 16`)."""
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
    """Return the table whose first rule is at `at` ([] if none), the line after it, and whether it is complete."""
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
    """Return the cells of a row by splitting it at blanks, for tables with misaligned columns.

    A unit belongs to the number before it. Additional words belong to the only column that may contain blanks.
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
    """Return name, start and end of each column."""
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
    return _name_columns(header, body, pieces)


def _name_columns(header: str, body: list[str], pieces: list[tuple[int, int]]) -> list[tuple[str, int, int]]:
    """Return the columns. `pieces` are start and end of the parts between columns of blanks.

    A part without a name belongs to the column on its right if it has numbers and units follow, else to its left.
    """
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
