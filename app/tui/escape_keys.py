"""Escape and a key that came together: two keys, where Textual (8.2) makes another character of them or loses both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser

_ESC: Final = "\x1b"
_WORDS: Final = (f"{_ESC}b", f"{_ESC}f")
"""A word back and forth in a field, as readline has it."""

_CHARACTERS: Final = frozenset(
    keys for keys, meant in ANSI_SEQUENCES_KEYS.items() if len(keys) == 2 and keys[0] == _ESC and isinstance(meant, str)
)
"""What Textual takes for a character of a Mac's keyboard: `™` for Escape and 2."""


class EscapeParser(XTermParser):
    """Reads what the terminal sends. Over a slow link Escape and the next key often come in one packet, which is what
    Alt and that key sends, too: only where something is bound to that is it taken for it.
    """

    def __init__(self, debug: bool = False, *, bound: Collection[str], typing: Callable[[], bool]) -> None:
        """`bound`: keys with Alt that mean something; `typing`: whether what is typed goes into a field."""
        super().__init__(debug)
        self._bound = bound
        self._typing = typing

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if sequence in _CHARACTERS or (sequence in _WORDS and not self._typing()):
            sequence, alt = sequence[1:], True
        if not alt:
            yield from super()._sequence_to_key_events(sequence)
            return
        together = list(super()._sequence_to_key_events(sequence, alt=True))
        if any(event.key in self._bound for event in together):
            yield from together
        else:
            yield events.Key("escape", _ESC)
            yield from super()._sequence_to_key_events(sequence)
