"""`bench --hosts`: hosts that are processes of this program instead of machines behind ssh."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from app.features.fleet.cli.bench import CrashingProgram
from app.features.fleet.multihost.coordinator import Coordinator, MultiHostTimeouts
from app.features.fleet.multihost.presentation import joint_json, joint_table
from app.features.fleet.multihost.record import IN_WINDOW, LOST, NEVER, JointFolder, JointRecord
from app.features.fleet.multihost.result import joint_record
from backends.errors import ToolMissingError
from backends.system.local.interactive import InteractiveProcess
from tests.apart import ALONE
from tests.cli.conftest import ROOT, Cli, Outcome, argv, program
from tests.cli.kills import _fios as fios
from tests.packages import needs

JOINT = ("--demo", "linux", "bench", "md2", "--runtime", "4", "--ramp", "1", "--hosts", "node[1-3]")


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--stagger", "1"), "--stagger needs --hosts"),
        (("--hosts", "a", "--stream"), "--hosts cannot be combined with --stream"),
        (("--hosts", "n[1-257]"), "contains 257 hosts; one command accepts at most 256"),
        (("--hosts", "a", "--repeat", "2"), "--hosts cannot be combined with --stream"),
        (("--hosts", "a", "--confirm", "X"), "--confirm cannot be combined with --hosts"),
        (("--hosts", "n[1-100]", "--stagger", "1"), "apart would take more than 50 s"),
    ],
)
def test_what_makes_no_sense_with_it_is_wrong_usage(cli: Cli, words: tuple[str, ...], says: str) -> None:
    outcome = cli("bench", "sda", *words)
    assert outcome.status == 2
    assert says in outcome.err


@pytest.mark.parametrize(
    ("before", "says"),
    [
        (("--demo", "--demo-speed", "10"), "--demo-speed cannot be combined with --hosts"),
        (("--machine", "somewhere"), "a recorded machine has no other hosts"),
    ],
)
def test_hosts_are_no_recording_and_keep_real_time(cli: Cli, before: tuple[str, ...], says: str) -> None:
    outcome = cli(*before, "bench", "sda", "--hosts", "a", "--dry-run")
    assert outcome.status == 2
    assert says in outcome.err


def test_hosts_take_no_job_without_a_run_time(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "job.fio"
    file.write_text("[j]\nrw=randread\nsize=64m\n")
    outcome = cli("bench", "/tmp", "--jobfile", str(file), "--hosts", "a,b", "--dry-run")
    assert (outcome.status, "--runtime" in outcome.err) == (2, True)


def test_a_dry_run_shows_what_would_be_started(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "job.fio"
    file.write_text("[j]\nrw=randread\nbs=8k\nruntime=7\ntime_based\n")
    outcome = cli("--read-only", "bench", "/tmp/it's", "--jobfile", str(file), "--keep", "--hosts", "a,b", "--dry-run")
    first, second = outcome.out.splitlines()
    assert first.startswith("ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ")
    assert " -- a " in first
    assert " -- b " in second
    for word in ("--read-only bench --stream --go-on-stdin --lease=5", "--bs=8k", "--runtime=7", "--keep"):
        assert word in first
    assert str(file) not in first


def test_a_workload_is_named_to_the_hosts(cli: Cli) -> None:
    out = cli("bench", "sda", "--profile", "seqread-4m", "--iodepth", "4", "--hosts", "a", "--dry-run").out
    assert "--profile=seqread-4m --iodepth=4 -- sda" in out


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """A run on three simulated hosts, and where its state is."""
    folder = tmp_path_factory.mktemp("joint")
    return program(*JOINT, "--json", env={"RAIDBENCH_STATE_DIR": str(folder)}), folder


@pytest.mark.long
def test_the_last_of_the_simulated_hosts_dies_and_is_named(simulated: tuple[Outcome, Path]) -> None:
    outcome, _ = simulated
    joint = outcome.json["joint"]
    assert outcome.status == 6
    assert [host["state"] for host in joint["hosts"]] == [IN_WINDOW, IN_WINDOW, LOST]
    assert joint["window"]["hosts"] == 2
    assert joint["window"]["of"] == 3
    assert "node3 is not in the total (lost): raidbench was killed there" in outcome.err
    assert (outcome.json["simulated"], joint["simulated"]) == (True, True)


@pytest.mark.long
def test_each_simulated_host_has_figures_of_its_own_and_the_sum_is_theirs(simulated: tuple[Outcome, Path]) -> None:
    joint = simulated[0].json["joint"]
    rates = [host["read"]["iops"] for host in joint["hosts"][:2]]
    assert rates[0] != rates[1]
    assert joint["read"]["iops"] == pytest.approx(sum(rates))
    assert joint["spread"]["slowest"] != joint["spread"]["fastest"]


@pytest.mark.long
def test_it_is_shown_again(simulated: tuple[Outcome, Path], cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, folder = simulated
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(folder))
    report = cli("--demo", "linux", "report").out
    rows = [line for line in report.splitlines() if re.match(r"\| (node\d|together) ", line)]
    assert [row.split("|")[1].strip() for row in rows] == ["node1", "node2", "node3", "together"]
    assert "2 of 3 hosts" in rows[-1]
    assert "node3 is not in the total" in report
    assert cli("--demo", "linux", "report", "--format", "json").json["joint"][0]["id"] == outcome.json["joint"]["id"]


@pytest.mark.long
def test_names_of_hosts_are_hidden(
    simulated: tuple[Outcome, Path], cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(simulated[1]))
    hidden = cli("--demo", "linux", "report", "--redact").out
    assert "together" in hidden
    assert not re.search(r"node[123]", hidden)
    archive = tmp_path / "it.raidbench"
    assert cli("--demo", "linux", "archive", "-o", str(archive), "--redact").status == 0
    with ZipFile(archive) as parts:  # what hosts said may have serial numbers that nobody knows here
        assert {name for name in parts.namelist() if name.startswith("runs/")} == {
            "runs/j1/hosts",
            "runs/j1/joint.json",
        }
    shown = cli("report", str(archive)).out
    assert "together" in shown
    assert not re.search(r"node[123]", shown)


# -- hosts that really measure -----------------------------------------------------------------------------------------

PATIENCE = MultiHostTimeouts(silence=10.0, farewell=30.0)

LEASE = 10
"""Seconds. A machine that is busy with other tests may keep a process from its turn for some of them."""


class Farm:
    """Hosts that are processes with fio, each in a folder of its own; what befalls one of them is chosen."""

    def __init__(
        self, folder: Path, *words: str, odd: dict[str, Callable[..., InteractiveProcess]] | None = None
    ) -> None:
        self.folder, self._odd = folder, odd or {}
        self._command = ("./scratch", "--size", "8M", "--ramp", "0", "--rate-iops", "400", *words)

    def line(self, host: str) -> InteractiveProcess:
        place = self.folder / host
        (place / "tmp").mkdir(parents=True)
        own = {
            "RAIDBENCH_STATE_DIR": str(place / "state"),
            "TMPDIR": str(place / "tmp"),
            "PYTHONPATH": str(ROOT),
        }
        words = argv("bench", "--stream", "--go-on-stdin", "--lease", str(LEASE), *self._command)
        there = ("sh", "-c", 'cd "$0" && exec "$@"', str(place))
        return self._odd.get(host, InteractiveProcess)([*there, *ALONE, *words], environment=own)

    async def run(
        self, *hosts: str, then: Callable[[Coordinator], object] | None = None, after: float = 1.0
    ) -> JointRecord:
        """`then`: done so long after the start."""
        made = JointFolder(self.folder / "session", hosts)
        coordinator = Coordinator(self, made, hosts, timeouts=PATIENCE)
        waiting = asyncio.create_task(self._later(coordinator, then, after))
        async with asyncio.timeout(300):
            await coordinator.run()
        assert coordinator.first_start is not None or then is None, coordinator.peers
        waiting.cancel()
        record = joint_record(coordinator, made, target="./scratch", at=1.0, stagger_s=0.0, simulated=False)
        made.close()
        return record

    @staticmethod
    async def _later(coordinator: Coordinator, then: Callable[[Coordinator], object] | None, after: float) -> None:
        while coordinator.first_start is None or time.monotonic() < coordinator.first_start + after:
            await asyncio.sleep(0.05)
        if then is not None:
            then(coordinator)


class CutProgram(InteractiveProcess):
    """A host behind a link that is cut: nothing comes through it any more, either way, and nothing ends."""

    cut = False

    async def read(self) -> bytes:
        while True:
            chunk = await super().read()
            if not self.cut:
                return chunk
            if not chunk:  # not even the end comes through
                await asyncio.Event().wait()

    def say(self, line: str) -> None:
        if not self.cut:
            super().say(line)
        if line.startswith("go"):
            asyncio.get_running_loop().call_later(2.0, setattr, self, "cut", True)


def states(record: JointRecord) -> list[str]:
    return [host.state for host in record.hosts]


def gone(pids: Sequence[int], seconds: float) -> bool:
    """Whether all processes are gone in that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
