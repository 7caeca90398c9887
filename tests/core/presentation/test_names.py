"""Whatever tells of a recorded setting, field of a job or fact beneath a run calls it as the screens of devices do."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

import backends.vendors
from app.core.analysis.sample_groups import Replicates
from app.core.presentation.labels import key_name, key_value, setup_label, workload_label
from app.core.presentation.preview import preview_facts
from app.core.presentation.run_list import ListedRun, runs_table
from app.core.presentation.table import Tone, text_of
from app.core.session.events import RunStarted
from app.core.session.state import RunRecord, replay
from backends.registry import declared_settings
from backends.settings import Setting
from tests.case_loop import loop_over
from tests.core import sessions

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


@loop_over("package", PACKAGES)
def test_every_setting_of_a_vendor_is_known_by_its_name(package: str) -> None:
    assert sorted({one.key for one in settings_in(package)} - set(declared_settings())) == []


def test_settings_of_one_key_count_in_one_unit() -> None:
    """Else a recorded value would be told in the unit of another vendor."""
    units = {(one.key, one.unit) for package in PACKAGES for one in settings_in(package)}
    assert [key for key, count in Counter(key for key, _ in units).items() if count > 1] == []


@loop_over("package", PACKAGES)
def test_a_recorded_value_has_the_word_that_is_offered_for_it(package: str) -> None:
    offered = [(one.key, choice) for one in settings_in(package) for choice in one.choices]
    assert [choice for key, choice in offered if key_value(key, choice.value) != choice.label] == []


def test_codes_of_the_kernel_have_words() -> None:
    assert [key_value("nomerges", "2"), key_value("in_force_rq_affinity", "1")] == ["no merges", "same group"]


@loop_over(
    ("key", "name"),
    [
        ("read_ahead", "Read-ahead"),
        ("read_ahead_kb", "Kernel read-ahead"),
        ("in_force_read_ahead_kb", "Kernel read-ahead in force"),
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
    assert setup_label("read_ahead=none, strip_size=262144") == "Read-ahead none, Strip size 256 KiB"


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("iodepth=8", "queue depth 8"),
        ("oltp, iodepth=8, rwmixread=70", "oltp, queue depth 8, read share 70 %"),
        ("mixed-4k", "mixed-4k"),
        ("of_another=1", "of_another=1"),
    ],
)
def test_a_workload_of_a_sweep_is_named_by_the_fields_of_its_job(column: str, told: str) -> None:
    assert workload_label(column) == told


@pytest.mark.parametrize("row", ["as it is", "FastPath, cold", "of_another=1"])
def test_a_set_up_with_a_name_of_its_own_keeps_it(row: str) -> None:
    assert setup_label(row) == row


def test_the_column_of_a_setting_is_headed_by_its_name() -> None:
    runs = replay([*sessions.run("r1"), *sessions.run("r2", settings={"read_ahead_kb": "64"})]).runs
    table = runs_table([ListedRun(record=run, name=run.id, repeats=Replicates(runs)) for run in runs], full=False)
    at = [column.title for column in table.columns].index("Kernel read-ahead")
    assert [text_of(row.cells[at]) for row in table.rows] == ["128 KiB", "64 KiB"]


def test_what_was_in_force_is_told_by_name_and_unit() -> None:
    (run,) = replay(sessions.run("r1")).runs
    facts = [fact for group in preview_facts(run, None, (run,)) for fact in group.facts]
    assert ("Kernel read-ahead", "128 KiB") in [(fact.label, fact.value) for fact in facts]


def test_read_ahead_of_a_card_and_of_the_kernel_are_told_apart() -> None:
    first, other = {"read_ahead": "none", "read_ahead_kb": "128"}, {"read_ahead": "adaptive", "read_ahead_kb": "64"}
    runs = replay([*sessions.run("r1", settings=first), *sessions.run("r2", settings=other)]).runs
    table = runs_table([ListedRun(record=run, name=run.id, repeats=Replicates(runs)) for run in runs], full=True)
    row = dict(zip((column.title for column in table.columns), map(text_of, table.rows[1].cells), strict=True))
    assert (row["Read-ahead"], row["Kernel read-ahead"]) == ("adaptive", "64 KiB")


def fallen_back() -> RunRecord:
    """A run for which write-back was set while the card wrote through."""
    start, *others = sessions.run("r1", settings={"write_cache": "write-back"})
    assert isinstance(start, RunStarted)
    (run,) = replay([replace(start, provenance={"in_force_write_cache": "write-through"}), *others]).runs
    return run


def test_what_was_set_without_being_in_force_is_not_told_as_in_force() -> None:
    run = fallen_back()
    (group,) = [one for one in preview_facts(run, None, (run,)) if one.heading == "In force"]
    assert [(fact.value, fact.tone) for fact in group.facts] == [
        ("write-through, set: write-back", Tone.ATTENTION),
    ]


def test_runs_that_differ_only_in_what_was_in_force_have_a_column_of_it() -> None:
    (run,) = replay(sessions.run("r2", settings={"write_cache": "write-back"})).runs
    runs = (fallen_back(), run)
    table = runs_table([ListedRun(record=one, name=one.id, repeats=Replicates(runs)) for one in runs], full=True)
    at = [column.title for column in table.columns].index("Write cache")
    assert [text_of(row.cells[at]) for row in table.rows] == ["write-through, set: write-back", "write-back"]
