"""Backend for MegaRAID controllers, their virtual drives and their drives. Each controller uses the tool that finds it.

A tool may accept a change that takes effect only after a controller reset or a reboot (codes 0x59, 116, 132). Such a
change has not failed, but is not complete either. Until the controller reports the new value, the setting reads
`pending reboot` or `pending controller reset`, and its effective value is the old one. A caller that compares this with
the requested value therefore reports "differs: now pending reboot". raidbench forgets pending changes when it exits, so
the next session shows only the values that the controller reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends import change_steps
from backends.array_planning import ArrayMatch, ArrayPlan, ArrayRequest, Candidate, CreatedArray
from backends.change import NOT_THERE, Change, ChangeStep, with_disk
from backends.change_steps import (
    RequestedValue,
    denial_of,
    gone_error,
    not_found_error,
    requested_value,
    require_companions,
    require_equal_steps,
    setting_of,
    validated_old_value,
)
from backends.errors import BlockedError, InvalidValueError, RaidbenchError, ToolFailedError, ToolTimeoutError
from backends.guard import require_free
from backends.host import Host
from backends.identity import Identity, Signature
from backends.model import Inventory, Problem, Target, Task
from backends.protocol import InventoryListener, placeholder_inventory
from backends.settings import Reading, Setting
from backends.text import clean
from backends.topology import Topology, scan_topology
from backends.vendors.megaraid.addresses import NAME, MegaRaidAddress, card_target, parse
from backends.vendors.megaraid.creation import candidates, existing_volume_ids, find_made, plan_array
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.effective import CardView, VolumeView
from backends.vendors.megaraid.inventory import (
    card_identity,
    card_tasks,
    inventory,
    require_same_device,
    volume_identity,
    volume_tasks,
)
from backends.vendors.megaraid.open_card import CardCache, OpenCard, OpenCards
from backends.vendors.megaraid.plans import (
    card_change,
    key_change,
    legal_companions,
    order_rank,
    previous_definition,
    require_own_step,
    value_before,
    volume_change,
    with_value,
)
from backends.vendors.megaraid.presence import volume_node
from backends.vendors.megaraid.readings import card_readings, volume_readings
from backends.vendors.megaraid.running import Runner, places_of, remake
from backends.vendors.megaraid.settings import CARD_SETTINGS, VOLUME_SETTINGS
from backends.vendors.megaraid.tools import doctor_problems, tool_problems, unseen_card_problems


class MegaRaid:
    """Backend for the controllers that a host's MegaRAID tools find. It reads nothing before a method is called."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._units = OpenCards(host)
        self._memory = CardCache()
        self._runner = Runner(host)
        self._picture: Topology | None = None

    async def inventory(self) -> Inventory:
        """Return all controllers, read in parallel, with a problem for each one that cannot be read."""
        return await self.inventory_in_parts(lambda _part, _inventory: None)

    async def inventory_in_parts(self, report: InventoryListener) -> Inventory:
        """Return the inventory, and report each controller twice: as a placeholder when found, in full when read."""
        units = await self._units.search_cards()
        search = self._units.search
        if not units:
            return Inventory(problems=await unseen_card_problems(self._host, search))
        for unit in units:
            waiting = card_target(unit.prefix)
            report(str(waiting), placeholder_inventory(waiting))
        picture = self._picture = await scan_topology(self._host)

        async def read_card(unit: OpenCard) -> Inventory:
            card_inventory = await self._card_inventory(unit, picture)
            report(str(card_target(unit.prefix)), card_inventory)
            return card_inventory

        merged = Inventory(problems=tool_problems(search))
        cards = await asyncio.gather(*(read_card(unit) for unit in units))
        for unit, card in zip(units, cards, strict=True):
            mixed = (
                unit.contents is not None
                and self._units.without_claimed_volumes(unit, unit.contents) is not unit.contents
            )
            merged = merged.merge(await self._card_inventory(unit, picture, cached=True) if mixed else card)
        return merged

    async def cached_inventory(self) -> Inventory:
        """Return the inventory from the cached state of each controller, which changes also update."""
        if not self._units.cards:
            return await self.inventory()
        picture = self._picture = await scan_topology(self._host)
        merged = Inventory(problems=tool_problems(self._units.search))
        for unit in self._units.cards:
            merged = merged.merge(await self._card_inventory(unit, picture, cached=True))
        return merged

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of a controller or a virtual drive; a drive behind a controller has no settings."""
        address = parse(target)
        if address is None or address.drive is not None:
            return ()
        return VOLUME_SETTINGS if address.volume is not None else CARD_SETTINGS

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return every setting, just read. Raises as `Backend.read` does, ToolFailedError if the output is unusable."""
        address, unit = await self._unit(target)
        if address.drive is not None:
            return {}
        return self._readings(target, await self._view(target, address, unit))

    async def read_for(self, target: Target, key: str) -> Mapping[str, Reading]:
        """Return the readings of all settings, after reading again only the data on which `key` depends.

        The battery, for example, is not read again for `read_ahead`.
        """
        address, unit = await self._unit(target)
        if address.drive is not None:
            return {}
        return self._readings(target, await self._view(target, address, unit, key))

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings of all settings from the cached state; read the controller only if nothing is cached."""
        address, unit = await self._unit(target)
        if address.drive is not None:
            return {}
        contents = unit.contents if unit.contents is not None else await unit.read()
        if self._picture is None:
            self._picture = await scan_topology(self._host)
        return self._readings(target, await self._view_of(target, address, unit, contents, self._picture))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, with the commands to apply and to undo it."""
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return one change for each setting in `values`, planned together.

        If one change re-creates the virtual drive, the new virtual drive gets the values that the other changes set.
        """
        address, unit = await self._unit(target)
        settings = {key: setting_of(self.settings(target), target, key) for key in values}
        view = as_found = await self._view(target, address, unit, *(values if len(values) == 1 else ()))
        signatures: tuple[Signature, ...] | None = None
        if "strip_size" in values and isinstance(view, VolumeView) and self._host.is_root:
            # Without root, not everything that uses the device is visible, so only `apply` checks that it is free.
            signatures = await require_free(self._host, view.device)
        picture = await scan_topology(self._host)

        async def plan_setting(view: CardView, key: str) -> Change:
            request = requested_value(target, settings[key], self._readings(target, view)[key], values[key])
            if isinstance(view, VolumeView):
                about = volume_identity(unit.prefix, view.card, view.volume, picture, recreated="strip_size" in values)
                change = volume_change(view, request, about, _lock_of(unit, view, picture))
                return replace(change, found=signatures) if key == "strip_size" else change
            about = card_identity(unit.prefix, view.card)
            if key == "activation_key":
                return await self._plan_key(view, request, about, unit)
            return card_change(view, request, about, unit.lock_name)

        changes: list[Change] = []
        for key in sorted(values, key=lambda key: order_rank(key, values[key])):
            change = await plan_setting(view, key)
            if key == "strip_size" and as_found is not view:  # undo must restore what was there before all the changes
                first = await plan_setting(as_found, key)
                change = replace(change, undo=first.undo, companions=first.companions)
            changes.append(change)
            view = with_value(view, key, change.after)
            as_found = with_value(as_found, key, change.after) if key == "access_policy" else as_found
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that sets `key` back to `value`.

        If `key` is `strip_size`, the virtual drive also gets back the policies and the name in `companions`.
        """
        address, unit = await self._unit(target)
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target, address, unit, key)
        if view.contents.cut and key != "strip_size":  # truncated output about other targets must not block an undo
            view = await self._view(target, address, unit, key, whole_card=False)
        if not isinstance(view, VolumeView):
            require_companions(target, key, companions, {})
            request = validated_old_value(target, setting, self._readings(target, view)[key], value)
            if key == "activation_key":
                raise BlockedError(f"The options that the activation key enabled on {target} remain enabled.")
            return card_change(view, request, card_identity(unit.prefix, view.card), unit.lock_name)
        require_companions(target, key, companions, legal_companions(view, key, value))
        restored_view = previous_definition(view, companions) if key == "strip_size" else view
        now = self._readings(target, restored_view)[key]
        free = key == "strip_size" and self._host.is_root and now.now != value
        signatures = await require_free(self._host, view.device) if free else None
        request = validated_old_value(target, setting, now, value, value_before)
        picture = await scan_topology(self._host)
        about = volume_identity(unit.prefix, view.card, view.volume, picture, recreated=key == "strip_size")
        return replace(volume_change(view, request, about, _lock_of(unit, view, picture), companions), found=signatures)

    async def apply(self, change: Change) -> None:
        """Run the commands of a change, provided that the target is still the one that the change was planned for.

        The target's cached state is compared, so the caller must have read the target just before. The tool's report
        decides whether the change succeeded.
        """
        address, unit = await self._unit(change.target)
        contents = unit.contents if unit.contents is not None else await unit.read()
        picture = await scan_topology(self._host)
        volume = contents.volume(address.volume)
        if change.key == "strip_size" and volume is None and change.before == NOT_THERE:
            await self._make(change, address, unit)
            return
        require_same_device(change, unit.prefix, address.volume, contents, picture)
        if change.key == "strip_size" and change.before == change.after:
            return  # the value is already set
        require_own_step(change, CardView(contents=contents, dialect=unit.dialect), volume)
        match change.key:
            case "strip_size":
                assert volume is not None  # require_same_device raises an error if it is missing
                node = volume_node(volume, contents.card, picture.tree.nodes.values())
                await require_free(self._host, node.device if node is not None else None, change.found)
                await self._runner.run(change, unit, change.writes)
                await self._runner.require_same_number(change, unit, address.volume, volume.drives)
            case "activation_key":
                pending = await self._runner.run(change, unit, change.writes, self._memory.key(change.after))
                more = _active(await unit.refresh(None)) - _active(contents)
                if not more and not pending:
                    raise ToolFailedError(
                        "The tool accepted the activation key, but no additional option is active.",
                        hint="Check the features of the controller again after a reboot.",
                    )
                self._memory.note_accepted(change, "" if more else pending)
            case _:
                self._memory.note_accepted(change, await self._runner.run(change, unit, change.writes))

    async def plan_remake(self, change: Change) -> Change:
        """Return the change that re-creates a deleted virtual drive on its former drives, with its new strip size."""
        address, unit = await self._unit(change.target)
        return remake(change, address, await unit.read(), unit.dialect, unit.prefix, unit.lock_name)

    async def _make(self, change: Change, address: MegaRaidAddress, unit: OpenCard) -> None:
        """Re-create a missing virtual drive, provided that its drives are still free."""
        contents = await unit.read()
        planned = remake(change, address, contents, unit.dialect, unit.prefix, unit.lock_name)
        change_steps.require_same_device(change, card_identity(unit.prefix, contents.card))
        require_equal_steps(change, planned.writes)
        await self._runner.run(change, unit, planned.writes)
        await self._runner.require_same_number(change, unit, address.volume, places_of(contents, change.members))

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return every drive without a kernel disk, each with the reasons why it cannot be used for a new array.

        Drives of controllers that cannot be read are left out.
        """
        picture = await scan_topology(self._host)
        listed: list[Candidate] = []
        for unit in self._units.cards or await self._units.search_cards():
            try:
                contents = unit.contents if unit.contents is not None else await unit.read()
            except RaidbenchError:
                continue
            listed += candidates(unit.prefix, contents, picture)
        return tuple(listed)

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan of a new array. Reads the controller again: a drive may have become a spare meanwhile."""
        if assume_clean:
            raise InvalidValueError(
                "--assume-clean is not supported: a RAID controller always initialises parity.",
                hint="This is supported only for md.",
            )
        unit = await self._making_unit(controller)
        contents = await unit.read()
        change_steps.require_still_free(request, candidates(unit.prefix, contents, await scan_topology(self._host)))
        planned = plan_array(request, contents, unit.dialect)
        return replace(planned, before=existing_volume_ids(contents), locks=(unit.lock_name,))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """Find a created array by its drives' serial numbers; a different array with the same name never matches."""
        unit = await self._making_unit(array.controller)
        contents, picture = await unit.read(), await scan_topology(self._host)
        return find_made(array, contents, unit.dialect, picture, prefix=unit.prefix, lock=unit.lock_name)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Run the steps with the controller's tool; the tool's report decides whether each succeeded."""
        await self._runner.run_making(await self._making_unit(controller), steps)

    async def _making_unit(self, controller: Target | None) -> OpenCard:
        if controller is None:
            raise InvalidValueError("The controller for the array is missing.")
        return (await self._unit(controller))[1]

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Return the background tasks of a virtual drive and of its controller, as last read.

        The tool runs only if nothing is cached, because each command takes seconds. Raises NotFoundError for an unknown
        address, ToolFailedError if the tool's output is unusable.
        """
        address, unit = await self._unit(target)
        contents = unit.contents if unit.contents is not None else await unit.read()
        volume = contents.volume(address.volume)
        return (*(volume_tasks(contents, volume) if volume is not None else ()), *card_tasks(contents))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem for each unusable or superfluous tool, and one for any controllers that no tool sees."""
        await self._units.search_cards()
        return await doctor_problems(self._host, self._units.search)

    async def _card_inventory(self, unit: OpenCard, picture: Topology, *, cached: bool = False) -> Inventory:
        try:
            contents = unit.contents if cached and unit.contents is not None else await unit.read()
        except RaidbenchError as error:
            text = clean(error.message, 400)
            return Inventory(problems=(Problem(where=f"{NAME}:{unit.prefix}", message=text, hint=error.hint),))
        contents = self._units.without_claimed_volumes(unit, contents)
        return inventory(unit.prefix, contents, unit.dialect.tool, unit.dialect.version, picture)

    async def _unit(self, target: Target) -> tuple[MegaRaidAddress, OpenCard]:
        address = parse(target)
        if address is None:
            raise not_found_error(target)
        return address, await self._units.card_at(address.card, str(target))

    async def _view(
        self,
        target: Target,
        address: MegaRaidAddress,
        unit: OpenCard,
        key: str | None = None,
        *,
        whole_card: bool = True,
    ) -> CardView:
        """Return the current state of the controller or virtual drive.

        If it cannot be read, return the cached state with a reason that blocks all changes. `key`: read only what this
        setting depends on (None: all settings). `whole_card`: whether truncated output about other parts of the
        controller also blocks a change.
        """
        refusal = None
        try:
            contents = await unit.refresh(address.volume, key)
        except (ToolFailedError, ToolTimeoutError) as error:
            if unit.contents is None or unit.changed:
                raise  # the cached state is older than the last change, so it must not be used
            contents, refusal = unit.contents, f"it could not be read again: {error.message.rstrip('.')}"
        if not whole_card and refusal is None:
            contents = replace(contents, cut="")
        return await self._view_of(target, address, unit, contents, await scan_topology(self._host), refusal)

    async def _view_of(
        self,
        target: Target,
        address: MegaRaidAddress,
        unit: OpenCard,
        contents: CardSnapshot,
        picture: Topology,
        refusal: str | None = None,
    ) -> CardView:
        contents = self._units.without_claimed_volumes(unit, contents)
        why_not = refusal or contents.cut.rstrip(".") or await denial_of(self._host, unit.dialect.tool)
        if address.volume is None:
            return CardView(contents=contents, dialect=unit.dialect, why_not=why_not)
        volume = contents.volume(address.volume)
        if volume is None:
            raise gone_error(target)
        node = volume_node(volume, contents.card, picture.tree.nodes.values())
        return VolumeView(
            contents=contents,
            dialect=unit.dialect,
            why_not=why_not,
            volume=volume,
            device=node.device if node is not None else None,
            uses=picture.uses(node.name) if node is not None else (),
            blind=picture.blind,
        )

    def _readings(self, target: Target, view: CardView) -> dict[str, Reading]:
        read = volume_readings(view) if isinstance(view, VolumeView) else card_readings(view)
        return {key: self._memory.apply_pending(target, key, reading) for key, reading in read.items()}

    async def _plan_key(self, view: CardView, request: RequestedValue, about: Identity, unit: OpenCard) -> Change:
        """Return the change that applies an activation key.

        The change contains a token instead of the key. The key itself is kept only in memory.
        """
        token = self._memory.token(request.value)
        key = self._memory.key(token) or ""
        preview = await self._runner.preview(unit, view.dialect.apply_key(view.card.number, key, preview=True))
        return key_change(view, replace(request, value=token), key, preview, about, unit.lock_name)


def _active(contents: CardSnapshot) -> set[str]:
    """Return the names of the controller's advanced software options that are active."""
    return {option.name for option in contents.card.options if option.state.value == "active"}


def _lock_of(unit: OpenCard, view: VolumeView, picture: Topology) -> str:
    """Return the lock name that covers both the controller and the virtual drive's kernel disk."""
    return with_disk(unit.lock_name, volume_identity(unit.prefix, view.card, view.volume, picture, recreated=False))