async def test_hosts_are_measured_and_the_sum_is_theirs(tmp_path: Path) -> None:
    record = await Farm(tmp_path, "--runtime", "8").run("a", "b")
    assert states(record) == [IN_WINDOW, IN_WINDOW], record.hosts
    assert record.seconds > 1.5
    each = [record.figures.hosts[host].sides["read"].iops for host in ("a", "b")]
    assert record.figures.sides["read"].iops == pytest.approx(sum(each))
    for number in (1, 2):
        kept = (tmp_path / "session" / "runs" / "j1" / f"h{number}.jsonl").read_text().splitlines()
        # fio is held to 400 a second, and does fewer where the machine keeps it from its turn.
        assert 800 < sum(json.loads(line)["read"]["ios"] for line in kept) < 1.15 * 3200


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
async def test_flushes_of_hosts_arrive_and_have_columns_of_their_own(tmp_path: Path) -> None:
    job = ("--runtime", "4", "--rw", "write", "--ioengine", "psync", "--direct", "no", "--fdatasync", "1")
    record = await Farm(tmp_path, *job).run("a", "b")
    assert states(record) == [IN_WINDOW, IN_WINDOW], record.hosts
    sides = record.figures.sides
    assert sides["sync"].total_ios == pytest.approx(sides["write"].total_ios, rel=0.05, abs=20)
    assert joint_json(record)["sync"]["latency_ns"]["p50"] > 0
    titles = [column.title for column in joint_table(record).columns]
    assert titles[6:-1] == ["Flushes/s", "Flush p50", "Flush p99", "Flush p99.9"]


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
async def test_a_host_that_is_killed_is_named_and_its_fio_is_gone(tmp_path: Path) -> None:
    found: list[int] = []

    class Noting(CrashingProgram):
        def kill(self) -> None:
            found.extend(fios(tmp_path / "b"))
            super().kill()

    record = await Farm(tmp_path, "--runtime", "15", odd={"b": Noting}).run("a", "b")
    assert states(record) == [IN_WINDOW, LOST], record.hosts
    assert "killed there (signal 9)" in record.hosts[1].reason
    assert found
    assert gone(found, 60.0)


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
async def test_a_host_whose_link_is_cut_is_named_and_stops_by_its_lease(tmp_path: Path) -> None:
    pids: list[int] = []
    times: list[float] = []

    async def watch() -> None:
        while not (found := fios(tmp_path / "b")):
            await asyncio.sleep(0.05)
        pids.extend(found)
        while Path(f"/proc/{found[0]}").exists():
            await asyncio.sleep(0.05)
        times.append(time.monotonic())

    def begin(coordinator: Coordinator) -> None:
        times.append(time.monotonic())
        tasks.append(asyncio.create_task(watch()))

    tasks: list[asyncio.Task[None]] = []
    record = await Farm(tmp_path, "--runtime", "40", odd={"b": CutProgram}).run("a", "b", then=begin)
    assert states(record) == [IN_WINDOW, LOST], record.hosts
    await asyncio.wait(tasks, timeout=180)
    assert "no message for 10 s" in record.hosts[1].reason
    assert record.seconds > 25
    # Cut a second later, its lease, a second to end in; and what a busy machine takes, far from the 40 s of the run.
    assert times[1] - times[0] < 1.0 + LEASE + 1.0 + 16.0


