"""Writes data to standard output and messages to standard error."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import time
from collections.abc import Iterable, Iterator
from json.encoder import JSONEncoder
from typing import Any, TextIO

from app.cli.options import current, is_terminal, is_utf8
from backends.errors import RaidbenchError, StorageError
from backends.text import clean, clean_lines
from widgets.text_utils import symbols
from widgets.text_utils.text import wrap_words

_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

_ASCII = str.maketrans(
    {"·": "-", "µ": "u", "–": "-", "…": "...", "├": "|", "│": "|", "°": "", "±": "+-", "→": "->", "×": "x"}
    | {sign.char: sign.ascii for sign in symbols.SIGNS}
)
"""ASCII replacements for the signs that raidbench uses. Any other non-ASCII character becomes a question mark."""

_NAMED_COMMAND = re.compile(r"`raidbench (?=[a-z]|--session )")
_ENCODED = JSONEncoder(allow_nan=False).encode

GRACE = 0.5
"""Seconds during which a question on the terminal ignores input, so that the user has time to read the question.

The dialogs of the screens have the same delay.
"""
_POLL_S = 0.5


class BrokenPipeOutputError(Exception):
    """The reader of standard output is gone. Not derived from BrokenPipeError, which click would handle itself."""


def data(text: str) -> None:
    """Write text to standard output. Raises BrokenPipeOutputError if its reader is gone, else StorageError."""
    _write(sys.stdout, text)


_lines_to_stderr = [False]


@contextlib.contextmanager
def prose_to_stderr() -> Iterator[None]:
    """Make `lines` write to standard error inside this context, so that standard output has only a JSON document."""
    _lines_to_stderr[0] = True
    try:
        yield
    finally:
        _lines_to_stderr[0] = False


class Verbatim(str):
    """A line that is never wrapped: a command to copy, or a line of a file."""

    __slots__ = ()


def lines(rows: Iterable[str]) -> None:
    """Write several lines of data to standard output at once. On a terminal, long lines are wrapped between words."""
    if _lines_to_stderr[0]:
        say_lines(rows)
        return
    text = _wrapped(rows, terminal_width())
    if text:
        data(text)


def _wrapped(rows: Iterable[str], width: int | None) -> str:
    """Return rows as one text. Rows that are wider than `width` are wrapped, unless they are `Verbatim`."""
    if width is None:
        return "\n".join(rows)
    return "\n".join(line for row in rows for line in ([row] if isinstance(row, Verbatim) else _lines_of(row, width)))


def _lines_of(row: str, width: int) -> list[str]:
    return [line for part in row.split("\n") for line in wrap_words(part, width)]


class DeferredDocument:
    """A JSON document that is printed at the end of a command, together with the command's text output."""

    def __init__(self, width: int | None) -> None:
        self.width = width
        """Width in columns for which the text is formatted; None for no limit."""
        self.body: dict[str, Any] | None = None
        self.text: list[str] = []


_deferred: list[DeferredDocument | None] = [None]


@contextlib.contextmanager
def with_text(width: int | None) -> Iterator[None]:
    """Collect a command's JSON document and text output inside this context; print both as one document at the end."""
    deferred = _deferred[0] = DeferredDocument(width)
    try:
        yield
    finally:
        _deferred[0] = None
    if deferred.body is not None:
        document({**deferred.body, "text": "".join(deferred.text).rstrip("\n")})


def is_text_wanted() -> bool:
    """Return whether a command should produce text output in addition to its JSON document; see `with_text`."""
    return _deferred[0] is not None


def terminal_width() -> int | None:
    """Return the width in columns for which data are formatted. None for no limit: the output is not a terminal."""
    return _width_of(sys.stderr if _lines_to_stderr[0] else sys.stdout)


def message_width() -> int | None:
    """Return the width in columns for which messages are formatted. None for no limit: they go to no terminal."""
    return _width_of(sys.stderr)


def _width_of(stream: TextIO | None) -> int | None:
    import shutil

    deferred = _deferred[0]
    if deferred is not None:
        return deferred.width
    if stream is None or not is_terminal(stream):
        return None
    with contextlib.suppress(OSError, ValueError):  # standard output may be a pipe while this stream is a terminal
        if not os.environ.get("COLUMNS") and (columns := os.get_terminal_size(stream.fileno()).columns):
            return columns
    return shutil.get_terminal_size().columns


_printed = [0]


def document_count() -> int:
    """Return the number of JSON documents that this process has printed so far."""
    return _printed[0]


def document(body: dict[str, Any], *, compact: bool = False) -> None:
    """Print a JSON document, in strict JSON (without NaN). `compact`: as one line, for a stream of lines.

    The field `simulated` is set if the selected machine is simulated, or if any part of the document says so.
    """
    from backends.json_text import indented_json

    if not compact and "simulated" not in body:
        body = {**body, "simulated": current().simulated or _mentions_simulated(body)}
    deferred = _deferred[0]
    if deferred is not None and deferred.body is None:
        deferred.body = body
        return
    _printed[0] += 1
    data(_ENCODED(body) if compact else indented_json(body))


