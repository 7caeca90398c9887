"""Pseudonyms for what tells one machine, device or person from all others; the same for the same within one output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

SHORTEST = 4
"""Characters of a serial number that is replaced wherever it stands: a shorter one would be found in other words."""

_UUID = r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b|\b(?:[0-9a-f]{8}:){3}[0-9a-f]{8}\b"
_MAC = r"(?<![0-9A-Fa-f:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:-])"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4 = rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.])"
_IPV6 = r"(?<![\w:.])(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9a-f]{0,4}){2,7}(?![\w:])"
_HOME = r"(?<=/home/)[^/\s\"']+"
_PATTERNS = (_UUID, _MAC, _IPV4, _IPV6, _HOME)
"""What is replaced by its shape: UUIDs of filesystems, arrays and boots; MAC and IP addresses; whose home it is."""

_PLAIN = ("/", "/boot", "/boot/efi", "/efi", "/home", "/media", "/mnt", "/opt", "/srv", "/tmp", "/usr", "/var")
_SYSTEM = ("/dev", "/proc", "/run", "/sys")
"""Mount points that every machine has."""


class Redactor:
    """Replaces identifiers in text. What stands for one cannot be turned back: the key is random and kept nowhere."""

    def __init__(
        self,
        *,
        serials: Iterable[str] = (),
        names: Iterable[str] = (),
        labels: Iterable[str] = (),
        mounts: Iterable[str] = (),
        patterns: bool = True,
        key: bytes | None = None,
    ) -> None:
        """`serials` are replaced wherever they stand, in either case; `names` (hosts, users) as whole words.

        `labels`: where something says that they are labels; `mounts`: as beginnings of paths; `patterns`: whether
        addresses, UUIDs and homes are replaced, too.
        """
        serials, names, labels, mounts = (frozenset(group) for group in (serials, names, labels, mounts))
        self._key = os.urandom(32) if key is None else key
        self._issued: dict[str, str] = {}
        self._taken: set[str] = set()
        everywhere = [f"(?i:{re.escape(one)})" for one in _longest(serials) if len(one) >= SHORTEST]
        paths = [rf"(?<![\w/.-]){re.escape(one)}(?![\w.-])" for one in _longest(mounts) if not _is_plain(one)]
        labelled = [rf"(?<={front}){re.escape(one)}(?={end})" for one in _longest(labels) for front, end in _LABELLED]
        words = [rf"(?i:(?<![^\W_]){re.escape(one)}(?![^\W_]))" for one in _longest(names)]
        known = (*everywhere, *paths, *labelled, *words)
        parts = (*known, *(_PATTERNS if patterns else ()))
        self._known = frozenset(one.casefold() for group in (serials, names, labels, mounts) for one in group)
        self._found = re.compile("|".join(parts)) if parts else None

    def text(self, text: str) -> str:
        """The text with a pseudonym for every identifier."""
        return text if self._found is None else self._found.sub(lambda match: self._pseudonym(match[0]), text)

    def value(self, value: Any) -> Any:
        """The same for all texts of a JSON value; the names of its fields stay."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {name: self.value(item) for name, item in value.items()}
            case list() | tuple():
                return [self.value(item) for item in value]
            case _:
                return value

    def _pseudonym(self, found: str) -> str:
        """Characters of the same kinds: a number stays a number, a path a path. No two have the same."""
        if found in self._taken:
            return found
        bare = found.replace(":", "")
        if bare != found and bare.casefold() in self._known:  # a world wide name with colons between its bytes
            made = self._pseudonym(bare)
            spelled = ":".join(made[at : at + 2] for at in range(0, len(made), 2))
            self._taken.add(spelled)
            return spelled
        known = self._issued.get(found)
        again = 0
        while known is None:
            made = self._made(found, again)
            if made not in self._taken and made.casefold() not in self._known and made != found:
                known = self._issued[found] = made
                self._taken.add(made)
            again += 1
            if again > 1000:  # so short that all of its kind are taken
                known = self._issued[found] = f"{made}{again}"
        return known

    def _made(self, found: str, again: int) -> str:
        import hashlib  # loads a library of megabytes

        if again > 500 or not any(char.isalnum() for char in found):
            found = "x" * len(found)  # nothing else of that shape is left
        seed = self._key + found.casefold().encode(errors="replace") + bytes([again % 256, again // 256])
        digest = hashlib.shake_256(seed).digest(len(found))
        if found[:1].isdigit() and found[0] != "0":  # a leading digit other than 0 stays one: so does a JSON number
            return chr(ord("1") + digest[0] % 9) + _like(found[1:], digest[1:])
        return _like(found, digest)


_LABELLED = (("'", "'"), ('LABEL="', '"'), ("LABEL=", r"\s|$"), ("LABEL_ENC=", r"\s|$"), ('"label": "', '"'))
"""What stands before and after a label, in our own words and in those of lsblk, blkid and udev."""


def _longest(texts: Iterable[str]) -> list[str]:
    return sorted({text for text in texts if text}, key=lambda text: (-len(text), text))


def _is_plain(point: str) -> bool:
    return point in _PLAIN or point.startswith(tuple(f"{one}/" for one in _SYSTEM)) or point in _SYSTEM


def _like(text: str, digest: bytes) -> str:
    return "".join(
        chr(ord("0") + byte % 10)
        if char.isdigit()
        else chr(ord("a" if char.islower() else "A") + byte % 26)
        if char.isalpha()
        else char
        for char, byte in zip(text, digest, strict=True)
    )
