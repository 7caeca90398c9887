"""What every backend must do, whatever it speaks to. Subclass, give the fixtures, and pytest runs the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from backends import guard
from backends.change import Change
from backends.errors import BlockedError, InvalidValueError, NotFoundError, RefusedError
from backends.guard import Intent, look_at
from backends.host import Completed, FileStat
from backends.model import Target
from backends.protocol import Backend
from backends.settings import Availability, Reading
from tests.backends.fakes import FakeHost


def candidates(reading: Reading) -> list[str]:
    """Some legal values: every choice, or ends and neighbours of the span."""
    if reading.span is None:
        return [choice.value for choice in reading.choices]
    span = reading.span
    wanted = {span.minimum, span.minimum + span.step, span.minimum + 2 * span.step, span.maximum}
    wanted.add(span.maximum - (span.maximum - span.minimum) % span.step)
    legal = sorted(value for value in wanted if value <= span.maximum and not (value - span.minimum) % span.step)
    return [str(value) for value in legal]


class Conformance:
    """The rules of backends.protocol as tests. Fixtures wanted: `backend` and `targets` (which may be changed)."""

    @pytest.fixture
    def backend(self) -> Backend:
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        raise NotImplementedError

    async def test_finds_something(self, backend: Backend) -> None:
        found = await backend.inventory()
        assert found.drives or found.arrays or found.controllers

    async def test_two_probes_are_equal(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        first, second = await backend.inventory(), await backend.inventory()
        for target in targets:  # on a real machine, others may come and go beside ours
            assert first.find(str(target)) == second.find(str(target))

    async def test_addresses_are_unique(self, backend: Backend) -> None:
        found = await backend.inventory()
        addresses = [str(controller.target) for controller in found.controllers]
        addresses += [str(array.target) for array in found.arrays]
        addresses += [str(drive.target) for drive in found.drives]
        assert len(addresses) == len(set(addresses))

    async def test_every_target_can_be_found_and_has_settings(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        found = await backend.inventory()
        assert targets
        assert all(found.find(str(target)) is not None and backend.settings(target) for target in targets)

    async def test_every_setting_declared_is_read(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        for target in targets:
            declared = [setting.key for setting in backend.settings(target)]
            assert list(await backend.read(target)) == declared

    async def test_every_setting_and_choice_explains_itself(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        for target in targets:
            assert all(setting.label and setting.help for setting in backend.settings(target))

    async def test_values_are_legal_values(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        for target in targets:
            for key, reading in (await backend.read(target)).items():
                if reading.now in (None, "unknown") or reading.availability != Availability():
                    continue
                legal = [choice.value for choice in reading.choices]
                span = reading.span
                inside = span is not None and span.minimum <= int(reading.now or 0) <= span.maximum
                assert reading.now in legal or inside, key

    async def test_blocked_settings_say_why_and_refuse_a_plan(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        for target in targets:
            for key, reading in (await backend.read(target)).items():
                if not reading.availability.available:
                    assert reading.availability.why_not
                    with pytest.raises(BlockedError):
                        await backend.plan(target, key, reading.now or "0")

    async def test_unknown_settings_and_values_are_refused(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        for target in targets:
            with pytest.raises(NotFoundError):
                await backend.plan(target, "no_such_setting", "1")
            for key, reading in (await backend.read(target)).items():
                if reading.availability.available:
                    with pytest.raises(InvalidValueError):
                        await backend.plan(target, key, "no such value")

    async def test_planning_changes_nothing(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        for target in targets:
            before = await backend.read(target)
            for key, reading in before.items():
                for value in candidates(reading) if reading.availability.available else ():
                    change = await backend.plan(target, key, value)
                    assert change.writes
                    assert change.undo
                    assert change.before == reading.now
                    assert change.lock
            assert await backend.read(target) == before

    async def test_applying_changes_exactly_that_and_undo_restores(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        for target in targets:
            before = await backend.read(target)
            for key, reading in before.items():
                for value in candidates(reading) if reading.availability.available else ():
                    change = await backend.plan(target, key, value)
                    await backend.apply(change)
                    now = await backend.read(target)
                    assert now[key].now == change.after, f"{key}={value}"
                    moved = {other for other in before if now[other].now != before[other].now}
                    assert moved <= {key, *change.moves}, f"{key}={value}"
                    await backend.apply(change.reversed())
                    assert await backend.read(target) == before, f"undo of {key}={value}"


@dataclass(frozen=True, kw_only=True)
class Destroying:
    """A change that destroys what is on a device of a machine made by hand."""

    host: FakeHost
    backend: Backend
    target: Target
    key: str
    value: str
    node: str
    """Kernel name of the device that would lose its data."""
    sets: Callable[[], Sequence[object]]
    """What has been run that changes something."""

    async def plan(self) -> Change:
        return await self.backend.plan(self.target, self.key, self.value)

    @property
    def devno(self) -> str:
        return self.host.files[f"/sys/block/{self.node}/dev"]


def _mounted(change: Destroying) -> None:
    line = f"\n40 25 {change.devno} / /srv rw - ext4 /dev/{change.node} rw"
    change.host.files["/proc/self/mountinfo"] += line


def _swap(change: Destroying) -> None:
    change.host.files["/proc/swaps"] += f"\n/dev/{change.node} partition 1024 0 -2"


def _holder(change: Destroying) -> None:
    change.host.files[f"/sys/block/{change.node}/holders/dm-0"] = ""


def _opened(change: Destroying) -> None:
    change.host.files |= {"/proc/77/task/77/fd/3": "", "/proc/77/comm": "qemu"}
    change.host.stats["/proc/77/task/77/fd/3"] = FileStat(kind="block", size=0, devno=change.devno)


def _read_only(change: Destroying) -> None:
    change.host.files[f"/sys/block/{change.node}/ro"] = "1"


def _empty(change: Destroying) -> None:
    change.host.files[f"/sys/block/{change.node}/size"] = "0"


def _member(kind: str) -> Callable[[Destroying], None]:
    def put(change: Destroying) -> None:
        change.host.tools["blkid"] = Completed(returncode=0, stdout=f"TYPE={kind}\nUSAGE=raid\n", stderr="")
        change.host.tools["wipefs"] = Completed(returncode=0, stdout='{"signatures": []}', stderr="")

    return put


def _somewhere_else(change: Destroying) -> None:
    """A real machine that is not this one: nothing there can be opened to make sure."""
    change.host.made_up = False
    change.host.files["/proc/1/task/1/fd/0"] = ""


def _blind(change: Destroying) -> None:
    _somewhere_else(change)
    del change.host.files["/proc/swaps"]


_NOT_TRIED = "/dev/{0}: whether it can be opened exclusively was not tested, so it counts as in use."

REFUSING: Mapping[str, tuple[Callable[[Destroying], None], str]] = {
    "mounted": (_mounted, "/dev/{0} is mounted on /srv."),
    "swap": (_swap, "/dev/{0} is active swap."),
    "something built on it": (_holder, "/dev/{0}: /dev/dm-0 is built on it."),
    "open in a program": (_opened, "/dev/{0}: qemu (process 77) has it open."),
    "read-only": (_read_only, "/dev/{0} is read-only."),
    "size zero": (_empty, "/dev/{0} has no medium: its size is 0."),
    "member of an array": (
        _member("linux_raid_member"),
        "/dev/{0} is a member of a RAID or multipath set (linux_raid_member).",
    ),
    "path of a multipath device": (
        _member("mpath_member"),
        "/dev/{0} is a member of a RAID or multipath set (mpath_member).",
    ),
    "cannot be opened to make sure": (_somewhere_else, _NOT_TRIED),
    "swap areas unknown": (_blind, "/dev/{0}: /proc/swaps could not be read, so it counts as in use. " + _NOT_TRIED),
}
"""What makes a device one that is not destroyed, and the sentence by which a run and every change refuse it."""


class DestroyingConformance:
    """The rules of every change that destroys data. Fixture wanted: `change`, which nothing stands against."""

    @pytest.fixture
    def change(self) -> Destroying:
        raise NotImplementedError

    async def test_it_is_made_where_nothing_stands_against_it(self, change: Destroying) -> None:
        await change.backend.apply(await change.plan())
        assert change.sets()

    @pytest.mark.parametrize("state", REFUSING)
    async def test_a_run_that_writes_is_refused(self, change: Destroying, state: str) -> None:
        put, sentence = REFUSING[state]
        put(change)
        _, verdict = await look_at(change.host, f"/dev/{change.node}", Intent.WRITE)
        assert " ".join(verdict.refused) == sentence.format(change.node)

    @pytest.mark.parametrize("state", REFUSING)
    async def test_planning_it_is_refused_by_the_same_sentence(self, change: Destroying, state: str) -> None:
        put, sentence = REFUSING[state]
        put(change)
        with pytest.raises(RefusedError) as caught:
            await change.plan()
        assert str(caught.value) == sentence.format(change.node)

    @pytest.mark.parametrize("state", REFUSING)
    async def test_what_came_after_planning_refuses_it_too(self, change: Destroying, state: str) -> None:
        put, sentence = REFUSING[state]
        planned = await change.plan()
        put(change)
        with pytest.raises(RefusedError) as caught:
            await change.backend.apply(planned)
        assert str(caught.value) == sentence.format(change.node)
        assert not change.sets()

    async def test_it_is_looked_at_again_while_it_is_held(
        self, change: Destroying, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class MountedMeanwhile:
            def __init__(self, *_: object, **__: object) -> None: ...

            async def __aenter__(self) -> None:
                _mounted(change)

            async def __aexit__(self, *_: object) -> None: ...

        planned = await change.plan()
        _somewhere_else(change)
        monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
        monkeypatch.setattr(guard, "Hold", MountedMeanwhile)
        with pytest.raises(RefusedError, match=f"^/dev/{change.node} is mounted on /srv"):
            await change.backend.apply(planned)
        assert not change.sets()

    async def test_a_device_that_cannot_be_told_from_another_is_not_destroyed(self, change: Destroying) -> None:
        base = f"/sys/block/{change.node}"
        names = ("wwid", "serial", "device/wwid", "device/serial", "device/vpd_pg80", "md/uuid", "diskseq")
        for name in names:
            change.host.files.pop(f"{base}/{name}", None)
        with pytest.raises(RefusedError, match=r"reports neither serial number nor WWN|Its block device is not known"):
            await change.plan()
