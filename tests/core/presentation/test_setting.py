"""Settings as every surface shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation.setting import (
    effective_reason_text,
    legal_text,
    now_cell,
    risk_of,
    settings_table,
    unavailable_reasons,
    value_text,
)
from app.core.presentation.table import Cell, StatusSymbol, Table, Tone, text_of
from backends.model import Scope
from backends.settings import IN_FORCE, NOT_IN_FORCE, Availability, Choice, Effect, Reading, Risk, Setting, Span

CACHE = Setting(key="write_cache", label="Write cache", help="Where writes wait.")
AHEAD = Setting(key="read_ahead_kb", label="Read-ahead", help="KiB read ahead.", unit="KiB")
KEY = Setting(key="activation_key", label="Activation key", help="Opens features.", secret=True)
CHOICES = (
    Choice(value="wt", label="write-through"),
    Choice(value="wb", label="write-back", risk=Risk.POWER_LOSS),
    Choice(value="none", label="none"),
)


def shown(reading: Reading, staged: str | None = None, outcome: Cell | None = None, of: Setting = CACHE) -> Table:
    return settings_table(
        (of,),
        {of.key: reading},
        Scope.ARRAY,
        staged={} if staged is None else {of.key: staged},
        outcomes={} if outcome is None else {of.key: outcome},
    )


def words(table: Table, key: str) -> str:
    return text_of(table.only(key).rows[0].cells[0])


def test_a_column_that_may_be_cut_begins_with_what_is_in_force() -> None:
    cell = now_cell(CACHE, Reading(now="on", effective="not in force"), brief=True)
    assert cell == Cell("not in force, set: on", Tone.ATTENTION, StatusSymbol.ATTENTION)
    table = settings_table((CACHE,), {CACHE.key: Reading(now="on", effective="not in force")}, Scope.ARRAY, brief=True)
    assert text_of(table.rows[0].cells[2]).startswith("not in force")


def test_a_value_goes_by_its_label() -> None:
    assert value_text(CACHE, Reading(now="wb", choices=CHOICES), "wb") == "write-back"


def test_a_number_has_its_unit() -> None:
    assert value_text(AHEAD, Reading(now="128"), "128") == "128 KiB"


def test_what_nobody_reports_is_called_that() -> None:
    assert value_text(AHEAD, Reading(now=None), None) == "not reported"


def test_a_policy_that_is_not_in_force_says_what_is() -> None:
    cell = now_cell(CACHE, Reading(now="wb", effective="wt", choices=CHOICES))
    assert cell == Cell("write-back, in force write-through", Tone.ATTENTION, StatusSymbol.ATTENTION)


def test_what_is_set_and_not_in_force_reads_as_a_sentence() -> None:
    assert now_cell(CACHE, Reading(now="on", effective="not in force")).text == "on: not in force"


@pytest.mark.parametrize(
    ("effective", "cell", "sentence"),
    [
        (IN_FORCE, Cell("on, in force"), "Fast is in force: all conditions are met."),
        (
            NOT_IN_FORCE,
            Cell("on: not in force", Tone.ATTENTION, StatusSymbol.ATTENTION),
            "Fast is not in force: all conditions are met.",
        ),
    ],
)
def test_a_combination_of_settings_is_in_force_or_not(effective: str, cell: Cell, sentence: str) -> None:
    fast = replace(CACHE, label="Fast")
    reading = Reading(now="on", effective=effective, why_effective="all conditions are met")
    assert (now_cell(fast, reading), effective_reason_text(fast, reading)) == (cell, sentence)


def test_a_value_that_leaves_it_to_another_one_shows_that_first_and_is_no_fault() -> None:
    assert now_cell(CACHE, Reading(now="inherit", effective="wt", follows=True, choices=CHOICES)) == Cell(
        "write-through (inherit)"
    )


def test_a_value_that_is_in_force_needs_no_word() -> None:
    assert now_cell(CACHE, Reading(now="wt", effective="wt", choices=CHOICES)) == Cell("write-through")


def test_legal_values_are_those_that_set_takes() -> None:
    assert legal_text(CACHE, Reading(now="wt", choices=CHOICES)) == "wt (write-through), wb (write-back), none"


@pytest.mark.parametrize(
    ("span", "told"),
    [
        (Span(minimum=0, maximum=4096, step=4, unit="KiB"), "0–4096 KiB, step 4"),
        (Span(minimum=-1, maximum=9, unit="us"), "-1–9 µs"),
        (Span(minimum=1, maximum=255), "1–255 KiB"),
    ],
)
def test_a_range_has_its_unit(span: Span, told: str) -> None:
    assert legal_text(AHEAD, Reading(now="1", span=span)) == told


def test_without_a_value_the_worst_of_all_is_told() -> None:
    assert risk_of(CACHE, Reading(now="wt", choices=CHOICES)) is Risk.POWER_LOSS


def test_a_value_has_its_own_risk() -> None:
    assert risk_of(CACHE, Reading(now="wb", choices=CHOICES), "wt") is Risk.NONE


def test_a_staged_value_stands_beside_the_present_one() -> None:
    table = shown(Reading(now="wt", choices=CHOICES), staged="wb")
    assert (words(table, "now"), words(table, "staged")) == ("write-through", "write-back")


def test_a_secret_is_never_shown() -> None:
    assert words(shown(Reading(now=None), staged="ABCD-EFGH", of=KEY), "staged") == "***"


def test_how_a_change_ended_stands_where_its_value_was_staged() -> None:
    assert words(shown(Reading(now="wt"), staged="wb", outcome=Cell("failed")), "staged") == "failed"


def test_what_cannot_be_changed_is_dim() -> None:
    assert shown(Reading(now="wt", availability=Availability(why_not="needs root"))).rows[0].dim


def test_a_setting_that_was_not_read_is_not_shown() -> None:
    assert settings_table((CACHE, AHEAD), {"read_ahead_kb": Reading(now="1")}, Scope.DRIVE).rows[0].key == AHEAD.key


def test_an_array_says_that_it_is_made_anew() -> None:
    strip = Setting(key="strip_size", label="Strip size", help="Bytes a member.", effect=Effect.RECREATED)
    assert words(shown(Reading(now="1"), of=strip), "effect") == "array re-created"


def test_a_reason_is_told_once_for_all_it_holds_for() -> None:
    blocked = Reading(now="1", availability=Availability(why_not="needs root"))
    assert unavailable_reasons((CACHE, AHEAD), {CACHE.key: blocked, AHEAD.key: blocked}) == (
        ("needs root", (CACHE.key, AHEAD.key)),
    )


def test_a_value_that_is_not_understood_has_the_tools_own_word_and_is_not_overruled() -> None:
    assert now_cell(CACHE, Reading(now="unknown", raw="Flux")) == Cell("unknown: Flux")
    reading = Reading(now="unknown", raw="Flux", effective="wt", choices=CHOICES)
    assert not reading.overruled
    assert now_cell(CACHE, reading) == Cell("write-through (unknown: Flux)")
