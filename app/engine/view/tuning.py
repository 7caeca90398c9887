"""How a device is tuned, in the few words of a row: write cache, read-ahead, strip, and what else tells most. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.view.setting import now_cell, value_words
from app.engine.view.table import Cell, Tone
from backends.settings import Reading, Setting
from backends.values import dataclass

Pairs = Mapping[str, tuple[Setting, Reading]]
"""Settings as they were read, by key."""

WRITE_CACHE = ("cache_mode", "write_cache")
"""That of a cache device before that of the kernel's queue."""

READ_AHEAD = ("read_ahead", "lv_read_ahead", "read_ahead_kb")
STRIP = ("strip_size", "chunk_size", "stripe_size")
TELLING = {
    "io_policy": "",
    "bitmap": "bitmap ",
    "sync": "sync ",
    "compression": "compression ",
    "scheduler": "",
    "nr_requests": "",
}
"""What else is told, and how that begins, as far as there is such a setting: two of them at most."""


_NOTHING = Cell("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The cells of a device's row that say how it is tuned; empty ones where it has no such setting."""

    write_cache: Cell = _NOTHING
    """Without the `write-` that the heading says."""
    read_ahead: Cell = _NOTHING
    """Of the card or of the kernel's queue."""
    strip: Cell = _NOTHING
    """Of an array that is striped."""
    others: str = ""
    """I/O policy, bitmap, scheduler, queue."""


UNREAD = Tuning()
"""Of what has not been read, or has no settings."""


def tuning(pairs: Pairs) -> Tuning:
    """The telling settings of a device."""
    told = [
        start + value_words(*pairs[key], pairs[key][1].effective if pairs[key][1].follows else pairs[key][1].now)
        for key, start in TELLING.items()
        if key in pairs and pairs[key][1].now is not None
    ]
    return Tuning(
        write_cache=_cell(pairs, WRITE_CACHE),
        read_ahead=_cell(pairs, READ_AHEAD),
        strip=_cell(pairs, STRIP),
        others=", ".join(told[:2]),
    )


def _cell(pairs: Pairs, keys: tuple[str, ...]) -> Cell:
    """The first of these settings that there is; with what is in force instead, where that is something else."""
    pair = next((pairs[key] for key in keys if key in pairs and pairs[key][1].now is not None), None)
    if pair is None:
        return _NOTHING
    setting, reading = pair
    if not reading.overruled:
        return Cell(_brief(now_cell(setting, reading).text))
    words = (_brief(value_words(setting, reading, value)) for value in (reading.now, reading.effective))
    return Cell(f" {SIGN} ".join(words), Tone.ATTENTION)


SIGN = "▲"
"""Before the value that is in force instead of the one that is set; the same as of `Mark.ATTENTION`."""


def _brief(words: str) -> str:
    return words.removeprefix("write-")
