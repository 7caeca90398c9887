"""What every backend must do, whatever it speaks to: subclass, give the fixtures, and pytest runs the rest.

For vendors here and elsewhere; wants pytest and pytest-asyncio, and is imported by nothing but tests.
"""

from __future__ import annotations

import pytest

from backends.errors import BlockedError, InvalidValueError, NotFoundError, RefusedError
from backends.model import Array, Controller, Drive, Inventory, Target
from backends.protocol import Backend, Finds
from backends.settings import Availability, Reading


def candidates(reading: Reading) -> list[str]:
    """Some legal values: every choice, or ends and neighbours of the span."""
    if reading.span is None:
        return [choice.value for choice in reading.choices]
    span = reading.span
    wanted = {span.minimum, span.minimum + span.step, span.minimum + 2 * span.step, span.maximum}
    wanted.add(span.maximum - (span.maximum - span.minimum) % span.step)
    legal = sorted(value for value in wanted if value <= span.maximum and not (value - span.minimum) % span.step)
    return [str(value) for value in legal]


def _things(found: Inventory) -> tuple[Controller | Array | Drive, ...]:
    return (*found.controllers, *found.arrays, *found.drives)


@pytest.mark.asyncio
class FindsConformance:
    """The rules of `Finds` as tests. Fixture wanted: `backend`, on a machine that has its things."""

    @pytest.fixture
    def backend(self) -> Finds:
        """The backend to try, a new one for each test."""
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        """What of its things is looked at; all where it is empty."""
        return ()

    async def test_finds_something(self, backend: Finds) -> None:
        """There is something to try it on."""
        found = await backend.inventory()
        assert found.drives or found.arrays or found.controllers

    async def test_two_probes_are_equal(self, backend: Finds, targets: tuple[Target, ...]) -> None:
        """Looking twice finds the same; looking changes nothing."""
        first, second = await backend.inventory(), await backend.inventory()
        # on a real machine, others may come and go beside ours
        for target in targets or tuple(thing.target for thing in _things(first)):
            assert first.find(str(target)) == second.find(str(target))

    async def test_addresses_are_unique(self, backend: Finds) -> None:
        """An address names one thing."""
        addresses = [str(thing.target) for thing in _things(await backend.inventory())]
        assert len(addresses) == len(set(addresses))

    async def test_the_doctor_hears_whole_sentences(self, backend: Finds) -> None:
        """Whatever is missing or wrong is told, and of what."""
        assert all(problem.where and problem.message for problem in await backend.diagnose())


class Conformance(FindsConformance):
    """The rules of `Sets` besides. Fixtures wanted: `backend` and `targets`, which are changed and put back."""

    @pytest.fixture
    def backend(self) -> Backend:
        """The backend to try, a new one for each test."""
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        """What may be changed."""
        raise NotImplementedError

    async def test_every_target_can_be_found_and_has_settings(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        """Every target is in the inventory and has settings."""
        found = await backend.inventory()
        assert targets
        assert all(found.find(str(target)) is not None and backend.settings(target) for target in targets)

    async def test_every_setting_declared_is_read(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """What is declared is read, in that order."""
        for target in targets:
            declared = [setting.key for setting in backend.settings(target)]
            assert list(await backend.read(target)) == declared

    async def test_every_setting_and_choice_explains_itself(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        """Every setting has a label and a help."""
        for target in targets:
            assert all(setting.label and setting.help for setting in backend.settings(target))

    async def test_values_are_legal_values(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """What is set now is among what may be set."""
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
        """What cannot be changed says why, and is not planned; of a device in use the guard says it first."""
        for target in targets:
            for key, reading in (await backend.read(target)).items():
                if not reading.availability.available:
                    assert reading.availability.why_not
                    with pytest.raises((BlockedError, RefusedError)):
                        await backend.plan(target, key, reading.now or "0")

    async def test_unknown_settings_and_values_are_refused(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """Neither an unknown setting nor an unknown value is planned."""
        for target in targets:
            with pytest.raises(NotFoundError):
                await backend.plan(target, "no_such_setting", "1")
            for key, reading in (await backend.read(target)).items():
                if reading.availability.available:
                    with pytest.raises(InvalidValueError):
                        await backend.plan(target, key, "no such value")

    async def test_planning_changes_nothing(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """A plan has steps, a way back, the value before and a lock, and changes nothing."""
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
        """Applying brings the value, moves what the change said it may move, and undo restores it all."""
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
