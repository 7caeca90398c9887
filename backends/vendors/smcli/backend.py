"""Backend for SMcli: inventory, and reading and changing of settings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from re import Pattern

from backends.array_planning import ArrayPlan, ArrayRequest, Candidate
from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue, denial_of, gone_error, lock_of, not_found_error, require_still_free
from backends.errors import InvalidValueError, RaidbenchError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.reported_words import word_text
from backends.settings import Reading, Setting
from backends.settings_backend import Settable
from backends.subject import refused_text
from backends.system.caching import cache_across_changes
from backends.text import clean
from backends.tool_output import ToolOutput, collect_problems, judge_output, manual_run_hint
from backends.topology import scan_topology
from backends.vendors._disk_systems import lock_name
from backends.vendors.smcli import PLACES, WHOLE
from backends.vendors.smcli.dialects import DIALECTS, is_carried_out, is_valid_name, names_in, refusal
from backends.vendors.smcli.facts import SystemProfile, complete_sections, parse_profile
from backends.vendors.smcli.inventory import NAME, inventory, node_of
from backends.vendors.smcli.readings import SYSTEM_SETTINGS, VOLUME_SETTINGS, SystemView, readings
from backends.vendors.smcli.statements import (
    candidates,
    companions_now,
    identity,
    legal_companions,
    order_thresholds,
    plan_logical_drive,
    require_room,
    script_argv,
    step,
    threshold_warning,
    value_before,
    with_value,
)

READ_SECONDS = 120.0
"""Timeout of a read in seconds.

