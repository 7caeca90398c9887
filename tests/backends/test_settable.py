"""What no vendor on the common ground can leave out, however little it says itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep
from backends.errors import AnotherDeviceError, RefusedError
from backends.identity import Identity
from backends.model import Target
from backends.settings import Choice, Reading, Setting
from backends.settings_backend import Settable
from tests.backends.fakes import FakeHost

TARGET = Target(backend="acme", address="c0/v1")
PATH = "/sys/acme/c0/v1/speed"


class Acme(Settable[str]):
    """One file with one value; what is seen is its text."""

    serial = "S1"

    def settings(self, target: Target) -> tuple[Setting, ...]:
        return (Setting(key="speed", label="Speed", help="How fast."),)

    async def read_state(self, target: Target, *, back: bool = False) -> str:
        return await self._host.read(PATH) or ""

    async def readings_of(self, seen: str) -> Mapping[str, Reading]:
        return {"speed": Reading(now=seen, choices=tuple(Choice(value=one, label=one) for one in ("slow", "fast")))}

    def identity_of(self, seen: str, key: str) -> Identity:
        return Identity(name="c0/v1", serial=self.serial)

    async def lock_for(self, seen: str, key: str) -> str:
        return "acme-c0"

    def steps(self, seen: str, key: str, value: str, companions: Mapping[str, str] | None) -> tuple[ChangeStep, ...]:
        return (ChangeStep(path=PATH, text=value),)


@pytest.fixture
def acme() -> Acme:
    return Acme(FakeHost({PATH: "slow"}))


def written(acme: Acme) -> list[tuple[str, str]]:
    host = acme._host
    assert isinstance(host, FakeHost)
    return host.written


async def _fast(acme: Acme) -> Change:
    return await acme.plan(TARGET, "speed", "fast")


async def test_a_change_is_locked_by_what_the_vendor_says_there_and_back(acme: Acme) -> None:
    change = await _fast(acme)
    back = await acme.back(TARGET, "speed", "fast", {})
    assert (change.lock, back.lock) == ("acme-c0", "acme-c0")
    assert change.undo == (ChangeStep(path=PATH, text="slow"),)


async def test_what_was_planned_is_written_once(acme: Acme) -> None:
    change = await _fast(acme)
    await acme.apply(change)
    await acme.apply(change)
    assert written(acme) == [(PATH, "fast")]


async def test_another_device_is_left_alone(acme: Acme) -> None:
    change = await _fast(acme)
    acme.serial = "S2"
    with pytest.raises(AnotherDeviceError):
        await acme.apply(change)
    assert written(acme) == []


@pytest.mark.parametrize(
    "step", [ChangeStep(path="/etc/passwd", text="fast"), ChangeStep(path=PATH, text="x")], ids=str
)
async def test_a_step_that_is_not_its_own_is_not_taken(acme: Acme, step: ChangeStep) -> None:
    change = await _fast(acme)
    for forged in ((step,), (*change.writes, step), ()):
        with pytest.raises(RefusedError):
            await acme.apply(replace(change, writes=forged))
    assert written(acme) == []


async def test_a_companion_that_nobody_declared_does_not_come_back(acme: Acme) -> None:
    with pytest.raises(RefusedError, match="saved=on cannot be restored together with speed"):
        await acme.back(TARGET, "speed", "fast", {"saved": "on"})
