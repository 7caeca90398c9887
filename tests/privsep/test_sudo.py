"""The real sudo, with rules of our own: they are laid over the machine's for the programs of one test only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from app.core.session.journal import Journal
from tests.backends.loops import Loop, ext4, loop, mounted, needs_loops, wait_for
from tests.packages import needs
from tests.privsep.helping import AS_NOBODY, NOBODY, UNDER, needs_python, needs_root, running

pytestmark = [needs_root, needs_loops(), needs("fio", "sudo", "setpriv", "unshare"), needs_python]

HELPER = "nobody ALL=(root) NOPASSWD: {python} -I -m app.privsep"
ANYTHING = "nobody ALL=(root) NOPASSWD: ALL"
WITH_A_PASSWORD = "nobody ALL=(root) {python} -I -m app.privsep"

Nobody = Callable[..., subprocess.CompletedProcess[str]]
Begun = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def device(place: Path, stack: ExitStack) -> Loop:
    return stack.enter_context(loop(place / "disk"))


@pytest.fixture
def begun(program: tuple[str, ...], place: Path) -> Begun:
    """Starts raidbench, or a command before it, as a user for whom sudo has a rule."""

    def start(rule: str, *words: str, before: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        rules = place / "sudoers"
        rules.write_text(f'Defaults use_pty, env_keep += "RAIDBENCH_STATE_DIR"\n{rule.format(python=program[0])}\n')
        rules.chmod(0o440)
        return subprocess.Popen(
            [*UNDER, str(rules), *AS_NOBODY, *before, *program, *words],
            env={"PATH": os.environ["PATH"], "RAIDBENCH_STATE_DIR": str(place), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
        )

    return start


@pytest.fixture
def nobody(begun: Begun) -> Nobody:
    """The same, until it has ended."""

    def run(rule: str, *words: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        process = begun(rule, *words, before=before)
        out, err = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, out.decode(), err.decode())

    return run


def holds(pid: int, device: str) -> bool:
    """Whether a process has the device open, under whatever name."""
    number = os.stat(device).st_rdev
    found = False
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):
            found = found or link.stat().st_rdev == number
    return found


def read_ahead(device: Loop) -> str:
    return Path(f"/sys/block/{device.name}/queue/read_ahead_kb").read_text().strip()


@pytest.mark.long
def test_a_user_with_a_rule_for_the_helper_sets_and_takes_back(nobody: Nobody, device: Loop) -> None:
    before = read_ahead(device)

    done = nobody(HELPER, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes")
    there = read_ahead(device)
    undone = nobody(HELPER, "undo", "--yes")

    assert (there, read_ahead(device)) == ("512", before), done.stderr + undone.stderr


@pytest.mark.long
def test_a_value_that_a_user_with_a_rule_for_the_helper_puts_on_trial_reverts(
    nobody: Nobody, device: Loop, place: Path
) -> None:
    before = read_ahead(device)

    done = nobody(HELPER, "set", f"block:{device.name}", "read_ahead_kb=512", "--trial", "10", "--yes")
    there = read_ahead(device)
    wait_for(lambda: not Journal(place / "journal").trials())

    assert (there, read_ahead(device)) == ("512", before), done.stderr


@pytest.mark.long
def test_the_users_fio_writes_to_the_device_that_the_helper_hands_over(nobody: Nobody, device: Loop) -> None:
    job = ("--rw", "randwrite", "--size", "16m", "--runtime", "1", "--ramp", "0")

    done = nobody(HELPER, "bench", device.sure(), *job, "--confirm", device.name)

    assert any(device.backing.read_bytes()), done.stderr


@pytest.fixture
def in_use(device: Loop, place: Path) -> Iterator[Loop]:
    """A device with a mounted filesystem."""
    ext4(device.sure())
    with mounted(device.device, place / "point"):
        yield device


READS = ("--rw", "randread", "--size", "16m", "--runtime", "1", "--ramp", "0")


@pytest.mark.long
def test_a_user_measures_what_is_mounted(nobody: Nobody, in_use: Loop) -> None:
    done = nobody(HELPER, "bench", in_use.device, *READS, "--json")

    run = json.loads(done.stdout)["run"]
    assert (run["status"], run["read"]["iops"] > 0) == ("ok", True), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_fio_is_left_of_a_run_that_was_ended(begun: Begun, in_use: Loop, number: signal.Signals) -> None:
    process = begun(HELPER, "bench", in_use.device, *READS, "--runtime", "600", "--stream")
    assert process.stdout is not None
    assert process.stdout.readline(), process.communicate()[1]

    (fio,) = (one for one in psutil.Process(process.pid).children(recursive=True) if one.name() == "fio")
    process.send_signal(number)

    wait_for(lambda: not running(fio.pid), 120.0)
    process.communicate()


@pytest.mark.long
def test_the_program_that_reads_what_is_mounted_is_not_the_users(begun: Begun, in_use: Loop) -> None:
    process = begun(HELPER, "bench", in_use.device, *READS, "--runtime", "600", "--stream")
    assert process.stdout is not None
    assert process.stdout.readline(), process.communicate()[1]

    reading = [one for one in psutil.process_iter() if holds(one.pid, in_use.device)]

    assert NOBODY not in {one.uids().real for one in reading}
    assert "fio" in {one.name() for one in reading}
    process.terminate()
    process.communicate()


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["device", "in_use"])
def test_a_comparison_of_settings_puts_the_old_one_back(
    nobody: Nobody, request: pytest.FixtureRequest, kind: str
) -> None:
    device = request.getfixturevalue(kind)
    before = read_ahead(device)

    done = nobody(HELPER, "ab", f"block:{device.name}", "read_ahead_kb=512", *READS, "--pairs", "2", "--yes")

    assert ("Read-ahead was restored to" in done.stderr, read_ahead(device)) == (True, before)


def test_a_password_that_nobody_can_type_leaves_raidbench_without_root(nobody: Nobody, device: Loop) -> None:
    before = read_ahead(device)

    done = nobody(WITH_A_PASSWORD, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes")

    assert ("sudo did not start the root helper" in done.stderr, read_ahead(device)) == (True, before)


@pytest.mark.long
def test_sudo_raidbench_leaves_a_session_that_is_the_users(nobody: Nobody, place: Path, device: Loop) -> None:
    done = nobody(ANYTHING, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes", before=("sudo", "-n"))

    assert {path.lstat().st_uid for path in (place / "sessions").rglob("*")} == {NOBODY}, done.stderr


@pytest.mark.long
@pytest.mark.parametrize("shell", [("-i",), ("sh", "-c", '"$0" "$@"')], ids=["login", "shell"])
def test_in_a_root_shell_raidbench_is_root(nobody: Nobody, shell: tuple[str, ...]) -> None:
    done = nobody(ANYTHING, "doctor", before=("sudo", "-n", *shell))
    assert "raidbench runs as root; a normal user needs only the root helper" in done.stdout
