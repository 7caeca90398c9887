"""Start of the root helper through sudo or pkexec, with a socket as the helper's standard input."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
from collections.abc import Mapping, Sequence

from backends.errors import RefusedError
from backends.self_exec import CONNECTED, self_exec_argv
from backends.system.local.programs import find_program
from backends.values import dataclass

PROMPT = "[sudo] password for %p, for the part of raidbench that needs root: "


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivilegeTool:
    """A program that starts other programs as root."""

    name: str
    """Name of the tool: `sudo` or `pkexec`."""
    argv: tuple[str, ...]
    """The tool and its arguments, which precede the command line of the program that it starts."""
    asks: bool
    """Whether it may ask for a password."""


def privilege_tools(*, ask: bool) -> tuple[PrivilegeTool, ...]:
    """Return the tools in the order in which to try them: sudo without a prompt, then sudo with one.

    If there is no sudo, pkexec. `ask`: whether a user can answer a prompt.
    """
    sudo = find_program(("sudo",))
    if sudo is not None:
        silent = PrivilegeTool(name="sudo", argv=(sudo, "-n", "--"), asks=False)
        return (silent, PrivilegeTool(name="sudo", argv=(sudo, "-p", PROMPT, "--"), asks=True)) if ask else (silent,)
    pkexec = find_program(("pkexec",))
    return (PrivilegeTool(name="pkexec", argv=(pkexec,), asks=True),) if pkexec is not None and ask else ()


def start(tool: PrivilegeTool, args: Sequence[str]) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a program as root. Return our end of the socket that is its standard input, and the process.

    Raises RefusedError if the tool cannot be started.
    """
    return _start((*tool.argv, *args), quiet=not tool.asks)


COMPANION = "--companion"
"""Argument that allows a helper to outlive the process that started it."""


def start_beside(args: Sequence[str], *more: str, user: tuple[int, int] | None = None) -> socket.socket:
    """Start a program as root from a process that is root. Return our end of the socket that is its standard input.

    `more`: further arguments. `user`: uid and gid of the user for whom it works, passed as sudo does; None to pass the
    environment unchanged. Raises RefusedError if it cannot be started.
    """
    environment = None if user is None else {**os.environ, "SUDO_UID": str(user[0]), "SUDO_GID": str(user[1])}
    return _start((*args, *more), quiet=False, environment=environment, apart=COMPANION in more)[0]


def _start(
    argv: Sequence[str], *, quiet: bool, environment: Mapping[str, str] | None = None, apart: bool = False
) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    mine, its = socket.socketpair()
    try:
        # Unless `apart`, it stays in our session: sudo asks at the terminal. sudo clears the environment itself.
        process = subprocess.Popen(
            argv,
            stdin=its.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if quiet else None,
            cwd="/",
            env=environment,
            start_new_session=apart,
        )
    except OSError as error:
        mine.close()
        raise RefusedError(f"{argv[0]} could not be started: {error.strerror}.") from error
    finally:
        its.close()
    return mine, process


def invoker() -> tuple[int, int] | None:
    """Return uid and gid of the user who called sudo for this command; None if there was no such user.

    In a shell that sudo started (`sudo -i`, `sudo su`) the user counts as root, because the working folder and home
    are those of root.
    """
    uid, gid = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() != 0 or not uid.isdigit() or not gid.isdigit() or int(uid) == 0:
        return None
    if os.path.basename(os.environ.get("SUDO_COMMAND", "").partition(" ")[0]) in _shells():
        return None
    return int(uid), int(gid)


def _shells() -> frozenset[str]:
    """Return the names of shells (like getusershell(3)) and of programs that start a shell for another user."""
    try:
        with open("/etc/shells", encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
    except OSError:
        lines = []
    return frozenset(("sh", "csh", "su", *(os.path.basename(line) for line in lines if line.startswith("/"))))


def become_user(uid: int, gid: int, argv: Sequence[str], keep: int) -> None:
    """Become the user permanently and execute `argv` in a new interpreter. The descriptor `keep` stays open.

    Return only if the user may not run this program. In that case no privileges have been dropped. Raises OSError.
    """
    home, name = "/", str(uid)
    try:
        entry = pwd.getpwuid(uid)
        home, name = entry.pw_dir, entry.pw_name
    except KeyError:
        pass
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "XDG_"))}
    environment |= {"HOME": home, "USER": name, "LOGNAME": name, CONNECTED: str(keep)}
    if not _may_run(uid, gid, name, environment):
        return
    os.set_inheritable(keep, True)
    _drop(uid, gid, name)
    os.execve(argv[0], list(argv), environment)


def inherited_socket() -> socket.socket | None:
    """Return the connection to a helper that this program inherited at its start, or None."""
    number = os.environ.pop(CONNECTED, "")
    if not number.isdigit():
        return None
    try:
        os.set_inheritable(int(number), False)
        return socket.socket(fileno=int(number))
    except OSError:
        return None


def _drop(uid: int, gid: int, name: str) -> None:
    """Drop all root privileges: take the user ID `uid`, the group ID `gid` and the groups of the user `name`.

    Raises OSError.
    """
    os.setgroups(os.getgrouplist(name, gid) if not name.isdigit() else [gid])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _may_run(uid: int, gid: int, name: str, environment: Mapping[str, str]) -> bool:
    """Test in a child process whether the user can run the interpreter and read this program."""
    args = self_exec_argv(__name__)
    child = os.fork()
    if child == 0:
        try:
            _drop(uid, gid, name)
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            os.execve(args[0], args, environment)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
