"""One-line bars: the progress of a job, and a share for the cell of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.reactive import reactive
from textual.strip import Strip

from widgets.cached_styles import StyleCachedWidget, component_classes, component_css
from widgets.text_utils import units
from widgets.text_utils.text import clean, shorten, width_of

EIGHTHS = " ▏▎▍▌▋▊▉"
"""Blocks that fill none to seven eighths of a cell."""


def share_bar(share: float, width: int = 10, *, ascii: bool = False) -> Text:
    """A horizontal bar for the cell of a table.

    Args:
        share: From 0 to 1; what lies beyond is drawn as the nearer end, NaN as nothing.
        width: Cells the whole bar takes.
        ascii: Whether to draw without UTF-8.
    """
    share = min(max(share, 0.0), 1.0) if share == share else 0.0
    width = max(0, width)
    if ascii:
        filled = round(share * width)
        return Text("#" * filled + "." * (width - filled))
    eighths = round(share * width * 8)
    bar = "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")
    return Text(bar.ljust(width))


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a job has come."""

    phase: str
    """What it is doing: `laying out the file`, `ramp`, `measuring`."""
    fraction: float | None = None
    """The part that is done, 0 to 1; `None` when that cannot be known."""
    elapsed: float | None = None
    """Seconds since it began."""
    total: float | None = None
    """Seconds the whole takes, when known."""
    eta: float | None = None
    """Seconds left, when known."""


_STYLES = {
    "phase": "text-style: bold;",
    "bar": "color: $primary;",
    "rest": "color: $border-blurred;",
    "text": "color: $foreground;",
}
"""Component classes and their rules."""


class ProgressLine(StyleCachedWidget):
    """Phase, bar, percent, elapsed and remaining time in one line."""

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("progress-line", _STYLES)

    DEFAULT_CSS = f"""
    ProgressLine {{
        height: 1;
        {component_css("progress-line", _STYLES)}
    }}
    """

    progress: reactive[Progress | None] = reactive(None, repaint=False)
    """What is shown; `None` shows an empty line."""
    ascii: reactive[bool] = reactive(False)
    """Whether to draw without UTF-8."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pieces: tuple[tuple[str, str], ...] = ()

    def watch_progress(self) -> None:
        """Repaints when the line reads differently."""
        pieces = self._compose_line(self.size.width)
        if pieces != self._pieces:
            before, after = ("".join(text for _, text in line) for line in (self._pieces, pieces))
            # The bar's done and remaining parts may be one character in two styles.
            self.refresh() if self.ascii else self.refresh_difference(before, after)

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.style_of(""))
        self._pieces = self._compose_line(width)
        segments = [Segment(text, self.style_of(f"progress-line--{kind}")) for kind, text in self._pieces if text]
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _compose_line(self, width: int) -> tuple[tuple[str, str], ...]:
        """The pieces of the line: the bar takes the room the words leave, up to 40 cells."""
        progress = self.progress
        if progress is None:
            return ()
        phase = shorten(clean(progress.phase), width)
        text = _progress_text(progress)
        measurable = progress.fraction is not None and progress.fraction == progress.fraction
        room = min(40, width - width_of(phase) - width_of(text) - 3)
        if not measurable or room < 4:
            return (("phase", phase), ("text", shorten(f"  {text}", width - width_of(phase))))
        fraction = min(max(progress.fraction or 0.0, 0.0), 1.0)
        filled = int(fraction * room + 1e-9)
        done, rest = ("#", ".") if self.ascii else ("━", "─")
        return (
            ("phase", f"{phase} "),
            ("bar", done * filled),
            ("rest", rest * (room - filled)),
            ("text", f"  {text}"),
        )


def _progress_text(progress: Progress) -> str:
    """`42 %  0:25 of 1:00  ETA 0:35`, as much of it as is known."""
    pieces: list[str] = []
    if progress.fraction is not None and progress.fraction == progress.fraction:
        pieces.append(f"{int(min(max(progress.fraction, 0.0), 1.0) * 100 + 1e-9):3d} %")
    if progress.elapsed is not None:
        total = f" of {units.elapsed(progress.total)}" if progress.total is not None else ""
        pieces.append(units.elapsed(progress.elapsed) + total)
    if progress.eta is not None:
        pieces.append(f"ETA {units.elapsed(progress.eta)}")
    return "  ".join(pieces)
