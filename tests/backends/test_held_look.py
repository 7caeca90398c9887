"""The second look: what has changed by the time the device is held ends it there, before a byte is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from backends import guard
from backends.errors import AnotherDeviceError, DeviceGoneError, RefusedError
from backends.guard import Intent, claim_device, require_free
from backends.identity import Identity, Signature, Use
from backends.topology.facts import DeviceFacts
from tests.backends.fakes import FakeHost
from tests.backends.test_guard_verdict import FREE

TWIN = Identity(name="sdc", serial="S1", devno="8:32", diskseq="5", size_bytes=1 << 30)
EXT4 = Signature(kind="ext4", label="mail")


class Held:
    """A hold that opens nothing and notes what it is asked to hold."""

    opened: list[str]

    def __init__(self, device: str, identity: Identity, *, write: bool, exclusive: bool = False) -> None:
        self.device = f"{device} {'exclusive' if exclusive else 'plain'}{' for writing' if write else ''}"

    async def __aenter__(self) -> Held:
        Held.opened.append(self.device)
        return self

    async def __aexit__(self, *_: object) -> None:
        Held.opened.append(f"let go of {self.device}")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[DeviceFacts]]:
    """What the guard sees, look by look."""
    seen: list[DeviceFacts] = []

    async def facts(*_: object) -> DeviceFacts:
        return seen.pop(0)

    monkeypatch.setattr(guard, "_facts", facts)
    monkeypatch.setattr(guard, "DeviceClaim", Held)
    monkeypatch.setattr(guard, "claim_on", lambda host: lambda device, devno: None)
    Held.opened = []
    yield seen
    assert seen == []


async def write(**how: object) -> None:
    async with claim_device(FakeHost({}), "/dev/sdb", Intent.WRITE, **how):  # type: ignore[arg-type]
        Held.opened.append("written")


async def test_what_stayed_the_same_is_held_and_written(looks: list[DeviceFacts]) -> None:
    looks += [FREE, FREE]
    await write()
    assert Held.opened == [
        "/dev/sdb exclusive for writing",
        "written",
        "let go of /dev/sdb exclusive for writing",
    ]


@pytest.mark.parametrize(
    ("then", "error"),
    [
        (replace(FREE, identity=replace(TWIN, name="sdb", serial="S2")), AnotherDeviceError),
        (replace(FREE, identity=replace(TWIN, name="sdb", serial="S1", diskseq="9")), AnotherDeviceError),
        (replace(FREE, identity=None), DeviceGoneError),
        (replace(FREE, along=(TWIN,)), AnotherDeviceError),
        (replace(FREE, uses=(Use(kind="mount", detail="mounted on /srv"),)), RefusedError),
        (replace(FREE, unknown=("its holders cannot be read",)), RefusedError),
        (replace(FREE, signatures=(EXT4,)), RefusedError),
    ],
    ids=["another disk", "put in again", "gone", "on another disk", "mounted", "not to be known", "made anew"],
)
async def test_what_changed_by_the_time_it_is_held_is_not_written(
    looks: list[DeviceFacts], then: DeviceFacts, error: type[Exception]
) -> None:
    looks += [FREE, then]
    with pytest.raises(error):
        await write()
    assert "written" not in Held.opened


async def test_what_lies_on_it_only_now_is_not_covered_by_the_word_that_was_typed(looks: list[DeviceFacts]) -> None:
    before = replace(FREE, signatures=(EXT4,))
    verdict = guard.judge(before, Intent.WRITE)
    looks += [before, replace(FREE, signatures=(EXT4, Signature(kind="xfs", part="sdb1")))]
    with pytest.raises(RefusedError, match="changed after you confirmed it"):
        await write(typed=verdict.confirm_text, shown=verdict.content)
    assert "written" not in Held.opened


async def test_what_was_chosen_is_compared_before_anything_is_opened(looks: list[DeviceFacts]) -> None:
    looks += [FREE]
    with pytest.raises(AnotherDeviceError):
        await write(meant=replace(TWIN, name="sdb", serial="S2"))
    assert Held.opened == []


async def test_everything_that_the_same_bytes_can_be_reached_by_is_held_with_it(looks: list[DeviceFacts]) -> None:
    both = replace(FREE, along=(TWIN,))
    looks += [both, both]
    await write()
    assert Held.opened[:3] == ["/dev/sdb exclusive for writing", "/dev/sdc exclusive", "written"]


async def test_a_tool_that_destroys_is_let_at_what_stayed_the_same_alone(looks: list[DeviceFacts]) -> None:
    looks += [FREE, replace(FREE, signatures=(EXT4,))]
    with pytest.raises(RefusedError, match="changed after you confirmed it"):
        await require_free(FakeHost({}), "/dev/sdb", ())
    assert Held.opened[0] == "/dev/sdb exclusive"  # udev would open it again when what was open for writing is closed


@pytest.mark.parametrize("when", [0, 1], ids=["before", "while it is held"])
async def test_a_tool_that_destroys_is_not_let_at_what_is_in_use(looks: list[DeviceFacts], when: int) -> None:
    used = replace(FREE, uses=(Use(kind="mount", detail="mounted on /srv"),))
    looks += [FREE, used] if when else [used]
    with pytest.raises(RefusedError, match="mounted on /srv"):
        await require_free(FakeHost({}), "/dev/sdb", ())
    assert len(Held.opened) == 2 * when


async def test_what_is_only_read_is_opened_for_reading_and_beside_others(looks: list[DeviceFacts]) -> None:
    looks += [replace(FREE, uses=(Use(kind="mount", detail="mounted on /srv"),))]
    async with claim_device(FakeHost({}), "/dev/sdb", Intent.READ):
        pass
    assert Held.opened == ["/dev/sdb plain", "let go of /dev/sdb plain"]


@pytest.mark.parametrize(
    ("facts", "intent"),
    [
        (replace(FREE, size_bytes=0), Intent.READ),
        (replace(FREE, uses=(Use(kind="mount", detail="mounted on /srv"),)), Intent.WRITE),
    ],
    ids=["read", "written"],
)
async def test_what_is_refused_is_not_opened(looks: list[DeviceFacts], facts: DeviceFacts, intent: Intent) -> None:
    looks += [facts]
    with pytest.raises(RefusedError):
        async with claim_device(FakeHost({}), "/dev/sdb", intent):
            pass
    assert Held.opened == []
