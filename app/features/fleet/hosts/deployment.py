"""Installation of the standalone binary on a host: inspects the existing copy, and replaces it atomically.

Two POSIX shell programs do this, and each prints one JSON document. Each is one line, because the login shell may be
csh, which accepts no line breaks.
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
"""The folder of the copy on the host, for messages."""

SEND_S = 900.0
"""Time limit in seconds per host for receiving the copy: long enough to send 40 MB to 64 hosts over 100 Mbit/s."""

_LOOK = (
    f'f="{COPIED}"; m=$(uname -m); i=false; command -v {PROGRAM} >/dev/null 2>&1 && i=true; '
    's=; [ -f "$f" ] && [ -x "$f" ] && s=$(sha256sum <"$f"); '
    'printf "{\\"schema\\": 1, \\"machine\\": \\"%s\\", \\"installed\\": %s, \\"sha256\\": \\"%s\\"}" '
    '"$m" "$i" "${s%% *}"'
)

_SAY = 'no() { printf "{\\"schema\\": 1, \\"error\\": {\\"status\\": 1, \\"message\\": \\"%s\\"}}" "$1"; exit 1; }; '

_PUT = (
    _SAY + f'umask 077; d="{COPIED_IN}"; f="{COPIED}"; t="$d/.new-$1-$$"; '
    '[ -n "$HOME" ] || no "HOME is not set, so there is no folder for the binary."; '
    'command -v sha256sum >/dev/null 2>&1 || no "sha256sum is not installed, so a copy cannot be verified."; '
    'mkdir -p "$d" 2>/dev/null; [ -O "$d" ] && chmod 700 "$d" 2>/dev/null || no "Cannot create the folder $d"; '
    '[ -d "$f" ] && no "Cannot install $f: a directory is in its place."; '
    'find "$d" -name ".new-*" -mtime +0 -exec rm -f {} \\; 2>/dev/null; '
    'trap "exit 1" HUP INT TERM; trap "rm -f \\"\\$t\\"" EXIT; '
    'dd of="$t" bs=65536 conv=fsync 2>/dev/null || no "Cannot write to $d: no space or no permission."; '
    's=$(sha256sum <"$t"); [ "${s%% *}" = "$1" ] || no "The checksum of the copy is wrong, so nothing was installed."; '
    'chmod 700 "$t" && mv -f "$t" "$f" || no "Cannot install $f"; '
    'printf "{\\"schema\\": 1, \\"sha256\\": \\"%s\\"}" "$1"'
)
"""Shell program that installs a copy: write a temporary file, flush (dd conv=fsync), verify its checksum, rename it.

A partial copy is never executed. Temporary files that a killed copy left are removed when they are a day old.
"""

LOOK = ("/bin/sh", "-c", _LOOK, PROGRAM)
"""Command that reports which raidbench is installed on a host."""


def install_copy_argv(file: StandaloneBinary) -> tuple[str, ...]:
    """Return the command that receives a copy on standard input and installs it."""
    return ("/bin/sh", "-c", _PUT, PROGRAM, file.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledCopy:
    """The raidbench that is installed on a host."""

    machine: str
    """CPU architecture as `uname -m` prints it, such as `x86_64`."""
    installed: bool
    """Whether raidbench is in the PATH after a login. If so, it is used instead of a copy."""
    sha256: str
    """SHA-256 of the existing copy; "" if there is none."""


def parse_installed_copy(document: Mapping[str, Any]) -> InstalledCopy:
    """Return the installation that a host reported in answer to `LOOK`."""
    return InstalledCopy(
        machine=json_text.word(document.get("machine")) or "unknown",
        installed=document.get("installed") is True,
        sha256=json_text.word(document.get("sha256")) or "",
    )


class CopyState(StrEnum):
    """State of the copy on a host."""

    INSTALLED = "installed"
    SAME = "same"
    OTHER = "other"
    COPIED = "copied"
    WANTED = "wanted"


COPY_WORDS: Mapping[CopyState, str] = {
    CopyState.INSTALLED: "not needed: raidbench is in the PATH there",
    CopyState.SAME: f"an identical copy is in {PLACE}",
    CopyState.OTHER: f"a copy is in {PLACE}, but there is no local file to compare it with",
    CopyState.COPIED: f"copied into {PLACE}",
    CopyState.WANTED: f"would be copied into {PLACE}",
}
"""Description of each state of the copy, for the user."""


def copy_precheck(installed: InstalledCopy, file: StandaloneBinary | None) -> CopyState | None:
    """Return the state of the copy before anything is sent; None if there is neither a copy nor a suitable `file`."""
    if installed.installed:
        return CopyState.INSTALLED
    if file is not None and installed.machine == file.machine:
        return CopyState.SAME if installed.sha256 == file.sha256 else CopyState.WANTED
    return CopyState.OTHER if installed.sha256 else None


def not_copied_reason(installed: InstalledCopy, file: StandaloneBinary | None) -> tuple[str, str]:
    """Return why a host cannot get a copy, as (message, hint)."""
    if file is None:
        return missing_binary_reason(), HOW_TO_GET
    return (
        f"raidbench is not installed there, and the local file does not match: the host is {installed.machine}, the"
        f" file is for {file.machine}.",
        f"Specify the standalone binary for {installed.machine} with --file PATH.",
    )


def is_copied(document: Mapping[str, Any], file: StandaloneBinary) -> bool:
    """Return whether a host reported the checksum of this binary, so that the copy is installed."""
    return document.get("sha256") == file.sha256
