"""Facts stand in two columns and wrap under themselves."""

from __future__ import annotations

import pytest

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.details import Detail, Details, FactGroup


async def lines_of(*facts: Detail, heading: str = "", width: int = 40) -> list[str]:
    app = Stage(Details((FactGroup(heading=heading, facts=facts),)))
    async with app.run_test(size=(width, 12)):
        return [line.rstrip() for line in screen_text(app).splitlines()]


async def test_values_are_aligned() -> None:
    lines = await lines_of(Detail(label="Model", value="ST4000"), Detail(label="Firmware", value="SN04"))
    assert lines[0].index("ST4000") == lines[1].index("SN04")


async def test_a_long_value_wraps_under_itself() -> None:
    lines = await lines_of(Detail(label="State", value="degraded because member three is missing since noon"))
    assert lines[1] == "       missing since noon"


async def test_a_group_carries_its_heading() -> None:
    assert (await lines_of(Detail(label="Strip", value="64 KiB"), heading="Geometry"))[0] == "Geometry"


async def test_changed_facts_are_shown() -> None:
    details = Details()
    app = Stage(details)
    async with app.run_test(size=(40, 5)) as pilot:
        details.groups = (FactGroup(facts=(Detail(label="", value="no battery"),)),)
        await pilot.pause()
        assert "no battery" in screen_text(app)


@pytest.mark.parametrize("width", [1, 3, 9, 40])
@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_fact_is_only_text(text: str, width: int) -> None:
    assert "".join(await lines_of(Detail(label=text, value=text), heading=text, width=width)).isprintable()
