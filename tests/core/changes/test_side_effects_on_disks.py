"""A drive's own setting moves settings of the disk that it is to the kernel: told, and taken back along with it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from app.core.session import journal as journal_module
from app.core.workbench import Workbench
from backends.errors import RaidbenchError
from backends.host import Command, Completed
from backends.model import Scope, Target
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.programs import PATHS
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import FAST, NOW
from tests.tui.stage import paths_in


class KilledError(BaseException):
    """The process ends here."""


class Mortal(SimulatedHost):
    """A host on which a process may be killed right after it wrote a cache type."""

    killing = False

    async def write(self, path: str, text: str) -> None:
        await super().write(path, text)
        if self.killing and path.endswith(("cache_type", "rescan")):
            raise KilledError

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        if self.killing and command.mutates:
            raise KilledError
        return done


class Scene:
    """A drive of its own, whose read-ahead somebody has chosen."""

    def __init__(self, folder: Path) -> None:
        self.file = RackFile(folder / "rack.json", make=lambda: linux_rack(lambda: NOW))
        self.name = next(iter(self.file.rack.sata))
        self.disk = Target(backend="block", address=self.name)
        self.drive = Target(backend="scsi", address=self.name)
        self.folder = folder
        self.set(read_ahead_kb="12")

    def set(self, **queue: str) -> None:
        with self.file.edit() as rack:
            rack.queues.setdefault(self.name, {}).update(queue)

    async def opened(self) -> tuple[Workbench, Mortal]:
        host = Mortal(self.file, speed=FAST)
        bench = Workbench(host, paths=paths_in(self.folder))
        await bench.open(fresh=True)
        await bench.hardware.probe()
        return bench, host

    async def values(self, bench: Workbench) -> dict[str, str | None]:
        keys = ("read_ahead_kb", "write_cache", "max_sectors_kb")
        readings = await bench.hardware.read(self.disk)
        return {"drive_cache": (await bench.hardware.read(self.drive))["drive_cache"].now} | {
            key: readings[key].now for key in keys
        }


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(journal_module, "is_running", lambda pid, start: False)
    return Scene(tmp_path)


async def switched(scene: Scene, bench: Workbench) -> list[tuple[str, str, bool]]:
    """Switch the cache; what moved along."""
    other = "off" if (await scene.values(bench))["drive_cache"] == "on" else "on"
    ended = await bench.changes.apply(await bench.hardware.plan(scene.drive, "drive_cache", other))
    assert ended.result == "verified", ended.message
    return [(str(one.target), one.key, one.explained) for one in ended.moved or ()]


async def test_what_a_drives_cache_moves_on_the_kernels_disk_comes_back(scene: Scene) -> None:
    bench, _ = await scene.opened()
    before = await scene.values(bench)
    moved = await switched(scene, bench)
    assert (str(scene.disk), "read_ahead_kb", True) in moved
    assert all(explained for *_, explained in moved)
    assert (await bench.changes.undo("c1")).result == "verified"
    assert await scene.values(bench) == before


async def test_a_read_ahead_that_somebody_set_since_stays(scene: Scene) -> None:
    bench, _ = await scene.opened()
    before = await scene.values(bench)
    await switched(scene, bench)
    scene.set(read_ahead_kb="16")
    await bench.changes.undo("c1")
    assert await scene.values(bench) == before | {"read_ahead_kb": "16"}


async def test_a_kill_after_the_write_leaves_a_way_back_for_the_disk(scene: Scene) -> None:
    bench, host = await scene.opened()
    before = await scene.values(bench)
    host.killing = True
    with suppress(KilledError):
        await switched(scene, bench)
    assert (await scene.values(bench))["read_ahead_kb"] != "12"
    again, _ = await scene.opened()
    for left in again.changes.journal.unresolved():
        assert await again.changes.recover(left) == "restored"
    assert await scene.values(again) == before


async def test_of_two_views_of_one_thing_only_the_changed_one_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FastPath's word follows the policies: putting it back would put all of them back."""
    monkeypatch.setattr(journal_module, "is_running", lambda pid, start: False)
    file = RackFile(tmp_path / "lsi.json", make=lambda: demo_rack(lambda: NOW))
    volume = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
    killed = Workbench(host := Mortal(file, speed=FAST), paths=paths_in(tmp_path))
    await killed.open(fresh=True)
    await killed.hardware.probe()
    host.killing = True
    with suppress(KilledError):
        await killed.changes.apply(await killed.hardware.plan(volume, "read_ahead", "read-ahead"))
    other = SimulatedHost(file, speed=FAST)
    words = (PATHS["storcli64"], "/c0/v1", "set", "iopolicy=cached", "J", "nolog")
    await other.run(Command(argv=words, mutates=True))
    bench = Workbench(SimulatedHost(file, speed=FAST), paths=paths_in(tmp_path))
    await bench.open(fresh=True)
    await bench.hardware.probe()
    (left,) = bench.changes.journal.unresolved()
    assert await bench.changes.recover(left) == "restored"
    readings = await bench.hardware.read(volume)
    assert (readings["read_ahead"].now, readings["io_policy"].now) == ("none", "cached")


async def test_a_disk_under_another_lock_is_not_touched(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _ = await scene.opened()
    await switched(scene, bench)
    monkeypatch.setattr("backends.vendors.block.backend.lock_of", _strange_lock)
    ended = await bench.changes.undo("c1")
    assert (ended.result, (await scene.values(bench))["read_ahead_kb"] == "12") == ("differs", False)
    assert "is not restored automatically" in ended.message


async def _strange_lock(_host: object, _name: str) -> str:
    return "disk-another"


@pytest.mark.parametrize("in_order", [True, False])
async def test_a_set_over_drive_and_disk_is_in_force_as_a_whole(scene: Scene, in_order: bool) -> None:
    bench, _ = await scene.opened()
    other = "off" if (await scene.values(bench))["drive_cache"] == "on" else "on"
    wanted = {"read_ahead_kb": "64", "drive_cache": other}
    planned = await bench.hardware.plan_all(scene.disk, wanted)
    assert [change.key for change in planned] == ["drive_cache", "read_ahead_kb"]
    changes = planned if in_order else planned[::-1]
    ends = [ended async for _, ended in bench.changes.apply_all(changes)]
    assert [ended.result for ended in ends] == ["verified"] * (2 if in_order else 3)
    now = await scene.values(bench)
    assert {key: now[key] for key in wanted} == wanted
    with suppress(RaidbenchError):
        for record in reversed(bench.session.changes):
            if record.in_force:
                await bench.changes.undo(record.id)
    assert (await scene.values(bench))["read_ahead_kb"] == "12"
