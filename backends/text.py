"""Cleaning and parsing of text from devices and tools."""

from __future__ import annotations

import re
import unicodedata

_BLANKS = re.compile("  +")
_REPLACED = {"Cc", "Cs", "Co", "Cn", "Cf"}
_SEPARATORS = {"Zs", "Zl", "Zp"}


def clean(text: str, limit: int = 128) -> str:
    """Return one line of at most `limit` characters without control, format, private or unassigned characters.

    A drive's model, a filesystem label or a tool's message may contain terminal escapes, markup or 4 KiB of NUL. Each
    run of such characters becomes one U+FFFD, and separators become a blank. Each base character keeps at most one
    combining mark. Longer text is cut and ends in an ellipsis.
    """
    if not text:  # the most frequent case: most attributes of a device are empty
        return ""
    if len(text) <= limit and text.isascii() and text.isprintable() and "  " not in text:  # next: names and numbers
        return text.strip()
    text = text[: limit * 8].strip("\0 \t\r\n")
    # Fast path for nearly all text: printable characters below U+0300, the first combining mark, stay as they are.
    # The loop below takes thirty times as long, and for a long text a thousand times.
    head = text[: limit + 1]
    plain = head.isascii() or max(head) < "\u0300"
    if plain and head.isprintable() and "  " not in head:
        return _shortened(head.strip(), limit)
    if text.isascii() and text.isprintable():  # runs of blanks, as in rows of tables
        return _shortened(_BLANKS.sub(" ", text)[: limit + 1].strip(), limit)
    chars: list[str] = []
    marks = 0
    for char in text:
        category = unicodedata.category(char)
        if category in _REPLACED:
            if char in "\t\n\r":
                char = " "
            else:
                char = "�"
        elif category in _SEPARATORS:
            char = " "
        if category.startswith("M"):
            marks += 1
            if marks > 1:
                continue
        else:
            marks = 0
        if chars and char == chars[-1] and char in " �":
            continue
        chars.append(char)
        if len(chars) > limit:
            break
    return _shortened("".join(chars).strip(), limit)


def _shortened(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 1] + "…"


def clean_lines(text: str, lines: int = 200, width: int = 400) -> str:
    """Return several lines, each cleaned. In a long text, the number of omitted lines replaces the middle."""
    rows = text.splitlines()
    if len(rows) <= lines:
        return "\n".join([clean(row, width) for row in rows])
    head = lines * 3 // 4
    tail = lines - head
    first, last = ([clean(row, width) for row in some] for some in (rows[:head], rows[-tail:]))
    return "\n".join([*first, f"... {len(rows) - head - tail} lines left out ...", *last])


def exact_rows(content: bytes) -> tuple[str, ...]:
    """Return all lines of a file, with escapes for unprintable characters and for bytes that are not UTF-8."""
    rows = content.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n") if content else []
    return tuple("".join(char if char.isprintable() else repr(char)[1:-1] for char in row) for row in rows)


def quote(word: str) -> str:
    """Return a word in shell quotes if necessary. Only for display: raidbench never passes a command to a shell."""
    safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+=:,./"
    if word and all(char in safe for char in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def parse_choices(text: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the active choice and all choices in a sysfs file: `none [mq-deadline] kyber`.

    A single choice without brackets is active.
    """
    current: str | None = None
    names: list[str] = []
    for word in text.split():
        name = clean(word.strip("[]"), 32)
        if not name or name in names:
            continue
        names.append(name)
        if word.startswith("[") and word.endswith("]"):
            current = name
    if current is None and len(names) == 1:
        current = names[0]
    return current, tuple(names)


_VOLTS = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,4})?) ?(m?)V", re.IGNORECASE)


def parse_volts(text: str | None) -> float | None:
    """Return the volts of `4059 mV` or `4.1 V`; None for any other text and for 0, which means no sensor."""
    match = _VOLTS.fullmatch((text or "").strip())
    value = float(match[1]) / (1000 if match[2] else 1) if match is not None else 0.0
    return round(value, 3) or None
