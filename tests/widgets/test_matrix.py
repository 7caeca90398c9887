"""A matrix that fills in."""

from __future__ import annotations

import pytest
from rich.segment import Segment

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.matrix import Matrix, MatrixCell, MatrixGrid


def grid(rows: int = 3, columns: int = 2, text: str = "85.4k") -> MatrixGrid:
    return MatrixGrid(
        corner="IOPS",
        columns=tuple(f"depth={2**at}" for at in range(columns)),
        rows=tuple(f"set-up {at}" for at in range(rows)),
        cells=tuple(tuple(MatrixCell(text=text, level=0.5, sign="=") for _ in range(columns)) for _ in range(rows)),
    )


async def shown(given: MatrixGrid, *, width: int = 60, height: int = 10, ascii_only: bool = False) -> list[str]:
    app = Stage(Matrix(given, ascii=ascii_only))
    async with app.run_test(size=(width, height)):
        return screen_text(app).splitlines()


async def test_every_cell_has_figure_bar_and_sign() -> None:
    lines = await shown(grid())
    assert lines[0].split() == ["IOPS", "depth=1", "depth=2"]
    assert lines[1].split() == ["set-up", "0", "85.4k", "▅", "=", "85.4k", "▅", "="]


async def drawn(cell: MatrixCell) -> list[Segment]:
    """What stands in a matrix of this cell, without its cursor."""
    other = MatrixCell(text="1")
    matrix = Matrix(MatrixGrid(columns=("a", "b"), rows=("x",), cells=((other, cell),)))
    app = Stage(matrix)
    async with app.run_test(size=(60, 10)):
        return list(matrix.render_line(1))


def ground(segments: list[Segment], text: str) -> object:
    """The ground that a text stands on."""
    style = next(segment.style for segment in segments if text in segment.text)
    assert style is not None
    return style.bgcolor


async def test_what_leads_is_framed() -> None:
    assert any(segment.text == "[85.4k]" for segment in await drawn(MatrixCell(text="85.4k", level=1.0, framed=True)))


async def test_more_has_a_stronger_ground_than_less() -> None:
    grounds = {str(ground(await drawn(MatrixCell(text="85", level=level)), "85")) for level in (0.1, 0.5, 1.0)}
    assert len(grounds) == 3


async def test_what_is_measured_is_inverse() -> None:
    segments = await drawn(MatrixCell(text="now", running=True))
    assert [segment.text.strip() for segment in segments if segment.style and segment.style.reverse] == ["now"]


async def test_points_stand_under_each_other() -> None:
    cells = tuple((MatrixCell(text=text, level=1.0),) for text in ("9.81k", "812", "85.4k"))
    lines = await shown(MatrixGrid(columns=("a",), rows=("x", "y", "z"), cells=cells))
    assert lines[1].index(".") == lines[3].index(".") == lines[2].index("812") + 3


async def test_in_ascii_there_are_no_bars() -> None:
    assert "".join(await shown(grid(), ascii_only=True)).isascii()


async def test_columns_without_room_are_counted_and_come_into_sight_with_the_cursor() -> None:
    app = Stage(Matrix(grid(columns=8)))
    async with app.run_test(size=(50, 10)) as pilot:
        assert screen_text(app).splitlines()[0].rstrip().endswith("+5")
        app.query_one(Matrix).focus()
        await pilot.press(*["right"] * 7)
        assert "depth=128" in screen_text(app).splitlines()[0]


async def test_rows_without_room_come_into_sight_with_the_cursor() -> None:
    app = Stage(Matrix(grid(rows=30)))
    async with app.run_test(size=(60, 6)) as pilot:
        app.query_one(Matrix).styles.height = 6
        app.query_one(Matrix).focus()
        await pilot.press(*["down"] * 29)
        assert "set-up 29" in screen_text(app)


async def test_the_cursor_stays_inside() -> None:
    app = Stage(Matrix(grid()))
    async with app.run_test(size=(60, 10)) as pilot:
        app.query_one(Matrix).focus()
        await pilot.press("up", "left", *["down"] * 9, *["right"] * 9)
        assert app.query_one(Matrix).cursor == (2, 1)


async def test_a_smaller_matrix_takes_the_cursor_along() -> None:
    app = Stage(Matrix(grid()))
    async with app.run_test(size=(60, 10)) as pilot:
        matrix = app.query_one(Matrix)
        matrix.cursor = (2, 1)
        matrix.grid = grid(rows=1, columns=1)
        await pilot.pause()
        assert matrix.cursor == (0, 0)


async def test_without_rows_it_takes_no_room() -> None:
    app = Stage(Matrix())
    async with app.run_test(size=(60, 10)):
        assert app.query_one(Matrix).size.height == 0


@pytest.mark.parametrize("text", HOSTILE)
async def test_texts_of_devices_are_only_text(text: str) -> None:
    hostile = MatrixGrid(corner=text, columns=(text,), rows=(text,), cells=((MatrixCell(text=text),),))
    assert "\x1b" not in "".join(await shown(hostile))
