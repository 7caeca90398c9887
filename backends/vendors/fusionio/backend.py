"""The backend of ioMemory cards: inventory, reading, planning and applying."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue, denial_of, gone_error, lock_of, not_found_error
from backends.errors import RefusedError, ToolFailedError
from backends.host import WriteDenied
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Risk, Setting
from backends.settings_backend import Settable
from backends.text import clean
from backends.topology import scan_topology
from backends.topology.tree import read_node
from backends.vendors.fusionio.facts import Cards
from backends.vendors.fusionio.inventory import NAME, controller, drive, is_controller, is_drive, problems
from backends.vendors.fusionio.sector import SECTOR_SIZE, IoCardView, is_step, reading, steps, value_before
from backends.vendors.fusionio.tool import FusionIoTools, ask

_DRIVERS = "/sys/module/iomemory_vsl*"


class FusionIo(Settable[IoCardView]):
    """The ioMemory cards of one host. Nothing is run unless their driver is loaded."""

    SET_SECONDS = 600.0
    """Attaching scans the whole card."""
    APART = "detached"

    async def inventory(self) -> Inventory:
        """Every module and its block devices, in the order of fio-status."""
        cards = await self._cards()
        return Inventory(
            controllers=tuple(controller(module, cards) for module in cards.modules),
            drives=tuple(drive(volume, module, cards) for module in cards.modules for volume in module.volumes),
            problems=(*cards.cut, *(problem for module in cards.modules for problem in problems(module))),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The sector size of a block device; a module has none of its own."""
        return (SECTOR_SIZE,) if target.backend == NAME and is_drive(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """The sector size now. Raises NotFoundError, DeviceGoneError."""
        if target.backend == NAME and is_controller(target.address):
            return {}
        return await super().read(target)

    async def readings_of(self, view: IoCardView) -> Mapping[str, Reading]:
        """The sector size, and what stands against another one."""
        return {SECTOR_SIZE.key: reading(view)}

    def identity_of(self, view: IoCardView, key: str) -> Identity:
        """What stays when it is formatted and attached again."""
        return view.identity

    async def lock_for(self, view: IoCardView, key: str) -> str:
        """That of the disk."""
        return await lock_of(self._host, view.node.name)

    def steps(
        self, view: IoCardView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Detach, format, attach; none without the programs, where only what is there already may be asked for."""
        return () if view.programs.missing else steps(view, value)

    def check_restorable(self, view: IoCardView, setting: Setting, now: Reading, value: str) -> str:
        """See `value_before`."""
        return value_before(setting, now, value)

    def destroys(self, view: IoCardView, key: str) -> str | None:
        """All that is on it."""
        return view.node.device

    def finished(
        self, view: IoCardView, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """A format destroys whatever the size; what is there already leaves nothing to be taken back."""
        risk_text = SECTOR_SIZE.risk_text
        return replace(change, risk=Risk.DESTROYS_DATA, risk_text=risk_text, undo=change.undo if change.writes else ())

    def require_steps(self, view: IoCardView, change: Change) -> None:
        """Raises RefusedError for a step that is none of formatting this very card."""
        for step in change.writes:
            if view.module is None or view.programs.missing or not is_step(view, step.argv):
                raise RefusedError(f"This is no step of formatting {view.node.device}: {clean(step.shown(), 300)}.")

    async def require_free_for(self, device: str, change: Change, step: ChangeStep, view: IoCardView) -> None:
        """Before it is detached; from then on it has no node, and is formatted only while detached."""
        if step.argv[0] == view.programs.detach:
            await super().require_free_for(device, change, step, view)
        elif step.argv[0] == view.programs.format:
            await self._require_detached(view)

    async def remains(self, change: Change) -> str | None:
        """How a card is attached again that a change, cut short, has detached."""
        serial_number = change.identity.serial if change.identity is not None else None
        cards = await self._cards()
        module_left = next(
            (module for module in cards.modules if serial_number is not None and module.serial == serial_number), None
        )
        if module_left is None or module_left.state == "Attached":
            return None
        return f"{module_left.name} is {module_left.state}. Bring it back with: fio-attach /dev/{module_left.name}"

    async def diagnose(self) -> tuple[Problem, ...]:
        """The driver without its program."""
        if not await self._host.list(_DRIVERS) or FusionIoTools.on(self._host).status is not None:
            return ()
        message = "An ioMemory driver is loaded, but fio-status is not found: wear, heat and sector size are not known."
        return (Problem(where=NAME, message=message, hint="Install fio-util of the driver's version."),)

    async def _cards(self) -> Cards:
        """What fio-status tells; it is not run without a driver, nor without root, which it needs."""
        if not await self._host.list(_DRIVERS) or not self._host.is_root:
            return Cards()
        return await ask(self._host, FusionIoTools.on(self._host).status)

    async def _require_detached(self, view: IoCardView) -> None:
        """Raises ToolFailedError unless it is this card that is detached now."""
        assert view.module is not None
        now = next((module for module in (await self._cards()).modules if module.name == view.module.name), None)
        if now is None or now.serial != view.module.serial or now.state != "Detached":
            raise ToolFailedError(f"fio-status does not say that {view.module.name} is detached now")

    async def read_state(self, target: Target, *, back: bool = False) -> IoCardView:
        """Return a block device as the kernel and fio-status report it now. Raises NotFoundError, DeviceGoneError."""
        if not self.settings(target):
            raise not_found_error(target)
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone_error(target)
        cards, programs = await self._cards(), FusionIoTools.on(self._host)
        module, volume = cards.of(target.address) or (None, None)
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
