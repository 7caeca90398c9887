"""What moved along with a change: reported, set again, taken back with it, or left alone as another's."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from app.core.changes.executor import ChangeExecutor
from app.core.session import journal as journal_module
from app.core.session.events import AnyEvent, ChangeEnded
from app.core.session.journal import Journal, boot_clock
from app.core.session.state import ChangeRecord, Session, fold
from app.core.workbench import Workbench
from backends.change import Change
from backends.errors import RefusedError
from backends.model import Target
from backends.simulator.queue import write_queue
from backends.simulator.rack import Rack
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import FakeHost, disk, machine
from tests.tui.stage import paths_in

SDA = Target(backend="block", address="sda")
QUEUE = "/sys/block/sda/queue"
START = {
    "scheduler": "[none] mq-deadline bfq",
    "read_ahead_kb": "64",
    "nr_requests": "32",
    "rq_affinity": "1",
    "nomerges": "0",
    "wbt_lat_usec": "2000",
    "max_sectors_kb": "1280",
    "max_hw_sectors_kb": "1280",
    "write_cache": "write back",
    "add_random": "0",
    "iostats": "1",
    "rotational": "1",
    "logical_block_size": "512",
    "optimal_io_size": "0",
}


class KilledError(BaseException):
    """The process ends here."""


class Scene:
    """A disk whose kernel resets settings as Linux 6.18 does, and processes that come and go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = FakeHost(machine(disk("sda", queue=START, serial="S1", mq__0__nr_tags="32")))
        self.host.kernel = self._written
        self.meddle: Callable[[str], None] = lambda key: None
        self.events: list[AnyEvent] = []
        self.kill_at: int | None = None
        self.writes = 0
        self.process = 0
        self.restart()

    def _written(self, host: FakeHost, path: str, text: str) -> None:
        key = path.removeprefix(f"{QUEUE}/")
        if self.kill_at == self.writes:
            raise KilledError
        self.writes += 1
        rack = Rack()
        write_queue(rack, "sda", key, text, {one: self[one] for one in START}, 32)
        host.files |= {f"{QUEUE}/{one}": value for one, value in rack.queues["sda"].items()}
        self.meddle(key)
        if self.kill_at == self.writes:
            raise KilledError

    def restart(self) -> None:
        """Begin another process with a session of its own."""
        self.process += 1
        self.session = Session()
        self.journal = Journal(self.folder / "journal")
        self.changer = ChangeExecutor(
            backends={"block": BlockBackend(self.host)},
            journal=self.journal,
            locks=self.folder / "locks",
            folder=self.folder / f"session-{self.process}",
            emit=self._emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
            arm=self._arm,
        )

    def _emit(self, event: AnyEvent) -> None:
        self.events.append(event)
        self.session = fold(self.session, event)

    async def _arm(self, until: float) -> None:
        """No watchdog: the test takes the trial back itself."""

    def __getitem__(self, key: str) -> str:
        return self.host.files[f"{QUEUE}/{key}"]

    def __setitem__(self, key: str, value: str) -> None:
        self.host.files[f"{QUEUE}/{key}"] = value

    @property
    def state(self) -> dict[str, str]:
        """All settings."""
        return {key: self[key] for key in START}

    async def plan(self, **values: str) -> tuple[Change, ...]:
        return await BlockBackend(self.host).plan_together(SDA, values)

    async def set(self, until: float | None = None, /, **values: str) -> list[ChangeEnded]:
        planned = await self.plan(**values)
        return [ended async for _, ended in self.changer.apply_all(planned, until=until)]

    def record(self, change_id: str) -> ChangeRecord:
        found = self.session.change(change_id)
        assert found is not None
        return found

    async def undo(self, change_id: str) -> ChangeEnded:
        return await self.changer.undo(self.record(change_id))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Every process that has left something open counts as killed."""
    monkeypatch.setattr(journal_module, "is_running", lambda pid, start: False)
    return Scene(tmp_path)


MOVING = {"max_sectors_kb": "256", "write_cache": "write-through", "iostats": "0", "add_random": "1"}
"""A value of each setting whose write resets read-ahead."""


def moves(ended: ChangeEnded) -> list[tuple[str, str | None, str | None, bool]]:
    return [(one.key, one.before, one.now, one.explained) for one in ended.moved or ()]


@pytest.mark.parametrize("order", list(itertools.permutations(("read_ahead_kb", "max_sectors_kb", "iostats"))))
async def test_all_values_of_a_set_are_in_force_whatever_its_order(scene: Scene, order: tuple[str, ...]) -> None:
    wanted = {"read_ahead_kb": "128", "max_sectors_kb": "256", "iostats": "0"}
    ends = await scene.set(**{key: wanted[key] for key in order})
    assert [ended.result for ended in ends] == ["verified"] * 3
    assert {key: scene[key] for key in wanted} == wanted


@pytest.mark.parametrize("key", MOVING)
async def test_what_moved_along_is_told_and_comes_back(scene: Scene, key: str) -> None:
    (ended,) = await scene.set(**{key: MOVING[key]})
    led_to = "512" if key == "max_sectors_kb" else "2560"
    assert (ended.result, moves(ended), scene["read_ahead_kb"]) == (
        "verified",
        [("read_ahead_kb", "64", led_to, True)],
        led_to,
    )
    undone = await scene.undo("c1")
    assert (undone.result, scene.state) == ("verified", START)
    assert [(one.key, one.now, one.restored) for one in undone.moved or ()] == [("read_ahead_kb", "64", True)]


@pytest.mark.parametrize("key", MOVING)
async def test_what_somebody_set_since_stays_though_the_way_back_resets_it(scene: Scene, key: str) -> None:
    await scene.set(**{key: MOVING[key]})
    scene["read_ahead_kb"] = "12"
    undone = await scene.undo("c1")
    assert (undone.result, scene.state) == ("verified", START | {"read_ahead_kb": "12"})
    assert undone.message == "read_ahead_kb was set to 12 KiB by another program and was left unchanged"


@pytest.mark.parametrize("order", [("c1", "c2"), ("c2", "c1")])
@pytest.mark.parametrize("together", [True, False], ids=["one set", "two sets"])
async def test_both_come_back_in_either_order(scene: Scene, order: tuple[str, str], together: bool) -> None:
    bench = await opened(scene)
    if together:
        await made(bench, read_ahead_kb="128", max_sectors_kb="256")
    else:
        await made(bench, read_ahead_kb="128")
        await made(bench, max_sectors_kb="256")
    for change_id in order:
        assert (await bench.changes.undo(change_id)).is_reverted
    assert scene.state == START


@pytest.mark.parametrize("order", list(itertools.permutations(("c1", "c2", "c3"))))
async def test_three_that_move_the_same_come_back_in_any_order(scene: Scene, order: tuple[str, ...]) -> None:
    bench = await opened(scene)
    await made(bench, max_sectors_kb="256")
    await made(bench, iostats="0")
    await made(bench, max_sectors_kb="512")
    with suppress(RefusedError):  # one of two changes of the same setting may have to wait for the other
        for change_id in order:
            await bench.changes.undo(change_id)
        assert scene.state == START


@pytest.mark.parametrize("order", [("c1", "c2"), ("c2", "c1")])
async def test_a_value_that_was_set_on_top_of_a_side_effect_goes_back_below_it(
    scene: Scene, order: tuple[str, str]
) -> None:
    bench = await opened(scene)
    await made(bench, max_sectors_kb="256")
    await made(bench, read_ahead_kb="128")
    for change_id in order:
        assert (await bench.changes.undo(change_id)).is_reverted
    assert scene.state == START


async def test_so_it_does_where_the_change_below_was_taken_back_by_another_hand(scene: Scene) -> None:
    bench = await opened(scene)
    await made(bench, max_sectors_kb="256")
    await made(bench, read_ahead_kb="128")
    scene["max_sectors_kb"] = "1280"
    assert (await bench.changes.undo("c1")).result == "restored"
    await bench.changes.undo("c2")
    assert scene.state == START


async def test_a_value_of_ones_own_that_is_also_a_default_is_no_side_effect_of_what_is_over(scene: Scene) -> None:
    bench = await opened(scene)
    await made(bench, max_sectors_kb="256")
    await bench.changes.undo("c1")
    await made(bench, read_ahead_kb="512")
    await made(bench, iostats="0")
    last = bench.session.changes[-1]
    assert (last.change.key, scene["read_ahead_kb"]) == ("iostats", "2560")
    await bench.changes.undo(last.id)
    assert scene.state == START | {"read_ahead_kb": "512"}


async def test_a_default_that_somebody_sets_after_the_side_effect_is_over_is_theirs(scene: Scene) -> None:
    bench = await opened(scene)
    await made(bench, read_ahead_kb="128")
    await made(bench, max_sectors_kb="256")
    await bench.changes.undo("c2")
    scene["read_ahead_kb"] = "512"
    with pytest.raises(RefusedError, match="Another program changed it"):
        await bench.changes.undo("c1")
    assert scene["read_ahead_kb"] == "512"


async def test_a_move_that_no_table_has_is_somebody_elses(scene: Scene) -> None:
    def meddle(key: str) -> None:
        scene["nomerges"] = "2"

    scene.meddle = meddle
    (ended,) = await scene.set(max_sectors_kb="256")
    assert ("nomerges", "0", "2", False) in moves(ended)
    scene.meddle = lambda key: None
    await scene.undo("c1")
    assert scene.state == START | {"nomerges": "2"}


async def test_a_value_to_which_the_kernel_resets_nothing_is_somebody_elses(scene: Scene) -> None:
    def meddle(key: str) -> None:
        scene["read_ahead_kb"] = "12"

    scene.meddle = meddle
    (ended,) = await scene.set(max_sectors_kb="256")
    assert moves(ended) == [("read_ahead_kb", "64", "12", False)]
    scene.meddle = lambda key: None
    await scene.undo("c1")
    assert scene.state == START | {"read_ahead_kb": "12"}


async def test_a_value_that_somebody_changed_in_the_middle_of_a_set_differs(scene: Scene) -> None:
    def meddle(key: str) -> None:
        if key == "nomerges":
            scene["rq_affinity"] = "0"

    scene.meddle = meddle
    ends = await scene.set(rq_affinity="2", nomerges="2")
    assert [(ended.id, ended.result) for ended in ends] == [("c1", "verified"), ("c2", "verified"), ("c1", "differs")]
    assert "Completion CPU is 0 at the end of the set" in ends[-1].message
    with pytest.raises(RefusedError, match="Another program changed it"):
        await scene.undo("c1")
    assert scene["rq_affinity"] == "0"


async def test_what_a_later_change_of_a_set_moved_is_set_once_more(scene: Scene) -> None:
    """Two sets' worth of changes in the wrong order, as from two targets of one disk."""
    first, second = (*(await scene.plan(read_ahead_kb="128")), *(await scene.plan(max_sectors_kb="256")))
    ends = [ended async for _, ended in scene.changer.apply_all((first, second))]
    assert [ended.result for ended in ends] == ["verified"] * 3
    assert (scene["read_ahead_kb"], scene["max_sectors_kb"]) == ("128", "256")
    for change_id in ("c3", "c2", "c1"):
        await scene.undo(change_id)
    assert scene.state == START


