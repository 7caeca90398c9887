"""Twenty hosts behind links of their own, some of which are cut: all in network namespaces that this test makes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests import sshd
from tests.cli.conftest import ROOT, Outcome, argv
from tests.packages import absence

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

HOSTS = tuple(f"h{number}" for number in range(1, 21))
ALL = "h[1-20]"
DOCUMENT = json.dumps({"schema": 1, "findings": [], "text": "all is well"})

RAIDBENCH = """\
#!/bin/sh
case "$*" in
*--go-on-stdin*) exec {python} -I -S {speaker} {host} ;;
esac
if [ -e {place}/slow ]; then touch {place}/asked; sleep 90; fi
echo '{document}'
"""

SPEAKER = """\
import json, os, select, sys, time

host, place = sys.argv[1], os.path.dirname(os.path.abspath(__file__))

def tell(kind, **more):
    print(json.dumps({"kind": kind, **more}), flush=True)

tell("hello", protocol=1, host=host, boot=host, version="0")
tell("ready", host=host, target="sda", job={}, seconds=8, fio="3.33")
at, ticks = None, 0
while ticks < 40:
    if select.select([0], [], [], 0.02)[0]:
        words = os.read(0, 65536)
        if not words:
            sys.exit(1)
        for word in words.decode().splitlines():
            if word.startswith("ping "):
                tell("pong", id=word[5:], mono=time.monotonic(), wall=time.time())
            elif word.startswith("go "):
                at = float(word[3:])
    if at is not None and time.time() >= at + (ticks + 1) * 0.2:
        ticks += 1
        side = {"ios": 100, "bytes": 409600, "bins": [[100, 100]]}
        tell("tick", mono=time.monotonic(), seconds=0.2, phase="measuring", read=side)
        open(f"{place}/{host}.ticks", "w").close()
tell("result", run={"id": "r1", "status": "ok", "session": "/s"})
tell("end", why="done", message="")
"""
"""A run as it speaks, without a load: an interval every fifth of a second, eight seconds long."""


@dataclass(frozen=True)
class Net:
    """The hosts, and the namespace in which whoever asks them is."""

    folder: Path
    name: str

    def link(self, host: str, state: str) -> None:
        """Bring a host's link up or down, on our side: no word of it reaches either end."""
        subprocess.run(("ip", "-n", self.name, "link", "set", f"to-{host}", state), check=True)

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        """The command line, as a program among the hosts."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "RAIDBENCH_STATE_DIR": str(self.folder / "state"),
        }
        return subprocess.Popen(
            ("ip", "netns", "exec", self.name, *argv(*words)),
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def ended(process: subprocess.Popen[bytes]) -> Outcome:
    out, err = process.communicate(timeout=240)
    return Outcome(process.returncode, out.decode(), err.decode())


def until(file: Path) -> None:
    end = time.monotonic() + 120
    while not file.exists():
        assert time.monotonic() < end, f"{file.name} never came"
        time.sleep(0.05)


def ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True)


def remove(name: str) -> None:
    """A namespace of ours, and whatever still runs in it."""
    pids = subprocess.run(("ip", "netns", "pids", name), capture_output=True, text=True).stdout.split()
    for pid in map(int, pids):
        with contextlib.suppress(ProcessLookupError):  # it ended with the one before it
            os.kill(pid, signal.SIGKILL)
    ip("netns", "del", name)


def _configured(setting: str, ports: tuple[int, ...]) -> str:
    return setting


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Net]:
    if why := sshd.get() or sshd.lacking() or absence("ip"):
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("net")
    (folder / "speaker.py").write_text(SPEAKER)
    ours = f"rb{os.getpid()}"
    if subprocess.run(("ip", "netns", "add", ours), capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")
    rows = []
    with ExitStack() as stack:
        stack.callback(remove, ours)
        ip("-n", ours, "link", "set", "lo", "up")
        ip("-n", ours, "link", "add", "bridge0", "type", "bridge")
        ip("-n", ours, "address", "add", "10.87.0.254/24", "dev", "bridge0")
        ip("-n", ours, "link", "set", "bridge0", "up")
        for number, host in enumerate(HOSTS, 1):
            theirs, address, place = f"{ours}-{host}", f"10.87.0.{number}", folder / "hosts" / host
            (place / "server").mkdir(parents=True)
            (place / "raidbench").write_text(
                RAIDBENCH.format(
                    python=sys.executable, speaker=folder / "speaker.py", host=host, place=place, document=DOCUMENT
                )
            )
            (place / "raidbench").chmod(0o755)
            ip("netns", "add", theirs)
            stack.callback(remove, theirs)
            link = ("link", "add", f"to-{host}", "netns", ours, "type", "veth", "peer", "name", "eth0", "netns", theirs)
            ip(*link)
            ip("-n", ours, "link", "set", f"to-{host}", "master", "bridge0", "up")
            ip("-n", theirs, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", theirs, "link", "set", "eth0", "up")
            setting = f"SetEnv PATH={place}:/usr/bin:/bin HOME={place}\n"
            server = stack.enter_context(
                sshd.server(place / "server", more=partial(_configured, setting), netns=theirs, address=address)
            )
            with (folder / "known").open("a") as known:
                known.write(server.known)
            rows.append(
                f"Host {host}\n  HostName {address}\n  Port {server.port}\n  IdentityFile {server.folder / 'key'}\n"
            )
        rows.append(f"Host *\n  User root\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known\n")
        (folder / "config").write_text("".join(rows))
        (folder / "bin").mkdir()
        (folder / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/config "$@"\n')
        (folder / "bin" / "ssh").chmod(0o755)
        yield Net(folder, ours)


def test_who_is_cut_off_before_or_while_it_is_asked_is_told_and_the_others_answer(net: Net) -> None:
    place = net.folder / "hosts" / "h7"
    (place / "slow").touch()
    net.link("h3", "down")
    asking = net.begin("check", "--hosts", ALL, "--host-timeout", "30", "--json")
    until(place / "asked")
    net.link("h7", "down")
    told = ended(asking)
    for host in ("h3", "h7"):
        net.link(host, "up")
    (place / "slow").unlink()
    assert {one["host"]: one["cause"] for one in told.json["missing"]} == {"h3": "unreachable", "h7": "timed-out"}
    assert (told.status, told.json["counts"]) == (6, {"asked": 20, "answered": 18, "missing": 2})
    assert [one["hosts"] for one in told.json["answers"]] == ["h[1-2,4-6,8-20]"]


def test_of_twenty_that_measure_together_those_cut_off_are_named_and_the_sum_is_of_the_others(
    net: Net,
) -> None:
    net.link("h3", "down")
    measuring = net.begin("bench", "sda", "--hosts", ALL, "--json")
    until(net.folder / "h7.ticks")
    net.link("h7", "down")
    told = ended(measuring)
    for host in ("h3", "h7"):
        net.link(host, "up")
    joint = told.json["joint"]
    assert {one["host"]: one["state"] for one in joint["hosts"] if one["state"] != "in the window"} == {
        "h3": "never measured",
        "h7": "lost",
    }, told.err
    assert "no message for 10 s" in joint["hosts"][6]["reason"]
    assert (told.status, joint["window"]["hosts"], joint["window"]["of"]) == (6, 18, 20)
    assert joint["read"]["iops"] == pytest.approx(18 * 500, rel=0.1)
