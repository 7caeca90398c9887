"""The helper as a process: what it hands over, what it refuses whoever asks, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from backends.errors import RefusedError
from backends.guard import Intent, judge_device
from backends.helper_device import helper_device_facts
from backends.identity import Identity
from backends.system.local import LocalHost
from backends.system.privsep.connection import HEAD, REPLY_LIMIT, Connection, length_of, pack, unpack
from tests.backends.loops import Loop, ext4, mounted, needs_loops, program, thin_loop, wait_for
from tests.packages import absence
from tests.privsep.helping import AS_NOBODY, Helper, command, environment, helper, needs_root, running

pytestmark = [needs_root, needs_loops(), pytest.mark.skipif(bool(absence("setpriv")), reason="needs setpriv")]


def holding(device: Loop, **other: object) -> dict[str, object]:
    return {"device": device.device, "writing": True, "typed": None, "meant": None, "shown": None, **other}


def fio(descriptor: int, rw: str) -> subprocess.CompletedProcess[str]:
    """Real fio as another user, on a descriptor."""
    words = [
        "--name=x",
        f"--rw={rw}",
        "--bs=4k",
        "--size=1m",
        "--ioengine=psync",
        "--end_fsync=1",
        f"--filename=/proc/self/fd/{descriptor}",
    ]
    return subprocess.run([*AS_NOBODY, "fio", *words], pass_fds=[descriptor], capture_output=True, text=True)


needs_fio = pytest.mark.skipif(bool(absence("fio")), reason="needs fio")


@pytest.mark.long
@needs_fio
async def test_fio_of_another_user_writes_to_the_device_that_was_handed_over(root: Helper, device: Loop) -> None:
    _, (descriptor,) = await root.side.fetch("hold", **holding(device))

    fio(descriptor, "write")

    assert any(device.backing.read_bytes()[: 1 << 20])


@pytest.mark.long
@needs_fio
async def test_a_device_held_for_reading_is_not_written_by_another_users_fio(root: Helper, device: Loop) -> None:
    _, (descriptor,) = await root.side.fetch("hold", **holding(device, writing=False))

    assert fio(descriptor, "read").returncode == 0
    fio(descriptor, "write")

    assert not any(device.backing.read_bytes())


@pytest.mark.long
async def test_whoever_is_handed_a_device_for_reading_cannot_widen_that(root: Helper, device: Loop) -> None:
    _, (descriptor,) = await root.side.fetch("hold", **holding(device, writing=False))

    tried = subprocess.run([*AS_NOBODY, "chmod", "666", f"/proc/self/fd/{descriptor}"], pass_fds=[descriptor])

    assert tried.returncode != 0
    assert stat.S_IMODE(os.fstat(descriptor).st_mode) == 0o440


@pytest.mark.long
async def test_what_is_held_is_the_helpers_until_it_is_released(root: Helper, device: Loop) -> None:
    said = await root.side.ask("hold", **holding(device))
    with pytest.raises(OSError, match="busy"):
        os.open(device.device, os.O_RDWR | os.O_EXCL)

    await root.side.ask("release", hold=said["hold"])

    os.close(os.open(device.device, os.O_RDWR | os.O_EXCL))


@pytest.mark.long
async def test_a_mounted_device_is_refused_whatever_was_typed(root: Helper, device: Loop, tmp_path: Path) -> None:
    ext4(device.sure())
    with mounted(device.device, tmp_path / "point"), pytest.raises(RefusedError, match="is mounted on"):
        await root.side.fetch("hold", **holding(device, typed=device.name))


@pytest.mark.long
async def test_a_device_that_a_program_has_open_is_refused(root: Helper, device: Loop, stack: ExitStack) -> None:
    hold = "import sys, time; held = open(sys.argv[1], 'rb'); print('ready', flush=True); time.sleep(600)"
    stack.enter_context(program("python3", "-c", hold, device.device))

    with pytest.raises(RefusedError, match="has it open"):
        await root.side.fetch("hold", **holding(device))


@pytest.mark.long
async def test_a_filesystem_that_nobody_named_is_refused(root: Helper, device: Loop) -> None:
    ext4(device.sure())

    with pytest.raises(RefusedError, match="contains data"):
        await root.side.fetch("hold", **holding(device))


async def test_a_filesystem_that_nobody_was_shown_is_refused_although_named(root: Helper, device: Loop) -> None:
    ext4(device.sure())

    with pytest.raises(RefusedError, match="changed after you confirmed it"):
        await root.side.fetch("hold", **holding(device, typed=device.name, shown=[]))


@pytest.mark.long
async def test_the_helper_tells_of_a_device_what_root_itself_finds(root: Helper, device: Loop) -> None:
    ext4(device.sure())
    told = await helper_device_facts(root.side, device.device, writing=True)

    found, _ = await judge_device(LocalHost(), device.device, Intent.WRITE)

    assert replace(told, others=(), rooms=()) == replace(found, others=(), rooms=())
    assert {type(one) for one in told.others} == {Identity}
    assert [replace(one, free_bytes=0) for one in told.rooms] == [replace(one, free_bytes=0) for one in found.rooms]


@pytest.mark.long
async def test_a_device_whose_file_does_not_fit_is_lent_to_nobody(root: Helper, tmp_path: Path) -> None:
    with thin_loop(tmp_path, size=500 << 20, on=64 << 20) as device:
        with pytest.raises(RefusedError, match=r"writing all of .* may need 500 MiB of the filesystem on"):
            await root.side.fetch("hold", **holding(device))
        facts = await helper_device_facts(root.side, device.device, writing=True)
    assert (facts.rooms[0].kind, facts.rooms[0].capacity) == ("file", 500 << 20)


@pytest.mark.long
async def test_another_device_than_the_one_meant_is_refused(root: Helper, device: Loop) -> None:
    identity = (await root.side.ask("facts", device=device.device, writing=False))["facts"]["identity"]

    with pytest.raises(Exception, match="is now a different device: disk sequence number was 1, is"):
        await root.side.fetch("hold", **holding(device, meant={**identity, "diskseq": "1"}))


def test_a_conversation_for_reading_only_rehearses_trials(tmp_path: Path, stack: ExitStack) -> None:
    """A doctor with --read-only asks for it, and nothing is set by it."""
    root = stack.enter_context(helper(tmp_path / "reading", read_only=True))
    assert root.side.ask_now("rehearse") == {}
    assert not (tmp_path / "reading" / "journal").exists()


async def test_a_conversation_for_reading_holds_nothing_for_writing(
    tmp_path: Path, device: Loop, stack: ExitStack
) -> None:
    root = stack.enter_context(helper(tmp_path / "reading", read_only=True))

    with pytest.raises(RefusedError, match="this connection is read-only"):
        await root.side.fetch("hold", **holding(device))


def test_the_helper_ends_with_whoever_asked(root: Helper) -> None:
    root.side.close()

    assert root.process.wait(120) == 0


@pytest.mark.long
async def test_what_a_dead_conversation_held_is_free_again(root: Helper, device: Loop) -> None:
    await root.side.fetch("hold", **holding(device))

    root.side.close()
    root.process.wait(120)

    os.close(os.open(device.device, os.O_RDWR | os.O_EXCL))


@pytest.mark.long
def test_a_program_that_reads_is_ended_with_the_conversation(tmp_path: Path, root: Helper) -> None:
    (mine, its), tools = socket.socketpair(), tmp_path / "tools"
    tools.mkdir(mode=0o755)
    slow = tools / "storcli64"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    slow.chmod(0o755)
    state = environment(tmp_path / "other")
    process = subprocess.Popen(
        command(), stdin=its.fileno(), env={**state, "PATH": f"{tools}:{state['PATH']}"}, cwd="/"
    )
    its.close()
    answer(mine)
    mine.sendall(pack({"id": 1, "verb": "hello", "args": {"version": 1, "read_only": True, "firmware": False}}))
    mine.sendall(
        pack({"id": 2, "verb": "run", "args": {"argv": ["storcli64", "show", "J"], "seconds": 600, "stall": None}})
    )
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())

    mine.close()
    process.wait(120)

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_program_that_changes_something_is_let_come_to_its_end(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir(mode=0o755)
    (tools / "slow").write_text(f"#!/bin/sh\necho > {tmp_path}/begun\nsleep 2\necho > {tmp_path}/ended\n")
    (tools / "slow").chmod(0o755)
    script = f"""