@pytest.mark.parametrize("key", MOVING)
@pytest.mark.parametrize("at", [0, 1])
async def test_a_kill_around_the_write_leaves_a_way_back_for_what_moved(scene: Scene, key: str, at: int) -> None:
    await killed(scene, at, scene.set(**{key: MOVING[key]}))
    for left in scene.journal.unresolved():
        assert await scene.changer.recover(left) == "restored"
    assert (scene.state, scene.journal.unresolved()) == (START, ())


@pytest.mark.parametrize("at", [2, 3, 4])
async def test_a_kill_while_it_is_put_back_is_made_up_for(scene: Scene, at: int) -> None:
    await killed(scene, 1, scene.set(max_sectors_kb="256"))
    (left,) = scene.journal.unresolved()
    await killed(scene, at - 1, scene.changer.recover(left))
    for left in scene.journal.unresolved():
        assert await scene.changer.recover(left) == "restored"
    assert (scene.state, scene.journal.unresolved()) == (START, ())


async def test_recovery_leaves_a_foreign_read_ahead_alone(scene: Scene) -> None:
    await killed(scene, 1, scene.set(max_sectors_kb="256"))
    scene["read_ahead_kb"] = "12"
    (left,) = scene.journal.unresolved()
    assert await scene.changer.recover(left) == "restored"
    assert scene.state == START | {"read_ahead_kb": "12"}


