"""One thing, one telling: screen, command line and report say the same of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.confirm import review_lines
from app.cli.devices_text import print_device_list, print_target
from app.core.presentation import device
from app.core.presentation.device_table import DeviceListOptions
from app.core.presentation.device_table import devices_table as devices_list
from app.core.presentation.events import describe_event
from app.core.presentation.setting import TuningCells, settings_table
from app.core.presentation.table import Cell
from app.core.session.events import ChangeEnded, ChangeIntended, InventorySeen
from app.core.session.state import replay
from app.features.report.blocks import DefinitionList, ReportTable
from app.features.report.model import report_of
from app.tui import render
from app.tui.devices.device_list import SETTING_COLUMNS, list_rows
from app.tui.devices.staged_changes import confirmation
from backends.change import Change
from backends.device_label import device_label_of
from backends.model import Array, Drive, Inventory, Problem, Scope, State, Target, Task
from backends.settings import Choice, Effect, Persistence, Reading, Risk, Setting
from tests.core import sessions
from widgets.table_layout import plain

VOLUME = Target(backend="mega", address="/c0/v0", scope=Scope.ARRAY)
STRIP = Setting(key="strip_size", label="Strip size", help="Bytes a member.", unit="bytes", effect=Effect.RECREATED)
READING = Reading(
    now="65536",
    choices=(
        Choice(value="65536", label="64 KiB"),
        Choice(value="262144", label="256 KiB", risk=Risk.DESTROYS_DATA),
    ),
)
CHANGE = Change(
    target=VOLUME,
    key="strip_size",
    label="Strip size",
    before="65536",
    after="262144",
    writes=(),
    undo=(),
    risk=Risk.DESTROYS_DATA,
    risk_text="All data of the array are lost.",
    effect=Effect.RECREATED,
    persistence=Persistence.STORED,
    words={"65536": "64 KiB", "262144": "256 KiB"},
)
DEGRADED = Inventory(arrays=(Array(target=VOLUME, state=State.DEGRADED, tasks=(Task(kind="rebuild", progress=0.37),)),))

MARK = "#"
MARKS = "●◐▲✖○◇+~!X-s"
"""Signs of both surfaces."""
MEMBERS = tuple(Target(backend="mega", address=f"/c0/s{number}") for number in range(3))
RACK = Inventory(
    arrays=(Array(target=VOLUME, name="data", state=State.DEGRADED, members=MEMBERS),),
    drives=tuple(
        Drive(target=target, model="ACME", state=State.FAILED if number else State.ONLINE)
        for number, target in enumerate(MEMBERS)
    ),
)
TUNED = {VOLUME: TuningCells(write_cache=Cell("back"))}


def screen_table() -> str:
    rows = render.rows(settings_table((STRIP,), {STRIP.key: READING}, Scope.ARRAY).only(*SETTING_COLUMNS))
    return "  ".join(plain(cell) for cell in rows[0].cells)


def screen_dialog() -> str:
    dialog = confirmation((CHANGE,), {VOLUME: device_label_of(DEGRADED, VOLUME)})
    shown = dialog.changes[0]
    return "  ".join((shown.setting, shown.before, shown.after, shown.effect, *dialog.risks))


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    print_target(DEGRADED.arrays[0], [("", (STRIP,), {STRIP.key: READING})])
    return capsys.readouterr().out


def report() -> str:
    intent = ChangeIntended(at=1.0, id="c1", change=CHANGE)
    ended = ChangeEnded(at=2.0, id="c1", result="verified", now="262144")
    made = report_of(replay([sessions.started(), intent, ended]))
    facts = [
        pair
        for part in made.sections
        for block in part.blocks
        if isinstance(block, DefinitionList)
        for pair in block.pairs
    ]
    return "\n".join([*(part.heading for part in made.sections), *map(" ".join, facts)])


def test_a_value_has_its_unit_on_every_surface(capsys: pytest.CaptureFixture[str]) -> None:
    told = (screen_table(), screen_dialog(), "\n".join(review_lines([CHANGE])), shown(capsys), report())
    assert ["64 KiB" in each and " 65536 " not in each.replace("65536 (64 KiB)", "") for each in told] == [True] * 5


def test_a_risk_has_the_same_words_on_every_surface(capsys: pytest.CaptureFixture[str]) -> None:
    told = (screen_table(), "\n".join(review_lines([CHANGE])), shown(capsys), report())
    assert ["DESTROYS DATA" in each for each in told] == [True] * 4


def test_a_risk_is_the_same_sentence_in_the_dialog_and_in_the_review() -> None:
    sentence = "Strip size: All data of the array are lost."
    assert [sentence in each for each in (screen_dialog(), "\n".join(review_lines([CHANGE])))] == [True, True]


def test_when_it_takes_effect_is_said_alike(capsys: pytest.CaptureFixture[str]) -> None:
    told = (screen_table(), screen_dialog(), "\n".join(review_lines([CHANGE])), shown(capsys))
    assert ["array re-created" in each for each in told] == [True] * 4


def test_how_long_it_stays_is_said_alike() -> None:
    assert ["until changed again" in each for each in ("\n".join(review_lines([CHANGE])), report())] == [True, True]


def test_an_arrays_trouble_is_said_alike(capsys: pytest.CaptureFixture[str]) -> None:
    print_device_list(DEGRADED, "here", {})
    in_report = report_of(replay([sessions.started(), InventorySeen(at=1.0, inventory=DEGRADED)]))
    grids = [block for part in in_report.sections for block in part.blocks if isinstance(block, ReportTable)]
    told = (
        "  ".join(map(plain, list_rows(devices_list(DEGRADED))[0].cells)),
        capsys.readouterr().out,
        shown(capsys),
        "".join(fact.value for group in render.groups(device.device_facts(DEGRADED.arrays[0])) for fact in group.facts),
        str([grid.rows for grid in grids]),
    )
    assert ["rebuild 37 %" in each for each in told] == [True] * 5


def test_the_list_has_the_same_rows_in_the_same_words_on_screen_and_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_device_list(RACK, "here", TUNED, ("name", "state", "write-cache", "model"))
    printed = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    drawn = list_rows(devices_list(RACK, DeviceListOptions(), TUNED).only("name", "state", "write-cache", "model"))
    signs = str.maketrans(dict.fromkeys("▸▾", " ") | dict.fromkeys(MARKS, MARK))
    assert [" ".join(map(plain, row.cells)).translate(signs).split() for row in drawn] == [
        " ".join(words).translate(signs).split() for words in printed
    ]


@pytest.mark.parametrize("hint", ["Install storcli.", ""])
def test_what_could_not_be_read_is_in_the_log_with_its_next_step(hint: str) -> None:
    problem = Problem(where="megaraid", message="storcli cannot be run.", hint=hint)
    seen = InventorySeen(at=1.0, inventory=replace(DEGRADED, problems=(problem,)))
    assert f"megaraid: storcli cannot be run. {hint}".rstrip() in describe_event(seen).body
