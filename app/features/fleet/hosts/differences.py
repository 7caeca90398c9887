"""Differences between hosts of the same role. Each host is compared with the majority of the role. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.features.fleet.hosts.facts import NOWHERE, FactKey, FactPart, FactValue, HostFacts
from backends.values import dataclass

NEAR = 0.5
"""Minimum share of common devices for a host with unique hardware to be assigned to the most similar role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Hosts with the same hardware: controllers and drives of the same models and numbers, and the same arrays."""

    hosts: tuple[str, ...]
    """Names of the hosts."""
    made_of: Mapping[str, int]
    """Number of controllers and drives of each model, and of arrays of each level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGroup:
    """Hosts that have the same value."""

    hosts: tuple[str, ...]
    """Names of the hosts."""
    value: FactValue
    """The value that these hosts have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact that differs between the hosts of a role."""

    role: Role
    """The role whose hosts differ."""
    point: FactKey
    """The fact that differs."""
    most: HostGroup | None
    """The hosts with the most common value, or with the value of the reference host; None for a tie."""
    others: tuple[HostGroup, ...]
    """Hosts with other values, one group per value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsComparison:
    """Result of a comparison: the roles, and the differences within each role."""

    roles: tuple[Role, ...]
    """Roles, the largest first."""
    differences: tuple[Difference, ...]
    """Differences, sorted by role and then by kind of fact."""


def compare_hosts(hosts: Sequence[HostFacts], against: str | None = None) -> HostsComparison:
    """Compare each host with the majority of its role. With `against`, compare all hosts with that host instead."""
    groups = [list(hosts)] if against is not None and hosts else _roles(hosts)
    roles: list[Role] = []
    differences: list[Difference] = []
    for group in groups:
        first = next((host for host in group if host.host == against), group[0])
        role = Role(hosts=tuple(host.host for host in group), made_of=first.made_of)
        roles.append(role)
        points = sorted({point for host in group for point in host.values}, key=_order)
        for point in points:
            difference = _difference(role, point, group, against)
            if difference is not None:
                differences.append(difference)
    return HostsComparison(roles=tuple(roles), differences=tuple(differences))


def _order(point: FactKey) -> tuple[int, str, str]:
    return list(FactPart).index(point.part), point.of, point.key


def _difference(role: Role, point: FactKey, group: Iterable[HostFacts], against: str | None) -> Difference | None:
    by_text: dict[str, list[HostFacts]] = {}
    for host in group:
        by_text.setdefault(host.values.get(point, NOWHERE).text, []).append(host)
    if len(by_text) < 2:
        return None
    sides = sorted((_side(point, same) for same in by_text.values()), key=lambda side: -len(side.hosts))
    if against is not None:
        most = next(side for side in sides if against in side.hosts)
    elif len(sides[0].hosts) > len(sides[1].hosts):
        most = sides[0]
    else:
        return Difference(role=role, point=point, most=None, others=tuple(sides))
    return Difference(role=role, point=point, most=most, others=tuple(side for side in sides if side is not most))


def _side(point: FactKey, same: Sequence[HostFacts]) -> HostGroup:
    values = [host.values.get(point, NOWHERE) for host in same]
    addresses = values[0].addresses if len({value.addresses for value in values}) == 1 else ()
    return HostGroup(hosts=tuple(host.host for host in same), value=FactValue(text=values[0].text, addresses=addresses))


def _roles(hosts: Sequence[HostFacts]) -> list[list[HostFacts]]:
    """Return the hosts grouped by hardware, the largest group first.

    A host with unique hardware joins the most similar group if their likeness is at least `NEAR`.
    """
    same: dict[frozenset[tuple[str, int]], list[HostFacts]] = {}
    for host in hosts:
        same.setdefault(frozenset(host.made_of.items()), []).append(host)
    kept: list[list[HostFacts]] = []
    for group in sorted(same.values(), key=len, reverse=True):
        likeness = [_likeness(group[0].made_of, other[0].made_of) for other in kept] if len(group) == 1 else []
        if likeness and max(likeness) >= NEAR:
            kept[likeness.index(max(likeness))] += group
        else:
            kept.append(group)
    positions = {host.host: at for at, host in enumerate(hosts)}
    return [sorted(group, key=lambda host: positions[host.host]) for group in kept]


def _likeness(these: Mapping[str, int], those: Mapping[str, int]) -> float:
    """Return the share of devices that two hosts have in common: 0 to 1."""
    first, second = Counter(these), Counter(those)
    total = (first | second).total()
    return (first & second).total() / total if total else 1.0
