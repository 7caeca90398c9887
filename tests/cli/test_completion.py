"""Completion: what a Tab offers, in real shells too, and that it asks no tool and starts no program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import pytest

from app.cli import completion
from app.cli.command_index import COMMANDS
from app.cli.completion import FRONT, POSITIONAL, SHELLS, VALUES, complete_line
from app.cli.completion_scripts import script
from app.cli.main import cli as group
from app.core.fio.profile_names import TITLES
from app.core.fio.profiles import PROFILES
from tests.case_loop import loop_over
from tests.cli.conftest import Cli, run_here
from tests.journeys.terminal import Terminal
from tests.packages import needs

DEMO = ("--demo", "--demo-speed", "1000")

ASK = """
import atexit, sys
seen = []
STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.system")
def told():
    for event, word in list(seen):
        if event in STARTS:
            print("STARTED", event, file=sys.stderr)
        elif word.startswith("/dev/") and word != "/dev/null":
            print("OPENED", word, file=sys.stderr)
atexit.register(told)
sys.addaudithook(lambda event, words: event in (*STARTS, "open") and seen.append((event, str(words[0]))))
sys.argv = ["raidbench"]
from app.__main__ import main
main()
"""
"""The program, which tells what it starts and which device it opens."""


def values(*words: str) -> list[str]:
    """What is offered in the place of the last word."""
    return [item.value for item in complete_line(list(words))]


def tab(line: str, program: str = ASK) -> subprocess.CompletedProcess[str]:
    """What bash gets for a line."""
    asked = {"_RAIDBENCH_COMPLETE": "bash_complete", "_RAIDBENCH_LINE": line, "_RAIDBENCH_BREAKS": " \t\n=:"}
    return subprocess.run((sys.executable, "-c", program), env=os.environ | asked, capture_output=True, text=True)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder of somebody who has looked at the rack, and at one of its volumes."""
    folder = tmp_path_factory.mktemp("looked") / "state"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(folder))
        assert run_here(*DEMO, "devices").status == 0
        assert run_here(*DEMO, "show", "/c0/v1").status == 0
    return folder


@pytest.fixture
def looked(kept: Path, state: Path) -> None:
    """A copy of it."""
    shutil.copytree(kept, state)


@loop_over(
    ("words", "expected"),
    [
        (("dev",), {"devices"}),
        (("--demo", "hp"), {"hpe"}),
        (("--demo=l",), {"--demo=lsi", "--demo=linux"}),
        (("--demo-state", "lo"), {"locked"}),
        (("sweep", "que"), {"queue-depth"}),
        (("bench", "/srv", "--profile", "seqread"), {"seqread-4k", "seqread-4m"}),
        (("bench", "/srv", "--profile=seqread"), {"--profile=seqread-4k", "--profile=seqread-4m"}),
        (("report", "--format", "fio"), {"fio-plot"}),
        (("devices", "--wi"), {"--wide"}),
        (("baseline", "ch"), {"check"}),
        (("baseline", "check", "--worse"), {"--worse-is-1"}),
        (("help", "und"), {"undo"}),
    ],
)
def test_what_is_always_known_is_offered(words: tuple[str, ...], expected: set[str]) -> None:
    assert set(values(*words)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("show", "megaraid:/c0/v"), ["megaraid:/c0/v0", "megaraid:/c0/v1"]),
        (("show", "/c0/v"), ["/c0/v0", "/c0/v1"]),
        (("show", "sdb"), ["sdb"]),
        (("show", "/dev/sdb"), ["/dev/sdb"]),
        (("history", "md:"), ["md:md0", "md:md1"]),
        (("set", "/c0/v1", "read_ahead="), ["read_ahead=none", "read_ahead=read-ahead", "read_ahead=adaptive"]),
        (("set", "sdb", "strip_s"), ["strip_size="]),
        (("set", "megaraid:/c0/v1", "read_ahead=none", "read_a"), ["read_ahead_kb="]),
        (("ab", "--pairs", "3", "/c0/v1", "--on", "megaraid:/c1/v"), ["megaraid:/c1/v0"]),
        (("sweep", "queue-depth", "--target", "array=megaraid:/c1/v"), ["array=megaraid:/c1/v0"]),
        (("persist", "/c0/v1", "scheduler=k"), ["scheduler=kyber"]),
    ],
)
def test_what_the_last_look_found_is_offered(looked: None, words: tuple[str, ...], expected: list[str]) -> None:
    assert values("--demo", *words) == expected


