"""The header as text segments: machine, state and the bar of screens, fitted to a width. No I/O.

The header widget uses them, and so does the splash screen, before Textual is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from app.tui.commands import HOSTS, SCREENS, SHEETS
from backends.values import dataclass
from widgets.text_utils import units
from widgets.text_utils.symbols import ATTENTION, BUSY, WELL, Symbol
from widgets.text_utils.text import shorten, width_of

TALL = 30
"""Minimum height of the terminal in lines for the bar of screens to have its own line."""

SCANNING = "scanning hardware"
"""State while the hardware is read."""

SCANNING_TEXT = f"{SCANNING} ..."
"""Text in place of devices until the hardware has been read."""

_BETWEEN = "  "
_DOT = " · "

_BELOW_NAMES = 5
"""If a line is too short, segments of this rank or higher are left out before the names of the screens."""

_MAX_HOST = 32
"""Maximum number of cells that are reserved for the host name."""


@dataclass(frozen=True, slots=True)
class HeaderSegment:
    """A part of the header with one meaning, such as the host name."""

    text: str
    """Text of the segment."""
    kind: str = ""
    """Meaning, which decides the colour; "" for none."""
    rank: int = 0
    """If there is no room, the segment with the highest rank is left out first. Rank 0 is never left out."""
    screen: str = ""
    """Name of the screen that a click on the segment shows; "" for none."""


@dataclass(frozen=True, slots=True)
class HeaderContent:
    """The complete content of the header."""

    machine: tuple[HeaderSegment, ...] = ()
    """Segments on the left."""
    state: tuple[HeaderSegment, ...] = ()
    """Segments on the right."""
    marks: tuple[tuple[str, Symbol], ...] = ()
    """Marks of screens on which work is running or has ended."""
    findings: int = 0
    """Number of findings."""
    has_warnings: bool = False
    """Whether a finding is more than a note."""
    hosts: bool = False
    """Whether there is a screen of hosts."""
    findings_key: str = ""
    """Key that shows the findings."""


def header_line(content: HeaderContent, present: str, width: int, lines: int, y: int) -> tuple[HeaderSegment, ...]:
    """Return line `y` of the header, filled to `width`. `present`: the screen in front. `lines`: height, 1 or 2."""
    if lines == 1:
        return _single_line(content, present, width)
    if y == 1:
        return _fill_line(_tabs(content, present, lines), _findings(content), width, "bar")
    room = width - 2 - len(_BETWEEN)
    state = _fit(content.state, room - min(_MAX_HOST, _width(_host(content), "")), _BETWEEN)
    machine = _fit(content.machine, room - _width(state, _BETWEEN), _DOT)
    return _fill_line(_join(machine, _DOT), _join(state, _BETWEEN), width, "")


def _single_line(content: HeaderContent, present: str, width: int) -> tuple[HeaderSegment, ...]:
    """Return host, screens and state in one line. If they do not fit, only the screen in front keeps its name."""
    room = width - 2 - 2 * len(_BETWEEN)
    host = _fit(_host(content), _MAX_HOST, "")
    room -= _width(host, "")
    wanted_width = _width([piece for piece in content.state if piece.rank < _BELOW_NAMES], _BETWEEN)
    tabs = _tabs(content, present, 1)
    if _width(tabs, "") + wanted_width > room:  # One space between the tabs is enough if this keeps their names.
        tabs = [piece if piece.kind == "present" else replace(piece, text=piece.text[1:]) for piece in tabs]
    if _width(tabs, "") + wanted_width > room:
        tabs = _tabs(content, present, 1, named=False)
    state = _fit(content.state, room - _width(tabs, ""), _BETWEEN)
    return _fill_line([*_join(host, ""), HeaderSegment(_BETWEEN), *tabs], _join(state, _BETWEEN), width, "")


def _fill_line(
    left: Sequence[HeaderSegment], right: Sequence[HeaderSegment], width: int, kind: str
) -> tuple[HeaderSegment, ...]:
    edge = HeaderSegment(" ", kind)
    space = HeaderSegment(" " * max(0, width - _width(left, "") - _width(right, "") - 2), kind)
    return (edge, *left, space, *right, edge)


def _join(pieces: Iterable[HeaderSegment], joint: str) -> list[HeaderSegment]:
    joined: list[HeaderSegment] = []
    for piece in pieces:
        if joined:
            joined.append(HeaderSegment(joint, "quiet"))
        joined.append(piece)
    return joined


def _tabs(content: HeaderContent, present: str, lines: int, *, named: bool = True) -> list[HeaderSegment]:
    """Return the tabs of the screens with their keys and marks. The current one is highlighted and always has its name.

    The others have their names only if `named`.
    """
    marks = dict(content.marks)
    tabs: list[HeaderSegment] = []
    shown = [(HOSTS, SHEETS[HOSTS]), *SCREENS.items()] if content.hosts else [*SCREENS.items()]
    counted = HOSTS if present == HOSTS and content.hosts else "devices"
    for key, (name, title) in enumerate(shown, 0 if content.hosts else 1):
        parts = [str(key)]
        if named or name == present:
            parts.append(title)
        if name in marks:
            parts.append(marks[name].char)
        if name == counted and content.has_warnings and lines == 1:
            parts.append(f"{ATTENTION.char}{content.findings}")
        kind = "present" if name == present else "bar" if lines > 1 else "quiet"
        tabs.append(HeaderSegment(f" {' '.join(parts)} ", kind, screen=name))
    return tabs


def _findings(content: HeaderContent) -> list[HeaderSegment]:
    """Return a segment with the number of findings; an empty list if there are none."""
    if not content.findings:
        return []
    text = f"{units.plural(content.findings, 'finding')} ({content.findings_key})"
    return [
        HeaderSegment(f"{ATTENTION.char} {text}", "trouble") if content.has_warnings else HeaderSegment(text, "bar")
    ]


def _host(content: HeaderContent) -> tuple[HeaderSegment, ...]:
    return tuple(piece for piece in content.machine if piece.kind == "host")


def _width(pieces: Sequence[HeaderSegment], joint: str) -> int:
    return sum(width_of(piece.text) for piece in pieces) + len(joint) * max(0, len(pieces) - 1)


def _fit(pieces: Sequence[HeaderSegment], room: int, joint: str) -> tuple[HeaderSegment, ...]:
    """Return the segments that fit. If the segments of rank 0 are too long, the last one is cut."""
    kept = list(pieces)
    while kept and _width(kept, joint) > room:
        rank, at = max((piece.rank, at) for at, piece in enumerate(kept))
        if rank == 0:
            over = _width(kept, joint) - room
            kept[-1] = replace(kept[-1], text=shorten(kept[-1].text, max(1, width_of(kept[-1].text) - over)))
            break
        del kept[at]
    return tuple(kept)


class RunBadge:
    """Marks of screens on which work is running, or has ended while another screen was shown."""

    def __init__(self) -> None:
        self._running: frozenset[str] = frozenset()
        self._over: frozenset[str] = frozenset()

    def marks(self, running: Collection[str], front: str) -> Mapping[str, Symbol]:
        """Return the mark of each screen that has one. A finished run marks its screen until that is shown."""
        now = frozenset(running)
        self._over = (self._over | self._running - now) - now - {front}
        self._running = now
        return {**dict.fromkeys(self._over, WELL), **dict.fromkeys(now, BUSY)}
