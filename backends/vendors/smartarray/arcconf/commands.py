"""All arcconf command lines that raidbench runs, as listed in docs/smartarray.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from backends.array_planning import LEVELS as BY_NUMBER
from backends.array_planning import is_name
from backends.errors import InvalidValueError
from backends.raid import PARITY
from backends.sizes import size_words
from backends.tool_output import CompletenessCheck, last_line, line_end
from backends.values import dataclass
from backends.vendors.smartarray.dialect import NewLogical
from backends.vendors.smartarray.facts import Family

DONE = "Command completed successfully."
"""Last line of all successful output; nothing else means success."""
ABORTED = "Command aborted."
"""Last line of the output of a refused command."""
WHOLE = CompletenessCheck(tool="arcconf: `getconfig`, `list`", mark=f"the last line `{DONE}`", missing=last_line(DONE))
"""Completeness check for the output of `getconfig` and `list`."""
STATUS = CompletenessCheck(
    tool="arcconf: `getstatus`",
    mark=f"the last line `{DONE}`, or `{ABORTED}`",
    missing=last_line(DONE, ABORTED),
    statuses=frozenset(),
)
"""Completeness check for `getstatus`, which a controller without logical devices refuses."""
USAGES = CompletenessCheck(
    tool="arcconf: usage text",
    mark="no truncated line",
    hides="the last lines: raidbench does not offer the settings that they describe",
    missing=line_end,
    statuses=frozenset(),
)
"""Completeness check for usage texts."""

LIST = ("list",)
"""Arguments that list the controllers."""
VERSIONS = ("getversion",)
"""Arguments that list the controllers in builds that have no `list`."""
USAGE = ("setcache",)
"""Arguments that print the usage of `setcache`. Without more arguments it changes nothing."""

WRITE_CACHE = {"write-through": "wt", "write-back": "wbb", "always-write-back": "wb"}
"""Arguments by write policy of a logical device of series 2 to 8. `wbb` is write-back only while the cache is
protected."""

READ_CACHE = {"on": "ron", "off": "roff"}
"""Arguments by read cache setting of a logical device of series 2 to 8."""

DRIVE_CACHE = {"on": "wb", "off": "wt"}
"""Arguments by setting of a drive's write cache."""

PERFORMANCE = {"dynamic": "1", "oltp": "2", "big-block": "3"}
"""Arguments (numbers) by performance mode."""

POLICIES = {"default": "0", "enable": "1", "disable": "2"}
"""Arguments (numbers) by policy for the drive caches (Microchip's storage library)."""

DRIVES = {
    "drive_write_cache": "Configured",
    "drive_write_cache_unconfigured": "Unconfigured",
    "drive_write_cache_hba": "HBA",
}
"""Names of the drives that a policy applies to, as arcconf prints them, by setting key."""

CREATE = ("create",)
"""Arguments that print the usage of `create`. Without more arguments it creates nothing."""

LEVELS = {level: level.value.removeprefix("raid") for level in BY_NUMBER}
"""Arguments by RAID level."""

STRIP = 256 << 10
"""Default strip size in bytes, according to the usage."""

_PAIRS = (("lon", "loff"), ("con", "coff"))

_CREATES = {
    *("stripesize", "legs", "method", "quick", "ldcache", "rcache", "wcache", "max"),
    *(word for pair in _PAIRS for word in pair),
    *READ_CACHE.values(),
    *WRITE_CACHE.values(),
}


def config(number: str) -> tuple[str, ...]:
    """Return the arguments that read everything about a controller."""
    return ("getconfig", number, "al")


def status(number: str) -> tuple[str, ...]:
    """Return the arguments that list the running operations of a controller."""
    return ("getstatus", number)


