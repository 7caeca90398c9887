"""Which block devices lie below the one under test, and what each is for in its array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backends.host import Host
from backends.text import clean
from backends.topology import Node, Tree, read_tree
from backends.values import dataclass

_ROLES = (
    ("faulty", "faulty"),
    ("journal", "journal"),
    ("spare", "spare"),
    ("write_mostly", "write-mostly"),
    ("replacement", "replacement"),
)
"""Words of md/dev-*/state (drivers/md/md.c, state_show) and ours, the one that matters most first."""

_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A block device below the one under test."""

    device: str
    """Kernel name, as sysfs has it."""
    label: str = ""
    """Its model, its volume's name or its level."""
    role: str = ""
    """What it is for when the run begins, as in `MemberFigures`."""
    depth: int = 0
    """0 directly below, 1 below such a one."""
    md: str | None = None
    """Its folder in the md array that it is a member of; None in whatever else."""
    counted: bool = True
    """Whether the kernel keeps count of it (`queue/iostats`)."""


async def find_members(host: Host, disk: str) -> tuple[Member, ...]:
    """All devices below a disk, each after the one it is below; empty for a plain disk.

    `disk`: kernel name of an md array, a device-mapper volume, a bcache device ...
    """
    if not await host.list(f"/sys/block/{disk}/slaves/*") and not await host.list(f"/sys/block/{disk}/bcache/cache/*"):
        return ()
    tree = await read_tree(host)
    placed = tuple(below(tree, disk, await _caches(host)))
    wanted = [f"/sys/block/{tree.disk_of(place.node.name)}/queue/iostats" for place in placed]
    folders = [f"/sys/block/{place.above}/md" for place in placed]
    wanted += [f"{folder}/{name}" for folder in dict.fromkeys(folders) for name in ("level", "raid_disks")]
    wanted += [
        f"{folder}/dev-{place.node.name}/{name}"
        for folder, place in zip(folders, placed, strict=True)
        for name in ("state", "slot")
    ]
    texts = await host.read_many(list(dict.fromkeys(wanted)))
    return tuple(_member(tree, place, texts) for place in placed)


async def read_roles(host: Host, members: Sequence[Member]) -> dict[str, str]:
    """The roles of md members now, by kernel name; `removed` for one that is in its array no more."""
    folders = {member.device: member.md for member in members if member.md is not None}
    if not folders:
        return {}
    texts = await host.read_many([f"{folder}/state" for folder in folders.values()])
    roles = {device: _now(texts.get(f"{folder}/state")) for device, folder in folders.items()}
    return {member.device: roles[member.device] or _lasting(member) for member in members if member.md is not None}


def _now(state: str | None) -> str:
    return "removed" if state is None else role_of(state)


def _lasting(member: Member) -> str:
    """What md's words for the state do not tell and does not change."""
    return "parity" if member.role == "parity" else ""


def role_of(state: str) -> str:
    """The role that md's words for a member's state tell; "" for a plain member."""
    words = state.replace("\n", ",").split(",")
    return next((role for word, role in _ROLES if word in words), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDevice:
    """A device, and where it lies."""

    node: Node
    """The device."""
    depth: int
    """0 directly below the disk under test."""
    above: str
    """Kernel name of the disk it is a part of."""
    cache: bool = False
    """Whether it is a bcache device's cache."""


def below(tree: Tree, disk: str, caches: Mapping[str, Sequence[str]]) -> Iterator[LocatedDevice]:
    """The devices below a disk, deepest after what they are below; each once. Pure."""
    seen = {disk}

    def walk(above: str, depth: int) -> Iterator[LocatedDevice]:
        top = tree.nodes.get(above)
        cached = tuple(caches.get(above, ()))
        names = sorted({*(top.slaves if top is not None else ()), *cached}, key=lambda name: (len(name), name))
        for name in names:
            node = tree.nodes.get(name)
            if node is None or name in seen or depth > _DEEPEST:
                continue
            seen.add(name)
            yield LocatedDevice(node=node, depth=depth, above=above, cache=name in cached)
            yield from walk(tree.disk_of(name), depth + 1)

    return walk(disk, 0)


def _member(tree: Tree, place: LocatedDevice, texts: Mapping[str, str]) -> Member:
    name = place.node.name
    folder = f"/sys/block/{place.above}/md"
    state = texts.get(f"{folder}/dev-{name}/state")
    role = role_of(state) if state is not None else "cache" if place.cache else ""
    if not role and texts.get(f"{folder}/level") == "raid4" and _is_last(folder, name, texts):
        role = "parity"  # RAID 4 keeps it all on its last disk
    return Member(
        device=name,
        label=_label(tree.nodes.get(tree.disk_of(name), place.node)),
        role=role,
        depth=place.depth,
        md=None if state is None else f"{folder}/dev-{name}",
        counted=texts.get(f"/sys/block/{tree.disk_of(name)}/queue/iostats") != "0",
    )


def _is_last(folder: str, name: str, texts: Mapping[str, str]) -> bool:
    slot, disks = texts.get(f"{folder}/dev-{name}/slot", ""), texts.get(f"{folder}/raid_disks", "").split(" ")[0]
    return slot.isdigit() and disks.isdigit() and int(slot) == int(disks) - 1


def _label(node: Node) -> str:
    """What a person calls it: the model of a disk, the name of a volume, the level of an array."""
    own = node.attributes
    return clean(own.get("device/model") or own.get("dm/name") or own.get("md/level") or "", 40)


async def _caches(host: Host) -> dict[str, tuple[str, ...]]:
    """Kernel names of the cache devices of each bcache device: they are not among its slaves.

    A cache set's folder links to `bcache` below each of its caches (drivers/md/bcache/super.c).
    """
    found: dict[str, tuple[str, ...]] = {}
    for path in await host.list("/sys/block/*/bcache/cache/cache[0-9]*"):
        name = path.split("/")[3]
        target = (await host.link(path) or "").split("/")
        if len(target) > 2 and name.startswith("bcache"):
            found[name] = (*found.get(name, ()), target[-2])
    return found
