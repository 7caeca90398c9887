"""A program that outlives this one."""

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
"""The word with which a module is told that it must not fork: systemd holds its first process to be all of it."""

BOOTED = "/run/systemd/system"
"""A folder that is there exactly where systemd is the init (sd_booted(3))."""

_PROPERTIES = ("CollectMode=inactive-or-failed", "UMask=0077", "TimeoutStopSec=2s", "StandardError=journal")


async def start_detached(
    module: str, order: str, seconds: float, keep: Sequence[int] = (), *, unit: str = "", errors: bool = False
) -> str:
    """Start a module that is to outlive this program and its terminal; give it `order`, return its first line.

    It must fork once more and let its parent end when it has spoken, so that nobody here has a child to wait for;
    not where it is told `STAY`. "" when it says nothing within `seconds`; then it is killed. `keep`: descriptors that
    it inherits. `unit`: what it is called where systemd runs it for root, for as long as it has something to do: a
    logout ends whatever else belongs to the session (KillUserProcesses in logind.conf(5)). `errors`: where it ends
    without an answer, return the last line of its standard error; it must call `stop_talking` once it has answered.
    Raises OSError.
    """
    if unit and (before := _in_a_unit(unit)):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # else as where systemd is not the init
            answer = await asyncio.to_thread(
                _start_unit, before, (*self_exec_argv(module, with_pythonpath=True), STAY), order, seconds
            )
            if answer is not None:
                return answer
    return await asyncio.to_thread(
        _start_detached, self_exec_argv(module, with_pythonpath=True), order, seconds, keep, errors
    )


def _in_a_unit(name: str) -> tuple[str, ...]:
    """The words before a command that systemd is to run; () where it does not run or does not see what we see."""
    program = find_program(("systemd-run",))
    if os.geteuid() != 0 or program is None or not os.path.isdir(BOOTED) or not _sees_what_init_sees():
        return ()
    environment = [f"--setenv={key}={value}" for key, value in clean_environment({}).items()]
    return (
        program,
        "--quiet",
        "--service-type=exec",
        f"--unit={name}",
        *(f"--property={name}" for name in _PROPERTIES),
        *environment,
    )


def _sees_what_init_sees() -> bool:
    """Whether paths mean the same here and for what systemd starts: no other root, no mounts of our own."""
    try:
        return all(os.path.samefile(f"/proc/1/{entry}", f"/proc/self/{entry}") for entry in ("root", "ns/mnt"))
    except OSError:
        return False


def _start_unit(before: Sequence[str], argv: Sequence[str], order: str, seconds: float) -> str | None:
    """Its first line; None where systemd does not start it, or it ended without one.

    Through files: `systemd-run --pipe` needs a message bus, and stays until the unit ends. That it could be executed
    and its files opened is known from systemd 240 on (`exec`); an earlier one refuses. Raises OSError, TimeoutExpired.
    """
    with tempfile.TemporaryDirectory(prefix="raidbench-", dir="/run") as folder:
        order_path, answer_path = os.path.join(folder, "order"), os.path.join(folder, "answer")
        with open(order_path, "w", encoding="utf-8") as file:
            file.write(order)
        os.mkfifo(answer_path, 0o600)
        answer = os.open(answer_path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # nobody writes yet, and nobody waits
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
        # Its own folder may be unmounted or removed while it waits.
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
    """Leave whoever started this process alone with what was said; what systemd reads of it goes on. Raises OSError."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in (1,) if STAY in sys.argv else (1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _line(data: bytes) -> str:
    return data.decode("utf-8", "replace").partition("\n")[0].strip()
