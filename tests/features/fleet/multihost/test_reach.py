"""How hosts are reached, and what is said where they are not."""

from __future__ import annotations

import shlex

from app.features.fleet.multihost.transport import lost_reason
from app.features.fleet.ssh.command import ssh_argv
from tests.case_loop import loop_over

COMMAND = ("raidbench", "bench", "a b; rm -rf /", "--size", "$(id)", "'", "", "\n")


def test_the_shell_there_gets_every_word_as_it_is() -> None:
    *before, text = ssh_argv("pear", COMMAND)
    assert before[0] == "ssh"
    assert before[-2:] == ["--", "pear"]
    assert tuple(shlex.split(text))[-len(COMMAND) :] == COMMAND


def test_nothing_is_asked_and_no_key_accepted() -> None:
    argv = ssh_argv("pear", COMMAND)
    assert "BatchMode=yes" in argv
    assert "StrictHostKeyChecking=yes" in argv


@loop_over(
    ("status", "said", "means"),
    [
        (255, ["Host key for pear has changed and you have requested strict checking."], "host key has changed"),
        (255, ["No ED25519 host key is known for pear", "Host key verification failed."], "SSH host key is unknown"),
        (255, ["root@pear: Permission denied (publickey)."], "login failed"),
        (
            255,
            ["ssh: connect to host pear port 22: Connection refused"],
            "host unreachable: ssh: connect to host pear port",
        ),
        (255, [], "host unreachable: ssh gave no reason"),
        (127, ["bash: raidbench: command not found"], "raidbench is not installed"),
        (1, ["Permission denied"], "exited there with status 1: Permission denied"),
        (-9, [], "raidbench was killed there (signal 9)"),
        (None, [], "the connection closed"),
    ],
)
def test_why_there_is_no_line(status: int | None, said: list[str], means: str) -> None:
    assert means in lost_reason(status, said)


def test_what_ssh_passes_on_is_cleaned() -> None:
    assert "\x1b" not in lost_reason(255, ["\x1b]0;owned\x07"])
