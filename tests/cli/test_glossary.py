"""`glossary`."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_a_word_is_explained_whatever_its_case(cli: Cli) -> None:
    assert "full stripe" in cli("glossary", "STRIPE").out


def test_a_word_that_is_not_there_says_how_to_list_them(cli: Cli) -> None:
    outcome = cli("glossary", "zzz")
    assert (outcome.status, outcome.out) == (2, "")
    assert "`raidbench glossary` lists all terms" in outcome.err
