"""Backend for ioMemory modules: inventory, and reading and changing of their sector size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue, denial_of, gone_error, lock_of, not_found_error
from backends.errors import RefusedError, ToolFailedError
from backends.host import WriteDenied
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.reported_words import word_text
from backends.settings import Reading, Risk, Setting
from backends.settings_backend import Settable
from backends.text import clean
from backends.topology import scan_topology
from backends.topology.tree import read_node
from backends.vendors.fusionio.facts import Cards
from backends.vendors.fusionio.inventory import NAME, controller, drive, is_controller, is_drive, problems
from backends.vendors.fusionio.sector import SECTOR_SIZE, IoCardView, is_step, reading, steps, value_before
from backends.vendors.fusionio.tool import FusionIoTools, read_cards

_DRIVERS = "/sys/module/iomemory_vsl*"


class FusionIo(Settable[IoCardView]):
    """Backend for the ioMemory modules of one host. It runs nothing unless their driver is loaded."""

    SET_SECONDS = 600.0
    """Seconds after which a step counts as slow. Attaching scans the whole module."""
    APART = "detached"

    async def inventory(self) -> Inventory:
        """Return every module and its block devices, in the order of fio-status."""
        cards = await self._cards()
        return Inventory(
            controllers=tuple(controller(module, cards) for module in cards.modules),
            drives=tuple(drive(volume, module, cards) for module in cards.modules for volume in module.volumes),
            problems=(*cards.cut, *(problem for module in cards.modules for problem in problems(module))),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the sector size for a block device; a module has no settings of its own."""
        return (SECTOR_SIZE,) if target.backend == NAME and is_drive(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Read the sector size. Raises NotFoundError for an unknown address, DeviceGoneError if the device is gone."""
        if target.backend == NAME and is_controller(target.address):
            return {}
        return await super().read(target)

    async def readings_of(self, view: IoCardView) -> Mapping[str, Reading]:
        """Return the reading of the sector size, with the reason if it cannot be changed."""
        return {SECTOR_SIZE.key: reading(view)}

    def identity_of(self, view: IoCardView, key: str) -> Identity:
        """Return the device's identity, which formatting and attaching do not change."""
        return view.identity

    async def lock_for(self, view: IoCardView, key: str) -> str:
        """Return the name of the lock of the kernel disk."""
        return await lock_of(self._host, view.node.name)

    def steps(
        self, view: IoCardView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the steps to detach, format and attach; () if a program is missing."""
        return () if view.programs.missing else steps(view, value)

    def check_restorable(self, view: IoCardView, setting: Setting, now: Reading, value: str) -> str:
        """Return an old sector size in canonical form; see `value_before`."""
        return value_before(setting, now, value)

    def destroys(self, view: IoCardView, key: str) -> str | None:
        """Return the device whose data is destroyed."""
        return view.node.device

    def finished(
        self, view: IoCardView, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """Return the change, marked as destroying data for any new size, and without undo if it has no steps."""
        risk_text = SECTOR_SIZE.risk_text
        return replace(change, risk=Risk.DESTROYS_DATA, risk_text=risk_text, undo=change.undo if change.writes else ())

    def require_steps(self, view: IoCardView, change: Change) -> None:
        """Raise RefusedError for a step that does not belong to formatting this module."""
        for step in change.writes:
            if view.module is None or view.programs.missing or not is_step(view, step.argv):
                raise RefusedError(
                    f"Refusing to run a step that does not belong to formatting {view.node.device}: "
                    f"{clean(step.shown(), 300)}."
                )

    async def require_free_for(self, device: str, change: Change, step: ChangeStep, view: IoCardView) -> None:
        """Raise an error if the device is in use before it is detached, or is not detached before it is formatted."""
        if step.argv[0] == view.programs.detach:
            await super().require_free_for(device, change, step, view)
        elif step.argv[0] == view.programs.format:
            await self._require_detached(view)

    async def remains(self, change: Change) -> str | None:
        """Return how to attach a module that is still detached after an interrupted change, or None."""
        serial_number = change.identity.serial if change.identity is not None else None
        cards = await self._cards()
        module_left = next(
            (module for module in cards.modules if serial_number is not None and module.serial == serial_number), None
        )
        if module_left is None or module_left.state == "Attached":
            return None
        return (
            f"{module_left.name} is {word_text(module_left.state)}. Attach it with: fio-attach /dev/{module_left.name}"
        )

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem if the driver is loaded but fio-status is missing."""
        if not await self._host.list(_DRIVERS) or FusionIoTools.find(self._host).status is not None:
            return ()
        message = (
            "An ioMemory driver is loaded, but fio-status is not installed, so wear, temperature and sector size "
            "are unknown."
        )
        return (Problem(where=NAME, message=message, hint="Install the version of fio-util that matches the driver."),)

    async def _cards(self) -> Cards:
        """Return the parsed output of fio-status. Without the driver or root, which it needs, return empty `Cards`."""
        if not await self._host.list(_DRIVERS) or not self._host.is_root:
            return Cards()
        return await read_cards(self._host, FusionIoTools.find(self._host).status)

    async def _require_detached(self, view: IoCardView) -> None:
        """Raise ToolFailedError unless fio-status reports that the module is detached now."""
        assert view.module is not None
        now = next((module for module in (await self._cards()).modules if module.name == view.module.name), None)
        if now is None or now.serial != view.module.serial or now.state != "Detached":
            raise ToolFailedError(f"fio-status does not confirm that {view.module.name} is detached")

    async def read_state(self, target: Target, *, back: bool = False) -> IoCardView:
        """Return the current state of a block device.

        Raises NotFoundError for an unknown address, DeviceGoneError if the kernel does not have the device.
        """
        if not self.settings(target):
            raise not_found_error(target)
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone_error(target)
        cards, programs = await self._cards(), FusionIoTools.find(self._host)
        module, volume = cards.find_volume(target.address) or (None, None)
        picture = await scan_topology(self._host)
        return IoCardView(
            node=node,
            programs=programs,
            blind=self._blind_reason(programs),
            module=module,
            volume=volume,
            uses=tuple(f"{use.part} {use.detail}" if use.part else use.detail for use in picture.uses(node.name)),
            frozen=cards.cut[0].message.rstrip(".") if cards.cut else await denial_of(self._host, programs.format),
        )

    def _blind_reason(self, programs: FusionIoTools) -> str | None:
        if programs.status is None:
            return "fio-status is not installed"
        return None if self._host.is_root else WriteDenied.NEEDS_ROOT
