"""What is imported when, and what is said where there is no screen."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Cli, program
from tests.cli.terminal import on_terminal

_AFTER = "import sys; {what}; print(*sorted(set({unwanted}) & set(sys.modules)))"


def loaded_by(what: str, *unwanted: str) -> str:
    """Return which of the unwanted modules an import loads; each of them exists."""
    assert [name for name in unwanted if importlib.util.find_spec(name) is None] == []
    code = _AFTER.format(what=what, unwanted=unwanted)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_the_command_line_is_imported_without_anything_that_draws() -> None:
    assert loaded_by("import app.cli.main", "textual", "rich") == ""


@pytest.mark.parametrize("words", ["['devices', '--json']", "['devices']", "['--help']", "['profiles']"])
def test_a_look_around_loads_neither_textual_nor_cattrs(machine: str, words: str) -> None:
    run = f"from app.cli.main import cli; cli.main(['--machine', {machine!r}] + {words}, standalone_mode=False)"
    assert loaded_by(run, "textual", "rich", "cattrs", "psutil", "importlib.metadata") == ""


def test_the_first_screen_has_nothing_of_what_is_measured_judged_or_swept() -> None:
    screens = "import app.tui.app, app.tui.devices.screen, app.features.sweep.cli.background"
    core = ("analysis", "benchmark.runner", "fio.load", "presentation.run", "presentation.comparison")
    features = ("advice.rules", "check.rule_table", "sweep.engine", "report.model")
    drawing = ("widgets.chart", "widgets.matrix", "psutil")
    later = (*(f"app.core.{name}" for name in core), *(f"app.features.{name}" for name in features), *drawing)
    assert loaded_by(screens, *later) == ""


@pytest.mark.long
def test_what_paints_pictures_that_stand_still_is_not_there_until_one_is_painted() -> None:
    screens = "import app.features.sweep.cli.background, app.cli.bench_progress, app.tui.app, app.tui.devices.screen"
    live = "app.tui.bench.screen, app.tui.runs.screen, app.features.sweep.screen.screen, app.features.plots.cli"
    measuring = "app.core.benchmark.runner, app.features.sweep.engine.runner, app.features.ab.experiment"
    assert loaded_by(f"{screens}, {live}, {measuring}", "plotext") == ""


def test_the_first_screen_has_nothing_of_what_asks_and_of_a_helper_that_it_has_not() -> None:
    screens = (
        "import app.cli.privileges, app.privsep.client, app.cli.session_context, app.tui.app, app.tui.devices.screen"
    )
    asking = ("choice_list", "confirm", "field_dialog", "guarded_dialog", "question")
    others = ("tomllib", "app.privsep.read_policy", "backends.system.privsep.host", "app.tui.palette")
    assert loaded_by(screens, *(f"widgets.{name}" for name in asking), *others) == ""


def test_the_first_screen_has_no_lists_of_files_and_choices_and_no_encryption() -> None:
    start = "from app.startup import import_asyncio, import_textual; import_asyncio(); import_textual()"
    screens = f"{start}; import app.tui.app, app.tui.devices.screen"
    assert (
        loaded_by(screens, "textual.widgets._directory_tree", "textual.widgets._select", "textual.types", "ssl") == ""
    )
    later = f"{screens}; import textual.types; textual.types.SelectType; import app.tui.palette"
    assert loaded_by(later, "textual.types", "textual.command") == "textual.command textual.types"


def test_the_folders_of_a_user_are_found_without_what_starts_programs() -> None:
    look = "from app.core.session.paths import Paths; Paths.of('')"
    assert loaded_by(look, "asyncio", "backends.system.local", "platformdirs") == ""


def test_what_was_written_to_a_device_is_looked_up_without_libcrypto_where_nothing_was() -> None:
    look = "from pathlib import Path; from app.core.benchmark.preconditioning import PreconditionHistory; "
    look += "from backends.identity import Identity; thing = Identity(name='sda', serial='S1'); "
    look += "PreconditionHistory(Path('/nowhere')).last_written(thing)"
    assert loaded_by(look, "hashlib", "app.core.fio.job", "app.core.benchmark.run_plan") == ""


def test_a_card_is_listed_from_the_bus_without_what_reads_its_firmware() -> None:
    assert loaded_by("import backends.vendors.hba.backend", "backends.vendors.megaraid.inventory") == ""


def imported_by(*words: str) -> set[str]:
    """Return the modules that the program has imported when it ends, except those of the bare interpreter.

    Path files of installed packages (site) may import modules before the program does. They are not processed here.
    """
    code = f"import site, sys; bare = set(sys.modules); sys.argv = {['raidbench', *words]!r}; "
    code += "from app.__main__ import main; main(); print(); print(*(set(sys.modules) - bare))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


def test_the_version_is_told_by_four_modules_of_the_house_and_nothing_large() -> None:
    house = {"app", "app.__main__", "app.startup", "backends", "backends.version"}
    assert imported_by("--version") - house <= {"__future__", "gc"}


def test_a_page_of_help_needs_neither_an_event_loop_nor_the_engine() -> None:
    loaded = imported_by("--help")
    ours = {name for name in loaded if name.startswith(("app.core.", "backends."))}
    assert ours <= {
        "app.core.session",
        "app.core.session.trusted_file",
        "app.core.session.paths",
        "app.core.themes",
        "backends.errors",
        "backends.system",
        "backends.input_file",
        "backends.simulator",
        "backends.simulator.profiles",
        "backends.json_text",
        "backends.did_you_mean",
        "backends.text",
        "backends.values",
    }
    assert not {"asyncio", "subprocess", "socket", "textual", "rich"} & loaded


def test_devices_loads_no_session_no_workbench_and_nothing_that_measures(machine: str) -> None:
    loaded = imported_by("--machine", machine, "devices")
    session = ("app.core.session.state", "app.core.session.events", "app.core.session.sweep")
    unwanted = ("app.tui", "app.core.workbench", "app.core.benchmark", "app.core.fio.job", *session, "platformdirs")
    assert not [name for name in loaded if name.startswith(unwanted)]


def test_a_version_that_nobody_reads_ends_in_peace() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "app", "--version"], cwd=ROOT, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_every_command_in_the_help_can_be_imported(cli: Cli) -> None:
    from app.cli.command_index import COMMANDS

    assert {name: cli(name, "--help").status for name in COMMANDS} == dict.fromkeys(COMMANDS, 0)


def test_without_a_terminal_the_workbench_does_not_open_and_the_reason_is_said() -> None:
    done = program()
    assert (done.status, "needs a terminal" in done.err) == (2, True)


def test_a_dumb_terminal_is_told_so() -> None:
    status, _, shown = on_terminal(env={"TERM": "dumb"}, all_streams=True)
    assert (status, "cannot" in shown or "TERM is dumb" in shown) == (2, True)


def test_the_version_goes_to_standard_output(cli: Cli) -> None:
    assert cli("--version").out.startswith("raidbench ")


def test_an_unknown_command_is_wrong_usage(cli: Cli) -> None:
    assert cli("defrag").status == 2


def test_completion_for_bash_is_made(tmp_path: Path) -> None:
    assert "complete" in program(env={"_RAIDBENCH_COMPLETE": "bash_source"}).out
