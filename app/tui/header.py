"""The header of every screen: screen, machine and current work."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, ClassVar, cast

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip

from app.core.presentation.finding_counts import NOTE
from app.core.session.state import Session
from app.tui.commands import SCREENS
from app.tui.header_text import SCANNING, HeaderContent, HeaderSegment, header_line
from backends.text import clean
from widgets.cached_styles import StyleCachedWidget

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

_CPU_NOISE = re.compile(r"\((?:R|TM)\)|\bCPU\b|\b\d+-Core\b|\bProcessor\b|@.*$", re.IGNORECASE)


def short_cpu(name: str) -> str:
    """Return a processor name without common parts: `AMD EPYC 7313P`."""
    return clean(_CPU_NOISE.sub(" ", name), 40) or clean(name, 40)


_KINDS = ("bar", "good", "host", "name", "present", "quiet", "run", "staged", "trouble", "warning")
"""Kinds of segments with their own style."""


class HeaderLines(StyleCachedWidget):
    """Machine and state above the bar of screens; all in one line on a short terminal."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"header--{kind}" for kind in _KINDS}
    DEFAULT_CSS = """
    HeaderLines {
        height: 1; dock: top; background: $panel; color: $foreground;
        & > .header--name { text-style: bold; color: $text-primary; }
        & > .header--host { text-style: bold; }
        & > .header--good { color: $text-success; }
        & > .header--run { text-style: bold; color: $text-primary; }
        & > .header--staged { text-style: bold; color: $staged; }
        & > .header--warning { text-style: bold; color: $text-warning; }
        & > .header--quiet { color: $text-muted; }
        & > .header--trouble { text-style: bold; color: $text-warning; background: $background; }
        & > .header--bar { background: $background; color: $text-muted; }
        & > .header--present { text-style: bold reverse; color: $primary; background: $background; }
    }
    """
    content: reactive[HeaderContent] = reactive(HeaderContent(), repaint=False)
    """The content of the header."""

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._named = screen
        self.of_host: str | None = None
        """Name of the other host that the screen shows; None for this machine."""
        self._lines: list[Strip] = []
        self._lines_state: tuple[HeaderContent, str, Size] | None = None
        self._styles: dict[tuple[str, str], Style] = {}

    @property
    def _screen(self) -> str:
        """Name of the screen in front; for a sheet, name of the screen from which it was opened."""
        return self._named if self._named in SCREENS else self.app.current_mode

    def watch_content(self, before: HeaderContent, after: HeaderContent) -> None:
        """Repaint only the changed cells. During a run, usually only the time left changes."""
        old_lines = self._laid_out(before)
        for y, (old, new) in enumerate(zip(old_lines, self._laid_out(after), strict=True)):
            if list(old) != list(new):
                self.refresh_difference(old.text, new.text, y)

    def show(self, session: Session, app: AppInterface, severities: Sequence[str]) -> None:
        """Update the content from the session. `severities`: those of the findings, the gravest first."""
        job, now = _job(session), time.time()
        progress = {"bench": job} | {name: work.progress_text(now) for name, work in app.background.items()}
        running = {name for name, text in progress.items() if text}
        at_work = next(filter(None, progress.values()), "")
        self.content = HeaderContent(
            machine=tuple(_machine(session, app) if self.of_host is None else _other_host(self.of_host)),
            state=tuple(_state(session, app, at_work) if self.of_host is None else _other_host_state(session, at_work)),
            marks=tuple(app.waiting.marks(running, self._screen).items()),
            findings=len(severities),
            has_warnings=any(severity != NOTE for severity in severities),
            hosts=app.options.fleet is not None,
            findings_key=app.with_keys("<devices.findings>"),
        )

    def render_line(self, y: int) -> Strip:
        """Render a line."""
        lines = self._laid_out(self.content)
        return lines[y] if y < len(lines) else self._line(self.content, y)

    def notify_style_update(self) -> None:
        """Drop the lines and their styles, because the theme has changed."""
        super().notify_style_update()
        self._lines_state = None
        self._styles.clear()

    def on_click(self, event: events.Click) -> None:
        """Show the screen whose name was clicked."""
        at = 0
        for segment in self._line(self.content, event.y):
            name = (segment.style.meta if segment.style else {}).get("screen")
            at += segment.cell_length
            if event.x < at:
                if name is not None:
                    cast("AppInterface", self.app).action_go(name)
                return

    def _laid_out(self, content: HeaderContent) -> list[Strip]:
        """Return the lines. Those of the last content are kept, because they are needed for drawing and comparing."""
        screen, size = self._screen, self.size
        state = self._lines_state
        if state is None or state[0] is not content or state[1:] != (screen, size):
            self._lines = [self._line(content, y) for y in range(size.height)]
            self._lines_state = (content, screen, size)
        return self._lines

    def _line(self, content: HeaderContent, y: int) -> Strip:
        width = self.size.width
        pieces = header_line(content, self._screen, width, self.size.height, y)
        return Strip([self._segment(piece) for piece in pieces]).adjust_cell_length(width, self._style(pieces[0].kind))

    def _segment(self, piece: HeaderSegment) -> Segment:
        style = self._styles.get((piece.kind, piece.screen))
        if style is None:
            style = self._style(piece.kind)
            if piece.screen:
                style += Style.from_meta({"screen": piece.screen})
            self._styles[piece.kind, piece.screen] = style
        return Segment(piece.text, style)

    def _style(self, kind: str) -> Style:
        return self.style_of(f"header--{kind}" if kind else "")


