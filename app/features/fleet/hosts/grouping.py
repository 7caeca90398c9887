"""Answers of many hosts. Hosts with equal answers form a group. Also lists the hosts that are missing."""

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
"""Field of the JSON document with the text output of the command."""

_NAMES = ("host", TEXT)
"""Fields that are ignored when documents are compared."""

_ROW = 1000
"""Maximum number of characters of a line in a host's text output; the rest is cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGroupResponse:
    """Hosts with the same answer."""

    hosts: tuple[str, ...]
    """Names of the hosts, in the order of the request."""
    status: int
    """Exit status of the command on these hosts."""
    document: Mapping[str, Any]
    """The common answer. Its field `host` is None if several hosts answered."""


@dataclass(slots=True)
class HostResponses:
    """Outcomes of the queried hosts so far."""

    asked: tuple[str, ...]
    """All hosts that are queried."""
    by_text: bool = False
    """Whether answers are grouped by their text output. If so, only the text is kept, not the document."""
    missing: list[MissingHost] = field(default_factory=list)
    """Hosts without an answer."""
    groups: dict[Hashable, HostGroupResponse] = field(default_factory=dict)
    """Groups of hosts with equal answers; each key consists of the exit status and the answer."""
    waiting: dict[str, None] = field(default_factory=dict)
    """Hosts that have not answered yet and are not known to be missing."""
    answered: int = 0
    """Number of hosts that answered."""

    def __post_init__(self) -> None:
        self.waiting = dict.fromkeys(self.asked)

    def count(self, outcome: HostResponse | MissingHost) -> None:
        """Count the outcome of a host, but do not keep its answer."""
        self.waiting.pop(outcome.host, None)
        if isinstance(outcome, MissingHost):
            self.missing.append(outcome)
        else:
            self.answered += 1

    def take(self, outcome: HostResponse | MissingHost) -> None:
        """Count the outcome of a host, and add its answer to the group with equal answers."""
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
        """Return the groups, sorted by the position of their first host in the request."""
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
    """Return the lines of a host's text output without control characters. Spaces are kept, so columns stay aligned."""
    text = document.get(TEXT)
    rows = text.split("\n") if isinstance(text, str) else []
    return [" ".join(clean(word) for word in row[:_ROW].split(" ")).rstrip() for row in rows]


def answered_text(gathered: HostResponses) -> str:
    """Return how many hosts answered, and which are missing: `38 of 40 hosts answered; missing: node[3,7].`"""
    answered = f"{gathered.answered} of {plural(len(gathered.asked), 'host')} answered"
    if gathered.missing:
        return f"{answered}; missing: {fold_names(loss.host for loss in gathered.missing)}."
    return f"{answered}."


def group_by_key(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return one list per key with all items that have it. The lists are in the order of their first items."""
    by_key: dict[Hashable, list[T]] = {}
    for t in items:
        by_key.setdefault(key(t), []).append(t)
    return list(by_key.values())


def loss_rows(gathered: HostResponses) -> list[str]:
    """Return lines that say why hosts are missing. Hosts with the same reason share one entry."""
    rows = []
    # The name of the host is ignored, because the error output of missing hosts often differs in nothing else.
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
    """Return the missing hosts as JSON, each with the reason why it is missing."""
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
