"""Interprets the exit status and errors of ssh: why a host was not reached or has no raidbench. No I/O."""

from __future__ import annotations

import re
from enum import StrEnum


class Cause(StrEnum):
    """Why there is no answer from a host.

    With the first six causes, raidbench did not run on the host. With the others, the host gave no valid answer.
    """

    UNREACHABLE = "unreachable"
    NAME_UNKNOWN = "name-unknown"
    KEY_UNKNOWN = "key-unknown"
    KEY_CHANGED = "key-changed"
    NO_PERMISSION = "no-permission"
    ABSENT = "raidbench-absent"
    OLDER = "raidbench-older"
    NEWER = "raidbench-newer"
    TIMED_OUT = "timed-out"
    TOO_LONG = "too-long"
    NOT_JSON = "not-json"
    FAILED = "failed"


_MESSAGES: tuple[tuple[Cause, str], ...] = (
    (Cause.KEY_CHANGED, r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for \S+ has changed|revoked"),
    (Cause.KEY_UNKNOWN, r"No \S+ host key is known|Host key verification failed"),
    (Cause.NAME_UNKNOWN, r"Could not resolve hostname|hostname contains invalid characters"),
    (Cause.NO_PERMISSION, r"Permission denied|Too many authentication failures|No supported authentication methods"),
)
"""Regular expressions for messages of OpenSSH 7 to 10 with exit status 255 (ssh(1)). The first match counts."""

_BY_ITSELF = 255
_NO_PROGRAM = (126, 127)
"""Exit statuses of a shell that cannot start a program (POSIX, 2.8.2 Exit Status for Commands)."""


def ssh_fault(status: int | None, output: str) -> Cause | None:
    """Return why raidbench did not run on a host, or None if it ran.

    `status`: exit status of ssh; `output`: its standard error.
    """
    if status == _BY_ITSELF:
        return next((fault for fault, text in _MESSAGES if re.search(text, output)), Cause.UNREACHABLE)
    if status in _NO_PROGRAM or (status and re.search(r"[Cc]ommand not found", output)):
        return Cause.ABSENT
    return None
