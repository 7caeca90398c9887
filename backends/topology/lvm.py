"""What LVM's devices are to each other, by the names and UUIDs that it gives device-mapper. Pure.

Name `VG-LV` or `VG-LV-LAYER` with every hyphen of VG and LV doubled, UUID `LVM-...` (lvm2: lib/misc/lvm-string.c,
dm_build_dm_name). What is not for users has one of the reserved endings (lib/misc/lvm-string.c, _lvname_has_reserved).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.text import clean
from backends.topology.tree import Node, Tree, natural
from backends.values import dataclass

_NAME = re.compile(r"((?:[^-]|--)+)-((?:[^-]|--)+)(?:-([a-z_]+))?")
_ENDING = re.compile(
    r"_(cdata|cmeta|corig|cpool|cvol|iorig|imeta|mlog|pmspare|rimage|rmeta|mimage|tdata|tmeta|vdata|vorigin|wcorig)"
    r"(?:_[0-9]+)?$"
)

_ROLES = (
    (("cmeta",), "cache metadata"),
    (("cdata", "cvol", "cpool"), "cache"),
    (("corig", "wcorig", "iorig", "real", "vorigin"), "origin"),
    (("tmeta", "rmeta", "imeta"), "metadata"),
    (("cow",), "snapshot"),
    (("mlog",), "log"),
    (("tdata", "vdata", "rimage", "mimage"), "data"),
)
"""What a part is for, by its endings and layer; the first that applies."""

_MOST = 4
"""Volumes that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LvmName:
    """A volume, or a part of one."""

    group: str
    """Its volume group."""
    volume: str
    """Without what marks a part: `mail` of `mail_corig`; a cache's own name is its volume's before it was one."""
    endings: frozenset[str] = frozenset()
    """What marks it as a part: `corig`, `rimage`, `real`; empty for a volume that users see."""

    @property
    def shown(self) -> str:
        """`vg0/mail`."""
        return clean(f"{self.group}/{self.volume}")

    @property
    def role(self) -> str:
        """`cache`, `cache metadata`, `origin`, `metadata`, `data`, ...; "" for what users see."""
        return next((word for endings, word in _ROLES if self.endings.intersection(endings)), "")


def lvm_name(node: Node) -> LvmName | None:
    """What LVM calls a device; None for one that is not its own."""
    parts = _NAME.fullmatch(node.attributes.get("dm/name", ""))
    if parts is None or not node.attributes.get("dm/uuid", "").startswith("LVM-"):
        return None
    volume, endings = parts[2].replace("--", "-"), {parts[3]} if parts[3] else set()
    while (ending := _ENDING.search(volume)) is not None:
        endings.add(ending[1])
        volume = volume[: ending.start()]
    return LvmName(group=parts[1].replace("--", "-"), volume=volume, endings=frozenset(endings))


def lvm_words(tree: Tree, node: Node) -> dict[str, str]:
    """What completes "X is ..." for what LVM built on a device, each with the first holder that shows it.

    `a physical volume of vg0 (cache of vg0/mail)`, `the origin of vg0/mail`.
    """
    own = lvm_name(node)
    groups: dict[str, dict[str, list[str]]] = {}
    first: dict[str, str] = {}
    for holder in sorted(node.holders, key=natural):
        above = tree.nodes.get(holder)
        name = lvm_name(above) if above is not None else None
        if above is None or name is None:
            continue
        role = (own if own is not None and own.group == name.group else name).role
        first.setdefault(name.group, holder)
        groups.setdefault(name.group, {}).setdefault("" if role == "data" else role, []).extend(_seen(tree, above))
    return {first[group]: _words(group, roles, own) for group, roles in groups.items()}


def lvm_holders(tree: Tree, node: Node) -> frozenset[str]:
    """Those of its holders that `lvm_words` tells of."""
    named = ((holder, tree.nodes.get(holder)) for holder in node.holders)
    return frozenset(holder for holder, above in named if above is not None and lvm_name(above) is not None)


def _seen(tree: Tree, node: Node) -> list[str]:
    """Volumes that users see: the device itself, or those above it; its own name where none is active."""
    nodes = (node, *tree.above(node.name))
    names = [name for one in nodes if (name := lvm_name(one)) is not None]
    return [name.shown for name in names if not name.endings] or [names[0].shown]


def _words(group: str, roles: dict[str, list[str]], own: LvmName | None) -> str:
    told = [f"{role} of {_listed(names)}" if role else _listed(names) for role, names in sorted(roles.items())]
    if own is not None and own.group == group:
        return f"the {told[0]}" if own.role and own.role != "data" else f"a part of {told[0]}"
    return f"a physical volume of {clean(group)} ({', '.join(told)})"


def _listed(names: Iterable[str]) -> str:
    once = list(dict.fromkeys(names))
    more = f" and {len(once) - _MOST} more" if len(once) > _MOST else ""
    return ", ".join(once[:_MOST]) + more
