"""Programs that root runs under an unused user ID, with access only to the descriptors that they inherit."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import grp
import os
import pwd
import resource
import shutil
import signal
from collections.abc import Callable, Collection, Iterator, Sequence

from backends.errors import RefusedError
from backends.host import Command
from backends.system.local.child import LIBC, PIPE_BYTES, child_setup, clean_environment, start_error
from backends.system.local.files import private_folder

UNUSED_IDS = range(65520, 65534)
"""IDs that no user or group has: Debian reserves them (Debian Policy 9.2.2), and systemd does not use them.

See https://systemd.io/UIDS-GIDS.
"""

_SUBORDINATE = ("/etc/subuid", "/etc/subgid")
"""Files with the ID ranges that users may use for their containers, as lines NAME:FIRST:COUNT (subuid(5))."""

_PR_SET_NO_NEW_PRIVS = 38
_SECONDS = 5.0
"""Seconds to wait for the end of a killed program; a program that is stuck in the kernel is left running."""


def find_unused_id() -> int:
    """Return an ID that no user, group or process uses. Raises RefusedError if there is none."""
    taken = {number for number in UNUSED_IDS if _has_name(number)}
    taken |= {number for first, count in _ranges() for number in UNUSED_IDS if first <= number < first + count}
    taken |= _of_processes()
    free = next((number for number in UNUSED_IDS if number not in taken), None)
    if free is None:
        raise RefusedError(
            "No user ID is free for a program without privileges.",
            hint=f"raidbench needs one from {UNUSED_IDS[0]} to {UNUSED_IDS[-1]} that no user, group or process has.",
        )
    return free


def _has_name(number: int) -> bool:
    for named in (pwd.getpwuid, grp.getgrgid):
        with contextlib.suppress(KeyError):
            named(number)
            return True
    return False


def _ranges() -> Iterator[tuple[int, int]]:
    for file in _SUBORDINATE:
        with contextlib.suppress(OSError), open(file, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                _, _, span = line.strip().partition(":")
                first, _, count = span.partition(":")
                if first.isdigit() and count.isdigit():
                    yield int(first), int(count)


def _of_processes() -> set[int]:
    """Return the user and group IDs of all processes. Raises RefusedError if /proc does not list processes."""
    numbers: set[int] = set()
    processes = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/status", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, text = line.partition(":")
                if key in ("Uid", "Gid", "Groups"):
                    numbers.update(map(int, text.split()))
                    processes += key == "Uid"
    if not processes:
        raise RefusedError("The user IDs in use are unknown: /proc shows no processes.")
    return numbers


class UnprivilegedProcess:
    """A running program whose output pipes the caller reads; `close` kills its process group."""

    def __init__(self, process: asyncio.subprocess.Process, folder: str) -> None:
        self._process = process
        self._folder = folder
        self.pid = process.pid
        """Process ID; also its process group."""

    async def wait(self) -> int:
        """Wait for the exit and return the status; -N if killed by signal N."""
        return await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group while the program runs."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    async def close(self) -> None:
        """Kill the program and its group."""
        self.signal(signal.SIGKILL)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS):
                    await self._process.wait()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


async def start_unprivileged(
    argv: Sequence[str], text: bytes, handed: Collection[int], number: int
) -> tuple[UnprivilegedProcess, tuple[int, int]]:
    """Start a program as user and group `number`, without other groups; return it and the descriptors of its outputs.

    `text`: its standard input. `handed`: descriptors that it inherits under their numbers. It cannot gain privileges
    (no_new_privs), dumps no core, has an empty working folder that it cannot list, and dies with this process. The
    caller must close the descriptors. Raises ToolMissingError, ToolFailedError.
    """
    command = Command(argv=tuple(argv), env={"TMPDIR": "."})
    folder = private_folder()
    ends: list[int] = []
    try:
        input_descriptor = os.memfd_create("input", os.MFD_CLOEXEC)
        ends.append(input_descriptor)
        os.write(input_descriptor, text)
        os.lseek(input_descriptor, 0, os.SEEK_SET)
        out, out_end = _pipe(ends)
        err, err_end = _pipe(ends)
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            stdin=input_descriptor,
            stdout=out_end,
            stderr=err_end,
            cwd=folder,
            env=clean_environment(command.env),
            start_new_session=True,
            user=number,
            group=number,
            extra_groups=(),
            pass_fds=tuple(handed),
            preexec_fn=_setup(os.getpid()),
        )
    except BaseException as error:
        for end in ends:
            os.close(end)
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise start_error(command, error) from error
        raise
    for end in (input_descriptor, out_end, err_end):
        os.close(end)
    return UnprivilegedProcess(process, folder), (out, err)


def _pipe(ends: list[int]) -> tuple[int, int]:
    """Return both ends of a new pipe, and append them to `ends`.

    The pipe is enlarged, so that the program does not wait for its reader.
    """
    pair = os.pipe()
    ends += pair
    with contextlib.suppress(OSError):
        fcntl.fcntl(pair[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return pair


def _setup(parent: int) -> Callable[[], None]:
    """Return the function that runs between fork and exec, after user and groups have been changed."""
    usual = child_setup(parent, None)

    def setup() -> None:
        usual()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or os.geteuid() == 0 or os.getegid() == 0:
            os._exit(126)

    return setup
