"""The doors of the features: what they name exists and is imported late; features depend on each other in no circle."""

from __future__ import annotations

import os
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import click
import grimp
import pytest

import app.features
from app.cli.command_index import COMMANDS
from app.cli.main import cli
from app.doors import FEATURES, action, doors, import_object
from app.tui.app import WorkbenchApp
from app.tui.base import WorkbenchScreen
from app.tui.commands import HOSTS, SCREENS
from app.tui.feature_hooks import BackgroundWork

ROOT = Path(__file__).parents[1]


def test_the_list_names_every_feature_there_is() -> None:
    folders = {path.parent.name for path in Path(app.features.__path__[0]).glob("*/__init__.py")}
    assert folders == set(FEATURES) == set(doors())


def test_features_depend_on_listed_ones_in_no_circle() -> None:
    order = tuple(TopologicalSorter(FEATURES).static_order())  # raises CycleError
    assert set(order) == set(FEATURES)


def test_features_import_each_other_only_along_the_list() -> None:
    graph = grimp.build_graph("app", exclude_type_checking_imports=True, cache_dir=None)
    undeclared = {
        (feature, other)
        for feature, allowed in FEATURES.items()
        for other in FEATURES
        if other not in (feature, *allowed)
        and graph.direct_import_exists(
            importer=f"app.features.{feature}", imported=f"app.features.{other}", as_packages=True
        )
    }
    assert undeclared == set()


def test_what_the_doors_name_is_there() -> None:
    for feature, door in doors().items():
        for path in door.screens.values():
            assert issubclass(import_object(path), WorkbenchScreen)
        for path in door.background.values():
            assert issubclass(import_object(path), BackgroundWork)
        for name, path in door.actions.items():
            assert callable(import_object(path))
            assert action(f"{feature}.{name}") is import_object(path)


def test_no_two_doors_offer_the_same() -> None:
    for kind in ("commands", "screens", "background"):
        names = [name for door in doors().values() for name in getattr(door, kind)]
        assert len(names) == len(set(names))


def test_an_action_of_a_feature_that_is_gone_is_none() -> None:
    assert action("nobody.does_this") is None


def test_an_action_that_a_feature_lacks_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        action("plots.nothing")


def test_every_command_of_a_door_is_reached_by_its_name_in_the_order_of_their_ranks() -> None:
    context = click.Context(cli)
    for door in doors().values():
        for name, command in door.commands.items():
            assert cli.get_command(context, name) is import_object(command.path)
            assert COMMANDS[name] is command
    ranks = [command.rank for command in COMMANDS.values()]
    assert ranks == sorted(set(ranks))
    assert cli.list_commands(context) == list(COMMANDS)


def test_every_screen_of_the_bar_has_a_class() -> None:
    assert list(WorkbenchApp.MODES) == [HOSTS, *SCREENS]


@pytest.mark.parametrize("feature", FEATURES)
def test_to_import_a_door_imports_nothing_else_of_the_program(feature: str) -> None:
    code = f"import sys, app.doors; before = set(sys.modules); import app.features.{feature}; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["app.features", f"app.features.{feature}"]


WITHOUT = """
import sys
import app.doors

gone = app.doors.FEATURES.keys() & {feature!r}.split()
modules = {{
    path.partition(":")[0]
    for feature in gone
    for door in (app.doors.door(feature),)
    for path in (
        *(command.path for command in door.commands.values()),
        *door.screens.values(), *door.background.values(), *door.actions.values(),
    )
}}

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in modules or name.startswith(tuple(f"app.features.{{one}}" for one in gone)):
            raise ImportError(f"{{name}} is gone")

for name in [*modules, *(f"app.features.{{one}}" for one in gone)]:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Gone())
app.doors.FEATURES = {{name: uses for name, uses in app.doors.FEATURES.items() if name not in gone}}
app.doors.door.cache_clear()

from app.cli.main import cli
from app.cli.command_index import COMMANDS
import app.tui.app

commands = [name for name in COMMANDS]
statuses = [cli.main(words, standalone_mode=False) for words in {words!r}]
print("left:", *commands, *statuses)
"""


def with_dependents(feature: str) -> frozenset[str]:
    """Return a feature and all features that import it, directly or through others."""
    gone = {feature}
    while more := {name for name, imports in FEATURES.items() if gone & set(imports)} - gone:
        gone |= more
    return frozenset(gone)


@pytest.mark.parametrize(
    "feature",
    [pytest.param(name, marks=() if name == "plots" else pytest.mark.long) for name in FEATURES],
)
def test_the_program_works_without_a_feature(feature: str, tmp_path: Path) -> None:
    """Whatever the door names cannot be imported: the other commands and the screens are there all the same."""
    bench = ["--demo", "--demo-speed", "50", "bench", "/c0/v1", "--profile", "randread-4k", "--runtime", "2"]
    words = [["--demo", "devices"], bench, ["--demo", "runs"]]
    gone = with_dependents(feature)
    words += [] if "report" in gone else [["--demo", "report"]]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(feature=" ".join(gone), words=words)],
        cwd=ROOT,
        env={**os.environ, "RAIDBENCH_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    own = {command for name in gone for command in doors()[name].commands}
    assert done.returncode == 0, done.stderr
    left = done.stdout.splitlines()[-1].removeprefix("left: ").split()
    assert left == [*(name for name in COMMANDS if name not in own), *("0" for _ in words)]
