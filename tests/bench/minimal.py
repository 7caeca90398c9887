"""The smallest Textual app: what every other one is compared with."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static


class Minimal(App[None]):
    """One word on the screen."""

    def compose(self) -> ComposeResult:
        """The word."""
        yield Static("hello")


if __name__ == "__main__":
    Minimal().run()