import asyncio, socket, sys
from pathlib import Path
from app.core.session.paths import Paths
from app.privsep.dispatcher import RequestDispatcher
from app.privsep.server import Conversation
from backends.host import Command
from backends.system.local import LocalHost

class Slow(RequestDispatcher):
    def _begin(self, **words):
        said = super()._begin(**words)
        async def apply(session, id):
            await LocalHost().run(Command(argv=("{tools}/slow",), mutates=True))
            return {{}}
        self._verbs["apply"] = apply
        return said

folder = Path("{tmp_path}")
paths = Paths(sessions=folder, journal=folder / "journal", locks=folder / "locks", config=folder / "config")
async def talk():
    conversation = Conversation(socket.socket(fileno=0), Slow(paths=paths, uid=0, gid=0))
    conversation.greet()
    await conversation.serve()
asyncio.run(talk())
"""
    mine, its = socket.socketpair()
    process = subprocess.Popen([command()[0], "-c", script], stdin=its.fileno(), cwd=Path(__file__).parents[2])
    its.close()
    answer(mine)
    mine.sendall(pack({"id": 1, "verb": "hello", "args": {"version": 1, "read_only": False, "firmware": False}}))
    mine.sendall(pack({"id": 2, "verb": "apply", "args": {"session": "/x", "id": "c1"}}))
    wait_for((tmp_path / "begun").exists)

    mine.close()

    assert process.wait(120) == 0
    assert (tmp_path / "ended").exists()


def test_the_helper_ends_with_a_raidbench_that_was_killed(tmp_path: Path) -> None:
    script = "import sys, time; from pathlib import Path; from tests.privsep.helping import helper\n"
    script += "with helper(Path(sys.argv[1])) as one: print(one.process.pid, flush=True); time.sleep(600)"
    parent = subprocess.Popen(
        [command()[0], "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())

    parent.kill()
    parent.wait()

    wait_for(lambda: not running(pid))
    parent.stdout.close()


async def test_a_companion_outlives_the_helper_that_started_it(root: Helper) -> None:
    _, (descriptor,) = await root.side.fetch("companion")
    other = Connection(socket.socket(fileno=descriptor))
    pid = other.greeting(60)["pid"]
    root.side.close()
    root.process.wait(120)

    assert other.ask_now("hello", version=1, read_only=True, firmware=False) == {"version": 1}
    other.close()
    await asyncio.to_thread(wait_for, lambda: not running(pid), 5.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP])
async def test_keys_of_the_terminal_do_not_end_the_helper(root: Helper, number: signal.Signals) -> None:
    root.process.send_signal(number)

    assert (await root.side.ask("journal"))["unresolved"] == []


def answer(sock: socket.socket) -> dict[str, object]:
    """The next message."""
    length = length_of(sock.recv(HEAD, socket.MSG_WAITALL), REPLY_LIMIT)
    return unpack(sock.recv(length, socket.MSG_WAITALL))


@pytest.mark.parametrize("head", [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\x10\0\x01"])
def test_a_message_of_no_length_or_too_long_ends_the_conversation(tmp_path: Path, head: bytes) -> None:
    mine, its = socket.socketpair()
    process = subprocess.Popen(command(), stdin=its.fileno(), env=environment(tmp_path / "state"), cwd="/")
    its.close()
    answer(mine)

    mine.sendall(head)

    assert "error" in answer(mine)
    assert process.wait(120) == 0
    mine.close()


def test_the_helper_is_nothing_to_be_started_by_hand() -> None:
    tried = subprocess.run(command(), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/")

    assert (tried.returncode, "starts it automatically" in tried.stderr) == (4, True)


def test_the_helper_does_not_start_where_python_heeds_the_users_variables(tmp_path: Path) -> None:
    mine, its = socket.socketpair()
    bare = [word for word in command() if word != "-I"]
    process = subprocess.Popen(bare, stdin=its.fileno(), env=environment(tmp_path), cwd=Path(__file__).parents[2])
    its.close()

    said = answer(mine)

    assert "Python would read variables" in str(said["error"])
    assert process.wait(120) == 2
