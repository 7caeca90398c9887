"""What apps without a terminal share or leave out: half the time of a test on screens would go there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.pilot import Pilot
from textual.screen import Screen

PARSE, UPDATE = Stylesheet._parse_rules, Compositor.render_update
"""Textual's own, for tests of how often they are called."""


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once() -> Iterator[None]:
    """Every app has the same ones: to parse them anew takes a sixth of the time that it takes to open one."""
    parsed: dict[object, list[RuleSet]] = {}

    def once(
        sheet: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        given = (css, read_from, is_default_rules, tie_breaker, scope)
        key = (*given, tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = PARSE(sheet, *given)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def drawn_at_rest() -> Iterator[None]:
    """A screen is drawn each time it has come to rest, not sixty times a second on its way there: nobody looks at that.

    Whatever a test reads of the screen is drawn for it besides. Programs in a real terminal draw as ever.
    """

    def when_asked(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[object]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        return UPDATE(compositor, full, screen_stack, simplify) if full else None

    def then_drawn(act: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def acted(pilot: Pilot[object], *given: object) -> None:
            await act(pilot, *given)
            UPDATE(pilot.app.screen._compositor, screen_stack=pilot.app._background_screens)

        return acted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", when_asked)
        patch.setattr(Pilot, "pause", then_drawn(Pilot.pause))
        patch.setattr(Pilot, "press", then_drawn(Pilot.press))
        yield
