"""The machine the program runs on: the only place where a program is started or a file opened."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import glob
import os
import select
import selectors
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from backends.errors import ToolFailedError, ToolMissingError, ToolTimeoutError
from backends.host import Command, Completed, FileStat, to_the_end
from backends.text import clean

OUTPUT_LIMIT = 16 * 1024 * 1024
"""Bytes of output kept from one command (one controller's JSON may be several MiB)."""

SMALL_FILE = 1024 * 1024
"""Bytes read of one file at most."""

LINGER = 1.0
"""Seconds that output is waited for after a program has exited while a child of it holds the pipe."""

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PR_SET_PDEATHSIG = 1
_F_SETPIPE_SZ = 1031
_LIBC = ctypes.CDLL(None, use_errno=True)


def _child_setup(parent: int, nice: int | None) -> Callable[[], None]:
    """What runs between fork and exec: die with the parent, run at the asked priority."""

    def setup() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the line above
            os._exit(127)
        if nice is not None:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, nice)

    return setup


def _search_path() -> str:
    """The user's PATH first, then the system's: sudo often leaves sbin out."""
    return os.pathsep.join(filter(None, (os.environ.get("PATH", ""), _SYSTEM_PATH)))


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment every program gets: C locale, a known PATH, nothing else of ours."""
    base = {"LC_ALL": "C", "LANG": "C", "PATH": _search_path(), "TZ": os.environ.get("TZ", "")}
    if not base["TZ"]:
        del base["TZ"]
    return {**base, **extra}


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
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

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _Protocol) -> None:
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
        if self.returncode is not None and os.path.exists(f"/proc/{self.pid}"):
            return  # the number belongs to somebody else now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def widen_pipe(self) -> None:
        """1 MiB of slack, so that a busy moment here never blocks the program there."""
        pipe = self._transport.get_pipe_transport(1)
        raw = pipe.get_extra_info("pipe") if pipe is not None else None
        if raw is not None:
            with contextlib.suppress(OSError, ValueError):  # ValueError: it has ended already
                fcntl.fcntl(raw.fileno(), _F_SETPIPE_SZ, 1024 * 1024)

    def close(self) -> None:
        """Let go of the pipes, which ends their readers; kills what still runs."""
        self._transport.close()


class LocalProcess:
    """A running program in its own session; leaving its context ends it and its whole group."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._head: list[str] = []
        self._tail: list[str] = []
        self._partial = b""
        self._left_out = 0
        self._err_task = asyncio.create_task(self._read_stderr(), name="stderr")
        child.widen_pipe()

    @property
    def pid(self) -> int:
        """Process id; also its process group."""
        return self._child.pid

    async def _read_stderr(self) -> None:
        while chunk := await self._child.stderr.read(65536):
            *lines, self._partial = (self._partial + chunk).split(b"\n")
            self._partial = self._partial[-8192:]
            for line in lines:
                self._keep(line.decode("utf-8", "replace")[:4096])

    def _keep(self, line: str) -> None:
        if len(self._head) < 200:
            self._head.append(line)
            return
        self._tail.append(line)
        if len(self._tail) > 50:
            del self._tail[0]
            self._left_out += 1

    def stderr(self) -> str:
        """Standard error so far: the first 200 and the last 50 lines."""
        middle = [f"... {self._left_out} lines left out ..."] if self._left_out else []
        last = [self._partial.decode("utf-8", "replace")] if self._partial else []
        return "\n".join([*self._head, *middle, *self._tail, *last])

    async def chunks(self) -> AsyncIterator[bytes]:
        """Output until end of file, or until the program has exited and nothing came for half a second.

        A forked child may keep the pipe open after its parent is gone: end of file alone is not waited for.
        """
        exited = asyncio.create_task(self._child.wait(), name="wait")
        try:
            while True:
                limit = 0.5 if exited.done() else None
                read = asyncio.create_task(self._child.stdout.read(262144), name="stdout")
                waiting: set[asyncio.Task[bytes] | asyncio.Task[int]] = {read}
                if not exited.done():
                    waiting.add(exited)
                await asyncio.wait(waiting, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
                if not read.done() and exited.done() and limit is None:
                    await asyncio.wait({read}, timeout=0.5)
                if not read.done():
                    read.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await read
                    return
                chunk = read.result()
                if not chunk:
                    return
                yield chunk
        finally:
            exited.cancel()

    def interrupt(self) -> None:
        """SIGINT to the group."""
        self._child.signal(signal.SIGINT)

    def terminate(self) -> None:
        """SIGTERM to the group."""
        self._child.signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to the group."""
        self._child.signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Exit status; -N when killed by signal N."""
        return await self._child.wait()

    async def close(self) -> None:
        """End the program: SIGINT, 5 s, then SIGKILL; also when this coroutine is cancelled.

        What it started and left behind is killed with it.
        """
        try:
            if self._child.returncode is None:
                self.interrupt()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await self._drain_until_exit()
        finally:
            self.kill()
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await self._child.wait()
            finally:
                self._err_task.cancel()
                self._child.close()

    async def _drain_until_exit(self) -> None:
        """Wait for the exit while reading, or a full pipe would keep the program from ending."""
        drain = asyncio.create_task(_discard(self._child.stdout), name="drain")
        try:
            await self._child.wait()
        finally:
            drain.cancel()


async def _discard(stream: asyncio.StreamReader) -> None:
    while await stream.read(262144):
        pass


class _Stream(contextlib.AbstractAsyncContextManager[LocalProcess]):
    """Starts the program on entry, ends it on exit."""

    def __init__(self, host: LocalHost, command: Command) -> None:
        self._host = host
        self._command = command
        self._process: LocalProcess | None = None
        self._folder: str | None = None

    async def __aenter__(self) -> LocalProcess:
        folder = self._command.cwd
        if folder is None:
            folder = self._folder = _private_folder()
        try:
            self._process = LocalProcess(await self._host.start(self._command, folder))
        except BaseException:
            self._remove_folder()
            raise
        return self._process

    async def __aexit__(self, *exc: object) -> None:
        try:
            if self._process is not None:
                await self._process.close()
        finally:
            self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _private_folder() -> str:
    """An empty working directory: some tools drop log files where they stand. Raises ToolFailedError."""
    try:
        return tempfile.mkdtemp(prefix="raidbench-")
    except OSError as error:
        raise ToolFailedError(
            f"No working directory could be made for a program: {error.strerror}.",
            hint=f"Make room or rights in {tempfile.gettempdir()}.",
            evidence=str(error),
        ) from error


class LocalHost:
    """This machine."""

    def __init__(self, *, child_nice: int | None = None) -> None:
        """`child_nice`: absolute priority given to programs, where the user may (root)."""
        self._child_nice = child_nice
        self._name = clean(socket.gethostname(), 64) or "localhost"

    @property
    def name(self) -> str:
        """Host name, cleaned."""
        return self._name

    @property
    def simulated(self) -> bool:
        """Never."""
        return False

    @property
    def is_root(self) -> bool:
        """Whether the effective user is root."""
        return os.geteuid() == 0

    def which(self, names: Sequence[str]) -> str | None:
        """Absolute path of the first name that may be executed; root takes none that anybody may overwrite."""
        for name in names:
            found = shutil.which(name, path=_search_path())
            if found is None:
                continue
            path = os.path.abspath(found)
            if os.geteuid() == 0 and os.stat(path).st_mode & stat.S_IWOTH:
                continue
            return path
        return None

    async def start(self, command: Command, cwd: str) -> Child:
        """Start a program with pipes, in its own session, stdin at /dev/null; it dies with us.

        Raises ToolMissingError, ToolFailedError.
        """
        loop = asyncio.get_running_loop()
        try:
            # A loop that closes at this very moment leaves asyncio waiting for pipes that nobody connects any more.
            async with asyncio.timeout(5):
                transport, protocol = await loop.subprocess_exec(
                    lambda: _Protocol(loop),
                    *command.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=cwd,
                    env=clean_environment(command.env),
                    start_new_session=True,
                    preexec_fn=_child_setup(os.getpid(), self._child_nice),
                )
        except OSError as error:
            raise _not_started(command, error) from error
        return Child(transport, protocol)

    def stream(self, command: Command) -> contextlib.AbstractAsyncContextManager[LocalProcess]:
        """Run and read as it goes."""
        return _Stream(self, command)

    async def run(self, command: Command) -> Completed:
        """Run to the end. A mutating command is never cut short: whoever cancels waits for it."""
        if command.mutates:  # in a thread: not even a closing event loop reaches it there
            return await to_the_end(asyncio.get_running_loop().run_in_executor(None, self._change, command))
        return await self._run(command)

    def _change(self, command: Command) -> Completed:
        """Run a command that changes the machine, whatever happens to anybody else."""
        folder = command.cwd or _private_folder()
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=clean_environment(command.env),
                start_new_session=True,
            )
            with process:
                if self._child_nice is not None:
                    with contextlib.suppress(OSError):
                        os.setpriority(os.PRIO_PROCESS, process.pid, self._child_nice)
                out, err, cut = _listen(process)
        except OSError as error:
            raise _not_started(command, error) from error
        finally:
            if command.cwd is None:
                shutil.rmtree(folder, ignore_errors=True)
        return Completed(
            returncode=process.returncode,
            stdout=out.decode("utf-8", "replace"),
            stderr=err.decode("utf-8", "replace"),
            seconds=time.monotonic() - started,
            truncated=cut,
        )

    async def _run(self, command: Command) -> Completed:
        folder = command.cwd or _private_folder()
        started = time.monotonic()
        try:
            child = await self.start(command, folder)
            try:
                async with asyncio.timeout(command.timeout):
                    out, err, cut = await _collect(child)
            except TimeoutError:
                raise ToolTimeoutError(
                    f"{os.path.basename(command.argv[0])}: no answer in {command.timeout:g} s.",
                    hint="It was stopped; try again when the device is less busy.",
                    evidence=command.shown(),
                ) from None
            finally:
                child.signal(signal.SIGKILL)
                with contextlib.suppress(TimeoutError):  # one stuck in the kernel is left to it
                    async with asyncio.timeout(5):
                        await child.wait()
                child.close()
        finally:
            if command.cwd is None:
                shutil.rmtree(folder, ignore_errors=True)
        assert child.returncode is not None
        return Completed(
            returncode=child.returncode,
            stdout=out.decode("utf-8", "replace"),
            stderr=err.decode("utf-8", "replace"),
            seconds=time.monotonic() - started,
            truncated=cut,
        )

    async def read(self, path: str) -> str | None:
        """A small file's text without trailing white space, or None."""
        return _read(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Many small files; the unreadable are left out."""
        return {path: text for path in paths if (text := _read(path)) is not None}

    async def write(self, path: str, text: str) -> None:
        """One write to an existing file.

        In a thread: sysfs may take its time, a scheduler switch waits for the queue to drain.
        """
        await to_the_end(asyncio.get_running_loop().run_in_executor(None, _write, path, text))

    async def install(self, path: str, text: str) -> None:
        """A whole file atomically; "" removes it."""
        await to_the_end(asyncio.get_running_loop().run_in_executor(None, _install, path, text))

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Paths matching a glob pattern."""
        return tuple(sorted(glob.glob(pattern)))

    async def link(self, path: str) -> str | None:
        """Real path, or None; what a magic link such as /proc/PID/ns/mnt says, which leads to no path."""
        try:
            return os.path.realpath(path, strict=True)
        except OSError:
            with contextlib.suppress(OSError):
                target = os.readlink(path)
                return target if ":[" in target else None
            return None

    async def stat(self, path: str) -> FileStat | None:
        """What is there."""
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return None
        kinds = {
            stat.S_IFREG: "file",
            stat.S_IFDIR: "directory",
            stat.S_IFBLK: "block",
            stat.S_IFCHR: "char",
        }
        kind = kinds.get(stat.S_IFMT(info.st_mode), "other")
        device = f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}" if kind in ("block", "char") else None
        return FileStat(kind=kind, size=info.st_size, devno=device)

    async def writable(self, path: str) -> str | None:
        """None if a write may be tried."""
        if not os.path.exists(path):
            return "the kernel does not offer it for this device"
        if os.access(path, os.W_OK):
            return None
        return "needs root" if not self.is_root else "the kernel offers it read-only"


