"""The one file copied to a host: what is there, and what puts a copy into its place, whole or not at all.

Both are programs of the shell there (POSIX, one line, since a login shell may be csh), told by one document each.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from app.features.fleet.hosts.standalone_binary import HOW_TO_GET, StandaloneBinary, missing_binary_reason
from app.features.fleet.ssh.command import COPIED, COPIED_IN, PROGRAM
from backends import json_text
from backends.values import dataclass

PLACE = COPIED_IN.replace("$HOME", "~")
"""The folder of the copy, as a person reads it."""

SEND_S = 900.0
"""Time of each host that is sent a copy: forty megabytes, with 63 others, over a link of 100 Mbit/s."""

_LOOK = (
    f'f="{COPIED}"; m=$(uname -m); i=false; command -v {PROGRAM} >/dev/null 2>&1 && i=true; '
    's=; [ -f "$f" ] && [ -x "$f" ] && s=$(sha256sum <"$f"); '
    'printf "{\\"schema\\": 1, \\"machine\\": \\"%s\\", \\"installed\\": %s, \\"sha256\\": \\"%s\\"}" '
    '"$m" "$i" "${s%% *}"'
)

_SAY = 'no() { printf "{\\"schema\\": 1, \\"error\\": {\\"status\\": 1, \\"message\\": \\"%s\\"}}" "$1"; exit 1; }; '

_PUT = (
    _SAY + f'umask 077; d="{COPIED_IN}"; f="{COPIED}"; t="$d/.new-$1-$$"; '
    '[ -n "$HOME" ] || no "It has no home to copy it into."; '
    'command -v sha256sum >/dev/null 2>&1 || no "It has no sha256sum to check a copy with."; '
    'mkdir -p "$d" 2>/dev/null; [ -O "$d" ] && chmod 700 "$d" 2>/dev/null || no "Its folder cannot be made: $d"; '
    '[ -d "$f" ] && no "Something else is in its place: $f"; '
    'find "$d" -name ".new-*" -mtime +0 -exec rm -f {} \\; 2>/dev/null; '
    'trap "exit 1" HUP INT TERM; trap "rm -f \\"\\$t\\"" EXIT; '
    'dd of="$t" bs=65536 conv=fsync 2>/dev/null || no "It cannot be written there, for want of room or rights: $d"; '
    's=$(sha256sum <"$t"); [ "${s%% *}" = "$1" ] || no "What arrived is not what was sent, so nothing was put there."; '
    'chmod 700 "$t" && mv -f "$t" "$f" || no "It cannot be put into its place: $f"; '
    'printf "{\\"schema\\": 1, \\"sha256\\": \\"%s\\"}" "$1"'
)
"""A name of its own for what arrives, its sum, flushed (dd conv=fsync), and a rename: no half of one is ever called.

What an attempt that was killed left is removed a day later.
"""

LOOK = ("/bin/sh", "-c", _LOOK, PROGRAM)
"""The words that tell what a host has."""


def install_copy_argv(file: StandaloneBinary) -> tuple[str, ...]:
    """The words that take a copy from standard input."""
    return ("/bin/sh", "-c", _PUT, PROGRAM, file.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledCopy:
    """What a host has."""

    machine: str
    """`x86_64`, as `uname -m` says there."""
    installed: bool
    """Whether a raidbench is in the PATH of a login: it is called, and a copy is not."""
    sha256: str
    """Of the copy that is there, "" for none."""


def parse_installed_copy(document: Mapping[str, Any]) -> InstalledCopy:
    """What a host told by `LOOK`."""
    return InstalledCopy(
        machine=json_text.word(document.get("machine")) or "of an unknown kind",
        installed=document.get("installed") is True,
        sha256=json_text.word(document.get("sha256")) or "",
    )


class CopyState(StrEnum):
    """What became of the copy on a host."""

    INSTALLED = "installed"
    SAME = "same"
    OTHER = "other"
    COPIED = "copied"
    WANTED = "wanted"


COPY_WORDS: Mapping[CopyState, str] = {
    CopyState.INSTALLED: "none is needed: raidbench is in the PATH there",
    CopyState.SAME: f"the same one is in {PLACE}",
    CopyState.OTHER: f"one is in {PLACE}, and here is none to compare it with",
    CopyState.COPIED: f"copied into {PLACE}",
    CopyState.WANTED: f"would be copied into {PLACE}",
}
"""As a person reads it."""


def copy_precheck(there: InstalledCopy, file: StandaloneBinary | None) -> CopyState | None:
    """How that is before anything is copied; None where there is none and nothing to copy."""
    if there.installed:
        return CopyState.INSTALLED
    if file is not None and there.machine == file.machine:
        return CopyState.SAME if there.sha256 == file.sha256 else CopyState.WANTED
    return CopyState.OTHER if there.sha256 else None


def not_copied_reason(there: InstalledCopy, file: StandaloneBinary | None) -> tuple[str, str]:
    """Why a host without any gets none: the sentence, and what to do."""
    if file is None:
        return missing_binary_reason(), HOW_TO_GET
    return (
        f"There is no raidbench there: it is {there.machine}, and the file that is here is for {file.machine}.",
        f"Name the one for {there.machine} with --file PATH.",
    )


def is_copied(document: Mapping[str, Any], file: StandaloneBinary) -> bool:
    """Whether a host told that the copy is in its place."""
    return document.get("sha256") == file.sha256
