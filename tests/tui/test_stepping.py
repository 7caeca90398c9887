"""What + and - make of the numbers of a job."""

from __future__ import annotations

import pytest

from app.core.fio.fields import FIELDS
from app.tui.bench.job_form import has_steps, step_value
from tests.case_loop import loop_over

FIELD = {field.key: field for field in FIELDS}


@loop_over(
    ("key", "text", "more", "less"),
    [
        ("iodepth", "64", "128", "32"),
        ("iodepth", "7", "8", "4"),
        ("iodepth", "1", "2", "1"),
        ("bs", "4k", "8k", "2k"),
        ("bs", "1M", "2M", "512k"),
        ("runtime", "60", "120", "30"),
        ("runtime", "90s", "120", "60"),
        ("ramp", "0", "1", "0"),
        ("rwmixread", "50", "55", "45"),
        ("rwmixread", "100", "100", "95"),
        ("rwmixread", "3", "8", "0"),
        ("rate_iops", "", "1", "1"),
        ("iodepth", "many", "1", "1"),
    ],
)
def test_a_number_goes_to_the_next_round_one(key: str, text: str, more: str, less: str) -> None:
    assert (step_value(FIELD[key], text, up=True), step_value(FIELD[key], text, up=False)) == (more, less)


@pytest.mark.parametrize(("key", "does"), [("iodepth", True), ("bs", True), ("ramp", True), ("bssplit", False)])
def test_only_numbers_have_a_next_one(key: str, does: bool) -> None:
    assert has_steps(FIELD[key]) is does
