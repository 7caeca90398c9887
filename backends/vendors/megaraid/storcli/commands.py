"""All command lines for storcli and perccli that raidbench runs, as listed in docs/megaraid.md. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.errors import InvalidValueError
from backends.host import Command
from backends.vendors.megaraid.dialect import NewVolume
from backends.vendors.megaraid.storcli.properties import BYPASS_WORDS, NUMBERS, WORDS

LIST_SECONDS = 60.0
"""Timeout in seconds for `show`, which queries every controller."""

READ_SECONDS = 180.0
"""Timeout in seconds for commands that read one controller. `show all` of a large chassis takes tens of seconds."""

SET_SECONDS = 300.0
"""Seconds after which a change counts as slow; raidbench still waits for it and never kills it."""

ENDING = ("J", "nolog")
"""Last arguments, which request JSON output and no log file."""

VOLUME_WORDS = {
    "write_cache": ("wrcache", {"write-through": "wt", "write-back": "wb", "always-write-back": "awb"}),
    "read_ahead": ("rdcache", {"none": "nora", "read-ahead": "ra", "adaptive": "adra"}),
    "io_policy": ("iopolicy", {"direct": "direct", "cached": "cached"}),
    "drive_cache": ("pdcache", {"on": "on", "off": "off", "default": "default"}),
    "access_policy": ("accesspolicy", {"read-write": "rw", "read-only": "ro", "blocked": "blocked"}),
    "auto_bgi": ("autobgi", {"on": "on", "off": "off"}),
}
"""Settings of a virtual drive: the tool's name of each, and its names for the values."""

_VOLUME_SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **{
        key: {value: (f"{name}={word}",) for value, word in texts.items()}
        for key, (name, texts) in VOLUME_WORDS.items()
    },
    "cache_bypass_mode": BYPASS_WORDS,
}
"""Settings of a virtual drive: the arguments after `set`, by value."""

RATES = {
    "rebuild_rate": ("rebuildrate={}",),
    "bgi_rate": ("bgirate={}",),
    "cc_rate": ("ccrate={}",),
    "migrate_rate": ("migraterate={}",),
    "patrol_read_rate": ("prrate={}",),
    "cache_flush_interval": ("cacheflushint={}",),
    "perf_mode": ("perfmode={}",),
}
"""Numeric settings of a controller: the arguments after `set`, by setting key."""

CARD_WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "patrol_read": {
        "off": ("patrolread=off",),
        "auto": ("patrolread=on", "mode=auto"),
        "manual": ("patrolread=on", "mode=manual"),
    },
    "consistency_check": {"off": ("cc=off",), "sequential": ("cc=seq",), "concurrent": ("cc=conc",)},
}
"""Settings of a controller with named values: the arguments after `set`, by value."""

STRIPS = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Legal strip sizes in KiB; a controller may support fewer."""

LEVELS = {
    "raid0": "r0",
    "raid1": "r1",
    "raid5": "r5",
    "raid6": "r6",
    "raid10": "r10",
    "raid50": "r50",
    "raid60": "r60",
}
"""Names of levels in `add vd`."""

SPANNED = ("raid10", "raid50", "raid60")
"""Levels that need `pdperarray`."""


def read(tool: str, *arguments: str, seconds: float = READ_SECONDS) -> Command:
    """Return a command that only reads."""
    return Command(argv=(tool, *arguments, *ENDING), timeout=seconds)


def change(tool: str, *arguments: str, secret: tuple[str, ...] = ()) -> Command:
    """Return a command that changes something."""
    return Command(argv=(tool, *arguments, *ENDING), timeout=SET_SECONDS, mutates=True, secret=secret)


def without_nolog(command: Command) -> Command:
    """Return the command without `nolog`, for a build that does not support it."""
    argv = tuple(word for word in command.argv if word != "nolog")
    return Command(argv=argv, timeout=command.timeout, mutates=command.mutates, secret=command.secret, env=command.env)


def volume_arguments(key: str, value: str, lacking: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    """Return the arguments that set a virtual drive's setting: `wrcache=wt`.

    `lacking`: pairs (key, value) that this version of the tool cannot set; (key, "") stands for a whole setting. Raises
    InvalidValueError for these and for unknown values.
    """
    texts = _VOLUME_SETS.get(key)
    if texts is None or (key, "") in lacking:
        raise InvalidValueError(f"This tool cannot set {key}.")
    if value not in texts or (key, value) in lacking:
        raise InvalidValueError(f"This tool cannot set {key} to {value!r}.", hint=f"Legal values: {', '.join(texts)}.")
    return texts[value]


def card_arguments(key: str, value: str) -> tuple[str, ...]:
    """Return the arguments that set a controller's `key`: `rebuildrate=30`. InvalidValueError for an illegal value."""
    if (templates := RATES.get(key) or NUMBERS.get(key)) is not None:
        if not (value.isascii() and value.isdigit() and len(value) < 6):
            raise InvalidValueError(f"{key} must be a whole number, not {value!r}.")
        return tuple(word.format(int(value)) for word in templates)
    arguments = CARD_WORDS.get(key, WORDS.get(key, {})).get(value)
    if arguments is None:
        raise InvalidValueError(f"This tool cannot set {key} to {value!r}.")
    return arguments


