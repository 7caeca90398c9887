"""The real sudo, with rules of our own: they are laid over the machine's for the programs of one test only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops
from tests.packages import needs
from tests.priv.helping import AS_NOBODY, NOBODY, needs_python, needs_root

pytestmark = [needs_root, needs_loops(), needs("fio", "sudo", "setpriv", "unshare"), needs_python]

UNDER = ("unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /etc/sudoers && exec "$@"')

HELPER = "nobody ALL=(root) NOPASSWD: {python} -I -m app.priv"
ANYTHING = "nobody ALL=(root) NOPASSWD: ALL"
WITH_A_PASSWORD = "nobody ALL=(root) {python} -I -m app.priv"

Nobody = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def device(place: Path, stack: ExitStack) -> Loop:
    return stack.enter_context(loop(place / "disk"))


@pytest.fixture
def nobody(program: tuple[str, ...], place: Path) -> Nobody:
    """Runs raidbench, or a command before it, as a user for whom sudo has a rule."""

    def run(rule: str, *words: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        rules = place / "sudoers"
        rules.write_text(f'Defaults use_pty, env_keep += "RAIDBENCH_STATE_DIR"\n{rule.format(python=program[0])}\n')
        rules.chmod(0o440)
        environment = {"PATH": os.environ["PATH"], "RAIDBENCH_STATE_DIR": str(place), "LANG": "C.UTF-8"}
        return subprocess.run(
            [*UNDER[:-1], UNDER[-1], str(rules), *AS_NOBODY, *before, *program, *words],
            env=environment,
            capture_output=True,
            text=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
        )

    return run


def read_ahead(device: Loop) -> str:
    return Path(f"/sys/block/{device.name}/queue/read_ahead_kb").read_text().strip()


def test_a_user_with_a_rule_for_the_helper_sets_and_takes_back(nobody: Nobody, device: Loop) -> None:
    before = read_ahead(device)

    done = nobody(HELPER, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes")
    there = read_ahead(device)
    nobody(HELPER, "undo", "--yes")

    assert (there, read_ahead(device)) == ("512", before), done.stderr


def test_the_users_fio_writes_to_the_device_that_the_helper_hands_over(nobody: Nobody, device: Loop) -> None:
    job = ("--rw", "randwrite", "--size", "16m", "--runtime", "1", "--ramp", "0")

    done = nobody(HELPER, "bench", device.sure(), *job, "--confirm", device.name)

    assert any(device.backing.read_bytes()), done.stderr


@pytest.mark.exhaustive
def test_a_comparison_of_settings_puts_the_old_one_back(nobody: Nobody, device: Loop) -> None:
    job = ("--rw", "randread", "--size", "16m", "--runtime", "1", "--ramp", "0", "--pairs", "2")
    before = read_ahead(device)

    done = nobody(HELPER, "ab", f"block:{device.name}", "read_ahead_kb=512", *job, "--yes")

    assert ("Read-ahead is" in done.stderr, read_ahead(device)) == (True, before)


def test_a_password_that_nobody_can_type_leaves_raidbench_without_root(nobody: Nobody, device: Loop) -> None:
    before = read_ahead(device)

    done = nobody(WITH_A_PASSWORD, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes")

    assert ("sudo did not start the root helper" in done.stderr, read_ahead(device)) == (True, before)


def test_sudo_raidbench_leaves_a_session_that_is_the_users(nobody: Nobody, place: Path, device: Loop) -> None:
    done = nobody(ANYTHING, "set", f"block:{device.name}", "read_ahead_kb=512", "--yes", before=("sudo", "-n"))

    assert {path.lstat().st_uid for path in (place / "sessions").rglob("*")} == {NOBODY}, done.stderr


@pytest.mark.parametrize("shell", [("-i",), ("sh", "-c", '"$0" "$@"')], ids=["login", "shell"])
def test_in_a_root_shell_raidbench_is_root(nobody: Nobody, shell: tuple[str, ...]) -> None:
    assert "root as a whole" in nobody(ANYTHING, "doctor", before=("sudo", "-n", *shell)).stdout
