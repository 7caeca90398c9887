"""Redaction of a session or recording: identifiers of machines, devices and users are replaced by pseudonyms."""

from __future__ import annotations

import json
import os
import pwd
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from app.core.session import event_codec
from app.core.session.events import InventorySeen, SessionStarted
from app.core.session.json_codec import unstructure
from app.core.session.state import Session, replay
from backends.errors import RefusedError
from backends.model import Inventory
from backends.redaction import FLEXIBLE, SHORTEST, Redactor, keyed_values, without_prefix

_USERS = range(1000, 60_000)
"""User ids of ordinary users (login.defs)."""
_MOUNTED = re.compile(r"mounted on (/[^\s,;\"']*)")

_FIELDS = re.compile(r"(?:^|_)(?:serial|wwn|wwid|uuid|guid|nguid|eui|naa|iqn|nqn|asset_tag|boot_id)s?(?:_|$)")
"""Pattern of the names of event fields that contain identifiers of a device, machine or boot."""

_TELLING = re.compile(
    r"(?i)serial|world wide|wwn|wwid|uuid|guid|eui|naa|sas address|iqn|nqn|asset tag|node name|port name"
)
"""Pattern of the labels of facts that contain identifiers."""

_VERSIONS = re.compile(r"(?i)firmware|driver|version|kernel|bios")
"""Pattern of the names of fields and the labels of facts that contain version numbers."""

_WORDS = re.compile(r"[^\s;,]*[^\W_][^\s;,]*")


def redactor_of_inventories(
    inventories: Iterable[Inventory],
    hosts: Iterable[str] = (),
    mounts: Iterable[str] = (),
    others: Iterable[str] = (),
    plain: Iterable[str] = (),
) -> Redactor:
    """Return a redactor for host names, the users of this machine, and all identifiers in inventories.

    `others`: identifiers from other sources. `plain`: version numbers to keep, although they look like addresses.
    """
    inventory_list = tuple(inventories)
    signatures = [mark for inventory in inventory_list for drive in inventory.drives for mark in drive.signatures]
    labels = {signature.label for signature in signatures if signature.label}
    names = {*(name for inventory in inventory_list for name in identifiers(inventory)), *others}
    names |= {signature.uuid for signature in signatures if signature.uuid}  # UUIDs of filesystems and other signatures
    points = {point for inventory in inventory_list for point in _mount_points(inventory)}
    return Redactor(
        serials={
            spelling for identifier in names if is_replaced_everywhere(identifier) for spelling in spellings(identifier)
        },
        names={
            *_host_names((*hosts, *(label.partition(":")[0] for label in labels if ":" in label))),
            *_user_names(),
            *filter(_is_distinctive, labels),
        },
        labels=labels,
        plain={*plain, *(version for inventory in inventory_list for version in _versions(unstructure(inventory)))},
        mounts={*points, *mounts},
    )


def redactor_of_sessions(*sessions: Session, others: Iterable[str] = (), texts: Iterable[str] = ()) -> Redactor:
    """Return a redactor for all identifiers in sessions.

    `others`: additional host names. `texts`: output of programs, which is stored next to the log.
    """
    events = [event for session in sessions for event in session.events]
    logged_inventories = [event.inventory for event in events if isinstance(event, InventorySeen)]
    hosts = [*(event.machine.host for event in events if isinstance(event, SessionStarted)), *others]
    lines = [event_codec.as_json(event) for event in events]
    output = json.dumps(lines, ensure_ascii=False)
    identifier_texts = {
        *_field_words(lines, is_identifying, _TELLING),
        *keyed_values(output),
        *(keyed_value for text in texts for keyed_value in keyed_values(text)),
    }
    inventories = (*logged_inventories, *(session.inventory for session in sessions))
    return redactor_of_inventories(
        inventories, hosts, _MOUNTED.findall(output), others=identifier_texts, plain=_versions(lines)
    )


def redact_session(session: Session, redactor: Redactor) -> Session:
    """Return the session with pseudonyms for all identifiers.

    Raises RefusedError if an event would become unreadable.
    """
    events = []
    for event in session.events:
        line = event_codec.as_json(event)
        redacted_line = {**redact_json(line, redactor), "event": line["event"]}  # `decode` needs the kind of the event
        redacted_event = event_codec.decode(json.dumps(redacted_line))
        if redacted_event is None:
            raise RefusedError("The session cannot be redacted: one of its lines would become unreadable.")
        events.append(redacted_event)
    redacted = replay(events)
    return redacted if session.active is not None else redacted.without_active()


