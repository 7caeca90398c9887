"""Start of programs that outlive raidbench."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from backends.self_exec import self_exec_argv
from backends.system.local.child import clean_environment
from backends.system.local.programs import find_program

STAY = "--stay"
"""Argument with which a module does not fork, because systemd ends a unit when the unit's first process ends."""

BOOTED = "/run/systemd/system"
"""Folder that exists only if systemd is the init (sd_booted(3))."""

_PROPERTIES = ("CollectMode=inactive-or-failed", "UMask=0077", "TimeoutStopSec=2s", "StandardError=journal")


async def start_detached(
    module: str, order: str, seconds: float, keep: Sequence[int] = (), *, unit: str = "", errors: bool = False
) -> str:
    """Start a Python module that outlives this program and its terminal.

    Send it `order`, and return the first line that it prints. If it prints nothing within `seconds`, it is killed and
    "" is returned. Except with `STAY`, the module must fork and let its parent exit after that line, so that this
    process has no child to wait for. `keep`: descriptors that it inherits.

    `unit`: name of the systemd unit in which the module runs, if this process is root and systemd is running. A logout
    may end all processes that are not in a unit (KillUserProcesses in logind.conf(5)).

    `errors`: if it ends without a line of output, return the last line of its standard error. The module must then call
    `stop_talking` after it has printed its line. Raises OSError.
    """
    if unit and (before := _in_a_unit(unit)):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # on an error, start it without systemd
            answer = await asyncio.to_thread(
                _start_unit, before, (*self_exec_argv(module, with_pythonpath=True), STAY), order, seconds
            )
            if answer is not None:
                return answer
    return await asyncio.to_thread(
        _start_detached, self_exec_argv(module, with_pythonpath=True), order, seconds, keep, errors
    )


def _in_a_unit(unit: str) -> tuple[str, ...]:
    """Return the arguments of systemd-run that go before a command; () if systemd is not running, or has
    another root or mount namespace than this process.
    """
    program = find_program(("systemd-run",))
    if os.geteuid() != 0 or program is None or not os.path.isdir(BOOTED) or not _sees_what_init_sees():
        return ()
    environment = [f"--setenv={key}={value}" for key, value in clean_environment({}).items()]
    return (
        program,
        "--quiet",
        "--service-type=exec",
        f"--unit={unit}",
        *(f"--property={unit}" for unit in _PROPERTIES),
        *environment,
    )


def _sees_what_init_sees() -> bool:
    """Return whether this process and init have the same root and mount namespace, and so see the same files."""
    try:
        return all(os.path.samefile(f"/proc/1/{entry}", f"/proc/self/{entry}") for entry in ("root", "ns/mnt"))
    except OSError:
        return False


def _start_unit(before: Sequence[str], argv: Sequence[str], order: str, seconds: float) -> str | None:
    """Start a command in a systemd unit, and return the first line that it prints.

    Return None if systemd does not start it or it prints no line. Input and output go through files: `systemd-run
    --pipe` needs a message bus and runs until the unit ends. The service type `exec` reports whether the program and
    its files could be opened; systemd before 240 refuses it. Raises OSError, TimeoutExpired.
    """
    with tempfile.TemporaryDirectory(prefix="raidbench-", dir="/run") as folder:
        order_path, answer_path = os.path.join(folder, "order"), os.path.join(folder, "answer")
        with open(order_path, "w", encoding="utf-8") as file:
            file.write(order)
        os.mkfifo(answer_path, 0o600)
        answer = os.open(answer_path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # O_NONBLOCK: there is no writer yet
        try:
            files = (
                f"--property=StandardInput=file:{order_path}",
                f"--property=StandardOutput=file:{answer_path}",
                "--",
            )
            done = subprocess.run(
                (*before, *files, *argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                timeout=seconds,
            )
            if done.returncode != 0:
                return None
            ready, _, _ = select.select([answer], [], [], seconds)
            return _line(os.read(answer, 65536)) or None if ready else ""
        finally:
            os.close(answer)


def _start_detached(argv: Sequence[str], order: str, seconds: float, keep: Sequence[int], errors: bool) -> str:
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if errors else subprocess.DEVNULL,
        # The current folder may be unmounted or removed while it runs.
        cwd="/",
        env=clean_environment({}),
        start_new_session=True,
        pass_fds=keep,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(order.encode())
            process.stdin.close()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            process.kill()
            return ""
        line = _line(process.stdout.readline())
        if line or process.stderr is None:
            return line
        return _line(process.stderr.read().strip().rpartition(b"\n")[2])


def stop_talking() -> None:
    """Redirect standard output and error of this process to /dev/null; under systemd, only output. Raises OSError."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in (1,) if STAY in sys.argv else (1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _line(data: bytes) -> str:
    return data.decode("utf-8", "replace").partition("\n")[0].strip()
