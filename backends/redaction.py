"""Replace text that identifies a machine, device or person by pseudonyms that are consistent within one output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

SHORTEST = 4
"""Minimum length of a serial number that is replaced everywhere. A shorter one would also match inside other words."""

FLEXIBLE = 8
"""Minimum number of letters and digits of an identifier that is also found when written with other separators."""

_HEX = "[0-9A-Fa-f]"
_NO_HEX = rf"(?<!{_HEX})"
_END = rf"(?!{_HEX})"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_SHAPES = (
    rf"{_NO_HEX}{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}{_END}",  # UUIDs of filesystems, partitions and boots
    rf"(?<![0-9A-Fa-f:])(?:{_HEX}{{8}}:){{3}}{_HEX}{{8}}(?![0-9A-Fa-f:])",  # UUIDs of md arrays
    r"(?<![A-Za-z0-9])(?=[A-Za-z-]*\d)[A-Za-z0-9]{6}-(?:[A-Za-z0-9]{4}-){5}[A-Za-z0-9]{6}(?![A-Za-z0-9])",  # of LVM
    r"(?<=LVM-)[A-Za-z0-9]{64}",  # UUIDs of a volume group and a volume in a dm UUID
    r"(?<=iqn\.)\d{4}-\d\d\.[\w.:-]*\w|(?<=nqn\.)\d{4}-\d\d\.[\w.:-]*\w",  # iSCSI, NVMe (RFC 3720, NVMe Base 4.5)
    r"(?i:(?<=naa\.)|(?<=eui\.)|(?<=wwn-0x))[0-9A-Fa-f]{16,32}",
    rf"(?<=0x){_HEX}{{16}}(?:{_HEX}{{16}})?{_END}",
    r"(?<![0-9A-Za-z])(?=[0-9A-Fa-f]*[A-Fa-f])(?=[A-Fa-f]*\d)(?:[0-9A-Fa-f]{16}){1,2}(?![0-9A-Za-z])",  # NTFS, SAS
    rf"{_NO_HEX}(?=[0-9A-Fa-f ]*[A-Fa-f])[2356] {_HEX}{{6}} {_HEX}{{9}}{_END}",  # a WWN as smartctl prints it
    r"(?<![0-9A-Fa-f:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:-])",  # MAC addresses
    rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.])",
    r"(?<![\w:.])(?i:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])",
    r"[\w.%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?!(?:service|socket|timer|target|mount|slice|device)\b)[A-Za-z]{2,}",
    r"(?<=/home/)[^/\s\"']+",
    *(rf"(?<=by-{kind}/)[^\s\"'/,;]+" for kind in ("uuid", "partuuid", "label", "partlabel")),
)
"""Patterns of text that is replaced because of its form: unique numbers of every kind, addresses, home folders."""

_KEY = (
    r"(?i:(?<!id_)serial(?:[ _-]?(?:numbers?|num|no|short))?|id_serial_short|[a-z_]*uuid(?:_enc|_sub)?|[a-z_]*guid"
    r"|eui64|wwn|wwid|sas[ _-]?address|world wide (?:port )?(?:name|id)|asset[ _-]?tag|machine[ _-]?id|volume id)"
)
_VALUE = r"(?=[A-Za-z:._+-]*\d)[0-9A-Za-z][0-9A-Za-z:._+-]{2,62}[0-9A-Za-z]"
_KEYED = re.compile(
    rf"(?P<key>(?<![A-Za-z]){_KEY}(?:\\?[\"'])?(?:\s{{0,40}}[:=]\s{{0,40}}|\s{{1,40}})(?:\\?[\"'])?(?i:0x|naa\.|eui\.)?)"
    rf"(?P<value>{_VALUE})"
)
"""Fields with unique values: their names as tools and this program write them, and the value that follows."""

_PREFIX = re.compile(r"(?:0x|[a-z][a-z0-9]{1,7}\.)?(?:mpath-[123]|LVM-)?")
"""Prefixes that name the kind of an identifier."""


def without_prefix(identifier: str) -> str:
    """Return an identifier without a prefix that only names its kind: `naa.`, `0x`, `dm.mpath-3`. No I/O."""
    return _PREFIX.sub("", identifier, count=1)


_DOMAIN = (
    r"(?:(?:\.[a-z0-9-]+)+\.(?!(?:csv|fio|gz|html|json|log|md|out|py|rba|service|svg|toml|txt|xml|zip)\b)[a-z]{2,}"
    r"|\.(?:corp|home|internal|intranet|lan|local|localdomain))?"
)
"""Suffix that may follow a host name; a file named after the host has an extension instead."""

_ENCODED = r"%(?:3[aA]|2[dDeE]|20|5[fF])"
_SEPARATOR = rf"(?:[-:_ .]|{_ENCODED})?"


def keyed_values(text: str) -> Iterator[str]:
    """Yield the values that follow a label such as `serial number` or `UUID` in a text. No I/O."""
    for match in _KEYED.finditer(text):
        yield match["value"]


_PLAIN = ("/", "/boot", "/boot/efi", "/efi", "/home", "/media", "/mnt", "/opt", "/srv", "/tmp", "/usr", "/var")
_SYSTEM = ("/dev", "/proc", "/run", "/sys")
"""Mount points that every machine has, and which are therefore not replaced."""


class Redactor:
    """Replaces identifiers in text. A pseudonym cannot be reversed: the key is random and not stored."""

    def __init__(
        self,
        *,
        serials: Iterable[str] = (),
        names: Iterable[str] = (),
        labels: Iterable[str] = (),
        mounts: Iterable[str] = (),
        plain: Iterable[str] = (),
        patterns: bool = True,
        key: bytes | None = None,
    ) -> None:
        """Prepare the patterns of all identifiers.

        `serials` are replaced everywhere, in any case and with any separators. `names` of hosts and users are replaced
        as whole words, a host together with its domain. `labels` are replaced where the text marks them as labels,
        `mounts` at the beginning of paths. `patterns`: whether to replace addresses, UUIDs and home folders too.
        `plain`: versions, which are kept although they look like addresses.
        """
        serials, names, labels, mounts = (frozenset(group) for group in (serials, names, labels, mounts))
        self._key = os.urandom(32) if key is None else key
        self._issued: dict[str, str] = {}
        self._taken: set[str] = set()
        self._plain = frozenset(plain)
        flexible = {serial for serial in serials if _is_flexible(serial)}
        exact = [_exactly(name) for name in _longest(serials - flexible) if len(name) >= SHORTEST]
        trie = _trie_pattern({_bare(name) for name in flexible})
        paths = [rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])" for name in _longest(mounts) if not _is_plain(name)]
        labelled = [rf"(?<={front}){re.escape(name)}(?={end})" for name in _longest(labels) for front, end in _LABELLED]
        whole_words = [rf"(?i:(?<![^\W_]){re.escape(name)}{_DOMAIN}(?![^\W_]))" for name in _longest(names)]
        alternatives = ((_KEYED.pattern, *_SHAPES) if patterns else ()) + tuple(filter(None, (trie, *exact)))
        alternatives += (*paths, *labelled, *whole_words)
        self._identifiers = frozenset(_bare(name) for group in (serials, names, labels, mounts) for name in group)
        self._pattern = re.compile("|".join(f"(?:{part})" for part in alternatives)) if alternatives else None

    def text(self, text: str) -> str:
        """Return the text with a pseudonym for every identifier."""
        return text if self._pattern is None else self._pattern.sub(self._replaced, text)

    def field_text(self, text: str) -> str:
        """Return the text of a field that contains only identifiers. Each is replaced, however short it is."""
        return _WORD.sub(lambda match: self._after_prefix(match[0]), text)

    def value(self, value: Any) -> Any:
        """Return a JSON value with all strings redacted. Names of fields are kept."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {name: self.value(item) for name, item in value.items()}
            case list() | tuple():
                return [self.value(item) for item in value]
            case _:
                return value

    def _replaced(self, match: re.Match[str]) -> str:
        if match[0] in self._plain:
            return match[0]
        named = match.groupdict()
        if named.get("value") is not None:
            return named["key"] + self._pseudonym(named["value"])
        return self._pseudonym(match[0])

    def _after_prefix(self, word: str) -> str:
        number = without_prefix(word)
        return word.removesuffix(number) + self._pseudonym(number) if number else self._pseudonym(word)

    def _pseudonym(self, value: str) -> str:
        """Return a pseudonym with characters of the same kinds: a number remains a number, a path a path.

        No two identifiers have the same pseudonym. All spellings of one identifier have the same pseudonym, written
        with the separators and the case of the spelling.
        """
        bare = _bare(value)
        if not bare:
            return "x" * len(value)  # it has no letters or digits from which a pseudonym could be made
        if bare in self._taken:
            return value
        pseudonym = self._issued.get(bare)
        attempt = 0
        while pseudonym is None:
            candidate = self._candidate(bare, attempt)
            if candidate not in self._taken and candidate not in self._identifiers and candidate != bare:
                pseudonym = self._issued[bare] = candidate
                self._taken.add(candidate)
            attempt += 1
            if attempt > 1000:  # all pseudonyms of that length are already used
                pseudonym = self._issued[bare] = f"{candidate}{attempt}"
        return _spelled_like(value, pseudonym)

    def _candidate(self, bare: str, attempt: int) -> str:
        import hashlib  # imported here, because it loads a library of several megabytes

        if attempt > 500:
            return "x" * len(bare)
        seed = self._key + bare.encode(errors="replace") + bytes([attempt % 256, attempt // 256])
        digest = hashlib.shake_256(seed).digest(len(bare))
        # A hexadecimal number remains a hexadecimal number.
        letters = 6 if len(bare) >= FLEXIBLE and _ALL_HEX.fullmatch(bare) else 26
        pseudonym = "".join(_like(char, byte, letters) for char, byte in zip(bare, digest, strict=True))
        if bare[0].isdigit() and bare[0] != "0":  # a JSON number must not start with 0
            return chr(ord("1") + digest[0] % 9) + pseudonym[1:]
        return pseudonym


_WORD = re.compile(r"[^\s;,]*[^\W_][^\s;,]*")
_ALL_HEX = re.compile(r"[0-9a-f]*")
_PARTS = re.compile(rf"{_ENCODED}|(?s:.)")


def _bare(text: str) -> str:
    """Return the letters and digits of an identifier, in lower case. No I/O."""
    chars = (char for char in _PARTS.findall(text) if len(char) == 1 and char.isalnum())
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in chars)


def _spelled_like(value: str, pseudonym: str) -> str:
    """Return the pseudonym with the separators and the case of `value`.

    Characters beyond the length of `value` are appended.
    """
    rest = iter(pseudonym)
    spelled = []
    for char in _PARTS.findall(value):
        if len(char) == 1 and char.isalnum():
            new = next(rest)
            spelled.append(new.upper() if not char.islower() and not char.isdigit() else new)
        else:
            spelled.append(char)
    return "".join((*spelled, *rest))


def _is_flexible(serial: str) -> bool:
    """Return whether an identifier is also found when written with other separators.

    Short numbers are not, because they would match unrelated numbers.
    """
    bare = _bare(serial)
    enough = len(bare) >= FLEXIBLE + 4 if bare.isdigit() else len(bare) >= FLEXIBLE
    return enough and bare.isascii()


def _exactly(serial: str) -> str:
    """Return the pattern for an exact match.

    A number next to other digits does not match: it is part of another number.
    """
    pattern = f"(?i:{re.escape(serial)})"
    return rf"(?<!\d){pattern}(?!\d)" if serial.isdigit() else pattern


def _trie_pattern(identifiers: Iterable[str]) -> str:
    """Return a pattern for words that share prefixes, with an optional separator between any two characters."""
    root: dict[str, Any] = {}
    for word in identifiers:
        node = root
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return f"(?i:{_branches(root)})" if root else ""


def _branches(node: dict[str, Any]) -> str:
    parts = []
    for char in sorted(filter(None, node)):
        piece, child = char, node[char]
        while len(child) == 1 and "" not in child:
            (char, child) = next(iter(child.items()))
            piece += _SEPARATOR + char
        inner = "" if set(child) == {""} else f"{_SEPARATOR}{_branches(child)}"
        parts.append(piece + (f"(?:{inner})?" if inner and "" in child else inner))
    return f"(?:{'|'.join(parts)})"


_LABELLED = (
    ("'", "'"),
    ("&#x27;", "&#x27;"),
    ("&#39;", "&#39;"),
    ('LABEL="', '"'),
    ("LABEL=", r"\s|$"),
    ("LABEL_ENC=", r"\s|$"),
    ('"label": "', '"'),
)
"""Text before and after a label in the output of raidbench, lsblk, blkid and udev."""


def _longest(texts: Iterable[str]) -> list[str]:
    return sorted({text for text in texts if text}, key=lambda text: (-len(text), text))


def _is_plain(point: str) -> bool:
    return point in _PLAIN or point.startswith(tuple(f"{name}/" for name in _SYSTEM)) or point in _SYSTEM


def _like(char: str, byte: int, letters: int) -> str:
    if char.isdigit():
        return chr(ord("0") + byte % 10)
    return chr(ord("a") + byte % letters)
