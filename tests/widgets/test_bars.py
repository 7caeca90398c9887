"""Progress and shares in one line."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.bars import Progress, ProgressLine, share_bar

HALF = Progress(phase="measuring", fraction=0.42, elapsed=25, total=60, eta=35)


async def line_of(progress: Progress | None, *, width: int = 80, ascii_only: bool = False) -> str:
    line = ProgressLine()
    line.set_reactive(ProgressLine.progress, progress)
    line.set_reactive(ProgressLine.ascii, ascii_only)
    app = Stage(line)
    async with app.run_test(size=(width, 1)):
        return screen_text(app).rstrip()


async def test_a_running_job_shows_phase_share_and_time() -> None:
    assert (await line_of(HALF)).endswith("42 %  0:25 of 1:00  ETA 0:35")


async def test_the_bar_is_filled_as_far_as_the_job_is_done() -> None:
    line = await line_of(HALF)
    assert line.count("━") / (line.count("━") + line.count("─")) == pytest.approx(0.42, abs=0.03)


async def test_without_a_known_share_there_is_no_bar() -> None:
    assert await line_of(Progress(phase="laying out the file", elapsed=3)) == "laying out the file  0:03"


async def test_in_ascii_there_is_nothing_else() -> None:
    assert (await line_of(HALF, ascii_only=True)).isascii()


async def test_a_narrow_line_keeps_the_phase() -> None:
    assert (await line_of(HALF, width=12)).startswith("measuring")


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_phase_is_only_text(text: str) -> None:
    assert (await line_of(Progress(phase=text, fraction=math.nan))).isprintable()


@given(st.floats(), st.integers(-2, 40), st.booleans())
def test_a_share_bar_takes_its_width(share: float, width: int, ascii_only: bool) -> None:
    assert len(share_bar(share, width, ascii=ascii_only)) == max(0, width)


def test_half_a_share_fills_half_the_bar() -> None:
    assert share_bar(0.5, 4).plain == "██  "
