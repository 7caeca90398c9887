"""The same answers without `J`: status lines, headings, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def text_of(entries: Sequence[Mapping[str, Any]]) -> str:
    """Several controllers' answers as text."""
    return "\n".join(_entry(entry) for entry in entries) + "\n"


def _entry(entry: Mapping[str, Any]) -> str:
    status = dict(entry["Command Status"])
    detailed = status.pop("Detailed Status", None)
    lines = [f"{key} = {value}" for key, value in status.items()]
    data = entry.get("Response Data", {})
    blocks = _blocks(data) if isinstance(data, Mapping) else [_table(data)]
    if detailed:
        blocks.append(_headed("Detailed Status", _table(detailed)))
    return "\n".join([*lines, "", "", *blocks])


def _blocks(data: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    pairs: list[str] = []
    for key, value in data.items():
        if isinstance(value, Mapping):
            found.append(_headed(key, "\n".join(_blocks(value))))
        elif isinstance(value, list):
            found.append(_headed(key, _table(value)))
        else:
            pairs.append(f"{key} = {value}")
    return ["\n".join([*pairs, ""]), *found] if pairs else found


def _headed(heading: str, body: str) -> str:
    title = f"{heading} :"
    return f"{title}\n{'=' * (len(title) - 1)}\n\n{body}\n"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table between rules; numbers to the right, words to the left."""
    if not rows:
        return ""
    columns = list(rows[0])
    widths = {name: max(len(name), *(len(str(row.get(name, ""))) for row in rows)) for name in columns}
    rule = "-" * (sum(widths.values()) + len(columns) - 1)

    def cell(name: str, value: object) -> str:
        text = str(value)
        return text.rjust(widths[name]) if isinstance(value, int) else text.ljust(widths[name])

    head = " ".join(name.ljust(widths[name]) for name in columns)
    body = [" ".join(cell(name, row.get(name, "")) for name in columns) for row in rows]
    return "\n".join([rule, head, rule, *body, rule, ""])
