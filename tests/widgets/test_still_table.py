"""A table to look at: as high as its rows, and only what changed is painted again."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.static_table import StaticTable, TableColumn, TableRow

COLUMNS = (
    TableColumn(key="drive", label="Drive"),
    TableColumn(key="model", label="Model", priority=9),
    TableColumn(key="iops", label="IOPS", align="right"),
)


def row(name: str, iops: str = "85.4k") -> TableRow:
    return TableRow(key=name, cells=(name, "ST4000NM0035", iops))


class Watched(StaticTable):
    """Remembers what it asked to be painted anew."""

    asked: list[tuple[Region, ...]]

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Watched:
        self.__dict__.setdefault("asked", []).append(regions)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


async def test_without_rows_it_takes_no_room() -> None:
    app = Stage(StaticTable(COLUMNS))
    async with app.run_test():
        assert app.widget.size.height == 0


async def test_it_is_as_high_as_its_rows_and_their_heading() -> None:
    table = StaticTable(COLUMNS)
    async with Stage(table).run_test() as pilot:
        table.rows = (row("sda"), row("sdb"))
        await pilot.pause()
        assert table.size.height == 3


async def test_it_gives_its_room_back() -> None:
    table = StaticTable(COLUMNS, (row("sda"),))
    async with Stage(table).run_test() as pilot:
        table.rows = ()
        await pilot.pause()
        assert table.size.height == 0


async def test_only_the_row_that_changed_is_painted() -> None:
    table = Watched(COLUMNS, (row("sda"), row("sdb")))
    async with Stage(table).run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        table.asked = []
        table.rows = (row("sda"), row("sdb", "85.5k"))
        assert table.asked == [(Region(0, 2, 60, 1),)]


async def test_a_column_that_grows_moves_all_rows() -> None:
    table = StaticTable(COLUMNS, (row("sda", "1"), row("sdb", "2")))
    app = Stage(table)
    async with app.run_test() as pilot:
        table.rows = (row("sda", "1"), row("sdb", "1000.5k"))
        await pilot.pause()
        assert len({len(line.rstrip()) for line in shown(app)}) == 1


def shown(app: Stage) -> list[str]:
    return [line for line in screen_text(app).splitlines() if line.strip().startswith("sd")]


async def test_a_narrow_terminal_leaves_out_what_matters_least_without_a_word() -> None:
    app = Stage(StaticTable(COLUMNS, (row("sda"),)))
    async with app.run_test(size=(16, 10)):
        text = screen_text(app)
        assert ("85.4k" in text, "ST4000" in text, "+" in text) == (True, False, False)


async def test_other_columns_are_laid_out_anew() -> None:
    table = StaticTable(COLUMNS, (row("sda"),))
    app = Stage(table)
    async with app.run_test() as pilot:
        table.columns = COLUMNS[:1]
        await pilot.pause()
        assert "ST4000" not in screen_text(app)


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_a_drive_calls_itself_does_nothing(name: str) -> None:
    app = Stage(StaticTable(COLUMNS, (row(name),)))
    async with app.run_test() as pilot:
        await pilot.click(app.widget)
        assert (app.boomed, "\x1b" in screen_text(app)) == (0, False)
