"""All requests to the root helper: each field of each verb has one check, and nothing else is accepted. No I/O."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from backends.firmware_queries import FirmwareQuery
from backends.model import Scope

Check = Callable[[Any], bool]

MAX_PATHS = 4096
"""Maximum number of files in one request."""

MAX_READ_S = 600.0
"""Longest time limit in seconds that a request may set for a program."""


class RequestDeniedError(Exception):
    """A request that is not permitted, malformed or out of order."""


def text(pattern: str) -> Check:
    """Return a check for a printable string that matches a pattern completely."""
    compiled = re.compile(pattern, re.ASCII)
    return lambda value: isinstance(value, str) and value.isprintable() and compiled.fullmatch(value) is not None


def integer(least: int, most: int) -> Check:
    """Return a check for an integer within bounds; booleans are rejected."""
    return lambda value: type(value) is int and least <= value <= most


def seconds(most: float) -> Check:
    """Return a check for a number of seconds (a duration or a point in time), at most `most`."""
    return lambda value: type(value) in (int, float) and 0 < value <= most


def nonempty_list(check: Check, most: int) -> Check:
    """Return a check for a list of 1 to `most` items."""
    return lambda value: isinstance(value, list) and 0 < len(value) <= most and all(map(check, value))


def optional(check: Check) -> Check:
    """Return a check that accepts what `check` accepts, and None."""
    return lambda value: value is None or check(value)


def flag(value: Any) -> bool:
    """Return whether a value is a boolean."""
    return isinstance(value, bool)


def record(value: Any) -> bool:
    """Return whether a value is an object. The function that receives it checks its fields."""
    return isinstance(value, dict)


def records(most: int) -> Check:
    """Return a check for a list of at most `most` objects, which may be empty."""
    return lambda value: isinstance(value, list) and len(value) <= most and all(map(record, value))


def lines(value: Any) -> bool:
    """Return whether a value is a list of at most 512 non-empty strings: lines that the user saw."""
    return isinstance(value, list) and len(value) <= 512 and all(isinstance(item, str) and item for item in value)


def mapping(keys: Check, values: Check) -> Check:
    """Return a check for an object of at most 64 fields, which may be empty.

    `keys`, `values`: checks for its fields.
    """
    return lambda value: (
        isinstance(value, dict) and len(value) <= 64 and all(keys(key) and values(item) for key, item in value.items())
    )


def section(value: Any) -> bool:
    """Return whether a value is a further section of a job: its fields, and whether it waits for the previous ones."""
    return isinstance(value, dict) and value.keys() == {"job", "waits"} and _JOB(value["job"]) and flag(value["waits"])


def _session(value: Any) -> bool:
    """Return whether a value is the path of a session folder in normal form, because the path identifies changes."""
    return _FOLDER(value) and value == os.path.normpath(value) and not value.startswith("//")


_KEY = text(r"[a-z][a-z0-9_]{0,63}(\.[A-Za-z0-9!+_./-]{1,128})?")  # setting of a member: write_mostly.sda1
_BESIDE = text(r"[a-z][a-z0-9_]{0,63}([./][A-Za-z0-9!+_./-]{1,128})?")  # setting of a scheduler: iosched/read_expire
_WORD = text(r".{1,256}")
_SETTINGS = mapping(_KEY, _WORD)
"""Accepts setting values by key. For `persist`, an empty mapping removes the persisted values."""
_COMPANIONS = mapping(_BESIDE, _WORD)
"""Accepts companions of a change by key: values of other settings that are restored together with its setting."""
_JOB = mapping(_KEY, text(r".{0,2048}"))
"""Accepts the fields of a job, with strings as values."""
_TARGET = text(r"[a-z0-9_-]{1,32}:[^ ]{1,256}")
_SCOPE = text("|".join(Scope))
_NODE = text(r"/dev(/[^ /]{1,255}){1,3}")
_FOLDER = text(r"/.{1,4095}")
_ID = text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LOCK = text(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}")
"""Accepts the name of a lock. It becomes a file name, so it must not be `.` or `..` or contain a slash."""
_PATH = text(r"/.{1,1023}")
_NUMBER = integer(1, 2**31)

RESULTS = ("verified", "differs", "failed", "restored", "kept", "conflict", "gone")
"""Outcomes of a change that a request may record."""

FIELDS: Mapping[str, Mapping[str, Check]] = {
    "hello": {"version": integer(1, 1), "read_only": flag, "firmware": flag},
    "read": {"paths": nonempty_list(_PATH, MAX_PATHS)},
    "follow": {"path": _PATH},
    "run": {
        "argv": nonempty_list(text(r".{1,8192}"), 64),
        "seconds": seconds(MAX_READ_S),
        "stall": optional(seconds(MAX_READ_S)),
    },
    "reachable": {},
    "ask": {
        "host": integer(0, 65535),
        "question": text("|".join(question.name for question in FirmwareQuery)),
        "subject": integer(0, 65535),
        "size": optional(integer(1, max(question.value.size for question in FirmwareQuery))),
    },
    "facts": {"device": _NODE, "writing": flag},
    "free": {"device": _NODE, "shown": optional(records(512))},
    "hold": {
        "device": _NODE,
        "writing": flag,
        "typed": optional(_WORD),
        "meant": optional(record),
        "shown": optional(lines),
    },
    "release": {"hold": _NUMBER},
    "measure": {
        "holds": nonempty_list(_NUMBER, 64),
        "job": _JOB,
        "more": optional(nonempty_list(section, 63)),
        "cap": optional(integer(1, 7 * 86400)),
        "interval": integer(50, 60_000),
        "fio": _PATH,
    },
    "signal": {"run": _NUMBER, "how": text("interrupt|terminate|kill")},
    "ended": {"run": _NUMBER},
    "lock": {"name": LOCK, "what": _WORD},
    "unlock": {"name": LOCK},
    "together": {"target": _TARGET, "scope": _SCOPE, "values": _SETTINGS},
    "plan": {"change": record, "back": optional(_COMPANIONS)},
    "intend": {
        "session": _session,
        "id": _ID,
        "target": _TARGET,
        "key": _KEY,
        "after": _WORD,
        "until": optional(seconds(2.0**40)),
    },
    "given": {"session": _session},
    "apply": {"session": _session, "id": _ID},
    "outcome": {"session": _session, "id": _ID, "result": text("|".join(RESULTS))},
    "arm": {"session": _session, "until": seconds(2.0**40)},
    "rehearse": {},
    "journal": {},
    "persist": {"target": _TARGET, "scope": _SCOPE, "values": _SETTINGS, "digest": text(r"[0-9a-f]{64}")},
    "remake": {"session": _session, "id": _ID},
    "unit": {"do": text("plan|install|remove")},
    "companion": {},
}
"""Every verb with its fields, all of which are required, and the check of each field."""


def parse_request(message: Mapping[str, Any]) -> tuple[int, str, dict[str, Any]]:
    """Return the number, the verb and the arguments of a request. Raises RequestDeniedError if it is not valid."""
    number, verb, args = message.get("id"), message.get("verb"), message.get("args")
    if set(message) != {"id", "verb", "args"} or type(number) is not int or not 0 < number < 2**53:
        raise RequestDeniedError("The message is not a request.")
    fields = FIELDS.get(verb) if isinstance(verb, str) else None
    if fields is None or not isinstance(verb, str):
        raise RequestDeniedError("There is no such verb.")
    if not isinstance(args, dict) or set(args) != set(fields):
        raise RequestDeniedError(f"{verb} takes {', '.join(fields) or 'nothing'}.")
    for name, check in fields.items():
        if not check(args[name]):
            raise RequestDeniedError(f"{verb}: {name} is not allowed.")
    return number, verb, args
