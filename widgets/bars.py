"""One-line bars: the progress of a job, and a share in a table cell."""

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
"""Characters that fill zero to seven eighths of a cell."""


def share_bar(share: float, width: int = 10, *, ascii: bool = False) -> Text:
    """Return a horizontal bar for a table cell.

    `share`: from 0 to 1; other values are limited to this range, and NaN gives an empty bar. `width`: cells of a full
    bar. `ascii`: use only ASCII characters.
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
    """Progress of a job."""

    phase: str
    """Current activity, such as `laying out the file`, `ramp` or `measuring`."""
    fraction: float | None = None
    """Completed share, from 0 to 1; None if unknown."""
    elapsed: float | None = None
    """Seconds since the start; None if unknown."""
    total: float | None = None
    """Total duration in seconds; None if unknown."""
    eta: float | None = None
    """Remaining seconds; None if unknown."""


_STYLES = {
    "phase": "text-style: bold;",
    "bar": "color: $primary;",
    "rest": "color: $border-blurred;",
    "text": "color: $foreground;",
}
"""CSS rules of the component classes, by name."""


class ProgressLine(StyleCachedWidget):
    """One line with the phase, a bar, the percentage, and the elapsed and remaining time."""

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("progress-line", _STYLES)

    DEFAULT_CSS = f"""
    ProgressLine {{
        height: 1;
        {component_css("progress-line", _STYLES)}
    }}
    """

    progress: reactive[Progress | None] = reactive(None, repaint=False)
    """Progress to show; None for an empty line."""
    ascii: reactive[bool] = reactive(False)
    """Whether to use only ASCII characters."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pieces: tuple[tuple[str, str], ...] = ()

    def watch_progress(self) -> None:
        """Repaint if the text of the line changes."""
        pieces = self._compose_line(self.size.width)
        if pieces != self._pieces:
            before, after = ("".join(text for _, text in line) for line in (self._pieces, pieces))
            # `refresh_difference` compares characters only. In ASCII, a cell may change only its style, so repaint all.
            self.refresh() if self.ascii else self.refresh_difference(before, after)

    def render_line(self, y: int) -> Strip:
        """Return the line, or a blank line below it."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.style_of(""))
        self._pieces = self._compose_line(width)
        segments = [Segment(text, self.style_of(f"progress-line--{kind}")) for kind, text in self._pieces if text]
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _compose_line(self, width: int) -> tuple[tuple[str, str], ...]:
        """Return the style name and the text of each piece of the line.

        The bar gets the remaining width, at most 40 cells.
        """
        progress = self.progress
        if progress is None:
            return ()
        phase = shorten(clean(progress.phase), width)
        text = _progress_text(progress)
        has_fraction = progress.fraction is not None and progress.fraction == progress.fraction
        bar_width = min(40, width - width_of(phase) - width_of(text) - 3)
        if not has_fraction or bar_width < 4:
            return (("phase", phase), ("text", shorten(f"  {text}", width - width_of(phase))))
        fraction = min(max(progress.fraction or 0.0, 0.0), 1.0)
        filled = int(fraction * bar_width + 1e-9)
        done_sign, rest_sign = ("#", ".") if self.ascii else ("━", "─")
        return (
            ("phase", f"{phase} "),
            ("bar", done_sign * filled),
            ("rest", rest_sign * (bar_width - filled)),
            ("text", f"  {text}"),
        )


def _progress_text(progress: Progress) -> str:
    """Return a string such as `42 %  0:25 of 1:00  ETA 0:35`. Unknown parts are left out."""
    pieces: list[str] = []
    if progress.fraction is not None and progress.fraction == progress.fraction:
        pieces.append(f"{int(min(max(progress.fraction, 0.0), 1.0) * 100 + 1e-9):3d} %")
    if progress.elapsed is not None:
        total = f" of {units.elapsed(progress.total)}" if progress.total is not None else ""
        pieces.append(units.elapsed(progress.elapsed) + total)
    if progress.eta is not None:
        pieces.append(f"ETA {units.elapsed(progress.eta)}")
    return "  ".join(pieces)
