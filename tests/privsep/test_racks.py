"""What only a card or a lasting disk has, through the helper: sets with a volume made anew, rules, volumes missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.core.session.journal import Journal
from app.core.workbench import Workbench
from backends.change import Change
from backends.errors import RefusedError
from backends.guard import Intent, judge_device
from backends.host import Command, Completed
from backends.model import Scope, Target
from tests.backends.simulator.asking import ask
from tests.privsep.racks import Rack, asking_rack

VOLUME = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
CARD = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
DISK = Target(backend="block", address="sdb")
WANTED = {"strip_size": str(128 << 10), "read_ahead": "read-ahead", "write_cache": "write-back"}
OF_THE_CARD = {"patrol_read": "manual", "rebuild_rate": "40"}


@pytest.fixture
async def rack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rack:
    one = asking_rack(tmp_path, monkeypatch)
    await one.bench.open(fresh=True)
    await one.bench.hardware.probe()
    return one


async def now(bench: Workbench, target: Target, keys: dict[str, str]) -> dict[str, str | None]:
    readings = await bench.hardware.read(target)
    return {key: readings[key].now for key in keys}


async def applied(bench: Workbench, changes: tuple[Change, ...]) -> list[str]:
    return [ended.result async for _, ended in bench.changes.apply_all(changes)]


@pytest.mark.parametrize(("target", "wanted"), [(VOLUME, WANTED), (CARD, OF_THE_CARD)], ids=["volume", "card"])
async def test_a_set_is_made_by_the_helper_as_it_was_shown(rack: Rack, target: Target, wanted: dict[str, str]) -> None:
    await applied(rack.bench, await rack.bench.hardware.plan_all(target, wanted))

    assert await now(rack.bench, target, wanted) == wanted


async def test_a_default_may_be_asked_for_in_a_set(rack: Rack) -> None:
    changes = await rack.bench.hardware.plan_all(DISK, {"read_ahead_kb": "64", "wbt_lat_usec": "-1"})

    assert await applied(rack.bench, changes) == ["verified"] * 2


async def test_a_volume_made_anew_comes_back_and_keeps_the_rest_of_the_set(rack: Rack) -> None:
    before = await now(rack.bench, VOLUME, WANTED)
    await applied(rack.bench, await rack.bench.hardware.plan_all(VOLUME, WANTED))
    made = next(one for one in rack.bench.changes.undoable() if one.change.key == "strip_size")

    await rack.bench.changes.undo(made.id, confirm=(await rack.bench.hardware.device_label(VOLUME)).token)

    assert await now(rack.bench, VOLUME, WANTED) == {**WANTED, "strip_size": before["strip_size"]}


async def test_a_volume_that_was_deleted_and_not_made_again_is_made_by_the_helper(rack: Rack, tmp_path: Path) -> None:
    await applied(rack.bench, await rack.bench.hardware.plan_all(VOLUME, {"strip_size": WANTED["strip_size"]}))
    (made,) = rack.bench.changes.undoable()
    await ask(rack.host, "storcli64", "/c0/v1 del force", mutates=True)

    left = Journal(tmp_path / "root" / "journal").intent_of(made.id, rack.bench.require_recording())
    assert left is not None
    _, plate = await rack.bench.changes.plan_remake(left)
    await rack.bench.changes.remake(left, plate.token)

    assert (await now(rack.bench, VOLUME, WANTED))["strip_size"] == WANTED["strip_size"]


async def test_values_are_kept_after_a_reboot_by_the_file_that_was_shown(rack: Rack) -> None:
    values = {"read_ahead_kb": "512"}
    rule = (await rack.bench.keeping.plan_rules(DISK, values))[0].rule

    await rack.bench.keeping.install_rule(DISK, rule, values)

    assert await rack.host.read(rule.path) == rule.text


async def test_a_file_that_was_put_in_place_is_made_known_to_whoever_reads_it(
    rack: Rack, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    async def noted(command: Command) -> Completed:
        ran.append(command.argv)
        return Completed(returncode=0, stdout="", stderr="")

    values = {"read_ahead_kb": "512"}
    rule = (await rack.bench.keeping.plan_rules(DISK, values))[0].rule
    monkeypatch.setattr(rack.host, "run", noted)
    await rack.bench.keeping.install_rule(DISK, rule, values)

    assert rule.reload
    assert ran == [("/usr/bin/udevadm", *argv[1:]) for argv in rule.reload]


async def test_a_file_that_would_be_another_by_now_is_not_written(rack: Rack) -> None:
    rule = (await rack.bench.keeping.plan_rules(DISK, {"read_ahead_kb": "512"}))[0].rule

    with pytest.raises(RefusedError, match="no longer matches what you confirmed"):
        await rack.bench.keeping.install_rule(DISK, rule, {"read_ahead_kb": "1024"})

    assert await rack.host.read(rule.path) is None


@pytest.mark.parametrize(("intent", "writing"), [(Intent.WRITE, True), (Intent.READ, False)])
async def test_the_helper_is_asked_about_writing_where_something_is_to_be_written(
    rack: Rack, monkeypatch: pytest.MonkeyPatch, intent: Intent, writing: bool
) -> None:
    asked: list[object] = []
    ask = rack.side.ask

    async def noted(verb: str, **args: object) -> Mapping[str, Any]:
        asked.append((verb, args["writing"]))
        return await ask(verb, **args)

    monkeypatch.setattr(rack.side, "ask", noted)
    await judge_device(rack.bench.host, "/dev/sdb", intent)
    assert asked == [("facts", writing)]