def _machine(session: Session, app: AppInterface) -> Iterator[HeaderSegment]:
    """Yield program, host, processor and kernel; before the session is open, only program and host."""
    machine = session.machine
    yield HeaderSegment("raidbench", "name", 1)
    if machine is None:
        if not app.workbench.simulated:
            yield HeaderSegment(clean(os.uname().nodename, 64), "host")
    else:
        yield HeaderSegment(clean(machine.host, 64), "host")
        yield HeaderSegment(f"{short_cpu(machine.cpu)}, {machine.cores} CPUs", "quiet", 3)
        yield HeaderSegment(machine.kernel, "quiet", 2)


def _other_host(name: str) -> Iterator[HeaderSegment]:
    """Yield the program and the name of the shown host."""
    yield HeaderSegment("raidbench", "name", 1)
    yield HeaderSegment(clean(name, 64), "host")


def _other_host_state(session: Session, at_work: str) -> Iterator[HeaderSegment]:
    """Yield the state of another host. Staged values and privileges of this machine do not apply to it."""
    yield HeaderSegment("read-only", "warning")
    if session.simulated:
        yield HeaderSegment("SIMULATED", "warning", 2)
    if at_work:
        yield HeaderSegment(at_work, "run", 1)


def _state(session: Session, app: AppInterface, at_work: str) -> Iterator[HeaderSegment]:
    """Yield the segments on the right: simulation, trials, current work, differences, privileges, recording."""
    if session.simulated:
        yield HeaderSegment("recorded" if app.options.recorded else "SIMULATED", "warning")
    left = app.trials.seconds_left()
    if left is not None:
        yield HeaderSegment(f"trial {ceil(left)} s", "warning", 1)
    if at_work:
        yield HeaderSegment(at_work, "run", 1)
    if session.probing and app.opened:
        yield HeaderSegment(SCANNING, "quiet", 5)
    if app.staged_count:
        yield HeaderSegment(f"{app.staged_count} staged", "staged", 2)
    if app.drifted.count:
        yield HeaderSegment(app.with_keys(f"{app.drifted.count} drifted (<devices.wanted>)"), "warning", 4)
    if session.machine is not None:
        yield (
            HeaderSegment("root", "quiet", 6)
            if session.machine.root
            else HeaderSegment("read-only (not root)", "warning", 3)
        )
    if not app.workbench.recording:
        yield HeaderSegment("NOT RECORDED" if app.opened else "...", "warning", 1)
    else:
        yield HeaderSegment(session.id, "quiet", 7)
        yield HeaderSegment(f"REC {len(session.events)}", "good", 5)


def _job(session: Session) -> str:
    """Return the progress of the running job and the time left."""
    if session.active is None:
        return ""
    from app.tui.bench.live_view import short_progress

    return short_progress(session, session.active, time.time())
