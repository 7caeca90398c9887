"""How raidbench comes to its helper, and what it says where it does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.privsep.client import helper, start_conversation
from backends.errors import RefusedError
from backends.self_exec import self_exec_argv
from backends.system.local import elevated
from tests.privsep.helping import NOBODY, needs_root

ROOT = Path(__file__).parents[2]


def sudo_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    """A program of that name, first where programs are looked for."""
    folder = tmp_path / "bin"
    folder.mkdir(mode=0o755)
    (folder / "sudo").write_text(f"#!/bin/sh\n{lines}\n")
    (folder / "sudo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))


OBEYS = 'printf "%s\\n" "$*" >> "$(dirname "$0")/said"\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"'


@needs_root
def test_sudo_starts_the_helper_without_a_question_where_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sudo_that(tmp_path, monkeypatch, OBEYS)

    side = start_conversation(helper(ask=True), read_only=True, firmware=False)

    assert side.ask_now("journal") == {"unresolved": [], "trials": [], "left_running": [], "unreadable": None}
    assert (tmp_path / "bin" / "said").read_text() == f"-n -- {' '.join(self_exec_argv('app.privsep'))}\n"
    side.close()


@needs_root
def test_sudo_asks_where_it_has_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sudo_that(tmp_path, monkeypatch, f'[ "$1" = -n ] && exit 1\n{OBEYS}')

    helper(ask=True).close()

    assert "password for %p" in (tmp_path / "bin" / "said").read_text()


def test_a_sudo_that_says_no_leaves_raidbench_without_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sudo_that(tmp_path, monkeypatch, "exit 1")

    with pytest.raises(RefusedError, match="sudo did not start the root helper"):
        helper(ask=False)


def test_nobody_is_asked_where_nobody_is_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sudo_that(tmp_path, monkeypatch, "exit 1")

    assert [way.asks for way in elevated.privilege_tools(ask=False)] == [False]


def test_without_sudo_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elevated, "find_program", lambda names: None)

    with pytest.raises(RefusedError, match="sudo is not installed"):
        helper(ask=True)


@needs_root
def test_a_sudo_that_gives_the_helper_no_socket_leaves_raidbench_without_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sudo_that(tmp_path, monkeypatch, f"exec < /dev/null\n{OBEYS}")

    with pytest.raises(RefusedError, match="cuts the connection to the root helper"):
        helper(ask=False)


@needs_root
def test_root_does_not_import_from_a_strangers_pythonpath(tmp_path: Path) -> None:
    folder = tmp_path / "strange"
    folder.mkdir()
    (folder / "click.py").write_text("raise SystemExit('a stranger ran')")
    os.chown(folder, NOBODY, NOBODY)

    tried = subprocess.run(
        [sys.executable, "-m", "app", "--version"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert (tried.stdout[:9], tried.stderr) == ("raidbench", "")


@needs_root
def test_a_program_that_becomes_a_user_keeps_nothing_of_root() -> None:
    uid, gid, groups = 4321, 4322, [4323, 4324]
    code = f"""
import json, os
from backends.system.local import elevated
os.setgroups([0, 4])
os.getgrouplist = lambda name, group: {groups}
elevated._drop({uid}, {gid}, "jane")
print(json.dumps([os.getresuid(), os.getresgid(), os.getgroups(), open("/proc/self/status").read()]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    users, own_groups, others, status = json.loads(done.stdout)
    assert (users, own_groups, others) == ([uid] * 3, [gid] * 3, groups)
    assert set(re.findall(r"^Cap(?:Prm|Eff|Amb):\s*([0-9a-f]+)$", status, re.MULTILINE)) == {"0" * 16}
