"""`bench --go-on-stdin`: a run that is started, kept and stopped by words on standard input."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from app.features.fleet.cli.bench_remote import LineWriter, RemoteRunControl
from app.features.fleet.multihost.protocol import LineKind
from tests.backends.passing import counted
from tests.cli.conftest import ROOT, Cli, argv
from tests.cli.kills import _fios as fios
from tests.core.benchmark.test_wear import ready as prepared
from tests.packages import needs

HELD = ("--size", "16M", "--ramp", "0", "--rate-iops", "500", "--stream", "--go-on-stdin")
PATIENCE = 120.0

LEASE = 10
"""Seconds. A machine that is busy with other tests may keep a process from its turn for some of them."""

LEAD_S = 3.0
"""Until a run starts that was told to: a start of long ago is none, and the word may come late."""


class Holder:
    """A run in a process of its own, and whoever holds its leash."""

    def __init__(self, folder: Path, *words: str, before: tuple[str, ...] = ()) -> None:
        (folder / "tmp").mkdir(exist_ok=True)
        own = {"RAIDBENCH_STATE_DIR": str(folder / "state"), "TMPDIR": str(folder / "tmp")}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **own}
        self.process = subprocess.Popen(
            argv(*before, "bench", *words),
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()

    def lines(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)

    def until(self, kind: str) -> dict[str, Any]:
        """The first line of a kind; until then the lease is kept."""
        over = Event()
        keeper = Thread(target=self._ping, args=(over,))
        keeper.start()
        try:
            seen = []
            for line in self.lines():
                if line["kind"] == kind:
                    return line
                seen.append(line)
            raise AssertionError(f"no {kind} after {seen}")
        finally:
            over.set()
            keeper.join()

    def _ping(self, over: Event) -> None:
        with suppress(BrokenPipeError):
            while not over.wait(0.5):
                self.say("ping 1")

    def start(self) -> None:
        """Ready, and told to start."""
        self.until("ready")
        self.say(f"go {time.time() + LEAD_S:.6f}")

    def go(self) -> None:
        """Started, and measuring."""
        self.start()
        self.until("tick")

    def end(self) -> tuple[dict[str, Any], int]:
        """Its last word and its exit status."""
        *_, last = self.lines()
        return last, self.process.wait(PATIENCE)


@pytest.fixture
def holders() -> Iterator[list[Holder]]:
    made: list[Holder] = []
    yield made
    for each in made:
        each.process.kill()
        each.process.wait()
        for pipe in (each.process.stdin, each.process.stdout):
            assert pipe is not None
            pipe.close()


# -- the leash alone ---------------------------------------------------------------------------------------------------


class Rope:
    """A leash on two pipes."""

    def __init__(self, lease: float = 30.0) -> None:
        words, self.say = os.pipe()
        self.hear, lines = os.pipe()
        self.stopped = asyncio.Event()
        self.leash = RemoteRunControl(lease, self.stopped.set, host="pear", boot="b", ends=(words, lines))

    def lines(self) -> list[dict[str, Any]]:
        """All that it said."""
        self.leash.close("done", "")
        return [json.loads(line) for line in os.read(self.hear, 1 << 16).splitlines()]

    async def answered(self, word: bytes) -> dict[str, Any]:
        """What ends it after that."""
        with self.leash.listen():
            os.write(self.say, word)
            async with asyncio.timeout(PATIENCE):
                await self.stopped.wait()
        return self.lines()[-1]


async def test_the_first_line_says_who_it_is_and_the_clocks() -> None:
    rope = Rope()
    with rope.leash.listen():
        pass
    hello = rope.lines()[0]
    assert (hello["kind"], hello["host"], hello["protocol"], hello["lease"]) == ("hello", "pear", 1, 30.0)
    assert abs(hello["wall"] - time.time()) < PATIENCE
    assert abs(hello["mono"] - time.monotonic()) < PATIENCE


@pytest.mark.parametrize(
    "word",
    [
        pytest.param(b"x" * 201, id="overlong and without end"),
        pytest.param(b"ping " + b"1" * 300 + b"\n", id="overlong"),
        pytest.param(b"rm -rf /\n", id="no word"),
        pytest.param(b"go 1\n", id="before it is ready"),
        pytest.param(b"\x00\xff\n", id="no text"),
    ],
)
async def test_what_is_no_word_ends_it_in_a_sentence(word: bytes) -> None:
    end = await Rope().answered(word)
    assert (end["kind"], end["why"]) == ("end", "word")
    assert end["message"].endswith(".")


async def test_silence_ends_it() -> None:
    end = await Rope(lease=0.1).answered(b"")
    assert (end["why"], end["message"]) == ("silence", "Stopped: no message from the controlling host for 0.1 s.")


def now() -> float:
    """Seconds of the loop, which pass only while all wait."""
    return asyncio.get_running_loop().time()


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock of a leash goes on while this process is kept from its turn."""
    monkeypatch.setattr("app.features.fleet.cli.bench_remote.time", SimpleNamespace(time=now, monotonic=now))