def add_arguments(new: NewVolume) -> tuple[str, ...]:
    """Return the arguments of `add vd`, in the tool's order. Raises InvalidValueError for an impossible layout."""
    level = LEVELS.get(new.level)
    strip, odd = divmod(new.strip_bytes, 1024)
    if level is None:
        raise InvalidValueError(f"This tool does not support the level {new.level!r}.")
    if odd or strip not in STRIPS:
        raise InvalidValueError(f"The tool does not support a strip of {new.strip_bytes} bytes.")
    if new.name is not None and not _is_valid_name(new.name):
        raise InvalidValueError(f"The tool does not accept the name {new.name!r}.")
    parts = ["add", "vd", level]
    parts += [f"name={new.name}"] if new.name else []
    parts.append(f"drives={drives_text(new.drives)}")
    if new.level in SPANNED:
        per = new.drives_per_span
        if per is None or per < 1 or len(new.drives) % per:
            raise InvalidValueError("The number of drives in each span is unknown.")
        parts.append(f"pdperarray={per}")
    if new.drive_cache is not None:
        parts += volume_arguments("drive_cache", new.drive_cache, frozenset())
    parts += [_policy_word("write_cache", new.write_cache), _policy_word("read_ahead", new.read_ahead)]
    parts += [_policy_word("io_policy", new.io_policy)] if new.io_policy else []
    return (*parts, f"strip={strip}")


def _policy_word(key: str, value: str) -> str:
    _, by_value = VOLUME_WORDS[key]
    if value not in by_value:
        raise InvalidValueError(f"This tool cannot set {key} to {value!r}.")
    return by_value[value]


def _is_valid_name(name: str) -> bool:
    """Return whether the tool accepts the name, that is, up to 15 characters that need no quoting."""
    return 0 < len(name) <= 15 and all(char.isascii() and (char.isalnum() or char in "_-.") for char in name)


def drives_text(drives: Sequence[str]) -> str:
    """Return the drives as `245:1-3,246:0`, with adjacent slots of an enclosure joined.

    The order of the drives is kept, because it decides the spans. Raises InvalidValueError for a drive without
    enclosure or slot.
    """
    runs: list[tuple[str, int, int]] = []
    for address in drives:
        enclosure, colon, slot = address.partition(":")
        if not colon or not slot.isdigit() or not enclosure.isdigit():
            raise InvalidValueError(
                f"The drive {address!r} has no enclosure, so raidbench cannot name it for the tool."
            )
        number = int(slot)
        if runs and runs[-1][0] == enclosure and runs[-1][2] == number - 1:
            runs[-1] = (enclosure, runs[-1][1], number)
        else:
            runs.append((enclosure, number, number))
    if not runs:
        raise InvalidValueError("Its drives are unknown.")
    return ",".join(
        f"{enclosure}:{first}-{last}" if last > first else f"{enclosure}:{first}" for enclosure, first, last in runs
    )
