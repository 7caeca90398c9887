"""Splitter for fio's standard output: yields JSON documents and other lines as they arrive. No I/O, no exceptions.

fio prints one JSON document after another: a line `{`, lines indented by at least two blanks, and a line `}`. Documents
are not numbered, and nothing marks the last one. Messages appear between documents, and output of helper programs may
even appear inside one. The parser looks at lines only, so the size of the chunks makes no difference.
"""

from __future__ import annotations

import json
import re
from typing import Any

from backends.values import dataclass

LIMIT = 64 * 1024 * 1024
"""Bytes after which the parser abandons a document that has not ended."""

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
    """A line outside of documents."""

    line: str
    """At most 4096 characters, undecodable bytes replaced, control characters kept."""


@dataclass(frozen=True, slots=True)
class MalformedDocument:
    """A document that could not be parsed."""

    lines: int
    """Number of lines of the document."""


Event = FioJsonDocument | NonJsonLine | MalformedDocument


class StreamParser:
    """Incremental parser. Feed it chunks of any size, and call `close` at the end of the output."""

    def __init__(self, limit: int = LIMIT) -> None:
        """`limit`: bytes after which a document is abandoned."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._partial = 0
        self._inside: list[bytes] = []
        self._size = 0
        self._attempts = 0
        self._failed_at_end = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that this chunk completes."""
        events: list[Event] = []
        end = chunk.find(b"\n")
        self._extend(chunk if end < 0 else chunk[:end])
        if end < 0:
            return events
        self._line(self._take_partial(), events)
        start, last = end + 1, chunk.rfind(b"\n")
        while start <= last:
            # Fast path for nearly all lines: hundreds of indented lines in a row inside a document.
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
        """Return the events for the rest of the output."""
        events: list[Event] = []
        if self._partial:
            self._line(self._take_partial(), events)
        while self._inside:
            self._give_up(events)
        return events

    def _extend(self, piece: bytes) -> None:
        """Add a part to the unfinished line, up to the limit."""
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
        """Handle a line that may end the document: it does if the collected lines are valid JSON."""
        self._attempts += 1
        start = 0
        pair = _read(self._inside)
        if pair is None:
            # The document may be truncated and followed by a complete one: try from the last `{` line.
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
            # This line may be the end of a name with a line feed: continue, unless the next line is "{".
            self._failed_at_end = True

    def _give_up(self, events: list[Event]) -> None:
        """Report the collected lines up to the next `{` line as malformed, and continue from there."""
        lines = self._inside
        self._inside = []
        self._failed_at_end = False
        resume = next((at for at in range(1, len(lines)) if lines[at] == b"{"), len(lines))
        events.append(MalformedDocument(resume))
        for line in lines[resume:]:
            self._line(line, events)


def _last_open(lines: list[bytes]) -> int:
    """Return the index of the last `{` line; 0 if it is the first line."""
    return next((at for at in range(len(lines) - 1, 0, -1) if lines[at] == b"{"), 0)


def _read(lines: list[bytes]) -> tuple[dict[str, Any], list[NonJsonLine]] | None:
    """Return the document in these lines, and the foreign lines removed from it; None if the lines are no document."""
    data = _load(lines)
    if data is not None:
        return data, []
    inner = [line for line in lines[1:-1] if line.startswith(b"  ")]
    # If no line is foreign, removing lines cannot repair the document.
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
        repaired = _BARE_NUMBER.sub(r"\1null", text)  # fio prints nan and inf as C does, which is not valid JSON
        if repaired != text:
            data = _decode(repaired)
    return data if isinstance(data, dict) and "fio version" in data else None


def _decode(text: str) -> object:
    try:
        # strict=False, because fio does not escape control characters in names.
        return json.loads(text, strict=False, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
