"""What a job file means to fio, in fio's own words: what its parser reports of each option, and its own defaults."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FIO = "fio"

Value = tuple[int | None, ...] | str
"""What fio made of an option: its numbers, None for a blank part; the text where fio keeps the text."""

_PERCENT = 1 << 63
"""fio keeps a share of the target as a number counted down from 2^64."""
_NUMBER = re.compile(r"-?\d+|0x[0-9a-f]+")
_GIVEN_UP = 60.0


@dataclass(slots=True)
class Section:
    """One job of a file with every option that fio applied to it, the globals first."""

    name: str
    options: list[tuple[str, Value]] = field(default_factory=list)

    @property
    def named(self) -> frozenset[str]:
        """Options that the file gives, by fio's own names."""
        return frozenset(name for name, _ in self.options)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What fio made of a file."""

    sections: tuple[Section, ...]
    complaint: str
    """Why fio runs nothing of it; "" if it runs."""


def read(text: str, folder: Path) -> Meaning:
    """What fio makes of a job file, without running it."""
    return _read((text,), folder)


def read_both(own: str, text: str, folder: Path) -> tuple[Meaning, Meaning]:
    """What fio makes of a file without globals and of another one, in one start of fio: a start takes 0.1 s of time."""
    both = _read((own, text), folder)
    if both.complaint:
        return read(own, folder), read(text, folder)
    count = own.count("[")
    return Meaning(both.sections[:count], ""), Meaning(both.sections[count:], "")


def _read(texts: Sequence[str], folder: Path) -> Meaning:
    places = [folder / f"parsed-{number}.fio" for number in range(len(texts))]
    for place, text in zip(places, texts, strict=True):
        place.write_bytes(text.encode())
    done = subprocess.run(
        [FIO, "--debug=parse", "--parse-only", *map(str, places)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_GIVEN_UP,
        check=False,
        cwd=folder,
    )
    complaint = ""
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("fio:")]
        complaint = "; ".join(said[:2]) or done.stderr.strip()[:120] or f"exit status {done.returncode}"
    return Meaning(tuple(_sections(done.stdout)), complaint)


def _sections(report: str) -> Iterator[Section]:
    """The jobs in the report of fio's parser. What it says of a section stands below the section's title."""
    shared: list[tuple[str, Value]] = []
    options = shared
    title = before = ""
    # The last line of a file without a line end runs into the first report on its options.
    for line in re.finditer(r"parse +\d+ +(.*?)(?=parse +\d+ |\n|$)", report):
        said = line[1].strip()
        if said.startswith("Parsing section ["):
            title = said.partition("[")[2].removesuffix("]")
            options = shared
        elif said == "dup options":
            # It takes the globals over, so it is a job: [globalX] is none, and [GLOBAL] is one.
            section = Section(title, list(shared))
            options = section.options
            yield section
        elif said == "filling default options" and before != "init options":
            # fio sets up a further file; only an engine's own defaults belong to the section.
            options = []
        elif found := re.match(r"handle_option=([^,]+), ptr=(.*)", said):
            options.append((found[1], "1" if found[2] == "(null)" else found[2].strip()))
        elif found := re.match(r"ret=(\d+), out=(\d+)", said):
            name, value = options[-1]
            parts = () if isinstance(value, str) else value
            options[-1] = (name, (*parts, int(found[2]) if found[1] == "0" else None))
        before = said


@cache
def names() -> tuple[str, ...]:
    """Every option of fio's job files."""
    told = _ask("--cmdhelp=all")
    return tuple(found[1] for line in told.splitlines() if (found := re.match(r" *([a-zA-Z_-]+) *: ", line)))


@cache
def default_of(name: str) -> str:
    """fio's default of an option, as its help gives it; "" where it names none."""
    told = re.search(r"^ *default: (.*)$", _ask(f"--cmdhelp={name}"), re.MULTILINE)
    return "" if told is None or told[1].strip() == "no default" else told[1].strip()


@cache
def spellings(option: str) -> frozenset[str]:
    """The names that fio has for an option: the one in a file, its own, and the other one that its help gives."""
    told = _ask(f"--cmdhelp={option}")
    own = re.match(r" *([\w-]+): ", told)
    alias = re.search(r"^ *alias: (\S+)$", told, re.MULTILINE)
    return frozenset((option, *(found[1] for found in (own, alias) if found is not None)))


def _ask(word: str) -> str:
    done = subprocess.run([FIO, word], capture_output=True, text=True, timeout=_GIVEN_UP, check=False)
    return done.stdout


