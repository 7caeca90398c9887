"""Widget that paints a static plot in the size of the widget."""

from __future__ import annotations

import asyncio

from rich.text import Text
from textual import events
from textual.widgets import Static

from widgets.plot_render.plot_data import StaticPlot
from widgets.plot_render.style import LEAST_BESIDE, PALETTE, PlotStyle, too_small
from widgets.text_utils.text import wrap

PAUSE = 0.08
"""Seconds to wait for another resize before painting. Dragging a window causes dozens of resizes."""


class StaticPlotView(Static):
    """Widget that paints a plot, or shows the reason why there is none. Painting runs in a thread."""

    DEFAULT_CSS = "StaticPlotView { height: 1fr; min-height: 3; }"

    def __init__(self, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.ascii = ascii
        """Whether to use only ASCII characters."""
        self.picture: StaticPlot | None = None
        """Plot that is shown; None for none."""
        self._last_key: object = None

    def show(self, picture: StaticPlot | None) -> None:
        """Show another plot; None shows nothing."""
        if picture == self.picture and picture is not None:
            return
        self.picture = picture
        self._begin()

    def on_resize(self, event: events.Resize) -> None:
        """Paint the plot again at the new size."""
        self._begin()

    def _begin(self) -> None:
        if self.size.width and self.size.height:
            # Pass the function and not a coroutine: if a newer worker replaces this one before it starts, a coroutine
            # would never be awaited.
            self.run_worker(self._paint, exclusive=True, group="picture")  # type: ignore[arg-type]

    async def _paint(self) -> None:
        picture, size = self.picture, self.content_size
        if picture is None:
            self._last_key = None
            self.update("")
            return
        key = (picture, size, self.ascii)
        if key == self._last_key:
            return
        if self._last_key is not None:
            await asyncio.sleep(PAUSE)
        style = PlotStyle(width=size.width, height=size.height, palette=PALETTE, ascii=self.ascii, least=LEAST_BESIDE)
        if picture.data is None or (reason := too_small(style)):
            rows = self._sentence_rows(*((picture.why, picture.keys) if picture.data is None else (reason,)))
        else:
            rows = await asyncio.to_thread(_paint_rows, picture, style)
        self._last_key = key
        self.update(Text.from_ansi("\n".join(rows), no_wrap=True, overflow="crop"))

    def _sentence_rows(self, *sentences: str) -> list[str]:
        return [
            "",
            *(f" {row}" for row in wrap(" ".join(filter(None, sentences)), max(10, self.content_size.width - 2))),
        ]


def _paint_rows(picture: StaticPlot, style: PlotStyle) -> list[str]:
    from widgets.plot_render.painter import paint  # imports plotext, which must load only when needed

    return paint(picture, style)
