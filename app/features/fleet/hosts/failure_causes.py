"""Interprets the output of ssh and of a host: its answer, or the reason why the host is missing. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from app.core.presentation.json_schema import SCHEMA
from app.features.fleet.hosts.wire_format import BYTES, LINES, RawResponse
from app.features.fleet.ssh.faults import Cause, ssh_fault
from backends.text import clean, clean_lines
from backends.values import dataclass
from backends.version import program_version

_SENTENCES: Mapping[Cause, tuple[str, str]] = {
    Cause.UNREACHABLE: ("The host is unreachable.", "Check that the host is up and that `ssh HOST true` works."),
    Cause.NAME_UNKNOWN: ("The host name is unknown.", "Use a name from ~/.ssh/config, the hosts file or DNS."),
    Cause.KEY_UNKNOWN: (
        "The SSH host key is unknown, so nothing was sent.",
        "Run `ssh HOST` once, compare the fingerprint, and accept the key. raidbench never accepts keys.",
    ),
    Cause.KEY_CHANGED: (
        "The SSH host key has changed, so nothing was sent. The host was reinstalled, or it is another host.",
        "Find the reason before you change known_hosts. raidbench never accepts keys.",
    ),
    Cause.NO_PERMISSION: (
        "The host does not accept the SSH keys of this user.",
        "Set up key-based login: `ssh HOST true` must work without a password.",
    ),
    Cause.ABSENT: (
        "raidbench is not installed there.",
        "Install the standalone binary with `raidbench hosts prepare HOST`, or install a package.",
    ),
    Cause.OLDER: (
        "raidbench there is too old for this version.",
        f"Install this version there: raidbench {program_version()}.",
    ),
    Cause.NEWER: (
        "raidbench there is newer, and its output is not compatible with this version.",
        "Install the newer version here.",
    ),
    Cause.TIMED_OUT: ("The host did not respond in time.", "Raise --host-timeout, or find the cause with `ssh HOST`."),
    Cause.TOO_LONG: (
        f"The output of the host exceeded {BYTES >> 20} MiB or {LINES} lines, and was truncated.",
        "Check on that host which program is called raidbench.",
    ),
    Cause.NOT_JSON: ("The response is not JSON from raidbench.", "Check on that host which program has this name."),
    Cause.FAILED: ("The command failed there.", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingHost:
    """A host without an answer."""

    host: str
    """Name of the host."""
    cause: Cause
    """Cause as a code."""
    message: str
    """Cause as a sentence."""
    hint: str = ""
    """What the user can do; "" if no remedy is known."""
    evidence: str = ""
    """Last output lines of ssh or of the host, cleaned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResponse:
    """The answer of a host."""

    host: str
    """Name of the host."""
    status: int
    """Exit status of the command on the host."""
    document: Mapping[str, Any]
    """The JSON document of the command."""


_USAGE = 2
_NOT_KNOWN_THERE = re.compile(r"No such (?:option|command)")


def interpret(raw: RawResponse) -> HostResponse | MissingHost:
    """Return the answer of a host, or why it is missing."""
    if raw.endless:
        return missing_host(raw, Cause.TOO_LONG if _has_document(raw.out) else Cause.NOT_JSON, evidence=raw.out)
    if raw.late:
        return missing_host(raw, Cause.TIMED_OUT)
    document = find_document(raw.out)
    if document is None:
        return _failure_without_document(raw)
    number = document.get("schema")
    if not isinstance(number, int) or isinstance(number, bool):
        return missing_host(raw, Cause.NOT_JSON, evidence=raw.out)
    error = document.get("error")
    if isinstance(error, dict) and number == 1:
        return _remote_failure(raw, error)
    if number != SCHEMA:
        forms = f"The response has format {clean(str(number), 20)}; this raidbench reads format {SCHEMA}."
        return missing_host(raw, Cause.NEWER if number > SCHEMA else Cause.OLDER, evidence=forms)
    if raw.status is None:
        return missing_host(raw, Cause.FAILED)
    return HostResponse(host=raw.host, status=raw.status, document=document)


def missing_host(
    raw: RawResponse, cause: Cause, *, message: str = "", hint: str = "", evidence: str = ""
) -> MissingHost:
    """Return the host of `raw` as missing, with the cause and the last lines of `evidence`.

    `message` and `hint` replace those that belong to the cause. By default, `evidence` is the host's error output.
    """
    sentence, advice = _SENTENCES[cause]
    return MissingHost(
        host=raw.host,
        cause=cause,
        message=message or sentence,
        hint=hint or advice.replace("HOST", raw.host),
        evidence=_last_lines(evidence or raw.err),
    )


def _failure_without_document(raw: RawResponse) -> MissingHost:
    if (fault := ssh_fault(raw.status, raw.err)) is not None:
        return missing_host(raw, fault)
    if raw.status == 0 or raw.out.strip():
        return missing_host(raw, Cause.NOT_JSON, evidence=raw.out)
    return missing_host(raw, Cause.FAILED, message=_ended_text(raw.status))


def _remote_failure(raw: RawResponse, error: Mapping[str, Any]) -> MissingHost:
    """Return the error that raidbench reported on the host. An unknown command or option means an older version."""
    sentence = clean(str(error.get("message") or ""), 300)
    if error.get("status") == _USAGE and _NOT_KNOWN_THERE.search(sentence):
        return missing_host(raw, Cause.OLDER, evidence=sentence)
    hint = error.get("hint")
    return missing_host(
        raw,
        Cause.FAILED,
        message=sentence or _ended_text(raw.status),
        hint=clean(hint, 300) if isinstance(hint, str) else "",
        evidence=str(error.get("evidence") or " "),
    )


def _ended_text(status: int | None) -> str:
    return "The command was killed there." if status is None else f"The command exited with status {status} there."


def _last_lines(text: str) -> str:
    """Return the last three lines of a host's output that are not empty, cleaned."""
    rows = [row for row in text[-4096:].splitlines() if row.strip()]
    return clean_lines("\n".join(rows[-3:]), 3, 200)


def _has_document(text: str) -> bool:
    return text.startswith("{") or "\n{" in text


def find_document(text: str) -> Mapping[str, Any] | None:
    """Return the JSON document in a host's output, or None. Lines that a login prints before it are skipped."""
    begin = 0 if text.startswith("{") else text.find("\n{") + 1
    if not _has_document(text):
        return None
    try:
        document = json.loads(text[begin:], parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _no_number(word: str) -> NoReturn:
    """Raise ValueError: NaN and Infinity are not valid JSON (RFC 8259, 6)."""
    raise ValueError(word)
