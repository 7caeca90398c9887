"""The backend of SMcli: inventory, reading, planning and applying."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from backends.change import Change, Write
from backends.changing import (
    denial_of,
    gone,
    lock_of,
    not_found,
    require_own,
    require_same,
    run_step,
    setting_of,
    take_steps,
    wanted,
)
from backends.errors import RaidbenchError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Setting
from backends.text import clean
from backends.topology import look
from backends.values import dataclass
from backends.vendors._disk_systems import lock_name
from backends.vendors.smcli.facts import SystemProfile
from backends.vendors.smcli.inventory import NAME, inventory, node_of
from backends.vendors.smcli.presence import PLACES
from backends.vendors.smcli.profile import parse_profile
from backends.vendors.smcli.readings import SystemView, readings
from backends.vendors.smcli.settings import SYSTEM_SETTINGS, VOLUME_SETTINGS
from backends.vendors.smcli.statements import asked, identity, planned, step
from backends.vendors.smcli.words import DIALECTS, done, names_in, refusal, sayable

READ_SECONDS = 120.0
"""SMcli starts a Java machine and asks over the network; a large profile takes half a minute."""

SET_SECONDS = 600.0
"""After this a change is slow; it is waited for, and never killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SystemPlace:
    """A target's disk system and logical drive."""

    system: str
    volume: str | None


class Smcli:
    """The disk systems that SMcli of one host knows, one after the other."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._one = asyncio.Lock()
        self._kept: dict[str, SystemProfile] = {}

    async def inventory(self) -> Inventory:
        """Every disk system that SMcli has in its configuration, by name."""
        program = self._host.which(PLACES)
        if program is None:
            return Inventory()
        said = await self._said((program, "-d"))
        picture, found = await look(self._host), Inventory()
        for name in names_in(said):
            try:
                found = found.merge(inventory(await self._profile(program, name), picture))
            except RaidbenchError as error:
                problem = Problem(where=f"{NAME}:{name}", message=error.message, hint=error.hint)
                found = found.merge(Inventory(problems=(problem,)))
        return found

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of a disk system, and of a logical drive; drives have none."""
        place = _place_of(target)
        if place is None:
            return ()
        return SYSTEM_SETTINGS if place.volume is None else VOLUME_SETTINGS

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now, asked of the disk system. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        return readings(await self._view(target)) if self.settings(target) else {}

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """The same out of the last profile: to ask takes half a minute."""
        return readings(await self._view(target, kept=True)) if self.settings(target) else {}

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The statement that sets `key` to `value`, and the one that brings the present value back."""
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target)
        wish = wanted(target, setting, readings(view)[key], value)
        return planned(view, wish, await self._lock(view))

    async def apply(self, change: Change) -> None:
        """Run the statement, if it is for what it was planned for; none where the value is there already."""
        view = await self._view(change.target)
        require_same(change, identity(view))
        require_own(change, (step(view, change.key, change.after),) if change.key in readings(view) else ())
        if readings(view)[change.key].now == change.after:
            return

        async def take(one: Write) -> None:
            async with self._one:
                await run_step(self._host, one, SET_SECONDS, _refusal)

        await take_steps(change, take)

    async def diagnose(self) -> tuple[Problem, ...]:
        """SMcli without a disk system, and disk systems that do not answer or are not well."""
        program = self._host.which(PLACES)
        if program is None:
            return ()
        said = await self._said((program, "-d"))
        names = names_in(said)
        if not names:
            hint = "Add them with: SMcli -A ADDRESS ADDRESS"
            return (Problem(where=NAME, message=f"SMcli lists no disk system: {refusal(said)}", hint=hint),)
        found: list[Problem] = []
        for name in names:
            try:
                profile = await self._profile(program, name)
            except RaidbenchError as error:
                found.append(Problem(where=f"{NAME}:{name}", message=error.message, hint=error.hint))
                continue
            if (offline := profile.offline) is not None:
                message = f"The controller of {name} in {offline.name} is {offline.said('status')}."
                found.append(
                    Problem(where=f"{NAME}:{name}", message=message, hint="Look at it in the Storage Manager.")
                )
        return tuple(found)

    async def _lock(self, view: SystemView) -> str:
        """That of the disk, which runs on it take too; of the disk system for what holds for all of it."""
        node = node_of(view.volume, await look(self._host)) if view.volume is not None else None
        return (
            await lock_of(self._host, node.name) if node is not None else lock_name(view.profile.wwn, view.profile.name)
        )

    async def _view(self, target: Target, *, kept: bool = False) -> SystemView:
        """What a target is now. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        place = _place_of(target)
        program = self._host.which(PLACES)
        if place is None or program is None:
            raise not_found(target)
        profile = self._kept.get(place.system) if kept else None
        if profile is None:
            profile = await self._profile(program, place.system)
        view = SystemView(program=program, profile=profile, frozen=await denial_of(self._host, program))
        if place.volume is None:
            return view
        volume = next((one for one in profile.volumes if one.name == place.volume), None)
        if volume is None:
            raise gone(target)
        return SystemView(program=program, profile=profile, volume=volume, frozen=view.frozen)

    async def _profile(self, program: str, name: str) -> SystemProfile:
        """That of the disk system of a name, asked in the words of each dialect. Raises ToolFailedError."""
        said = ""
        for nouns in DIALECTS:
            said = await self._said(asked(program, name, f"show {nouns.system} profile;"))
            profile = parse_profile(said)
            if profile is not None and profile.name == name:
                self._kept[name] = profile
                return profile
        raise ToolFailedError(f"SMcli does not tell of {clean(name)}: {refusal(said)}")

    async def _said(self, argv: tuple[str, ...]) -> str:
        """What SMcli prints. Raises ToolFailedError, ToolTimeoutError."""
        async with self._one:
            ended = await self._host.run(Command(argv=argv, timeout=READ_SECONDS))
        return ended.stdout if ended.stdout.strip() else ended.stderr


def _place_of(target: Target) -> _SystemPlace | None:
    """The disk system and logical drive of an address; None for a drive, and for what can be neither."""
    system, slash, volume = target.address.partition("/")
    if target.backend != NAME or not sayable(system) or volume.startswith("drive ") or (slash and not volume):
        return None
    return _SystemPlace(system=system, volume=volume or None)


def _refusal(ended: Completed) -> str:
    return "" if done(ended.stdout) else refusal(f"{ended.stdout}\n{ended.stderr}")
