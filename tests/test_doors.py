"""The doors of the features: what they name exists and is imported late; features depend on each other in no circle."""

from __future__ import annotations

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import click
import grimp
import pytest

import app.features
from app.cli.main import cli
from app.cli.names import COMMANDS
from app.commands import HOSTS, SCREENS
from app.doors import FEATURES, action, doors, imported
from app.tui.app import WorkbenchApp
from app.tui.background import BackgroundWork
from app.tui.base import WorkbenchScreen

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
    for door in doors().values():
        for path in door.screens.values():
            assert issubclass(imported(path), WorkbenchScreen)
        for path in door.background.values():
            assert issubclass(imported(path), BackgroundWork)
        for name, path in door.actions.items():
            assert callable(imported(path))
            assert action(name) is imported(path)


def test_no_two_doors_offer_the_same() -> None:
    for kind in ("commands", "screens", "background", "actions"):
        names = [name for door in doors().values() for name in getattr(door, kind)]
        assert len(names) == len(set(names))


def test_an_action_that_no_feature_offers_is_none() -> None:
    assert action("nobody.does_this") is None


def test_every_command_of_a_door_is_reached_by_its_name_in_the_order_of_their_ranks() -> None:
    context = click.Context(cli)
    for door in doors().values():
        for name, command in door.commands.items():
            assert cli.get_command(context, name) is imported(command.path)
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
