"""What all vendors do alike in a change: the device held against the plan, the steps, what is said of a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep
from backends.change_steps import (
    denial_of,
    evidence_of,
    requested_value,
    require_equal_steps,
    require_same_device,
    run_step,
    run_steps,
    setting_of,
    validated_old_value,
)
from backends.errors import (
    AnotherDeviceError,
    BlockedError,
    DeviceGoneError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Command, Completed, WriteDenied
from backends.identity import Identity
from backends.model import Target
from backends.settings import UNCONFIRMED, Availability, Choice, Reading, Risk, Setting, available_unless
from backends.system.wrapped import DryRunHost, ReadOnlyHost
from tests.backends.fakes import FakeHost

SDA = Target(backend="block", address="sda")
CACHE = Setting(key="cache", label="Cache", help="", risk=Risk.POWER_LOSS, risk_text="A power cut loses data.")
PLANNED = Identity(name="sda", serial="A", diskseq="9")
STEPS = tuple(ChangeStep(path=f"/sys/{word}", text="1") for word in ("one", "two", "three"))
CHANGE = Change(
    target=SDA, key="cache", label="Cache", before="off", after="on", writes=STEPS, undo=(), identity=PLANNED
)


def capacity_sources(done: list[str], fails_at: str = "") -> Callable[[ChangeStep], Awaitable[None]]:
    async def take(step: ChangeStep) -> None:
        if fails_at and step.path == fails_at:
            raise ToolFailedError("Not today.", evidence="errno 5")
        done.append(step.path or "")

    return take


async def test_steps_are_taken_in_their_order() -> None:
    done: list[str] = []
    await run_steps(CHANGE, capacity_sources(done))
    assert done == ["/sys/one", "/sys/two", "/sys/three"]


async def test_no_step_follows_one_that_failed() -> None:
    done: list[str] = []
    with pytest.raises(ToolFailedError, match=r"^Cache of block:sda could not be set: Not today\.$"):
        await run_steps(CHANGE, capacity_sources(done, "/sys/two"))
    assert done == ["/sys/one"]


async def failure(at: str, apart: str = "") -> ToolFailedError:
    with pytest.raises(ToolFailedError) as caught:
        await run_steps(CHANGE, capacity_sources([], at), apart=apart)
    return caught.value


async def test_a_failure_of_the_first_step_leaves_the_old_value() -> None:
    assert (await failure("/sys/one")).hint == "The old value should still be set. Scan the devices again to check."


async def test_a_failure_later_on_says_what_was_done() -> None:
    hint = (await failure("/sys/two")).hint
    assert (
        hint == "1 of 3 steps succeeded, `echo 1 > /sys/two` did not run. Scan the devices again to check the settings."
    )


async def test_a_failure_keeps_the_tools_own_words_as_evidence() -> None:
    assert (await failure("/sys/two")).evidence == "errno 5"


async def test_what_was_deleted_and_could_not_be_made_again_is_told_with_the_line_that_makes_it() -> None:
    error = await failure("/sys/two", apart="deleted")
    assert error.message == "block:sda was deleted, but cannot be re-created: Not today."
    assert error.hint == "Re-create it manually: echo 1 > /sys/two"


async def test_what_could_not_be_deleted_is_not_told_as_deleted() -> None:
    assert "could not be set" in (await failure("/sys/one", apart="deleted")).message


async def test_the_device_is_held_against_the_plan_before_each_step() -> None:
    done: list[str] = []

    async def same() -> None:
        if done:
            raise DeviceGoneError("gone")

    with pytest.raises(DeviceGoneError):
        await run_steps(CHANGE, capacity_sources(done), same=same)
    assert done == ["/sys/one"]


async def test_a_step_that_fails_because_the_device_went_away_is_told_as_such() -> None:
    looks: list[str] = []

    async def same() -> None:
        looks.append("looked")
        if len(looks) > 1:
            raise DeviceGoneError("gone")

    with pytest.raises(DeviceGoneError):
        await run_steps(CHANGE, capacity_sources([], "/sys/one"), same=same)


def test_the_planned_device_is_the_same() -> None:
    require_same_device(CHANGE, PLANNED)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (Identity(name="sda", serial="B", diskseq="9"), "serial was A, is B"),
        (Identity(name="sda", serial=None, diskseq="9"), "serial was A, is unknown"),
        (Identity(name="sda", serial="A", diskseq="10"), "disk sequence number was 9, is 10"),
        (Identity(name="sdb", serial="A", diskseq="9"), "name was sda, is sdb"),
        (Identity(name="sda", serial="A", diskseq="9", wwn="naa.5"), "WWN was unknown, is naa.5"),
    ],
)
def test_another_device_is_left_alone_and_the_difference_is_told(there: Identity, words: str) -> None:
    with pytest.raises(AnotherDeviceError, match=f"block:sda is now a different device: {words}."):
        require_same_device(CHANGE, there)


def test_whoever_planned_for_another_device_is_told_what_to_do() -> None:
    with pytest.raises(AnotherDeviceError) as caught:
        require_same_device(CHANGE, Identity(name="sda", serial="B", diskseq="9"))
    assert caught.value.hint == "Scan the devices again and plan again."


@pytest.mark.parametrize("own", [(), STEPS[:2], (*STEPS, STEPS[0]), STEPS[::-1]])
def test_steps_that_are_not_its_own_are_refused_and_shown(own: tuple[ChangeStep, ...]) -> None:
    with pytest.raises(
        RefusedError, match=r"^Refusing the change: the recorded step does not set cache of block:sda: .*/sys/one"
    ):
        require_equal_steps(CHANGE, own)


def test_a_change_without_any_step_of_its_own_is_refused_though_it_has_none_either() -> None:
    with pytest.raises(RefusedError):
        require_equal_steps(replace(CHANGE, writes=()), ())


def test_its_own_steps_are_taken() -> None:
    require_equal_steps(CHANGE, STEPS)


async def test_a_step_is_run_as_what_changes_something_so_that_a_host_that_only_reads_refuses_it() -> None:
    host = FakeHost({}, tools={"tool": Completed(returncode=0, stdout="", stderr="")})
    step = ChangeStep(path=None, text=None, argv=("tool", "set"))
    with pytest.raises(RefusedError):
        await run_step(ReadOnlyHost(host), step, 1.0, lambda done: "")


def test_a_change_that_names_no_device_is_refused() -> None:
    nameless = Change(target=SDA, key="cache", label="Cache", before="off", after="on", writes=STEPS, undo=())
    with pytest.raises(RefusedError, match="does not identify its device"):
        require_same_device(nameless, PLANNED)


def test_an_unknown_setting_is_told_with_those_that_there_are() -> None:
    with pytest.raises(NotFoundError, match="block:sda has no setting cash") as caught:
        setting_of((CACHE,), SDA, "cash")
    assert caught.value.hint == "Did you mean cache? It has: cache."


def test_a_blocked_setting_says_why() -> None:
    blocked = Reading(now="off", availability=Availability(why_not="the drive is asleep"))
    with pytest.raises(BlockedError, match="Cache of block:sda cannot be changed: the drive is asleep"):
        requested_value(SDA, CACHE, blocked, "on")


@pytest.mark.parametrize(("value", "risk", "text"), [("on", Risk.POWER_LOSS, CACHE.risk_text), ("off", Risk.NONE, "")])
def test_a_value_has_the_risk_of_its_choice(value: str, risk: Risk, text: str) -> None:
    choices = (Choice(value="off", label="off"), Choice(value="on", label="on", risk=Risk.POWER_LOSS))
    change = requested_value(SDA, CACHE, Reading(now="off", choices=choices), value).change((), (), PLANNED, "lock")
    assert (change.risk, change.risk_text) == (risk, text)


def test_a_change_keeps_the_words_of_its_two_values_and_no_others() -> None:
    choices = tuple(
        Choice(value=value, label=label) for value, label in (("off", "Off"), ("on", "on"), ("auto", "Auto"))
    )
    change = requested_value(SDA, CACHE, Reading(now="off", choices=choices), "on").change((), (), PLANNED, "lock")
    assert change.words == {"off": "Off"}


@pytest.mark.parametrize(("root", "why"), [(True, None), (False, WriteDenied.NEEDS_ROOT)])
async def test_rights_stand_against_a_change(root: bool, why: WriteDenied | None) -> None:
    assert await denial_of(FakeHost({"/sys/one": "1"}, root=root), "/sys/one") is why


async def test_a_dry_run_is_answered_as_root_would_be() -> None:
    assert await denial_of(DryRunHost(FakeHost({"/sys/one": "1"}, root=False)), "/sys/one") is None


async def test_a_file_that_is_not_there_is_no_matter_of_rights() -> None:
    assert await denial_of(FakeHost({}), "/sys/one") is None


def test_evidence_holds_no_secret() -> None:
    command = Command(argv=("tool", "key=abc"), secret=("abc", "key=abc"))
    assert evidence_of(command, Completed(returncode=1, stdout="bad key abc", stderr="")) == (
        "tool ***\nexit status 1\nbad key ***"
    )


async def test_what_no_hardware_confirmed_is_said_in_its_help_and_goes_along_with_its_change() -> None:
    setting = Setting(key="cache", label="Cache", help="Caches.", confirmed=False)
    wish = requested_value(Target(backend="x", address="c0"), setting, Reading(now="off"), "on")
    assert setting.explained == f"Caches. {UNCONFIRMED}"
    assert not wish.change((), (), Identity(name="c0"), "c0").confirmed


def test_what_hardware_confirmed_is_told_without_reservation() -> None:
    assert Setting(key="cache", label="Cache", help="Caches.", risk_text="Loses.").explained == "Caches. Loses."


ON_OFF = (Choice(value="off", label="off"), Choice(value="on", label="on"))


@pytest.mark.parametrize(
    ("first", "unsettled", "last", "forward", "back"),
    [
        (None, None, None, None, None),
        (None, "strange", None, "strange", None),
        ("asleep", "strange", None, "asleep", "asleep"),
        (None, "strange", "no root", "strange", "strange"),
        (None, None, "no root", "no root", "no root"),
    ],
)
def test_a_present_value_that_is_not_understood_is_against_a_new_value_alone(
    first: str | None, unsettled: str | None, last: str | None, forward: str | None, back: str | None
) -> None:
    availability = available_unless(first, unsettled, last)
    assert (availability.why_not, availability.why_not_back) == (forward, back)
    reading = Reading(now="unknown", raw="?", choices=ON_OFF, availability=availability)
    if back is not None:
        with pytest.raises(BlockedError):
            validated_old_value(SDA, CACHE, reading, "off")
        return
    change = validated_old_value(SDA, CACHE, reading, "off").change(STEPS, STEPS, PLANNED, "lock")
    assert (change.before, change.after, change.undo) == ("unknown", "off", ())
