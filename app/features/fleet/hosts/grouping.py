"""Answers of many hosts: those that are equal once, with the names of all that gave them; those that are missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar

from app.features.fleet.hosts.failure_causes import HostResponse, MissingHost
from app.features.fleet.ssh.nodesets import folded
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils.units import plural

T = TypeVar("T")

TEXT = "text"
"""The field with what a command prints for a person, beside its document."""

_NAMES = ("host", TEXT)
"""Fields in which equal documents may differ."""

_ROW = 1000
"""Characters of a line that a host printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGroupResponse:
    """Hosts that told the same."""

    hosts: tuple[str, ...]
    """Their names, in the order they were asked."""
    status: int
    """Exit status of the command there."""
    document: Mapping[str, Any]
    """What they told; `host` is None where it is not one name."""


@dataclass(slots=True)
class HostResponses:
    """What has come of the hosts that were asked. It grows."""

    asked: tuple[str, ...]
    """All of them."""
    schema: int = 1
    """Form of the documents."""
    by_text: bool = False
    """Whether what is equal for a person is equal: documents are not kept then."""
    missing: list[MissingHost] = field(default_factory=list)
    """Those of which nothing is told."""
    groups: dict[Hashable, HostGroupResponse] = field(default_factory=dict)
    """Those that answered, by what they told."""
    waiting: dict[str, None] = field(default_factory=dict)
    """Those that are waited for."""
    answered: int = 0
    """How many answered."""

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
        """The groups, by the first host of each, as they were asked."""
        positions = {host: at for at, host in enumerate(self.asked)}
        order = positions.__getitem__
        ordered = (replace(group, hosts=tuple(sorted(group.hosts, key=order))) for group in self.groups.values())
        return sorted(ordered, key=lambda group: positions[group.hosts[0]])

    def losses(self) -> list[MissingHost]:
        """Those that are missing, as they were asked."""
        positions = {host: at for at, host in enumerate(self.asked)}
        return sorted(self.missing, key=lambda loss: positions[loss.host])


def _key(document: Mapping[str, Any], by_text: bool) -> Hashable:
    if by_text:
        return str(document[TEXT])
    return json.dumps({name: value for name, value in document.items() if name not in _NAMES}, sort_keys=True)


def text_rows(document: Mapping[str, Any]) -> list[str]:
    """What a host printed, harmless: without control characters, its columns as they were."""
    text = document.get(TEXT)
    rows = text.split("\n") if isinstance(text, str) else []
    return [" ".join(clean(word) for word in row[:_ROW].split(" ")).rstrip() for row in rows]


def answered_text(gathered: HostResponses) -> str:
    """`38 of 40 hosts`, and which are missing; always told, so that a total never shrinks in silence."""
    answered = f"{gathered.answered} of {plural(len(gathered.asked), 'host')} answered"
    if gathered.missing:
        return f"{answered}; missing: {folded(loss.host for loss in gathered.missing)}."
    return f"{answered}."


def group_by_key(things: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Things with the same key in one list, in the order of the first of each."""
    by_key: dict[Hashable, list[T]] = {}
    for t in things:
        by_key.setdefault(key(t), []).append(t)
    return list(by_key.values())


def loss_rows(gathered: HostResponses) -> list[str]:
    """Why hosts are missing, those with the same reason together."""
    rows = []
    # The last words of many hosts differ only by the name of the host.
    alike = group_by_key(
        gathered.losses(), lambda loss: (loss.cause, loss.message, loss.evidence.replace(loss.host, ""))
    )
    for same in alike:
        first = same[0]
        rows.append(f"{folded(loss.host for loss in same)}: {first.message}")
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
    """Why hosts are missing, each for itself."""
    return list(map(outcome_json, gathered.losses()))


def counts_json(gathered: HostResponses) -> dict[str, int]:
    """How many hosts were asked, answered and are missing."""
    return {"asked": len(gathered.asked), "answered": gathered.answered, "missing": len(gathered.missing)}


def answers_json(gathered: HostResponses) -> dict[str, Any]:
    """The body of a command over many hosts: what they told, and who is missing."""
    answers = [
        {
            "hosts": folded(group.hosts),
            "names": list(group.hosts),
            "status": group.status,
            "document": {name: value for name, value in group.document.items() if name != TEXT},
        }
        for group in gathered.in_order()
    ]
    return {"answers": answers, "missing": losses_json(gathered), "counts": counts_json(gathered)}
