"""Start of a child process, its pipes and exit, and a gate at which the child waits until its process ID is
recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from threading import Thread
from types import TracebackType

from backends.errors import ToolFailedError, ToolMissingError
from backends.host import Command
from backends.system.local.programs import search_path

# -- a child that waits between fork and exec until its ID is reported ----------------------------------------------

_PR_SET_PDEATHSIG = 1
# Loaded here, not in the child: between fork and exec nothing may allocate or take a lock.
LIBC = ctypes.CDLL(None, use_errno=True)

_NOT_RUN = 127
"""Exit status of a process that ended before exec."""


class StartGate:
    """Context that starts one program after its process ID was reported.

    The child runs `in_child` between fork and exec. If this process dies before the process ID is reported, the child
    dies too. Every running program has therefore been reported.
    """

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self._starter = os.getpid()
        self._id_reader, self._id_writer = os.pipe()
        self._go_reader, self._go_writer = os.pipe()
        self._reporter = Thread(target=self._report_id, name="gate", daemon=True)
        self.refusal: Exception | None = None
        """Exception that `report` raised, or None. After an exception, the program was not run."""

    def __enter__(self) -> StartGate:
        self._reporter.start()  # Popen returns only after exec, so another thread has to open the gate
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._id_writer)  # the reader gets end of file if no child wrote its ID
        self._reporter.join()
        os.close(self._id_reader)
        os.close(self._go_reader)

    def in_child(self) -> None:
        """In the child: write the process ID to the parent and wait for its answer.

        End the process if the parent is gone.
        """
        LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != self._starter:  # the parent died before prctl
            os._exit(_NOT_RUN)
        os.close(self._go_writer)  # an open copy would prevent end of file
        os.write(self._id_writer, b"%d" % os.getpid())
        if not os.read(self._go_reader, 1):
            os._exit(_NOT_RUN)
        LIBC.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)

    def _report_id(self) -> None:
        try:
            if pid := os.read(self._id_reader, 32):
                self._report(int(pid))
                with contextlib.suppress(BrokenPipeError):  # the child was killed meanwhile
                    os.write(self._go_writer, b"g")
        except Exception as refusal:  # the caller that starts the program raises it
            self.refusal = refusal
        finally:
            os.close(self._go_writer)


# -- a running child: start, environment, exit ------------------------------------------------------------------------

OUTPUT_LIMIT = 16 * 1024 * 1024
"""Maximum number of bytes that are kept of each output of a command. The JSON of one controller may have
several MiB.
"""

START = 30.0
"""Timeout for starting a program, in seconds. Starting several at once takes time on a busy machine."""

_GIVEN_UP = 0.5
"""Maximum time in seconds until a cancelled start of a program is given up."""

PIPE_BYTES = 1024 * 1024
"""Size of the output pipe in bytes. It is large, so that the program does not block while this process is busy."""

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a program; they are reset to their default action for every child."""


def child_setup(parent: int, nice: int | None) -> Callable[[], None]:
    """Return the function that runs between fork and exec: reset signals, die with the parent, set the priority."""

    def setup() -> None:
        for number in _ENDING_SIGNALS:  # started with `&` or nohup, raidbench ignores some; children inherit that
            signal.signal(number, signal.SIG_DFL)
        # A killed raidbench cannot stop fio, so the kernel stops it. The kernel sends the signal when the thread that
        # forked dies, which is the thread of the event loop. SIGTERM is not enough: fio's handler allocates memory, and
        # waits forever if the signal interrupts an allocation (fio 3.33).
        LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(_NOT_RUN)
        if nice is not None:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, nice)

    return setup


