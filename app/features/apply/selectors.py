"""Which things a selector means. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.features.apply.settings_file import SELECTS
from backends.model import Array, Controller, Drive, Inventory, kind_of

Thing = Controller | Array | Drive


def everything(inventory: Inventory) -> Iterator[Thing]:
    """All things that may have settings; a disk by its first path."""
    yield from inventory.controllers
    yield from inventory.arrays
    yield from (drive for drive in inventory.drives if not drive.shown_elsewhere)


def selected(inventory: Inventory, select: Mapping[str, str]) -> tuple[Thing, ...]:
    """What a selector means.

    Where it names neither an address nor a vendor, a disk that is also an array or a vendor's drive counts once, as
    that: the settings of its queue are reached through it.
    """
    exact = "address" in select or "vendor" in select
    hidden = frozenset() if exact else inventory.twins
    return tuple(one for one in everything(inventory) if one.target not in hidden and _is_meant(one, select))


def _is_meant(thing: Thing, select: Mapping[str, str]) -> bool:
    if select.get("vendor", thing.target.backend) != thing.target.backend:  # a file of all selects often
        return False
    known = marks(thing)
    return all(value in known.get(key, ()) for key, value in select.items())


def marks(thing: Thing) -> dict[str, tuple[str, ...]]:
    """What a thing is known by, by the key of a selector."""
    found: dict[str, tuple[str | None, ...]] = {
        "address": (str(thing.target),),
        "vendor": (thing.target.backend,),
        "kind": (kind_of(thing),),
    }
    match thing:
        case Controller():
            found |= {"serial": (thing.serial,), "model": (thing.model,)}
        case Array():
            own = thing.identity
            found |= {"level": (thing.level.value,), "name": (thing.name,)}
            found |= {"wwn": (own.wwn,), "serial": (own.serial,)} if own is not None else {}
        case Drive():
            own = thing.identity
            found |= {"media": (thing.media.value,), "model": (thing.model,)}
            found |= {
                "wwn": (thing.wwn, own.wwn if own else None),
                "serial": (thing.serial, own.serial if own else None),
            }
    if not isinstance(thing, Controller):
        points = [use.detail.removeprefix("mounted on ") for use in thing.uses if use.kind == "mount"]
        folder = thing.folder if isinstance(thing, Array) else None
        found["mount"] = (*points, folder)
    return {key: tuple(dict.fromkeys(value for value in values if value)) for key, values in found.items()}


def selector_of(inventory: Inventory, thing: Thing) -> dict[str, str]:
    """What means this thing and no other: by its WWN or serial number where that does, else by its address."""
    own = marks(thing)
    for key in ("wwn", "serial"):
        for value in own.get(key, ()):
            select = {"vendor": thing.target.backend, "kind": own["kind"][0], key: value}
            if len(value) >= 4 and selected(inventory, select) == (thing,):
                return {name: select[name] for name in SELECTS if name in select}
    return {"address": str(thing.target)}


def sort_of(thing: Thing) -> dict[str, str] | None:
    """What means all of its sort, on any machine: vendor and model, of arrays the level; None where that is unknown."""
    own = marks(thing)
    key = next((key for key in ("model", "level", "media") if own.get(key)), None)
    if key is None:
        return None
    return {"vendor": thing.target.backend, "kind": own["kind"][0], key: own[key][0]}