def print_json(**body: Any) -> None:
    """Print a JSON document with these keys and values. Raises the errors of `data`."""
    from app.core.presentation import json_schema

    document(json_schema.document(**body))


def _mentions_simulated(part: object) -> bool:
    """Return whether any part of a document is marked as simulated."""
    match part:
        case dict():
            return part.get("simulated") is True or any(map(_mentions_simulated, part.values()))
        case list() | tuple():
            return any(map(_mentions_simulated, part))
        case _:
            return False


def say(text: str = "", end: str = "\n") -> None:
    """Write a message to standard error, ignoring errors. On a terminal, a long line is wrapped between words.

    Insert the options that select the same machine into raidbench commands in the message.
    """
    options = current().command_prefix
    if options and not isinstance(text, Verbatim):
        text = _NAMED_COMMAND.sub(lambda _: f"`raidbench {options}", text)
    try:
        # A text without an end of line is a status line, which its writer cuts.
        _write(sys.stderr, _wrapped((text,), message_width() if end else None), end)
    except (OSError, BrokenPipeOutputError, RaidbenchError, ValueError):
        return


def say_lines(rows: Iterable[str]) -> None:
    """Write several lines to standard error."""
    for row in rows:
        say(row)


def _write(stream: TextIO | None, text: str, end: str = "\n") -> None:
    deferred = _deferred[0]
    if deferred is not None and deferred.body is not None:
        deferred.text.append(text + end)
        return
    if stream is None:
        return
    if current().ascii or not is_utf8(stream):
        text = text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    try:
        stream.write(text + end)
        stream.flush()
    except BrokenPipeError:
        raise BrokenPipeOutputError from None
    except OSError as error:
        if stream is sys.stdout:
            forget_stdout()
        raise StorageError(f"The output cannot be written: {error.strerror}.", evidence=str(error)) from error


def forget_stdout() -> None:
    """Redirect standard output to /dev/null, so that the interpreter prints no error when it flushes it at exit."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def report_error(error: RaidbenchError) -> None:
    """Report an error on standard error: message, hint and evidence."""
    say(f"raidbench: {clean(error.message, 2000)}")
    if error.hint:
        say(clean(error.hint, 2000))
    if error.evidence and error.evidence.strip() and error.evidence not in error.message:
        for row in clean_lines(error.evidence, 12).splitlines():
            say(f"  {row}")


def paint(text: str, colour: str) -> str:
    """Return the text with the codes of a colour if standard output shows colours; unchanged if not."""
    code = _COLOURS.get(colour)
    return f"\x1b[{code}m{text}\x1b[0m" if code and current().coloured else text


def can_redraw() -> bool:
    """Return whether standard error is a terminal that can erase a line."""
    return is_terminal(sys.stderr) and os.environ.get("TERM") not in (None, "", "dumb")


def can_ask() -> bool:
    """Return whether questions are possible: standard input and standard error are terminals."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def ask(question: str) -> str:
    """Ask on standard error and return the stripped answer. Raises EOFError at the end of the input."""
    with _default_signals():
        answer = _answer(question)
    if not answer:
        raise EOFError
    return answer.strip()


def ask_with_timeout(question: str, seconds: float) -> str:
    """Ask a question in the calling thread and return the answer; "" if there is none in time."""
    return _answer(question, max(0.0, seconds)).strip()


def _answer(question: str, seconds: float | None = None) -> str:
    """Ask a question and return a line from the terminal; "" at the end of input, or if no line comes in time.

    Input is ignored for half a second. Then a colon shows that an answer is accepted. So text that was typed before the
    question does not answer it.
    """
    sys.stderr.write(_wrapped((question,), message_width()))
    sys.stderr.flush()
    time.sleep(GRACE)
    with contextlib.suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stderr.write(": ")
    sys.stderr.flush()
    if _answer_arrives(seconds):
        return sys.stdin.readline()
    say()
    return ""


def _answer_arrives(seconds: float | None) -> bool:
    """Return whether input arrives within `seconds`; None waits without a limit.

    A signal that arrives just before `select` does not end it, so the wait is split into short ones.
    """
    if seconds is not None:
        return bool(select.select([sys.stdin], [], [], seconds)[0])
    while not select.select([sys.stdin], [], [], _POLL_S)[0]:
        pass
    return True


@contextlib.contextmanager
def _default_signals() -> Iterator[None]:
    """Let signals end the program inside this context: a question blocks the event loop that usually handles them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, handler_before in before.items():
        if handler_before is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
