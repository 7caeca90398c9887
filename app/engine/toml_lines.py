"""Where in a TOML text a key stands, for sentences about it."""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*[=.]""")


class TomlLines:
    """Line numbers of tables and their keys. A table is `axis.2`, the third of its kind, or `job`; "" is the top."""

    def __init__(self, text: str) -> None:
        self._found: dict[tuple[str, str], int] = {}
        counts: dict[str, int] = {}
        table = ""
        for number, line in enumerate(text.splitlines(), 1):
            header = _HEADER.match(line)
            if header is not None:
                name = re.sub(r"""["'\s]""", "", header[2])
                if header[1] == "[[":
                    counts[name] = counts.get(name, -1) + 1
                    name = f"{name}.{counts[name]}"
                table = name
                self._found.setdefault((table, ""), number)
            elif (key := _KEY.match(line)) is not None:
                self._found.setdefault((table, key[1]), number)

    def of(self, table: str, key: str = "") -> int:
        """The line of a key, of its table if the key is not found, 1 if neither is."""
        found = self._found.get((table, key))
        if found is None and key:
            found = self._found.get((f"{table}.{key}" if table else key, ""))
        return found if found is not None else self._found.get((table, ""), 1)
