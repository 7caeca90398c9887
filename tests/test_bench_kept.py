"""What became slower is told against the table that is kept."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tests.bench.__main__ import PARTS, main
from tests.bench.figures import Figure
from tests.bench.kept import (
    comparison_text,
    excuses,
    kept,
    refusal_text,
    with_figures,
    worse,
)

REAL_PAGE = Path(__file__).parents[1] / "docs" / "dev" / "performance.md"
PAGE = "# Title\n\n<!-- begin: written by make bench -->\n<!-- end -->\n\nMore.\n"


def figure(value: float, *, name: str = "start", at_least: bool = False, unit: str = "s") -> Figure:
    return Figure(name=name, value=value, low=value, high=value, unit=unit, goal=1.0, at_least=at_least)


def test_what_was_written_is_read_again_to_the_printed_digit() -> None:
    page = with_figures(PAGE, [figure(0.1234), figure(407.25, name="rate", unit="KiB/s")])
    assert kept(page) == {"start": 0.123, "rate": 407.2}


def test_only_the_table_is_written_anew() -> None:
    page = with_figures(with_figures(PAGE, [figure(0.1)]), [figure(0.2)])
    assert (page.startswith("# Title\n"), page.endswith("\nMore.\n"), kept(page)) == (True, True, {"start": 0.2})


@pytest.mark.parametrize(("value", "is_told"), [(1.04, False), (1.06, True), (0.5, False)])
def test_more_is_worse_by_more_than_a_twentieth(value: float, is_told: bool) -> None:
    assert bool(worse([figure(value)], {"start": 1.0})) is is_told


@pytest.mark.parametrize(("value", "is_told"), [(0.96, False), (0.94, True), (2.0, False)])
def test_less_is_worse_where_more_is_better(value: float, is_told: bool) -> None:
    assert bool(worse([figure(value, at_least=True)], {"start": 1.0})) is is_told


def test_both_values_and_the_change_are_told() -> None:
    assert [str(found) for found in worse([figure(0.183)], {"start": 0.132})] == ["start: 0.183 s, kept 0.132 s (+39%)"]


def test_a_figure_that_was_not_kept_is_not_compared() -> None:
    assert comparison_text([figure(1.0), figure(9.0, name="new")], with_figures(PAGE, [figure(1.0)])).endswith(
        "none of 1"
    )


def test_the_goals_that_are_not_reached_are_named() -> None:
    page = with_figures(PAGE, [figure(1.2, name="slow"), figure(0.9), figure(0.8, name="rate", at_least=True)])
    assert "Goals reached: 1 of 3. Not reached: slow; rate." in page


def test_the_page_says_how_its_figures_came_about() -> None:
    assert "\n\nMeasured at noon.\n\n| figure |" in with_figures(PAGE, [figure(0.1)], "Measured at noon.")


def test_the_page_keeps_figures_to_compare_with() -> None:
    assert kept(REAL_PAGE.read_text())["devices --json with 20 disks, CPU"] > 0


# -- the decision on a release -------------------------------------------------------------------------------------


def spread(value: float, low: float, high: float, *, at_least: bool = False) -> Figure:
    return Figure(name="start", value=value, low=low, high=high, unit="s", at_least=at_least)


@pytest.mark.parametrize(
    ("measured", "is_worse"),
    [
        (spread(1.3, 0.9, 1.7), False),  # the old value may be the true one
        (spread(1.3, 1.0, 1.7), False),
        (spread(1.3, 1.01, 1.7), True),
        (spread(0.7, 0.4, 1.1, at_least=True), False),
        (spread(0.7, 0.4, 0.99, at_least=True), True),
    ],
)
def test_a_figure_whose_interval_has_the_old_value_is_not_worse(measured: Figure, is_worse: bool) -> None:
    assert bool(worse([measured], {"start": 1.0})) is is_worse


@pytest.mark.parametrize(("value", "is_refused"), [(1.09, False), (1.11, True), (0.5, False)])
def test_a_release_is_refused_for_more_than_a_tenth(value: float, is_refused: bool) -> None:
    assert bool(refusal_text([figure(value)], with_figures(PAGE, [figure(1.0)]))) is is_refused


def test_the_refusal_has_the_name_both_values_and_the_next_step() -> None:
    before = [figure(1.0), figure(2.0, name="rate", at_least=True), figure(1.0, name="sound")]
    after = [figure(1.2), figure(1.5, name="rate", at_least=True), figure(1.05, name="sound")]
    assert refusal_text(after, with_figures(PAGE, before)).splitlines() == [
        "A release is refused, because these figures are more than 10% worse than in docs/dev/performance.md:",
        "  start: 1.2 s, kept 1 s (+20%)",
        "  rate: 1.5 s, kept 2 s (-25%)",
        'Fix the cause. Or give the reason below "Known to be worse" on that page, and commit it: - **NAME.** REASON',
    ]


@pytest.mark.parametrize(
    ("excuse", "is_refused"),
    [
        ("## Known to be worse\n\n- **other.** Yes.\n- **start.** It loads more.\n", False),
        ("## Known to be worse\n\n- **start.**\n", True),  # no reason
        ("## Known to be worse\n\n- **star.** It loads more.\n", True),
        ("## Known to be worse\n\n## Design\n\n- **start.** It is fast.\n", True),
        ("- **start.** It loads more.\n", True),
    ],
)
def test_the_page_excuses_a_figure_by_its_exact_name_and_a_reason(excuse: str, is_refused: bool) -> None:
    page = with_figures(PAGE, [figure(1.0)]) + "\n" + excuse
    assert bool(refusal_text([figure(1.2)], page)) is is_refused


def test_a_figure_of_the_page_that_was_not_measured_refuses_a_release() -> None:
    page = with_figures(PAGE, [figure(1.0), figure(1.0, name="rate")])
    for others in ([], [figure(float("nan"), name="rate")]):
        assert "were not measured:\n  rate\n" in refusal_text([figure(1.0), *others], page)
    assert "all: the page has none" in refusal_text([figure(1.0)], PAGE)


def test_every_excuse_of_the_page_names_a_figure_of_its_table() -> None:
    page = REAL_PAGE.read_text()
    assert "\n## Known to be worse\n" in page
    assert set(excuses(page)) <= set(kept(page))


def test_the_command_ends_with_1_only_if_it_decides_on_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    page.write_text(with_figures(PAGE, [figure(1.0)]))
    monkeypatch.setattr("tests.bench.__main__.PAGE", page)
    outcomes = []
    for value, words in ((1.2, ()), (1.2, ("--strict",)), (1.05, ("--strict",))):
        figures.write_text(json.dumps([dataclasses.asdict(figure(value)) | {"verdict": "missed"}]))
        monkeypatch.setattr("sys.argv", ["bench", "--figures", str(figures), *words])
        outcomes.append((main(), "A release is refused" in capsys.readouterr().out))
    assert outcomes == [(0, False), (1, True), (0, False)]


def test_a_part_of_a_measurement_decides_on_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (("--quick",), ("--only", "start")):
        monkeypatch.setattr("sys.argv", ["bench", "--strict", *words])
        with pytest.raises(SystemExit):
            main()


def test_every_part_is_a_module_that_measures() -> None:
    folder = Path(__file__).parent / "bench"
    assert [name for name in PARTS if "\ndef measure(" not in (folder / f"{name}.py").read_text()] == []
