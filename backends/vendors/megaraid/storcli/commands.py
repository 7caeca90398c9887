"""Every command line that is ever given to storcli and perccli; docs/megaraid.md lists them. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.errors import InvalidValueError
from backends.host import Command
from backends.vendors.megaraid.dialect import NewVolume
from backends.vendors.megaraid.storcli.properties import BYPASS_WORDS, NUMBERS, WORDS

LIST_SECONDS = 60.0
"""For `show`, which asks every card."""

READ_SECONDS = 180.0
"""For reads of one card: `show all` of a large chassis takes tens of seconds."""

SET_SECONDS = 300.0
"""For changes; they are waited for in any case and never killed."""

ENDING = ("J", "nolog")
"""JSON, and no log file."""

VOLUME_WORDS = {
    "write_cache": ("wrcache", {"write-through": "wt", "write-back": "wb", "always-write-back": "awb"}),
    "read_ahead": ("rdcache", {"none": "nora", "read-ahead": "ra", "adaptive": "adra"}),
    "io_policy": ("iopolicy", {"direct": "direct", "cached": "cached"}),
    "drive_cache": ("pdcache", {"on": "on", "off": "off", "default": "default"}),
    "access_policy": ("accesspolicy", {"read-write": "rw", "read-only": "ro", "blocked": "blocked"}),
    "auto_bgi": ("autobgi", {"on": "on", "off": "off"}),
}
"""Settings of a volume: our key to the tool's property and its words."""

_VOLUME_SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **{
        key: {value: (f"{name}={word}",) for value, word in texts.items()}
        for key, (name, texts) in VOLUME_WORDS.items()
    },
    "cache_bypass_mode": BYPASS_WORDS,
}
"""Settings of a volume by value: what is said after `set`."""

RATES = {
    "rebuild_rate": ("rebuildrate={}",),
    "bgi_rate": ("bgirate={}",),
    "cc_rate": ("ccrate={}",),
    "migrate_rate": ("migraterate={}",),
    "patrol_read_rate": ("prrate={}",),
    "cache_flush_interval": ("cacheflushint={}",),
    "perf_mode": ("perfmode={}",),
}
"""Settings of a card that are numbers: what is said after `set`."""

CARD_WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "patrol_read": {
        "off": ("patrolread=off",),
        "auto": ("patrolread=on", "mode=auto"),
        "manual": ("patrolread=on", "mode=manual"),
    },
    "consistency_check": {"off": ("cc=off",), "sequential": ("cc=seq",), "concurrent": ("cc=conc",)},
}
"""Settings of a card that are words."""

