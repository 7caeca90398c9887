"""Whatever tells of a recorded setting, field of a job or fact beneath a run calls it as the screens of devices do."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator

import pytest

import backends.vendors
from app.engine.judge.repeats import Repeats
from app.engine.session.state import replay
from app.engine.view.names import key_name, key_value, set_up
from app.engine.view.preview import preview_facts
from app.engine.view.run_list import ListedRun, runs_table
from app.engine.view.table import text_of
from backends.registry import declared
from backends.settings import Setting
from tests.engine import sessions

PACKAGES = [
    found.name
    for found in pkgutil.iter_modules(backends.vendors.__path__, f"{backends.vendors.__name__}.")
    if found.ispkg
]
"""Of all vendors."""


def settings_in(package: str) -> Iterator[Setting]:
    """Every declaration that stands in a module of it."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        for value in vars(importlib.import_module(found.name)).values():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Setting):
                    yield one


@pytest.mark.parametrize("package", PACKAGES)
def test_every_setting_of_a_vendor_is_known_by_its_name(package: str) -> None:
    assert sorted({one.key for one in settings_in(package)} - set(declared())) == []


def test_settings_of_one_key_count_in_one_unit() -> None:
    """Else a recorded value would be told in the unit of another vendor."""
    units = {(one.key, one.unit) for package in PACKAGES for one in settings_in(package)}
    assert [key for key, count in Counter(key for key, _ in units).items() if count > 1] == []


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("read_ahead", "Read-ahead"),
        ("write_cache", "Write cache"),
        ("write_mostly.sda1", "Write-mostly, sda1"),
        ("in_force_write_cache", "Write cache in force"),
        ("iodepth", "Queue depth"),
        ("pci", "PCI address"),
        ("of_a_later_version", "of a later version"),
    ],
)
def test_a_key_has_the_name_that_people_know(key: str, name: str) -> None:
    assert key_name(key) == name


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("strip_size", "262144", "256 KiB"),
        ("read_ahead_kb", "4096", "4096 KiB"),
        ("scheduler", "none", "none"),
        ("iodepth", "32", "32"),
        ("read_ahead_kb", None, "-"),
    ],
)
def test_a_value_has_the_unit_of_its_setting(key: str, value: str | None, told: str) -> None:
    assert key_value(key, value) == told


def test_a_set_up_of_a_sweep_is_named_by_its_settings() -> None:
    assert set_up("read_ahead=none, strip_size=262144") == "Read-ahead none, Strip size 256 KiB"


@pytest.mark.parametrize("row", ["as it is", "FastPath, cold", "of_another=1"])
def test_a_set_up_with_a_name_of_its_own_keeps_it(row: str) -> None:
    assert set_up(row) == row


def test_the_column_of_a_setting_is_headed_by_its_name() -> None:
    runs = replay([*sessions.run("r1"), *sessions.run("r2", settings={"read_ahead_kb": "64"})]).runs
    table = runs_table([ListedRun(record=run, name=run.id, repeats=Repeats(runs)) for run in runs], whole=False)
    at = [column.title for column in table.columns].index("Read-ahead")
    assert [text_of(row.cells[at]) for row in table.rows] == ["128 KiB", "64 KiB"]


def test_what_was_in_force_is_told_by_name_and_unit() -> None:
    (run,) = replay(sessions.run("r1")).runs
    facts = [fact for group in preview_facts(run, None, (run,)) for fact in group.facts]
    assert ("Read-ahead", "128 KiB") in [(fact.label, fact.value) for fact in facts]
