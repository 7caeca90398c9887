"""The backend of ioMemory cards: inventory, reading, planning and applying."""

from __future__ import annotations

from collections.abc import Mapping

from backends.change import Change, Write
from backends.changing import (
    denial_of,
    gone,
    lock_of,
    not_found,
    require_same,
    run_step,
    setting_of,
    take_steps,
    wanted,
)
from backends.errors import RefusedError, ToolFailedError
from backends.guard import require_free
from backends.host import Completed, Denial, Host
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Setting
from backends.text import clean
from backends.topology import look
from backends.topology.tree import read_node
from backends.vendors.fusionio.facts import Cards
from backends.vendors.fusionio.inventory import NAME, controller, drive, is_controller, is_drive, problems
from backends.vendors.fusionio.sector import IoCardView, format_change, is_step, reading
from backends.vendors.fusionio.settings import SECTOR_SIZE
from backends.vendors.fusionio.tool import Programs, ask

SET_SECONDS = 600.0
"""After this a step is slow (attaching scans the whole card); it is waited for, and never killed."""

_DRIVERS = "/sys/module/iomemory_vsl*"


class FusionIo:
    """The ioMemory cards of one host. Nothing is run unless their driver is loaded."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def inventory(self) -> Inventory:
        """Every module and its block devices, in the order of fio-status."""
        cards = await self._cards()
        return Inventory(
            controllers=tuple(controller(module, cards) for module in cards.modules),
            drives=tuple(drive(volume, module, cards) for module in cards.modules for volume in module.volumes),
            problems=tuple(problem for module in cards.modules for problem in problems(module)),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The sector size of a block device; a module has none of its own."""
        return (SECTOR_SIZE,) if target.backend == NAME and is_drive(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """The sector size now. Raises NotFoundError, DeviceGoneError."""
        if target.backend == NAME and is_controller(target.address):
            return {}
        return {SECTOR_SIZE.key: reading(await self._view(target))}

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The steps that bring another sector size, and those that bring the present one back."""
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target)
        # without root not all of it can be seen: before applying, then
        found = await require_free(self._host, view.node.device) if self._host.is_root else None
        wish = wanted(target, setting, reading(view), value)
        return format_change(view, wish, found, await lock_of(self._host, view.node.name))

    async def apply(self, change: Change) -> None:
        """Take the steps, if the card is the one that was planned for; none where it has that sector size."""
        view = await self._view(change.target)
        require_same(change, view.identity)
        for step in change.writes:
            if view.module is None or view.programs.missing or not is_step(view, step.argv):
                raise RefusedError(f"This is no step of formatting {view.node.device}: {clean(step.shown(), 300)}.")
        if reading(view).now == change.after:
            return

        async def take(step: Write) -> None:
            if step.argv[0] == view.programs.detach:
                await require_free(self._host, view.node.device, change.found)
            elif step.argv[0] == view.programs.format:
                await self._require_detached(view)
            await run_step(self._host, step, SET_SECONDS, _refusal)

        await take_steps(change, take, apart="detached")

    async def remains(self, change: Change) -> str | None:
        """How a card is attached again that a change, cut short, has detached."""
        known = change.identity.serial if change.identity is not None else None
        cards = await self._cards()
        one = next((one for one in cards.modules if known is not None and one.serial == known), None)
        if one is None or one.state == "Attached":
            return None
        return f"{one.name} is {one.state}. Bring it back with: fio-attach /dev/{one.name}"

    async def diagnose(self) -> tuple[Problem, ...]:
        """The driver without its program."""
        if not await self._host.list(_DRIVERS) or Programs.on(self._host).status is not None:
            return ()
        message = "An ioMemory driver is loaded, but fio-status is not found: wear, heat and sector size are not known."
        return (Problem(where=NAME, message=message, hint="Install fio-util of the driver's version."),)

    async def _cards(self) -> Cards:
        """What fio-status tells; it is not run without a driver, nor without root, which it needs."""
        if not await self._host.list(_DRIVERS) or not self._host.is_root:
            return Cards()
        return await ask(self._host, Programs.on(self._host).status)

    async def _require_detached(self, view: IoCardView) -> None:
        """Raises ToolFailedError unless it is this card that is detached now."""
        assert view.module is not None
        now = next((one for one in (await self._cards()).modules if one.name == view.module.name), None)
        if now is None or now.serial != view.module.serial or now.state != "Detached":
            raise ToolFailedError(f"fio-status does not say that {view.module.name} is detached now")

    async def _view(self, target: Target) -> IoCardView:
        """A block device of ours now. Raises NotFoundError, DeviceGoneError."""
        if not self.settings(target):
            raise not_found(target)
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone(target)
        cards, programs = await self._cards(), Programs.on(self._host)
        module, volume = cards.of(target.address) or (None, None)
        picture = await look(self._host)
        return IoCardView(
            node=node,
            programs=programs,
            blind=self._blind(programs),
            module=module,
            volume=volume,
            uses=tuple(f"{use.part} {use.detail}" if use.part else use.detail for use in picture.uses(node.name)),
            frozen=await denial_of(self._host, programs.format),
        )

    def _blind(self, programs: Programs) -> str | None:
        if programs.status is None:
            return "fio-status is not installed"
        return None if self._host.is_root else Denial.NEEDS_ROOT


def _refusal(done: Completed) -> str:
    if done.returncode == 0:
        return ""
    said = next((line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()), "")
    return clean(said, 300) or f"it ended with exit status {done.returncode}"
