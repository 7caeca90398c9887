"""Backend for SANtricity's web services: inventory, and reading and changing of settings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.change_steps import denial_of, gone_error, lock_of, not_found_error
from backends.errors import NotFoundError, RaidbenchError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Setting
from backends.settings_backend import Settable
from backends.topology import Topology, scan_topology
from backends.vendors._disk_systems import lock_name, node_of
from backends.vendors.santricity import responses
from backends.vendors.santricity.facts import WebHardware, WebSystem, WebView, WebVolume
from backends.vendors.santricity.inventory import NAME, door_name, inventory, problems, system_address, volume_identity
from backends.vendors.santricity.readings import BY_KEY, SETTINGS, needs_hardware, readings, request_value

DOORS = f"/{NAME}:/*"
"""Pattern of the configured doors, that is, addresses of web services. See `backends.system.https`."""

ROOT = "/devmgr/v2/storage-systems"

READ_SECONDS = 60.0
"""Timeout for reads in seconds. A proxy queries the controllers in turn, and a busy disk system needs seconds."""

SET_SECONDS = 180.0
"""Timeout for changes in seconds. The values read afterwards show whether a change succeeded."""

_THROUGH_ROOT = "the root helper changes only this host. Start raidbench with --no-helper to change this disk system"


class Santricity(Settable[WebView]):
    """Backend for the disk systems behind each configured door. Each door gets one request at a time."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._locks: dict[str, asyncio.Lock] = {}
        self._views: dict[Target, WebView] = {}

    async def inventory(self) -> Inventory:
        """Return every disk system behind every door. A door that does not answer becomes a problem."""
        doors = await self._host.list(DOORS)
        if not doors:
            return Inventory()
        picture = await scan_topology(self._host)
        merged = Inventory()
        for part in await asyncio.gather(*(self._inventory_of_door(door, picture) for door in doors)):
            merged = merged.merge(part)
        return merged

    async def _inventory_of_door(self, door: str, picture: Topology) -> Inventory:
        merged = Inventory()
        where = f"{NAME}:{door_name(door)}"
        try:
            for system in await self._systems(door):
                where = f"{NAME}:{system_address(system)}"
                merged = merged.merge(await self._inventory_of_system(system, picture))
        except RaidbenchError as error:
            problem = Problem(where=where, message=error.message, hint=error.hint)
            merged = merged.merge(Inventory(problems=(problem,)))
        return merged

    async def _inventory_of_system(self, system: WebSystem, picture: Topology) -> Inventory:
        """Return the inventory of a disk system.

        A part that cannot be read is left out, and a problem states the reason.
        """
        missing: list[Problem] = []

        async def part(path: str, begin: str = "[") -> str:
            try:
                return await self._read_answer(system.door, f"{ROOT}/{system.id}/{path}", begin)
            except RaidbenchError as error:
                missing.append(
                    Problem(where=f"{NAME}:{system_address(system)}", message=error.message, hint=error.hint)
                )
                return ""

        volumes = responses.volumes(await part("volumes"))
        groups = responses.groups(await part("storage-pools"))
        hardware = responses.hardware(await part("hardware-inventory", "{"))
        system_inventory = inventory(system, volumes, groups, hardware, picture)
        for array, volume in zip(system_inventory.arrays, volumes, strict=True):
            self._views[array.target] = WebView(system=system, volume=volume, hardware=hardware)
        return system_inventory.merge(Inventory(problems=tuple(missing[:1])))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of a volume; other targets have none."""
        return SETTINGS if _parse_address(target) is not None else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings of all settings.

        Raises the errors of `Backend.read`, and ToolFailedError for an unusable answer.
        """
        return await super().read(target) if self.settings(target) else {}

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings from the last inventory, because a request takes seconds."""
        last_view = self._views.get(target)
        if last_view is None:
            return await self.read(target)
        return readings(replace(last_view, frozen=await self._frozen(last_view.system.door)))

    async def readings_of(self, view: WebView) -> Mapping[str, Reading]:
        """Return the reported values, each with its availability."""
        return readings(view)

    def identity_of(self, view: WebView, key: str) -> Identity:
        """Return the identity of a volume: its world wide name."""
        return volume_identity(view.system, view.volume)

    async def lock_for(self, view: WebView, key: str) -> str:
        """Return the lock of the volume's kernel disk, which benchmarks of the disk take too.

        Without a kernel disk, this is the lock of the disk system.
        """
        node = node_of(view.volume.wwn, await scan_topology(self._host)) if key in BY_KEY else None
        return lock_name(view.system.wwn, view.system.name) if node is None else await lock_of(self._host, node.name)

    def steps(
        self, view: WebView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the step that sends the request for the change; () for settings that are only shown."""
        return (step(view, key, value),) if key in BY_KEY else ()

    async def take(self, view: WebView, change: Change, step: ChangeStep) -> None:
        """Send the request of one step."""
        done = await self._run(Command(argv=step.argv, timeout=SET_SECONDS, mutates=True))
        if done.returncode != 0:
            raise _as_failure(responses.refusal(done, _door_text(view.system.door)))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem for each door that does not answer and for each fault of a disk system."""
        diagnosis: list[Problem] = []
        for door in await self._host.list(DOORS):
            try:
                for system in await self._systems(door):
                    diagnosis += problems(system, await self._hardware(system))
            except RaidbenchError as error:
                diagnosis.append(Problem(where=f"{NAME}:{door_name(door)}", message=error.message, hint=error.hint))
        return tuple(diagnosis)

    async def read_state(self, target: Target, *, back: bool = False) -> WebView:
        """Return a volume as its web services report it now.

        Raises NotFoundError for an unknown address, DeviceGoneError if the volume is gone, RefusedError for a wrong
        password, ToolFailedError if the answer of the web services is not usable.
        """
        address = _parse_address(target)
        if address is None:
            raise not_found_error(target)
        door, name, volume_name = address
        if door not in await self._host.list(DOORS):
            raise NotFoundError(
                f"The configuration has no {NAME} {door_name(door)}.", hint=f"Add a section [{NAME}.NAME]."
            )
        system = next((system for system in await self._systems(door) if system.name == name), None)
        if system is None:
            raise gone_error(target)
        volume = next((volume for volume in await self._volumes(system) if volume.name == volume_name), None)
        if volume is None:
            raise gone_error(target)
        view = WebView(system=system, volume=volume, frozen=await self._frozen(door))
        if needs_hardware(view):
            view = replace(view, hardware=await self._hardware(system))
        self._views[target] = view
        return view

    async def _frozen(self, door: str) -> str | None:
        return await denial_of(self._host, door) or (_THROUGH_ROOT if self._host.root_side is not None else None)

    async def _systems(self, door: str) -> tuple[WebSystem, ...]:
        return responses.systems(await self._read_answer(door, ROOT), door)

    async def _volumes(self, system: WebSystem) -> tuple[WebVolume, ...]:
        return responses.volumes(await self._read_answer(system.door, f"{ROOT}/{system.id}/volumes"))

    async def _hardware(self, system: WebSystem) -> WebHardware:
        """Return the hardware of a disk system; empty if this user may not read it."""
        try:
            return responses.hardware(
                await self._read_answer(system.door, f"{ROOT}/{system.id}/hardware-inventory", "{")
            )
        except ToolFailedError:
            return WebHardware()

    async def _read_answer(self, door: str, path: str, begin: str = "[") -> str:
        """Return a complete answer without an error.

        Raises NotFoundError, RefusedError or ToolFailedError depending on the HTTP status, ToolTimeoutError if there is
        no answer in time.
        """
        done = await self._run(Command(argv=(door, "GET", path), timeout=READ_SECONDS))
        if done.returncode != 0:
            raise responses.refusal(done, _door_text(door))
        if not responses.is_whole(done.stdout, begin):
            raise responses.foreign_answer_error(done, _door_text(door))
        return done.stdout

    async def _run(self, command: Command) -> Completed:
        async with self._locks.setdefault(command.argv[0], asyncio.Lock()):
            return await self._host.run(command)


def step(view: WebView, key: str, value: str) -> ChangeStep:
    """Return the request that sets one field of one volume."""
    body = json.dumps({"cacheSettings": {BY_KEY[key].request_field: request_value(key, value)}})
    return ChangeStep(argv=(view.system.door, "POST", f"{ROOT}/{view.system.id}/volumes/{view.volume.id}", body))


def _door_text(door: str) -> str:
    return f"{NAME} {door_name(door)}"


def _as_failure(error: RaidbenchError) -> ToolFailedError:
    """Return the error as a ToolFailedError, because a refused change is a failed step."""
    if isinstance(error, ToolFailedError):
        return error
    return ToolFailedError(error.message, hint=error.hint, evidence=error.evidence)


def _parse_address(target: Target) -> tuple[str, str, str] | None:
    """Return the door, disk system and volume of an address; None for a drive and any other address."""
    parts = target.address.split("/")
    if target.backend != NAME or len(parts) != 3 or not all(parts) or parts[2].startswith("drive "):
        return None
    return f"/{NAME}:/{parts[0]}", parts[1], parts[2]
