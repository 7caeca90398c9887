"""`bench --hosts` through a real ssh to a real sshd on 127.0.0.1: hosts that answer, and hosts that do not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import sshd
from tests.cli.conftest import ROOT, Outcome, program
from tests.packages import needs

pytestmark = [
    pytest.mark.fio,
    pytest.mark.long,
    needs("fio"),
    pytest.mark.skipif(bool(sshd.lacking()), reason=sshd.lacking() or "there is an sshd"),
]

_RAIDBENCH = f"""\
#!/bin/sh
mkdir -p "$FARM/$$" && cd "$FARM/$$"
export RAIDBENCH_STATE_DIR="$FARM/$$/state" PYTHONPATH={ROOT}
exec {sys.executable} -c 'import os, sys; from tests.apart import alone; alone()
os.execv(sys.executable, [sys.executable, "-m", "app", *sys.argv[1:]])' "$@"
"""
"""The program there: it shares no lock and no folder with another, as on machines of their own."""

_SSH = '#!/bin/sh\nexec /usr/bin/ssh -F "{folder}/config" "$@"\n'

_CONFIG = """\
Host n1 n2 unknown
  HostName 127.0.0.1
  Port {port}
  User root
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
Host unknown
  HostKeyAlias nobody-knows-it
Host refusing
  HostName 127.0.0.1
  Port 1
"""


def executable(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Outcome, Path]]:
    """One run on two hosts that answer and two that do not, and the folder of all of them."""
    folder = tmp_path_factory.mktemp("ssh")
    (folder / "farm").mkdir()
    executable(folder / "there" / "raidbench", _RAIDBENCH)
    executable(folder / "here" / "ssh", _SSH.format(folder=folder))
    more = f"SetEnv PATH={folder}/there:{os.environ['PATH']} FARM={folder}/farm\n"
    with sshd.server(folder, more=lambda _ports: more) as server:
        (folder / "config").write_text(_CONFIG.format(port=server.port, folder=folder))
        job = ("--size", "8M", "--ramp", "0", "--runtime", "3", "--rate-iops", "400")
        env = {"PATH": f"{folder}/here:{os.environ['PATH']}", "RAIDBENCH_STATE_DIR": str(folder / "state")}
        yield program("bench", "./scratch", *job, "--hosts", "n[1-2],unknown,refusing", "--json", env=env), folder


def hosts(outcome: Outcome) -> dict[str, Any]:
    return {host["host"]: host for host in outcome.json["joint"]["hosts"]}


def test_who_answers_is_measured_and_the_sum_says_of_how_many_it_is(measured: tuple[Outcome, Path]) -> None:
    outcome, _ = measured
    joint = outcome.json["joint"]
    assert outcome.status == 6, outcome.err
    assert (joint["window"]["hosts"], joint["window"]["of"]) == (2, 4)
    assert joint["read"]["iops"] == pytest.approx(800, rel=0.2)
    assert {name: host["state"] for name, host in hosts(outcome).items()} == {
        "n1": "in the window",
        "n2": "in the window",
        "refusing": "never measured",
        "unknown": "never measured",
    }


def test_a_key_that_is_not_known_is_never_accepted(measured: tuple[Outcome, Path]) -> None:
    outcome, folder = measured
    assert "the SSH host key is unknown" in hosts(outcome)["unknown"]["reason"]
    assert "nobody-knows-it" not in (folder / "known").read_text()


def test_who_is_out_of_reach_is_told_in_the_words_of_ssh(measured: tuple[Outcome, Path]) -> None:
    assert "host unreachable: ssh: connect to host 127.0.0.1 port 1" in hosts(measured[0])["refusing"]["reason"]


def test_two_names_of_one_machine_are_told(measured: tuple[Outcome, Path]) -> None:
    assert "run on the same kernel. Shared disks and CPUs count twice." in measured[0].err


def test_no_scratch_file_is_left_on_any_host(measured: tuple[Outcome, Path]) -> None:
    places = list((measured[1] / "farm").iterdir())
    assert len(places) == 2
    assert [place for place in places if (place / "scratch").exists()] == []
