"""The words: each has one meaning, and the page, the command and the help say the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from app.core.presentation.glossary import page, terms, terms_of
from app.tui.commands import SCREENS

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"


def test_the_page_is_what_the_program_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_no_word_stands_twice() -> None:
    assert [word for word, times in Counter(term.word for term in terms()).items() if times > 1] == []


def test_every_meaning_is_one_or_two_sentences() -> None:
    assert [term.word for term in terms() if not term.meaning.endswith(".") or len(term.meaning) > 125] == []


@pytest.mark.parametrize("screen", SCREENS)
def test_every_screen_explains_words(screen: str) -> None:
    assert terms_of(screen)


def test_words_are_explained_on_known_screens_only() -> None:
    assert {screen for term in terms() for screen in term.screens} <= set(SCREENS)
