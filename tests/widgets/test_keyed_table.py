"""A table of many live rows: the cursor keeps to its row, and only what changed is painted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import on
from textual.geometry import Region

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.bars import share_bar
from widgets.keyed_table import KeyedTable, TableCell, TableColumn, TableRow

COLUMNS = (
    TableColumn(key="drive", label="Drive"),
    TableColumn(key="iops", label="IOPS", align="right", priority=1),
    TableColumn(key="state", label="State", priority=2),
)


def row(number: int, iops: str = "85.4k", *, marked: bool = False) -> TableRow:
    return TableRow(
        key=f"sd{number}", cells=(f"sd{number}", iops, TableCell(text="online", tone="good")), marked=marked
    )


def rows(count: int) -> tuple[TableRow, ...]:
    return tuple(row(number) for number in range(count))


class Watched(KeyedTable):
    """Remembers what it asked to be painted anew, and what it drew."""

    asked: list[tuple[Region, ...]]

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Watched:
        self.__dict__.setdefault("asked", []).append(regions)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class Listening(Stage):
    """Keeps what the table tells."""

    def __init__(self, table: KeyedTable) -> None:
        super().__init__(table)
        self.highlighted: list[str] = []
        self.selected: list[str] = []

    @on(KeyedTable.RowHighlighted)
    def _highlighted(self, event: KeyedTable.RowHighlighted) -> None:
        self.highlighted.append(event.key)

    @on(KeyedTable.RowSelected)
    def _selected(self, event: KeyedTable.RowSelected) -> None:
        self.selected.append(event.key)


def line_with(app: Stage, text: str) -> str:
    return next(line for line in screen_text(app).splitlines() if text in line)


async def test_of_ten_thousand_rows_one_changed_line_is_painted() -> None:
    table = Watched(COLUMNS, rows(10_000))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        table.asked.clear()
        table.rows = (*table.rows[:5], row(5, "84.1k"), *table.rows[6:])
        assert table.asked == [(Region(0, 6, table.size.width, 1),)]


async def test_a_change_out_of_sight_paints_nothing() -> None:
    table = Watched(COLUMNS, rows(10_000))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        table.asked.clear()
        table.rows = (*table.rows[:9_000], row(9_000, "84.1k"), *table.rows[9_001:])
        assert table.asked == []


async def test_a_changed_cell_is_shown() -> None:
    table = KeyedTable(COLUMNS, rows(3))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        table.rows = (row(0), row(1, "12.3k"), row(2))
        await pilot.pause()
        assert "12.3k" in line_with(app, "sd1")


async def test_the_cursor_keeps_to_its_row_when_rows_come_before_it() -> None:
    table = KeyedTable(COLUMNS, rows(3))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down")
        table.rows = (row(9), row(8), *rows(3))
        await pilot.pause()
        assert line_with(app, "sd1").startswith("> ")


async def test_the_cursor_goes_to_a_neighbour_when_its_row_goes() -> None:
    table = KeyedTable(COLUMNS, rows(3))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down")
        table.rows = (row(0), row(2))
        await pilot.pause()
        assert table.cursor == "sd2"


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        (["down"], "sd1"),
        (["end"], "sd99"),
        (["end", "home"], "sd0"),
        (["end", "up"], "sd98"),
        (["pagedown"], "sd22"),
        (["end", "pageup"], "sd77"),
        (["up"], "sd0"),
    ],
)
async def test_keys_move_the_cursor(keys: list[str], key: str) -> None:
    table = KeyedTable(COLUMNS, rows(100))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        assert table.cursor == key


async def test_the_row_under_the_cursor_is_in_sight() -> None:
    app = Stage(KeyedTable(COLUMNS, rows(1000)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end")
        assert screen_text(app).splitlines()[-1].startswith("> sd999")


async def test_the_header_stays_when_rows_scroll() -> None:
    app = Stage(KeyedTable(COLUMNS, rows(1000)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end")
        assert screen_text(app).splitlines()[0].split() == ["Drive", "IOPS", "State"]


async def test_the_cursor_passes_over_the_heading_of_a_group() -> None:
    table = KeyedTable(COLUMNS, (row(0), TableRow(key="h", cells=("Spares",), separator=True), row(1)))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down")
        assert table.cursor == "sd1"


async def test_moving_tells_the_row() -> None:
    app = Listening(KeyedTable(COLUMNS, rows(3)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down")
        await pilot.pause()
        assert app.highlighted == ["sd0", "sd1"]


async def test_enter_chooses_the_row() -> None:
    app = Listening(KeyedTable(COLUMNS, rows(3)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "enter")
        assert app.selected == ["sd1"]


async def test_a_click_moves_the_cursor() -> None:
    table = KeyedTable(COLUMNS, rows(3))
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(KeyedTable, offset=(4, 3))
        assert table.cursor == "sd2"


async def test_figures_stand_on_the_right_with_their_units() -> None:
    app = Stage(KeyedTable(COLUMNS, (row(0, "894 GiB"), row(1, "7.28 TiB"))))
    async with app.run_test(size=(80, 24)):
        assert line_with(app, "894 GiB").index("GiB") == line_with(app, "7.28 TiB").index("TiB")


async def test_the_heading_keeps_clear_of_a_bar_that_comes_beside_the_rows() -> None:
    table = KeyedTable(COLUMNS, rows(3))
    app = Stage(table)
    async with app.run_test(size=(20, 8)) as pilot:
        table.rows = rows(30)
        await pilot.pause()
        assert line_with(app, "Drive").rstrip("▁▂▃▄▅▆▇█ ").endswith("+1")


async def test_what_is_sought_stands_out_where_it_stands() -> None:
    table = KeyedTable(COLUMNS, rows(3))
    table.sought = ("d1",)
    async with Stage(table).run_test(size=(80, 24)):
        marked = [segment.text for segment in table.render_line(2) if segment.style and segment.style.underline]
        assert marked == ["d1"]
        assert not [segment for segment in table.render_line(1) if segment.style and segment.style.underline]


async def test_a_mark_has_a_sign() -> None:
    app = Stage(KeyedTable(COLUMNS, (row(0), row(1, marked=True))))
    async with app.run_test(size=(80, 24)):
        assert line_with(app, "sd1").startswith(" *sd1")


async def test_a_narrow_table_leaves_out_the_least_important_column() -> None:
    app = Stage(KeyedTable(COLUMNS, rows(3)))
    async with app.run_test(size=(18, 24)):
        assert line_with(app, "sd1").split() == ["sd1", "85.4k"]


async def test_a_narrow_table_says_how_many_columns_it_leaves_out() -> None:
    app = Stage(KeyedTable(COLUMNS, rows(3)))
    async with app.run_test(size=(18, 24)):
        assert screen_text(app).splitlines()[0].rstrip().endswith("+1")


async def test_an_empty_table_says_what_is_missing() -> None:
    app = Stage(KeyedTable(COLUMNS, empty="no runs yet"))
    async with app.run_test(size=(80, 24)):
        assert "no runs yet" in screen_text(app)


async def test_a_bar_is_drawn_in_its_cell() -> None:
    bar = TableRow(key="a", cells=("sda", share_bar(1.0, 4), ""))
    app = Stage(KeyedTable(COLUMNS, (bar,)))
    async with app.run_test(size=(80, 24)):
        assert "████" in line_with(app, "sda")


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (5, 1), (200, 60)])
async def test_any_terminal_size_is_drawn(size: tuple[int, int]) -> None:
    app = Stage(KeyedTable(COLUMNS, rows(30)))
    async with app.run_test(size=size) as pilot:
        await pilot.press("end", "pageup", "home")
        assert app.is_running


async def test_keys_in_an_empty_table_do_nothing() -> None:
    table = KeyedTable(COLUMNS)
    app = Stage(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "pageup", "home", "down", "enter")
        assert table.cursor is None


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_model_is_only_text(text: str) -> None:
    bad = replace(row(0), cells=(text, text, TableCell(text=text)))
    app = Stage(KeyedTable((TableColumn(key="a", label=text), *COLUMNS[1:]), (bad,), empty=text))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(KeyedTable, offset=(3, 1))
        assert (app.boomed, screen_text(app).replace("\n", "").isprintable()) == (0, True)


async def test_the_cursor_stays_visible_when_the_table_gets_shorter() -> None:
    app = Listening(KeyedTable(COLUMNS, rows(30)))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press(*["down"] * 10)
        assert "> sd10 " in screen_text(app)
        await pilot.resize_terminal(40, 8)
        await pilot.pause()
        assert "> sd10 " in screen_text(app)
