"""A screen that sends only what differs from what is shown, where Textual sends lines from the widget's left edge."""

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
"""By row, the spans that are still to be filled."""


class SparseUpdate(CompositorUpdate):
    """The changed spans, and of them what differs from what is shown."""

    def __init__(self, pieces: list[Piece], shown: ShownCells) -> None:
        """`pieces` do not overlap."""
        self._pieces = pieces
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """The escape sequences and text of what differs."""
        return self._shown.sequence(self._pieces, console)


class WholeUpdate(LayoutUpdate):
    """All of the screen, whatever is shown."""

    def __init__(self, strips: list[Iterable[Strip]], region: Region, shown: ShownCells) -> None:
        super().__init__(strips, region)
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """The escape sequences and text of every cell."""
        pieces: list[Piece] = []
        for y, line in enumerate(self.strips, self.region.y):
            x = self.region.x
            for strip in line:
                pieces.append((y, x, x + strip.cell_length, strip))
                x += strip.cell_length
        self._shown.forget()
        return self._shown.sequence(pieces, console)


class SparseCompositor(Compositor):
    """Textual's compositor with sparse updates: asks only the widgets that show in a changed span, for those lines."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = ShownCells()

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        """The update of the whole screen; `simplify` for one that is no terminal."""
        update = super().render_full_update(simplify)
        return update if simplify else WholeUpdate(update.strips, update.region, self._shown)

    def render_partial_update(self) -> SparseUpdate | None:  # type: ignore[override]
        """The update of the dirty regions, or `None` when there are none."""
        screen = self.size.region
        regions = [changed for region in self._dirty_regions if (changed := region.intersection(screen))]
        self._dirty_regions.clear()
        if not regions:
            return None
        spans: Spans = {}
        for y, left, right in self._regions_to_spans(regions):
            spans.setdefault(y, []).append((left, right))
        pieces: list[Piece] = []
        # Textual asks every widget for whole lines; over a slow link that is most of the bytes. The front one takes its
        # part of a span away, so nothing is sent twice and nothing shows through.
        for widget, (region, clip) in self.visible_widgets.items():  # from the front to the back
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
            wanted = Region(area.x - region.x, first - region.y, area.width, rows[-1] - first + 1)
            strips = widget.render_lines(wanted)
            for y in rows:
                spans[y] = _fill(spans[y], area, y, strips[y - first], pieces)
                if not spans[y]:
                    del spans[y]
        return SparseUpdate(pieces, self._shown)


def _fill(
    spans: list[tuple[int, int]], area: Region, y: int, strip: Strip, pieces: list[Piece]
) -> list[tuple[int, int]]:
    """Takes what `strip` covers of the spans into `pieces`; what is left of them."""
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
    """A screen that is laid out and drawn when all is there, where Textual (8.2) does it at every step on the way.

    That one draws a screen that comes to the front, whatever it holds by then, and once more with what its widgets make
    of their size, and all of it again; it lays it out anew when it is told of the size that it has.
    """

    _to_be_drawn = False

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        # Textual's own handler is called after this one, by itself.
        self._to_be_drawn = True  # by the timer, which Textual's sets going

    def _on_timer_update(self) -> None:
        self._to_be_drawn = False
        super()._on_timer_update()

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:
            super()._screen_resized(size)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self._layout_required = False  # but for what asks for it from now on
        super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        if self._to_be_drawn or self.app._batch_count:
            return
        whole = self.size.region in self._compositor._dirty_regions
        super()._compositor_refresh()
        if whole:
            self._repaint_required = False


class SparseScreen(BufferedScreen[Result]):
    """A screen for live widgets: on a slow line a new sample costs bytes for its own cells only."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = SparseCompositor()