def redact_json(value: Any, redactor: Redactor, name: str = "") -> Any:
    """Return a JSON value with pseudonyms for identifiers. `name`: name of the field that has the value.

    The string in an identifying field is replaced as a whole; in other strings, only the identifiers are replaced.
    """
    match value:
        case str():
            return redactor.field_text(value) if is_identifying(name) else redactor.text(value)
        case dict():
            more = {}
            label = value.get("label")
            if isinstance(label, str) and "kind" in value:  # a signature on a device
                more = {"label": redactor.text(f"'{label}'")[1:-1]}
            elif isinstance(label, str) and _TELLING.search(label) and isinstance(value.get("value"), str):
                more = {"value": redactor.field_text(value["value"])}
            return {key: redact_json(item, redactor, key) for key, item in value.items()} | more
        case list() | tuple():
            return [redact_json(item, redactor, name) for item in value]
        case _:
            return value


def _versions(value: Any) -> Iterator[str]:
    """Yield the version numbers in a JSON value. They must not be replaced, although some look like addresses."""
    return _field_words(value, lambda name: _VERSIONS.search(name) is not None, _VERSIONS)


def _field_words(value: Any, is_meant: Callable[[str], bool], labels: re.Pattern[str], name: str = "") -> Iterator[str]:
    """Yield the words in those fields of a JSON value whose name meets `is_meant` or whose label matches `labels`.

    `name`: name of the field that has the value.
    """
    match value:
        case str():
            yield from _WORDS.findall(value) if is_meant(name) else ()
        case dict():
            label = value.get("label")
            if isinstance(label, str) and labels.search(label) and isinstance(value.get("value"), str):
                yield from _WORDS.findall(value["value"])
            for key, item in value.items():
                yield from _field_words(item, is_meant, labels, key)
        case list() | tuple():
            for item in value:
                yield from _field_words(item, is_meant, labels, name)
        case _:
            return


def is_identifying(name: str) -> bool:
    """Return whether a field with that name identifies a device or machine. No I/O."""
    return _FIELDS.search(name) is not None


def is_replaced_everywhere(identifier: str) -> bool:
    """Return whether an identifier is replaced in every string, and not only in its own field. No I/O.

    Short numbers and words are not replaced everywhere, because they also occur with another meaning.
    """
    bare = re.sub(r"[^0-9A-Za-z]", "", identifier)
    if len(set(bare)) <= 1:  # 0000000000: a disk without a serial number
        return False
    return len(bare) >= FLEXIBLE if bare.isdigit() else any(char.isdigit() for char in bare) or len(bare) >= FLEXIBLE


def identifiers(inventory: Inventory) -> Iterator[str]:
    """Yield the identifiers of all devices."""
    texts = [controller.serial for controller in inventory.controllers]
    identities = [array.identity for array in inventory.arrays] + [drive.identity for drive in inventory.drives]
    for identity in identities:
        if identity is not None:
            texts += [identity.serial, identity.wwn]
    for drive in inventory.drives:
        texts += [drive.serial, drive.wwn]
    for fact in (fact for device in inventory.devices for fact in device.facts):
        texts += _WORDS.findall(fact.value) if _TELLING.search(fact.label) else ()
    yield from filter(None, texts)


def spellings(text: str) -> Iterator[str]:
    """Yield the spellings of an identifier: without its prefix, with underscores as udev writes it, and reversed.

    Prefixes are `naa.`, `0x` or `dm.mpath-3`, for example. Short identifiers yield nothing, because they would match
    parts of other words.
    """
    bare = without_prefix(text)
    if len(bare) < SHORTEST:
        return
    yield bare
    yield re.sub(r"\s+", "_", bare)
    yield bare[::-1]  # MegaRAID's serial numbers are WWNs written backwards
    if re.fullmatch(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{2}", bare):  # UUID of an MBR partition: begins with the disk's id
        yield bare[:8]
    if re.fullmatch(r"5[0-9a-f]{15}", bare.lower()):  # smartctl prints the last 36 bits of a WWN as a decimal number
        yield str(int(bare[7:], 16))


def _host_names(hosts: Iterable[str]) -> Iterator[str]:
    """Yield each host name, and its part before the first dot."""
    for host in filter(None, (*hosts, os.uname().nodename)):
        if host not in ("localhost", "simulated"):
            yield from (host, host.partition(".")[0])


def _user_names() -> Iterator[str]:
    """Yield the names of ordinary users of this machine, and of the user who runs this process."""
    yield from (passwd.pw_name for passwd in pwd.getpwall() if passwd.pw_uid in _USERS)
    called = (os.environ.get(name, "") for name in ("SUDO_USER", "LOGNAME", "USER"))
    yield from (name for name in called if name not in ("", "root"))


def _is_distinctive(label: str) -> bool:
    """Return whether a label can only be a name, and not an ordinary word such as `data` or `backup`."""
    return (
        ":" not in label
        and len(label) > SHORTEST
        and re.search(r"[^\W\d_]", label) is not None
        and re.search(r"[\d_-]", label) is not None
    )


def _mount_points(inventory: Inventory) -> Iterator[str]:
    uses = [use for array in inventory.arrays for use in array.uses]
    uses += [use for drive in inventory.drives for use in drive.uses]
    for use in uses:
        yield from _MOUNTED.findall(use.detail)
