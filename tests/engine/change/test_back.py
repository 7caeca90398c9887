"""A way back is planned anew; steps that an earlier version recorded are compared with it, and are never taken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.change.back import plan_back
from backends.change import NOT_THERE, Write
from backends.errors import BlockedError, RefusedError
from tests.engine.doubles import FakeBackend, planned

CHANGE = planned("128", "256")
OTHER = Write(path="/fake/scheduler", text="none")


@pytest.mark.parametrize("before", [None, "unknown", NOT_THERE])
async def test_a_value_that_was_not_known_is_nothing_to_go_back_to(before: str | None) -> None:
    with pytest.raises(BlockedError, match="its old value is not known"):
        await plan_back(FakeBackend(value="256"), replace(CHANGE, before=before))


async def test_recorded_steps_that_would_be_taken_today_are_no_hindrance() -> None:
    back = await plan_back(FakeBackend(value="256"), CHANGE)
    assert CHANGE.undo == back.writes


@pytest.mark.parametrize("undo", [(OTHER,), (*CHANGE.undo, OTHER)], ids=["instead", "besides"])
async def test_a_recorded_step_that_would_not_be_taken_today_is_refused_and_both_are_shown(
    undo: tuple[Write, ...],
) -> None:
    with pytest.raises(RefusedError, match="by another step than raidbench would: echo none > /fake/scheduler") as lost:
        await plan_back(FakeBackend(value="256"), replace(CHANGE, undo=undo))
    assert lost.value.hint == "raidbench would do: echo 128 > /fake/read_ahead_kb. Set the value you want by hand."
