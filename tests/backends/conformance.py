"""What every change that destroys data must do. Subclass, give the fixture, and pytest runs the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from backends import guard
from backends.change import Change
from backends.errors import RefusedError
from backends.guard import Intent, judge_device
from backends.host import Completed, FileStat
from backends.model import Target
from backends.protocol import Backend
from backends.settings import Risk
from tests.backends.fakes import FakeHost


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


_NOT_TRIED = "/dev/{0} cannot be verified as unused: an exclusive open was not tested."

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
    "swap areas unknown": (
        _blind,
        "/dev/{0} cannot be verified as unused: /proc/swaps could not be read. " + _NOT_TRIED,
    ),
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
        _, verdict = await judge_device(change.host, f"/dev/{change.node}", Intent.WRITE)
        assert " ".join(verdict.refused) == sentence.format(change.node)

    @pytest.mark.parametrize("state", REFUSING)
    async def test_planning_it_is_refused_by_the_same_sentence(self, change: Destroying, state: str) -> None:
        put, sentence = REFUSING[state]
        put(change)
        with pytest.raises(RefusedError) as caught:
            await change.plan()
        assert str(caught.value) == sentence.format(change.node)

    @pytest.mark.parametrize("state", REFUSING)
    async def test_a_way_back_that_destroys_it_is_refused_by_the_same_sentence(
        self, change: Destroying, state: str
    ) -> None:
        put, sentence = REFUSING[state]
        put(change)
        with pytest.raises(RefusedError) as caught:
            await change.backend.back(change.target, change.key, change.value, {})
        assert str(caught.value) == sentence.format(change.node)

    async def test_a_way_back_tells_what_lies_there_now(self, change: Destroying) -> None:
        _member("ext4")(change)
        back = await change.backend.back(change.target, change.key, change.value, {})
        assert back.risk is Risk.DESTROYS_DATA
        assert [one.kind for one in back.found or ()] == ["ext4"]

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
        monkeypatch.setattr(guard, "DeviceClaim", MountedMeanwhile)
        with pytest.raises(RefusedError, match=f"^/dev/{change.node} is mounted on /srv"):
            await change.backend.apply(planned)
        assert not change.sets()

    async def test_what_lies_there_only_since_it_was_planned_is_not_destroyed(self, change: Destroying) -> None:
        planned = await change.plan()
        _member("ext4")(change)
        with pytest.raises(RefusedError, match=f"The content of /dev/{change.node} changed after you confirmed it"):
            await change.backend.apply(planned)
        assert not change.sets()

    async def test_another_path_to_it_that_is_mounted_refuses_it(self, change: Destroying) -> None:
        own = f"/sys/block/{change.node}/"
        change.host.files |= {
            path.replace(own, "/sys/block/sdz/"): text
            for path, text in change.host.files.items()
            if path.startswith(own) and ("/md/" not in path or path.endswith("uuid"))
        }
        change.host.files["/sys/block/sdz/dev"] = "65:144"
        change.host.files["/proc/self/mountinfo"] += "\n40 25 65:144 / /srv rw - ext4 /dev/sdz rw"
        with pytest.raises(
            RefusedError, match=r"is the same disk as /dev/sdz, mounted on /srv|does not know which block device"
        ):
            await change.plan()

    async def test_a_device_that_cannot_be_told_from_another_is_not_destroyed(self, change: Destroying) -> None:
        base = f"/sys/block/{change.node}"
        names = ("wwid", "serial", "device/wwid", "device/serial", "device/vpd_pg80", "md/uuid", "diskseq")
        for name in names:
            change.host.files.pop(f"{base}/{name}", None)
        with pytest.raises(RefusedError, match=r"has no serial number and no WWN|does not know which block device"):
            await change.plan()
