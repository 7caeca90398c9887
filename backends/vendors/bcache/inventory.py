"""From a bcache device as the kernel tells it to an `Array`. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from backends.model import Array, Fact, Level, Scope, State, Target
from backends.text import chosen, clean, size_words
from backends.topology import Topology, node_path
from backends.topology.naming import identity
from backends.vendors.bcache.facts import BcacheFacts, parse_size
from backends.vendors.bcache.settings import CACHE_MODE, CHOICES

NAME = "bcache"
"""The prefix of this backend's targets."""

_STATES = {
    "no cache": (State.ONLINE, "no cache is attached"),
    "clean": (State.OPTIMAL, ""),
    "dirty": (State.OPTIMAL, ""),
    "inconsistent": (State.FAILED, "it was started without the cache that had unwritten data"),
}
"""drivers/md/bcache/sysfs.c: states of a backing device, and why it is not in order."""


def array_of(device: BcacheFacts, picture: Topology) -> Array:
    """The device as the inventory shows it."""
    node = picture.tree.nodes.get(device.name)
    state, why = _STATES.get(device.state, (State.UNKNOWN, ""))
    members = (device.backing, *device.caches)
    return Array(
        target=Target(backend=NAME, address=device.name, scope=Scope.ARRAY),
        name=clean(device.texts.get("label", "")) or None,
        level=Level.CACHED,
        state=state,
        size_bytes=node.size_bytes if node is not None else None,
        why=why,
        device=node_path(device.name),
        members=tuple(
            dict.fromkeys(Target(backend="block", address=picture.tree.disk_of(one)) for one in members if one)
        ),
        identity=identity(node) if node is not None else None,
        uses=picture.uses(device.name),
        facts=tuple(Fact(label=label, value=value) for label, value in _lines(device) if value),
    )


def _lines(device: BcacheFacts) -> Iterable[tuple[str, str]]:
    own = device.texts
    mode, _ = chosen(own.get(CACHE_MODE.key, ""))
    known = CHOICES[CACHE_MODE.key].get(mode or "")
    bucket, dirty = parse_size(own.get("bucket_size")), parse_size(own.get("dirty_data"))
    free = own.get("cache_available_percent", "")
    yield "Cached disk", node_path(device.backing) if device.backing else ""
    yield "Cache device", ", ".join(map(node_path, device.caches)) or "none"
    yield "Cache state", device.state or "unknown"
    yield "Unwritten data", "" if dirty is None else size_words(dirty)
    yield "Cache mode", known.label if known is not None else ""
    yield "Cache set", device.set_uuid or ""
    yield "Cache set serves", ", ".join(map(node_path, (device.name, *device.sharing))) if device.sharing else ""
    yield "Bucket", "" if bucket is None else size_words(bucket)
    yield "Not dirty", f"{free} % of the cache" if free.isascii() and free.isdigit() and len(free) < 4 else ""