# -- the effective job -------------------------------------------------------------------------------------------------

_WORDS: Mapping[str, Mapping[str, str]] = {
    "rw": {"readwrite": "rw", "trimwrite": "trimwrite"},
    "sync": {"0": "none", "1": "sync"},
    "fallocate": {"0": "none", "1": "posix"},
    "rate_process": {"uniform": "linear"},
    "fadvise_hint": {"0": "0", "none": "0"},
}
_ONE_FLAG = {"buffered": ("direct", 1), "rwmixwrite": ("rwmixread", 100)}
"""Options that are another one counted from the other end."""
_PER_DIRECTION = ("bs", "ba", "rate", "rate_iops", "rate_min", "rate_iops_min", "percentage_random")


class Effective:
    """The values by which fio runs one job, by option, with fio's defaults where the file says nothing."""

    def __init__(self) -> None:
        self._given: dict[str, object] = {}

    @property
    def given(self) -> frozenset[str]:
        """Options that the file names."""
        return frozenset(self._given)

    def value(self, option: str) -> object:
        """What fio takes for an option; None for one without a value or a default."""
        return self._given[option] if option in self._given else _default_value(option)

    def set(self, option: str, value: object) -> None:
        self._given[option] = value

    @property
    def pattern(self) -> str:
        return str(self.value("rw")).partition(":")[0]

    @property
    def reads(self) -> bool:
        return self.pattern in ("read", "randread", "rw", "randrw")

    @property
    def writes(self) -> bool:
        return self.pattern in ("write", "randwrite", "rw", "randrw", "trimwrite", "randtrimwrite")

    @property
    def trims(self) -> bool:
        return "trim" in self.pattern

    @property
    def mixed(self) -> bool:
        return self.pattern in ("rw", "randrw")

    @property
    def random(self) -> bool:
        return self.pattern.startswith("rand")

    @property
    def directions(self) -> tuple[int, ...]:
        """Places of the directions in use: reads, writes, trims."""
        return tuple(place for place, used in enumerate((self.reads, self.writes, self.trims)) if used)

    def number(self, option: str) -> int:
        """The whole number an option has; 0 if none."""
        value = self.value(option)
        return value if isinstance(value, int) else 0

    def blocks(self, place: int) -> tuple[object, ...]:
        """The block sizes of a direction with their shares, or the range they are drawn from."""
        if (split := self.value("bssplit")) is not None:
            shares = _split(str(split), place)
            return tuple(shares)
        low, high = self._pairs()[place]
        return (low, high)

    def draws_blocks(self, place: int) -> bool:
        """Whether chance decides on the size of each block of a direction."""
        low, high = self._pairs()[place]
        return len(self.blocks(place)) > 1 if self.value("bssplit") is not None else low != high

    def mean_block(self, place: int) -> float:
        if (split := self.value("bssplit")) is not None:
            return sum(size * percent for size, percent in _split(str(split), place)) / 100
        return sum(self._pairs()[place]) / 2

    def _pairs(self) -> list[tuple[int, int]]:
        sizes = self.value("bs")
        assert isinstance(sizes, tuple)
        pairs = [(size, size) for size in sizes]
        if (ranges := self.value("bsrange")) is not None:
            parts = [part.strip() for part in str(ranges).split(",")]
            filled = [parts[min(place, len(parts) - 1)] for place in range(3)]
            for place, part in enumerate(filled):
                if found := re.fullmatch(r"([^-:]+)[-:]([^-:]+)", part):
                    low, high = (_bytes(edge) for edge in (found[1], found[2]))
                    pairs[place] = (min(low, high), max(low, high))
        return pairs

    @property
    def timed(self) -> bool:
        """Whether time alone ends it; fio passes over `time_based` where there is no run time."""
        return bool(self.number("time_based")) and self.number("runtime") > 0

    def region(self, size: int) -> tuple[int, int]:
        """First byte and length of what the first clone of the job works on, of a target of `size` bytes."""
        start = _share(self.value("offset"), size)
        if whole := self.number("filesize"):
            return start, max(whole - start, 0)
        length = _share(self.value("size"), size) or size - start
        return start, self._whole_blocks(length)

    def ends_after(self, size: int) -> float:
        """I/Os after which a clone of the job ends; infinite if only time ends it."""
        if self.timed:
            return float("inf")
        region = self.region(size)[1]
        # A share of the amount is one of the region.
        length = _share(self.value("io_size"), region)
        if not length:
            length = min(_share(self.value("size"), size) or region, region)
        block = sum(self.mean_block(place) for place in self.directions) / max(len(self.directions), 1)
        ios = self.number("number_ios")
        return min(length / block, ios or float("inf")) * max(self.number("loops"), 1)

    def _whole_blocks(self, length: int) -> int:
        """fio works on whole blocks only."""
        smallest = min(min(self._pairs()[place]) for place in self.directions)
        return length // smallest * smallest


