"""Facts stand in two columns and wrap under themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.details import Detail, DetailColumns, Details, FactGroup


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


async def test_a_long_label_wraps_too_and_is_never_cut() -> None:
    facts = (Detail(label="PCI address of it", value="0000:03:00.0"), Detail(label="PCI slot", value="3"))
    assert (await lines_of(*facts, width=30))[:3] == [
        "PCI         0000:03:00.0",
        "address of",
        "it",
    ]


async def test_no_comma_has_a_line_of_its_own() -> None:
    items = ("megaraid:/c0/e245/s1", "megaraid:/c0/e245/s2", "megaraid:/c0/e245/s3")
    lines = await lines_of(Detail(label="Members", value=", ".join(items)), width=29)
    assert [line[9:] for line in lines[:4]] == [*items, ""]


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


def columns_of(sizes: list[int], width: int) -> list[list[str]]:
    """Lines of groups of facts called A0, A1, B0 ..., and their columns."""
    groups = tuple(
        FactGroup(heading=letter * 6, facts=tuple(Detail(label="k", value=f"{letter}{at}...") for at in range(size)))
        for letter, size in zip("ABCDEFG", sizes, strict=False)
    )
    lines = ["".join(text for _, text in line) for line in DetailColumns(groups).lay_out(width)]
    pitch = (width + 2) // max(1, (width + 2) // 10)
    return [[part for at in range(0, len(line), pitch) if (part := line[at : at + pitch].strip())] for line in lines]


def test_short_facts_fill_the_columns_from_the_left() -> None:
    assert columns_of([2, 3], 18) == [
        ["AAAAAA", "BBBBBB"],
        ["k  A0...", "k  B0..."],
        ["k  A1...", "k  B1..."],
        ["k  B2..."],
    ]


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=7), width=st.integers(10, 130))
def test_no_heading_ends_a_column_and_no_short_fact_is_left_out(sizes: list[int], width: int) -> None:
    rows = columns_of(sizes, width)
    facts = sorted(part for row in rows for part in row if part.startswith("k"))
    assert len(facts) == sum(sizes)
    assert not any(part.isalpha() for part in rows[-1])
