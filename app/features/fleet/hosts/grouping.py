"""Answers of many hosts, equal answers grouped under all their host names, and the hosts that are missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar

from app.features.fleet.hosts.failure_causes import HostResponse, MissingHost
from app.features.fleet.ssh.nodesets import fold_names
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils.units import plural

T = TypeVar("T")

TEXT = "text"
"""Field with the text output of a command, in addition to its document."""

_NAMES = ("host", TEXT)
"""Fields that may differ in equal documents."""

_ROW = 1000
"""Maximum number of characters of a printed line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGroupResponse:
    """Hosts with the same answer."""

    hosts: tuple[str, ...]
    """Their names, in the order of the request."""
    status: int
    """Exit status of the command there."""
    document: Mapping[str, Any]
    """The answer; `host` is None if several hosts gave it."""


@dataclass(slots=True)
class HostResponses:
    """Outcomes of the queried hosts so far."""

    asked: tuple[str, ...]
    """All hosts."""
    schema: int = 1
    """Version of the JSON."""
    by_text: bool = False
    """Whether answers are grouped by their text output; documents are then not kept."""
    missing: list[MissingHost] = field(default_factory=list)
    """Hosts without an answer."""
    groups: dict[Hashable, HostGroupResponse] = field(default_factory=dict)
    """Hosts that answered, by their answer."""
    waiting: dict[str, None] = field(default_factory=dict)
    """Hosts without an outcome yet."""
    answered: int = 0
    """Number of hosts that answered."""

    def __post_init__(self) -> None:
        self.waiting = dict.fromkeys(self.asked)

    def count(self, outcome: HostResponse | MissingHost) -> None:
        """Count the outcome of a host without keeping it."""
        self.waiting.pop(outcome.host, None)
        if isinstance(outcome, MissingHost):
            self.missing.append(outcome)
        else:
            self.answered += 1

    def take(self, outcome: HostResponse | MissingHost) -> None:
        """Count the outcome of a host, and keep it."""
        self.count(outcome)
        if isinstance(outcome, MissingHost):
            return
        document = {TEXT: outcome.document.get(TEXT)} if self.by_text else outcome.document
        key = (outcome.status, _key(document, self.by_text))
        before = self.groups.get(key)
        if before is None:
            self.groups[key] = HostGroupResponse(hosts=(outcome.host,), status=outcome.status, document=document)
            return
        same = before.document.get("host") == document.get("host")
        kept = before.document if same else {**before.document, "host": None}
        self.groups[key] = replace(before, hosts=(*before.hosts, outcome.host), document=kept)

    def in_order(self) -> list[HostGroupResponse]:
        """Return the groups in the order of the request, by their first hosts."""
        positions = {host: at for at, host in enumerate(self.asked)}
        order = positions.__getitem__
        ordered = (replace(group, hosts=tuple(sorted(group.hosts, key=order))) for group in self.groups.values())
        return sorted(ordered, key=lambda group: positions[group.hosts[0]])

    def losses(self) -> list[MissingHost]:
        """Return the missing hosts in the order of the request."""
        positions = {host: at for at, host in enumerate(self.asked)}
        return sorted(self.missing, key=lambda loss: positions[loss.host])


def _key(document: Mapping[str, Any], by_text: bool) -> Hashable:
    if by_text:
        return str(document[TEXT])
    return json.dumps({name: value for name, value in document.items() if name not in _NAMES}, sort_keys=True)


def text_rows(document: Mapping[str, Any]) -> list[str]:
    """Return the text output of a host without control characters, with its columns aligned as they were."""
    text = document.get(TEXT)
    rows = text.split("\n") if isinstance(text, str) else []
    return [" ".join(clean(word) for word in row[:_ROW].split(" ")).rstrip() for row in rows]


def answered_text(gathered: HostResponses) -> str:
    """Return `38 of 40 hosts answered` and the missing hosts, so that no host goes missing silently."""
    answered = f"{gathered.answered} of {plural(len(gathered.asked), 'host')} answered"
    if gathered.missing:
        return f"{answered}; missing: {fold_names(loss.host for loss in gathered.missing)}."
    return f"{answered}."


def group_by_key(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return items with the same key in one list, in the order of their first items."""
    by_key: dict[Hashable, list[T]] = {}
    for t in items:
        by_key.setdefault(key(t), []).append(t)
    return list(by_key.values())


def loss_rows(gathered: HostResponses) -> list[str]:
    """Return why hosts are missing, those with the same reason together."""
    rows = []
    # The error output of many hosts differs only in the name of the host.
    alike = group_by_key(
        gathered.losses(), lambda loss: (loss.cause, loss.message, loss.evidence.replace(loss.host, ""))
    )
    for same in alike:
        first = same[0]
        rows.append(f"{fold_names(loss.host for loss in same)}: {first.message}")
        rows += [f"  {row}" for row in first.evidence.splitlines()]
        if first.hint:
            rows.append(f"  {first.hint}")
    return rows


def outcome_json(outcome: HostResponse | MissingHost) -> dict[str, Any]:
    """Return the answer of a host, or why it is missing, as JSON."""
    if isinstance(outcome, HostResponse):
        return {"host": outcome.host, "status": outcome.status, "document": outcome.document}
    return {
        "host": outcome.host,
        "cause": outcome.cause.value,
        "message": outcome.message,
        "hint": outcome.hint or None,
        "evidence": outcome.evidence or None,
    }


def losses_json(gathered: HostResponses) -> list[dict[str, Any]]:
    """Return why each host is missing."""
    return list(map(outcome_json, gathered.losses()))


def counts_json(gathered: HostResponses) -> dict[str, int]:
    """Return how many hosts were asked, answered and are missing."""
    return {"asked": len(gathered.asked), "answered": gathered.answered, "missing": len(gathered.missing)}


def answers_json(gathered: HostResponses) -> dict[str, Any]:
    """Return the JSON body of a command over many hosts: their answers, and the missing hosts."""
    answers = [
        {
            "hosts": fold_names(group.hosts),
            "names": list(group.hosts),
            "status": group.status,
            "document": {name: value for name, value in group.document.items() if name != TEXT},
        }
        for group in gathered.in_order()
    ]
    return {"answers": answers, "missing": losses_json(gathered), "counts": counts_json(gathered)}
