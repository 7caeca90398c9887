"""A framed part of a screen. Its title says what it is, its frame whether the keys go into it."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from widgets.text_utils.text import clean


class Pane(Vertical):
    """Widgets in a frame, which is bright with a bold title while one of them, or the pane itself, has the focus.

    A screen puts what belongs together into one: `with Pane("Devices", id="devices-list"): yield KeyedTable(...)`.
    Give it its width or height by its id; its content may fill it. A pane without anything that takes keys, a graph
    say, is `focusable`, so that Tab goes there too. `note` is a word in the lower edge: a count, or where one is.
    """

    DEFAULT_CSS = """
    Pane {
        border: round $border-blurred;
        border-title-color: $text-muted;
        border-title-background: $background;
        border-subtitle-color: $text-muted;
        border-subtitle-background: $background;
        &:focus, &:focus-within {
            border: round $border;
            border-title-color: $foreground;
            border-title-style: bold;
        }
    }
    """

    title: reactive[str] = reactive("", repaint=False)
    """What the pane is, in its upper edge; any text is only text."""
    note: reactive[str] = reactive("", repaint=False)
    """What is said in its lower edge; "" for nothing."""

    def __init__(
        self,
        title: str,
        *children: Widget,
        note: str = "",
        focusable: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(*children, id=id)
        self.can_focus = focusable
        self.title = title
        self.note = note

    def watch_title(self, title: str) -> None:
        """Writes it into the upper edge."""
        self.border_title = Content(clean(title))

    def watch_note(self, note: str) -> None:
        """Writes it into the lower edge."""
        self.border_subtitle = Content(clean(note)) if note else None


def pane_of(widget: Widget | None) -> Pane | None:
    """The pane that a widget is, or stands in."""
    widgets = () if widget is None else widget.ancestors_with_self
    return next((ancestor for ancestor in widgets if isinstance(ancestor, Pane)), None)
