"""Every example of `--help`, and every command in the README and the docs, works on a simulated host."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

import click
import pytest

from app.cli.main import cli
from backends.simulator.profiles import FIRST
from tests.cli.conftest import Outcome, program, run_here
from tests.cli.test_help import ALL

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parents[2]

OTHER_HOSTS = {"array": "arrays", "precondition": "arrays"}
"""Simulated hosts of commands whose examples need another one than `linux`."""

ADDED = {
    "ab": ("--pairs=3", "--runtime=1", "--ramp=0", "--rest=0"),
    "bench": ("--runtime=1", "--ramp=0"),
    "curve": ("--dry-run",),
    "observe": ("--for=1",),
    "sweep": ("--dry-run",),
}
"""Options that make an example shorter."""

PREPARED = (
    "set sda nomerges=1 --yes",
    "bench md:md0 --runtime 1 --ramp 0",
    "bench md:md0 --runtime 1 --ramp 0",
    "bench md:md0 --runtime 1 --ramp 0",
    "ab md:md0 read_ahead_kb=512 --pairs 3 --runtime 1 --ramp 0 --rest 0 --yes",
    "baseline save before-update",
    "set sda read_ahead_kb=256 --yes",
    "set sda read_ahead_kb=512 --yes",
)
"""What the examples presuppose."""

TRIAL = "set sda nr_requests=16 --yes --trial 600"
"""What they presuppose too; its watchdog stays with its folder."""

OF_TRIALS = ("keep", "recover", "undo")
"""Commands that find that trial."""

PLAN = """
title = "Two queue depths"
[targets]
array = "md:md0"
[measure]
target = "array"
repeats = 3
[job]
rw = "randread"
bs = "4k"
runtime = "30s"
ramp = "0s"
[[axis]]
job = "iodepth"
values = [1, 2]
"""
"""A sweep of three minutes, which is 18 s at ten times the speed."""

JOB_FILE = "[global]\nrw=randread\nbs=8k\n[database]\n"
"""A job file of fio."""

FOLLOWED = "attach"
"""The command that shows such a sweep or stops it."""

STOP = "--stop"
"""A sweep that was stopped by it ends with 130, as docs/sweep.md says."""

BEGINNING = ("baseline", "watch")
"""Commands that measure in a session of their own."""

WORKED = (0, 4, 5, 6)
"""Done; undecided or already known; findings; some of the simulated hosts are missing."""

PLUGIN = "--nagios"
"""Ends with 1 for a warning and with 2 for a fault, as monitoring expects; with 3 it did not work."""

GROUP = "@"
"""Begins a group of hosts, which needs a configuration of ClusterShell that a simulated host does not have."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with runs, an experiment, a baseline, changes and an array."""
    folder = tmp_path_factory.mktemp("examples")
    for line in PREPARED:
        done = raidbench(folder, *shlex.split(line))
        assert done.status == 0, (line, done.err)
    create = ("array", "create", "raid1", "sde", "sdf", "--name", "fast")
    refused = raidbench(folder, *create, host="arrays")
    token = refused.err.rpartition("--confirm ")[2].split()[0]
    created = raidbench(folder, *create, "--confirm", token, host="arrays")
    assert created.status == 0, created.err
    (folder / "database.fio").write_text(JOB_FILE, encoding="utf-8")
    (folder / "my-plan.toml").write_text(PLAN, encoding="utf-8")
    return folder


