"""docs/check.md ends with the table of rules."""

from __future__ import annotations

from pathlib import Path

from app.features.advice.rules import KEYS
from app.features.check.finding import Rule
from app.features.check.rule_table import RULES

PAGE = (Path(__file__).parents[3] / "docs" / "check.md").read_text(encoding="utf-8")


def row(rule: Rule) -> str:
    needs = "a run" if rule.look is None else "nothing"
    source = rule.source.replace("docs/advice.md", f"[advice.md](advice.md#{rule.id})")
    return f"| `{rule.id}` | {rule.severity} | {rule.what} | {needs} | {source} |"


def test_the_page_has_the_table_that_the_program_goes_by() -> None:
    head = ["| id | severity | what | needs | source |", "| --- | --- | --- | --- | --- |"]
    assert PAGE.endswith("\n".join(["", *head, *map(row, RULES.values()), ""]))


def test_the_advisors_rules_are_in_the_table() -> None:
    assert set(KEYS) <= RULES.keys()


def test_an_advice_that_is_no_rule_at_rest_needs_a_run() -> None:
    at_rest = {"background-task", "policy-not-in-force", "battery-learning", "array-degraded", "governor"}
    assert {key for key in KEYS if RULES[key].look is not None} == at_rest
