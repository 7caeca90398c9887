"""How well a few letters fit a name: in their order, the beginnings of its words first. Pure."""

from __future__ import annotations

from backends.values import dataclass

_LETTER, _FOLLOWS, _BEGINS, _NAMED = 1.0, 1.5, 2.0, 0.5
"""What a letter is worth, and more where it follows the one before, begins a word, stands in the name itself."""

_ENOUGH = 0.6
"""Of the best there could be; less is a chance meeting of letters."""


_Paths = dict[int, tuple[float, tuple[int, ...]]]
"""Ways through the text by where they have come to: what each is worth, and its places."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Letters that were found in a text."""

    nearness: float
    """0 is not at all, 1 the best there can be."""
    places: tuple[int, ...] = ()
    """Where in the text they stand."""


NONE = Fit(0.0)
"""They are not in it."""


def fit(letters: str, text: str, named_at: int = 0) -> Fit:
    """The best way to find the letters in the text, in their order; the first has to begin a word.

    `named_at`: where the name itself begins, behind what it belongs to.
    """
    wanted, folded = "".join(letters.split()).lower(), text.lower()
    if not wanted or len(folded) != len(text):
        return NONE
    paths: _Paths = {}
    for at in _places(folded, wanted[0]):
        if _begins(folded, at):
            paths[at] = _worth(folded, at, None, named_at), (at,)
    for letter in wanted[1:]:
        longer: _Paths = {}
        for at in _places(folded, letter):
            before = [(last, *paths[last]) for last in paths if last < at]
            ways = [(had + _worth(folded, at, last, named_at), path) for last, had, path in before]
            if ways:
                worth, path = max(ways)
                longer[at] = worth, (*path, at)
        paths = longer
    if not paths:
        return NONE
    worth, places = max(paths.values())
    nearness = worth / (len(wanted) * (_LETTER + _BEGINS + _NAMED))
    return Fit(nearness, places) if nearness >= _ENOUGH else NONE


def _places(text: str, letter: str) -> list[int]:
    return [at for at, each in enumerate(text) if each == letter]


def _begins(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()


def _worth(text: str, at: int, last: int | None, named_at: int) -> float:
    near = _BEGINS if _begins(text, at) else _FOLLOWS if last == at - 1 else 0.0
    return _LETTER + near + (_NAMED if at >= named_at else 0.0)
