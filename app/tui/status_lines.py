"""The trial line and the footer."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.reactive import reactive
from textual.strip import Strip

from app.tui.commands import COMMANDS, fitting_keys, footer_keys, shown_keys
from widgets.cached_styles import StyleCachedWidget
from widgets.text_utils.text import shorten, width_of


class TrialLine(StyleCachedWidget):
    """Active trials, the time left, and the keys to keep or revert them; hidden without trials."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"trial-line--words", "trial-line--key"}
    DEFAULT_CSS = """
    TrialLine {
        height: 1; background: $panel; display: none;
        & > .trial-line--words { text-style: bold; color: $text-warning; background: $panel; }
        & > .trial-line--key { text-style: bold; color: $text-accent; background: $panel; }
    }
    """
    text: reactive[str] = reactive("", repaint=False)
    """The text; "" hides the line."""

    decidable: reactive[bool] = reactive(True)
    """Whether this user may keep or revert the trials."""

    def watch_text(self, before: str, after: str) -> None:
        """Show, hide or repaint the line."""
        self.display = bool(after)
        if self.size.width:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render the keys, and as much of the text as fits."""
        text_style, key = self.style_of("trial-line--words"), self.style_of("trial-line--key")
        keymap = getattr(self.app, "custom_keys", {})
        keys = [
            (shown_keys(spec, keymap), spec.label) for spec in COMMANDS if self.decidable and spec.id in TRIAL_COMMANDS
        ]
        right = [
            Segment(text, style) for shown, label in keys for text, style in ((f" {shown} ", key), (label, text_style))
        ]
        room = self.size.width - sum(segment.cell_length for segment in right) - 3
        text = shorten(self.text, max(1, room))
        line = [Segment(f" {text}{' ' * max(0, room - width_of(text))} ", text_style), *right]
        return Strip(line).adjust_cell_length(self.size.width, text_style)


TRIAL_COMMANDS = ("app.keep-trial", "app.take-back")


class KeyLine(StyleCachedWidget):
    """The most useful keys of the focused pane."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label"}
    DEFAULT_CSS = """
    KeyLine {
        height: 1; dock: bottom; background: $panel;
        & > .key-line--key { text-style: bold; color: $text-accent; background: $panel; }
        & > .key-line--label { color: $foreground; background: $panel; }
    }
    """
    pane: reactive[str] = reactive("")
    """Id of the focused pane as `footer_of` expects it; "" for none."""
    over: reactive[tuple[tuple[str, str], ...] | None] = reactive(None)
    """Keys and labels of the open dialog, which replace those of the screen; None without a dialog."""

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._screen = screen

    def render_line(self, y: int) -> Strip:
        """Render as many keys and labels as fit."""
        key_style = self.style_of("key-line--key")
        label_style = self.style_of("key-line--label")
        width = self.size.width
        segments: list[Segment] = []
        if self.over is None:
            keys = footer_keys(self._screen, self.pane, width, getattr(self.app, "custom_keys", {}))
        else:
            keys = fitting_keys(self.over, width, [pair for pair in self.over if pair[0] == "esc"])
        for key, label in keys:
            segments.append(Segment(f" {key} ", key_style))
            segments.append(Segment(f"{label} ", label_style))
        return Strip(segments).adjust_cell_length(width, label_style)
