"""LVM backend: reads volumes with lvs and from the kernel, and uses lvchange, lvconvert and lvcreate for changes.

The messages of the tools prove nothing: they print `changed` even if the kernel then refuses, or a prompt was declined.
Only the exit status and a new reading count. `lvchange --test` is never run, because it hangs for a change from
write-back to another mode (tested with LVM 2.03.16).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from backends.array_planning import ArrayMatch, ArrayPlan, ArrayRequest, Candidate, CreatedArray
from backends.change import Change, ChangeStep, disk_lock
from backends.change_steps import (
    RequestedValue,
    denial_of,
    evidence_of,
    gone_error,
    not_found_error,
    order_by_bounds,
    requested_value,
    require_companions,
    require_same_device,
    run_steps,
    setting_of,
    validated_old_value,
)
from backends.errors import BlockedError, RaidbenchError, ToolFailedError, ToolTimeoutError, result_or_error
from backends.host import STALL, Command, Host
from backends.identity import Identity
from backends.model import Array, Inventory, Problem, Target, Task
from backends.settings import Reading, Setting
from backends.tool_output import CUT, whole_lines
from backends.topology import scan_topology
from backends.topology.device_mapper import TABLE
from backends.topology.stacking import MARK
from backends.topology.tree import page_bytes
from backends.vendors.lvm.creation import TOOLS, find_in_group, group_candidates, lock_of, plan_in_group, require_steps
from backends.vendors.lvm.facts import POOLS, LoadedTable, LvFacts, parse_tables
from backends.vendors.lvm.inventory import (
    NAME,
    REDUNDANT,
    array_of,
    group_volumes,
    is_shown,
    nodes_of,
    plain_arrays,
    tasks_of,
)
from backends.vendors.lvm.lvs import SECONDS, WHOLE_TABLE, ask_lvs, error_sentence
from backends.vendors.lvm.plans import change_of, require_own_step
from backends.vendors.lvm.readings import (
    LOW_WATERMARK,
    RATES,
    flush_text,
    reading_for_undo,
    readings,
    value_before,
    wanted_value,
)
from backends.vendors.lvm.settings import LvTraits, LvView, settings_of, traits_of


class Lvm:
    """Volumes of one host. The settings of a volume are known once it has been read."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._traits: dict[str, LvTraits] = {}
        self._page: int | None = None

    async def inventory(self) -> Inventory:
        """Return all volumes that users created. If lvs fails, return those that device-mapper lists by name."""
        # In parallel: both may wait for the same unresponsive disk, and the timeouts must not add up.
        picture, lvs_answer = await asyncio.gather(scan_topology(self._host), result_or_error(ask_lvs(self._host)))
        if isinstance(lvs_answer, RaidbenchError):
            problem = Problem(where=NAME, message=lvs_answer.message, hint=lvs_answer.hint)
            return Inventory(arrays=plain_arrays(picture, lvs_answer.message), problems=(problem,))
        groups = group_volumes(lvs_answer.volumes)
        shown = [volume for volume in lvs_answer.volumes if is_shown(volume)]
        self._traits = {lv_facts.address: traits_of(lv_facts, groups[lv_facts.group]) for lv_facts in shown}
        arrays = tuple(array_of(lv_facts, groups[lv_facts.group], picture) for lv_facts in shown)
        text = f"{lvs_answer.strange} lines of the output of lvs cannot be parsed."
        problems = (Problem(where=NAME, message=text),) if lvs_answer.strange else ()
        if lvs_answer.silent is None:
            return Inventory(arrays=arrays, problems=problems)
        plain = plain_arrays(picture, lvs_answer.silent.message, without=groups)
        return Inventory(arrays=(*arrays, *plain), problems=(*problems, _timeout_problem(lvs_answer.silent, plain)))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of this kind of volume."""
        return settings_of(self._traits.get(target.address)) if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return all readings. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        return readings(await self._view(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, with an undo that restores the current value."""
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes of several settings.

        Changes of the low and the high watermark, and of the minimum and the maximum recovery rate, are in an order in
        which the lower value never exceeds the higher.
        """
        view = await self._view(target)
        changes = []
        for key in _order_keys(view, values):
            setting = setting_of(settings_of(view.traits), target, key)
            legal = partial(wanted_value, view)
            request = requested_value(target, setting, readings(view)[key], values[key], legal)
            changes.append(_plan_change(view, request))
            view = _with_value(view, key, request.value)
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that restores `value`. Other settings of a cache keep their current values."""
        require_companions(target, key, companions, {})
        view = await self._view(target)
        setting = setting_of(settings_of(view.traits), target, key)
        return _plan_change(
            view, validated_old_value(target, setting, reading_for_undo(view, key), value, value_before)
        )

    async def apply(self, change: Change) -> None:
        """Run the commands, unless the value is already set and effective. LVM would print `changed` even then."""
        view = await self._view(change.target)
        require_same_device(change, _identity(view))
        require_own_step(change, view)
        if view.silent:
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {view.silent}.")
        if view.volume.blocks_to_flush is not None:
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {flush_text(view)}.")
        now = readings(view).get(change.key)
        if now is not None and now.now == change.after and now.effective is None:
            return
        await run_steps(change, self._take)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Return the background tasks of a volume: cache flush, resync, check, reshape, ...

        Raises NotFoundError, DeviceGoneError.
        """
        view = await self._view(target)
        return tasks_of(view.volume, view.group)

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return the physical volumes, with the free extents in which volumes can be created."""
        return await group_candidates(self._host)

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan for a volume in a group (`controller`)."""
        return await plan_in_group(self._host, request, controller, assume_clean=assume_clean)

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """Return the created volume, identified by its UUID, its group's UUID, its tag, its name and its segments."""
        return await find_in_group(self._host, array)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Run lvcreate or lvremove for one volume of this group."""
        tools = [self._host.which((tool,)) for tool in TOOLS]
        require_steps(steps, "" if controller is None else controller.address, tools)
        for step in steps:
            await self._take(step)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return problems about missing tools, and about groups and volumes that need attention."""
        try:
            inventory = await self.inventory()
            volumes = (await ask_lvs(self._host)).volumes
        except RaidbenchError as error:
            return (Problem(where=NAME, message=error.message, hint=error.hint),)
        problems = [*inventory.problems]
        for group, members in group_volumes(volumes).items():
            missing = next(iter(members.values())).number("vg_missing_pv_count")
            if missing:
                text = f"The volume group {group} has {missing} missing physical volume{('s' if missing > 1 else '')}."
                hint = "`pvs` and `vgs` show which ones are missing (see lvmraid(7))."
                problems.append(Problem(where=NAME, message=text, hint=hint))
        for array in inventory.arrays:
            if array.why not in ("", "not active"):
                problems.append(Problem(where=str(array.target), message=f"{array.target}: {array.why}."))
        return tuple(problems)

    async def _read_tables(self) -> tuple[Mapping[str, LoadedTable], str]:
        """Return the device-mapper tables by device name, and the reason why they are incomplete or "".

        If dmsetup is not installed or fails, return no tables and "".
        """
        tool = self._host.which(("dmsetup",))
        if tool is None:
            return {}, ""
        command = Command(argv=(tool, *TABLE), timeout=SECONDS, stall=STALL)
        try:
            done = await self._host.run(command)
        except RaidbenchError:
            return {}, ""
        why = WHOLE_TABLE.lost(done) if done.returncode == 0 else ""
        return parse_tables(whole_lines(done.stdout)), f"{command.shown()}: {CUT}: {why}" if why else ""

    async def _view(self, target: Target) -> LvView:
        """Return the current state of the volume, and the reasons why it cannot be changed."""
        if target.backend != NAME:
            raise not_found_error(target)
        answer, (tables, cut) = await asyncio.gather(ask_lvs(self._host), self._read_tables())
        groups = group_volumes(answer.volumes)
        shown = (lv_facts for lv_facts in answer.volumes if is_shown(lv_facts))
        volume = next((lv_facts for lv_facts in shown if lv_facts.address == target.address), None)
        if volume is None:
            raise gone_error(target) if answer.silent is None else answer.silent
        if self._page is None:
            self._page = await page_bytes(self._host)
        group = groups[volume.group]
        self._traits[volume.address] = traits_of(volume, group)
        cache = group.get(volume.pool or "") if volume.kind == "cache" else None
        on = nodes_of(cache, group) if cache is not None else ()
        lvchange = self._host.which(("lvchange",))
        if tables and volume.is_active and volume.kind not in POOLS and volume.dm_name not in tables:
            cut = cut or f"dmsetup table: {CUT}: {volume.address} is not in it"
        silent = "" if answer.silent is None else f"lvchange would hang: {answer.silent.message.rstrip('.')}"
        return LvView(
            volume=volume,
            group=group,
            loaded=tables.get(volume.dm_name),
            lvchange=lvchange,
            lvconvert=self._host.which(("lvconvert",)),
            why_not=cut or await denial_of(self._host, lvchange),
            silent=silent,
            redundant=cache is not None and (_is_raid(cache, group) or await self._are_redundant_arrays(on)),
            cache_on=", ".join(on),
            page_bytes=self._page,
        )

    async def _are_redundant_arrays(self, nodes: tuple[str, ...]) -> bool:
        """Return whether each of these nodes is an md array that survives the loss of a drive."""
        names = [(await self._host.link(node) or node).removeprefix("/dev/") for node in nodes]
        levels = await self._host.read_many([f"/sys/block/{name}/md/level" for name in names])
        return bool(names) and len(levels) == len(names) and all(level in REDUNDANT for level in levels.values())

    async def _take(self, step: ChangeStep) -> None:
        # Without udev, LVM has to create device nodes itself (dmsetup(8), ENVIRONMENT). The other variable suppresses a
        # warning about the open file of our lock.
        udev = await self._host.stat("/run/udev/control") is not None
        env = {"LVM_SUPPRESS_FD_WARNINGS": "1", **({} if udev else {"DM_DISABLE_UDEV": "1"})}
        command = Command(argv=step.argv, timeout=SECONDS, mutates=True, env=env)
        done = await self._host.run(command)
        if done.returncode != 0 or "No settings changed" in done.stdout + done.stderr:
            raise ToolFailedError(error_sentence(done, "LVM"), evidence=evidence_of(command, done))


