"""Layers that a device was built on when the write guard checked it, and changes of these layers during a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from backends.host import Host
from backends.topology.device_mapper import Segment, Segments, is_mapped, range_texts
from backends.topology.loop_backing import Backing
from backends.topology.tree import Tree, node_path

Footing = Mapping[str, str]
"""Facts about a device and all layers below it. A key consists of a layer's kernel name and a kind: `dm-0 table`."""

SLAVES, TABLE, BACKING, HOLDERS = "slaves", "table", "backing", "holders"


def footing_of(tree: Tree, tables: Segments, backings: Mapping[str, Backing], name: str) -> dict[str, str]:
    """Return the footing of the device `name` from a scan."""
    facts: dict[str, str] = {}
    for layer in _layers(tree, backings, name):
        node = tree.nodes[layer]
        family = [node, *(tree.nodes[part] for part in node.partitions if part in tree.nodes)]
        facts[f"{layer} {SLAVES}"] = " ".join(sorted(node.slaves))
        facts[f"{layer} {HOLDERS}"] = " ".join(sorted({holder for node in family for holder in node.holders}))
        facts[f"{layer} {BACKING}"] = node.attributes.get("loop/backing_file", "")
        if is_mapped(layer) and layer in tables:
            facts[f"{layer} {TABLE}"] = table_text(tables[layer])
    return facts


def _layers(tree: Tree, backings: Mapping[str, Backing], name: str) -> Iterator[str]:
    visited: set[str] = set()
    waiting = [tree.disk_of(name)]
    while waiting:
        layer = waiting.pop()
        if layer in visited or layer not in tree.nodes:
            continue
        visited.add(layer)
        yield layer
        backing = backings.get(layer)
        under = tree.by_devno(backing.devno) if backing is not None and backing.devno is not None else None
        waiting += [tree.disk_of(lower) for lower in tree.nodes[layer].slaves]
        waiting += [tree.disk_of(under.name)] if under is not None else []


def table_text(segments: Collection[Segment]) -> str:
    """Return the part of a device-mapper table that determines where data is stored: target types, lengths and ranges.

    The rest is left out: it changes on its own (the active path group, a cache policy) or is secret (a key).
    """
    return ", ".join(
        f"{row.start}+{row.length} {_PLACING.get(row.kind, row.kind)} {' '.join(range_texts(row))}".strip()
        for row in segments
    )


_PLACING = {"flakey": "linear"}
"""Types of targets that are recorded as another type, which stores data in the same places.

dm-flakey differs from dm-linear only by the errors that it simulates.

Source: dm-flakey.c.
"""


async def read_quick(host: Host, layers: Collection[str]) -> dict[str, str]:
    """Return the part of the footing of these layers that any user can read from sysfs without starting a program."""
    facts: dict[str, str] = {}
    backings = await host.read_many([f"/sys/block/{layer}/loop/backing_file" for layer in layers])
    for layer in layers:
        folder = f"/sys/block/{layer}"
        holders = (*await host.list(f"{folder}/holders/*"), *await host.list(f"{folder}/{layer}*/holders/*"))
        facts[f"{layer} {SLAVES}"] = _names(await host.list(f"{folder}/slaves/*"))
        facts[f"{layer} {HOLDERS}"] = _names(holders)
        facts[f"{layer} {BACKING}"] = backings.get(f"{folder}/loop/backing_file", "")
    return facts


def holder_signs(footing: Footing) -> Iterator[str]:
    """Yield a string such as `dm-0 holders md1` for each device (`md1`) that is built on a layer (`dm-0`)."""
    for key, text in footing.items():
        if key.endswith(f" {HOLDERS}"):
            yield from (f"{key} {holder}" for holder in text.split())


def _names(paths: Collection[str]) -> str:
    return " ".join(sorted({path.rsplit("/", 1)[1] for path in paths}))


def changes(before: Footing, now: Footing) -> tuple[str, ...]:
    """Return the changes of a device's layers from the footing `before` to `now`, at most one clause per layer.

    An array that lost a member counts as unchanged. Facts that only one of the two footings contains are not compared.
    """
    clauses: dict[str, str] = {}
    for key, old in before.items():
        layer, _, fact = key.rpartition(" ")
        new = now.get(key, old)
        if new == old or fact == HOLDERS or layer in clauses:
            continue
        device = node_path(layer)
        added = ", ".join(node_path(name) for name in new.split() if name not in old.split())
        if fact == SLAVES and added:
            text = f"a new device-mapper table was loaded for {device}, with {added}"
            clauses[layer] = text if is_mapped(layer) else f"{device} has a new member, {added}"
        elif fact == TABLE:
            clauses[layer] = f"the device-mapper table of {device} was changed, so the devices below it are different"
        elif fact == BACKING:
            clauses[layer] = f"{device} now has a different backing file"
    return tuple(clauses.values())