def test_the_settings_of_a_thing_come_before_those_of_its_disk(looked: None) -> None:
    found = values("--demo", "set", "/c0/v1", "")
    assert found.index("read_ahead=") < found.index("read_ahead_kb=")


@pytest.mark.parametrize("words", [("show", ""), ("set", "/c0/v1", ""), ("bench", "megaraid:")])
def test_where_nothing_is_known_nothing_is_offered(words: tuple[str, ...]) -> None:
    assert values("--demo", *words) == []


def test_one_rack_is_not_taken_for_another_nor_for_this_machine(looked: None) -> None:
    assert values("--demo", "show", "megaraid:/c0/v1")
    assert values("--demo", "hpe", "show", "megaraid:/c0/v1") == values("show", "megaraid:/c0/v1") == []
    assert values("--machine", "/tmp", "show", "megaraid:/c0/v1") == []


def test_what_another_boot_found_is_not_offered(looked: None, demo_state: Path) -> None:
    file = demo_state / "looked.json"
    file.write_text(file.read_text().replace('"boot":"', '"boot":"0'))
    assert values("--demo", "show", "megaraid:") == []


@pytest.mark.long
def test_runs_sessions_and_baselines_are_offered(cli: Cli, demo_state: Path) -> None:
    assert cli(*DEMO, "bench", "/c0/v1", "--runtime", "10", "--repeat", "3").status == 0
    assert cli(*DEMO, "baseline", "save", "night").status == 0
    (session,) = (folder.name for folder in (demo_state / "sessions").iterdir())
    assert values("--demo", "report", "") == values("--demo", "sweep", "--resume", session[:4]) == [session]
    assert values("--demo", "compare", "r1", "r") == ["r1", "r2", "r3"]
    assert values("--demo", "compare", f"{session}/r3") == [f"{session}/r3"]
    assert values("--demo", "baseline", "check", "n") == ["night"]
    assert values("report", "") == values("compare", "r1", "r") == values("baseline", "check", "n") == []


@pytest.mark.skipif(not Path("/sys/block").is_dir(), reason="needs sysfs")
def test_the_disks_of_this_machine_come_from_sysfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = completion._disks(completion.CommandLine("", "", "show", (), ""))
    assert {f"block:{name}" for name in names} <= set(values("show", "block:"))
    for name in names[:1]:
        assert "read_ahead_kb=" in values("set", f"block:{name}", "read_")


@pytest.mark.parametrize(
    "line", ["show ", "set /c0/v1 ", "set /c0/v1 read_ahead=", "bench ", "history ", "persist vda "]
)
@pytest.mark.parametrize("rack", ["", "--demo "])
def test_a_tab_starts_no_program_and_opens_no_device(looked: None, rack: str, line: str) -> None:
    asked = tab(f"raidbench {rack}{line}")
    assert (asked.returncode, asked.stderr) == (0, "")


def test_a_program_that_is_started_would_be_noticed() -> None:
    asked = tab("raidbench ", ASK.replace("main()\n", "import os; os.posix_spawn('/bin/true', ['true'], {}); main()\n"))
    assert "STARTED os.posix_spawn" in asked.stderr


def test_a_target_needs_neither_click_nor_the_screens(looked: None) -> None:
    asked = tab(
        "raidbench --demo set /c0/v1 ", ASK + "print([name for name in ('click', 'asyncio') if name in sys.modules])"
    )
    assert asked.stdout.splitlines()[-1] == "[]"


