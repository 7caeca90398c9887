"""The first thing on the screen: a line of header and one of keys, drawn before Textual is even imported."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from app.commands import footer_keys
from backends.text import clean

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H"
_LEAVE = "\x1b[?1049l\x1b[?25h"


@contextmanager
def curtain(host: str) -> Iterator[None]:
    """Shows at once what takes the screens a third of a second; an error on the way there takes it down again."""
    _write(_ENTER + frame(host, *_size()))
    gc.disable()  # what is imported stays: looking it through again and again costs a tenth of the start
    try:
        yield
    except BaseException:
        _write(_LEAVE)
        raise
    finally:
        gc.freeze()
        gc.enable()


def frame(host: str, columns: int, rows: int) -> str:
    """Header, a word on what goes on, and the keys that will work."""
    keys = "".join(f" \x1b[1m{key}\x1b[22m {label} " for key, label in footer_keys("devices", "devices-pane", columns))
    header = f" \x1b[1mraidbench\x1b[22m - {clean(host, 64)}"[: columns + 8]
    return f"{header}\x1b[3;2Hlooking for hardware ...\x1b[{rows};1H{keys}"


def _size() -> tuple[int, int]:
    with contextlib.suppress(OSError, AttributeError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno())
    return 80, 24


def _write(text: str) -> None:
    with contextlib.suppress(OSError, AttributeError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