@pytest.mark.usefixtures("passing")
def test_pings_keep_the_lease() -> None:
    async def pinged() -> Rope:
        rope = Rope(lease=0.4)
        with rope.leash.listen():
            for number in range(8):
                os.write(rope.say, b"ping %d\n" % number)
                await asyncio.sleep(0.1)
            assert not rope.leash.why
        return rope

    rope, _ = counted(pinged)
    assert [line["id"] for line in rope.lines() if line["kind"] == "pong"] == list("01234567")


async def test_the_end_of_the_input_ends_it() -> None:
    rope = Rope()
    os.close(rope.say)
    with rope.leash.listen():
        await rope.stopped.wait()
    assert rope.lines()[-1]["why"] == "input ended"


async def test_a_reader_that_reads_no_more_ends_it() -> None:
    rope = Rope()
    with rope.leash.listen():
        for _ in range(5000):
            rope.leash.send(LineKind.PHASE, phase="x" * 1000)
        async with asyncio.timeout(PATIENCE):
            await rope.stopped.wait()
    assert rope.leash.why == "nobody reads"


def test_a_closed_pipe_is_told_to_whoever_writes() -> None:
    read, write = os.pipe()
    os.close(read)
    gone: list[bool] = []
    writer = LineWriter(write, lambda: gone.append(True))
    writer.put({"kind": "tick"})
    writer.close(PATIENCE)
    assert gone == [True]


async def started(rope: Rope, *words: bytes) -> None:
    """Until it starts, or ends."""
    with rope.leash.listen():
        waiting = asyncio.create_task(rope.leash.wait_for_start(prepared()))
        await asyncio.sleep(0)
        for word in words:
            os.write(rope.say, word)
        async with asyncio.timeout(PATIENCE):
            await waiting


@pytest.mark.usefixtures("passing")
def test_it_starts_when_it_was_told_to() -> None:
    async def told() -> tuple[Rope, float]:
        rope = Rope()
        await started(rope, b"go %.6f\n" % 7.5)
        return rope, now()

    (rope, at), _ = counted(told)
    assert at == pytest.approx(7.5)
    assert [line["kind"] for line in rope.lines()] == ["hello", "ready", "started", "end"]


async def test_a_start_long_ago_is_none() -> None:
    rope = Rope()
    await started(rope, b"go %.6f\n" % (time.time() - 5))
    assert rope.leash.why == "word"
    assert "started" not in [line["kind"] for line in rope.lines()]


async def test_there_is_one_start() -> None:
    rope = Rope()
    await started(rope, b"go %.6f\n" % (time.time() + 30), b"go %.6f\n" % (time.time() + 30))
    assert rope.leash.sentence == "`go` is only valid once, after `ready`."


