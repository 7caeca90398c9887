"""What is said to the person at the keys: one line above the footer, which covers nothing."""

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

STAYS: Final[dict[SeverityLevel, float]] = {"information": 1.5, "warning": 2.0, "error": 6.0}
"""Seconds for which a notice stands whatever is typed; after that the next key takes it away."""

MOST_LINES: Final = 4
"""Lines that notices take of the screen at most; the log has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence or two."""

    message: str
    """What is said; lines are kept."""
    title: str = ""
    """What it is about; "" where that is plain."""
    severity: SeverityLevel = "information"
    """How much it matters."""
    at: float = field(default=0.0, compare=False)
    """When it was said, seconds since the epoch; what says the same at another time is the same."""
    passing: bool = field(default=False, compare=False)
    """Whether the next notice takes its place and the log does without it: a dead key, what is being done."""

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.title}: {self.message}" if self.title else self.message

    copied: str = field(default="", compare=False)
    """What of it is worth copying: a path, a command, what to do next."""


class Notices:
    """What was said, and what of it still stands."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._standing: list[tuple[float, Notice]] = []
        self.messages: list[Notice] = []
        """All of it that is worth a line of the log, in its order."""

    @property
    def standing(self) -> tuple[Notice, ...]:
        """What the line shows, the newest last."""
        return tuple(notice for _, notice in self._standing)

    def add(self, notice: Notice) -> None:
        """Say it, beside what is too young to have been read."""
        if not notice.passing:
            self.messages.append(notice)
        self.drop_read()
        self._standing = [(since, shown) for since, shown in self._standing if shown != notice and not shown.passing]
        self._standing.append((self._clock(), notice))

    @property
    def copyable_text(self) -> str:
        """A path, a command or an advice of the newest notice that has one; "" where none has."""
        return next((notice.copied for notice in reversed(self.messages) if notice.copied), "")

    def clear_transient_notice(self) -> None:
        """What goes on no longer, or is done."""
        self._standing = [(since, notice) for since, notice in self._standing if not notice.passing]

    def clear(self) -> None:
        """Nothing stands any more, and nothing was said."""
        self._standing.clear()
        self.messages.clear()

    def drop_read(self) -> None:
        """Drop what stood long enough: whoever types has read it."""
        now = self._clock()
        self._standing = [(since, notice) for since, notice in self._standing if now - since < STAYS[notice.severity]]


_COMMANDS = re.compile(r"`([^`]+)`")


def commands_in(text: str) -> str:
    """The commands that a sentence names, each in a line; the sentence where it names none."""
    return "\n".join(_COMMANDS.findall(text)) or text


def sentences(*parts: str | None) -> str:
    """What is said after one another, each with its full stop."""
    return " ".join(part if part[-1] in ".!?:" else f"{part}." for part in parts if part)


class NoticeLine(StyleCachedWidget):
    """The notices that stand, in as many lines as they take; while there are none, the hint of the screen.

    Its line is there all the time, so that nothing moves; on a short terminal only while it says something.
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
    """What is said."""
    hint: reactive[str] = reactive("", repaint=False)
    """What is said while there is nothing else: the thing under the cursor, or what to do next."""

    stays: reactive[bool] = reactive(False, repaint=False)
    """Whether the hint has a line of its own beneath the notices: what to do next is not pushed out by what was."""

    def watch_notices(self) -> None:
        """Says it."""
        self._say()

    def watch_hint(self) -> None:
        """Says it."""
        self._say()

    def on_resize(self) -> None:
        """Another width takes other lines."""
        self._say()

    def _say(self) -> None:
        self.set_class(not self.notices and not self.hint, "-silent")
        height = max(1, len(self._lines())) if self.notices else 1
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.refresh()

    def _lines(self) -> list[tuple[str, str]]:
        """Style and text of each line; what there is no room for is cut."""
        room = max(1, self.size.width - 2)
        if not self.notices:
            return [("hint", shorten(plain(self.hint), room))] if self.hint else []
        beneath = [("hint", shorten(plain(self.hint), room))] if self.stays and self.hint else []
        most = MOST_LINES - len(beneath)
        lines = [(notice.severity, line) for notice in self.notices for line in wrap(_flat(notice.text), room)]
        if len(lines) <= most:
            return [*lines, *beneath]
        *first, (severity, last) = lines[:most]
        return [*first, (severity, shorten(f"{last} {lines[most][1]}", room)), *beneath]

    def render_line(self, y: int) -> Strip:
        """A line of what is said."""
        lines = self._lines()
        kind, text = lines[y] if y < len(lines) else ("hint", "")
        width = self.size.width
        return Strip([Segment(pad(f" {text}", width), self.style_of(f"notice--{kind}"))], width)


def _flat(text: str) -> str:
    """Its lines after one another: the width decides where they break."""
    return " ".join(clean_lines(text, 12).split("\n"))