@pytest.mark.fio
@pytest.mark.long
@needs("fio")
async def test_all_are_stopped_within_two_seconds(tmp_path: Path) -> None:
    stopped: list[float] = []
    pids: list[int] = []

    def stop(coordinator: Coordinator) -> None:
        pids.extend([*fios(tmp_path / "a"), *fios(tmp_path / "b")])
        stopped.append(time.monotonic())
        coordinator.stop()

    record = await Farm(tmp_path, "--runtime", "120").run("a", "b", then=stop, after=2.0)
    assert record.stopped
    assert len(pids) == 2
    assert gone(pids, 10.0)
    assert states(record) == [IN_WINDOW, IN_WINDOW], record.hosts
    assert time.monotonic() - stopped[0] < 20.0  # of 120; two seconds, and what a busy machine takes


@pytest.mark.long
async def test_a_host_that_says_a_million_lines_is_cut(tmp_path: Path) -> None:
    liar = partial(_liar, "import sys\nfor _ in range(10**6): print('{}\\x1b[2J')")
    record = await Farm(tmp_path, odd={"a": liar}).run("a")
    assert states(record) == [NEVER]
    assert record.hosts[0].reason == "unexpected output: not a raidbench run"


def _liar(source: str, words: Sequence[str], **more: Any) -> InteractiveProcess:
    return InteractiveProcess([sys.executable, "-c", source], **more)


