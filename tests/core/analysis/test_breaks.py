"""`make method` can miss: every break says what the source says, is put back, and the quick ones are noticed here."""

from __future__ import annotations

from importlib import import_module

import pytest

from app.core.analysis import pair_design, sample_groups
from tests.case_loop import loop_over
from tests.method.breaks import BREAKS, Break, broken, notices
from tests.method.tables import NAMES


def named(what: str) -> Break:
    return next(one for one in BREAKS if one.what == what)


@loop_over("one", BREAKS, ids=lambda one: one.what)
def test_a_break_changes_a_decision_that_is_there_and_puts_it_back(one: Break) -> None:
    module, _, name = one.where.partition(":")
    right = vars(import_module(module))[name]
    with broken(one):
        assert vars(import_module(module))[name] is not right
    assert vars(import_module(module))[name] is right
    assert set(one.noticed_by) <= set(NAMES)


def test_a_decision_is_wrong_wherever_it_was_imported() -> None:
    there, imported = vars(pair_design), vars(sample_groups)
    right = there["repeated_looks"]
    with broken(named("what was asked before is asked again at twice the level")):
        assert imported["repeated_looks"] is there["repeated_looks"] is not right
    assert imported["repeated_looks"] is there["repeated_looks"] is right


@pytest.mark.parametrize(
    ("what", "count"), [("no far pair is named", 50), ("pairs are judged between two looks, too", 20)]
)
def test_what_is_noticed_quickly_is_noticed(what: str, count: int) -> None:
    planted = named(what)
    assert any(notices(planted, NAMES[name], count) for name in planted.noticed_by)


SLOW = frozenset(("again", "cells", "matrix", "year", "rhythms", "losses", "uneven"))
"""Tables of which a draw takes ten seconds and more."""

QUICK = [planted for planted in BREAKS if not SLOW & set(planted.noticed_by)][::2]
"""Every second one of the others."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("planted", QUICK, ids=lambda planted: planted.what)
def test_a_wrong_decision_is_noticed(planted: Break) -> None:
    """`make method ARGS=--planted` plants the others, too; test_method_page.py has what it recorded."""
    assert any(notices(planted, NAMES[name], planted.draws) for name in planted.noticed_by)
