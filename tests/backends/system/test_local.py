"""The local host starts programs without a shell, ends them with all they started, and never ends a change."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from backends.errors import ToolFailedError, ToolMissingError, ToolTimeoutError
from backends.host import Command, FileStat
from backends.system import local
from backends.system.local import OUTPUT_LIMIT, LocalHost, child
from backends.system.local.child import START

ROOT = Path(__file__).parents[3]


def python(code: str, *words: str, **options: object) -> Command:
    return Command(argv=(sys.executable, "-c", code, *words), **options)  # type: ignore[arg-type]


def shell(script: str, *words: str, **options: object) -> Command:
    """A test may use a shell as the program that misbehaves."""
    return Command(argv=("/bin/sh", "-c", script, "sh", *words), **options)  # type: ignore[arg-type]


async def gone(pid: int) -> bool:
    """Waits until the process is gone or a zombie; the test's own time limit is a minute."""
    async with asyncio.timeout(60):
        while alive(pid):  # nobody tells of the end of somebody else's child
            await asyncio.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def line_of(file: Path) -> str:
    """The first whole line of a file that a program is about to write."""
    async with asyncio.timeout(60):
        while not (file.exists() and file.read_text().endswith("\n")):  # another process writes it
            await asyncio.sleep(0.01)
    return file.read_text().split("\n")[0]


@pytest.fixture(autouse=True)
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Private working directories are made here, so that a test sees what is left."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


# -- what a program is given ---------------------------------------------------------------------------------------


async def test_words_reach_the_program_as_they_are() -> None:
    words = ("$(id)", "a b", "*", "'", ";reboot", "\\", "`x`", "ünï")
    done = await LocalHost().run(python("import sys; print(ascii(sys.argv[1:]))", *words))
    assert done.stdout.strip() == ascii(list(words))


async def test_standard_input_is_at_its_end() -> None:
    done = await LocalHost().run(python("import os; print(os.readlink('/proc/self/fd/0'))"))
    assert done.stdout == "/dev/null\n"


async def test_a_program_leads_its_own_session() -> None:
    done = await LocalHost().run(python("import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"))
    assert done.stdout == "True\n"


async def test_a_program_inherits_no_open_file(tmp_path: Path) -> None:
    with (tmp_path / "precious").open("w"):
        done = await LocalHost().run(python("import os; print(os.listdir('/proc/self/fd'))"))
    assert done.stdout == "['0', '1', '2', '3']\n"  # 3 is the listing itself


async def test_a_program_speaks_c_and_knows_nothing_of_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("PASSWORD", "secret")
    done = await LocalHost().run(Command(argv=("/usr/bin/env",)))
    assert {line.partition("=")[0] for line in done.stdout.splitlines()} - {"TZ"} == {"LC_ALL", "LANG", "PATH"}


async def test_what_a_program_drops_where_it_stands_is_removed(own_temp: Path) -> None:
    await LocalHost().run(shell("echo x > log.txt"))
    assert list(own_temp.iterdir()) == []


async def test_a_stream_that_cannot_start_leaves_no_folder(own_temp: Path) -> None:
    with pytest.raises(ToolMissingError):
        async with LocalHost().stream(Command(argv=("/no/such/program",))):
            pass
    assert list(own_temp.iterdir()) == []


async def test_no_room_for_a_working_directory_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(ToolFailedError, match="The working directory"):
        await LocalHost().run(Command(argv=("/bin/true",)))


async def test_an_absent_program_is_missing() -> None:
    with pytest.raises(ToolMissingError):
        await LocalHost().run(Command(argv=("/no/such/program",)))


async def test_a_file_that_may_not_be_executed_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    with pytest.raises(ToolFailedError, match="Permission denied"):
        await LocalHost().run(Command(argv=(str(tmp_path / "tool"),)))


# -- what it answers -----------------------------------------------------------------------------------------------


async def test_both_outputs_and_the_status_come_back() -> None:
    done = await LocalHost().run(shell("echo out; echo err >&2; exit 46"))
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 46)


async def test_death_by_a_signal_is_a_negative_status() -> None:
    assert (await LocalHost().run(shell("kill -SEGV $$"))).returncode == -signal.SIGSEGV


async def test_bytes_that_are_no_text_are_replaced() -> None:
    done = await LocalHost().run(python(r"import sys; sys.stdout.buffer.write(b'ab\xff\xfe\x00c')"))
    assert done.stdout == "ab\ufffd\ufffd\0c"


async def test_a_flood_is_cut_at_the_limit() -> None:
    done = await LocalHost().run(Command(argv=("/usr/bin/head", "-c", "1G", "/dev/zero")))
    assert (len(done.stdout), done.truncated) == (OUTPUT_LIMIT, True)


