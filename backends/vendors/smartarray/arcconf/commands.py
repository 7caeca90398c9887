"""The command lines of arcconf.

Words after the program, `C` a controller, counted from 1; `noprompt` keeps it from asking: of a SmartRAID it is said
where the usage has it ([noprompt]).

Reads:

    list                                which cards it sees (builds that do not know it: getversion)
    getconfig C al                      card, arrays, logical devices and drives in one text, read again around a change
    getstatus C                         work under way
    setcache                            its own usage, once, where a SmartRAID has logical devices: what may be set,
                                        what it calls their caching, and which words take `noprompt`

Changes, one a command:

    series 2 to 8
    setcache C logicaldrive L ron|roff noprompt
    setcache C logicaldrive L wt|wbb|wb noprompt
    setcache C device CHANNEL ID wb|wt noprompt
    setperform C 1|2|3
    setpriority C low|medium|high

    SmartRAID
    setcache C cacheratio READ WRITE [noprompt]
    setcache C nobatterywritecache|waitforcacheroom enable|disable [noprompt]
    setcache C writecachebypassthreshold KB [noprompt]
    setcache C drivewritecachepolicy Configured|Unconfigured|HBA 0|1|2 [noprompt]
    setcache C logicaldrive L WORD [noprompt]   the pair of words that the usage names

    any
    create C logicaldrive name NAME [stripesize KIB] [method quick] [ldcache lon|loff] [wcache wt|wbb]
        max LEVEL CHANNEL ID ... noprompt
    delete C logicaldrive L noprompt

`create` alone prints its usage (asked before something is planned): a word that is not in it is not said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.answers import Whole, last_line, line_end
from backends.errors import InvalidValueError
from backends.making import is_name
from backends.model import Level
from backends.values import dataclass
from backends.vendors.smartarray.dialect import NewLogical
from backends.vendors.smartarray.facts import Family

DONE = "Command completed successfully."
"""The last line of every good answer; nothing else means success."""
ABORTED = "Command aborted."
"""The last line of a refusal."""
WHOLE = Whole(tool="arcconf: `getconfig`, `list`", mark=f"its last line is `{DONE}`", missing=last_line(DONE))
"""What tells that an answer was not cut."""
STATUS = Whole(
    tool="arcconf: `getstatus`",
    mark=f"its last line is `{DONE}`, or `{ABORTED}`",
    missing=last_line(DONE, ABORTED),
    statuses=frozenset(),
)
"""The same of an answer that cards without logical devices refuse."""
USAGES = Whole(
    tool="arcconf: its usage",
    mark="no line is torn",
    hides="the last lines: what they are for is not set",
    missing=line_end,
    statuses=frozenset(),
)
"""The same of the words that it knows."""

LIST = ("list",)
"""Which cards there are."""
VERSIONS = ("getversion",)
"""The same for builds that do not know `list`."""
USAGE = ("setcache",)
"""What may be said to `setcache`; without more words it changes nothing."""

WRITE_CACHE = {"write-through": "wt", "write-back": "wbb", "always-write-back": "wb"}
"""Words for the write cache of a logical device of series 2 to 8: `wbb` is on while it is protected."""

READ_CACHE = {"on": "ron", "off": "roff"}
"""Words for its read cache."""

DRIVE_CACHE = {"on": "wb", "off": "wt"}
"""Words for a drive's own cache."""

PERFORMANCE = {"dynamic": "1", "oltp": "2", "big-block": "3"}
"""Numbers of the performance modes."""

POLICIES = {"default": "0", "enable": "1", "disable": "2"}
"""Numbers of the policies for the drives' caches (Microchip's storage library)."""

DRIVES = {
    "drive_write_cache": "Configured",
    "drive_write_cache_unconfigured": "Unconfigured",
    "drive_write_cache_hba": "HBA",
}
"""Which drives a policy is for, in the words of its answers."""

CREATE = ("create",)
"""Its usage for making a logical device; without more words it makes nothing."""

LEVELS = {Level.RAID0: "0", Level.RAID1: "1", Level.RAID5: "5", Level.RAID6: "6", Level.RAID10: "10"}
"""What it calls the levels. How it is told the legs of RAID 50 and 60 is not known."""

_CREATES = {"name", "stripesize", "method", "quick", "ldcache", "wcache", "max", "lon", "loff", "wt", "wbb"}

_PAIRS = (("lon", "loff"), ("con", "coff"))


def config(number: str) -> tuple[str, ...]:
    """All of a card."""
    return ("getconfig", number, "al")


def status(number: str) -> tuple[str, ...]:
    """Its work under way."""
    return ("getstatus", number)


@dataclass(frozen=True, slots=True)
class CacheWords:
    """What may be said to the `setcache` of this build, as its usage tells."""

    usage: str = ""
    """Whole lines of it."""

    def end(self, word: str) -> tuple[str, ...] | None:
        """What keeps the form of `word` from asking, where it takes that; None where there is no such form."""
        forms = self.usage.lower().split("setcache")
        form = next((form for form in forms if word.lower() in form.split()[:2]), None)
        return None if form is None else ("noprompt",) if "[noprompt]" in form else ()

    def knows(self, word: str) -> bool:
        """Whether it names a word."""
        return word.lower() in re.findall(r"[a-z]{2,20}", self.usage.lower())

    @property
    def caching(self) -> tuple[str, str] | None:
        """Caching of a SmartRAID's logical device, on and off; None where it names no pair."""
        words = set(re.findall(r"[a-z]{2,8}", self.usage.lower()))
        return next((pair for pair in _PAIRS if set(pair) <= words), None)


def create(number: str, family: Family, new: NewLogical, words: CacheWords) -> tuple[str, ...]:
    """What makes a logical device of whole drives, in words that its usage has. Raises InvalidValueError."""
    cache = "ldcache" if family is Family.SMART else "wcache"
    cached = ("lon", "loff") if family is Family.SMART else ("wbb", "wt")
    if new.level not in LEVELS:
        raise InvalidValueError(f"How arcconf is told the legs of a {new.level.name} is not known.")
    if not words.knows("name"):  # then nothing would tell it from another one over the same drives
        raise InvalidValueError("This arcconf gives a logical device no name, by which it is known again.")
    line = ["name", new.name]
    if words.knows("stripesize"):
        line += ["stripesize", str(new.strip_bytes // 1024)]
    if words.knows("quick") and new.level in (Level.RAID5, Level.RAID6):
        line += ["method", "quick"]
    if words.knows(cache):
        line += [cache, cached[0 if new.cached else 1]]
    pairs = [part for place in new.places for part in place.split(":")]
    return ("create", number, "logicaldrive", *line, "max", LEVELS[new.level], *pairs, "noprompt")


def delete(number: str, volume: int) -> tuple[str, ...]:
    """What deletes a logical device."""
    return ("delete", number, "logicaldrive", str(volume), "noprompt")


def makes(number: str, words: Sequence[str]) -> bool:
    """Whether these are the words of `create` or `delete` for this card, and no others."""
    match list(words):
        case ["create", card, "logicaldrive", "name", name, *rest, "noprompt"]:
            known = all(word in _CREATES or (word.isascii() and word.isdigit()) for word in rest)
            return card == number and is_name(name) and known
        case ["delete", card, "logicaldrive", volume, "noprompt"]:
            return card == number and volume.isascii() and volume.isdigit()
        case _:
            return False
