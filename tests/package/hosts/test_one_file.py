"""The one file on old and new distributions, beside their own fio: started, looked with, set, measured, opened."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.fio.preflight import MINIMUM
from tests.backends.loops import Loop, loop, needs_loops
from tests.package.hosts import ROOTS, Root, table
from tests.package.shipped import FIO, ONE_FILE, needs_shipped, needs_static_fio
from tests.packages import needs
from tests.trial import try_trial
from tools.package.tree import ROOT, VERSION

pytestmark = [pytest.mark.package, pytest.mark.root, pytest.mark.slow, needs_shipped]
RAIDBENCH = "/in/raidbench"


@dataclass(frozen=True)
class Host:
    """A root with the one file in it; what is written in one test is there in the next."""

    root: Root
    work: Path

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return self.root.run(self.work, script)

    def note(self, column: str, outcome: str) -> None:
        table.note(self.root.title, column, outcome)


@pytest.fixture(scope="module", params=ROOTS, ids=lambda root: root.suite)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Host:
    root: Root = request.param
    if why := root.why_not():
        table.note(root.title, "first start", "not reachable")
        pytest.skip(why)
    work = tmp_path_factory.mktemp(root.suite)
    (work / "in").mkdir()
    shutil.copy(ONE_FILE, work / "in" / "raidbench")
    return Host(root, work)


def test_it_starts_at_once_and_again(host: Host) -> None:
    done = host.run(f"{RAIDBENCH} --version && {RAIDBENCH} --version && ls /var/cache/raidbench")
    assert re.fullmatch(rf"(raidbench {re.escape(VERSION)}.*\n){{2}}[0-9a-f]{{16}}\n", done.stdout), done.stderr
    host.note("first start", "yes")


def test_it_finds_the_devices_of_the_machine(host: Host) -> None:
    done = host.run(f"{RAIDBENCH} devices --json")
    assert (json.loads(done.stdout)["schema"], done.returncode) == (1, 0), done.stderr
    host.note("`devices`", "yes")


def test_doctor_says_what_is_missing_and_how_to_get_it(host: Host) -> None:
    told = host.run(f"{RAIDBENCH} doctor").stdout
    assert "fio" in told
    without = host.run(
        f"mv /usr/bin/fio /usr/bin/fio.away; {RAIDBENCH} doctor; mv /usr/bin/fio.away /usr/bin/fio"
    ).stdout
    assert "apt-get install fio" in without


def test_the_demo_is_that_of_the_checkout(host: Host, tmp_path: Path) -> None:
    argv = (sys.executable, "-m", "app", "--demo", "devices", "--json")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "RAIDBENCH_STATE_DIR": str(tmp_path), "LANG": "C.UTF-8"}
    expected = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    done = host.run(f"RAIDBENCH_STATE_DIR=/root/state {RAIDBENCH} --demo devices --json")
    assert done.stdout == expected, done.stderr
    host.note("`--demo`", "same as the checkout")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


def read_ahead(disk: Loop) -> str:
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()


@needs_loops()
def test_a_trial_reverts(host: Host, disk: Loop) -> None:
    try_trial(RAIDBENCH, disk, host.run)
    host.note("trial", "reverts")


def test_a_scratch_file_is_measured_with_the_fio_of_the_distribution(host: Host) -> None:
    version = host.run("fio --version").stdout.strip()
    done = host.run(
        f"mkdir -p /srv/x && {RAIDBENCH} bench /srv/x --profile randread-4k --size 16M --runtime 2 --ramp 0 --json"
    )
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < MINIMUM:
        assert (done.returncode, version in done.stderr, "3.18" in done.stderr) == (1, True, True), done.stderr
        host.note("scratch run", f"{version}: too old, and reported")
        return
    run = json.loads(done.stdout)["run"]
    assert (run["status"], run["read"]["total_ios"] > 0) == ("ok", True), done.stderr
    host.note("scratch run", version)


@needs_static_fio
def test_a_scratch_file_is_measured_with_the_static_fio(host: Host) -> None:
    assert FIO is not None
    shutil.copy(FIO, host.work / "in" / "fio.tar.gz")
    done = host.run(
        "mkdir -p /srv/y && tar -xzf /in/fio.tar.gz -C /srv/y --strip-components 1 --wildcards '*/fio'"
        " && mkdir -p /usr/local/bin && mv /srv/y/fio /usr/local/bin && PATH=/usr/local/bin:$PATH"
        f" {RAIDBENCH} bench /srv/y --profile randread-4k --size 16M --runtime 2 --ramp 0 --json;"
        " rm /usr/local/bin/fio"
    )
    run = json.loads(done.stdout)["run"]
    assert (run["status"], run["read"]["total_ios"] > 0) == ("ok", True), done.stderr
    host.note("with the static fio", f"fio-{FIO.name.split('-')[1]}")


def wait_for(screen: Callable[[], str], words: str) -> str:
    end = time.monotonic() + 120
    while words not in (seen := screen()):
        assert time.monotonic() < end, seen
        time.sleep(0.2)
    return seen


@needs("tmux")
def test_the_workbench_opens_and_helps(host: Host, tmp_path: Path) -> None:
    words = host.root.inside(host.work, f"exec {RAIDBENCH} --demo")
    tmux = ("tmux", "-f", "/dev/null", "-S", str(tmp_path / "socket"))

    def screen() -> str:
        return subprocess.run((*tmux, "capture-pane", "-p"), capture_output=True, text=True).stdout

    subprocess.run((*tmux, "new-session", "-d", "-x", "80", "-y", "24", *words), check=True)
    try:
        wait_for(screen, "SIMULATED")
        subprocess.run((*tmux, "send-keys", "?"), check=True)
        wait_for(screen, "Keys")
    finally:
        subprocess.run((*tmux, "kill-server"), check=False)
    host.note("workbench", "opens")