async def test_a_kill_before_the_second_write_of_a_set_is_no_conflict(scene: Scene) -> None:
    await killed(scene, 1, scene.set(read_ahead_kb="128", max_sectors_kb="256"))
    assert [left.change.key for left in scene.journal.unresolved()] == ["max_sectors_kb"]
    scene.kill_at = None
    scene["read_ahead_kb"], scene["max_sectors_kb"] = "64", "1280"
    first, second = await scene.plan(read_ahead_kb="128", max_sectors_kb="256")
    outcomes = scene.changer.apply_all((first, second))
    await anext(outcomes)
    await killed(scene, scene.writes, anext(outcomes))
    left = next(one for one in scene.journal.unresolved() if one.change.key == "read_ahead_kb")
    assert (left.change.before, left.change.at_start, scene["read_ahead_kb"]) == ("64", "512", "512")
    assert await scene.changer.recover(left) == "restored"
    assert scene["read_ahead_kb"] == "64"


@pytest.mark.parametrize("at", [1, 2])
async def test_an_undo_that_was_killed_is_done_again_and_leaves_nothing_open(scene: Scene, at: int) -> None:
    bench = await opened(scene)
    await made(bench, max_sectors_kb="256")
    await killed(scene, at, bench.changes.undo("c1"))
    folder = bench.folder
    bench.close()
    again = Workbench(scene.host, paths=paths_in(scene.folder))
    await again.open(folder)
    await again.hardware.probe()
    assert (await again.changes.undo("c1")).is_reverted
    assert (scene.state, again.changes.journal.unresolved()) == (START, ())