@pytest.mark.feature("fleet", "plots", "metrics")
def test_every_word_of_the_tables_is_one_of_the_program() -> None:
    assert set(POSITIONAL) <= set(COMMANDS)
    valued = {name for one in group.params if not getattr(one, "is_flag", False) for name in one.opts}
    assert {*FRONT, "--demo"} == {name for name in valued if name.startswith("--")}
    context = group.make_context("raidbench", ["devices"], resilient_parsing=True)
    commands = [group.get_command(context, name) for name in COMMANDS]
    known = {
        name
        for command in commands
        if command is not None
        for one in command.params
        if not getattr(one, "is_flag", False)
        for name in one.opts
    }
    assert set(VALUES) <= known
    assert tuple(TITLES) == tuple(PROFILES)


@pytest.mark.parametrize("name", ["baseline", "array"])
def test_the_commands_of_a_group_are_those_that_there_are(name: str) -> None:
    context = group.make_context("raidbench", [name], resilient_parsing=True)
    commands = group.get_command(context, name)
    assert isinstance(commands, click.Group)
    assert set(values(name, "")) == set(commands.commands)


# -- in the shells themselves -----------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with `raidbench` in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    root = Path(__file__).parents[2]
    (folder / "raidbench").write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} -m app "$@"\n')
    (folder / "raidbench").chmod(0o755)
    return folder


BEGIN = {
    "bash": (("bash", "--norc", "--noprofile"), "PS1='ready> '\n"),
    "zsh": (("zsh", "-f"), "PS1='ready> '; autoload -U compinit; compinit -u -D\n"),
    "fish": (("fish", "--no-config"), "function fish_prompt; echo -n 'ready> '; end\n"),
}
LOAD = {
    "bash": 'eval "$(_RAIDBENCH_COMPLETE=bash_source raidbench)"; echo load""ed\n',
    "zsh": 'eval "$(_RAIDBENCH_COMPLETE=zsh_source raidbench)"; echo load""ed\n',
    "fish": '_RAIDBENCH_COMPLETE=fish_source raidbench | source; echo load""ed\n',
}


@pytest.fixture(params=[pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
def shell(request: pytest.FixtureRequest, looked: None, tmp_path: Path, program: Path) -> Iterator[Terminal]:
    """A shell in a terminal, in which completion is set up."""
    argv, prompt = BEGIN[request.param]
    env = {"PATH": f"{program}:{os.environ['PATH']}", "HOME": str(tmp_path), "INPUTRC": "/dev/null"}
    found = Terminal(argv, cwd=tmp_path, env=env, size=(120, 40))
    try:
        found.keys(prompt)
        found.wait_for("ready> ")
        found.keys(LOAD[request.param])
        found.wait_for("loaded")
        yield found
    finally:
        found.close()


TYPED = {
    "raidbench dev": "raidbench devices",
    "raidbench --demo show megaraid:/c1/v": "raidbench --demo show megaraid:/c1/v0",
    "raidbench --demo show /c1/v": "raidbench --demo show /c1/v0",
    "raidbench --demo set megaraid:/c0/v1 read_ahead=ad": "set megaraid:/c0/v1 read_ahead=adaptive",
    "raidbench --demo bench /c0/v1 --profile randwr": "--profile randwrite-4k",
    "raidbench sweep queue-d": "raidbench sweep queue-depth",
}


def test_a_tab_in_a_real_shell_ends_the_word(shell: Terminal) -> None:
    for typed, becomes in TYPED.items():
        shell.keys(typed)
        shell.wait_for(typed)
        shell.keys("\t")
        shell.wait_for(becomes)
        shell.keys("\x15")
        shell.wait(partial(_gone, shell, becomes), "an empty line")


def _gone(shell: Terminal, words: str) -> bool:
    return words not in shell.text


def test_two_tabs_list_the_values(shell: Terminal) -> None:
    shell.keys("raidbench --demo set /c0/v1 read_ahead=")
    shell.wait_for("read_ahead=")
    shell.keys("\t\t")
    shell.wait_for("adaptive")
    assert "read-ahead" in shell.text


@pytest.mark.parametrize("name", SHELLS)
def test_the_script_that_is_printed_is_the_one_that_is_shipped(name: str) -> None:
    environment = {**os.environ, "_RAIDBENCH_COMPLETE": f"{name}_source"}
    done = subprocess.run((sys.executable, "-c", ASK), env=environment, capture_output=True, text=True)
    assert done.stdout.rstrip("\n") == script(name).rstrip("\n")
