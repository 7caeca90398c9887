"""Settings that more than half of the hosts have in common, as tables of a settings file. No I/O.

Each host exports its settings by model instead of by device, so that a table of settings is valid on all hosts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.features.apply.exporting import ExportedTarget, ExportedValue, render_document
from app.features.apply.settings_file import SELECTS, parse
from backends import json_text
from backends.text import clean
from backends.values import dataclass

Sort = tuple[tuple[str, str], ...]

_PARTS = ("set", "expect")
_MOST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """Settings that more than half of the hosts have in common."""

    targets: tuple[ExportedTarget, ...]
    """The settings as tables of a settings file."""
    left_out: tuple[str, ...]
    """Settings for which no value is common to more than half of the hosts, each as `MODEL KEY`."""


def majority_settings(documents: Sequence[Mapping[str, Any]]) -> Majority:
    """Return the settings that more than half of the hosts have in common.

    `documents`: output of `hosts facts --settings`. Raises DesiredError if the settings are invalid.
    """
    hosts = len(documents)
    tables_of_hosts = [dict(_sorts(document)) for document in documents]
    about: dict[Sort, str] = {}
    counts: dict[tuple[Sort, str, str], Counter[str]] = {}
    for tables in tables_of_hosts:
        for sort, table in tables.items():
            about.setdefault(sort, json_text.word(table.get("about"), 160) or "")
            for part in _PARTS:
                for key, value in json_text.table(table.get(part)).items():
                    if isinstance(value, str):
                        counts.setdefault((sort, part, clean(key, 60)), Counter())[clean(value, 200)] += 1
    targets, left_out = [], []
    for sort, comment in about.items():
        values: dict[str, list[ExportedValue]] = {part: [] for part in _PARTS}
        for (of, part, key), counter in counts.items():
            if of != sort:
                continue
            value, number = counter.most_common(1)[0]
            if number * 2 > hosts:
                text = f"on {number} of {hosts} hosts" if hosts > 1 else ""
                values[part].append(ExportedValue(key=key, value=value, comment=text))
            else:
                left_out.append(f"{sort[-1][1]} {key}")
        if values["set"]:
            target = ExportedTarget(
                select=dict(sort), comment=comment, values=tuple(values["set"]), expect=tuple(values["expect"])
            )
            targets.append(target)
    parse(render_document(targets).encode(), "The exported settings")
    return Majority(targets=tuple(targets), left_out=tuple(left_out))


def _sorts(document: Mapping[str, Any]) -> Iterator[tuple[Sort, Mapping[str, Any]]]:
    """Yield the selector and the content of each table of settings that a host reported.

    Tables that select a particular device of one machine are left out.
    """
    for table in list(json_text.rows(document.get("targets")))[:_MOST]:
        select = json_text.table(table.get("select"))
        keys = [key for key in SELECTS if key in select]
        if set(select) == set(keys) and set(keys) <= {"vendor", "kind", "model", "level", "media"} and len(keys) == 3:
            yield tuple((key, clean(str(select[key]), 120)) for key in keys), table