async def test_bye_before_the_start_starts_nothing() -> None:
    rope = Rope()
    await started(rope, b"go %.6f\n" % (time.time() + 30), b"bye\n")
    assert rope.leash.why == "bye"
    assert "started" not in [line["kind"] for line in rope.lines()]


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--go-on-stdin",), "--go-on-stdin needs --stream"),
        (("--lease", "5"), "--lease needs --go-on-stdin"),
        (("--stream", "--go-on-stdin", "--json"), "--go-on-stdin cannot be combined with --json"),
        (("--stream", "--go-on-stdin", "--repeat", "2"), "--go-on-stdin cannot be combined with --json"),
        (("--stream", "--go-on-stdin", "--dry-run"), "--go-on-stdin cannot be combined with --json"),
    ],
)
def test_what_makes_no_sense_with_it_is_wrong_usage(cli: Cli, words: tuple[str, ...], says: str) -> None:
    outcome = cli("--demo", "bench", "sda", *words)
    assert outcome.status == 2
    assert says in outcome.err


def test_words_from_a_file_are_none(tmp_path: Path) -> None:
    done = subprocess.run(
        argv("--demo", "bench", "sda", "--stream", "--go-on-stdin"),
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert b"but standard input is a file" in done.stderr


def test_a_device_is_not_written_over_at_the_word_of_another_host(tmp_path: Path, holders: list[Holder]) -> None:
    words = ("md2", "--rw", "randwrite", *HELD[4:], "--lease", "300")  # nobody pings, however long it takes to start
    holder = Holder(tmp_path, *words, before=("--demo", "linux"))
    holders.append(holder)
    end, status = holder.end()
    assert (status, end["why"]) == (3, "refused")
    assert "A multi-host run cannot write to a device: another host may use" in end["message"]


@pytest.mark.fio
@needs("fio")
@pytest.mark.parametrize(
    ("cut", "why"),
    [
        pytest.param("silence", "silence", id="silence"),
        pytest.param("close", "input ended", id="end of file", marks=pytest.mark.long),
        pytest.param("bye", "bye", id="bye", marks=pytest.mark.long),
    ],
)
def test_without_its_holder_no_fio_goes_on(tmp_path: Path, holders: list[Holder], cut: str, why: str) -> None:
    holder = Holder(tmp_path, "./scratch", "--runtime", "300", *HELD, "--lease", str(LEASE))
    holders.append(holder)
    holder.go()
    (fio,) = fios(tmp_path)
    if cut == "bye":
        holder.say("bye")
    elif cut == "close":
        assert holder.process.stdin is not None
        holder.process.stdin.close()
    lines = list(holder.lines())
    assert [line["run"]["status"] for line in lines if line["kind"] == "result"] == ["stopped"]
    assert (lines[-1]["kind"], lines[-1]["why"]) == ("end", why)
    assert holder.process.wait(PATIENCE) == 130
    assert not Path(f"/proc/{fio}").exists()
    assert not (tmp_path / "scratch").exists()


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
def test_its_ticks_are_the_run(tmp_path: Path, holders: list[Holder]) -> None:
    holder = Holder(tmp_path, "./scratch", "--runtime", "2", *HELD, "--lease", "300")
    holders.append(holder)
    holder.start()
    lines = list(holder.lines())
    ticks = [line["read"] for line in lines if line["kind"] == "tick"]
    (run,) = [line["run"] for line in lines if line["kind"] == "result"]
    assert sum(tick["ios"] for tick in ticks) == pytest.approx(run["read"]["total_ios"], rel=0.2)
    counted = sum(count for tick in ticks for _, count in tick["bins"])
    assert counted == pytest.approx(sum(tick["ios"] for tick in ticks), rel=0.02)  # fio counts while it tells
    assert (lines[-1]["why"], holder.process.wait(PATIENCE)) == ("done", 0)


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
def test_silence_before_the_start_leaves_nothing(tmp_path: Path, holders: list[Holder]) -> None:
    holder = Holder(tmp_path, "./scratch", "--runtime", "5", *HELD, "--lease", str(LEASE))
    holders.append(holder)
    holder.until("ready")
    end, status = holder.end()
    assert (end["why"], status) == ("silence", 130)
    assert not (tmp_path / "scratch").exists()
