"""Command lines for ssh and for raidbench on the remote host. ssh never asks a question or trusts an unknown host."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from backends.host import Command, Host

PROGRAM = "raidbench"
"""Name of the raidbench program on a host."""

COPIED_IN = "$HOME/.local/lib/raidbench"
"""Folder on the remote host for the copy that `hosts prepare` installs, in shell syntax."""

COPIED = f"{COPIED_IN}/raidbench-$(uname -m)"
"""Path of the copy. Its name contains the CPU architecture, because different hosts may share a home directory."""

_CALLED = f'command -v {PROGRAM} >/dev/null 2>&1 && exec {PROGRAM} "$@"; exec "{COPIED}" "$@"'
"""Shell code that runs raidbench from the PATH of a login, or else the copy. Without either, the exit status is 127."""

SECONDS = 120.0
"""Time limit in seconds for the command on each host. A scan takes up to a minute on a large machine."""

OPTIONS = (
    *("BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no"),
    *("ControlMaster=no", "ClearAllForwardings=yes", "RequestTTY=no", "PermitLocalCommand=no"),
    *("LogLevel=ERROR", "ServerAliveInterval=15", "ServerAliveCountMax=3"),
)
"""Options of ssh_config(5) that override the user's: ssh asks no questions and accepts no host key automatically.

ssh reuses a shared connection that the user keeps open. It never opens one itself, because the process that keeps it
would also keep our pipes open. The user's forwardings and local commands are for the user's logins, so they are off.
"""

_NEWER: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((7, 6), ("RemoteCommand=none",)),
    ((8, 7), ("SessionType=default", "StdinNull=no", "ForkAfterAuthentication=no")),
)
"""Further options, by the OpenSSH version that introduced them (its release notes). Older versions reject them.

With a RemoteCommand in the user's configuration, ssh accepts no other command. The other options undo settings that
close its standard input or move ssh to the background.
"""


async def ssh_options(host: Host) -> tuple[str, ...]:
    """Return the options that the installed version of ssh supports. Raises ToolMissingError if there is no ssh."""
    # The user's PATH selects ssh, so that later calls use the same ssh.
    done = await host.run(Command(argv=("ssh", "-V"), timeout=10, env={**os.environ, "LC_ALL": "C"}))
    match = re.search(r"OpenSSH_(\d{1,3})\.(\d{1,3})", done.stderr + done.stdout)
    version = (0, 0) if match is None else (int(match[1]), int(match[2]))
    return (*OPTIONS, *(option for since, options in _NEWER if version >= since for option in options))


def remote_line(parts: Sequence[str]) -> str:
    """Return the command line for the remote login shell, which ssh(1) always uses. Every argument is quoted.

    If the command is `PROGRAM`, this function decides which raidbench runs on the host. The result is a single line,
    because csh accepts no line breaks.
    """
    if parts[0] == PROGRAM:
        parts = ("/bin/sh", "-c", _CALLED, *parts)
    return " ".join(map(shlex.quote, parts))


def ssh_argv(host: str, command: Sequence[str], options: Sequence[str] = OPTIONS) -> tuple[str, ...]:
    """Return the ssh command line that runs a command on a host. The user's ssh configuration applies."""
    return ("ssh", *(word for option in options for word in ("-o", option)), "--", host, remote_line(command))
