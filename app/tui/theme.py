"""The colours by meaning, for a dark background, a light one, and the terminal's own sixteen colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual.theme import Theme

from backends.values import dataclass

PREFIX: Final = "raidbench-"
"""Prefix of raidbench's themes among the themes of Textual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeColours:
    """Text and background colours. Every text has a contrast of at least 4.5:1 on every background."""

    text: str
    """Colour of normal text."""
    dim: str
    """Colour of text of low importance: labels, headings, unused items."""
    accent: str
    """Colour of the focus, of keys and of names."""
    good: str
    """Colour that means healthy, verified or faster."""
    attention: str
    """Colour that means busy, at risk or doubtful."""
    bad: str
    """Colour that means failed, destroys data or slower."""
    staged: str
    """Colour of values that are staged and not yet applied."""
    baseline: str
    """Colour of the baseline."""
    ground: str
    """Default background."""
    raised: str
    """Background of dialogs and fields."""
    edge: str
    """Background of the lines above and below a screen."""
    cursor: str
    """Background of the row under the cursor."""
    cursor_away: str
    """Background of the row under the cursor while another widget has the focus."""
    frame: str
    """Colour of the frames of panes without focus; never used for text."""
    cursor_style: str = "bold"
    """Text style under the cursor."""

    @property
    def variables(self) -> dict[str, str]:
        """Values of raidbench's style variable `$staged`, and of those that Textual and the package `widgets` use."""
        return {
            "staged": self.staged,
            # Names of the same colours in the package `widgets` and in Textual.
            "text-muted": self.dim,
            "text-disabled": self.dim,
            "text-primary": self.accent,
            "text-secondary": self.baseline,
            "text-accent": self.accent,
            "text-success": self.good,
            "text-warning": self.attention,
            "text-error": self.bad,
            "surface-active": self.raised,
            "primary-muted": self.cursor,
            "foreground-muted": self.dim,
            "foreground-disabled": self.dim,
            "border": self.accent,
            "border-blurred": self.frame,
            "block-cursor-foreground": self.text,
            "block-cursor-background": self.cursor,
            "block-cursor-text-style": self.cursor_style,
            "block-cursor-blurred-foreground": self.text,
            "block-cursor-blurred-background": self.cursor_away,
            "block-hover-background": self.cursor_away,
            "input-cursor-background": self.text,
            "input-cursor-foreground": self.ground,
            "input-selection-background": self.cursor,
            "input-selection-foreground": self.text,
            "scrollbar": self.frame,
            "scrollbar-hover": self.dim,
            "scrollbar-active": self.accent,
            "scrollbar-background": self.ground,
            "scrollbar-background-hover": self.ground,
            "scrollbar-background-active": self.ground,
            "scrollbar-corner-color": self.ground,
            "ansi-background": self.ground,
            "ansi-foreground": self.text,
        }

    def theme(self, name: str, *, dark: bool = True, ansi: bool = False) -> Theme:
        """Return the colours as a Textual theme."""
        return Theme(
            name=PREFIX + name,
            primary=self.accent,
            secondary=self.baseline,
            warning=self.attention,
            error=self.bad,
            success=self.good,
            accent=self.accent,
            foreground=self.text,
            background=self.ground,
            surface=self.raised,
            panel=self.edge,
            dark=dark,
            ansi=ansi,
            variables=self.variables,
        )


DARK: Final = ThemeColours(
    text="#dbe2ea",
    dim="#98a5b3",
    accent="#5cb3ff",
    good="#5fd08c",
    attention="#ffc457",
    bad="#ff8080",
    staged="#d3a2f2",
    baseline="#9fb0c0",
    ground="#101418",
    raised="#171d24",
    edge="#20252b",
    cursor="#1e2f5a",
    cursor_away="#2b3036",
    frame="#3a4653",
)
"""Colours for a dark background."""

LIGHT: Final = ThemeColours(
    text="#17202a",
    dim="#4f5b68",
    accent="#0055a5",
    good="#0a6332",
    attention="#6f4000",
    bad="#a8121d",
    staged="#6a2a9e",
    baseline="#4d5a68",
    ground="#fbfcfd",
    raised="#f2f5f8",
    edge="#e4e9ef",
    cursor="#cbe2fa",
    cursor_away="#dfe6ed",
    frame="#b4bfca",
)
"""Colours for a light background."""

TERMINAL: Final = ThemeColours(
    text="ansi_default",
    dim="ansi_default",
    accent="ansi_cyan",
    good="ansi_green",
    attention="ansi_yellow",
    bad="ansi_red",
    staged="ansi_magenta",
    baseline="ansi_default",
    ground="ansi_default",
    raised="ansi_default",
    edge="ansi_default",
    cursor="ansi_default",
    cursor_away="ansi_default",
    frame="ansi_default",
    cursor_style="bold reverse",
)
"""The terminal's own colours, which its user has chosen. Signs and bold text distinguish meanings that have no colour.
"""

_THEMES: Final = {
    "dark": DARK.theme("dark"),
    "light": LIGHT.theme("light", dark=False),
    "terminal": TERMINAL.theme("terminal", ansi=True),
}


def theme_of(name: str, environment: Mapping[str, str], colours: str | None) -> Theme:
    """Return the theme of that name; `auto` follows the terminal's own information.

    The background is the last field of COLORFGBG, as rxvt, Konsole and others set it. 7 and 15 are light (vim derives
    its `background` from it). Without the variable a dark background is assumed.

    Args:
        name: One of `THEMES` of the configuration.
        environment: The environment of the terminal.
        colours: Rich's name for the number of colours of the terminal; `standard` means sixteen.
    """
    if name in _THEMES:
        return _THEMES[name]
    if colours == "standard":
        return _THEMES["terminal"]
    return _THEMES["light" if environment.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"]
