"""Rare fio options that a job passes on unchanged: an allow-list with the legal values of each option.

No option in the list runs a program, opens a file, names a device or hides a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.core.fio.job_values import parse_flag
from app.core.fio.option_values import read_microseconds, read_number
from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

Extra = tuple[tuple[str, str], ...]
"""Options and their values, sorted by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraOption:
    """An option that is passed on to fio."""

    default: str
    """The value that applies if a job does not set the option, in the form that `read` returns; "" if fio decides."""
    read: Callable[[str], str]
    """Returns the value as fio expects it. Raises InvalidValueError for an illegal value."""

    @property
    def is_flag(self) -> bool:
        """Return whether the value is 0 or 1."""
        return self.read is _flag


def _flag(text: str) -> str:
    return str(int(parse_flag(text)))


def _between(least: int, most: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        number = read_number(text)
        if not least <= number <= most:
            raise InvalidValueError(f"'{clean(text, 40)}' is not between {least} and {most}")
        return str(number)

    return read


def _short_time(text: str) -> str:
    microseconds = read_microseconds(text, bare="us")
    if microseconds > 10**6:
        raise InvalidValueError(f"'{clean(text, 40)}' is longer than 1 second")
    return str(microseconds)


def _word(*choices: str, **aliases: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        word = aliases.get(text, text)
        if word not in choices:
            raise InvalidValueError(f"'{clean(text, 40)}' is not one of {', '.join(choices)}")
        return word

    return read


_DEPTH = _between(0, 65536)

EXTRA: Mapping[str, ExtraOption] = {
    "allrandrepeat": ExtraOption(default="0", read=_flag),
    "clocksource": ExtraOption(default="", read=_word("gettimeofday", "clock_gettime", "cpu")),
    "end_fsync": ExtraOption(default="0", read=_flag),
    "fadvise_hint": ExtraOption(default="1", read=_word("0", "1", "random", "sequential")),
    "fallocate": ExtraOption(default="none", read=_word("none", "native")),
    "fsync_on_close": ExtraOption(default="0", read=_flag),
    "invalidate": ExtraOption(default="1", read=_flag),
    "iodepth_batch": ExtraOption(default="1", read=_DEPTH),
    "iodepth_batch_complete_max": ExtraOption(default="", read=_DEPTH),
    "iodepth_batch_complete_min": ExtraOption(default="1", read=_DEPTH),
    "iodepth_low": ExtraOption(default="", read=_DEPTH),
    "io_submit_mode": ExtraOption(default="inline", read=_word("inline", "offload")),
    "iomem_align": ExtraOption(default="0", read=_between(0, 1 << 30)),
    "mem": ExtraOption(default="malloc", read=_word("malloc", "shm", "mmap")),
    "nice": ExtraOption(default="0", read=_between(0, 19)),
    "randrepeat": ExtraOption(default="0", read=_flag),
    "random_generator": ExtraOption(default="tausworthe", read=_word("tausworthe", "lfsr", "tausworthe64")),
    "rate_cycle": ExtraOption(default="1000", read=_between(1, 10_000)),
    "rate_ignore_thinktime": ExtraOption(default="0", read=_flag),
    "serialize_overlap": ExtraOption(default="0", read=_flag),
    "softrandommap": ExtraOption(default="0", read=_flag),
    "thinktime_blocks_type": ExtraOption(default="issue", read=_word("complete", "issue")),
    "thinktime_spin": ExtraOption(default="0", read=_short_time),
    "write_hint": ExtraOption(default="", read=_word("none", "short", "medium", "long", "extreme")),
}
"""All options that raidbench passes on to fio, by name."""


def parse_extra(text: str) -> Extra | None:
    """Return the options in a text like `end_fsync=1 iodepth_low=8`; None if it is empty.

    Raises InvalidValueError for an unknown option or an illegal value.
    """
    options: dict[str, str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if key not in EXTRA:
            raise InvalidValueError(
                f"'{clean(key, 40)}' is not a fio option that raidbench passes on",
                hint=(f"Use one of {', '.join(EXTRA)}."),
            )
        options[key] = EXTRA[key].read(value if equals else "1")
    return tuple(sorted(options.items())) or None


def format_extra(value: object) -> str:
    """Return the options as text that `parse_extra` reads."""
    return " ".join(f"{key}={text}" for key, text in value) if isinstance(value, tuple) else str(value)