@pytest.mark.parametrize("at", [1, 2])
async def test_an_undo_that_was_killed_is_recovered_to_what_was_before_it(scene: Scene, at: int) -> None:
    bench = await opened(scene)
    await made(bench, max_sectors_kb="256")
    here = scene.state
    await killed(scene, at, bench.changes.undo("c1"))
    folder = bench.folder
    bench.close()
    again = Workbench(scene.host, paths=paths_in(scene.folder))
    await again.open(folder)
    await again.hardware.probe()
    for left in again.changes.journal.unresolved():
        assert await again.changes.recover(left) == "restored"
    assert scene.state == here
    assert (await again.changes.undo("c1")).is_reverted
    assert scene.state == START


async def test_what_moved_comes_back_though_somebody_set_the_value_itself_back(scene: Scene) -> None:
    await scene.set(max_sectors_kb="256")
    scene["max_sectors_kb"] = "1280"
    assert (scene["read_ahead_kb"], (await scene.undo("c1")).result) == ("512", "verified")
    assert scene.state == START


async def test_a_trial_takes_back_what_moved_along(scene: Scene) -> None:
    await scene.set(boot_clock() + 60, read_ahead_kb="128", max_sectors_kb="256")
    for trial in scene.journal.trials():
        assert await scene.changer.restore_settings(trial) == "restored"
    assert scene.state == START


async def test_a_scheduler_brings_back_what_it_reset_unless_somebody_set_it(scene: Scene) -> None:
    await scene.set(scheduler="bfq")
    assert (scene["nr_requests"], scene["wbt_lat_usec"]) == ("256", "0")
    scene["nr_requests"] = "16"
    undone = await scene.undo("c1")
    assert (undone.result, scene.state) == ("verified", START | {"nr_requests": "16"})


async def test_what_a_trial_moved_is_known_after_it_was_kept(scene: Scene) -> None:
    await scene.set(boot_clock() + 60, scheduler="bfq")
    scene._emit(ChangeEnded(at=1.0, id="c1", result="kept", now="bfq"))
    scene.journal.write_outcome("c1", scene.changer.folder, "kept")
    scene["nr_requests"] = "16"
    await scene.undo("c1")
    assert scene.state == START | {"nr_requests": "16"}


async def test_a_queue_size_that_the_old_scheduler_does_not_take_fails_nothing(scene: Scene) -> None:
    await scene.set(scheduler="mq-deadline")
    scene["nr_requests"] = "512"
    undone = await scene.undo("c1")
    assert (undone.result, scene.state) == ("verified", START)
    assert undone.message == (
        "nr_requests was set to 512 requests by another program and could not be preserved: it is now 32 requests"
    )


# -- a step of a set whose value already is the wanted one ------------------------------------------------------------


