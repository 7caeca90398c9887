"""What the review says of changes before they are made."""

from __future__ import annotations

from app.engine.view import change as view
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
    assert view.risks(changes) == ("Cache: A power cut loses writes.", f"Cache: {UNCONFIRMED}")


def test_a_harmless_change_that_hardware_confirmed_has_nothing_to_be_warned_of() -> None:
    assert view.risks((planned(confirmed=True),)) == ()
