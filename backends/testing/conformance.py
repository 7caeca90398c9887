"""Conformance tests that every backend must pass: subclass them, define the fixtures, and run pytest.

They are for vendor modules in this project and elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep, disk_lock
from backends.errors import (
    BlockedError,
    InvalidValueError,
    NotFoundError,
    RaidbenchError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Command, Completed, Host
from backends.model import Controller, Target
from backends.protocol import Backend, InventoryBackend
from backends.settings import NOT_UNDERSTOOD, Availability, Reading, Risk, Setting
from backends.units import text_in_unit


def candidates(reading: Reading) -> list[str]:
    """Return some legal values to try: all choices, or the ends of the span and values next to them.

    Empty if the present value is unknown, because a change could not be undone.
    """
    if reading.now is None:
        return []
    if reading.span is None:
        return [choice.value for choice in reading.choices]
    span = reading.span
    wanted = {span.minimum, span.minimum + span.step, span.minimum + 2 * span.step, span.maximum}
    wanted.add(span.maximum - (span.maximum - span.minimum) % span.step)
    legal = sorted(value for value in wanted if value <= span.maximum and not (value - span.minimum) % span.step)
    return [str(value) for value in legal]


def _shown_texts(setting: Setting, reading: Reading, value: str) -> set[str]:
    """Return the spellings in which a legal value is shown to users, and the short ones that they may type instead."""
    unit = (reading.span.unit if reading.span else "") or setting.unit
    texts = {choice.label for choice in reading.choices if choice.value == value} | {text_in_unit(value, unit)}
    return texts | {
        text.replace(" ", "").replace("iB", "").lower() for text in texts if re.fullmatch(r"[0-9]+ [KMGT]iB", text)
    }


@pytest.mark.asyncio
class FindsConformance:
    """Tests of the rules of `InventoryBackend`. Needs the fixture `backend`, on a host with devices of that backend."""

    @pytest.fixture
    def backend(self) -> InventoryBackend:
        """The backend to try, a new one for each test."""
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        """The devices to compare; if empty, all devices of the backend."""
        return ()

    async def test_finds_something(self, backend: InventoryBackend) -> None:
        """The backend finds at least one device."""
        inventory = await backend.inventory()
        assert inventory.drives or inventory.arrays or inventory.controllers

    async def test_two_probes_are_equal(self, backend: InventoryBackend, targets: tuple[Target, ...]) -> None:
        """Two scans find the same devices, so a scan changes nothing."""
        first, second = await backend.inventory(), await backend.inventory()
        # on a real host, other devices may appear and disappear meanwhile
        for target in targets or tuple(device.target for device in first.devices):
            assert first.find(str(target)) == second.find(str(target))

    async def test_addresses_are_unique(self, backend: InventoryBackend) -> None:
        """Each address belongs to one device only."""
        addresses = [str(device.target) for device in (await backend.inventory()).devices]
        assert len(addresses) == len(set(addresses))

    async def test_health_of_drives_is_plausible(self, backend: InventoryBackend) -> None:
        """Counts and wear are not negative, and temperatures are plausible in degrees Celsius."""
        for drive in (await backend.inventory()).drives:
            health = drive.health
            counts = (health.media_errors, health.other_errors, health.predictive_errors, health.wear_percent)
            assert all(count is None or count >= 0 for count in counts), drive.target
            degrees = (health.temperature, health.temperature_limit)
            assert all(degree is None or -60 < degree < 200 for degree in degrees), drive.target

    async def test_each_diagnosis_names_its_place(self, backend: InventoryBackend) -> None:
        """Each problem of `diagnose` names the backend or device that it concerns, and has a message."""
        assert all(problem.where and problem.message for problem in await backend.diagnose())


class Conformance(FindsConformance):
    """Tests of the rules of `Backend`. Needs the fixtures `backend` and `targets`. Changes and restores settings."""

    @pytest.fixture
    def backend(self) -> Backend:
        """The backend to try, a new one for each test."""
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        """The devices whose settings may be changed."""
        raise NotImplementedError

    async def test_every_target_can_be_found_and_has_settings(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        """Each target is in the inventory and has settings."""
        inventory = await backend.inventory()
        assert targets
        assert all(inventory.find(str(target)) is not None and backend.settings(target) for target in targets)

    async def test_every_setting_declared_is_read(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """All declared settings are read, in the order of their declaration."""
        for target in targets:
            declared = [setting.key for setting in backend.settings(target)]
            assert list(await backend.read(target)) == declared

    async def test_every_setting_and_choice_explains_itself(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        """Each setting has a label and a help text."""
        for target in targets:
            assert all(setting.label and setting.help for setting in backend.settings(target))

    async def test_values_are_legal_values(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """The present value of each setting is one of its legal values."""
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
        """A blocked setting has a reason and cannot be planned. For a device in use, the guard may refuse first."""
        for target in targets:
            for key, reading in (await backend.read(target)).items():
                if not reading.availability.available:
                    assert reading.availability.why_not
                    with pytest.raises((BlockedError, RefusedError)):
                        await backend.plan(target, key, reading.now or "0")

    async def test_unknown_settings_and_values_are_refused(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """Unknown settings and unknown values cannot be planned."""
        for target in targets:
            with pytest.raises(NotFoundError):
                await backend.plan(target, "no_such_setting", "1")
            for key, reading in (await backend.read(target)).items():
                if reading.availability.available:
                    with pytest.raises(InvalidValueError):
                        await backend.plan(target, key, "no such value")

    async def test_planning_changes_nothing(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """A plan has steps, undo steps, the present value and a lock. Planning changes nothing."""
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

    async def test_values_are_accepted_as_they_are_shown(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """A label (`256 KiB`), a number with its unit (`30 %`) and a short size (`256k`) plan the same change."""
        for target in targets:
            settings = {setting.key: setting for setting in backend.settings(target)}
            for key, reading in (await backend.read(target)).items():
                for value in candidates(reading) if reading.availability.available else ():
                    planned = (await backend.plan(target, key, value)).requested
                    for text in _shown_texts(settings[key], reading, value) - {value}:
                        assert (await backend.plan(target, key, text)).requested == planned, (key, text)

    async def test_a_change_locks_what_a_run_on_the_device_locks(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        """A change of a kernel disk shares a lock with a run on that disk, so each waits for the other."""
        by_target = {entry.target: entry for entry in (await backend.inventory()).devices}
        for target in targets:
            device = by_target.get(target)
            if device is None or isinstance(device, Controller) or device.device is None or device.identity is None:
                continue
            locked = set(disk_lock(device.identity).splitlines())
            for key, reading in (await backend.read(target)).items():
                for value in candidates(reading)[:1] if reading.availability.available else ():
                    change = await backend.plan(target, key, value)
                    assert locked & set(change.locks), f"{key} of {target} locks {change.locks}, a run {locked}"

    async def test_applying_changes_exactly_that_and_undo_restores(
        self, backend: Backend, targets: tuple[Target, ...]
    ) -> None:
        """A change sets its value and moves only the settings that it declares. The undo restores all of them."""
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
                    back = await backend.back(target, key, change.before or "", change.companions)
                    assert (back.before, back.after) == (change.after, change.before), f"{key}={value}"
                    assert back.writes == change.undo or back.before == back.after, f"the way back of {key}={value}"
                    await backend.apply(back)
                    assert await backend.read(target) == before, f"undo of {key}={value}"

    async def test_undo_to_the_present_value_is_no_error(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """An undo to the present value changes nothing and succeeds, even if the setting is blocked."""
        for target in targets:
            for key, reading in (await backend.read(target)).items():
                if reading.now is not None and reading.now != "unknown":
                    back = await backend.back(target, key, reading.now, {})
                    assert (back.before, back.after) == (reading.now, reading.now), key

    async def test_undo_does_not_need_to_understand_the_present_value(
        self, backend: Backend, targets: tuple[Target, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The undo has the same last step if the tool reports a present value that the backend does not understand."""
        host = getattr(backend, "_host", None)
        for target in targets:
            for key, reading in (await backend.read(target)).items():
                others = [value for value in candidates(reading) if value != reading.now]
                if host is None or not others or not reading.availability.available:
                    continue
                change = await backend.plan(target, key, others[0])
                await backend.apply(change)
                now = await backend.read(target)
                old, companions = change.before or "", change.companions
                honest = await backend.back(target, key, old, companions)
                with monkeypatch.context() as patched:
                    replace_word(host, now[key].raw or "", patched)
                    if await is_alone_unknown(backend, target, key, now):
                        back = await _back_if_read(backend, change)
                        if back is not None:
                            assert back.writes[-1:] == honest.writes[-1:], f"{key}={old}"
                            assert back.before == NOT_UNDERSTOOD
                            assert not back.undo
                await backend.inventory()
                await backend.apply(honest)

    async def test_a_forged_log_adds_no_step(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        """Forged steps and companions of a change are refused. An undo destroys data only if the change did."""
        for target in targets:
            before = await backend.read(target)
            for key, reading in before.items():
                others = [value for value in candidates(reading) if value != reading.now]
                if not others or not reading.availability.available:
                    continue
                change = await backend.plan(target, key, others[0])
                await backend.apply(change)
                now = await backend.read(target)
                value, companions = change.before or "", change.companions
                honest = await backend.back(target, key, value, companions)
                for step in forged_steps(change):
                    with pytest.raises(RefusedError):
                        await backend.apply(replace(honest, writes=(step,), risk=Risk.NONE))
                for wrong in forged_companions(change):
                    with pytest.raises((RefusedError, InvalidValueError)):
                        await backend.back(target, key, value, wrong)
                for forged in ("../x", "; rm -rf /", f"{value} /dev/sda", f"{value};"):
                    with pytest.raises((RefusedError, InvalidValueError)):
                        await backend.back(target, key, forged, companions)
                assert (honest.risk is Risk.DESTROYS_DATA) == (change.risk is Risk.DESTROYS_DATA), key
                assert await backend.read(target) == now, f"a forged way back of {key} changed something"
                await backend.apply(honest)
                assert await backend.read(target) == before, f"undo of {key}"


def replace_word(host: Host, word: str, patched: pytest.MonkeyPatch) -> None:
    """Replace a word in all output and files of a host by one that no tool uses, until the context `patched` ends."""
    strange = re.compile(rf"(?<![\w./-]){re.escape(word)}(?![\w./-])") if word else re.compile("(?!)")
    run, read, read_many = host.run, host.read, host.read_many

    async def ask(command: Command) -> Completed:
        done = await run(command)
        return replace(done, stdout=strange.sub("Zyxwv", done.stdout))

    async def file(path: str) -> str | None:
        text = await read(path)
        return None if text is None else strange.sub("Zyxwv", text)

    async def files(paths: Sequence[str]) -> Mapping[str, str]:
        return {path: strange.sub("Zyxwv", text) for path, text in (await read_many(paths)).items()}

    for name, function in (("run", ask), ("read", file), ("read_many", files)):
        patched.setattr(host, name, function)


async def _back_if_read(backend: Backend, change: Change) -> Change | None:
    """Return the undo of a change, or None if the backend cannot parse output that contains the replaced word."""
    try:
        return await backend.back(change.target, change.key, change.before or "", change.companions)
    except ToolFailedError:
        return None


async def is_alone_unknown(backend: Backend, target: Target, key: str, before: Mapping[str, Reading]) -> bool:
    """Return whether the value of this setting is now not understood, while all other settings read as `before`."""
    try:
        now = await backend.read(target)
    except (
        RaidbenchError,
        AssertionError,
    ):  # the backend or the simulated tool rejects the strange word at another place
        return False
    if set(now) != set(before):
        return False
    changed = {other for other in before if now[other].now != before[other].now}
    return now[key].now == NOT_UNDERSTOOD and changed == {key}


def forged_steps(change: Change) -> list[ChangeStep]:
    """Return steps that differ from the undo in file, program, verb or device, and one that can only be shown."""
    first = change.undo[0]
    strange = [
        ChangeStep(path="/etc/passwd", text="root::0:0::/:/bin/sh"),
        ChangeStep(path="/sys/block/sdzz/queue/read_ahead_kb", text="1"),
        ChangeStep(path="/dev/sda", text="x"),
        ChangeStep(argv=("/bin/sh", "-c", "reboot")),
        ChangeStep(line=first.shown()),
    ]
    if first.path is not None:
        return [*strange, replace(first, path=f"{first.path}x"), replace(first, path=f"/tmp{first.path}")]
    program, *args = first.argv
    return [
        *strange,
        ChangeStep(argv=("/bin/sh", *args)),
        ChangeStep(argv=(program, "del", "force", *args)),
        ChangeStep(argv=(program, *args, "/dev/sda")),
        ChangeStep(argv=(program, *args[:-1])),
    ]


def forged_companions(change: Change) -> list[dict[str, str]]:
    """Return forged companions of a change, each with an added unknown name or an illegal value."""
    companions = change.companions
    wrong = [{**companions, "no_such": "1"}, {**companions, "../x": "1"}, {**companions, "path": "/etc/passwd"}]
    values = ("../x", "; rm -rf /", "/dev/sda", "")
    return [*wrong, *({**companions, name: text} for name in companions for text in values)]
