"""Part of a screen with a frame and a title. The frame shows whether the part has the focus."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from widgets.text_utils.text import clean


class Pane(Vertical):
    """Widgets in a frame. The frame is bright while the pane or one of its widgets has the focus.

    Put related widgets into one pane: `with Pane("Devices", id="devices-list"): yield KeyedTable(...)`. CSS rules for
    its ID set its size. A pane without focusable widgets, such as one with a graph, should be `focusable`, so that Tab
    reaches it. `note` is text in the lower edge, such as a count or a position.
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
    """Title in the upper edge. Markup is not interpreted."""
    note: reactive[str] = reactive("", repaint=False)
    """Text in the lower edge; "" for none."""

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
        """Write the title into the upper edge."""
        self.border_title = Content(clean(title))

    def watch_note(self, note: str) -> None:
        """Write the note into the lower edge."""
        self.border_subtitle = Content(clean(note)) if note else None


def pane_of(widget: Widget | None) -> Pane | None:
    """Return the innermost pane that contains a widget, or the widget itself if it is a pane; None if there is none."""
    widgets = () if widget is None else widget.ancestors_with_self
    return next((ancestor for ancestor in widgets if isinstance(ancestor, Pane)), None)
