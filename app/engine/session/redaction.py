"""What a session or a recording tells of its machine, its devices and its people, and the session without it."""

from __future__ import annotations

import json
import os
import pwd
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.engine.session import wire
from app.engine.session.events import InventorySeen, SessionStarted
from app.engine.session.state import Session, replay
from backends.errors import RefusedError
from backends.model import Inventory
from backends.redaction import SHORTEST, Redactor

_USERS = range(1000, 60_000)
"""User numbers of people (login.defs)."""
_MOUNTED = re.compile(r"mounted on (/[^\s,;\"']*)")

_TELLING = ("World wide name", "Serial numbers")
"""Labels of facts of a controller that tell it from all others."""


def redactor_for(
    inventories: Iterable[Inventory], hosts: Iterable[str] = (), mounts: Iterable[str] = (), users: Iterable[str] = ()
) -> Redactor:
    """A redactor of all that inventories tell, of host names and of the users of this machine."""
    seen = tuple(inventories)
    points = {point for inventory in seen for point in _mount_points(inventory)}
    return Redactor(
        serials={
            spelling
            for inventory in seen
            for identifier in identifiers(inventory)
            for spelling in spellings(identifier)
        },
        names={*_host_names(hosts), *users, *_people()},
        labels={label for inventory in seen for label in _labels(inventory)},
        mounts={*points, *mounts},
    )


def redactor_of(*sessions: Session, others: Iterable[str] = ()) -> Redactor:
    """A redactor of all that sessions tell, whatever was seen or done in them; `others`: hosts named besides."""
    events = [event for session in sessions for event in session.events]
    seen = [event.inventory for event in events if isinstance(event, InventorySeen)]
    hosts = [*(event.machine.host for event in events if isinstance(event, SessionStarted)), *others]
    texts = json.dumps([wire.as_json(event) for event in events], ensure_ascii=False)
    return redactor_for((*seen, *(session.inventory for session in sessions)), hosts, _MOUNTED.findall(texts))


def redacted(session: Session, redactor: Redactor) -> Session:
    """The session with a pseudonym for every identifier, to be shown like any other. Raises RefusedError."""
    events = []
    for event in session.events:
        line = _without_names(wire.as_json(event), redactor)
        made = wire.decode(json.dumps(line))
        if made is None:
            raise RefusedError("This session cannot be redacted: one of its lines would no longer be read.")
        events.append(made)
    return replay(events)


def _without_names(line: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """The line of an event; what kind it is stays."""
    kept = {"event": line["event"]}
    return {name: _labels_too(redactor.value(value), redactor) for name, value in line.items()} | kept


def _labels_too(value: Any, redactor: Redactor) -> Any:
    """The same with labels where they are fields of their own."""
    match value:
        case dict():
            label = value.get("label")
            quoted = isinstance(label, str) and "kind" in value  # what lies on a device
            more = {"label": redactor.text(f"'{label}'")[1:-1]} if quoted else {}
            return {name: _labels_too(item, redactor) for name, item in value.items()} | more
        case list():
            return [_labels_too(item, redactor) for item in value]
        case _:
            return value


def identifiers(inventory: Inventory) -> Iterator[str]:
    """What tells one device from all others."""
    found = [controller.serial for controller in inventory.controllers]
    known = [array.identity for array in inventory.arrays] + [drive.identity for drive in inventory.drives]
    for identity in known:
        if identity is not None:
            found += [identity.serial, identity.wwn]
    for drive in inventory.drives:
        found += [drive.serial, drive.wwn]
    for controller in inventory.controllers:
        found += [one for fact in controller.facts if fact.label in _TELLING for one in fact.value.split()]
    yield from filter(None, found)


def spellings(text: str) -> Iterator[str]:
    """An identifier without its prefix (`naa.`, `0x`, `dm.mpath-3`), with blanks or udev's underscores, and backwards.

    World wide names with colons between their bytes, too.

    Short ones are left: they would be found in the middle of other words.
    """
    bare = re.sub(r"^(?:0x|(?:naa|eui|uuid|nvme|md|dm)\.)?(?:mpath-[123])?", "", text)
    if len(bare) < SHORTEST:
        return
    yield bare
    yield re.sub(r"\s+", "_", bare)
    yield bare[::-1]  # MegaRAID's serial numbers are WWNs written backwards
    if re.fullmatch(r"(?:[0-9a-fA-F]{16}){1,2}", bare):
        yield ":".join(bare[at : at + 2] for at in range(0, len(bare), 2))
    if re.fullmatch(r"5[0-9a-f]{15}", bare.lower()):  # smartctl tells the last 36 bits as a number
        yield str(int(bare[7:], 16))


def _host_names(hosts: Iterable[str]) -> Iterator[str]:
    """Whole and up to the first dot."""
    for host in filter(None, (*hosts, os.uname().nodename)):
        if host not in ("localhost", "simulated"):
            yield from (host, host.partition(".")[0])


def _people() -> Iterator[str]:
    """Who has an account here, and who called us."""
    yield from (one.pw_name for one in pwd.getpwall() if one.pw_uid in _USERS)
    called = (os.environ.get(name, "") for name in ("SUDO_USER", "LOGNAME", "USER"))
    yield from (name for name in called if name not in ("", "root"))


def _labels(inventory: Inventory) -> Iterator[str]:
    yield from (signature.label for drive in inventory.drives for signature in drive.signatures if signature.label)


def _mount_points(inventory: Inventory) -> Iterator[str]:
    uses = [use for array in inventory.arrays for use in array.uses]
    uses += [use for drive in inventory.drives for use in drive.uses]
    for use in uses:
        yield from _MOUNTED.findall(use.detail)
