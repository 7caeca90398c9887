"""Notices to the user in the line above the footer, where they cover nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import field
from typing import ClassVar, Final

from rich.segment import Segment
from textual.notifications import SeverityLevel
from textual.reactive import reactive
from textual.strip import Strip

from backends.text import clean_lines
from backends.values import dataclass
from widgets.cached_styles import StyleCachedWidget
from widgets.text_utils.text import clean as plain
from widgets.text_utils.text import pad, shorten, wrap

SHOWN_S: Final[dict[SeverityLevel, float]] = {"information": 1.5, "warning": 2.0, "error": 6.0}
"""Seconds that a notice stays even if keys are pressed. After that, the next key removes it."""

MAX_LINES: Final = 4
"""Maximum lines for notices. The log has their full text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message of a sentence or two."""

    message: str
    """The text; line breaks are kept."""
    title: str = ""
    """The subject; "" if it is obvious."""
    severity: SeverityLevel = "information"
    """The severity."""
    at: float = field(default=0.0, compare=False)
    """Time of the notice, in seconds since the epoch. It does not count for equality."""
    passing: bool = field(default=False, compare=False)
    """Whether the next notice replaces this one and the log omits it, for example a progress message."""

    recorded: bool = field(default=False, compare=False)
    """Whether the log omits this notice because it has an event of the session with the same text."""

    @property
    def text(self) -> str:
        """Title and message."""
        return f"{self.title}: {self.message}" if self.title else self.message

    copyable: str = field(default="", compare=False)
    """The part worth copying: a path, a command, or the next step."""


class Notices:
    """All notices of the session, and which of them are still shown."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._visible: list[tuple[float, Notice]] = []
        self.messages: list[Notice] = []
        """All notices for the log, in their order, without transient ones and those that it has as events."""

    @property
    def visible(self) -> tuple[Notice, ...]:
        """The notices that are shown, newest last."""
        return tuple(notice for _, notice in self._visible)

    def add(self, notice: Notice) -> None:
        """Show a notice, below earlier ones that are too recent to have been read."""
        if not notice.passing and not notice.recorded:
            self.messages.append(notice)
        self.drop_read()
        self._visible = [(since, shown) for since, shown in self._visible if shown != notice and not shown.passing]
        self._visible.append((self._clock(), notice))

    @property
    def copyable_text(self) -> str:
        """Path, command or advice of the newest notice that has one; "" without any."""
        return next((notice.copyable for notice in reversed(self.messages) if notice.copyable), "")

    def clear_transient_notice(self) -> None:
        """Remove the transient notice."""
        self._visible = [(since, notice) for since, notice in self._visible if not notice.passing]

    def clear(self) -> None:
        """Remove all notices, also from the log."""
        self._visible.clear()
        self.messages.clear()

    def drop_read(self) -> None:
        """Remove notices that were shown long enough. A user who presses a key has read them."""
        now = self._clock()
        self._visible = [(since, notice) for since, notice in self._visible if now - since < SHOWN_S[notice.severity]]


_COMMANDS = re.compile(r"`([^`]+)`")


def commands_in(text: str) -> str:
    """Return the commands between backquotes in `text`, one per line; `text` itself if there are none."""
    return "\n".join(_COMMANDS.findall(text)) or text


def join_sentences(*parts: str | None) -> str:
    """Return the parts joined, each with its final punctuation."""
    return " ".join(part if part[-1] in ".!?:" else f"{part}." for part in parts if part)


class NoticeLine(StyleCachedWidget):
    """The current notices in as many lines as they need; without any, the hint of the screen.

    One line is always reserved, so that a notice moves no widget. On a short terminal it exists only with text.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"notice--information", "notice--warning", "notice--error", "notice--hint"}
    DEFAULT_CSS = """
    NoticeLine {
        height: 1; background: $background;
        & > .notice--information { color: $foreground; }
        & > .notice--warning { color: $text-warning; }
        & > .notice--error { color: $text-error; text-style: bold; }
        & > .notice--hint { color: $text-muted; }
    }
    """
    notices: reactive[tuple[Notice, ...]] = reactive((), repaint=False)
    """The notices to show."""
    hint: reactive[str] = reactive("", repaint=False)
    """Text while there is no notice: details of the row under the cursor, or the next step."""

    stays: reactive[bool] = reactive(False, repaint=False)
    """Whether the hint has its own line below the notices, so that a notice does not hide the next step."""

    def watch_notices(self) -> None:
        """Repaint."""
        self._say()

    def watch_hint(self) -> None:
        """Repaint."""
        self._say()

    def on_resize(self) -> None:
        """Wrap the text to the new width."""
        self._say()

    def _say(self) -> None:
        self.set_class(not self.notices and not self.hint, "-silent")
        height = max(1, len(self._lines())) if self.notices else 1
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.refresh()

    def _lines(self) -> list[tuple[str, str]]:
        """Return style and text of each line, at most `MAX_LINES`. Longer notices are cut."""
        room = max(1, self.size.width - 2)
        if not self.notices:
            return [("hint", shorten(plain(self.hint), room))] if self.hint else []
        hint = [("hint", shorten(plain(self.hint), room))] if self.stays and self.hint else []
        most = MAX_LINES - len(hint)
        lines = [(notice.severity, line) for notice in self.notices for line in wrap(_join_lines(notice.text), room)]
        if len(lines) <= most:
            return [*lines, *hint]
        *first, (severity, last) = lines[:most]
        return [*first, (severity, shorten(f"{last} {lines[most][1]}", room)), *hint]

    def render_line(self, y: int) -> Strip:
        """Render a line."""
        lines = self._lines()
        kind, text = lines[y] if y < len(lines) else ("hint", "")
        width = self.size.width
        return Strip([Segment(pad(f" {text}", width), self.style_of(f"notice--{kind}"))], width)


def _join_lines(text: str) -> str:
    """Return the text as one line, which the caller wraps to the width."""
    return " ".join(clean_lines(text, 12).split("\n"))