async def test_a_flood_does_not_grow_our_memory_by_more_than_the_limits() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await LocalHost().run(Command(argv=("/usr/bin/head", "-c", "1G", "/dev/zero")))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 128 * 1024  # KiB: the kept bytes, their text and the copies between


async def test_a_flood_of_a_change_is_cut_and_the_change_goes_on(tmp_path: Path) -> None:
    marker = tmp_path / "done"
    script = f"head -c {OUTPUT_LIMIT + 1000000} /dev/zero; echo yes > $1"
    done = await LocalHost().run(shell(script, str(marker), mutates=True))
    assert (done.truncated, marker.read_text()) == (True, "yes\n")


async def test_a_daemon_that_keeps_the_pipe_does_not_keep_the_answer() -> None:
    done = await LocalHost().run(shell("setsid sleep 600 & echo $!"))
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 0


# -- how it ends ---------------------------------------------------------------------------------------------------


async def test_a_read_that_hangs_is_a_timeout() -> None:
    with pytest.raises(ToolTimeoutError, match=r"did not finish within 0\.1 s"):
        await LocalHost().run(Command(argv=("/bin/sleep", "600"), timeout=0.1))


async def test_a_timeout_ends_grandchildren_too(tmp_path: Path) -> None:
    script = "sleep 600 & echo $! > $1.new; mv $1.new $1; wait"
    with pytest.raises(ToolTimeoutError):
        await LocalHost().run(shell(script, str(tmp_path / "pid"), timeout=3))
    assert await gone(int((tmp_path / "pid").read_text()))


async def test_a_program_deaf_to_polite_signals_ends_at_its_timeout(tmp_path: Path) -> None:
    script = "trap '' INT TERM HUP; echo $$ > $1.new; mv $1.new $1; while :; do sleep 1; done"
    with pytest.raises(ToolTimeoutError):
        await LocalHost().run(shell(script, str(tmp_path / "pid"), timeout=3))
    assert await gone(int((tmp_path / "pid").read_text()))


async def test_a_cancelled_read_ends_its_program(tmp_path: Path) -> None:
    read = asyncio.create_task(LocalHost().run(shell("echo $$ > $1; exec sleep 600", str(tmp_path / "pid"))))
    pid = int(await line_of(tmp_path / "pid"))
    read.cancel()
    await asyncio.wait({read})
    assert await gone(pid)


async def test_a_closing_event_loop_does_not_wait_for_a_start(tmp_path: Path) -> None:
    """Its other tasks are cancelled as well, and asyncio then waits for pipes that nobody connects any more."""
    pid = tmp_path / "pid"
    starting = asyncio.create_task(LocalHost().run(shell("echo $$ > $0; exec sleep 100", str(pid))))
    while not any("_connect_pipes" in repr(task) for task in asyncio.all_tasks()):
        await asyncio.sleep(0)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    done, _ = await asyncio.wait({starting}, timeout=START / 2)
    assert done == {starting}
    assert starting.cancelled()
    if pid.exists() and (text := pid.read_text().strip()):
        assert await gone(int(text))


