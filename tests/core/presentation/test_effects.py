"""What a change does, in words: when, for how long, at what risk."""

from __future__ import annotations

import pytest

from app.core.presentation.risk_text import ConfirmationLevel, confirmation_level, effect_text, kept_text, risk_cell
from backends.model import Scope
from backends.settings import Effect, Persistence, Risk, worst


def test_a_drive_is_formatted_and_an_array_is_made_anew() -> None:
    assert effect_text(Effect.RECREATED, Scope.DRIVE) == "reformatted"
    assert effect_text(Effect.RECREATED, Scope.ARRAY) == "array re-created"


@pytest.mark.parametrize("effect", [each for each in Effect if each is not Effect.RECREATED])
def test_any_other_effect_is_the_same_for_all(effect: Effect) -> None:
    assert len({effect_text(effect, scope) for scope in Scope}) == 1


def test_losing_what_was_written_is_worse_than_standing_still() -> None:
    assert worst([Risk.OUTAGE, Risk.POWER_LOSS, Risk.PERFORMANCE]) is Risk.POWER_LOSS


def test_nothing_is_worse_than_destroyed_data() -> None:
    assert worst(Risk) is Risk.DESTROYS_DATA


def test_no_change_has_no_risk() -> None:
    assert worst([]) is Risk.NONE


def test_what_may_lose_data_or_stand_still_is_not_agreed_to_by_habit() -> None:
    assert {risk for risk in Risk if confirmation_level(risk) is ConfirmationLevel.RISKY} == {
        Risk.OUTAGE,
        Risk.POWER_LOSS,
    }


def test_what_destroys_data_is_agreed_to_by_name() -> None:
    assert confirmation_level(Risk.DESTROYS_DATA) is ConfirmationLevel.DESTRUCTIVE


def test_every_risk_is_told_in_words_of_its_own() -> None:
    assert len({risk_cell(risk).text for risk in Risk}) == len(Risk)


def test_how_long_a_value_stays_is_told() -> None:
    assert [kept_text(each) for each in Persistence] == ["until changed again", "until reboot", "until power-off"]
