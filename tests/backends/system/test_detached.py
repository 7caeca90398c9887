"""What is to outlive a logout runs as a unit of systemd, where that is the init."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.changes.trial import rehearse
from app.core.session.paths import Paths
from backends.system.local import detached, start_detached
from backends.system.local.detached import STAY
from tests.packages import needs
from tests.privsep.helping import needs_root

ROOT = Path(__file__).parents[3]

pytestmark = [needs_root, needs("setsid", "unshare")]

RUNS = """\
#!/bin/sh
echo "$*" >>"$(dirname "$0")/said"
while [ "$1" != -- ]; do
    case $1 in
        --property=StandardInput=file:*) from=${1#*file:} ;;
        --property=StandardOutput=file:*) to=${1#*file:} ;;
    esac
    shift
done
shift
setsid "$@" <"$from" >"$to" &
"""
"""A systemd-run: what it starts is no child of whoever asked."""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What systemd-run was told on a machine that systemd booted."""
    folder = tmp_path / "bin"
    folder.mkdir(mode=0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(detached, "BOOTED", str(folder))
    monkeypatch.setattr(detached, "_sees_what_init_sees", lambda: True)
    systemd_run(folder, RUNS)
    return folder / "said"


def systemd_run(folder: Path, text: str) -> None:
    (folder / "systemd-run").write_text(text)
    (folder / "systemd-run").chmod(0o755)


async def rehearsed(folder: Path) -> None:
    """The real watchdog with nothing on trial."""
    await asyncio.wait_for(rehearse(Paths.at(folder)), timeout=120)


async def test_the_watchdog_of_root_is_a_unit_of_its_own(said: Path, tmp_path: Path) -> None:
    await rehearsed(tmp_path)
    (words,) = said.read_text().splitlines()
    assert words.startswith("--quiet --service-type=exec --unit=raidbench-trial-")
    assert f"-- {sys.executable} -I -m app.core.changes.watchdog --stay" in words


async def test_where_systemd_does_not_start_it_the_watchdog_is_a_process_all_the_same(
    said: Path, tmp_path: Path
) -> None:
    systemd_run(said.parent, '#!/bin/sh\necho no >"$(dirname "$0")/said"\nexit 1\n')
    await rehearsed(tmp_path)
    assert said.read_text() == "no\n"


async def test_a_systemd_run_that_cannot_be_run_is_made_up_for(said: Path, tmp_path: Path) -> None:
    systemd_run(said.parent, "no program\n")
    await rehearsed(tmp_path)


async def test_a_unit_that_ends_at_once_is_made_up_for(said: Path, tmp_path: Path) -> None:
    systemd_run(said.parent, RUNS.replace('setsid "$@"', "true"))
    await rehearsed(tmp_path)
    assert said.exists()


async def test_where_systemd_is_not_the_init_it_is_not_asked(
    said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached, "BOOTED", "/no/such/folder")
    await rehearsed(tmp_path)
    assert not said.exists()


@pytest.mark.parametrize(("before", "sees"), [((), "True"), (("unshare", "--mount"), "False")])
def test_among_mounts_of_its_own_systemd_would_not_see_what_is_seen_here(before: tuple[str, ...], sees: str) -> None:
    code = "from backends.system.local.detached import _sees_what_init_sees; print(_sees_what_init_sees())"
    machine = ("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", '"$@"; exit', "sh")
    able = subprocess.run([*machine, "true"], capture_output=True, text=True)
    if able.returncode:
        pytest.skip(f"no namespaces of our own: {able.stderr.strip()}")
    done = subprocess.run([*machine, *before, sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == f"{sees}\n", done.stderr


# -- what is said beside the answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("errors", [True, False])
async def test_the_last_words_of_one_that_crashed_are_told_to_whoever_wants_them(errors: bool) -> None:
    said = await start_detached("app.core.changes.watchdog", "no order\n", 60, errors=errors)
    assert said.partition(":")[0] == ("json.decoder.JSONDecodeError" if errors else "")


ANSWER = """
import os, sys, time
sys.argv = ["x", *{words!r}]
from backends.system.local.detached import stop_talking
print("answer", flush=True)
print("noise", file=sys.stderr, flush=True)
stop_talking()
print(os.readlink("/proc/self/fd/1"), os.readlink("/proc/self/fd/2"), file=open({place!r}, "w"))
"""


@pytest.mark.parametrize(("words", "kept"), [([], False), ([STAY], True)], ids=["a process", "a unit of systemd"])
def test_one_that_has_answered_talks_to_nobody_but_the_log_of_its_unit(
    tmp_path: Path, words: list[str], kept: bool
) -> None:
    code = ANSWER.format(words=words, place=str(tmp_path / "left"))
    done = subprocess.run((sys.executable, "-c", code), cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("answer\n", "noise\n")
    out, err = (tmp_path / "left").read_text().split()
    assert (out, err.startswith("pipe:")) == ("/dev/null", kept)
