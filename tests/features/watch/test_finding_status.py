"""What is new, worse or known is decided from what the watches before have kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.features.watch.finding_status import WEEK, News, ReportedFinding, ReportedFindings, compare, load, save

BAD = ReportedFinding(rule="drive-errors", where="megaraid:/c0/e1/s1", rank=1, evidence="Errors: 3 media")
RULES = ("drive-errors", "drive-hot")
NOON = 1_000_000.0


def before(*findings: ReportedFinding, reminded: float | None = NOON) -> ReportedFindings:
    return ReportedFindings(findings=findings, reminded=reminded)


def test_a_finding_is_new_once_and_then_known() -> None:
    first = compare([BAD], ReportedFindings(), NOON, rules=RULES)
    assert (first.news, first.has_news) == ({BAD.key: News.NEW}, True)
    second = compare([BAD], first.to_store, NOON + 86400, rules=RULES)
    assert (second.news, second.has_news) == ({BAD.key: News.KNOWN}, False)


@pytest.mark.parametrize(
    ("evidence", "rank", "news"),
    [
        ("Errors: 4 media", 1, News.WORSE),
        ("Errors: 2 media", 1, News.KNOWN),
        ("Errors: 3 media, 1 predictive", 1, News.WORSE),
        ("Errors: 3 media", 2, News.WORSE),
        ("Errors: 3 media", 0, News.KNOWN),
    ],
)
def test_a_finding_is_worse_by_its_severity_its_words_or_a_number_that_grew(
    evidence: str, rank: int, news: News
) -> None:
    now = replace(BAD, evidence=evidence, rank=rank)
    assert compare([now], before(BAD), NOON, rules=RULES).news == {BAD.key: news}


@pytest.mark.parametrize(("now", "news"), [("84 °C", News.KNOWN), ("85 °C", News.WORSE)])
def test_a_temperature_has_to_grow_by_five_degrees(now: str, news: News) -> None:
    hot = replace(BAD, rule="drive-hot", evidence="Temperature: 80 °C")
    found = replace(hot, evidence=f"Temperature: {now}")
    assert compare([found], before(hot), NOON, rules=RULES).news == {hot.key: news}


def test_a_value_that_creeps_is_compared_with_the_one_that_was_reported() -> None:
    kept = before(replace(BAD, evidence="Full: 80 %"))
    for percent in (82, 84):
        step = compare([replace(BAD, evidence=f"Full: {percent} %")], kept, NOON, rules=RULES)
        assert step.news == {BAD.key: News.KNOWN}
        kept = step.to_store
    assert compare([replace(BAD, evidence="Full: 85 %")], kept, NOON, rules=RULES).has_news


def test_known_findings_are_reminded_of_once_a_week() -> None:
    kept = before(BAD)
    assert not compare([BAD], kept, NOON + WEEK - 1, rules=RULES).has_news
    weekly = compare([BAD], kept, NOON + WEEK, rules=RULES)
    assert weekly.news == {BAD.key: News.REMINDER}
    assert not compare([BAD], weekly.to_store, NOON + WEEK + 86400, rules=RULES).has_news


def test_a_clock_set_back_delays_the_reminder_by_a_week_at_most() -> None:
    kept = before(BAD, reminded=NOON + 10 * WEEK)
    first = compare([BAD], kept, NOON, rules=RULES)
    assert not first.has_news
    assert compare([BAD], first.to_store, NOON + WEEK, rules=RULES).has_news


def test_what_was_mended_and_fails_again_is_new() -> None:
    gone = compare([], before(BAD), NOON, rules=RULES)
    assert (gone.news, gone.to_store.findings) == ({}, ())
    assert compare([BAD], gone.to_store, NOON, rules=RULES).has_news


@pytest.mark.parametrize(("silent", "news"), [("megaraid:/c0", News.KNOWN), ("megaraid", News.KNOWN), ("md", News.NEW)])
def test_what_gave_no_answer_for_a_night_is_known_when_it_answers_again(silent: str, news: News) -> None:
    gone = compare([], before(BAD), NOON, rules=RULES, silent=[silent])
    assert compare([BAD], gone.to_store, NOON, rules=RULES).news == {BAD.key: news}


def test_a_finding_of_a_rule_that_got_another_id_is_known() -> None:
    old = replace(BAD, rule="drive-media")
    assert not compare([BAD], before(old), NOON, rules=RULES).has_news
    other = replace(old, rule="drive-hot")
    assert compare([BAD], before(other), NOON, rules=RULES).has_news


def test_two_findings_of_one_rule_at_one_place_are_one() -> None:
    pair = [BAD, replace(BAD, evidence="Errors: 7 other")]
    first = compare(pair, ReportedFindings(), NOON, rules=RULES)
    assert not compare(pair[::-1], first.to_store, NOON, rules=RULES).has_news


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    file = tmp_path / "state" / "w.json"
    save(file, before(BAD))
    assert load(file) == before(BAD)
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 2}',
        '{"format": 1, "reminded": "soon", "findings": []}',
        '{"format": 1, "reminded": 1, "findings": [{"rule": "a"}]}',
        '{"format": 1, "reminded": 1, "findings": 7}',
        json.dumps([[]] * 3),
    ],
)
def test_a_broken_file_makes_every_finding_new(tmp_path: Path, text: str) -> None:
    (tmp_path / "w.json").write_text(text)
    assert load(tmp_path / "w.json") == ReportedFindings()
