"""When a change takes effect, in words."""

from __future__ import annotations

import pytest

from app.engine.view.effects import effect_words
from backends.model import Scope
from backends.settings import Effect


def test_a_drive_is_formatted_and_an_array_is_made_anew() -> None:
    assert effect_words(Effect.RECREATED, Scope.DRIVE) == "formatted anew"
    assert effect_words(Effect.RECREATED, Scope.ARRAY) == "array re-created"


@pytest.mark.parametrize("effect", [effect for effect in Effect if effect is not Effect.RECREATED])
def test_any_other_effect_is_the_same_for_all(effect: Effect) -> None:
    assert len({effect_words(effect, scope) for scope in Scope}) == 1
