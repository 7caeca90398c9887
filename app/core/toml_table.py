"""Strict TOML parsing with line numbers in error messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError, NotFoundError
from backends.text import clean

# -- line numbers of keys ---------------------------------------------------------------------------------------------

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*(?:["']([^"']+)["']\s*=|["']?([A-Za-z0-9_-]+)["']?\s*[=.])""")


class TomlLines:
    """Line numbers of the tables and keys of a file.

    A table is named `axis.2` (the third table of the array `axis`), `axis.2.job` (a table in it), or `job`. The top
    table is "".
    """

    def __init__(self, text: str) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        counts: dict[str, int] = {}
        table = ""
        for number, line in enumerate(text.splitlines(), 1):
            header = _HEADER.match(line)
            if header is not None:
                name = re.sub(r"""["'\s]""", "", header[2])
                if header[1] == "[[":
                    counts[name] = counts.get(name, -1) + 1
                    name = f"{name}.{counts[name]}"
                elif (first := name.partition("."))[0] in counts and first[1]:
                    name = f"{first[0]}.{counts[first[0]]}.{first[2]}"  # this table is in the last table of that array
                table = name
                self._numbers.setdefault((table, ""), number)
            elif (key := _KEY.match(line)) is not None:
                self._numbers.setdefault((table, key[1] or key[2]), number)

    def of(self, table: str, key: str = "") -> int:
        """Return the line number of a key in a table.

        If it is not found, return the line of its table or of the enclosing table, or 1.
        """
        number = self._numbers.get((table, key))
        if number is None and key:
            number = self._numbers.get((f"{table}.{key}" if table else key, ""))
        if number is None and (table, "") in self._numbers:
            number = self._numbers[table, ""]
        if number is not None or not table:
            return number or 1
        above, _, name = table.rpartition(".")
        return self.of(above, name)


# -- strict TOML: errors name the file, the line, the key and the legal values ----------------------------------------

T = TypeVar("T")
Parse = Callable[[Any], T]
"""Function that parses a value.

For an illegal value it raises ValueError, whose message continues a sentence after the key's name ("must be ..."), or
InvalidValueError or NotFoundError, whose message is a complete sentence.
"""


class TomlFile:
    """A TOML file, which its tables share: displayed name, content, error class and default hint."""

    def __init__(self, shown: str, text: str, failure: type[InvalidValueError], hint: str) -> None:
        self.shown = shown
        self.text = text
        self.failure = failure
        self.hint = hint
        self.lines = TomlLines(text)


class TomlTable:
    """A table of a file, with its name (`job`, `axis.2`, or "" for the top table).

    For an invalid key or value, its methods raise the error class of the file.
    """

    def __init__(self, file: TomlFile, name: str, given: Mapping[str, Any]) -> None:
        self.file = file
        self.given = given
        self._name = name

    def error(self, key: str, sentence: str, hint: str = "") -> InvalidValueError:
        """Return an error about a key; about the whole table if the key is ""."""
        return self.file.failure(
            f"{self.file.shown}, line {self.line_of(key)}: {sentence}", hint=hint or self.file.hint
        )

    def line_of(self, key: str) -> int:
        """Return the line number of a key; that of the table if the table does not have the key."""
        return self.file.lines.of(self._name, key)

    def require_keys(self, *legal: str) -> None:
        """Raise the file's error if a key is not one of `legal`."""
        for key in self.given:
            if key not in legal:
                where = f" in [{self._name.partition('.')[0]}]" if self._name else ""
                sentence = f"unknown key {clean(key, 40)!r}{where}."
                raise self.error(key, sentence, suggestion_hint(key, legal, f"Known keys: {', '.join(legal)}."))

    def parse(self, key: str, parse: Parse[T], value: Any, called: str = "") -> T:
        """Return the parsed value of a key. `called`: its name in error messages, if that differs from the key."""
        name = called or clean(key, 40)
        try:
            return parse(value)
        except (InvalidValueError, NotFoundError) as error:
            raise self.error(key, f"{name}: {error.message.rstrip('.')}.", error.hint) from None
        except ValueError as error:
            raise self.error(key, f"{name} {error}.") from None

    def get(self, key: str, parse: Parse[T], default: T) -> T:
        """Return the parsed value of a key, or the default if it is not given."""
        return self.parse(key, parse, self.given[key]) if key in self.given else default

    def table(self, key: str) -> TomlTable:
        """Return the table that is the value of a key in this table; an empty table if there is none."""
        table = self.given.get(key, {})
        if not isinstance(table, dict):
            raise self.error(key, f"{key} must be a table: [{key}].")
        return TomlTable(self.file, f"{self._name}.{key}" if self._name else key, table)

    def tables(self, key: str) -> list[TomlTable]:
        """Return the tables in the array of tables `key`; an empty list if there is no such array."""
        tables = self.given.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(row, dict) for row in tables):
            raise self.error(key, f"{key} must be an array of tables: [[{key}]].")
        return [TomlTable(self.file, f"{key}.{at}", row) for at, row in enumerate(tables)]


