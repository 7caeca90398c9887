"""What goes between the two sides: a length, then a JSON object. No I/O."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

REQUEST_LIMIT = 1024 * 1024
"""Bytes of one request."""

REPLY_LIMIT = 80 * 1024 * 1024
"""Bytes of one answer: both outputs of a program, 16 MiB each, escaped."""

MOST_DESCRIPTORS = 4
"""Descriptors that come with one answer."""

_LENGTH = struct.Struct("!I")
HEAD = _LENGTH.size
"""Bytes of the length."""


class MalformedError(ValueError):
    """Bytes that are no message."""


def pack(message: Mapping[str, Any]) -> bytes:
    """A message with its length before it."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


def length_of(head: bytes, limit: int) -> int:
    """How many bytes follow. Raises MalformedError for none and for more than `limit`."""
    (length,) = _LENGTH.unpack(head)
    if not 0 < length <= limit:
        raise MalformedError(f"a message of {length} bytes")
    return int(length)


def unpack(body: bytes) -> dict[str, Any]:
    """The object in a message. Raises MalformedError for anything else, a name given twice and a number without end."""
    try:
        data = json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"no JSON: {type(error).__name__}") from error
    if not isinstance(data, dict):
        raise MalformedError("no object")
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedError("a name twice")
    return data


def _no_number(word: str) -> float:
    raise MalformedError(f"{word} is no number")
