"""The question before a job that trims names the range, and nothing that does not happen."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from app.core.fio.job import Job
from app.core.session.state import Session
from app.tui.app_interface import AppInterface
from app.tui.bench.write_confirmation import _overwrite_confirmation
from tests.core.benchmark.test_wear import ready
from widgets.confirmation import Confirmation

APP = cast("AppInterface", SimpleNamespace(session=Session()))


def asked(rw: str) -> Confirmation:
    return _overwrite_confirmation(APP, ready(Job.from_fields({"rw": rw, "size": "1G"})))


@pytest.mark.parametrize("rw", ["trim", "randtrim", "trimwrite", "randtrimwrite"])
def test_the_question_before_a_trim_names_the_range(rw: str) -> None:
    question = asked(rw)
    assert question.tier == "destructive"
    assert question.required
    assert question.risks[0].startswith("The run trims the first 1 GiB of block:sda (bytes 0 to 1073741823)")


def test_a_trim_alone_overwrites_and_wears_nothing() -> None:
    question = asked("randtrim")
    assert (" trims " in question.title, question.apply_label) == (True, "Trim")
    assert len(question.risks) == 1


def test_a_write_is_asked_for_as_before() -> None:
    question = asked("randwrite")
    assert (" writes to " in question.title, question.apply_label) == (True, "Overwrite")
    assert question.risks[0].endswith(" is overwritten.")
