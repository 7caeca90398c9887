"""The command `observe` as a user without privileges, who cannot read the pressure of all groups."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages import needs
from tests.privsep.helping import AS_NOBODY, install, needs_python, needs_root, shared_folder

pytestmark = [needs_root, needs("setpriv"), needs_python, pytest.mark.long]

GROUPS_IN = """
import sys
from backends.system.local import LocalHost
read, table = LocalHost.read, "30 22 0:26 / " + sys.argv[1] + " rw - cgroup2 cgroup2 rw"
async def elsewhere(self, path):
    return table if path == "/proc/self/mountinfo" else await read(self, path)
LocalHost.read = elsewhere
from app.__main__ import main
sys.argv[:] = ["raidbench", *sys.argv[2:]]
sys.exit(main())
"""
"""The program on a machine whose cgroup v2 is mounted at a folder."""

NO_PSI = not Path("/proc/pressure/io").exists()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder where root and the user keep things, each their own."""
    with shared_folder() as folder:
        yield folder


def group(place: Path, name: str, mode: int) -> None:
    """A group of root's that has not waited."""
    folder = place / "groups" / "system.slice" / name
    folder.mkdir(parents=True)
    for path in (folder.parent / "io.pressure", folder / "io.pressure"):
        path.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
        path.chmod(mode)


def observed(place: Path, *words: str) -> tuple[dict[str, object], str]:
    """What the command says to the user: the waits of its JSON, and the sentence about them."""
    program = (str(install(place)), "-I", "-c", GROUPS_IN, str(place / "groups"), "observe", "--for", "2", "--json")
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "RAIDBENCH_STATE_DIR": str(place / "state")}
    done = subprocess.run([*AS_NOBODY, *program, *words], capture_output=True, text=True, cwd="/", env=environment)
    if "No module named" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("needs a checkout that every user may read")
    assert (done.returncode, done.stderr.count("Observing")) == (0, 1), done.stderr
    body = json.loads(done.stdout)
    return body["waiting"], next(line for line in body["sentences"] if line.startswith("Who waits"))


@pytest.mark.parametrize("has_open", [True, False])
def test_a_user_sees_the_share_of_all_processes_and_which_groups_are_not_known(place: Path, has_open: bool) -> None:
    group(place, "closed.service", 0o600)
    group(place, "other.service", 0o644 if has_open else 0o000)
    waiting, sentence = observed(place)
    assert (waiting["share"] is None) == NO_PSI
    if has_open:
        assert (waiting["units"], waiting["units_reason"]) == ({}, "this user cannot read io.pressure of 1 group")
        assert "no service for 1 % of the time or longer (others not known: this user cannot" in sentence
    else:
        assert waiting["units"] is None
        assert "services not known: this user cannot read io.pressure of 3 groups." in sentence
