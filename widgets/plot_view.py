"""A picture that stands still, painted to the size it has."""

from __future__ import annotations

import asyncio

from rich.text import Text
from textual import events
from textual.widgets import Static

from widgets.plot_render.plot_data import StaticPlot
from widgets.plot_render.style import LEAST_BESIDE, PALETTE, PlotStyle, too_small
from widgets.text_utils.text import wrap

PAUSE = 0.08
"""Seconds without another size before one is painted: a window that is dragged asks for dozens."""


class StaticPlotView(Static):
    """Paints in a thread, once for each picture and size; a sentence where there is nothing to paint."""

    DEFAULT_CSS = "StaticPlotView { height: 1fr; min-height: 3; }"

    def __init__(self, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.ascii = ascii
        """Draw with ASCII only."""
        self._picture: StaticPlot | None = None
        self._paint_rows: object = None

    @property
    def picture(self) -> StaticPlot | None:
        """What is shown; None for nothing."""
        return self._picture

    def show(self, picture: StaticPlot | None) -> None:
        """Paints another picture; nothing at all with None."""
        if picture == self._picture and picture is not None:
            return
        self._picture = picture
        self._begin()

    def on_resize(self, event: events.Resize) -> None:
        """Paints it anew."""
        self._begin()

    def _begin(self) -> None:
        if self.size.width and self.size.height:
            # Not a coroutine: one that a newer picture replaces before it began would never be awaited.
            self.run_worker(self._paint, exclusive=True, group="picture")  # type: ignore[arg-type]

    async def _paint(self) -> None:
        picture, size = self._picture, self.content_size
        if picture is None:
            self._paint_rows = None
            self.update("")
            return
        wanted = (picture, size, self.ascii)
        if wanted == self._paint_rows:
            return
        if self._paint_rows is not None:
            await asyncio.sleep(PAUSE)
        look = PlotStyle(width=size.width, height=size.height, palette=PALETTE, ascii=self.ascii, least=LEAST_BESIDE)
        if picture.data is None or (why := too_small(look)):
            rows = self._sentence_rows(*((picture.why, picture.keys) if picture.data is None else (why,)))
        else:
            rows = await asyncio.to_thread(_paint_rows, picture, look)
        self._paint_rows = wanted
        self.update(Text.from_ansi("\n".join(rows), no_wrap=True, overflow="crop"))

    def _sentence_rows(self, *sentences: str) -> list[str]:
        return [
            "",
            *(f" {row}" for row in wrap(" ".join(filter(None, sentences)), max(10, self.content_size.width - 2))),
        ]


def _paint_rows(picture: StaticPlot, look: PlotStyle) -> list[str]:
    from widgets.plot_render.painter import paint  # with plotext, which is never there before it is needed

    return paint(picture, look)
