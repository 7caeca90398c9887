"""How ssh is called, and raidbench by it: the user's own, with options that keep it from asking and from trusting."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from backends.host import Command, Host

PROGRAM = "raidbench"
"""How this program is called on a host."""

COPIED_IN = "$HOME/.local/lib/raidbench"
"""The folder of a host's user that `hosts prepare` copies the one file into, in the words of a shell there."""

COPIED = f"{COPIED_IN}/raidbench-$(uname -m)"
"""The copy: a name for each kind of machine, since a home may be shared by several."""

_CALLED = f'command -v {PROGRAM} >/dev/null 2>&1 && exec {PROGRAM} "$@"; exec "{COPIED}" "$@"'
"""The one in the PATH of a login there, else the copy; without either the shell ends with 127."""

SECONDS = 120.0
"""Time of each host that is asked: a card takes seconds for an answer, a rack of them a minute."""

OPTIONS = (
    *("BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no"),
    *("ControlMaster=no", "ClearAllForwardings=yes", "RequestTTY=no", "PermitLocalCommand=no"),
    *("LogLevel=ERROR", "ServerAliveInterval=15", "ServerAliveCountMax=3"),
)
"""Options of ssh_config(5), before the user's own: nobody is asked, and no host's key is taken for the user.

A connection that the user keeps open is used; none is left behind, since it would hold our pipes. Forwardings and
commands of the user's are for their own logins.
"""

_NEWER: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((7, 6), ("RemoteCommand=none",)),
    ((8, 7), ("SessionType=default", "StdinNull=no", "ForkAfterAuthentication=no")),
)
"""Options by the OpenSSH that first has them (its release notes): an older one ends at their names.

With a RemoteCommand of the user's ssh takes no command; the others would leave it without input or send it away.
"""


async def ssh_options(host: Host) -> tuple[str, ...]:
    """The options for the ssh of this machine. Raises ToolMissingError where there is none."""
    # The same ssh as is called then: the user's own PATH names it.
    done = await host.run(Command(argv=("ssh", "-V"), timeout=10, env={**os.environ, "LC_ALL": "C"}))
    match = re.search(r"OpenSSH_(\d{1,3})\.(\d{1,3})", done.stderr + done.stdout)
    version = (0, 0) if match is None else (int(match[1]), int(match[2]))
    return (*OPTIONS, *(option for since, options in _NEWER if version >= since for option in options))


def remote_line(parts: Sequence[str]) -> str:
    """What sshd gives to the login shell there: ssh(1) has no way round that shell, so each word is quoted for it.

    This is the one place that decides what `PROGRAM` means on a host. It stays one line: csh takes no other.
    """
    if parts[0] == PROGRAM:
        parts = ("/bin/sh", "-c", _CALLED, *parts)
    return " ".join(map(shlex.quote, parts))


def ssh_argv(host: str, command: Sequence[str], options: Sequence[str] = OPTIONS) -> tuple[str, ...]:
    """The words that run a command on a host. How it is reached stands in the user's own configuration of ssh."""
    return ("ssh", *(word for option in options for word in ("-o", option)), "--", host, remote_line(command))
