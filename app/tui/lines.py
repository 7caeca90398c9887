"""The header and the footer: one line each."""

from __future__ import annotations

import re
import time
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip

from app.commands import COMMANDS, footer_of, screen_switch
from app.engine.session.state import Session
from backends.text import clean
from widgets.plain.text import shorten, width_of
from widgets.steady import SteadyWidget

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp


_CPU_NOISE = re.compile(r"\((?:R|TM)\)|\bCPU\b|\b\d+-Core\b|\bProcessor\b|@.*$", re.IGNORECASE)


def short_cpu(name: str) -> str:
    """A processor without what every processor's name says: `AMD EPYC 7313P`."""
    return clean(_CPU_NOISE.sub(" ", name), 40) or clean(name, 40)


Parts = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]
"""Left and right pieces of the header."""


class StatusLine(SteadyWidget):
    """Program, host, CPU, kernel; right: rights, session, what is recorded, what runs."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status-line--name",
        "status-line--run",
        "status-line--warning",
        "status-line--quiet",
    }
    DEFAULT_CSS = """
    StatusLine {
        height: 1; dock: top; background: $panel; color: $foreground;
        & > .status-line--name { text-style: bold; color: $text-primary; }
        & > .status-line--run { text-style: bold; color: $text-accent; }
        & > .status-line--warning { text-style: bold; color: $text-warning; }
        & > .status-line--quiet { color: $foreground 70%; }
    }
    """
    parts: reactive[Parts] = reactive(((), ()), repaint=False)
    """Left and right pieces: component class and text."""

    def watch_parts(self, before: Parts, after: Parts) -> None:
        """Paints what reads differently: of a running job, that is the time left."""
        if self.size.width:
            self.refresh_difference(self._line(before).text, self._line(after).text)

    def show(self, session: Session, app: WorkbenchApp) -> None:
        """Take the words from the session."""
        machine = session.machine
        left: list[tuple[str, str]] = [("name", "raidbench")]
        if machine is not None:
            left += [
                ("", machine.host),
                ("quiet", f"{short_cpu(machine.cpu)}, {machine.cores} CPUs"),
                ("quiet", machine.kernel),
            ]
        right: list[tuple[str, str]] = []
        if session.simulated:
            right.append(("warning", "SIMULATED"))
        left_of_trial = app.workbench.trial_left()
        if left_of_trial is not None:
            right.append(("warning", f"trial {ceil(left_of_trial)} s"))
        if session.probing and app.opened:
            right.append(("quiet", "looking for hardware"))
        if session.active is not None:
            from app.tui.screens.bench.live_view import short_progress

            right.append(("run", short_progress(session.active, time.time())))
        followed = app.sweeping.follower
        if followed is not None and followed.running and followed.record is not None:
            from app.tui.screens.sweep.results_view import short

            right.append(("run", short(followed.record, time.time(), app.sweeping.speed or 1.0)))
        if app.staged_count:
            right.append(("warning", f"{app.staged_count} staged"))
        if machine is not None:
            right.append(("quiet", "root") if machine.root else ("warning", "read-only (not root)"))
        if app.workbench.recording:
            right.append(("quiet", f"{session.id} REC {len(session.events)}"))
        else:
            right.append(("warning", "NOT RECORDED" if app.opened else "..."))
        self.parts = (tuple(left), tuple(right))

    def render_line(self, y: int) -> Strip:
        """The line: the right side whole, the left side as far as there is room."""
        return self._line(self.parts)

    def _line(self, parts: Parts) -> Strip:
        left, right = parts
        width = self.size.width
        separator = " | " if getattr(self.app, "ascii", False) else " · "
        while len(right) > 1 and width_of(separator.join(text for _, text in right)) > width - 12:
            right = right[:-1]
        right_width = width_of(separator.join(text for _, text in right))
        room = max(0, width - right_width - 3)
        base = self.style_of("")
        segments = [Segment(" ", base)]
        used = 1
        for index, (name, text) in enumerate(left):
            piece = (separator if index else "") + text
            if used + width_of(piece) > room:
                break
            segments.append(Segment(piece, self._style(name)))
            used += width_of(piece)
        segments.append(Segment(" " * max(0, width - used - right_width - 1), base))
        for index, (name, text) in enumerate(right):
            if index:
                segments.append(Segment(separator, base))
            segments.append(Segment(shorten(text, max(1, width - 2)), self._style(name)))
        segments.append(Segment(" ", base))
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, name: str) -> Style:
        return self.style_of(f"status-line--{name}" if name else "")


class TrialLine(SteadyWidget):
    """What is on trial, how long still, and the keys that decide; not there while nothing is."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"trial-line--words", "trial-line--key"}
    DEFAULT_CSS = """
    TrialLine {
        height: 1; background: $panel; display: none;
        & > .trial-line--words { text-style: bold; color: $text-warning; background: $panel; }
        & > .trial-line--key { text-style: bold; color: $text-accent; background: $panel; }
    }
    """
    text: reactive[str] = reactive("", repaint=False)
    """What is said, "" for nothing."""

    def watch_text(self, before: str, after: str) -> None:
        """Comes, goes, and paints what reads differently."""
        self.display = bool(after)
        if self.size.width:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The keys whole, the words as far as there is room."""
        words, key = self.style_of("trial-line--words"), self.style_of("trial-line--key")
        keymap = getattr(self.app, "custom_keys", {})
        keys = [(keymap.get(one.id, one.shown_keys), one.label) for one in COMMANDS if one.id in _DECIDING]
        right = [Segment(text, style) for shown, label in keys for text, style in ((f" {shown} ", key), (label, words))]
        room = self.size.width - sum(segment.cell_length for segment in right) - 3
        said = shorten(self.text, max(1, room))
        line = [Segment(f" {said}{' ' * max(0, room - width_of(said))} ", words), *right]
        return Strip(line).adjust_cell_length(self.size.width, words)


_DECIDING = ("app.keep-trial", "app.take-back")


class KeyLine(SteadyWidget):
    """The most useful keys of the screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label"}
    DEFAULT_CSS = """
    KeyLine {
        height: 1; dock: bottom; background: $panel;
        & > .key-line--key { text-style: bold; color: $text-accent; background: $panel; }
        & > .key-line--label { color: $foreground 85%; background: $panel; }
    }
    """

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._commands = footer_of(screen)
        self._screen = screen

    def render_line(self, y: int) -> Strip:
        """Keys and labels, as many as there is room for; help and quit always."""
        key_style = self.style_of("key-line--key")
        label_style = self.style_of("key-line--label")
        width = self.size.width
        pairs = [(command.shown_keys.split()[0], command.label) for command in self._commands]
        keymap = getattr(self.app, "custom_keys", {})
        pairs = [
            (keymap.get(command.id, shown), label)
            for command, (shown, label) in zip(self._commands, pairs, strict=True)
        ]
        pairs.insert(0, screen_switch())
        while len(pairs) > 3 and sum(width_of(key) + width_of(label) + 3 for key, label in pairs) > width:
            del pairs[-4 if len(pairs) > 5 else 1]
        segments: list[Segment] = []
        for key, label in pairs:
            segments.append(Segment(f" {key} ", key_style))
            segments.append(Segment(f"{label} ", label_style))
        return Strip(segments).adjust_cell_length(width, label_style)
