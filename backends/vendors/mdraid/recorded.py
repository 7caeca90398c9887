"""What steps that earlier versions recorded say of the array that they would bring back. Pure."""

from __future__ import annotations

from backends.change import Change, Write
from backends.changing import strange_step
from backends.vendors.mdraid.plans import GEOMETRY
from backends.vendors.mdraid.recreate import IN_BYTES, SHAPE, said
from backends.vendors.mdraid.running import OPTIONS

_BITMAP_CHUNK = "--bitmap-chunk"
_NAMES = {option: key for key, option in SHAPE.items()}


def companions_of(change: Change) -> dict[str, str] | None:
    """The chunks of a bitmap, or what an array was made with; None for what comes back by its value alone.

    Members, level and UUID are those of the array that is there, whatever was recorded. Raises RefusedError for a step
    that is none of such a change of this array.
    """
    if change.key != "bitmap" and change.key not in GEOMETRY:
        return None
    found: dict[str, str] = {}
    for step in change.undo:
        found |= _named(change, step)
    return found


def _named(change: Change, step: Write) -> dict[str, str]:
    device = "/dev/" + change.target.address.replace("!", "/")
    verb = step.argv[1] if len(step.argv) > 2 else ""
    legal = OPTIONS.get(verb)
    words = [word for word in step.argv[2:] if word != device]
    ours = (
        legal is not None
        and step.argv[0].rpartition("/")[2] == "mdadm"
        and device in step.argv[2:]
        and all(legal.fullmatch(word) for word in words)
        and (verb == "--grow" or change.key in GEOMETRY)
    )
    if not ours:
        raise strange_step(change, step)
    if verb == "--stop":
        return {}
    told = {option: text for option, equals, text in (word.partition("=") for word in words) if equals}
    own = GEOMETRY.get(change.key, "bitmap")
    beside = {_BITMAP_CHUNK} if own == "bitmap" else {"--backup-file"}
    if told.pop(SHAPE[own], "") != said(own, change.before or "") or (verb == "--grow" and not told.keys() <= beside):
        raise strange_step(change, step)
    found = {_NAMES[option]: text for option, text in told.items() if option in _NAMES}
    if _BITMAP_CHUNK in told:
        found["chunk"] = told[_BITMAP_CHUNK]
    return {key: _bytes(text) if key in IN_BYTES else text for key, text in found.items()}


def _bytes(text: str) -> str:
    """Of KiB with a K: the options allow nothing else."""
    return str(int(text.removesuffix("K")) * 1024)
