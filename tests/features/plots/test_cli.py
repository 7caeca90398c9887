"""`plot`: pictures on a plain terminal, in a pipe, in a file, and a sentence with status 2 where there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, program
from tests.cli.terminal import on_terminal
from tests.core import sessions
from tests.features.history.test_cli import day
from tests.features.plots.making import experiment, run
from widgets.plot_render.plot_data import StaticPlotKind


@pytest.fixture
def measured(state: Path) -> None:
    """Two runs and an A/B of three pairs."""
    sessions.written(
        state / "sessions/s1",
        sessions.started(),
        sessions.seen(),
        *experiment(),
        *run(7),
        *run(8, ahead="4096", iops=700),
    )


@pytest.fixture
def past(state: Path) -> None:
    """Four days, of which the last has a slower kernel."""
    for number, iops in enumerate((1000, 1010, 990, 700)):
        day(state, number, iops, kernel="6.1.0" if number < 3 else "6.8.0")


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("kind", ["percentiles", "histogram", "box", "scatter"])
def test_over_a_pipe_a_picture_has_80_columns_and_no_colours(cli: Cli, kind: str) -> None:
    told = cli("plot", "e1", "--kind", kind)
    rows = told.out.splitlines()
    assert (told.status, max(map(len, rows)) <= 80, len(rows) <= 20, "\x1b" in told.out) == (0, True, True, False)


@pytest.mark.usefixtures("measured")
def test_an_ab_is_drawn_as_percentiles_by_its_values(cli: Cli) -> None:
    out = cli("plot", "e1").out
    assert all(words in out for words in ("by percentile", "read-ahead 128 KiB", "read-ahead 4096 KiB", "p99"))


@pytest.mark.usefixtures("measured")
def test_runs_stand_over_one_another(cli: Cli) -> None:
    assert "read-ahead 4096 KiB" in cli("plot", "r7", "s1/r8", "--kind", "percentiles").out


@pytest.mark.usefixtures("measured")
def test_a_size_is_kept(cli: Cli) -> None:
    assert len(cli("plot", "e1", "--size", "100x30").out.splitlines()) == 30


@pytest.mark.usefixtures("measured")
def test_with_ascii_it_is_ascii(cli: Cli) -> None:
    assert cli("--ascii", "plot", "e1").out.isascii()


@pytest.mark.usefixtures("measured")
def test_a_file_gets_the_picture_without_colours_and_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "picture.txt"
    first, again = (cli("plot", "e1", "-o", str(file)) for _ in range(2))
    assert (first.status, "by percentile" in file.read_text(), again.status) == (0, True, 3)


@pytest.mark.usefixtures("measured")
def test_the_points_come_as_json(cli: Cli) -> None:
    drawn = cli("plot", "e1", "--kind", "box", "--json").json["picture"]
    assert (drawn["kind"], [len(lot["values"]) for lot in drawn["data"]["lots"]]) == ("box", [3, 3])


@pytest.mark.usefixtures("past")
def test_a_target_is_drawn_over_all_sessions_with_what_changed(cli: Cli) -> None:
    told = cli("plot", "block:sda")
    assert (told.status, "in all sessions" in told.out, "kernel 6.8.0" in told.out) == (0, True, True)


@pytest.mark.usefixtures("past")
def test_the_history_of_a_run_is_that_of_what_it_measured(cli: Cli) -> None:
    assert cli("plot", "day0/r1", "--kind", "history").out == cli("plot", "block:sda").out


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("r77",), "has no run r77"),
        (("r7", "r99"), "has no run r99"),
        (("e9",), "has no experiment e9"),
        (("sweep",), "has no sweep"),
        (("block:nosuch",), "The history contains no run on block:nosuch"),
        (("r7", "--kind", "box"), "One run has no spread."),
        (("r7", "--workload", "4k read"), "--workload needs a sweep."),
        (("r7", "--kind", "curve"), "A curve needs a sweep; the selection is not a sweep."),
        (("r7",), "the intervals of r7 are not on disk"),
        (("e1", "--size", "40x10"), "needs 60x15 characters or more. Available: 40x10"),
        (("e1", "--size", "large"), "Invalid size 'large'. Use columns and rows"),
        (("r7", "e1"), "e1 is not a run."),
    ],
)
def test_where_there_is_no_picture_a_sentence_says_so_with_status_2(
    cli: Cli, words: tuple[str, ...], said: str
) -> None:
    told = cli("plot", *words)
    assert (told.status, said in told.err, told.out) == (2, True, ""), told.err


def test_without_any_session_it_says_so(cli: Cli) -> None:
    assert cli("plot", "r1").status == 2


@pytest.mark.usefixtures("measured")
def test_a_terminal_gets_colours_and_its_own_size() -> None:
    shown = on_terminal("plot", "e1", env={"COLUMNS": "90", "LINES": "28"}, all_streams=True)[2]
    rows = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    assert ("\x1b[38;5;33m" in shown, len(rows), max(map(len, rows)) <= 90) == (True, 26, True)


@pytest.mark.usefixtures("measured")
def test_no_color_is_heeded() -> None:
    assert "\x1b[38" not in program("plot", "e1", env={"NO_COLOR": "1"}).out


def test_every_kind_can_be_asked_for(cli: Cli) -> None:
    told = cli("plot", "--help").out
    assert all(kind.value in told for kind in StaticPlotKind)
