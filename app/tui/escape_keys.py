"""Separates Escape from a following key that arrives with it.

Textual (8.2) turns the pair into another character or loses both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser

_ESC: Final = "\x1b"
_WORD_MOVES: Final = (f"{_ESC}b", f"{_ESC}f")
"""Sequences that move by a word in an input field, as in readline."""

_CHARACTERS: Final = frozenset(
    keys for keys, meant in ANSI_SEQUENCES_KEYS.items() if len(keys) == 2 and keys[0] == _ESC and isinstance(meant, str)
)
"""Sequences that Textual takes for characters of a Mac keyboard, such as `™` for Escape and 2."""


class EscapeParser(XTermParser):
    """Parses terminal input. Over a slow link, Escape and the next key often arrive in one packet.

    Alt with a key sends the same bytes as Escape and that key. They count as Alt only if a command is bound to it.
    """

    def __init__(self, debug: bool = False, *, bound: Collection[str], typing: Callable[[], bool]) -> None:
        """`bound`: keys in the keymap, such as `alt+x`. `typing`: returns whether an input field has the focus."""
        super().__init__(debug)
        self._bound = bound
        self._typing = typing

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if sequence in _CHARACTERS or (sequence in _WORD_MOVES and not self._typing()):
            sequence, alt = sequence[1:], True
        if not alt:
            yield from super()._sequence_to_key_events(sequence)
            return
        events_with_alt = list(super()._sequence_to_key_events(sequence, alt=True))
        if any(event.key in self._bound for event in events_with_alt):
            yield from events_with_alt
        else:
            yield events.Key("escape", _ESC)
            yield from super()._sequence_to_key_events(sequence)