def read_toml(data: bytes, shown: str, kind: str, failure: type[InvalidValueError], hint: str = "") -> TomlTable:
    """Return the top table of a TOML file. Raises `failure` if the bytes are not valid TOML.

    `shown`, `kind`: name and kind of the file in error messages. `hint`: default hint of errors.
    """
    import tomllib  # not imported at the start, because most machines have no configuration file

    try:
        text = data.decode("utf-8")
        _require_shallow(text)
        tables = tomllib.loads(text)
        _require_small(tables)
        return TomlTable(TomlFile(shown, text, failure, hint), "", tables)
    except UnicodeDecodeError as error:
        raise failure(f"{shown} is not {kind}: byte {error.start} is not UTF-8 text.", hint=hint) from None
    except (ValueError, RecursionError) as error:  # an integer with too many digits raises a plain ValueError
        reason = clean(str(error).rstrip("."), 160)
        if not isinstance(error, tomllib.TOMLDecodeError | _UnfitError):
            reason = "nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        raise failure(f"{shown} is not valid TOML: {reason}.", hint=hint) from None


class _UnfitError(ValueError):
    """Valid TOML that exceeds a limit of this module."""


_MOST_PARTS = 100
"""Maximum number of dots in a line of TOML, without those in strings and comments.

Dots separate the parts of a key, and the time that tomllib needs grows with the square of their number.
"""

_TEXTS = re.compile(r"""\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*""")


def _require_shallow(text: str) -> None:
    """Raise _UnfitError if a key has too many parts. No I/O."""
    if any(line.count(".") > _MOST_PARTS for line in _TEXTS.sub("", text).split("\n")):
        raise _UnfitError("a key is nested too deeply")


def _require_small(data: Mapping[str, Any]) -> None:
    """Raise _UnfitError if an integer needs more than 64 bits, which a TOML parser need not accept. No I/O."""
    left: list[Any] = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise _UnfitError("a number does not fit into 64 bits")


def text_or_empty(value: Any) -> str:
    """Return a string without surrounding spaces; it may be empty. Raises ValueError for any other type of value."""
    if not isinstance(value, str):
        raise ValueError("must be a quoted string")
    return value.strip()


def text(value: Any) -> str:
    """Return a string that is not blank, without surrounding spaces. Raises ValueError for any other value."""
    stripped = text_or_empty(value)
    if not stripped:
        raise ValueError("must be a quoted string")
    return stripped


def absolute_path(value: Any) -> str:
    """Return an absolute path, with `~` expanded. Raises ValueError for a relative one."""
    path = Path(text(value)).expanduser()
    if not path.is_absolute():
        raise ValueError("must be an absolute path")
    return str(path)


def flag(value: Any) -> bool:
    """Return a boolean. Raises ValueError for any other value."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def whole_number(minimum: int, maximum: int) -> Parse[int]:
    """Return a parser for whole numbers from `minimum` to `maximum`."""

    def parse(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}")
        return value

    return parse
