"""Escape and the key that came with it in one packet are two keys."""

from __future__ import annotations

import pytest
from textual import events

from app.tui.escape_keys import EscapeParser


def keys(sent: str, *, bound: frozenset[str] = frozenset(), typing: bool = False) -> list[str]:
    parser = EscapeParser(bound=bound, typing=lambda: typing)
    told = [*parser.feed(sent), *parser.feed("")]
    return [event.key for event in told if isinstance(event, events.Key)]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("2", "2"),
        ("a", "a"),
        ("A", "A"),
        ("/", "slash"),
        ("?", "question_mark"),
        ("[", "left_square_bracket"),
        ("b", "b"),
    ],
)
def test_escape_and_a_key_in_one_packet_are_both_pressed(sent: str, key: str) -> None:
    assert keys(f"\x1b{sent}") == ["escape", key]


def test_a_key_with_alt_that_somebody_gave_to_a_command_is_that_key() -> None:
    assert keys("\x1ba", bound=frozenset({"alt+a"})) == ["alt+a"]


@pytest.mark.parametrize(("sent", "key"), [("\x1bb", "ctrl+left"), ("\x1bf", "ctrl+right")])
def test_in_a_field_a_word_back_and_forth_stay_what_they_are(sent: str, key: str) -> None:
    assert keys(sent, typing=True) == [key]


@pytest.mark.parametrize(("sent", "key"), [("\x1b[A", "up"), ("\x1bOA", "up"), ("\x1b[1;5D", "ctrl+left"), ("2", "2")])
def test_arrow_keys_and_single_keys_are_untouched(sent: str, key: str) -> None:
    assert keys(sent) == [key]
