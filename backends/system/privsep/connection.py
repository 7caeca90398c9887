"""Client end of the connection to the root helper, and the format of its messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from backends.errors import RefusedError
from backends.helper_interface import decode_error

# -- format of a message: its length and a JSON object. No I/O --------------------------------------------------------

REQUEST_LIMIT = 1024 * 1024
"""Maximum size of a request in bytes."""

REPLY_LIMIT = 80 * 1024 * 1024
"""Maximum size of a reply in bytes. It suffices for both outputs of a program, 16 MiB each, as escaped JSON."""

MOST_DESCRIPTORS = 4
"""Maximum number of file descriptors that one reply may pass."""

_LENGTH = struct.Struct("!I")
HEAD = _LENGTH.size
"""Size in bytes of the length field in front of a message."""


class MalformedError(ValueError):
    """Error for bytes that are not a valid message."""


def pack(message: Mapping[str, Any]) -> bytes:
    """Return the message as bytes: the length field, then the JSON."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


def length_of(head: bytes, limit: int) -> int:
    """Return the number of bytes that follow the length field `head`.

    Raises MalformedError if it is 0 or above `limit`.
    """
    (length,) = _LENGTH.unpack(head)
    if not 0 < length <= limit:
        raise MalformedError(f"a message of {length} bytes")
    return int(length)


def unpack(body: bytes) -> dict[str, Any]:
    """Return the JSON object in the body of a message.

    Raises MalformedError for other JSON, duplicate names, NaN and infinity.
    """
    try:
        data = json.loads(body.decode("utf-8"), object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"not JSON: {type(error).__name__}") from error
    if not isinstance(data, dict):
        raise MalformedError("not an object")
    return data


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedError("a name twice")
    return data


def _reject_constant(word: str) -> float:
    raise MalformedError(f"{word} is not a number")


# -- client: numbered requests, answered in any order -----------------------------------------------------------------

PATIENCE = 60.0
"""Timeout in seconds for a blocking request."""

Answer = tuple[Mapping[str, Any], tuple[int, ...]]


class Connection:
    """Sends requests to the helper over a socket. A thread receives the replies."""

    def __init__(self, sock: socket.socket) -> None:
        """`sock`: the connected socket; this object closes it."""
        self._socket = sock
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Answer]] = {}
        self._greeting: Future[Answer] = Future()
        self._asked = 0
        self._descriptors: list[int] = []
        self._gone = False
        threading.Thread(target=self._listen, name="root helper", daemon=True).start()

    def greeting(self, seconds: float | None) -> Mapping[str, Any]:
        """Return the helper's greeting.

        Raises RefusedError if the helper refused or ended, TimeoutError after `seconds`; None waits without a limit.
        """
        return self._greeting.result(seconds)[0]

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        """Send the request `verb` with these arguments, and return the reply. Errors: see `HelperClient.ask`."""
        return (await self.fetch(verb, **args))[0]

    async def fetch(self, verb: str, **args: object) -> Answer:
        """Send the request `verb`, and return the reply with the file descriptors that it passes.

        Errors: see `HelperClient.fetch`.
        """
        return await asyncio.wrap_future(self._put(verb, args))

    def ask_now(self, verb: str, **args: object) -> Mapping[str, Any]:
        """Send the request `verb`, block until the reply arrives, and return it. Errors: see `HelperClient.ask_now`."""
        try:
            return self._put(verb, args).result(PATIENCE)[0]
        except TimeoutError:
            raise RefusedError(f"The root helper did not respond within {PATIENCE:g} s.") from None

    def close(self) -> None:
        """Close the connection, which ends the helper."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _put(self, verb: str, args: Mapping[str, object]) -> Future[Answer]:
        answer: Future[Answer] = Future()
        with self._lock:
            self._asked += 1
            number = self._asked
            message = pack({"id": number, "verb": verb, "args": args})
            if len(message) > REQUEST_LIMIT:
                answer.set_exception(RefusedError("The root helper has too many pending requests."))
                return answer
            if self._gone:
                answer.set_exception(_ended_error())
                return answer
            self._waiting[number] = answer
            try:
                self._socket.sendall(message)
            except OSError:
                del self._waiting[number]
                answer.set_exception(_ended_error())
        return answer

    def _listen(self) -> None:
        try:
            while True:
                length = length_of(self._exactly(HEAD), REPLY_LIMIT)
                self._settle(unpack(self._exactly(length)))
        except (OSError, EOFError, MalformedError):
            with self._lock:
                self._gone = True
                left = [*self._waiting.values(), self._greeting]
                self._waiting.clear()
            for answer in left:
                _resolve(answer, _ended_error())
            for descriptor in self._descriptors:
                os.close(descriptor)
            self._socket.close()

    def _settle(self, message: Mapping[str, Any]) -> None:
        number = message.get("id")
        with self._lock:
            answer = self._greeting if number == 0 else self._waiting.pop(number, None)  # type: ignore[arg-type]
        count = message.get("descriptors", 0)
        mine, self._descriptors = tuple(self._descriptors[:count]), self._descriptors[count:]
        error = message.get("error")
        outcome = decode_error(error) if isinstance(error, dict) else (message.get("ok") or {}, mine)
        if answer is None or not _resolve(answer, outcome) or isinstance(outcome, Exception):
            for descriptor in mine:
                os.close(descriptor)

    def _exactly(self, count: int) -> bytes:
        """Receive exactly `count` bytes and return them. File descriptors that arrive with them are kept for the reply.

        Raises EOFError at the end of data, OSError.
        """
        parts: list[bytes] = []
        while count:
            part, descriptors, _, _ = socket.recv_fds(
                self._socket, min(count, 1024 * 1024), MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
            self._descriptors += descriptors
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _resolve(answer: Future[Answer], outcome: Answer | Exception) -> bool:
    """Give the caller of a request its reply or error. Return False if the caller has stopped waiting."""
    try:
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)
    except Exception:  # the future was cancelled meanwhile
        return False
    return True


def _ended_error() -> RefusedError:
    return RefusedError("The root helper has ended.", hint="Restart raidbench to change settings.")
