"""A screen that sends only the changed part of a line, where Textual sends the line from the widget's left edge."""

from __future__ import annotations

from typing import TypeVar

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor
from textual.screen import Screen

Result = TypeVar("Result")


class SparseUpdate(ChopsUpdate):
    """Textual's update of the changed spans, cropped at both ends instead of only the right one."""

    def render_segments(self, console: Console) -> str:
        """The escape sequences and text of the changed spans."""
        out: list[str] = []
        for y, left, right in self.spans:
            for end, (start, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or start >= right or end <= left:
                    continue
                first, last = max(left, start), min(right, end)
                out.append(Control.move_to(first, y).segment.text)
                out.append(strip.crop(first - start, last - start).render(console))
        return "".join(out)


class SparseCompositor(Compositor):
    """Textual's compositor with sparse updates."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """The update of the dirty regions, or `None` when there are none."""
        update = super().render_partial_update()
        return update and SparseUpdate(update.chops, update.spans, update.chop_ends)


class SparseScreen(Screen[Result]):
    """A screen for live widgets: on a slow line a new sample costs bytes for its own cells only."""

    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._compositor = SparseCompositor()
