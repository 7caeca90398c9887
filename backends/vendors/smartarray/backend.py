"""The backend of HPE Smart Array, SmartRAID and Adaptec's older cards, through ssacli or arcconf.

Nearly no recording shows what these tools answer to a change. So the verdict on one is what the card reads afterwards,
a value that is set already is never sent (their firmware calls that an error), and what a tool says against a change is
told in its own words.
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
    cut_of,
    drive_identity,
    inventory,
    tasks,
    volume_identity,
)
from backends.vendors.smartarray.matching import volume_node
from backends.vendors.smartarray.open_card import OpenController, OpenControllers
from backends.vendors.smartarray.plans import legal_companions, planned, require_own_step, value_before
from backends.vendors.smartarray.readings import readings
from backends.vendors.smartarray.settings import CARD_SETTINGS, DRIVE_SETTINGS, VOLUME_SETTINGS
from backends.vendors.smartarray.tools import tool_problems, unseen_card_problems

READ_BACK = 3
"""How often a card is read after a change: an old arcconf shows the old value once more."""

MOVING = "pending migration"
"""How a strip size reads while the card moves the data: neither the old nor the new one is that of all of them."""


class SmartArray:
    """Cards behind ssacli and arcconf of one host. Nothing is read unless somebody asks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._units = OpenControllers(host)
        self._moving: dict[str, str] = {}

    async def inventory(self) -> Inventory:
        """All cards. One that cannot be read is a problem, the others stand."""
        return await self.inventory_in_parts(lambda _part, _inventory: None)

    async def inventory_in_parts(self, report: InventoryListener) -> Inventory:
        """As `inventory`; every card is told at once, and again as it answers: a tool takes seconds for each."""
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
        """As `inventory`, of what was read last of each card, also by a change."""
        picture, merged = (
            await scan_topology(self._host),
            Inventory(problems=(*await self._tool_problems(), *self._units.problems)),
        )
        for controller in await self._units.cards():
            merged = merged.merge(
                inventory(controller.prefix, controller.text, controller.pci, controller.tool.tool, picture)
            )
        return merged

    async def diagnose(self) -> tuple[Problem, ...]:
        """Every tool that gave no answer and, where the kernel has cards that none sees, what was tried."""
        units = await self._units.search_cards()
        half = (cut_of(unit.prefix, unit.text) for unit in units)
        return (*await self._tool_problems(), *(problem for problem in half if problem is not None))

    async def _tool_problems(self) -> tuple[Problem, ...]:
        tried = self._units.tried
        return (*tool_problems(tried), *await unseen_card_problems(self._host, tried, self._units.card_count))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of a card, of a logical drive, of a drive."""
        spot = parse(target)
        if spot is None:
            return ()
        if spot.drive is not None:
            return DRIVE_SETTINGS[spot.family]
        return (CARD_SETTINGS if spot.volume is None else VOLUME_SETTINGS)[spot.family]

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now, asked of the card. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        spot, unit = await self._unit(target)
        return self._readings(target, spot, await self._view(target, spot, unit, await unit.refresh()))

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """As `read`, out of what was read last: the tools take seconds for anything."""
        spot, unit = await self._unit(target)
        return self._readings(target, spot, await self._view(target, spot, unit, unit.text, ask=False))

    async def ask_legal_values(self, target: Target) -> int:
        """Every question for legal values that the tool knows, so that a recording has the answers."""
        spot, unit = await self._unit(target)
        volume = unit.text.volume(spot.volume)
        if spot.drive is not None or (spot.volume is not None and volume is None):
            return 0
        return await unit.tool.ask_all(unit.text, volume)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Work on a logical drive, as read last."""
        spot, unit = await self._unit(target)
        volume = unit.text.volume(spot.volume)
        return () if volume is None else tasks(volume)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The commands that set `key` to `value`, and those that bring the present value back."""
        spot, unit = await self._unit(target)
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target, spot, unit, await unit.refresh())
        now = self._readings(target, spot, view)[key]
        return planned(
            view,
            requested_value(target, setting, now, value),
            self._identity(spot, unit, await scan_topology(self._host)),
        )

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """The commands that set `value` again: after Smart Path, the cache of the others of the array as well."""
        spot, unit = await self._unit(target)
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target, spot, unit, await unit.refresh(), ask=False)
        require_companions(target, key, companions, legal_companions(view, key))
        request = validated_old_value(target, setting, self._readings(target, spot, view)[key], value, value_before)
        return planned(view, request, self._identity(spot, unit, await scan_topology(self._host)), companions)

    async def apply(self, change: Change) -> None:
        """Run the commands, unless the value is set already; what the card reads afterwards decides.

        Raises ToolFailedError in the tool's own words where the card still has the old value.
        """
        spot, unit = await self._unit(change.target)
        text = await unit.refresh()
        if text.cut:
            raise truncation_error(change.target, text.cut)
        require_same_device(change, self._identity(spot, unit, await scan_topology(self._host)))
        if (await self._now(change, spot, unit, text)) == change.after:
            return
        require_own_step(change, await self._view(change.target, spot, unit, text, ask=False))
        evidence: list[str] = []

        async def take(step: ChangeStep) -> None:
            if not step.argv or step.argv[0] != unit.tool.tool:
                named = clean(step.argv[0]) if step.argv else "a file"
                raise RefusedError(f"A step wants to run {named}, which is not the tool of this card.")
            done = await unit.tool.change(step.argv)
            evidence.append(evidence_of(Command(argv=step.argv), done))
            refusal = unit.tool.refusal(done)
            if refusal is not None:
                raise ToolFailedError(refusal, evidence=evidence[-1])

        refused: ToolFailedError | None = None
        try:
            await run_steps(change, take)
        except ToolFailedError as error:
            refused = error
        now = await self._settled(change, spot, unit)
        if now == change.after:
            return
        if refused is not None:
            raise refused
        if now == change.before:
            raise ToolFailedError(
                f"{change.label} of {change.target} is as it was, though the tool said nothing against the change.",
                hint="The tool may not know this setting of this card.",
                evidence="\n".join(evidence),
            )

    async def candidates(self) -> tuple[Candidate, ...]:
        """Every drive that only a card has, with what the card says against it."""
        picture = await scan_topology(self._host)
        units = await self._units.cards()
        return tuple(
            candidate for unit in units for candidate in candidates(unit.prefix, unit.text, unit.tool, picture)
        )

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """The tool's own line for it. The card is asked anew: a drive may have become a spare meanwhile."""
        if assume_clean:
            raise InvalidValueError("A card is not told that its parity is right.", hint="That is for md alone.")
        unit = await self._making_unit(controller)
        text = await unit.refresh()
        require_still_free(request, candidates(unit.prefix, text, unit.tool, await scan_topology(self._host)))
        planned_array = plan_array(request, text, unit.tool, await unit.tool.making())
        return replace(planned_array, before=existing_volume_ids(text), locks=(unit.tool.lock_name,))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """By the serial numbers of its drives behind its card; another array of its name is never taken for it.

        One that seems not to be there is looked for twice: an old arcconf shows once more what was before a change.
        """
        unit = await self._making_unit(array.controller)
        match = await self._find(array, unit)
        return match if match.state is not ArrayMatchState.ABSENT else await self._find(array, unit)

    async def _find(self, array: CreatedArray, unit: OpenController) -> ArrayMatch:
        with uncached():
            text, picture = await unit.refresh(), await scan_topology(self._host)
        return find_made(array, text, unit.tool, picture, prefix=unit.prefix, pci=unit.pci)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """The card's own tool, step by step, judged by its words; then what the card has now is waited for."""
        unit = await self._making_unit(controller)
        for step in steps:
            if not unit.tool.makes(unit.number, step.argv):
                text = clean(step.shown(), 200)
                raise RefusedError(f"A step neither makes nor deletes a logical drive of this card: {text}")
        for step in steps:
            before = unit.text.volumes
            done = await unit.tool.change(step.argv)
            if (refused := unit.tool.refusal(done)) is not None:
                raise ToolFailedError(refused, evidence=evidence_of(Command(argv=step.argv), done))
            for _ in range(READ_BACK):
                with uncached():
                    if (await unit.refresh()).volumes != before:
                        break

    async def _making_unit(self, controller: Target | None) -> OpenController:
        if controller is None:
            raise InvalidValueError("It is not said which card makes it.")
        return (await self._unit(controller))[1]

    async def _settled(self, change: Change, spot: SmartArrayAddress, unit: OpenController) -> str | None:
        """What it reads after a change, asked again while it is the old value."""
        now = None
        for _ in range(READ_BACK):
            with uncached():
                text = await unit.refresh()
            volume = text.volume(spot.volume)
            jobs = volume.jobs if volume is not None and change.key == "strip_size" else ()
            if any(job.kind == "migration" for job in jobs):
                self._moving[change.target.address] = change.after
            now = await self._now(change, spot, unit, text)
            if now != change.before:
                break
        return now

    async def _now(self, change: Change, spot: SmartArrayAddress, unit: OpenController, text: CardText) -> str | None:
        view = await self._view(change.target, spot, unit, text, ask=False)
        return self._readings(change.target, spot, view)[change.key].now

    async def _unit(self, target: Target) -> tuple[SmartArrayAddress, OpenController]:
        spot = parse(target)
        if spot is None:
            raise not_found_error(target)
        return spot, await self._units.card_at(spot.card, target)

    async def _view(
        self, target: Target, spot: SmartArrayAddress, unit: OpenController, text: CardText, *, ask: bool = True
    ) -> PartView:
        volume, drive = text.volume(spot.volume), text.drive(spot.drive)
        if (spot.volume is not None and volume is None) or (spot.drive is not None and drive is None):
            raise truncation_error(target, text.cut) if text.cut else gone_error(target)
        legal = await unit.tool.legal(text, volume) if ask and drive is None and not text.cut else {}
        why_not = await denial_of(self._host, unit.tool.tool)
        return PartView(text=text, tool=unit.tool, why_not=why_not, legal=legal, volume=volume, drive=drive)

    def _readings(self, target: Target, spot: SmartArrayAddress, view: PartView) -> dict[str, Reading]:
        by_key = readings(view, spot.family)
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

    def _identity(self, spot: SmartArrayAddress, unit: OpenController, picture: Topology) -> Identity:
        text = unit.text
        if (drive := text.drive(spot.drive)) is not None:
            return drive_identity(unit.prefix, drive)
        volume = text.volume(spot.volume)
        if volume is None:
            return card_identity(unit.prefix, text.card)
        node = volume_node(volume, text.card.family, unit.pci, picture.tree.nodes.values())
        return volume_identity(unit.prefix, text, volume, node)
