"""`sudo raidbench`: a helper stays root, everything else goes on as the user who called it."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from contextlib import ExitStack
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from backends.device_label import DeviceLabel, confirm_token
from tests.backends.loops import Loop, loop, needs_loops, wait_for
from tests.packages import needs
from tests.privsep.helping import NOBODY, needs_python, needs_root, running

pytestmark = [needs_root, needs_loops(), needs("fio", "setpriv"), needs_python]


@pytest.fixture
def device(place: Path, stack: ExitStack) -> Loop:
    return stack.enter_context(loop(place / "disk"))


def sudo(
    program: tuple[str, ...], place: Path, *words: str, started: str = "/usr/bin/raidbench"
) -> subprocess.CompletedProcess[str]:
    """As sudo starts it, or the shell that it `started`."""
    environment = surroundings(place, started)
    return subprocess.run(
        [*program, *words], env=environment, capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL
    )


def surroundings(place: Path, started: str = "/usr/bin/raidbench") -> dict[str, str]:
    """The environment that sudo gives what it `started`."""
    said_by_sudo = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_COMMAND": started}
    return {"PATH": os.environ["PATH"], "RAIDBENCH_STATE_DIR": str(place), "LANG": "C.UTF-8", **said_by_sudo}


def owners(folder: Path) -> set[int]:
    return {path.lstat().st_uid for path in folder.rglob("*")}


@pytest.mark.long
def test_a_setting_is_changed_and_the_session_belongs_to_the_user(
    program: tuple[str, ...], place: Path, device: Loop
) -> None:
    done = sudo(program, place, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes")

    assert "verified" in done.stdout, done.stderr
    assert Path(f"/sys/block/{device.name}/queue/read_ahead_kb").read_text().strip() == "512"
    assert owners(place / "sessions") == {NOBODY}
    assert owners(place / "journal") == {0}
    assert not (place / "locks").exists()  # root's lie where all of root's do


def test_a_device_is_written_by_fio_of_the_user(program: tuple[str, ...], place: Path, device: Loop) -> None:
    job = ("--rw", "randwrite", "--size", "16m", "--runtime", "1", "--ramp", "0")
    done = sudo(program, place, "bench", device.sure(), *job, "--confirm", device.name)

    assert done.returncode == 0, done.stderr
    assert any(device.backing.read_bytes())
    assert owners(place / "sessions") == {NOBODY}


@pytest.mark.long
def test_several_devices_are_written_by_one_fio_of_the_user(
    program: tuple[str, ...], place: Path, device: Loop, stack: ExitStack
) -> None:
    other = stack.enter_context(loop(place / "other"))
    job = ("--rw", "randwrite", "--size", "16m", "--runtime", "1", "--ramp", "0")
    words = confirm_token(DeviceLabel(name=name, description="", token=name) for name in (device.name, other.name))
    done = sudo(program, place, "bench", device.sure(), other.sure(), *job, "--confirm", words)

    assert done.returncode == 0, done.stderr
    assert (any(device.backing.read_bytes()), any(other.backing.read_bytes())) == (True, True)


@pytest.mark.long
def test_the_doctor_tells_that_a_helper_does_it(program: tuple[str, ...], place: Path) -> None:
    told = sudo(program, place, "doctor").stdout
    assert "only the root helper runs as root" in told
    assert re.search("^ok +trials +available: the watchdog can be started", told, re.MULTILINE)


@pytest.mark.long
def test_an_installation_of_the_users_own_is_not_run_as_root(
    program: tuple[str, ...], place: Path, device: Loop
) -> None:
    os.chown(place / "installed" / "lib", NOBODY, NOBODY)

    done = sudo(program, place, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes")

    assert done.returncode != 0
    assert "is not owned by root" in done.stderr
    assert "Install raidbench for all users" in done.stderr


@pytest.mark.long
def test_screens_that_are_killed_take_the_helper_with_them(program: tuple[str, ...], place: Path) -> None:
    environment = surroundings(place) | {"TERM": "xterm-256color"}
    ours, theirs = pty.openpty()
    screens = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd="/")
    os.close(theirs)
    try:
        drawn = b""
        while b"scanning hardware" not in drawn or b"Quit" not in drawn:
            assert select.select([ours], [], [], 60)[0], drawn[-200:]
            drawn += os.read(ours, 65536)
        (helper,) = [
            one for one in psutil.Process(screens.pid).children(recursive=True) if "app.privsep" in one.cmdline()
        ]
        screens.kill()
        wait_for(lambda: not running(helper.pid), 120.0)
    finally:
        screens.kill()
        screens.wait()
        os.close(ours)


@pytest.mark.long
@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh -c raidbench doctor", "/usr/bin/su -"])
def test_in_a_shell_that_sudo_started_raidbench_is_root(program: tuple[str, ...], place: Path, shell: str) -> None:
    done = sudo(program, place, "doctor", started=shell)
    assert "raidbench runs as root; a normal user needs only the root helper" in done.stdout