def _not_started(command: Command, error: OSError) -> ToolMissingError | ToolFailedError:
    name = command.argv[0]
    if isinstance(error, FileNotFoundError):
        return ToolMissingError(f"{name} is not there.", hint="Install it or correct its path.", evidence=str(error))
    return ToolFailedError(f"{name} could not be started: {error.strerror or 'no answer'}.", evidence=str(error))


async def _collect(child: Child) -> tuple[bytes, bytes, bool]:
    """Both outputs, each up to the limit; a program that floods is stopped."""
    outputs = (bytearray(), bytearray())
    cut = False

    async def take(stream: asyncio.StreamReader, kept: bytearray) -> None:
        nonlocal cut
        while chunk := await stream.read(262144):
            room = OUTPUT_LIMIT - len(kept)
            kept += chunk[:room]
            if len(chunk) > room:
                cut = True
                child.signal(signal.SIGKILL)

    readers = [asyncio.create_task(take(child.stdout, outputs[0])), asyncio.create_task(take(child.stderr, outputs[1]))]
    try:
        await child.wait()
        await asyncio.wait(readers, timeout=LINGER)
    finally:
        for reader in readers:
            reader.cancel()
    return bytes(outputs[0]), bytes(outputs[1]), cut


def _listen(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes, bool]:
    """Both outputs of a program that is let run to its end, each up to the limit; what is more is read and dropped."""
    assert process.stdout is not None
    assert process.stderr is not None
    outputs = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    cut = False
    silent = 0.0
    with selectors.DefaultSelector() as selector:
        for descriptor in outputs:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and silent < LINGER:
            ready = selector.select(0.1)
            silent = silent + 0.1 if not ready and process.poll() is not None else 0.0
            for key, _ in ready:
                chunk = os.read(key.fd, 262144)
                if not chunk:
                    selector.unregister(key.fd)
                kept = outputs[key.fd]
                cut = cut or len(kept) + len(chunk) > OUTPUT_LIMIT
                kept += chunk[: OUTPUT_LIMIT - len(kept)]
    process.wait()
    out, err = outputs.values()
    return bytes(out), bytes(err), cut