def _timeout_problem(error: ToolTimeoutError, unknown: tuple[Array, ...]) -> Problem:
    """Return the problem about a device that blocked lvs. `unknown`: the volumes that lvs therefore did not report."""
    names = [array.name or "" for array in unknown]
    addition = f" Only names and sizes of {', '.join(names[:12])}{(', ...' if len(names) > 12 else '')} are known."
    return Problem(where=NAME, message=error.message + (addition if names else ""), hint=error.hint)


def _plan_change(view: LvView, request: RequestedValue) -> Change:
    identity = _identity(view)
    return change_of(view, request, identity, f"{disk_lock(identity)}\n{lock_of(view.volume.group_uuid)}")


def _identity(view: LvView) -> Identity:
    """Return the identity of a volume.

    It consists of LVM's UUIDs, because kernel name and device number may change at the next boot.
    """
    volume = view.volume
    name = f"{MARK}{volume.group_uuid}{volume.uuid}".replace("-", "").replace("LVM", MARK, 1)
    return Identity(name=volume.address, wwn=f"dm.{name}")


def _is_raid(cache: LvFacts, group: Mapping[str, LvFacts]) -> bool:
    """Return whether a cache survives the loss of a drive: its data and its metadata are RAID, or on hidden RAID
    volumes.
    """
    parts = [group.get(cache.columns.get(literal, "").strip("[]")) for literal in ("data_lv", "metadata_lv")]
    volumes = [part for part in parts if part is not None] or [cache]
    lower = ([group[hidden_name] for hidden_name in part.places if hidden_name in group] for part in volumes)
    return all(
        lv_facts.level in REDUNDANT or (below and all(image.level in REDUNDANT for image in below))
        for lv_facts, below in zip(volumes, lower, strict=True)
    )


def _order_keys(view: LvView, values: Mapping[str, str]) -> list[str]:
    """Return the keys of `values`, with watermarks and rates in an order in which each step is valid."""
    volume = view.volume
    now = {
        "low_watermark": volume.settings.get("low_watermark", str(LOW_WATERMARK)),
        "min_recovery_rate": volume.columns.get(RATES["min_recovery_rate"]),
    }
    return order_by_bounds(values, now, ("low_watermark", "high_watermark"), ("min_recovery_rate", "max_recovery_rate"))


def _with_value(view: LvView, key: str, value: str) -> LvView:
    """Return the view as it will be after the cache tunable or rate `key` was set to `value`."""
    volume = view.volume
    if key in RATES:
        fields = {RATES[key]: value if value.isdigit() else "0"}
    elif volume.kind == "writecache":
        tunables = {name: text for name, text in volume.settings.items() if name != key}
        if value.isdigit():
            tunables[key] = value
        fields = {"cache_settings": ",".join(f"{name}={setting_value}" for name, setting_value in tunables.items())}
    else:
        return view
    return replace(view, volume=replace(volume, columns={**volume.columns, **fields}))