@dataclass(frozen=True, slots=True)
class SetcacheOptions:
    """Arguments that this build supports, according to a usage text."""

    usage: str = ""
    """Usage text, without an incomplete last line."""

    def noprompt_words(self, word: str) -> tuple[str, ...] | None:
        """Return the arguments that suppress the prompt of `setcache ... word`; None if the usage has no `word`."""
        forms = self.usage.lower().split("setcache")
        form = next((form for form in forms if word.lower() in form.split()[:2]), None)
        return None if form is None else ("noprompt",) if "[noprompt]" in form else ()

    def has_word(self, word: str) -> bool:
        """Return whether the usage text contains `word` as a separate word, in any case."""
        return word.lower() in re.findall(r"[a-z]{2,20}", self.usage.lower())

    @property
    def caching(self) -> tuple[str, str] | None:
        """Return the arguments that turn caching of a SmartRAID's logical device on and off, or None."""
        usage_tokens = set(re.findall(r"[a-z]{2,8}", self.usage.lower()))
        return next((pair for pair in _PAIRS if set(pair) <= usage_tokens), None)


def creation_options(family: Family, setcache_options: SetcacheOptions) -> Mapping[str, tuple[str, Mapping[str, str]]]:
    """Return the cache options of `create` by setting key, each with the option's arguments by value.

    Options and values that are not in the usage of `create` are left out.
    """
    on, off = setcache_options.caching or ("", "")
    smart = {"acceleration": ("ldcache", {"none": off, "controller-cache": on})}
    series = {"write_cache": ("wcache", WRITE_CACHE), "read_cache": ("rcache", READ_CACHE)}
    return {
        key: (word, {value: argument for value, argument in table.items() if setcache_options.has_word(argument)})
        for key, (word, table) in (smart if family is Family.SMART else series).items()
        if setcache_options.has_word(word)
    }


def create(number: str, family: Family, new: NewLogical, setcache_options: SetcacheOptions) -> tuple[str, ...]:
    """Return the arguments that create a logical device over whole drives, using only options in the usage text.

    Raises InvalidValueError for a level, strip size or layout that this build does not support, or if it cannot set a
    name.
    """
    if new.level not in LEVELS:
        raise InvalidValueError(f"arcconf does not support {new.level.name}.")
    if not setcache_options.has_word("name"):  # raidbench later recognises its logical device by drives and name
        raise InvalidValueError("This arcconf cannot name a logical device, so raidbench could not identify it later.")
    line = ["name", new.name]
    if setcache_options.has_word("stripesize"):
        line += ["stripesize", str(new.strip_bytes // 1024)]
    elif new.strip_bytes != STRIP:
        raise InvalidValueError("This arcconf cannot set a strip size.", hint=f"Supported here: {size_words(STRIP)}.")
    if new.parity_groups is not None:
        if not setcache_options.has_word("legs"):
            raise InvalidValueError(f"This arcconf cannot set the spans of a {new.level.name}.")
        line += ["legs", str(new.parity_groups)]
    if setcache_options.has_word("quick") and new.level in PARITY:
        line += ["method", "quick"]
    for key, (word, table) in creation_options(family, setcache_options).items():
        if (value := new.policies.get(key)) is not None:
            line += [word, table[value]]
    pairs = [part for bay in new.places for part in bay.split(":")]
    return ("create", number, "logicaldrive", *line, "max", LEVELS[new.level], *pairs, "noprompt")


def delete(number: str, volume: int) -> tuple[str, ...]:
    """Return the arguments that delete a logical device."""
    return ("delete", number, "logicaldrive", str(volume), "noprompt")


def is_creation_or_deletion(number: str, args: Sequence[str]) -> bool:
    """Return whether these arguments are a `create` or `delete` command for this controller and nothing else."""
    match list(args):
        case ["create", card, "logicaldrive", "name", name, *rest, "noprompt"]:
            understood = all(word in _CREATES or (word.isascii() and word.isdigit()) for word in rest)
            return card == number and is_name(name) and understood
        case ["delete", card, "logicaldrive", volume, "noprompt"]:
            return card == number and volume.isascii() and volume.isdigit()
        case _:
            return False
