"""A graph that stands still until what it shows is another one."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.widgets import Static

from app.engine.view.plot import PlotView

_LEAST_WIDTH, _LEAST_HEIGHT = 30, 6


class StillGraph(Static):
    """Lines with error bars, drawn as large as its place."""

    DEFAULT_CSS = "StillGraph { height: 1fr; min-height: 8; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._view: PlotView | None = None
        self._seen: object = None

    def show(self, view: PlotView | None, state: object) -> None:
        """Draws it, unless `state` says that it is the same as before."""
        if state != self._seen:
            self._view, self._seen = view, state
            self._draw()

    def on_resize(self, _: events.Resize) -> None:
        """Draws at the new size."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.content_size
        if not width:  # not laid out yet
            return
        if self._view is None or width < _LEAST_WIDTH or height < _LEAST_HEIGHT:
            self.update("")
            return
        from app.plotting import drawn

        text = drawn(self._view, width, height, ascii_only=bool(getattr(self.app, "ascii", False)))
        self.update(Text.from_ansi(text) if text else "waiting for the first runs")
