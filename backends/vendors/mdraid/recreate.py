"""The commands that take an array apart and make it anew of the same members. Pure."""

from __future__ import annotations

from backends.vendors.mdraid.facts import ArrayFacts
from backends.vendors.mdraid.readings import bitmap_word

_METADATA = ("1.2", "1.1", "1.0")
"""md's own metadata that hold a UUID, a name and where data begin."""


def recreation(
    array: ArrayFacts, *, mdadm: str, device: str, name: str | None, chunk: int | None, layout: str | None
) -> tuple[tuple[str, ...], ...] | str:
    """Stop, then create with another chunk (bytes) or layout and all else as it is; or why that cannot be done.

    `--run` answers the question whether members that bear an array's metadata are to be used. Nothing is assumed to be
    clean: a resync follows, which makes the copies equal.
    """
    reason = _why_not(array)
    if reason is not None:
        return reason
    assert array.chunk is not None
    words = [
        mdadm,
        "--create",
        device,
        "--run",
        f"--metadata={array.metadata}",
        f"--level={array.level_word}",
        f"--raid-devices={array.disks}",
        f"--chunk={(chunk or array.chunk.now) // 1024}K",
    ]
    wanted = layout or array.layout_word
    words += [f"--layout={wanted}"] if wanted is not None else []
    words += [f"--uuid={array.uuid}"]
    words += [f"--name={name}"] if name else []
    words += [f"--data-offset={(array.active[0].offset_bytes or 0) // 1024}K"]
    words += [f"--size={array.component_bytes // 1024}K"] if array.component_bytes else []
    words += [f"--bitmap={bitmap_word(array.attributes)}"] if array.level_word != "raid0" else []
    members = tuple(f"/dev/{one.name.replace('!', '/')}" for one in array.active)
    return ((mdadm, "--stop", device), (*words, *members))


def devices_in(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The members that a `--create` names: its last words."""
    found: list[str] = []
    for word in reversed(argv):
        if not word.startswith("/dev/"):
            break
        found.append(word)
    return tuple(reversed(found))


def _why_not(array: ArrayFacts) -> str | None:
    members = array.active
    if array.metadata not in _METADATA:
        return f"its metadata are {array.metadata or 'not known'}"
    if array.uuid is None:
        return "its UUID is not known"
    if array.disks is None or len(members) != array.disks or len(array.members) != array.disks:
        return "it has missing, spare or failed members"
    if any(one.marks for one in members):
        return "members are marked write-mostly or failfast: take the marks off first"
    offsets = {one.offset_bytes for one in members}
    if len(offsets) != 1 or None in offsets:
        return "the data of its members begin at different places"
    if array.level_word != "raid0" and bitmap_word(array.attributes) not in ("none", "internal"):
        return "its bitmap is neither none nor internal"
    return None
