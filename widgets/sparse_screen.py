"""Screen that sends only changed cells to the terminal. Textual itself sends longer parts of lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from rich.console import Console
from textual import events
from textual._compositor import Compositor, CompositorUpdate, LayoutUpdate
from textual.geometry import Region, Size
from textual.strip import Strip

from widgets.screen_lifecycle import SafeScreen
from widgets.terminal_diff import Piece, ShownCells

Result = TypeVar("Result")

Spans = dict[int, list[tuple[int, int]]]
"""Spans of columns (begin and end) that have to be drawn, by row."""


class SparseUpdate(CompositorUpdate):
    """Update of changed spans. It sends only cells that differ from those on the terminal."""

    def __init__(self, pieces: list[Piece], shown: ShownCells) -> None:
        """`pieces`: parts of lines to show, which must not overlap. `shown`: the cells on the terminal."""
        self._pieces = pieces
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences and texts that show the changed cells."""
        return self._shown.sequence(self._pieces, console)


class WholeUpdate(LayoutUpdate):
    """Update that sends the complete screen, also cells that the terminal already shows."""

    def __init__(self, strips: list[Iterable[Strip]], region: Region, shown: ShownCells) -> None:
        super().__init__(strips, region)
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences and texts that show all cells."""
        pieces: list[Piece] = []
        for y, line in enumerate(self.strips, self.region.y):
            x = self.region.x
            for strip in line:
                pieces.append((y, x, x + strip.cell_length, strip))
                x += strip.cell_length
        self._shown.forget()
        return self._shown.sequence(pieces, console)


class SparseCompositor(Compositor):
    """Compositor that renders only widgets within changed spans, and of these only the changed lines."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = ShownCells()

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        """Return the update of the complete screen. `simplify`: whether the output is not a terminal."""
        update = super().render_full_update(simplify)
        return update if simplify else WholeUpdate(update.strips, update.region, self._shown)

    def render_partial_update(self) -> SparseUpdate | None:  # type: ignore[override]
        """Return the update of the changed regions; None if there are none."""
        screen = self.size.region
        regions = [changed for region in self._dirty_regions if (changed := region.intersection(screen))]
        self._dirty_regions.clear()
        if not regions:
            return None
        spans: Spans = {}
        for y, left, right in self._regions_to_spans(regions):
            spans.setdefault(y, []).append((left, right))
        pieces: list[Piece] = []
        # Textual renders complete lines of every widget, which causes most of the output. Here, the frontmost widget
        # takes its part of each span, so that nothing is sent twice.
        for widget, (region, clip) in self.visible_widgets.items():  # sorted from the front to the back
            if not spans:
                break
            area = region.intersection(clip)
            rows = [
                y
                for y in sorted(spans)
                if area.y <= y < area.bottom and any(a < area.right and b > area.x for a, b in spans[y])
            ]
            if not rows:
                continue
            first = rows[0]
            lines = Region(area.x - region.x, first - region.y, area.width, rows[-1] - first + 1)
            strips = widget.render_lines(lines)
            for y in rows:
                spans[y] = _fill(spans[y], area, y, strips[y - first], pieces)
                if not spans[y]:
                    del spans[y]
        return SparseUpdate(pieces, self._shown)


def _fill(
    spans: list[tuple[int, int]], area: Region, y: int, strip: Strip, pieces: list[Piece]
) -> list[tuple[int, int]]:
    """Add the parts of the spans that `strip` covers to `pieces`, and return the spans that are left."""
    rest: list[tuple[int, int]] = []
    for left, right in spans:
        a, b = max(left, area.x), min(right, area.right)
        if a >= b:
            rest.append((left, right))
            continue
        pieces.append((y, a, b, strip.crop(a - area.x, b - area.x)))
        rest += [span for span in ((left, a), (b, right)) if span[0] < span[1]]
    return rest


class BufferedScreen(SafeScreen[Result]):
    """Screen that is laid out and drawn only once, when it is complete.

    Textual 8.2 does more work. It draws a screen that comes to the front with its old contents, and draws it again
    after widgets have reacted to their size. It also repeats the layout if the size has not changed.

    Textual 8.2 also loses changes: if a part of the screen below changes, it draws that part of this screen, and drops
    the changed widgets of this screen. A dialog above live values then shows an old label.
    """

    _to_be_drawn = False

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        # Textual calls its own handler after this method.
        self._to_be_drawn = True  # Textual's handler starts a timer, which then draws the screen

    def _on_timer_update(self) -> None:
        self._to_be_drawn = False
        if self._repaint_required and self.is_current and not self.app._batch_count:
            self._compositor.update_widgets(self._dirty_widgets)  # Textual's method drops them
        super()._on_timer_update()

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:
            super()._screen_resized(size)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self._layout_required = False  # only requests from here on need another layout
        super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        if self._to_be_drawn or self.app._batch_count:
            return
        self._compositor.update_widgets(self._dirty_widgets)  # Textual's method drops them
        is_full = self.size.region in self._compositor._dirty_regions
        super()._compositor_refresh()
        if is_full:
            self._repaint_required = False
            self._exchange_repaint_regions()


class SparseScreen(BufferedScreen[Result]):
    """Screen for live widgets. For a new sample, only the cells that it changes are sent."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = SparseCompositor()