async def test_a_step_that_an_earlier_one_has_made_is_done(scene: Scene) -> None:
    ends = await scene.set(scheduler="mq-deadline", nr_requests="256")
    assert [(ended.id, ended.result, ended.now) for ended in ends] == [
        ("c1", "verified", "mq-deadline"),
        ("", "verified", "256"),
    ]
    assert [record.id for record in scene.session.changes] == ["c1"]
    await scene.undo("c1")
    assert scene.state == START


async def test_a_value_that_somebody_else_has_set_as_wanted_is_done(scene: Scene) -> None:
    planned = await scene.plan(rq_affinity="2", nomerges="2")
    scene["rq_affinity"] = "2"
    ends = [ended async for _, ended in scene.changer.apply_all(planned)]
    assert [(ended.was_set, ended.result) for ended in ends] == [(False, "verified"), (True, "verified")]
    assert [record.change.key for record in scene.session.changes] == ["nomerges"]
    assert scene.writes == 1


async def test_any_other_value_of_somebody_else_is_refused(scene: Scene) -> None:
    planned = await scene.plan(rq_affinity="2")
    scene["rq_affinity"] = "0"
    with pytest.raises(RefusedError, match="after it was displayed"):
        [ended async for _, ended in scene.changer.apply_all(planned)]
    assert scene["rq_affinity"] == "0"


async def test_a_done_step_that_is_lost_before_the_end_differs_and_is_not_recorded(scene: Scene) -> None:
    planned = await scene.plan(rq_affinity="2", nomerges="2")
    scene["rq_affinity"] = "2"
    scene.meddle = lambda key: scene.__setitem__("rq_affinity", "0") if key == "nomerges" else None
    ends = [ended async for _, ended in scene.changer.apply_all(planned)]
    assert [(ended.was_set, ended.result) for ended in ends] == [
        (False, "verified"),
        (True, "verified"),
        (False, "differs"),
    ]
    assert [event.id for event in scene.events if isinstance(event, ChangeEnded)] == ["c1"]


async def test_a_wanted_value_that_is_on_trial_is_not_done(scene: Scene) -> None:
    planned = await scene.plan(rq_affinity="2")
    await scene.set(boot_clock() + 600, rq_affinity="2")
    with pytest.raises(RefusedError, match=r"^The trial of .* is not decided"):
        [ended async for _, ended in scene.changer.apply_all(planned)]


@pytest.mark.parametrize("order", [("c2", "c3"), ("c3", "c2")])
async def test_a_size_that_another_scheduler_does_not_take_is_undone_in_any_order(
    scene: Scene, order: tuple[str, ...]
) -> None:
    bench = await opened(scene)
    await made(bench, scheduler="mq-deadline")
    before = scene.state
    assert before["nr_requests"] == "256"
    await made(bench, scheduler="none", nr_requests="8")
    for change in order:
        assert (await bench.changes.undo(change)).is_reverted
    assert scene.state == before


async def test_values_before_of_a_change_are_those_without_what_is_undone(scene: Scene) -> None:
    """The second change has moved what the first one had set back to what was there before both."""
    scene["read_ahead_kb"] = "512"
    before, bench = scene.state, await opened(scene)
    await made(bench, read_ahead_kb="128")
    await made(bench, max_sectors_kb="256")
    assert scene["read_ahead_kb"] == "512"
    for change in ("c1", "c2"):
        assert (await bench.changes.undo(change)).is_reverted
    assert scene.state == before


# -- helpers ----------------------------------------------------------------------------------------------------------


async def opened(scene: Scene) -> Workbench:
    """A workbench with a session on the machine of the scene."""
    bench = Workbench(scene.host, paths=paths_in(scene.folder))
    await bench.open(fresh=True)
    await bench.hardware.probe()
    return bench


async def made(bench: Workbench, **values: str) -> None:
    """A set, verified."""
    async for _, ended in bench.changes.apply_all(await bench.hardware.plan_all(SDA, values)):
        assert ended.result == "verified", ended


async def killed(scene: Scene, at: int, work: Awaitable[object]) -> None:
    """The process dies before its write number `at + 1`, or right after number `at`."""
    scene.kill_at = at
    task = asyncio.ensure_future(work)
    with suppress(KilledError):
        await task
    scene.kill_at = None
    gone = scene.changer
    scene.restart()
    assert scene.changer is not gone