def _read(path: str) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            parts: list[bytes] = []
            size = 0
            while size < SMALL_FILE and (part := os.read(descriptor, 65536)):
                parts.append(part)
                size += len(part)
            return b"".join(parts).decode("utf-8", "replace").rstrip()
        return None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _write(path: str, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        hint = "Run raidbench as root." if isinstance(error, PermissionError) else ""
        raise ToolFailedError(
            f"The kernel refused {text!r}: {error.strerror}.", hint=hint, evidence=f"{path}: {error}"
        ) from error


def _install(path: str, text: str) -> None:
    try:
        if not text:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".raidbench-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o644)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        hint = "Run raidbench as root." if isinstance(error, PermissionError) else ""
        raise ToolFailedError(
            f"{path} could not be written: {error.strerror}.", hint=hint, evidence=str(error)
        ) from error


async def start_detached(argv: Sequence[str], order: str, seconds: float) -> str:
    """Start a program that is to outlive this one and its terminal; give it `order`, return its first line.

    It must fork once more and let its parent end when it has spoken, so that nobody here has a child to wait for.
    "" when it says nothing within `seconds`; then it is killed. Raises OSError.
    """
    return await asyncio.to_thread(_start_detached, argv, order, seconds)


def _start_detached(argv: Sequence[str], order: str, seconds: float) -> str:
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=clean_environment({}),
        start_new_session=True,
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
        return process.stdout.readline().decode("utf-8", "replace").strip()
