"""The machine of a session: looked for, found by any of its names, read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.engine.session.events import (
    InventorySeen,
)
from app.engine.session.ratings import with_ratings
from app.engine.session.recorder import Recorder
from app.engine.session.standing_on import above
from backends.change import Change
from backends.errors import NotFoundError, RaidbenchError
from backends.joining import joined_parts
from backends.model import Array, Controller, Drive, Inventory, Target, Task
from backends.nameplate import Nameplate, nameplate_of
from backends.protocol import PlansTogether, TellsTasks
from backends.settings import Reading, Setting

if TYPE_CHECKING:
    from backends.registry import Machine


class Hardware(Recorder):
    """What is there; each look goes into the session."""

    _parts: Mapping[str, Inventory] = MappingProxyType({})
    """What each backend, or card of one, told last."""

    @cached_property
    def machine(self) -> Machine:
        """Every backend of the host; the vendors are looked for when the first is asked."""
        from backends.registry import Machine

        return Machine.of(self.host)

    async def probe(self) -> Inventory:
        """Ask every backend at once; what has answered is shown while others still think.

        Who has not answered yet is shown as it was told before, also by a look that was given up: nothing that is there
        is missing for a moment.
        """
        answered: dict[str, Inventory] = {}

        def told(part: str, inventory: Inventory) -> None:
            answered[part] = inventory
            self._parts = {**self._parts, part: inventory}
            self.emit(InventorySeen(at=time.time(), inventory=joined_parts(self._parts), complete=False))

        merged = with_ratings(await self.machine.probe(told), self.rated)
        self._parts = answered
        seen = InventorySeen(at=time.time(), inventory=merged)
        last = next((e for e in reversed(self.session.events) if isinstance(e, InventorySeen)), None)
        if last is not None and last.inventory == merged and self._log is not None:
            self.session = replace(self.session, inventory=merged, probing=False)
            for listener in tuple(self._listeners):
                listener(self.session, seen)
        else:
            self.emit(seen)
        return merged

    async def find(self, address: str) -> Controller | Array | Drive:
        """The thing an address, a device node or a link to one names.

        Raises NotFoundError naming what is there.
        """
        inventory = self.session.inventory if not self.session.probing else await self.probe()
        found = inventory.find(address)
        if found is None and ":" not in address and "/" not in address:
            found = inventory.find(f"/dev/{address}")
        if found is None and ":" not in address:
            named = (inventory.find(f"{vendor}:{address}") for vendor in self.machine.backends)
            found = next((thing for thing in named if thing is not None), None)
        if found is None and address.startswith("/"):
            real = await self.host.link(address)
            found = inventory.find(real) if real else None
        if found is None:
            things: tuple[Controller | Array | Drive, ...] = (
                *inventory.arrays,
                *inventory.drives,
                *inventory.controllers,
            )
            known = [str(thing.target) for thing in things if thing.target not in inventory.twins]
            hint = f"There are: {', '.join(known[:12])}." if known else "`raidbench doctor` says why nothing is found."
            raise NotFoundError(f"There is no {address!r} here.", hint=hint)
        return found

    async def nameplate(self, target: Target) -> Nameplate:
        """How a question names a target, and the word that means it."""
        inventory = self.session.inventory
        if self.session.probing and inventory.find(str(target)) is None:  # not waiting for backends that still think
            inventory = await self.probe()
        return nameplate_of(inventory, target)

    def home_of(self, target: Target, key: str) -> Target:
        """The target that has a setting: itself, else another view of the same block device; itself if none has it.

        `scheduler` of a namespace or an array is the kernel's disk's, `vwc` of the kernel's disk is the namespace's.
        """
        homes = (view for view in self.views_of(target) if any(one.key == key for one in self.settings(view)))
        return next(homes, target)

    def views_of(self, target: Target) -> tuple[Target, ...]:
        """The target, then what else its block device is: an array, a vendor's drive, the kernel's disk."""
        thing = self.session.inventory.find(str(target))
        device = None if thing is None or isinstance(thing, Controller) else thing.device
        views = self.session.inventory.at(device) if device is not None else ()
        return tuple(dict.fromkeys((target, *(view.target for view in views))))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The declared settings of a target."""
        return self.machine.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Their values now."""
        return await self.machine.read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would do, on the target or on what else its block device is."""
        home = self.home_of(target, key)
        return self._with_above(await self.machine.setter(home).plan(home, key, value))

    async def plan_all(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """What setting all of `values` would do, as one set; in the order that their backend wants."""
        homes: dict[Target, dict[str, str]] = {}
        for key, value in values.items():
            homes.setdefault(self.home_of(target, key), {})[key] = value
        changes: list[Change] = []
        for home, own in homes.items():
            backend = self.machine.backend(home)
            if isinstance(backend, PlansTogether):
                changes += map(self._with_above, await backend.plan_together(home, own))
            else:
                changes += [await self.plan(home, key, value) for key, value in own.items()]
        return tuple(changes)

    def _with_above(self, change: Change) -> Change:
        """The change, knowing what stands on its target by the last look."""
        return replace(change, above=above(self.session.inventory, change.target))

    async def readings_of(self, device: str | None, file: str | None = None) -> dict[str, tuple[str, Reading]]:
        """Labels and readings of the settings of a device, by key; what cannot be read is left out.

        Of a `file` on no device those of its filesystem.

        Those of the array first, then those of the block device that it is to the kernel: of two with the same key the
        array's counts.
        """
        if device is None and file is None:
            return {}
        found: dict[str, tuple[str, Reading]] = {}
        try:
            inventory = await self.probe() if self.session.probing else self.session.inventory
            holding = inventory.holding(file) if device is None and file is not None else None
            for thing in inventory.at(device) if device is not None else (holding,) if holding is not None else ():
                labels = {setting.key: setting.label for setting in self.settings(thing.target)}
                for key, reading in (await self.read(thing.target)).items():
                    if reading.now is not None:
                        found.setdefault(key, (labels.get(key, key), reading))
        except RaidbenchError:
            return found
        return found

    async def tasks_of(self, device: str | None) -> tuple[Task, ...] | None:
        """Background work of the array at a node and of its controller, asked anew; None where nobody can tell."""
        arrays = [thing for thing in self.session.inventory.at(device or "") if isinstance(thing, Array)]
        backend = self.machine.backends.get(arrays[0].target.backend) if arrays else None
        if backend is None:
            return None
        target = arrays[0].target
        try:
            if isinstance(backend, TellsTasks):
                return await backend.tasks(target)
            found = (await backend.inventory()).arrays
        except RaidbenchError:
            return None
        return next((array.tasks for array in found if array.target == target), None)
