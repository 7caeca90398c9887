"""Command lines for the user's own ssh, which never asks and never trusts unknown hosts, and the remote raidbench."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from backends.host import Command, Host

PROGRAM = "raidbench"
"""Name of this program on a host."""

COPIED_IN = "$HOME/.local/lib/raidbench"
"""Folder in the remote user's home for the copy of `hosts prepare`, in shell syntax."""

COPIED = f"{COPIED_IN}/raidbench-$(uname -m)"
"""Path of the copy, with a name for each machine type, because hosts may share a home."""

_CALLED = f'command -v {PROGRAM} >/dev/null 2>&1 && exec {PROGRAM} "$@"; exec "{COPIED}" "$@"'
"""Runs raidbench from the PATH of a login, else the copy; without either the shell ends with 127."""

SECONDS = 120.0
"""Time limit for the command on each host: a controller takes seconds to answer, a large machine a minute."""

OPTIONS = (
    *("BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no"),
    *("ControlMaster=no", "ClearAllForwardings=yes", "RequestTTY=no", "PermitLocalCommand=no"),
    *("LogLevel=ERROR", "ServerAliveInterval=15", "ServerAliveCountMax=3"),
)
"""Options of ssh_config(5) that precede the user's own: no questions, and no host key is accepted automatically.

A connection that the user keeps open is reused. None is left open, because it would keep our pipes open. Forwardings
and local commands of the user are only for the user's own logins.
"""

_NEWER: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((7, 6), ("RemoteCommand=none",)),
    ((8, 7), ("SessionType=default", "StdinNull=no", "ForkAfterAuthentication=no")),
)
"""Options by the OpenSSH version that introduced them (its release notes); an older one rejects their names.

With a RemoteCommand of the user, ssh accepts no command. The others would close its input or move it to the background.
"""


async def ssh_options(host: Host) -> tuple[str, ...]:
    """Return the options for the ssh of this machine. Raises ToolMissingError if there is none."""
    # The PATH of the user selects the ssh, as for the later calls.
    done = await host.run(Command(argv=("ssh", "-V"), timeout=10, env={**os.environ, "LC_ALL": "C"}))
    match = re.search(r"OpenSSH_(\d{1,3})\.(\d{1,3})", done.stderr + done.stdout)
    version = (0, 0) if match is None else (int(match[1]), int(match[2]))
    return (*OPTIONS, *(option for since, options in _NEWER if version >= since for option in options))


def remote_line(parts: Sequence[str]) -> str:
    """Return the command line for the remote login shell, with every argument quoted: ssh(1) always uses that shell.

    Only this function decides what `PROGRAM` runs on a host. The result is a single line, because csh accepts no other.
    """
    if parts[0] == PROGRAM:
        parts = ("/bin/sh", "-c", _CALLED, *parts)
    return " ".join(map(shlex.quote, parts))


def ssh_argv(host: str, command: Sequence[str], options: Sequence[str] = OPTIONS) -> tuple[str, ...]:
    """Return the command line that runs a command on a host, reached as the user's ssh configuration says."""
    return ("ssh", *(word for option in options for word in ("-o", option)), "--", host, remote_line(command))
