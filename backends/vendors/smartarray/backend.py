"""Backend for HPE Smart Array, SmartRAID and Adaptec's older controllers, through ssacli or arcconf.

Almost no recording shows what these tools print after a change. So the values read afterwards decide whether a change
succeeded. A value that is already set is never sent, because the firmware reports that as an error. The error for a
refused change quotes the tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, ArrayRequest, Candidate, CreatedArray
from backends.change import Change, ChangeStep
from backends.change_steps import (
    denial_of,
    evidence_of,
    gone_error,
    not_found_error,
    requested_value,
    require_companions,
    require_same_device,
    require_still_free,
    run_steps,
    setting_of,
    validated_old_value,
)
from backends.errors import InvalidValueError, RefusedError, ToolFailedError
from backends.host import Command, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target, Task
from backends.protocol import InventoryListener, placeholder_inventory
from backends.settings import Reading, Setting
from backends.system.caching import uncached
from backends.text import clean
from backends.tool_output import truncation_error
from backends.topology import Topology, scan_topology
from backends.vendors.smartarray.addresses import SmartArrayAddress, card_target, parse
from backends.vendors.smartarray.creation import candidates, existing_volume_ids, find_made, plan_array
from backends.vendors.smartarray.dialect import PartView
from backends.vendors.smartarray.facts import CardText
from backends.vendors.smartarray.inventory import (
    card_identity,
    drive_identity,
    inventory,
    tasks,
    truncation_of,
    volume_identity,
)
from backends.vendors.smartarray.matching import volume_node
from backends.vendors.smartarray.open_card import OpenController, OpenControllers
from backends.vendors.smartarray.plans import legal_companions, plan_change, require_own_step, value_before
from backends.vendors.smartarray.readings import readings
from backends.vendors.smartarray.settings import CARD_SETTINGS, DRIVE_SETTINGS, VOLUME_SETTINGS
from backends.vendors.smartarray.tools import tool_problems, unseen_card_problems

READ_BACK = 3
"""Maximum number of reads after a change, because the first read with an old arcconf still shows the old value."""

MOVING = "pending migration"
"""Value of the strip size while the controller moves data, when part of the data has the old size and part the new
one."""


class SmartArray:
    """Backend for the controllers that ssacli and arcconf find on a host. It reads nothing until a method is called."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._units = OpenControllers(host)
        self._moving: dict[str, str] = {}

    async def inventory(self) -> Inventory:
        """Return all controllers, with a problem for each one that cannot be read."""
        return await self.inventory_in_parts(lambda _part, _inventory: None)

    async def inventory_in_parts(self, report: InventoryListener) -> Inventory:
        """Return the inventory, and report each controller twice: as a placeholder when found, in full when read."""
        picture: Topology | None = None
        read: dict[str, Inventory] = {}

        async def report_card(address: str, card: OpenController | Problem | None) -> None:
            nonlocal picture
            part = card_target(address)
            if isinstance(card, OpenController):
                picture = picture or await scan_topology(self._host)
                part_inventory = read[card.prefix] = inventory(
                    card.prefix, card.text, card.pci, card.tool.tool, picture
                )
            elif card is None:
                part_inventory = placeholder_inventory(part)
            else:
                part_inventory = Inventory(problems=(card,))
            report(str(part), part_inventory)

        units = await self._units.search_cards(report_card)
        merged = Inventory(problems=(*await self._tool_problems(), *self._units.problems))
        for unit in units:
            merged = merged.merge(read[unit.prefix])
        return merged

    async def cached_inventory(self) -> Inventory:
        """Return the inventory from the cached state of each controller. Applying a change updates that state, too."""
        picture = await scan_topology(self._host)
        merged = Inventory(problems=(*await self._tool_problems(), *self._units.problems))
        for controller in await self._units.cards():
            merged = merged.merge(
                inventory(controller.prefix, controller.text, controller.pci, controller.tool.tool, picture)
            )
        return merged

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem for each tool whose output is incomplete, and for controllers that no tool sees."""
        units = await self._units.search_cards()
        half = (truncation_of(unit.prefix, unit.text) for unit in units)
        return (*await self._tool_problems(), *(problem for problem in half if problem is not None))

    async def _tool_problems(self) -> tuple[Problem, ...]:
        tried = self._units.tried
        return (*tool_problems(tried), *await unseen_card_problems(self._host, tried, self._units.card_count))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of a controller, a logical drive or a drive."""
        address = parse(target)
        if address is None:
            return ()
        if address.drive is not None:
            return DRIVE_SETTINGS[address.family]
        return (CARD_SETTINGS if address.volume is None else VOLUME_SETTINGS)[address.family]

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings of all settings.

        Raises as `Backend.read` does, and ToolFailedError if the output is unusable.
        """
        address, unit = await self._unit(target)
        return self._readings(target, address, await self._view(target, address, unit, await unit.refresh()))

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings of all settings from the cached state, because each command of a tool takes seconds."""
        address, unit = await self._unit(target)
        return self._readings(target, address, await self._view(target, address, unit, unit.text, ask=False))

    async def ask_legal_values(self, target: Target) -> int:
        """Query the legal values of all settings, so that a recording contains them. Return the number of queries."""
        address, unit = await self._unit(target)
        volume = unit.text.volume(address.volume)
        if address.drive is not None or (address.volume is not None and volume is None):
            return 0
        return await unit.tool.query_all_values(unit.text, volume)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Return the background tasks of a logical drive, as last read."""
        address, unit = await self._unit(target)
        volume = unit.text.volume(address.volume)
        return () if volume is None else tasks(volume)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, with the commands to apply and to undo it."""
        address, unit = await self._unit(target)
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target, address, unit, await unit.refresh())
        now = self._readings(target, address, view)[key]
        return plan_change(
            view,
            requested_value(target, setting, now, value),
            self._identity(address, unit, await scan_topology(self._host)),
        )

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that sets `key` back to `value`.

        An undo of Smart Path turns the cache on again for every logical drive of the array that used it.
        """
        address, unit = await self._unit(target)
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target, address, unit, await unit.refresh(), ask=False)
        require_companions(target, key, companions, legal_companions(view, key))
        request = validated_old_value(target, setting, self._readings(target, address, view)[key], value, value_before)
        return plan_change(view, request, self._identity(address, unit, await scan_topology(self._host)), companions)

    async def apply(self, change: Change) -> None:
        """Run the commands of a change unless its value is already set. The value read afterwards decides its success.

        Raises ToolFailedError if the controller still has the old value, with the tool's reason if it gave one.
        """
        address, unit = await self._unit(change.target)
        text = await unit.refresh()
        if text.cut:
            raise truncation_error(change.target, text.cut)
        require_same_device(change, self._identity(address, unit, await scan_topology(self._host)))
        if (await self._now(change, address, unit, text)) == change.after:
            return
        require_own_step(change, await self._view(change.target, address, unit, text, ask=False))
        evidence: list[str] = []

        async def take(step: ChangeStep) -> None:
            if not step.argv or step.argv[0] != unit.tool.tool:
                named = clean(step.argv[0]) if step.argv else "a file"
                raise RefusedError(f"Refusing to run {named}: it is not the tool of this controller.")
            done = await unit.tool.change(step.argv)
            evidence.append(evidence_of(Command(argv=step.argv), done))
            refusal = unit.tool.refusal_reason(done)
            if refusal is not None:
                raise ToolFailedError(refusal, evidence=evidence[-1])

        refused: ToolFailedError | None = None
        try:
            await run_steps(change, take)
        except ToolFailedError as error:
            refused = error
        now = await self._value_after(change, address, unit)
        if now == change.after:
            return
        if refused is not None:
            raise refused
        if now == change.before:
            raise ToolFailedError(
                f"{change.label} of {change.target} did not change, although the tool reported no error.",
                hint="The tool may not know this setting of this controller.",
                evidence="\n".join(evidence),
            )

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return every drive without a kernel disk, each with the reasons why it cannot be used for a new array."""
        picture = await scan_topology(self._host)
        units = await self._units.cards()
        return tuple(
            candidate for unit in units for candidate in candidates(unit.prefix, unit.text, unit.tool, picture)
        )

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan of a new array. Reads the controller again: a drive may have become a spare meanwhile."""
        if assume_clean:
            raise InvalidValueError(
                "--assume-clean is not supported: a RAID controller always initialises parity.",
                hint="This is supported only for md.",
            )
        unit = await self._making_unit(controller)
        text = await unit.refresh()
        require_still_free(request, candidates(unit.prefix, text, unit.tool, await scan_topology(self._host)))
        planned_array = plan_array(request, text, unit.tool, await unit.tool.creation_usage())
        return replace(planned_array, before=existing_volume_ids(text), locks=(unit.tool.lock_name,))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """Find a created array by its controller and the serial numbers of its drives.

        A different array with the same name never matches. A missing array is searched for twice, because an old
        arcconf may still show the state before a change.
        """
        unit = await self._making_unit(array.controller)
        match = await self._find(array, unit)
        return match if match.state is not ArrayMatchState.ABSENT else await self._find(array, unit)

    async def _find(self, array: CreatedArray, unit: OpenController) -> ArrayMatch:
        with uncached():
            text, picture = await unit.refresh(), await scan_topology(self._host)
        return find_made(array, text, unit.tool, picture, prefix=unit.prefix, pci=unit.pci)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Run the steps; the tool's report decides whether each succeeded.

        After each step, the controller is read until it shows the change, at most `READ_BACK` times.
        """
        unit = await self._making_unit(controller)
        for step in steps:
            if not unit.tool.is_creation_or_deletion(unit.number, step.argv):
                text = clean(step.shown(), 200)
                raise RefusedError(
                    "Refusing to run a step that neither creates nor deletes a logical drive of this controller: "
                    f"{text}"
                )
        for step in steps:
            before = unit.text.volumes
            done = await unit.tool.change(step.argv)
            if (refused := unit.tool.refusal_reason(done)) is not None:
                raise ToolFailedError(refused, evidence=evidence_of(Command(argv=step.argv), done))
            for _ in range(READ_BACK):
                with uncached():
                    if (await unit.refresh()).volumes != before:
                        break

    async def _making_unit(self, controller: Target | None) -> OpenController:
        if controller is None:
            raise InvalidValueError("The controller for the array is missing.")
        return (await self._unit(controller))[1]

    async def _value_after(self, change: Change, address: SmartArrayAddress, unit: OpenController) -> str | None:
        """Return the value that the controller reports after a change.

        While this is still the old value, the controller is read again, at most `READ_BACK` times in all.
        """
        now = None
        for _ in range(READ_BACK):
            with uncached():
                text = await unit.refresh()
            volume = text.volume(address.volume)
            jobs = volume.jobs if volume is not None and change.key == "strip_size" else ()
            if any(job.kind == "migration" for job in jobs):
                self._moving[change.target.address] = change.after
            now = await self._now(change, address, unit, text)
            if now != change.before:
                break
        return now

    async def _now(
        self, change: Change, address: SmartArrayAddress, unit: OpenController, text: CardText
    ) -> str | None:
        view = await self._view(change.target, address, unit, text, ask=False)
        return self._readings(change.target, address, view)[change.key].now

    async def _unit(self, target: Target) -> tuple[SmartArrayAddress, OpenController]:
        address = parse(target)
        if address is None:
            raise not_found_error(target)
        return address, await self._units.card_at(address.card, target)

    async def _view(
        self, target: Target, address: SmartArrayAddress, unit: OpenController, text: CardText, *, ask: bool = True
    ) -> PartView:
        volume, drive = text.volume(address.volume), text.drive(address.drive)
        if (address.volume is not None and volume is None) or (address.drive is not None and drive is None):
            raise truncation_error(target, text.cut) if text.cut else gone_error(target)
        legal = await unit.tool.legal_values(text, volume) if ask and drive is None and not text.cut else {}
        why_not = await denial_of(self._host, unit.tool.tool)
        return PartView(text=text, tool=unit.tool, why_not=why_not, legal=legal, volume=volume, drive=drive)

    def _readings(self, target: Target, address: SmartArrayAddress, view: PartView) -> dict[str, Reading]:
        by_key = readings(view, address.family)
        wanted_strip = self._moving.get(target.address)
        strip = by_key.get("strip_size")
        if wanted_strip is None or strip is None:
            return by_key
        if (
            strip.now == wanted_strip
            or view.volume is None
            or not any(job.kind == "migration" for job in view.volume.jobs)
        ):
            del self._moving[target.address]
            return by_key
        return by_key | {"strip_size": replace(strip, now=MOVING)}

    def _identity(self, address: SmartArrayAddress, unit: OpenController, picture: Topology) -> Identity:
        text = unit.text
        if (drive := text.drive(address.drive)) is not None:
            return drive_identity(unit.prefix, drive)
        volume = text.volume(address.volume)
        if volume is None:
            return card_identity(unit.prefix, text.card)
        node = volume_node(volume, text.card.family, unit.pci, picture.tree.nodes.values())
        return volume_identity(unit.prefix, text, volume, node)