async def test_a_host_without_the_program_is_told(tmp_path: Path) -> None:
    record = await Farm(tmp_path, odd={"a": partial(_liar, "import sys; sys.exit(127)")}).run("a")
    assert record.hosts[0].reason.startswith("raidbench is not installed there. Install the standalone binary with")


# -- programs that are talked with -------------------------------------------------------------------------------------


async def line_of(talk: InteractiveProcess) -> bytes:
    """Its output up to the end of a line."""
    said = b""
    while not said.endswith(b"\n"):
        said += await talk.read()
    return said


async def test_a_program_that_heeds_nothing_is_ended() -> None:
    source = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); time.sleep(600)"
    )
    async with InteractiveProcess([sys.executable, "-c", source]) as talk:
        assert await line_of(talk) == b"x\n"
        pid = talk.pid
    assert talk.returncode == -signal.SIGKILL
    assert not Path(f"/proc/{pid}").exists()


async def test_what_a_program_complains_of_is_kept_in_part() -> None:
    source = "import sys; sys.stderr.write('y' * 10**6 + '\\n' + 'x\\n' * 10**5 + 'last')"
    async with InteractiveProcess([sys.executable, "-c", source]) as talk:
        assert await talk.read() == b""
        said = await talk.complaints()
    assert said[-1] == "last"
    assert len(said) <= 21
    assert max(map(len, said)) <= 400


async def test_a_program_gets_the_words_that_are_said() -> None:
    source = "import os, sys; print(sys.stdin.readline().strip(), os.environ['MARK'], flush=True)"
    async with InteractiveProcess([sys.executable, "-c", source], environment={"MARK": "m"}) as talk:
        talk.say("ping 1")
        assert await line_of(talk) == b"ping 1 m\n"
        assert await talk.status() == 0


async def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(ToolMissingError, match="/nonexistent/ssh is not installed"):
        async with InteractiveProcess(["/nonexistent/ssh"]):
            pass
