"""What the narrowed stylesheet applies is what Textual's own applies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from textual.css import stylesheet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.pilot import Pilot

from app.tui.commands import SCREENS
from tests.headless import PARSE
from tests.tui.stage import Table, app_of, opened

Applied = dict[tuple[str, str], dict[str, object]]


def applied(nodes: Iterable[DOMNode]) -> Applied:
    """The values of each node and of its component classes."""
    found: Applied = {}
    for at, node in enumerate(nodes):
        found[f"{at} {node.css_path_nodes}", ""] = dict(node.styles.base.get_rules())
        for name, styles in node._component_styles.items():
            found[f"{at} {node.css_path_nodes}", name] = dict(styles.base.get_rules())
    return found


def as_textual_does(pilot: Pilot[int]) -> Applied:
    """The same from Textual's own stylesheet."""
    app = app_of(pilot)
    own = Stylesheet(variables=app.get_css_variables())
    own.source = dict(app.stylesheet.source)
    own.parse()
    own.update(app.screen)
    return applied(app.screen.walk_children(with_self=True))


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_every_screen_is_styled_as_textual_styles_it(table: Table, size: tuple[int, int]) -> None:
    async with opened(table, size) as pilot:
        for number, name in enumerate(SCREENS, 1):
            await pilot.press(str(number), "tab", "down")
            await pilot.pause()
            now = applied(app_of(pilot).screen.walk_children(with_self=True))
            assert now == as_textual_does(pilot), name


async def test_another_theme_styles_every_part_anew(table: Table) -> None:
    async with opened(table) as pilot:
        app_of(pilot).choose_theme("light")
        await pilot.pause()
        now = applied(app_of(pilot).screen.walk_children(with_self=True))
        assert now == as_textual_does(pilot)


@pytest.mark.long
async def test_what_a_widget_is_asked_for_by_the_rules_above_it_styles_it_anew(table: Table) -> None:
    async with opened(table, (160, 50)) as pilot:
        for size in ((80, 24), (160, 50)):  # classes of the screen say how much room there is
            await pilot.resize_terminal(*size)
            await pilot.pause()
            now = applied(app_of(pilot).screen.walk_children(with_self=True))
            assert now == as_textual_does(pilot), size


async def test_nothing_is_styled_anew_of_which_no_rule_asks_anything_new(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(table) as pilot:
        app = app_of(pilot)
        styled: list[DOMNode] = []
        monkeypatch.setattr(Stylesheet, "replace_rules", lambda node, *_, **__: styled.append(node))
        app.stylesheet.update(app.screen)
        app.screen.add_class("-that-no-rule-names")
        assert styled == []


@pytest.mark.long
async def test_no_source_is_parsed_twice_for_the_same_colours(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[tuple[object, int]] = []
    parse = vars(stylesheet)["parse"]

    def counted(scope: str, css: str, read_from: object, **words: Any) -> object:
        parsed.append((read_from, words["tie_breaker"]))  # how near a class is to the widgets that are there
        return parse(scope, css, read_from, **words)

    monkeypatch.setattr(Stylesheet, "_parse_rules", PARSE)
    monkeypatch.setattr(stylesheet, "parse", counted)
    async with opened(table) as pilot:
        for number in range(1, 6):
            await pilot.press(str(number))
            await pilot.pause()
        sources = app_of(pilot).stylesheet.source
        assert {read_from for read_from, _ in parsed} == sources.keys()
        assert len(parsed) == len(set(parsed))
        app_of(pilot).choose_theme("light")
        await pilot.pause()
        assert len(parsed) == len(set(parsed)) + len(sources)
