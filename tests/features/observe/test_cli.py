"""The command `observe` on the simulated rack, on this machine, and in a session."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.features.observe.observer import Observer
from backends.errors import StorageError
from tests.cli.conftest import Cli, argv
from tests.packages import needs

LINUX = ("--demo", "linux", "observe")


@pytest.fixture(autouse=True)
def hurried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every observation a tenth as long as asked for, except those of real groups."""
    if "groups" in request.fixturenames:
        return
    run = Observer.run
    monkeypatch.setattr(Observer, "run", lambda self, seconds, stopped: run(self, seconds / 10, stopped))


def test_an_array_of_the_rack_is_idle_and_who_waits_is_not_known(cli: Cli) -> None:
    done = cli(*LINUX, "md:md0", "--for", "3s")
    assert done.status == 0
    assert done.out.startswith("md0, 0 s: no I/O.\nWho waits: services not known: cgroup v2 is not mounted.")
    assert (
        "Next: no advice, because it is not known whether processes wait: the kernel has no /proc/pressure" in done.out
    )


def test_the_observation_is_in_the_log_and_in_the_report(cli: Cli) -> None:
    cli(*LINUX, "md0", "--for", "2")
    for words in (("log",), ("report",)):
        told = " ".join(cli("--demo", "linux", *words).out.split())
        assert "Observed by the kernel's counters:" in told
        assert "md0, 0 s: no I/O." in told


def test_json_has_null_for_what_is_not_known(cli: Cli) -> None:
    body = cli(*LINUX, "--for", "2", "--json").json
    assert (body["waiting"]["share"], body["waiting"]["units"], body["next"]) == (None, None, "unknown")
    assert "CONFIG_PSI" in body["waiting"]["reason"]
    assert body["target"]["read_iops"] == 0
    assert len(body["sentences"]) == 3


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("tank/files",), 2, "zfs:tank/files has no block device"),
        (("sdzz",), 2, "does not exist"),
        (("md0", "--for", "0s"), 2, "The time must be 1 second to 7 days."),
        (("md0", "--for", "soon"), 2, "Write 60, 60s, 5m or 2h."),
    ],
)
def test_what_cannot_be_observed_is_a_sentence(cli: Cli, words: tuple[str, ...], status: int, said: str) -> None:
    done = cli(*LINUX, *words)
    assert (done.status, said in done.err) == (status, True)


@pytest.mark.feature("fleet")
def test_many_hosts_print_the_sentences(cli: Cli) -> None:
    body = cli(*LINUX, "md0", "--for", "1", "--json", "--with-text", "0").json
    assert body["text"].startswith("md0, 0 s: no I/O.\nWho waits: ")


def test_a_recording_is_refused(cli: Cli, machine: str) -> None:
    done = cli("--machine", machine, "observe", "sda")
    assert (done.status, "A recorded machine cannot be observed" in done.err) == (3, True)


def test_a_full_disk_does_not_cost_the_observation(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise StorageError("No space left on device.")

    monkeypatch.setattr("app.features.observe.cli.open_session", full)
    done = cli(*LINUX, "md0", "--for", "1")
    assert (done.status, "md0, 0 s: no I/O." in done.out) == (0, True)
    assert "The observation is not recorded: No space left on device." in done.err


def test_ctrl_c_ends_it_early_with_the_result_so_far() -> None:
    words = argv("--demo", "linux", "observe", "md0", "--for", "1h")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        while "Ctrl-C ends it early" not in program.stderr.readline():
            assert program.poll() is None
        program.send_signal(signal.SIGINT)
        out, _ = program.communicate(timeout=60)
    assert (program.returncode, "md0, " in out, "Next: " in out) == (130, True, True)


GROUPS = Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")


@pytest.fixture
def groups() -> Iterator[tuple[Path, Path]]:
    """Two groups of cgroup v2 of this machine, as services."""
    root = next(
        (path for path in GROUPS if (path / "cgroup.procs").exists() and (path / "cgroup.controllers").exists()), None
    )
    if root is None or os.geteuid() or not Path("/proc/pressure/io").exists() or (root / "cgroup.type").exists():
        pytest.skip("Needs root, cgroup v2 and PSI: boot with psi=1, outside of a container.")
    folder = root / f"raidbench-{os.getpid()}"
    both = folder / "flusher.service", folder / "reader.service"
    try:
        for path in both:
            path.mkdir(parents=True)
        yield both
    finally:
        for path in (*both, folder):
            if path.exists():
                path.rmdir()


FLUSH = """
import os, sys
open(sys.argv[1] + "/cgroup.procs", "w").write("0")
file = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
os.fork(), os.fork()
print(flush=True)
while True:
    os.pwrite(file, b"x" * 4096, 0)
    os.fdatasync(file)
"""


def waited(group: Path) -> int:
    return int((group / "io.pressure").read_text().split("total=")[1].split()[0])


def wait_until_empty(group: Path) -> None:
    """Wait until all processes of a group have ended, so that it can be removed."""
    while (group / "cgroup.procs").read_text():
        time.sleep(0.01)


@pytest.mark.long
def test_of_two_real_groups_the_one_that_flushes_is_named(cli: Cli, groups: tuple[Path, Path], tmp_path: Path) -> None:
    """Its share is within 5 points of its own io.pressure; a disk without waits names nobody."""
    words = ["python3", "-c", FLUSH, str(groups[0]), str(tmp_path / "flushed")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as flusher:
        try:
            assert flusher.stdout is not None
            flusher.stdout.readline()
            before, begin = waited(groups[0]), time.monotonic()
            body = cli("observe", "--for", "4", "--json").json
            share = (waited(groups[0]) - before) / 1e6 / (time.monotonic() - begin)
        finally:
            os.killpg(flusher.pid, signal.SIGKILL)
            flusher.wait()
            wait_until_empty(groups[0])
    units = body["waiting"]["units"]
    if share < 0.02:
        pytest.skip(f"This disk flushes too fast: the group waited {share:.1%} of the time.")
    assert units == {"flusher.service": pytest.approx(share, abs=0.05)} | {
        name: waits for name, waits in units.items() if name not in ("flusher.service", "reader.service")
    }


CONTAINER = """
echo 0 > "$1/cgroup.procs" && exec unshare --cgroup --mount --propagation private sh -c '
    umount "$1" && mount -t cgroup2 none "$1" && shift && exec "$@"
' sh "${1%/raidbench-*}" "${@:2}"
"""
"""Runs a program in a group, which is the root of all groups that it sees."""


@pytest.mark.long
@needs("unshare", "bash")
def test_in_a_container_the_services_are_not_known(groups: tuple[Path, Path]) -> None:
    words = ["bash", "-c", CONTAINER, "bash", str(groups[1]), *argv("observe", "--for", "1", "--json")]
    done = subprocess.run(words, capture_output=True, text=True)
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"This machine makes no container: {done.stderr}")
    wait_until_empty(groups[1])
    waiting = json.loads(done.stdout)["waiting"]
    assert (waiting["units"], waiting["share"] is None) == (None, False)
    assert waiting["units_reason"] == "raidbench runs in a container, which shows only its own groups"
