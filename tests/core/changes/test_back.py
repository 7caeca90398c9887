"""A way back is planned anew: recorded steps are never taken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.changes.revert import plan_revert
from backends.change import NOT_THERE, ChangeStep
from backends.errors import BlockedError
from tests.core.doubles import FakeBackend, planned

CHANGE = planned("128", "256")
OTHER = ChangeStep(path="/fake/scheduler", text="none")


@pytest.mark.parametrize("before", [None, "unknown", NOT_THERE])
async def test_a_value_that_was_not_known_is_nothing_to_go_back_to(before: str | None) -> None:
    with pytest.raises(BlockedError, match="its old value is not known"):
        await plan_revert(FakeBackend(value="256"), replace(CHANGE, before=before))


async def test_recorded_steps_decide_nothing() -> None:
    back = await plan_revert(FakeBackend(value="256"), replace(CHANGE, undo=(OTHER,)))
    assert CHANGE.undo == back.writes