SMcli starts a Java VM and queries over the network. A large profile takes half a minute.
"""


class Smcli(Settable[SystemView]):
    """The disk systems in SMcli's configuration on one host. They are queried one after the other."""

    SET_SECONDS = 600.0

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._one = asyncio.Lock()
        self._kept: dict[str, SystemProfile] = {}

    async def inventory(self) -> Inventory:
        """Return all disk systems in SMcli's configuration, in SMcli's order."""
        program = self._host.which(PLACES)
        if program is None:
            return Inventory()
        listed = await self._run((program, "-d"))
        picture, merged = await scan_topology(self._host), Inventory(problems=collect_problems((listed,)))
        for name in names_in(listed.text):
            try:
                merged = merged.merge(inventory(await self._profile(program, name), picture))
            except RaidbenchError as error:
                problem = Problem(where=f"{NAME}:{name}", message=error.message, hint=error.hint)
                merged = merged.merge(Inventory(problems=(problem,)))
        return merged

    async def cached_inventory(self) -> Inventory:
        """Return the inventory from the last profile of each disk system, which also has the settings."""
        with cache_across_changes():
            return await self.inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of a disk system or logical drive; drives have none."""
        address = _parse_address(target)
        if address is None:
            return ()
        return SYSTEM_SETTINGS if address[1] is None else VOLUME_SETTINGS

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return all readings from the disk system; drives have none. Raises the errors of `Settable.read`."""
        return await super().read(target) if self.settings(target) else {}

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """Return all readings from the last profile, because a query takes half a minute."""
        return readings(await self._view(target, cached=True)) if self.settings(target) else {}

    async def read_state(self, target: Target, *, back: bool = False) -> SystemView:
        """Return the state of a disk system or logical drive from its current profile."""
        return await self._view(target)

    async def readings_of(self, view: SystemView) -> Mapping[str, Reading]:
        """Return the readings in the profile, with the allowed values."""
        return readings(view)

    def identity_of(self, view: SystemView, key: str) -> Identity:
        """Return the identity of a disk system or logical drive, which contains its world wide name."""
        return identity(view)

    async def lock_for(self, view: SystemView, key: str) -> str:
        """Return the name of the lock of a logical drive's kernel disk, which benchmark runs take too.

        Without such a disk, and for settings of a disk system, return the name of the disk system's lock.
        """
        node = node_of(view.volume, await scan_topology(self._host)) if view.volume is not None else None
        return lock_name(view.profile.wwn, view.profile.name) if node is None else await lock_of(self._host, node.name)

    def steps(
        self, view: SystemView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the step that runs the one SMcli statement which sets the value."""
        return (step(view, key, value),) if key in readings(view) else ()

    def order(self, view: SystemView, values: Mapping[str, str]) -> Sequence[str]:
        """Return the keys in an order in which neither flush threshold crosses the other."""
        return order_thresholds(view, values)

    def after(self, view: SystemView, key: str, value: str) -> SystemView:
        """Return the expected state after `key`, if it is a flush threshold, is set to `value`."""
        return with_value(view, key, value)

    def check_restorable(self, view: SystemView, setting: Setting, now: Reading, value: str) -> str:
        """Return an old value in canonical form; see `value_before`."""
        return value_before(setting, now, value)

    def legal_companions(self, view: SystemView, key: str) -> Mapping[str, Pattern[str]]:
        """Return, by key, the pattern of the other flush threshold's value, which an undo restores too."""
        return legal_companions(key)

    def finished(
        self, view: SystemView, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """Return the change with, for a flush threshold, a warning and the other threshold's value as a companion.

        Raises BlockedError if the other threshold's value prevents an undo.
        """
        if companions is not None:
            require_room(view, request, companions)
        warning = threshold_warning(view, change.key, change.after)
        text = f"{change.risk_text} {warning}".strip() if warning else change.risk_text
        return replace(change, risk_text=text, companions=companions_now(view, request.setting.key))

    async def take(self, view: SystemView, change: Change, step: ChangeStep) -> None:
        """Run a step. Only one statement runs at a time."""
        async with self._one:
            await super().take(view, change, step)

    def refusal(self, done: Completed) -> str:
        """Return the reason of a failure, as SMcli reports it; "" if SMcli reports success."""
        return "" if is_carried_out(done.stdout) else refusal(f"{done.stdout}\n{done.stderr}")

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return the drives of all disk systems from their last profiles, because a query takes half a minute."""
        picture = await scan_topology(self._host)
        return tuple(
            candidate
            for profile in self._kept.values()
            for candidate in candidates(inventory(profile, picture).drives, profile.cut.rstrip("."))
        )

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan for a logical drive, after reading the disk system again.

        The user has to run the plan's statements: raidbench only shows them.
        """
        if assume_clean:
            raise InvalidValueError(
                "--assume-clean is not supported: a disk system always initialises parity.",
                hint="This is supported only for md.",
            )
        if controller is None:
            raise InvalidValueError("The disk system for the array is missing.")
        view = await self._view(controller)
        drives = inventory(view.profile, await scan_topology(self._host)).drives
        require_still_free(request, candidates(drives, view.profile.cut.rstrip(".")))
        return plan_logical_drive(request, view.profile, view.program)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem if SMcli lists no disk system, and for each that does not answer or is not healthy."""
        program = self._host.which(PLACES)
        if program is None:
            return ()
        listed = await self._run((program, "-d"))
        answer, names = listed.text, names_in(listed.text)
        if listed.problem is not None and not names:
            return (listed.problem,)
        if not names:
            hint = "Add them with: SMcli -A ADDRESS ADDRESS"
            return (Problem(where=NAME, message=f"SMcli lists no disk system: {refusal(answer)}", hint=hint),)
        problems: list[Problem] = []
        for name in names:
            try:
                profile = await self._profile(program, name)
            except RaidbenchError as error:
                problems.append(Problem(where=f"{NAME}:{name}", message=error.message, hint=error.hint))
                continue
            if (offline := profile.offline) is not None:
                message = f"The controller of {name} in {offline.name} is {word_text(offline.text_of('status'))}."
                problems.append(
                    Problem(where=f"{NAME}:{name}", message=message, hint="Check it in the Storage Manager.")
                )
        return tuple(problems)

    async def _view(self, target: Target, *, cached: bool = False) -> SystemView:
        """Return the current state of a target. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        address = _parse_address(target)
        program = self._host.which(PLACES)
        if address is None or program is None:
            raise not_found_error(target)
        system, name = address
        profile = self._kept.get(system) if cached else None
        if profile is None:
            profile = await self._profile(program, system)
        frozen = profile.cut.rstrip(".") or await denial_of(self._host, program)
        volume = next((part for part in profile.volumes if part.name == name), None)
        if name is not None and volume is None:
            raise ToolFailedError(profile.cut) if profile.cut else gone_error(target)
        return SystemView(program=program, profile=profile, volume=volume, frozen=frozen)

    async def _profile(self, program: str, name: str) -> SystemProfile:
        """Return the profile of a disk system. The request is tried in each dialect. Raises ToolFailedError."""
        answer = ""
        for terms in DIALECTS:
            tool_output = await self._run(script_argv(program, name, f"show {terms.system} profile;"))
            answer = tool_output.text
            profile = parse_profile(complete_sections(answer) if tool_output.cut else answer)
            if profile is not None and profile.name == name:
                line = Command(argv=script_argv(program, name, f"show {terms.system} profile;"))
                if profile.misnamed:
                    raise ToolFailedError(refused_text(line, profile.misnamed), hint=manual_run_hint(line))
                twice = refused_text(line, profile.twice) if profile.twice else ""
                cut = "" if tool_output.problem is None else tool_output.problem.message
                self._kept[name] = profile = replace(profile, cut=cut, twice=twice)
                return profile
            if tool_output.problem is not None:
                raise ToolFailedError(tool_output.problem.message, hint=tool_output.problem.hint)
        raise ToolFailedError(f"SMcli does not report {clean(name)}: {refusal(answer)}")

    async def _run(self, argv: tuple[str, ...]) -> ToolOutput:
        """Return SMcli's output, including refusals that it prints on standard error.

        Raises ToolFailedError, ToolTimeoutError.
        """
        command = Command(argv=argv, timeout=READ_SECONDS)
        async with self._one:
            done = await self._host.run(command)
        answer = done if done.stdout.strip() else replace(done, stdout=done.stderr, stderr="")
        return judge_output(WHOLE, command, NAME, done if WHOLE.lost(answer) else answer)


def _parse_address(target: Target) -> tuple[str, str | None] | None:
    """Return the disk system and the logical drive of an address; None for a drive and any other address."""
    system, slash, volume = target.address.partition("/")
    if target.backend != NAME or not is_valid_name(system) or volume.startswith("drive ") or (slash and not volume):
        return None
    return system, volume or None