STRIPS = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Legal strip sizes in KiB; a card may allow fewer."""

LEVELS = {
    "raid0": "r0",
    "raid1": "r1",
    "raid5": "r5",
    "raid6": "r6",
    "raid10": "r10",
    "raid50": "r50",
    "raid60": "r60",
}
"""Levels as `add vd` wants them."""

SPANNED = ("raid10", "raid50", "raid60")
"""Levels that need `pdperarray`."""


def read(tool: str, *arguments: str, seconds: float = READ_SECONDS) -> Command:
    """A command that changes nothing."""
    return Command(argv=(tool, *arguments, *ENDING), timeout=seconds)


def change(tool: str, *arguments: str, secret: tuple[str, ...] = ()) -> Command:
    """A command that changes something."""
    return Command(argv=(tool, *arguments, *ENDING), timeout=SET_SECONDS, mutates=True, secret=secret)


def without_nolog(command: Command) -> Command:
    """The same for a build that refuses `nolog`."""
    argv = tuple(word for word in command.argv if word != "nolog")
    return Command(argv=argv, timeout=command.timeout, mutates=command.mutates, secret=command.secret, env=command.env)


def volume_arguments(key: str, value: str, lacking: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    """`wrcache=wt` and the like. `lacking` are the (key, value) pairs and (key, "") that this version has not.

    Raises InvalidValueError.
    """
    texts = _VOLUME_SETS.get(key)
    if texts is None or (key, "") in lacking:
        raise InvalidValueError(f"This tool has no word for {key}.")
    if value not in texts or (key, value) in lacking:
        raise InvalidValueError(
            f"This tool has no word for {key} {value!r}.", hint=f"Legal values: {', '.join(texts)}."
        )
    return texts[value]


def card_arguments(key: str, value: str) -> tuple[str, ...]:
    """`rebuildrate=30` and the like. Raises InvalidValueError."""
    if (words := RATES.get(key) or NUMBERS.get(key)) is not None:
        if not (value.isascii() and value.isdigit() and len(value) < 6):
            raise InvalidValueError(f"{key} wants a whole number, not {value!r}.")
        return tuple(word.format(int(value)) for word in words)
    arguments = CARD_WORDS.get(key, WORDS.get(key, {})).get(value)
    if arguments is None:
        raise InvalidValueError(f"This tool has no word for {key} {value!r}.")
    return arguments


def add_arguments(new: NewVolume) -> tuple[str, ...]:
    """The words of `add vd`, in the order that the tool's own help gives. Raises InvalidValueError."""
    level = LEVELS.get(new.level)
    strip, odd = divmod(new.strip_bytes, 1024)
    if level is None:
        raise InvalidValueError(f"This tool has no word for the level {new.level!r}.")
    if odd or strip not in STRIPS:
        raise InvalidValueError(f"A strip of {new.strip_bytes} bytes cannot be made.")
    if new.name is not None and not _is_valid_name(new.name):
        raise InvalidValueError(f"The name {new.name!r} cannot be given to the tool.")
    parts = ["add", "vd", level]
    parts += [f"name={new.name}"] if new.name else []
    parts.append(f"drives={drives_text(new.drives)}")
    if new.level in SPANNED:
        per = new.drives_per_span
        if per is None or per < 1 or len(new.drives) % per:
            raise InvalidValueError("It is not known how many drives each span has.")
        parts.append(f"pdperarray={per}")
    if new.drive_cache is not None:
        parts += volume_arguments("drive_cache", new.drive_cache, frozenset())
    parts += [_policy_word("write_cache", new.write_cache), _policy_word("read_ahead", new.read_ahead)]
    parts += [_policy_word("io_policy", new.io_policy)] if new.io_policy else []
    return (*parts, f"strip={strip}")


def _policy_word(key: str, value: str) -> str:
    _, words = VOLUME_WORDS[key]
    if value not in words:
        raise InvalidValueError(f"This tool has no word for {key} {value!r}.")
    return words[value]


def _is_valid_name(name: str) -> bool:
    """Names the tool takes: up to 15 characters that need no quoting."""
    return 0 < len(name) <= 15 and all(char.isascii() and (char.isalnum() or char in "_-.") for char in name)


def drives_text(drives: Sequence[str]) -> str:
    """`245:1-3,246:0`: neighbours of one enclosure joined, the order kept, since it decides the spans.

    Raises InvalidValueError for a place that is not told.
    """
    runs: list[tuple[str, int, int]] = []
    for address in drives:
        enclosure, colon, slot = address.partition(":")
        if not colon or not slot.isdigit() or not enclosure.isdigit():
            raise InvalidValueError(
                f"It is not known how the tool wants the drive {address!r} named, without an enclosure."
            )
        number = int(slot)
        if runs and runs[-1][0] == enclosure and runs[-1][2] == number - 1:
            runs[-1] = (enclosure, runs[-1][1], number)
        else:
            runs.append((enclosure, number, number))
    if not runs:
        raise InvalidValueError("It is not known which drives it is made of.")
    return ",".join(
        f"{enclosure}:{first}-{last}" if last > first else f"{enclosure}:{first}" for enclosure, first, last in runs
    )
