"""Tables and facts of the views as text."""

from __future__ import annotations

import pytest

from app.cli import options
from app.cli.render import fact_lines, table_lines
from app.engine.view.table import Cell, Column, Fact, Facts, Row, Table, Tone

STATES = Table(
    columns=(Column(title="Name"), Column(title="State"), Column(title="Model")),
    rows=(
        Row(cells=("sda", Cell("failed", Tone.BAD), "A")),
        Row(cells=("  sdb\x1b[2J", Cell("optimal", Tone.GOOD), "B")),
    ),
)


@pytest.fixture
def coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options.Options, "coloured", property(lambda _: True))


def test_cells_stand_below_their_heading_and_steer_no_terminal() -> None:
    assert table_lines(STATES) == [
        "Name       State    Model",
        "sda        failed   A",
        "  sdb\N{REPLACEMENT CHARACTER}[2J  optimal  B",
    ]


@pytest.mark.usefixtures("coloured")
def test_a_tone_colours_its_word_and_nothing_beside_it() -> None:
    assert "\x1b[31mfailed\x1b[0m   A" in table_lines(STATES)[1]


def test_a_table_without_rows_is_not_shown() -> None:
    assert table_lines(Table(columns=STATES.columns)) == []


def test_values_of_facts_stand_below_each_other() -> None:
    facts = Facts(heading="md0", facts=(Fact("Level", "raid5"), Fact("In use", "/srv\x07")))
    assert fact_lines(facts) == ["md0", "  Level   raid5", "  In use  /srv\N{REPLACEMENT CHARACTER}"]
