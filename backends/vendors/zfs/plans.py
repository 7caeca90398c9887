"""The command lines that set a property, and those that bring the present value back with its source. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.change import Change, Write
from backends.settings import Reading
from backends.text import clean
from backends.vendors.zfs.facts import OWN, ZfsKind, ZfsValue
from backends.vendors.zfs.parameters import FOLDER
from backends.vendors.zfs.settings import INHERIT, INHERITED, RECEIVED

NAMED = 6
"""How many datasets are named that move along."""

_WORD = re.compile(r"[a-z0-9-]{1,40}")


def steps(zfs: str, name: str, key: str, value: str) -> tuple[Write, ...]:
    """What gives a dataset or pool this value: a word of its own, or none, so that it is inherited again."""
    if key not in INHERITED:
        zpool = zfs.removesuffix("zfs") + "zpool"
        return (Write(argv=(zpool, "set", f"{key}={value}", name)),)
    if value == INHERIT:
        return (Write(argv=(zfs, "inherit", key, name)),)
    if value == RECEIVED:
        return (Write(argv=(zfs, "inherit", "-S", key, name)),)
    return (Write(argv=(zfs, "set", f"{key}={value}", name)),)


def undo_steps(zfs: str, name: str, key: str, now: Reading) -> tuple[Write, ...]:
    """What brings the present value back; nothing where it is not known."""
    known = now.now is not None and _WORD.fullmatch(now.now) and now.now != "unknown"
    return steps(zfs, name, key, now.now or "") if known else ()


def own_steps(change: Change, zfs: str) -> tuple[Write, ...]:
    """The steps that a change may have, by what it wants; none for a value that no setting has."""
    if not _WORD.fullmatch(change.after):
        return ()
    return steps(zfs, change.target.address, change.key, change.after)


def is_own_parameter(change: Change) -> bool:
    """Whether a change of the module only writes numbers to its one parameter, at last the one that is wanted."""
    numbers = all(one.path == FOLDER + change.key and (one.text or "").isdecimal() for one in change.writes)
    return bool(change.writes) and numbers and change.writes[-1].text == change.after


def heirs(target: str, values: Iterable[tuple[str, ZfsValue]]) -> tuple[str, ...]:
    """Datasets below that have no value of their own, and move along."""
    found = dict(values)
    own = found.pop(target, None)
    if own is None:
        return ()
    source = f"inherited from {target}" if own.source in OWN else own.source
    return tuple(name for name, value in found.items() if value.source == source)


def heirs_words(names: tuple[str, ...]) -> tuple[str, ...]:
    """These in words, the first of many by name."""
    told = tuple(clean(name, 100) for name in names[:NAMED])
    return told if len(names) <= NAMED else (*told, f"{len(names) - NAMED} more")


def kind_at(address: str) -> ZfsKind:
    """What an address may name before anybody looked."""
    if address == "/module":
        return ZfsKind.MODULE
    return ZfsKind.FILESYSTEM if "/" in address else ZfsKind.POOL
