"""fio's standard output, cut into documents and noise as it comes. No I/O, no exceptions.

fio prints one JSON document after another: `{` alone on a line, everything inside indented by at least two
blanks, `}` alone on a line. Nothing counts them and nothing marks the last. Messages stand between them, and
output of helpers may even stand inside. The parser looks at lines only, so how the bytes were cut when they
were read makes no difference.
"""

from __future__ import annotations

import json
import re
from typing import Any

from backends.values import dataclass

LIMIT = 64 * 1024 * 1024
"""Bytes after which a document without an end is given up."""

_NOISE_WIDTH = 4096
_ATTEMPTS = 32
_INDENTED = re.compile(rb"(?: [^\n]*+\n)++")
_BARE_NUMBER = re.compile(r"(?<=[:,\[])(\s*)[+-]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FioJsonDocument:
    """A complete document of fio."""

    data: dict[str, Any]
    """The JSON object; it has a `fio version`."""


@dataclass(frozen=True, slots=True)
class NonJsonLine:
    """A line that belongs to no document."""

    line: str
    """Undecodable bytes replaced, at most 4096 characters, not cleaned."""


@dataclass(frozen=True, slots=True)
class MalformedDocument:
    """A document that was begun and could not be read."""

    lines: int
    """How many lines it had."""


Event = FioJsonDocument | NonJsonLine | MalformedDocument


class StreamParser:
    """Feed it bytes in pieces of any size; `close` when no more will come."""

    def __init__(self, limit: int = LIMIT) -> None:
        """`limit`: bytes after which a document is given up."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._partial = 0
        self._inside: list[bytes] = []
        self._size = 0
        self._attempts = 0
        self._failed_at_end = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Events that are complete with this piece."""
        events: list[Event] = []
        end = chunk.find(b"\n")
        self._extend(chunk if end < 0 else chunk[:end])
        if end < 0:
            return events
        self._line(self._take_partial(), events)
        start, last = end + 1, chunk.rfind(b"\n")
        while start <= last:
            # Nearly all lines are these, hundreds in a row: inside a document, and neither its beginning nor its end.
            if self._inside and not self._failed_at_end and (indented := _INDENTED.match(chunk, start)):
                end = indented.end()
                if self._size + end - start <= self._limit:
                    self._inside += chunk[start : end - 1].split(b"\n")
                    self._size += end - start
                    start = end
                    continue
            end = chunk.find(b"\n", start)
            self._line(chunk[start : min(end, start + self._limit + 1)], events)
            start = end + 1
        self._extend(chunk[last + 1 :])
        return events

    def close(self) -> list[Event]:
        """The events of what is left at the end of the output."""
        events: list[Event] = []
        if self._partial:
            self._line(self._take_partial(), events)
        while self._inside:
            self._give_up(events)
        return events

    def _extend(self, piece: bytes) -> None:
        """Keep a piece of an unfinished line; of an endless line only as much as the limit."""
        piece = piece[: self._limit + 1 - self._partial]
        if piece:
            self._parts.append(piece)
            self._partial += len(piece)

    def _take_partial(self) -> bytes:
        line = b"".join(self._parts)
        self._parts.clear()
        self._partial = 0
        return line

    def _line(self, line: bytes, events: list[Event]) -> None:
        if self._failed_at_end and line.strip():
            self._failed_at_end = False
            if line == b"{":
                self._give_up(events)
        if not self._inside:
            if line == b"{":
                self._begin_document(line)
            elif text := line.strip():
                events.append(NonJsonLine(text.decode("utf-8", "replace")[:_NOISE_WIDTH]))
            return
        self._inside.append(line)
        self._size += len(line) + 1
        if line == b"}":
            self._try_end(events)
        elif self._size > self._limit:
            self._give_up(events)

    def _begin_document(self, line: bytes) -> None:
        self._inside = [line]
        self._size = len(line) + 1
        self._attempts = 0
        self._failed_at_end = False

    def _try_end(self, events: list[Event]) -> None:
        """A line that may end the document: it does if what was collected is one."""
        self._attempts += 1
        start = 0
        pair = _read(self._inside)
        if pair is None:
            # Cut off in the middle, with a whole document behind it?
            start = _last_open(self._inside)
            pair = _read(self._inside[start:]) if start else None
        if pair is not None:
            if start:
                events.append(MalformedDocument(start))
            data, foreign = pair
            events.extend(foreign)
            events.append(FioJsonDocument(data))
            self._inside = []
        elif self._attempts >= _ATTEMPTS or self._size > self._limit:
            self._give_up(events)
        else:
            # A "}" inside a name with a line feed looks like this too: go on, unless the next line is "{".
            self._failed_at_end = True

    def _give_up(self, events: list[Event]) -> None:
        """Call what was collected broken, up to the next line that opens a document, and go on from there."""
        lines = self._inside
        self._inside = []
        self._failed_at_end = False
        again = next((at for at in range(1, len(lines)) if lines[at] == b"{"), len(lines))
        events.append(MalformedDocument(again))
        for line in lines[again:]:
            self._line(line, events)


def _last_open(lines: list[bytes]) -> int:
    """Where the last line that opens a document is; 0 if only the first one does."""
    return next((at for at in range(len(lines) - 1, 0, -1) if lines[at] == b"{"), 0)


def _read(lines: list[bytes]) -> tuple[dict[str, Any], list[NonJsonLine]] | None:
    """The document these lines make, with the foreign lines left out of it; None if they make none."""
    data = _load(lines)
    if data is not None:
        return data, []
    inner = [line for line in lines[1:-1] if line.startswith(b"  ")]
    # Nothing foreign in it, so leaving lines out would not mend it.
    if len(inner) == len(lines) - 2:
        return None
    data = _load([b"{", *inner, b"}"])
    if data is None:
        return None
    foreign = [line.strip() for line in lines[1:-1] if not line.startswith(b"  ")]
    return data, [NonJsonLine(line.decode("utf-8", "replace")[:_NOISE_WIDTH]) for line in foreign if line]


def _load(lines: list[bytes]) -> dict[str, Any] | None:
    text = b"\n".join(lines).decode("utf-8", "replace")
    data = _decode(text)
    if data is None:
        repaired = _BARE_NUMBER.sub(r"\1null", text)  # fio prints nan and inf as C does
        if repaired != text:
            data = _decode(repaired)
    return data if isinstance(data, dict) and "fio version" in data else None


def _decode(text: str) -> object:
    try:
        # strict=False: fio escapes no control characters in names.
        return json.loads(text, strict=False, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