def effective(section: Section) -> Effective:
    """The values that hold when fio has applied all options of a section, one after the other."""
    found = Effective()
    for name, value in section.options:
        name, held = _canonical(name, value, found)
        found.set(name, held)
    return found


@cache
def _default_value(option: str) -> object:
    text = default_of(option)
    return _canonical(option, _as_value(text), None)[1] if text else None


def _as_value(text: str) -> Value:
    parts = text.split(",")
    return tuple(int(part, 0) for part in parts) if all(_NUMBER.fullmatch(part) for part in parts) else text


def _canonical(name: str, value: Value, before: Effective | None) -> tuple[str, object]:
    """An option and its value in the one way in which they are compared; `before` is the job without it."""
    if name in _ONE_FLAG and not isinstance(value, str) and value[0] is not None:
        other, whole = _ONE_FLAG[name]
        return other, whole - value[0]
    if name in _PER_DIRECTION and not isinstance(value, str):
        return name, _directions(value, before.value(name) if before is not None else None)
    if isinstance(value, str):
        words = _with_rests(" ".join(value.split()))
        return name, _WORDS.get(name, {}).get(words, words)
    if len(value) == 1:
        return name, value[0] if value[0] is not None else 0
    return name, value


def _with_rests(text: str) -> str:
    """A list of zones with the blank ends filled, as fio fills them: what is blank takes the rest."""
    if not text.startswith("zoned:"):
        return text
    zones = [zone.partition("/") for zone in text.removeprefix("zoned:").split(":")]
    rest = 100 - sum(int(length) for _, _, length in zones if length.isdigit())
    blank = sum(not length for _, _, length in zones)
    return "zoned:" + ":".join(f"{share}/{length or rest // max(blank, 1)}" for share, _, length in zones)


def _directions(parts: tuple[int | None, ...], before: object) -> tuple[int, ...]:
    """Values for reads, writes and trims: a single one is for all, the second also for trims, a blank changes none."""
    old = before if isinstance(before, tuple) else (0, 0, 0)
    if len(parts) < 3:
        parts = (parts[0],) * 3 if len(parts) == 1 else (*parts, parts[1])
    return tuple(previous if part is None else part for part, previous in zip(parts, old, strict=True))


def _share(value: object, size: int) -> int:
    """Bytes: fio's number, or its share of the target."""
    if not isinstance(value, int):
        return 0
    return size * ((1 << 64) - 1 - value) // 100 if value >= _PERCENT else value


_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def _bytes(text: str) -> int:
    """Bytes of a size within a list, where fio's parser does not report them: `4k`, `4kb` and `4KiB`."""
    found = re.fullmatch(r"(\d+)([kmgt]?)(i?b)?", text.strip().lower())
    assert found is not None, text
    base = 1000 if found[3] == "ib" and found[2] else 1024
    size: int = int(found[1]) * base ** _UNITS[found[2]]
    return size


def _split(text: str, place: int) -> list[tuple[int, float]]:
    """Block sizes of a direction with their percentages; what is blank shares the rest."""
    parts = text.split(",")
    part = parts[min(place, len(parts) - 1)]
    entries: list[tuple[int, float | None]] = []
    for entry in part.split(":"):
        size, _, percent = entry.partition("/")
        entries.append((_bytes(size), float(percent) if percent.strip() else None))
    named = [share for _, share in entries if share is not None]
    blank = len(entries) - len(named)
    shares: dict[int, float] = {}
    for block, share in sorted(entries, key=lambda entry: entry[0]):
        shares[block] = shares.get(block, 0.0) + ((100 - sum(named)) // blank if share is None else share)
    # fio takes the largest block where what it draws lies beyond all shares.
    shares[max(shares)] += 100 - sum(shares.values())
    return sorted((block, share) for block, share in shares.items() if share)


def same_default(text: str, told: str) -> bool:
    """Whether a value is the default that fio's help gives, which names one of three directions or all."""
    return text == told or (_as_value(text) in (_as_value(told), _as_value(told)[:1]))