async def test_a_program_that_a_clean_up_starts_has_all_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its task is cancelled already, which is no reason to give up the start."""
    monkeypatch.setattr(child, "child_setup", lambda *_: lambda: time.sleep(3 * child._GIVEN_UP))

    async def cleaned_up() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            return (await LocalHost().run(shell("echo all"))).stdout  # noqa: B012

    cleaning = asyncio.create_task(cleaned_up())
    await asyncio.sleep(0)
    cleaning.cancel()
    assert await cleaning == "all\n"


async def test_a_change_is_not_ended_by_its_time_limit(tmp_path: Path) -> None:
    done = await LocalHost().run(shell("sleep 0.3; echo yes", mutates=True, timeout=0.01))
    assert done.stdout == "yes\n"


WAITS = "echo started > $1; while [ ! -e $2 ]; do sleep 0.01; done; echo yes > $3"


async def test_a_cancelled_change_comes_to_its_end(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("started", "go", "done")]
    change = asyncio.create_task(LocalHost().run(shell(WAITS, *files, mutates=True)))
    await line_of(tmp_path / "started")
    change.cancel()
    change.cancel()
    await asyncio.sleep(0)
    (tmp_path / "go").touch()
    await asyncio.wait({change})
    assert (change.cancelled(), (tmp_path / "done").exists()) == (True, True)


def test_a_closing_event_loop_waits_for_a_change(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("started", "go", "done")]

    async def leave_in_the_middle() -> None:
        asyncio.create_task(LocalHost().run(shell(WAITS, *files, mutates=True)))  # noqa: RUF006
        await line_of(tmp_path / "started")
        asyncio.get_running_loop().call_later(0.05, (tmp_path / "go").touch)

    asyncio.run(leave_in_the_middle())
    assert (tmp_path / "done").exists()


_PARENT = """
import asyncio, sys
from backends.host import Command
from backends.system.local import LocalHost
script, mutates, files = sys.argv[1], sys.argv[2] == "change", sys.argv[3:]
asyncio.run(LocalHost().run(Command(argv=("/bin/sh", "-c", script, "sh", *files), mutates=mutates)))
"""


def parent_of(script: str, kind: str, *files: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", _PARENT, script, kind, *files]
    return subprocess.Popen(words, cwd=ROOT, env={**os.environ, "TMPDIR": tempfile.gettempdir()})


async def test_a_read_dies_with_a_killed_parent(tmp_path: Path) -> None:
    """Even if it does nothing on SIGTERM, as a fio that hangs in its handler."""
    parent = parent_of("trap '' TERM; echo $$ > $1; exec sleep 600", "read", str(tmp_path / "pid"))
    pid = int(await line_of(tmp_path / "pid"))
    parent.kill()
    parent.wait()
    assert await gone(pid)


async def test_a_change_survives_a_killed_parent(tmp_path: Path) -> None:
    parent = parent_of(WAITS, "change", *[str(tmp_path / name) for name in ("started", "go", "done")])
    await line_of(tmp_path / "started")
    parent.kill()
    parent.wait()
    (tmp_path / "go").touch()
    assert await line_of(tmp_path / "done") == "yes"


# -- streams -------------------------------------------------------------------------------------------------------


async def all_of(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


async def test_a_stream_gives_all_bytes_in_their_order() -> None:
    async with LocalHost().stream(Command(argv=("/usr/bin/seq", "100000"))) as process:
        data = await all_of(process.chunks())
    assert data == b"".join(b"%d\n" % number for number in range(1, 100001))


async def test_leaving_a_stream_ends_the_program() -> None:
    async with LocalHost().stream(Command(argv=("/bin/sleep", "600"))) as process:
        pid = process.pid
    assert await gone(pid)


async def test_leaving_a_stream_ends_what_the_program_left_behind() -> None:
    async with LocalHost().stream(shell("sleep 600 >/dev/null 2>&1 & echo $!")) as process:
        pid = int(await all_of(process.chunks()))
        await process.wait()
    assert await gone(pid)


async def test_leaving_a_stream_by_an_error_ends_the_program() -> None:
    stream = LocalHost().stream(Command(argv=("/bin/sleep", "600")))
    process = await stream.__aenter__()
    await stream.__aexit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert await gone(process.pid)


async def test_leaving_a_stream_lets_the_program_say_its_last_word() -> None:
    script = "trap 'echo summary >&2; exit 0' INT; echo ready; while :; do sleep 0.01; done"
    async with LocalHost().stream(shell(script)) as process:
        chunks = process.chunks()
        await anext(chunks)
    assert await process.wait() == 0


async def test_a_cancelled_stream_ends_even_a_deaf_program(monkeypatch: pytest.MonkeyPatch) -> None:
    started = asyncio.get_running_loop().create_future()

    async def watch() -> None:
        async with LocalHost().stream(shell("trap '' INT TERM; echo $$; while :; do sleep 1; done")) as process:
            started.set_result(int(await anext(process.chunks())))
            await asyncio.Event().wait()

    task = asyncio.create_task(watch())
    pid = await started
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # again, while it is being asked politely
    await asyncio.wait({task})
    assert await gone(pid)


async def test_a_program_that_exits_ends_its_stream_though_a_daemon_holds_the_pipe() -> None:
    async with LocalHost().stream(shell("setsid sleep 600 & echo $!")) as process:
        data = await all_of(process.chunks())
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(data), signal.SIGKILL)
    assert await process.wait() == 0


async def test_a_program_heeds_an_interrupt_that_we_ourselves_are_deaf_to() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as of a program started with `&` by a script
    try:
        async with LocalHost().stream(Command(argv=("/bin/sleep", "600"))) as process:
            process.interrupt()
            assert await process.wait() == -signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("how", "status"), [("interrupt", -signal.SIGINT), ("terminate", -signal.SIGTERM), ("kill", -signal.SIGKILL)]
)
async def test_a_stream_passes_signals_on(how: str, status: int) -> None:
    async with LocalHost().stream(Command(argv=("/bin/sleep", "600"))) as process:
        getattr(process, how)()
        assert await process.wait() == status


async def test_a_signal_to_a_finished_program_does_nothing() -> None:
    async with LocalHost().stream(Command(argv=("/bin/true",))) as process:
        await process.wait()
        process.interrupt()


async def errors_of(script: str) -> str:
    async with LocalHost().stream(shell(script)) as process:
        await all_of(process.chunks())
        await process.wait()
        if reading := {task for task in asyncio.all_tasks() if task.get_name() == "stderr"}:
            await asyncio.wait(reading)
        return process.stderr()


async def test_of_a_long_error_output_the_head_and_the_tail_are_kept() -> None:
    lines = (await errors_of("seq 1000 >&2")).split("\n")
    head, middle, tail = lines[:200], lines[200], lines[201:]
    assert (head[0], head[-1], middle, tail[0], tail[-1]) == (
        "1",
        "200",
        "... 750 lines left out ...",
        "951",
        "1000",
    )


async def test_an_error_line_without_an_end_is_kept() -> None:
    assert await errors_of("printf 'no newline' >&2") == "no newline"


async def test_an_endless_error_line_is_cut() -> None:
    assert len(await errors_of("head -c 10000000 /dev/zero >&2")) <= 8192


# -- files ---------------------------------------------------------------------------------------------------------


async def test_a_file_is_read_without_its_trailing_space(tmp_path: Path) -> None:
    (tmp_path / "scheduler").write_text("[none] mq-deadline\n")
    assert await LocalHost().read(str(tmp_path / "scheduler")) == "[none] mq-deadline"


@pytest.mark.parametrize("name", ["missing", "folder", "fifo", "with\0nul"])
async def test_what_is_no_readable_file_reads_as_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    assert await LocalHost().read(str(tmp_path / name)) is None


async def test_an_endless_file_is_not_read_to_its_end() -> None:
    assert len(await LocalHost().read("/proc/kallsyms") or "") <= local.SMALL_FILE + 65536


async def test_of_many_files_only_the_readable_come_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert await LocalHost().read_many(paths) == {paths[0]: "1"}


async def test_a_write_does_not_make_a_file(tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match="No such file"):
        await LocalHost().write(str(tmp_path / "new"), "1")


async def test_a_refused_write_holds_the_kernels_words() -> None:
    with pytest.raises(ToolFailedError, match="No space left on device"):
        await LocalHost().write("/dev/full", "1")


async def test_an_installed_file_is_whole_and_readable_by_all(tmp_path: Path) -> None:
    path = tmp_path / "rules.d" / "99-raidbench.rules"
    await LocalHost().install(str(path), b"rule\n", before=None)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("rule\n", 0o644)


async def test_installing_leaves_no_temporary_file(tmp_path: Path) -> None:
    await LocalHost().install(str(tmp_path / "file"), b"x", before=None)
    await LocalHost().install(str(tmp_path / "file"), b"y", before=b"x")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["file"]


async def test_installing_nothing_removes_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    await LocalHost().install(str(tmp_path / "file"), b"", before=b"x")
    assert not (tmp_path / "file").exists()


async def test_a_failed_install_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ToolFailedError, match="could not be written"):
        await LocalHost().install(str(tmp_path / "file" / "below"), b"x", before=None)


async def test_a_device_node_tells_its_number() -> None:
    assert await LocalHost().stat("/dev/null") == FileStat(kind="char", size=0, devno="1:3")


async def test_a_link_is_followed_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "end").touch()
    (tmp_path / "middle").symlink_to("end")
    (tmp_path / "start").symlink_to("middle")
    assert await LocalHost().link(str(tmp_path / "start")) == str(tmp_path / "end")


async def test_a_dangling_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "start").symlink_to("nothing")
    assert await LocalHost().link(str(tmp_path / "start")) is None


async def test_a_file_that_is_not_offered_is_not_writable(tmp_path: Path) -> None:
    assert await LocalHost().writable(str(tmp_path / "new")) == "the kernel does not support it for this device"


def tool(folder: Path, mode: int) -> str:
    path = folder / "raidbench-test-tool"
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return str(path)


def test_an_executable_is_found_by_its_path(tmp_path: Path) -> None:
    assert LocalHost().which((tool(tmp_path, 0o755),)) == tool(tmp_path, 0o755)


def test_the_first_name_that_is_there_wins() -> None:
    assert os.path.basename(LocalHost().which(("no-such-tool", "sh", "env")) or "") == "sh"


def test_a_file_without_the_right_to_execute_is_not_found(tmp_path: Path) -> None:
    assert LocalHost().which((tool(tmp_path, 0o644),)) is None


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may raise a priority")
async def test_programs_run_at_the_asked_priority() -> None:
    done = await LocalHost(child_nice=3).run(python("import os; print(os.getpriority(os.PRIO_PROCESS, 0))"))
    assert done.stdout == "3\n"
