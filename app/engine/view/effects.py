"""When a change takes effect and what else it moves, in the words of screen and command line. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from backends.change import Change
from backends.model import Scope
from backends.settings import Effect

_WORDS: dict[Effect, str] = {
    Effect.AT_ONCE: "at once",
    Effect.REBOOT: "after a reboot",
    Effect.RESET: "after a reset",
    Effect.RESHAPE: "after a reshape",
    Effect.RECREATED: "array re-created",
}
_OF_A_DRIVE: dict[Effect, str] = {Effect.RECREATED: "formatted anew"}


def effect_words(effect: Effect, scope: Scope) -> str:
    """When a value of something of that kind takes effect: an array is made anew, a drive is formatted."""
    return _OF_A_DRIVE.get(effect, _WORDS[effect]) if scope is Scope.DRIVE else _WORDS[effect]


def moves_words(changes: Iterable[Change]) -> tuple[str, ...]:
    """A sentence for each change that may move other settings besides its own."""
    return tuple(dict.fromkeys(f"{one.label} may also change {', '.join(one.moves)}." for one in changes if one.moves))
