"""NVMe backend: inventory from sysfs and nvme-cli, settings through nvme-cli."""

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
from backends.vendors.nvme.facts import ControllerView, NamespaceId, NamespaceView
from backends.vendors.nvme.formats import COMPANIONS, companions_now, format_steps
from backends.vendors.nvme.inventory import ControllerAnswers, controller, drive
from backends.vendors.nvme.plans import (
    contents,
    feature_steps,
    identity_for,
    locked_disk,
    require_own_step,
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
    """NVMe controllers and namespaces of one host. No state is cached."""

    SET_SECONDS = 600.0
    """Seconds after which a change counts as slow. Formatting a large drive takes minutes."""

    async def inventory(self) -> Inventory:
        """Return all controllers and namespaces, sorted by number."""
        controllers = await read_controllers(self._host)
        spaces, celsius = await asyncio.gather(
            read_namespaces(self._host, controllers), read_celsius(self._host, controllers)
        )
        cut: list[Problem] = []
        answers = await asyncio.gather(
            *(self._ask(controller, celsius.get(controller.name), cut) for controller in controllers)
        )
        by_name = {controller.name: answer for controller, answer in zip(controllers, answers, strict=True)}
        idents = await asyncio.gather(*(self._ident(space, cut) for space in spaces))
        drives = []
        for space, ident in zip(spaces, idents, strict=True):
            alone = len(space.controllers) == 1 and space.controller.heads == (space.name,)
            drives.append(drive(space, ident, by_name[space.controller.name] if alone else None))
        return Inventory(
            controllers=tuple(
                controller(device, by_name[device.name], tuple(space for space in spaces if space.name in device.heads))
                for device in controllers
            ),
            drives=tuple(drives),
            problems=deduplicate(cut),
        )

    async def cached_inventory(self) -> Inventory:
        """Return the inventory from cached output of nvme-cli. Values that change are read again with the settings."""
        with cache_across_changes():
            return await self.inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of a controller, or those of a namespace and its controller."""
        if target.backend != NAME:
            return ()
        if is_controller(target.address):
            return CONTROLLER_SETTINGS
        return NAMESPACE_SETTINGS if is_namespace(target.address) else ()

    async def readings_of(self, view: ControllerView) -> Mapping[str, Reading]:
        """Return the readings of all settings: the drive's values and the legal values."""
        return namespace_readings(view) if isinstance(view, NamespaceView) else controller_readings(view)

    def identity_of(self, view: ControllerView, key: str) -> Identity:
        """Return the identity of the controller or namespace."""
        return identity_for(view, key)

    async def lock_for(self, view: ControllerView, key: str) -> str:
        """Return the name of a namespace's lock, which benchmark runs take too.

        A controller has the lock of its only namespace. With several namespaces or none, it has a lock of its own.
        """
        if (disk := locked_disk(view)) is None:
            return f"nvme-{view.controller.serial or view.controller.name}"
        return await lock_of(self._host, disk)

    def steps(
        self, view: ControllerView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the command for a change.

        The command sets a feature and keeps the feature's other bits, or formats the namespace.
        """
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return feature_steps(view, key, value)
        is_present = value == namespace_readings(view)[key].now
        present = companions_now(view)
        return format_steps(view, value, companions if companions is not None else present if is_present else {})

    def revert_steps(self, view: ControllerView, key: str, before: str) -> tuple[ChangeStep, ...]:
        """Return the command that restores the current state: all bits of the feature, or the format and its
        options.
        """
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return feature_steps(view, key, None)
        return format_steps(view, before, companions_now(view))

    def check_restorable(self, view: ControllerView, setting: Setting, now: Reading, value: str) -> str:
        """Return the old `value` if it may be restored; see `value_before`. Raises InvalidValueError."""
        return value_before(view, setting, now, value)

    def legal_companions(self, view: ControllerView, key: str) -> Mapping[str, Pattern[str]]:
        """Return patterns of the options that may be restored along with a format, by key; empty for other settings."""
        return COMPANIONS if key == LBA_FORMAT.key else {}

    def destroys(self, view: ControllerView, key: str) -> str | None:
        """Return the node of the namespace whose data a format destroys; None for other settings."""
        return view.namespace.device if isinstance(view, NamespaceView) and key == LBA_FORMAT.key else None

    def finished(
        self, view: ControllerView, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """Return the change, completed: a change of a feature with the settings that share the feature, and a format
        with a warning about the data that it destroys.
        """
        key = request.setting.key
        if not isinstance(view, NamespaceView) or key != LBA_FORMAT.key:
            return replace(change, shares=sharing(key))
        text = f"{request.setting.risk_text} {contents(view.namespace.device, change.found or ())}"
        return replace(change, risk=Risk.DESTROYS_DATA, risk_text=text, companions=companions_now(view))

    def require_steps(self, view: ControllerView, change: Change) -> None:
        """Raise RefusedError if a step is not a command for this setting and device."""
        for step in change.writes:
            require_own_step(view, change, step.argv)

    def is_there(self, now: Reading, change: Change) -> bool:
        """Return False, so that the steps are always run.

        Even if the value is already set, a format may have other options, and other bits of a feature may have changed.
        """
        return False

    def refusal(self, done: Completed) -> str:
        """Return nvme-cli's reason for a failure; "" on success."""
        return refusal(done)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem if nvme-cli is missing, and one for each controller that is not live."""
        problems: list[Problem] = []
        controllers = await read_controllers(self._host)
        if controllers and self._host.which(NAMES) is None:
            message = (
                "nvme-cli is not installed, so write caches, power states, LBA formats and wear of NVMe drives are "
                "unknown and cannot be changed."
            )
            problems.append(Problem(where=NAME, message=message, hint=_INSTALL))
        for node in controllers:
            if node.state not in (LIVE, None):
                message = f"The NVMe controller {node.name} ({node.model or 'unknown'}) is {node.state}."
                problems.append(Problem(where=f"{NAME}:{node.name}", message=message, hint="Read the kernel log."))
        return tuple(problems)

    def _blind_reason(self, program: str | None, device: KernelController) -> str | None:
        """Return the reason why the drive cannot be queried; None if it can be queried."""
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
        """Return the current state of a controller or namespace, read from the drive.

        Raises NotFoundError, DeviceGoneError.
        """
        name = target.address
        if not self.settings(target):
            raise not_found_error(target)
        controllers = await read_controllers(self._host)
        spaces = await read_namespaces(self._host, controllers)
        space = next((namespace for namespace in spaces if namespace.name == name), None)
        by_name = {controller.name: controller for controller in controllers}
        owner = space.controller if space is not None else by_name.get(name)
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
            return replace(bare, blind=text.rstrip(".") or "the drive does not respond to nvme-cli")
        states = await asyncio.gather(*(tool.feature(device, number, about) for number in FEATURES))
        return replace(bare, about=about, features=dict(zip(FEATURES, states, strict=True)))

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


def _in_subsystem(device: KernelController, spaces: tuple[KernelNamespace, ...]) -> tuple[KernelNamespace, ...]:
    """Return the namespaces of a controller and of all controllers in its subsystem."""
    return tuple(
        space
        for space in spaces
        if any(
            sharer.name == device.name or (device.subsystem is not None and sharer.subsystem == device.subsystem)
            for sharer in space.controllers
        )
    )