@pytest.fixture
def session(prepared: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder, so that no page sees the results of another."""
    folder = tmp_path / "session"
    shutil.copytree(prepared, folder)
    return folder


PROCESSES = ("--trial", "--detach", "--hosts", "hosts", FOLLOWED)
"""Words of commands that start raidbench again, or end another one: these are programs of their own here, too."""


def raidbench(folder: Path, *argv: str, host: str = "linux", speed: int = 1000) -> Outcome:
    """The command line in a folder; in this process if that is all it needs, which saves the start of a program."""
    several = argv[0] == "hosts" or "--hosts" in argv
    faster = () if several else (f"--demo-speed={speed}",)
    demo = () if "--machine" in argv else (f"--demo={host}", *faster)
    env = {"RAIDBENCH_STATE_DIR": str(folder / "state"), "NO_COLOR": "1"}
    if not set(argv).isdisjoint(PROCESSES):
        return program(*demo, *argv, cwd=folder, env=env)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in env.items():
            patch.setenv(name, value)
        return run_here(*demo, *argv)


def help_examples() -> list[str]:
    """Return all examples, those that begin a session last: the others presuppose what the prepared one has."""
    examples = [example for command in ALL.values() for example in getattr(command, "examples", ())]
    return sorted(examples, key=lambda example: example.split()[1] in BEGINNING)


BLOCK = re.compile(r"^(?:<!-- (simulated host|not run): ([^\n]+) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A fenced block, with the comment above it that names a simulated host, or the reason why it is not run."""

KINDS = ("", "sh", "console")
"""Languages of blocks that contain commands."""

COMMAND = re.compile(r"^(\$ )?(?:sudo )?raidbench (?!\[|.*\[OPTIONS\])([^|>\n]*)", re.MULTILINE)
"""A command line of a block, up to a pipe or a redirection. A line with brackets for options is a synopsis."""


def page_commands(page: Path) -> list[tuple[str, str]]:
    """Return the command lines of the blocks of a page, each with the named host or an empty string.

    Blocks with a reason not to run them are left out, and so is the workbench, which has no command. In console blocks,
    command lines begin with a prompt.
    """
    return [
        (f"raidbench {line}", host if word else "")
        for word, host, kind, block in BLOCK.findall(page.read_text(encoding="utf-8").replace("\\\n", ""))
        if kind in KINDS and word != "not run"
        for prompt, line in COMMAND.findall(block)
        if (kind == "console") == bool(prompt) and has_command(shlex.split(line, comments=True))
    ]


def has_command(argv: list[str]) -> bool:
    """Return whether a command line names a command. Without one it opens the workbench."""
    with cli.make_context("raidbench", argv, resilient_parsing=True) as context:
        return bool([*context._protected_args, *context.args])


def swept(folder: Path) -> Path:
    """Return a folder of its own in which a sweep runs in the background: it would become the last session."""
    folder.mkdir(exist_ok=True)
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    begun = raidbench(folder, "sweep", "plan.toml", "--yes", "--detach", speed=10)
    assert begun.status == 0, begun.err
    return folder


def failures(folder: Path, commands: Iterable[tuple[str, str]]) -> dict[str, tuple[int, str]]:
    """Return the command lines that neither work nor ask for a confirmation on their simulated host."""
    failed = {}
    begun = False
    for line, named in commands:
        argv = shlex.split(line, comments=True)[1:]
        if argv[0] in OF_TRIALS and not begun:
            begun = raidbench(folder, *shlex.split(TRIAL)).status == 0
            assert begun
        if any(word.startswith(GROUP) for word in argv):
            continue
        host = named or OTHER_HOSTS.get(argv[0], "linux")
        place = swept(folder / "swept") if argv[0] == FOLLOWED else folder
        done = raidbench(place, *argv, *ADDED.get(argv[0], ()), host=host)
        if argv[0] == FOLLOWED:
            raidbench(place, FOLLOWED, STOP)
        asks = done.status == 3 and ("--yes" in done.err or "--confirm" in done.err)
        worked = (0, 1, 2) if PLUGIN in argv else (130,) if STOP in argv else WORKED
        if done.status not in worked and not asks:
            failed[line] = (done.status, done.err[-300:])
    return failed


def test_every_example_of_the_help_works_or_asks_for_a_confirmation(session: Path) -> None:
    assert failures(session, [(example, "") for example in help_examples()]) == {}


WRITTEN = (
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if not page.name.startswith("cli")),
)
"""Pages that are written by hand. The examples of the generated ones are those of the help."""

PAGES = tuple(page for page in WRITTEN if page_commands(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_works_or_asks_for_a_confirmation(session: Path, page: Path) -> None:
    default = FIRST if page.name == "README.md" else ""  # `make demo` opens it
    assert failures(session, [(line, host or default) for line, host in page_commands(page)]) == {}


FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [*WRITTEN, *sorted((ROOT / "docs/dev").glob("*.md"))], ids=lambda page: page.name)
def test_every_command_of_a_page_has_options_and_arguments_that_exist(page: Path) -> None:
    refused = {}
    for block in FENCED.findall(page.read_text(encoding="utf-8").replace("\\\n", "")):
        for _, line in COMMAND.findall(block):
            try:
                parse(cli, "raidbench", shlex.split(line, comments=True))
            except click.ClickException as error:
                refused[line] = error.format_message()
    assert refused == {}


def parse(command: click.Command, name: str, argv: list[str], parent: click.Context | None = None) -> None:
    """Parse a command line, with its subcommands, and run nothing. Raises click.ClickException if it is wrong."""
    with command.make_context(name, argv, parent=parent) as context:
        rest = [*context._protected_args, *context.args]
        if isinstance(command, click.Group) and rest:
            found, inner, words = command.resolve_command(context, rest)
            assert inner is not None
            parse(inner, found or "", words, context)


def test_the_readme_has_commands() -> None:
    assert len(page_commands(ROOT / "README.md")) >= 5
