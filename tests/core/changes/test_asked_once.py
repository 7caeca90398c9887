"""A question is made of what was read before; what is done, of what is read under the lock, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.change import Change
from backends.errors import RefusedError
from backends.host import Command
from backends.model import Target
from backends.settings import Risk
from backends.simulator.host import SimulatedHost
from backends.simulator.programs import PATHS
from backends.simulator.rack import Rack
from tests.backends.simulator.asking import FAST, still_rack
from tests.counting import CountingHost
from tests.tui.stage import paths_in

KEY = "read_ahead"
READ = "/opt/MegaRAID/storcli/storcli64 /c0/v1 show all J nolog"


class Scene:
    """A workbench on a rack, and somebody else with a tool."""

    def __init__(self, folder: Path, rack: Rack) -> None:
        self.host = CountingHost(SimulatedHost(rack, speed=FAST))
        self.bench = Workbench(self.host, paths=paths_in(folder))
        self.folder = folder / "session"
        self._other = SimulatedHost(rack, speed=FAST)

    async def open(self) -> Target:
        await self.bench.open(self.folder)
        await self.bench.hardware.probe()
        target = (await self.bench.hardware.find("megaraid:/c0/v1")).target
        await self.bench.hardware.read(target)
        self.host.ran.clear()
        return target

    async def somebody_sets(self, words: str) -> None:
        await self._other.run(Command(argv=(PATHS["storcli64"], *f"/c0/v1 set {words} J nolog".split()), mutates=True))

    async def question(self, target: Target, value: str) -> Change:
        (change,) = await self.bench.hardware.plan_to_show(target, {KEY: value})
        return change


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, still_rack())


async def test_a_value_that_moved_before_or_after_the_question_is_seen_under_the_lock(scene: Scene) -> None:
    target = await scene.open()
    change = await scene.question(target, "read-ahead")
    assert (change.before, scene.host.ran) == ("none", [])
    await scene.somebody_sets("rdcache=ra")
    with pytest.raises(RefusedError, match="changed from none to read-ahead after it was displayed"):
        await scene.bench.changes.apply(change)
    assert not scene.host.sets
    assert (await scene.question(target, "none")).before == "read-ahead"  # what was read then is what is shown next


async def test_an_undo_sees_under_the_lock_what_somebody_else_set_since(scene: Scene) -> None:
    target = await scene.open()
    await scene.bench.changes.apply(await scene.question(target, "read-ahead"))
    shown = await scene.bench.changes.plan_undo("c1")
    await scene.somebody_sets("rdcache=nora")
    ended = await scene.bench.changes.undo("c1", shown=shown)
    assert (ended.result, ended.now) == ("restored", "none")


async def test_an_undo_from_another_process_reads_under_its_lock_once_and_reads_back_once(
    scene: Scene, tmp_path: Path
) -> None:
    target = await scene.open()
    await scene.bench.changes.apply(await scene.question(target, "read-ahead"))
    scene.bench.close()
    await scene.bench.open(scene.folder)
    assert scene.bench.session.changes[0].change.lock == ""  # no log says which lock it is
    shown = await scene.bench.changes.plan_undo("c1")
    scene.host.ran.clear()
    assert (await scene.bench.changes.undo("c1", shown=shown)).is_reverted
    assert scene.host.shown.count(READ) == 2, scene.host.shown
    assert len(scene.host.ran) == 3


async def test_what_destroys_data_is_planned_of_what_is_read_now(scene: Scene) -> None:
    target = await scene.open()
    await scene.somebody_sets("rdcache=ra")
    (change,) = await scene.bench.hardware.plan_to_show(target, {"strip_size": "131072"})
    assert change.risk is Risk.DESTROYS_DATA
    assert any("ra" in write.argv for write in change.writes)
    assert READ in scene.host.shown
