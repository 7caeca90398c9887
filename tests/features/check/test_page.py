"""The page of the rules, and the page of their evidence, have a row for each rule."""

from __future__ import annotations

import re
from pathlib import Path

from app.features.advice.rules import KEYS
from app.features.check.rule_table import RULES
from tests.features.check.test_planted import PAGE as EVIDENCE

PAGE = Path(__file__).parents[3] / "docs" / "check-rules.md"
AT_REST = [rule for rule in RULES.values() if rule.look is not None]


def rows(page: Path, head: str) -> list[list[str]]:
    """Return the cells of the table below this line, which ends the page."""
    _, found, table = page.read_text(encoding="utf-8").partition(f"{head}\n")
    assert found, head
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[1:]]


def test_the_page_has_the_rules_that_need_no_run_in_their_order() -> None:
    table = rows(PAGE, "| id | severity | finding | fix |")
    assert [row[:3] for row in table] == [[f"`{rule.id}`", str(rule.severity), rule.what] for rule in AT_REST]


def test_every_rule_on_the_page_has_a_fix() -> None:
    table = rows(PAGE, "| id | severity | finding | fix |")
    assert [row for row in table if len(row) != 4 or not re.fullmatch(r"\S.*\.", row[3])] == []


def test_the_evidence_names_the_source_of_every_rule_on_the_page() -> None:
    table = rows(EVIDENCE, "| rule | source |")
    assert table == [[f"`{rule.id}`", rule.source.removesuffix("; docs/advice.md")] for rule in AT_REST]


def test_the_advisors_rules_are_in_the_table() -> None:
    assert set(KEYS) <= RULES.keys()


def test_an_advice_that_is_no_rule_at_rest_needs_a_run() -> None:
    at_rest = {"background-task", "policy-not-in-force", "battery-learning", "array-degraded", "governor"}
    assert {key for key in KEYS if RULES[key].look is not None} == at_rest
