"""The exit status says whether something failed, was meant wrongly, or was refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import exit_status as status
from app.cli.error_exit import exit_status
from app.cli.exit_status import MEANINGS, summary_sentence
from backends.errors import (
    AnotherDeviceError,
    DeviceGoneError,
    HeldError,
    InvalidValueError,
    NotFoundError,
    RaidbenchError,
    RefusedError,
    ToolFailedError,
)
from tests.cli.conftest import run_here


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RefusedError, 3),
        (HeldError, 3),
        (AnotherDeviceError, 3),
        (DeviceGoneError, 1),
        (ToolFailedError, 1),
        (NotFoundError, 2),
        (InvalidValueError, 2),
    ],
)
def test_an_error_ends_with_the_status_of_its_kind(error: type[RaidbenchError], expected: int) -> None:
    assert exit_status(error("")) == expected


def test_the_page_has_the_table_that_the_program_goes_by() -> None:
    page = (Path(__file__).parents[2] / "docs" / "exit-status.md").read_text("utf-8")
    rows = [f"| {number} | {text}: {more} |" for number, (text, more) in MEANINGS.items()]
    assert "\n".join(["", "| exit status | meaning |", "| --- | --- |", *rows, ""]) in page


def test_every_status_that_the_program_has_is_in_the_table() -> None:
    assert {value for value in vars(status).values() if isinstance(value, int)} == set(MEANINGS)


def test_the_help_tells_them() -> None:
    told = " ".join(run_here("--help").out.split())
    assert summary_sentence() in told
