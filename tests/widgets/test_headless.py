"""Tests draw a screen when it has come to rest: what cannot be drawn still fails."""

from __future__ import annotations

import pytest
from textual.strip import Strip
from textual.widget import Widget

from tests.widgets.stage import Stage


class Breaking(Widget, can_focus=True):
    """Cannot be drawn once a key has been pressed."""

    broken = False

    def render_line(self, y: int) -> Strip:
        if self.broken:
            raise ZeroDivisionError
        return Strip.blank(self.size.width)

    def key_x(self) -> None:
        """Breaks it."""
        self.broken = True
        self.refresh()


async def test_a_screen_that_cannot_be_drawn_fails_a_test_that_does_not_read_it() -> None:
    with pytest.raises(ZeroDivisionError):
        async with Stage(Breaking()).run_test() as pilot:
            await pilot.press("x")
