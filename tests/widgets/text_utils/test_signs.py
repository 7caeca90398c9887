"""A sign means one thing, with UTF-8 and without."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.case_loop import loop_over
from widgets.text_utils.symbols import SIGNS, Symbol
from widgets.text_utils.text import width_of


@pytest.mark.parametrize(
    "chars", [[sign.char for sign in SIGNS], [sign.ascii for sign in SIGNS]], ids=["utf8", "ascii"]
)
def test_no_sign_stands_for_two_things(chars: list[str]) -> None:
    assert [char for char, times in Counter(chars).items() if times > 1] == []


@loop_over("sign", SIGNS, ids=lambda sign: sign.ascii)
def test_a_sign_and_its_twin_take_one_cell(sign: Symbol) -> None:
    assert (width_of(sign.char), width_of(sign.ascii), sign.ascii.isascii()) == (1, 1, True)


@loop_over("sign", SIGNS, ids=lambda sign: sign.ascii)
def test_where_only_ascii_can_be_shown_it_is_the_twin(sign: Symbol) -> None:
    assert (sign.shown(ascii=True), sign.shown(ascii=False)) == (sign.ascii, sign.char)
