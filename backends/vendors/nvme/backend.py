"""The NVMe backend: inventory from sysfs and nvme-cli, settings through nvme-cli."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from re import Pattern

from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue, denial_of, gone_error, lock_of, not_found_error
from backends.host import Completed, WriteDenied
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Risk, Setting
from backends.settings_backend import Settable
from backends.subject import REFUSED
from backends.system.caching import cache_across_changes
from backends.tool_output import deduplicate
from backends.topology import scan_topology
from backends.vendors.nvme.facts import ControllerView, Features, NamespaceId, NamespaceView
from backends.vendors.nvme.formats import COMPANIONS, companions_now, format_steps
from backends.vendors.nvme.inventory import ControllerAnswers, controller, drive
from backends.vendors.nvme.plans import (
    contents,
    controller_lock,
    feature_steps,
    identity_for,
    locked_disk,
    require_own_steps,
    sharing,
)
from backends.vendors.nvme.readings import controller_readings, namespace_readings, value_before
from backends.vendors.nvme.settings import CONTROLLER_SETTINGS, FEATURES, LBA_FORMAT, NAMESPACE_SETTINGS
from backends.vendors.nvme.sysfs import (
    LIVE,
    NAME,
    KernelController,
    KernelNamespace,
    is_controller,
    is_namespace,
    read_celsius,
    read_controllers,
    read_namespaces,
)
from backends.vendors.nvme.tool import NAMES, NvmeCli, refusal

_INSTALL = "Install nvme-cli."


class Nvme(Settable[ControllerView]):
    """NVMe of one host. Nothing is read unless somebody asks."""

    SET_SECONDS = 600.0
    """A format of a large drive takes minutes."""

    async def inventory(self) -> Inventory:
        """All controllers and namespaces, in the order of their numbers."""
        controllers = await read_controllers(self._host)
        spaces, celsius = await asyncio.gather(
            read_namespaces(self._host, controllers), read_celsius(self._host, controllers)
        )
        cut: list[Problem] = []
        answers = await asyncio.gather(
            *(self._ask(controller, celsius.get(controller.name), cut) for controller in controllers)
        )
        asked = {controller.name: answer for controller, answer in zip(controllers, answers, strict=True)}
        idents = await asyncio.gather(*(self._ident(space, cut) for space in spaces))
        drives = []
        for space, ident in zip(spaces, idents, strict=True):
            alone = len(space.controllers) == 1 and space.controller.heads == (space.name,)
            drives.append(drive(space, ident, asked[space.controller.name] if alone else None))
        return Inventory(
            controllers=tuple(
                controller(device, asked[device.name], _namespaces_of(device, spaces)) for device in controllers
            ),
            drives=tuple(drives),
            problems=deduplicate(cut),
        )

    async def cached_inventory(self) -> Inventory:
        """As `inventory`, of what each drive told last: what a change moves there is read with its settings."""
        with cache_across_changes():
            return await self.inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of a controller; of a namespace its own and its controller's."""
        if target.backend != NAME:
            return ()
        if is_controller(target.address):
            return CONTROLLER_SETTINGS
        return NAMESPACE_SETTINGS if is_namespace(target.address) else ()

    async def readings_of(self, view: ControllerView) -> Mapping[str, Reading]:
        """What the drive says, and what may be set."""
        return namespace_readings(view) if isinstance(view, NamespaceView) else controller_readings(view)

    def identity_of(self, view: ControllerView, key: str) -> Identity:
        """The controller, or the namespace."""
        return identity_for(view, key)

    async def lock_for(self, view: ControllerView, key: str) -> str:
        """That of the only disk, which runs on it take too; of the controller where there are several."""
        disk = locked_disk(view)
        return controller_lock(view.controller) if disk is None else await lock_of(self._host, disk)

    def steps(
        self, view: ControllerView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """One command: a feature with its other bits as they are, or a format."""
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return feature_steps(view, key, value)
        there = value == namespace_readings(view)[key].now
        present = companions_now(view)
        return format_steps(view, value, companions if companions is not None else present if there else {})

    def revert_steps(self, view: ControllerView, key: str, before: str) -> tuple[ChangeStep, ...]:
        """All the bits of a feature as they are; a format with the settings that it has."""
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return feature_steps(view, key, None)
        return format_steps(view, before, companions_now(view))

    def check_restorable(self, view: ControllerView, setting: Setting, now: Reading, value: str) -> str:
        """See `value_before`."""
        return value_before(view)(setting, now, value)

    def legal_companions(self, view: ControllerView, key: str) -> Mapping[str, Pattern[str]]:
        """With a format its settings."""
        return COMPANIONS if key == LBA_FORMAT.key else {}

    def destroys(self, view: ControllerView, key: str) -> str | None:
        """A format destroys all that is on the namespace."""
        return view.namespace.device if isinstance(view, NamespaceView) and key == LBA_FORMAT.key else None

    def finished(
        self, view: ControllerView, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """With the settings in the same feature; of a format with what is lost and the settings that it had."""
        key = request.setting.key
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return replace(change, shares=sharing(key))
        text = f"{request.setting.risk_text} {contents(view.namespace.device, change.found or ())}"
        return replace(change, risk=Risk.DESTROYS_DATA, risk_text=text, companions=companions_now(view))

    def require_steps(self, view: ControllerView, change: Change) -> None:
        """See `plans.require_own_steps`."""
        require_own_steps(view, change)

    def is_there(self, now: Reading, change: Change) -> bool:
        """Never: the same format may have other settings, and another program may have moved a feature's other bits."""
        return False

    def refusal(self, done: Completed) -> str:
        """Why it was not done, in nvme-cli's words; "" if it was."""
        return refusal(done)

    async def diagnose(self) -> tuple[Problem, ...]:
        """What is missing without nvme-cli, and controllers that do not answer."""
        problems: list[Problem] = []
        controllers = await read_controllers(self._host)
        if controllers and self._host.which(NAMES) is None:
            message = (
                "Without nvme-cli the write caches, power states, LBA formats and wear of NVMe drives are not known "
                "and cannot be changed."
            )
            problems.append(Problem(where=NAME, message=message, hint=_INSTALL))
        for node in controllers:
            if node.state not in (LIVE, None):
                message = f"The NVMe controller {node.name} ({node.model or 'unknown'}) is {node.state}."
                problems.append(Problem(where=f"{NAME}:{node.name}", message=message, hint="Look at the kernel's log."))
        return tuple(problems)

    def _blind_reason(self, program: str | None, device: KernelController) -> str | None:
        """Why a drive cannot be asked, in words."""
        if program is None:
            return "nvme-cli is not installed"
        if not self._host.is_root:
            return WriteDenied.NEEDS_ROOT
        if device.state not in (LIVE, None):
            return f"the controller is {device.state}"
        return None

    async def _ask(self, device: KernelController, celsius: int | None, cut: list[Problem]) -> ControllerAnswers:
        program = self._host.which(NAMES)
        if program is None or self._blind_reason(program, device) is not None:
            return ControllerAnswers(celsius=celsius)
        tool = NvmeCli(self._host, program, cut)
        about, health = await asyncio.gather(tool.id_ctrl(device.device, device.serial), tool.smart_log(device.device))
        if about is None and any(REFUSED in problem.message for problem in cut):
            health = None
        return ControllerAnswers(about=about, health=health, celsius=celsius)

    async def _ident(self, space: KernelNamespace, cut: list[Problem]) -> NamespaceId | None:
        program = self._host.which(NAMES)
        if program is None or self._blind_reason(program, space.controller) is not None:
            return None
        return await NvmeCli(self._host, program, cut).id_ns(space.device)

    async def read_state(self, target: Target, *, back: bool = False) -> ControllerView:
        """Return a controller or namespace, asked of the drive now. Raises NotFoundError, DeviceGoneError."""
        name = target.address
        if not self.settings(target):
            raise not_found_error(target)
        controllers = await read_controllers(self._host)
        spaces = await read_namespaces(self._host, controllers)
        space = next((namespace for namespace in spaces if namespace.name == name), None)
        owner = (
            space.controller
            if space
            else next((controller for controller in controllers if controller.name == name), None)
        )
        if owner is None:
            raise gone_error(target)
        program = self._host.which(NAMES)
        bare = ControllerView(
            controller=owner,
            namespaces=_in_subsystem(owner, spaces),
            program=program,
            blind=self._blind_reason(program, owner),
            frozen=await denial_of(self._host, program),
        )
        view = await self._with_answers(bare)
        return view if space is None else await self._with_namespace(view, space)

    async def _with_answers(self, bare: ControllerView) -> ControllerView:
        if bare.blind is not None or bare.program is None:
            return bare
        tool, device = NvmeCli(self._host, bare.program), bare.controller.device
        about = await tool.id_ctrl(device, bare.controller.serial)
        if about is None:
            text = next((problem.message for problem in tool.cut if REFUSED in problem.message), "")
            return replace(bare, blind=text.rstrip(".") or "the drive does not answer nvme-cli")
        states = await asyncio.gather(*(tool.feature(device, number, about) for number in FEATURES))
        return replace(bare, about=about, features=Features(states=dict(zip(FEATURES, states, strict=True))))

    async def _with_namespace(self, view: ControllerView, space: KernelNamespace) -> NamespaceView:
        ident: NamespaceId | None = None
        allocated: tuple[int, ...] | None = None
        if view.blind is None and view.program is not None:
            tool = NvmeCli(self._host, view.program)
            ident, allocated = await asyncio.gather(tool.id_ns(space.device), tool.list_ns(view.controller.device))
        picture = await scan_topology(self._host)
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


def _namespaces_of(device: KernelController, spaces: tuple[KernelNamespace, ...]) -> tuple[KernelNamespace, ...]:
    """The namespaces that a controller leads to."""
    return tuple(space for space in spaces if space.name in device.heads)


def _in_subsystem(device: KernelController, spaces: tuple[KernelNamespace, ...]) -> tuple[KernelNamespace, ...]:
    """The namespaces of a controller and of those that share its subsystem."""
    return tuple(
        space
        for space in spaces
        if any(
            sharer.name == device.name or (device.subsystem is not None and sharer.subsystem == device.subsystem)
            for sharer in space.controllers
        )
    )
