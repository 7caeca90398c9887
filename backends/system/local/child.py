"""One program that runs, held before it begins until its process id has been told."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from threading import Thread
from types import TracebackType

from backends.errors import ToolFailedError, ToolMissingError
from backends.host import Command
from backends.system.local.programs import search_path

# -- a program that does nothing before its process id has been told: held between fork and exec ----------------------

_PR_SET_PDEATHSIG = 1
# Loaded here, not in the child: between fork and exec nothing may take a lock.
_LIBC = ctypes.CDLL(None, use_errno=True)

_NOT_RUN = 127
"""Exit status of a process that ended before its program began."""


class StartGate:
    """Round the start of one program; `in_child` runs between fork and exec.

    Whoever dies before the id is told takes the child along, so a program that runs has been told of.
    """

    def __init__(self, report: Callable[[int], None]) -> None:
        self._told = report
        self._starter = os.getpid()
        self._ids, self._says = os.pipe()
        self._waits, self._go = os.pipe()
        self._teller = Thread(target=self._tell, name="gate", daemon=True)
        self.refusal: Exception | None = None
        """What `report` raised; then nothing was run."""

    def __enter__(self) -> StartGate:
        self._teller.start()  # starting the program returns only when it runs, so somebody else has to open
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._says)  # the end of file, if no process came to say its id
        self._teller.join()
        os.close(self._ids)
        os.close(self._waits)

    def in_child(self) -> None:
        """Say the own id and wait. Ends the process if nobody is there any more who lets it through."""
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != self._starter:  # it died before the line above
            os._exit(_NOT_RUN)
        os.close(self._go)  # or the own copy would keep the end of file away
        os.write(self._says, b"%d" % os.getpid())
        if not os.read(self._waits, 1):
            os._exit(_NOT_RUN)
        _LIBC.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)

    def _tell(self) -> None:
        try:
            if pid := os.read(self._ids, 32):
                self._told(int(pid))
                with contextlib.suppress(BrokenPipeError):  # it was killed meanwhile
                    os.write(self._go, b"g")
        except Exception as refusal:  # handed to whoever starts the program
            self.refusal = refusal
        finally:
            os.close(self._go)


# -- one program that runs: how it is started, what it is given, how it is waited for and ended -----------------------

OUTPUT_LIMIT = 16 * 1024 * 1024
"""Bytes of output kept from one command (one controller's JSON may be several MiB)."""

START = 30.0
"""Seconds that starting a program may take: many at once on a busy machine need some."""

PIPE_BYTES = 1024 * 1024
"""Slack of a program's output, so that a busy moment here never blocks the program there."""

# Loaded here, not in the child: between fork and exec nothing may allocate or take a lock.


_HEEDED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Signals by which a program can be asked to end, whatever this one makes of them."""


def child_setup(parent: int, nice: int | None) -> Callable[[], None]:
    """What runs between fork and exec: die with the parent, heed signals, run at the asked priority."""

    def setup() -> None:
        for number in _HEEDED:  # a parent that was started with `&` or nohup ignores some, and children inherit that
            signal.signal(number, signal.SIG_DFL)
        # A killed raidbench cannot tell fio to stop; the kernel does. What counts is the death of the thread that
        # forked: the event loop's.
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the line above
            os._exit(127)
        if nice is not None:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, nice)

    return setup


def die_with_parent() -> None:
    """Ask the kernel for SIGTERM when whoever started this process is gone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment every program gets: C locale, a known PATH, nothing else of ours."""
    base = {"LC_ALL": "C", "LANG": "C", "PATH": search_path(), "TZ": os.environ.get("TZ", "")}
    if not base["TZ"]:
        del base["TZ"]
    return {**base, **extra}


class Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Notes the exit when it happens: asyncio's own `wait` may also wait for pipes that a grandchild holds."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=OUTPUT_LIMIT, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """Called by the event loop."""
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
        """Its output."""
        self.stderr = protocol.stderr
        """Its error output."""
        self.pid = transport.get_pid()
        """Process id; also its process group."""

    @property
    def returncode(self) -> int | None:
        """Exit status, None while it runs."""
        return self._transport.get_returncode()

    async def wait(self) -> int:
        """Exit status; -N when killed by signal N."""
        await self._exited.wait()
        code = self.returncode
        assert code is not None
        return code

    def signal(self, number: int) -> None:
        """To the whole group, also when only children of the program are left."""
        # A process group outlives its leader, and its number is not given away while it has members. A process of that
        # number after the leader was reaped is therefore a stranger.
        if self.returncode is not None and os.path.exists(f"/proc/{self.pid}"):
            return  # the number belongs to somebody else now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def widen_pipe(self) -> None:
        """As much slack as there may be."""
        # fio stops at a full pipe, and what it measures then is the pipe.
        pipe = self._transport.get_pipe_transport(1)
        raw = pipe.get_extra_info("pipe") if pipe is not None else None
        if raw is not None:
            with contextlib.suppress(OSError, ValueError):  # ValueError: it has ended already
                fcntl.fcntl(raw.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def close(self) -> None:
        """Let go of the pipes, which ends their readers; kills what still runs."""
        self._transport.close()


async def start(command: Command, cwd: str, nice: int | None) -> Child:
    """Start a program with pipes, in its own session, stdin at /dev/null; it dies with us.

    Raises ToolMissingError, ToolFailedError.
    """
    loop = asyncio.get_running_loop()
    try:
        # A loop that closes at this very moment leaves asyncio waiting for pipes that nobody connects any more.
        async with asyncio.timeout(START):
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
        raise not_started(command, error) from error
    return Child(transport, protocol)


def not_started(command: Command, error: OSError) -> ToolMissingError | ToolFailedError:
    """The sentence for a program that could not be started."""
    name = command.argv[0]
    if isinstance(error, FileNotFoundError):
        return ToolMissingError(f"{name} is not there.", hint="Install it or correct its path.", evidence=str(error))
    return ToolFailedError(f"{name} could not be started: {error.strerror or 'no answer'}.", evidence=str(error))
