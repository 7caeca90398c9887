"""What steps that earlier versions recorded say of the virtual drive that they would bring back. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from backends.change import Change
from backends.changing import strange_step
from backends.errors import RefusedError
from backends.vendors.megaraid.addresses import Place, parse
from backends.vendors.megaraid.choices import policies_in
from backends.vendors.megaraid.megacli.settings import LEVELS as MEGACLI_LEVELS
from backends.vendors.megaraid.megacli.settings import VOLUME_WORDS as MEGACLI_WORDS
from backends.vendors.megaraid.presence import MEGACLI, STORCLI_7, STORCLI_8
from backends.vendors.megaraid.storcli.commands import LEVELS as STORCLI_LEVELS
from backends.vendors.megaraid.storcli.commands import VOLUME_WORDS as STORCLI_WORDS
from backends.vendors.megaraid.storcli.commands import drives_words, volume_words

_PROGRAMS = frozenset((*STORCLI_7, *STORCLI_8, *(place.rpartition("/")[2] for place in MEGACLI)))
_LEVELS = {word: level for level, word in STORCLI_LEVELS.items()}
_OLD_LEVELS = {f"-R{number}": level for level, number in MEGACLI_LEVELS.items()}

_POLICY = {
    words[value]: (key, value)
    for key, (_, words) in STORCLI_WORDS.items()
    for value in words
    if key in ("write_cache", "read_ahead", "io_policy")
}
_OLD_POLICY = {
    MEGACLI_WORDS[key][value]: (key, value)
    for key in ("write_cache", "read_ahead", "io_policy", "drive_cache")
    for value in MEGACLI_WORDS[key]
}
"""By the words of each tool what it sets."""

_DRIVES = re.compile(r"drives=[0-9]{1,6}:[0-9:,-]{1,400}")
_OLD_DRIVES = re.compile(r"(-R[0-9]{1,2}|-Array[0-9])\[([0-9:,]{1,400})\]")
_OLD_NOISE = re.compile(r"-sz[0-9]{1,12}")


def companions_of(change: Change) -> dict[str, str] | None:
    """Level, policies and name that a virtual drive is made again with; none of a preset, whose value names them all.

    None for all that comes back by one command. Which drives it was made of is not taken from there. Raises
    RefusedError for a step that is none of such a change of this virtual drive.
    """
    if change.key not in ("strip_size", "fastpath"):
        return None
    place = parse(change.target)
    found: dict[str, str] = {}
    for step in change.undo:
        words = [word for word in step.meaning[1:] if word != "J"]
        ours = bool(step.argv) and step.argv[0].rpartition("/")[2] in _PROGRAMS
        told = None
        if ours and place is not None and place.volume is not None:
            told = _preset(change, place, words) if change.key == "fastpath" else _made(change, place, words)
        if told is None:
            raise strange_step(change, step)
        found |= told
    return found


def require_made_of(change: Change, drives: Sequence[str]) -> None:
    """Raises RefusedError unless its steps delete this virtual drive and make it again, of these very drives."""
    companions_of(replace(change, before=change.after, undo=change.writes))
    named = [text for step in change.writes for text in _drives_in(step.argv)]
    if len(change.writes) < 2 or ",".join(named) not in (",".join(drives), drives_words(drives)):
        raise RefusedError(f"{change.target} is made of {', '.join(drives)} now: plan it again.")


def _drives_in(argv: Sequence[str]) -> Iterator[str]:
    for word in argv:
        if (old := _OLD_DRIVES.fullmatch(word)) is not None:
            yield old[2]
        elif _DRIVES.fullmatch(word):
            yield word.removeprefix("drives=")


def _preset(change: Change, place: Place, words: Sequence[str]) -> Mapping[str, str] | None:
    """Nothing where these words set one of the policies that the value names; None where they do not."""
    lines: list[list[str]] = []
    for key, value in policies_in(change.before or "").items():
        if value in STORCLI_WORDS[key][1]:
            lines.append([f"/c{_number(place)}/v{place.volume}", "set", *volume_words(key, value, frozenset())])
        for word in MEGACLI_WORDS[key].get(value, ()):
            lines.append(["-LDSetProp", word, f"-L{place.volume}", f"-a{_number(place)}"])
    return {} if list(words) in lines else None


def _made(change: Change, place: Place, words: Sequence[str]) -> Mapping[str, str] | None:
    """What these words say of the virtual drive that they delete, make or complete; None where they do not."""
    card, drive, old_card, old_drive = (
        f"/c{_number(place)}",
        f"/c{_number(place)}/v{place.volume}",
        f"-a{_number(place)}",
        f"-L{place.volume}",
    )
    match list(words):
        case [at, "del" | "delete", "force"] if at == drive:
            return {}
        case [at, "add", "vd", level, *rest] if at == card and level in _LEVELS:
            return _added(change, _LEVELS[level], rest)
        case ["-CfgLdDel", at, on] if (at, on) == (old_drive, old_card):
            return {}
        case ["-CfgLDAdd" | "-CfgSpanAdd", *rest, on] if on == old_card:
            return _old_added(change, rest)
        case ["-LDSetProp", word, at, on] if (at, on) == (old_drive, old_card) and (word,) in _OLD_POLICY:
            return dict([_OLD_POLICY[word,]])
        case ["-LDSetProp", "-Name", name, at, on] if (at, on) == (old_drive, old_card):
            return {"name": name}
        case _:
            return None


def _added(change: Change, level: str, words: Sequence[str]) -> Mapping[str, str] | None:
    found, strip = {"level": level}, ""
    for word in words:
        option, _, text = word.partition("=")
        if option in ("name", "pdperarray", "pdcache"):
            found[{"pdperarray": "drives_per_span", "pdcache": "drive_cache"}.get(option, option)] = text
        elif option == "strip":
            strip = text
        elif word in _POLICY:
            found |= dict([_POLICY[word]])
        elif word != "size=all" and _DRIVES.fullmatch(word) is None:
            return None
    return found if _is_strip(change, strip) else None


def _old_added(change: Change, words: Sequence[str]) -> Mapping[str, str] | None:
    found, strip, writing = dict[str, str](), "", list[str]()
    for word in words:
        drives = _OLD_DRIVES.fullmatch(word)
        level = _OLD_LEVELS.get(drives[1] if drives is not None else word)
        if level is not None:
            found["level"] = level
        elif drives is not None:
            found["drives_per_span"] = str(drives[2].count(",") + 1)
        elif word.startswith("-strpsz"):
            strip = word.removeprefix("-strpsz")
        elif (word,) in _OLD_POLICY and _OLD_POLICY[word,][0] != "write_cache":
            found |= dict([_OLD_POLICY[word,]])
        elif word in ("WT", "WB", "CachedBadBBU", "NoCachedBadBBU"):
            writing.append(word)
        elif _OLD_NOISE.fullmatch(word) is None:
            return None
    written = {frozenset(one): value for one, (key, value) in _OLD_POLICY.items() if key == "write_cache"}
    write_cache = written.get(frozenset(writing))
    if write_cache is None or "level" not in found or not _is_strip(change, strip):
        return None
    return {**found, "write_cache": write_cache}


def _is_strip(change: Change, kib: str) -> bool:
    return kib.isdecimal() and len(kib) < 6 and change.before == str(int(kib) * 1024)


def _number(place: Place) -> str:
    """The card's number in its tool."""
    return place.card.rpartition("/c")[2]
