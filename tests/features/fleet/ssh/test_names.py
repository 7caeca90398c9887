"""Names of hosts: sets are what ClusterShell says, and none of them is an option for ssh."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from app.features.fleet.ssh.command import OPTIONS, remote_line, ssh_options
from app.features.fleet.ssh.faults import Cause, ssh_fault
from app.features.fleet.ssh.nodesets import fold_names, parse_hosts
from backends.errors import InvalidValueError, ToolMissingError
from backends.host import Completed
from tests.backends.fakes import FakeHost
from tests.case_loop import loop_over


def test_a_set_is_its_hosts_each_once() -> None:
    assert parse_hosts("n[1-4],n2,m!n3") == ("m", "n1", "n2", "n4")
    assert fold_names(["n1", "n2", "n4", "m"]) == "m,n[1-2,4]"


@loop_over(
    "text",
    [
        "n[1-",
        "n1!n1",
        "-oProxyCommand=x",
        "-v",
        "a b",
        "n1;x",
        "",
        "@no-such-group",
        "n[1-5000]",
        "n[1-99999999999999]",
    ],
)
def test_what_names_no_hosts_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InvalidValueError):
        parse_hosts(text)


def test_without_clustershell_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ClusterShell", None)
    with pytest.raises(ToolMissingError) as refused:
        parse_hosts("n1")
    assert "pip install 'raidbench[hosts]'" in refused.value.hint


def test_every_word_is_quoted_for_the_shell_there() -> None:
    assert remote_line(("./raidbench", "show", "--", "a b;'$(c)")) == """./raidbench show -- 'a b;'"'"'$(c)'"""


@pytest.mark.parametrize(("there", "says"), [("both", "the installed one"), ("copy", "the copy"), ("", None)])
def test_what_is_called_there_is_the_installed_one_else_the_copy(tmp_path: Path, there: str, says: str | None) -> None:
    copies = tmp_path / ".local" / "lib" / "raidbench"
    files = {"copy": copies / f"raidbench-{platform.machine()}", "installed one": tmp_path / "bin" / "raidbench"}
    for name, file in files.items():
        file.parent.mkdir(parents=True)
        if there == "both" or name == there:
            file.write_text(f"#!/bin/sh\nprintf '%s\\n' 'the {name}' \"$@\"\n")
            file.chmod(0o755)
    line = remote_line(("raidbench", "show", "--", "a b;'$(c)\n*"))
    environment = {"HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    done = subprocess.run(("/bin/sh", "-c", line), env=environment, capture_output=True, text=True)
    if says is None:
        assert ssh_fault(done.returncode, done.stderr) is Cause.ABSENT
    else:
        assert (done.returncode, done.stdout) == (0, f"{says}\nshow\n--\na b;'$(c)\n*\n")


@pytest.mark.parametrize(
    ("told", "more"),
    [
        ("OpenSSH_7.4p1, OpenSSL 1.0.2k-fips  26 Jan 2017", ()),
        ("OpenSSH_8.0p1, OpenSSL 1.1.1k  FIPS 25 Mar 2021", ("RemoteCommand=none",)),
        (
            "OpenSSH_10.0p2 Debian-7, OpenSSL 3.5.1 1 Jul 2025",
            ("RemoteCommand=none", "SessionType=default", "StdinNull=no", "ForkAfterAuthentication=no"),
        ),
    ],
)
async def test_what_of_the_user_would_take_the_command_away_is_set_aside(told: str, more: tuple[str, ...]) -> None:
    assert await ssh_options(FakeHost({}, tools={"ssh": Completed(returncode=0, stdout="", stderr=told)})) == (
        *OPTIONS,
        *more,
    )


def test_no_key_is_taken_and_nobody_is_asked() -> None:
    assert {"StrictHostKeyChecking=yes", "BatchMode=yes", "UpdateHostKeys=no"} <= set(OPTIONS)
