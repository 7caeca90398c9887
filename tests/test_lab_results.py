"""A feature that stops working makes the laboratory fail, even when its test is gone."""

from __future__ import annotations

import pytest

from tests.lab.results import BEGIN, END, Results, broken_claims, claims, with_claims

PAGE = f"# Title\n\n{BEGIN}\n{END}\n\nMore.\n"


def proved(*, read_back: str = "4096") -> Results:
    results = Results()
    results.setting(
        backend="block",
        on="nvme0",
        setting="read_ahead_kb",
        before="128",
        after="4096",
        read_back=read_back,
        undone="128",
    )
    results.add("Faults", "unplugged | at once", "fio", "stops", ok=True)
    return results


def test_a_page_claims_what_was_written_into_it() -> None:
    rows = proved().rows
    assert claims(with_claims(PAGE, rows)) == rows


def test_rows_of_two_guests_are_kept_in_the_order_they_had() -> None:
    one, other = proved().rows[0], Results()
    other.add("Arrays", "raid1", "check", "done", ok=True)
    other.add("Arrays", "raid5", "check", "done", ok=True)
    page = with_claims(PAGE, [one, *other.rows])
    assert claims(with_claims(page, [*reversed(other.rows), one])) == claims(page)


def test_the_rest_of_the_page_stays() -> None:
    page = with_claims(with_claims(PAGE, proved().rows), [])
    assert (page.startswith("# Title"), page.endswith("More.\n"), claims(page)) == (True, True, [])


def test_what_is_proved_again_breaks_no_claim() -> None:
    assert broken_claims(proved().rows, proved().rows) == []


def test_a_row_that_is_not_proved_any_more_is_told() -> None:
    told = broken_claims(proved().rows, proved().rows[:1])
    assert told == ["claimed, but not proved: Faults: unplugged / at once | fio | stops"]


def test_a_value_that_was_not_taken_breaks_its_claim() -> None:
    told = broken_claims(proved().rows, proved(read_back="128").rows)
    assert [sentence.partition(":")[0] for sentence in told] == ["claimed, but not proved", "wrong"]


def test_a_page_without_a_place_for_the_tables_is_told() -> None:
    with pytest.raises(ValueError, match="no lines"):
        claims("# Title\n")


def test_a_row_that_does_not_fit_its_table_is_a_mistake_of_the_test() -> None:
    with pytest.raises(ValueError, match="has the columns"):
        Results().add("Faults", "one cell", ok=True)
