"""The NVMe backend: inventory from sysfs and nvme-cli, settings through nvme-cli."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change
from backends.changing import denial_of, gone, lock_of, not_found, setting_of, wanted
from backends.guard import require_free
from backends.host import Denial, Host
from backends.identity import Signature
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Setting
from backends.topology import look
from backends.vendors.nvme.addresses import NAME, is_controller, is_namespace
from backends.vendors.nvme.facts import Features, NamespaceId
from backends.vendors.nvme.inventory import ControllerAnswers, controller, drive
from backends.vendors.nvme.plans import controller_lock, feature_change, format_change, locked_disk
from backends.vendors.nvme.readings import controller_readings, namespace_readings
from backends.vendors.nvme.running import NvmeRunner
from backends.vendors.nvme.settings import CONTROLLER_SETTINGS, FEATURES, LBA_FORMAT, NAMESPACE_SETTINGS
from backends.vendors.nvme.sysfs import (
    LIVE,
    KernelController,
    KernelNamespace,
    read_celsius,
    read_controllers,
    read_namespaces,
)
from backends.vendors.nvme.tool import NAMES, NvmeCli
from backends.vendors.nvme.view import ControllerView, NamespaceView

_INSTALL = "Install nvme-cli."


class Nvme:
    """NVMe of one host. Nothing is read unless somebody asks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._runner = NvmeRunner(host)

    async def inventory(self) -> Inventory:
        """All controllers and namespaces, in the order of their numbers."""
        controllers = await read_controllers(self._host)
        spaces, celsius = await asyncio.gather(
            read_namespaces(self._host, controllers), read_celsius(self._host, controllers)
        )
        answers = await asyncio.gather(*(self._ask(one, celsius.get(one.name)) for one in controllers))
        asked = {one.name: answer for one, answer in zip(controllers, answers, strict=True)}
        idents = await asyncio.gather(*(self._ident(space) for space in spaces))
        drives = []
        for space, ident in zip(spaces, idents, strict=True):
            alone = len(space.controllers) == 1 and space.controller.heads == (space.name,)
            drives.append(drive(space, ident, asked[space.controller.name] if alone else None))
        return Inventory(
            controllers=tuple(controller(one, asked[one.name], _of(one, spaces)) for one in controllers),
            drives=tuple(drives),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of a controller; of a namespace its own and its controller's."""
        if target.backend != NAME:
            return ()
        if is_controller(target.address):
            return CONTROLLER_SETTINGS
        return NAMESPACE_SETTINGS if is_namespace(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now, asked of the drive. Raises NotFoundError, DeviceGoneError."""
        return _readings(await self._view(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The command that sets `key` to `value`, and the one that brings the present value back."""
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target)
        found: tuple[Signature, ...] = ()
        if key == LBA_FORMAT.key and isinstance(view, NamespaceView) and self._host.is_root:
            # without root not all of it can be seen: before applying, then
            found = await require_free(self._host, view.namespace.device)
        wish = wanted(target, setting, _readings(view)[key], value)
        disk = locked_disk(view)
        lock = controller_lock(view.controller) if disk is None else await lock_of(self._host, disk)
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return feature_change(view, wish, lock)
        return replace(format_change(view, wish, found, lock), found=found if self._host.is_root else None)

    async def apply(self, change: Change) -> None:
        """Run the command, if what it is for is still what it was planned for."""
        view = await self._view(change.target)
        await self._runner.run(change, view)

    async def diagnose(self) -> tuple[Problem, ...]:
        """What is missing without nvme-cli, and controllers that do not answer."""
        found: list[Problem] = []
        controllers = await read_controllers(self._host)
        if controllers and self._host.which(NAMES) is None:
            message = (
                "Without nvme-cli the write caches, power states, LBA formats and wear of NVMe drives are not known "
                "and cannot be changed."
            )
            found.append(Problem(where=NAME, message=message, hint=_INSTALL))
        for one in controllers:
            if one.state not in (LIVE, None):
                message = f"The NVMe controller {one.name} ({one.model or 'unknown'}) is {one.state}."
                found.append(Problem(where=f"{NAME}:{one.name}", message=message, hint="Look at the kernel's log."))
        return tuple(found)

    def _blind(self, program: str | None, one: KernelController) -> str | None:
        """Why a drive cannot be asked, in words."""
        if program is None:
            return "nvme-cli is not installed"
        if not self._host.is_root:
            return Denial.NEEDS_ROOT
        if one.state not in (LIVE, None):
            return f"the controller is {one.state}"
        return None

    async def _ask(self, one: KernelController, celsius: int | None) -> ControllerAnswers:
        program = self._host.which(NAMES)
        if program is None or self._blind(program, one) is not None:
            return ControllerAnswers(celsius=celsius)
        tool = NvmeCli(self._host, program)
        about, health = await asyncio.gather(tool.id_ctrl(one.device), tool.smart_log(one.device))
        return ControllerAnswers(about=about, health=health, celsius=celsius)

    async def _ident(self, space: KernelNamespace) -> NamespaceId | None:
        program = self._host.which(NAMES)
        if program is None or self._blind(program, space.controller) is not None:
            return None
        return await NvmeCli(self._host, program).id_ns(space.device)

    async def _view(self, target: Target) -> ControllerView:
        """The controller or namespace as it is now. Raises NotFoundError, DeviceGoneError."""
        name = target.address
        if not self.settings(target):
            raise not_found(target)
        controllers = await read_controllers(self._host)
        spaces = await read_namespaces(self._host, controllers)
        space = next((one for one in spaces if one.name == name), None)
        owner = space.controller if space else next((one for one in controllers if one.name == name), None)
        if owner is None:
            raise gone(target)
        program = self._host.which(NAMES)
        bare = ControllerView(
            controller=owner,
            namespaces=_in_subsystem(owner, spaces),
            program=program,
            blind=self._blind(program, owner),
            frozen=await denial_of(self._host, program),
        )
        view = await self._asked(bare)
        return view if space is None else await self._with_namespace(view, space)

    async def _asked(self, bare: ControllerView) -> ControllerView:
        if bare.blind is not None or bare.program is None:
            return bare
        tool, device = NvmeCli(self._host, bare.program), bare.controller.device
        about = await tool.id_ctrl(device)
        if about is None:
            return replace(bare, blind="the drive does not answer nvme-cli")
        states = await asyncio.gather(*(tool.feature(device, number, about) for number in FEATURES))
        return replace(bare, about=about, features=Features(states=dict(zip(FEATURES, states, strict=True))))

    async def _with_namespace(self, view: ControllerView, space: KernelNamespace) -> NamespaceView:
        ident: NamespaceId | None = None
        allocated: tuple[int, ...] | None = None
        if view.blind is None and view.program is not None:
            tool = NvmeCli(self._host, view.program)
            ident, allocated = await asyncio.gather(tool.id_ns(space.device), tool.list_ns(view.controller.device))
        picture = await look(self._host)
        uses = tuple(f"{use.part} {use.detail}" if use.part else use.detail for use in picture.uses(space.name))
        return NamespaceView(
            controller=view.controller,
            namespaces=view.namespaces,
            program=view.program,
            blind=view.blind,
            frozen=view.frozen,
            about=view.about,
            features=view.features,
            namespace=space,
            ident=ident,
            allocated=allocated,
            uses=uses,
        )


def _readings(view: ControllerView) -> Mapping[str, Reading]:
    return namespace_readings(view) if isinstance(view, NamespaceView) else controller_readings(view)


def _of(one: KernelController, spaces: tuple[KernelNamespace, ...]) -> tuple[KernelNamespace, ...]:
    """The namespaces that a controller leads to."""
    return tuple(space for space in spaces if space.name in one.heads)


def _in_subsystem(one: KernelController, spaces: tuple[KernelNamespace, ...]) -> tuple[KernelNamespace, ...]:
    """The namespaces of a controller and of those that share its subsystem."""
    return tuple(
        space
        for space in spaces
        if any(
            other.name == one.name or (one.subsystem is not None and other.subsystem == one.subsystem)
            for other in space.controllers
        )
    )
