"""The splash screen: header and key line of the workbench, drawn before Textual is imported."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from app.cli.options import current, is_utf8
from app.startup import raise_gc_threshold
from app.tui.commands import footer_keys
from app.tui.header_text import SCANNING_TEXT, TALL, HeaderContent, HeaderSegment, header_line
from backends.text import clean

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H"
_LEAVE = "\x1b[?1049l\x1b[?25h"

_STYLES = {"name": "1", "host": "1", "present": "1;7"}
"""ANSI styles of the header by kind of segment. Colours are missing, because the theme is not known yet."""

_PLAIN = str.maketrans({"·": "-", "…": "~"})


@contextmanager
def show_splash(host: str) -> Iterator[None]:
    """Show the splash screen while the block of this context imports the screens, which takes a third of a second.

    Without an error it stays until the first screen replaces it; an error in the block removes it.
    """
    _write(_ENTER + frame(host, *_size()))
    gc.disable()  # Imported objects are never garbage, but collections would take a tenth of the startup time.
    try:
        yield
    except BaseException:
        _write(_LEAVE)
        raise
    finally:
        gc.freeze()
        raise_gc_threshold()
        gc.enable()


def frame(host: str, columns: int, rows: int) -> str:
    """Return the splash screen as text: the header with the list of screens, a progress message, and the keys."""
    machine = (HeaderSegment("raidbench", "name", 1), *((HeaderSegment(clean(host, 64), "host"),) if host else ()))
    content = HeaderContent(machine=machine, state=(HeaderSegment("...", "warning", 1),))
    lines = 2 if rows >= TALL else 1
    header = "".join(
        f"\x1b[{y + 1};1H{_styled(header_line(content, 'devices', columns, lines, y))}" for y in range(lines)
    )
    keys = "".join(f" \x1b[1m{key}\x1b[22m {label} " for key, label in footer_keys("devices", "devices-pane", columns))
    return f"{header}\x1b[{lines + 2};2H{SCANNING_TEXT}\x1b[{rows};1H{keys}"


def _styled(pieces: Iterable[HeaderSegment]) -> str:
    return "".join(
        f"\x1b[{_STYLES[piece.kind]}m{piece.text}\x1b[m" if piece.kind in _STYLES else piece.text for piece in pieces
    )


def _size() -> tuple[int, int]:
    with contextlib.suppress(OSError, AttributeError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno())
    return 80, 24


def _write(text: str) -> None:
    with contextlib.suppress(OSError, AttributeError, ValueError):
        if current().ascii or not is_utf8(sys.stderr):
            text = text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")
        sys.stderr.write(text)
        sys.stderr.flush()
