"""What the review says of changes before they are made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation import change as view
from backends.change import Change
from backends.model import Target
from backends.settings import UNCONFIRMED, Risk


def planned(*, confirmed: bool, risk: Risk = Risk.NONE) -> Change:
    target = Target(backend="x", address="c0")
    return Change(
        target=target, key="cache", label="Cache", before="off", after="on", writes=(), undo=(), risk=risk,
        risk_text="A power cut loses writes." if risk is not Risk.NONE else "", confirmed=confirmed,
    )  # fmt: skip


def test_a_change_that_no_hardware_confirmed_says_so_beside_its_risk() -> None:
    changes = (planned(confirmed=False, risk=Risk.POWER_LOSS),)
    assert view.risk_texts(changes) == ("Cache: A power cut loses writes.", f"Cache: {UNCONFIRMED}")


def test_a_harmless_change_that_hardware_confirmed_has_nothing_to_be_warned_of() -> None:
    assert view.risk_texts((planned(confirmed=True),)) == ()


@pytest.mark.parametrize(("before", "told"), [("off", False), ("unknown", True), (None, True)])
def test_a_present_value_that_is_not_known_is_said_before_the_change(before: str | None, told: bool) -> None:
    change = replace(planned(confirmed=True), before=before)
    words = "The current value is not reported or not understood, so it cannot be restored afterwards."
    assert view.risk_texts((change,)) == ((f"Cache: {words}",) if told else ())
    assert view.unknown_value_texts((change,)) == ((f"Cache of x:c0: {words}",) if told else ())
