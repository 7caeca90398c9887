"""The one file, whole as it was built, copied to a host of a real sshd and asked there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sshd
from tests.cli.conftest import Outcome
from tests.package.shipped import ONE_FILE, needs_shipped

pytestmark = [pytest.mark.package, pytest.mark.slow]
PLACES = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where no raidbench is."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Path]:
    """The home of a user there, who is called `node` here; ssh is one that knows of nobody else."""
    if why := sshd.get() or sshd.lacking():
        pytest.skip(why)
    for name in ("server", "home", "bin"):
        (tmp_path / name).mkdir()

    def alone(ports: tuple[int, ...]) -> str:
        return f"Match LocalPort {ports[0]}\n  SetEnv PATH={PLACES} HOME={tmp_path / 'home'}\n"

    with sshd.server(tmp_path / "server", more=alone) as server:
        (tmp_path / "config").write_text(
            f"Host node\n  HostName 127.0.0.1\n  Port {server.port}\n  User root\n  IdentityFile {server.folder}/key\n"
            f"  UserKnownHostsFile {server.folder}/known\n  GlobalKnownHostsFile none\n"
        )
        (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {tmp_path}/config "$@"\n')
        (tmp_path / "bin" / "ssh").chmod(0o755)
        yield tmp_path / "home"


def run(folder: Path, *words: str) -> Outcome:
    """The one file here."""
    env = {
        "PATH": f"{folder / 'bin'}:{PLACES}",
        "HOME": str(folder / "here"),
        "LANG": "C.UTF-8",
        "RAIDBENCH_STATE_DIR": str(folder / "state"),
        "RAIDBENCH_UNPACK_DIR": str(folder / "unpacked"),
    }
    done = subprocess.run((str(ONE_FILE), *words), env=env, cwd="/", capture_output=True, text=True)
    return Outcome(done.returncode, done.stdout, done.stderr)


@needs_shipped
def test_it_copies_itself_to_a_host_and_tells_its_devices(tmp_path: Path, host: Path) -> None:
    words = ("hosts", "prepare", "node", "--yes", "--json")
    first, again = run(tmp_path, *words), run(tmp_path, *words)
    assert [told.json["hosts"][0]["copy"] for told in (first, again)] == ["copied", "same"], first.err
    (copy,) = (host / ".local" / "lib" / "raidbench").iterdir()
    assert (copy.read_bytes() == ONE_FILE.read_bytes(), os.access(copy, os.X_OK)) == (True, True)
    there = run(tmp_path, "devices", "--hosts", "node", "--json")
    here = run(tmp_path, "devices", "--json")
    (answer,) = there.json["answers"]
    told, own = (
        [drive["address"] for drive in document["drives"] if not drive["address"].startswith("block:loop")]
        for document in (answer["document"], here.json)  # loops come and go on a machine that others work on, too
    )
    assert (there.status, answer["hosts"], told) == (0, "node", own)
