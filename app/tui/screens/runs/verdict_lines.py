"""The verdicts of a comparison in large words, with what each rests on."""

from __future__ import annotations

from app.engine.view.side_by_side import VerdictWords
from app.tui.render import TONES
from widgets.lines import Line, Lines
from widgets.plain.text import clean, width_of, wrap

_GAP = "   "
_BETWEEN = "        "


class VerdictLines(Lines):
    """The headline's verdict, then that of its tail: beside it where there is room."""

    DEFAULT_CSS = """
    VerdictLines {
        & > .lines--good { text-style: bold; }
        & > .lines--warning { text-style: bold; }
    }
    """

    def __init__(self, verdicts: tuple[VerdictWords, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._verdicts = verdicts

    def lay_out(self, width: int) -> list[Line]:
        """One line where all fits; why the headline is not decided wraps below."""
        told = [_pieces(verdict, large=at == 0) for at, verdict in enumerate(self._verdicts)]
        together = tuple(piece for at, one in enumerate(told) for piece in ((("value", _BETWEEN),) if at else ()) + one)
        lines = [together] if _width(together) <= width else [line for one in told for line in _broken(one, width)]
        reasons = [each.reason for each in self._verdicts[:1] if each.reason]
        return lines + [(("muted", text),) for reason in reasons for text in wrap(f"{reason}.", width)]


def _pieces(verdict: VerdictWords, *, large: bool) -> Line:
    tone = TONES[verdict.tone] or "value"
    word = f"{verdict.sign} {verdict.word}".strip()
    figure = ("title" if large else "value", f"{clean(verdict.figure)} ")
    difference = (tone if verdict.sign else "title", verdict.difference)
    between = (("label", _GAP + verdict.between),) if verdict.between else ()
    if large:
        return (("title" if tone == "muted" else tone, word.upper()), ("value", _GAP), figure, difference, *between)
    return (figure, (tone, f"{word} "), difference, *between)


def _width(line: Line) -> int:
    return sum(width_of(text) for _, text in line)


def _broken(line: Line, width: int) -> list[Line]:
    """The interval on a line of its own where it does not fit behind the rest."""
    if _width(line) <= width or len(line) < 2:
        return [line]
    kind, text = line[-1]
    return [line[:-1], ((kind, text.strip()),)]
