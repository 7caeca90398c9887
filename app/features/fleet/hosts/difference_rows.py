"""Differences between hosts as text lines and as JSON. No I/O except for ClusterShell's folding of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.features.fleet.hosts.differences import Difference, HostGroup, HostsComparison, Role
from app.features.fleet.ssh.nodesets import fold_names
from backends.text import clean
from widgets.text_utils.units import plural

_PARTS = 6
"""Maximum number of kinds of devices in the heading of a role. The most numerous come first."""


def role_heading(role: Role) -> str:
    """Return the heading of a role, such as `node[1-40] (40 hosts): 24 × INTEL, raid10 of 4`."""
    return clean(f"{_hosts(role.hosts)}: {composition_text(role.made_of)}", 600)


def composition_text(made_of: Mapping[str, int]) -> str:
    """Return the devices that each host of a role has, such as `24 × INTEL, raid10 of 4`."""
    parts = sorted(made_of.items(), key=lambda item: (-item[1], item[0]))
    names = [name if number == 1 else f"{number} × {name}" for name, number in parts[:_PARTS]]
    more = f", and {plural(len(parts) - _PARTS, 'more kind')}" if len(parts) > _PARTS else ""
    return f"{', '.join(names) or 'nothing'}{more}"


def difference_rows(comparison: HostsComparison, role: Role) -> Iterator[str]:
    """Yield one line per differing value of a role."""
    rows = [
        (named, row)
        for difference in comparison.differences
        if difference.role is role
        for named, row in _rows(difference)
    ]
    wide = min(24, max((len(named) for named, _ in rows), default=0))
    yield from (f"  {named:<{wide}}  {row}".rstrip() for named, row in rows)


def _rows(difference: Difference) -> Iterator[tuple[str, str]]:
    part = difference.point.part.value
    if difference.most is None:
        sides = "; ".join(f"{_value(side)} on {fold_names(side.hosts)}" for side in difference.others)
        yield "tie", f"{part:<8}  {_point_text(difference)} {sides}"
        return
    for side in difference.others:
        yield fold_names(side.hosts), f"{part:<8}  {outlier_text(difference, side)}"


def outlier_text(difference: Difference, side: HostGroup) -> str:
    """Return the value of the hosts `side` and that of the majority, as in `SSD: firmware 5.32; 5.29 on 38 of 39`.

    There must be a majority.
    """
    assert difference.most is not None
    hosts = difference.most.hosts
    where = fold_names(hosts) if len(hosts) == 1 else f"{len(hosts)} of {len(difference.role.hosts)}"
    most = f"{_value(difference.most)} on {where}"
    return f"{_point_text(difference)} {_value(side)}; {most}"


def _point_text(difference: Difference) -> str:
    point = difference.point
    return f"{point.of}: {point.key}" if point.of else point.key


def _value(side: HostGroup) -> str:
    where = f" ({', '.join(side.value.addresses)})" if side.value.addresses else ""
    return f"{side.value.text}{where}"


def _hosts(hosts: Iterable[str]) -> str:
    names = list(hosts)
    return f"{fold_names(names)} ({plural(len(names), 'host')})"


def comparison_json(comparison: HostsComparison) -> dict[str, Any]:
    """Return the JSON body of `hosts diff`, without the missing hosts."""
    numbers = {id(role): number for number, role in enumerate(comparison.roles)}
    return {
        "roles": [{**_hosts_json(role.hosts), "made_of": dict(role.made_of)} for role in comparison.roles],
        "differences": [
            {
                "role": numbers[id(difference.role)],
                "part": difference.point.part.value,
                "of": difference.point.of or None,
                "key": difference.point.key,
                "tie": difference.most is None,
                "most": None if difference.most is None else _side_json(difference.most),
                "others": [_side_json(side) for side in difference.others],
            }
            for difference in comparison.differences
        ],
    }


def _side_json(side: HostGroup) -> dict[str, Any]:
    return {**_hosts_json(side.hosts), "value": side.value.text, "addresses": list(side.value.addresses)}


def _hosts_json(hosts: tuple[str, ...]) -> dict[str, Any]:
    return {"hosts": fold_names(hosts), "names": list(hosts)}