def die_with_parent() -> None:
    """Ask the kernel to send SIGTERM when the parent process dies."""
    LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of every program: C locale, a safe PATH, TZ, and `extra`."""
    base = {"LC_ALL": "C", "LANG": "C", "PATH": search_path(), "TZ": os.environ.get("TZ", "")}
    if not base["TZ"]:
        del base["TZ"]
    return {**base, **extra}


class Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Protocol that records the exit at once: asyncio's own `wait` may wait until a grandchild closes the pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=OUTPUT_LIMIT, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """Handle the exit; called by the event loop."""
        self.exited.set()
        super().process_exited()


class Child:
    """A started program: its pipes, its exit, its process group."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: Protocol) -> None:
        assert protocol.stdout is not None
        assert protocol.stderr is not None
        self._transport = transport
        self._exited = protocol.exited
        self.stdout = protocol.stdout
        """Standard output."""
        self.stderr = protocol.stderr
        """Standard error."""
        self.pid = transport.get_pid()
        """Process ID; also its process group."""

    @property
    def returncode(self) -> int | None:
        """Return the exit status, or None while the program runs."""
        return self._transport.get_returncode()

    async def wait(self) -> int:
        """Wait for the exit and return the status; -N if killed by signal N."""
        await self._exited.wait()
        code = self.returncode
        assert code is not None
        return code

    def signal(self, number: int) -> None:
        """Send a signal to the process group, even if only children of the program are left."""
        # The kernel does not reuse the number of a process group that has members. If a process has that number after
        # the leader was reaped, the group is therefore empty, and the process is unrelated.
        if self.returncode is not None and os.path.exists(f"/proc/{self.pid}"):
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def widen_pipe(self) -> None:
        """Enlarge the output pipe as far as allowed."""
        # fio blocks when the pipe is full, and would then measure the pipe.
        pipe = self._transport.get_pipe_transport(1)
        raw = pipe.get_extra_info("pipe") if pipe is not None else None
        if raw is not None:
            with contextlib.suppress(OSError, ValueError):  # ValueError: the pipe is closed
                fcntl.fcntl(raw.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def close(self) -> None:
        """Close the pipes, which ends their readers, and kill the program if it still runs."""
        self._transport.close()


async def start(command: Command, cwd: str, nice: int | None) -> Child:
    """Start a program in its own session, with pipes and stdin from /dev/null. The kernel ends it if this process dies.

    Raises ToolMissingError, ToolFailedError.
    """
    loop = asyncio.get_running_loop()
    try:
        async with _start_limit(loop):
            transport, protocol = await loop.subprocess_exec(
                lambda: Protocol(loop),
                *command.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=clean_environment(command.env),
                start_new_session=True,
                preexec_fn=child_setup(os.getpid(), nice),
            )
    except OSError as error:
        raise start_error(command, error) from error
    return Child(transport, protocol)


@contextlib.asynccontextmanager
async def _start_limit(loop: asyncio.AbstractEventLoop) -> AsyncIterator[None]:
    """Limit the time of a start to `START`, or to `_GIVEN_UP` once it is cancelled.

    If the loop is closing, its other tasks are cancelled as well, among them the one that connects the pipes. asyncio
    kills the program then, but waits forever for the pipes.
    """
    task = asyncio.current_task()
    assert task is not None
    cancelled_before = task.cancelling()  # Code that cleans up after a cancellation may start programs, too.
    timer: asyncio.TimerHandle
    async with asyncio.timeout(START) as limit:

        def look() -> None:
            nonlocal timer
            if task.cancelling() > cancelled_before:
                limit.reschedule(loop.time())
            else:
                timer = loop.call_later(_GIVEN_UP, look)

        timer = loop.call_later(_GIVEN_UP, look)
        try:
            yield
        finally:
            timer.cancel()


def start_error(command: Command, error: OSError) -> ToolMissingError | ToolFailedError:
    """Return the error for a program that could not be started."""
    name = command.argv[0]
    if isinstance(error, FileNotFoundError):
        return ToolMissingError(
            f"{name} is not installed.", hint="Install it or correct its path.", evidence=str(error)
        )
    return ToolFailedError(f"{name} could not be started: {error.strerror or 'no response'}.", evidence=str(error))
