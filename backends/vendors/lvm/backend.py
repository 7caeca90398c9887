"""The LVM backend: volumes as lvs and the kernel tell them, changed by lvchange and lvconvert, made by lvcreate.

What they say of a change proves nothing: `changed` is said before the kernel refuses, and when a question was answered
by no. Their exit status and what is read afterwards count. `lvchange --test` is never run: from write-back to another
mode it does not end (tried with LVM 2.03.16).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
from backends.errors import BlockedError, RaidbenchError, ToolFailedError, ToolTimeoutError
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
    by_group,
    is_shown,
    nodes_of,
    plain_arrays,
    tasks_of,
)
from backends.vendors.lvm.lvs import SECONDS, WHOLE_TABLE, LvsAnswer, ask_lvs, error_sentence
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
from backends.vendors.lvm.settings import LvTraits, LvView, outline_of, settings_of


class Lvm:
    """Volumes of one host. Which settings one has is known once it was looked at."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._outlines: dict[str, LvTraits] = {}
        self._page: int | None = None

    async def inventory(self) -> Inventory:
        """Every volume that somebody made; where LVM cannot be asked those of device-mapper, by name."""
        # Both may wait for the same disk.
        picture, lvs_answer = await asyncio.gather(scan_topology(self._host), self._ask())
        if isinstance(lvs_answer, RaidbenchError):
            problem = Problem(where=NAME, message=lvs_answer.message, hint=lvs_answer.hint)
            return Inventory(arrays=plain_arrays(picture, lvs_answer.message), problems=(problem,))
        groups = by_group(lvs_answer.volumes)
        shown = [volume for volume in lvs_answer.volumes if is_shown(volume)]
        self._outlines = {lv_facts.address: outline_of(lv_facts, groups[lv_facts.group]) for lv_facts in shown}
        arrays = tuple(array_of(lv_facts, groups[lv_facts.group], picture) for lv_facts in shown)
        text = f"{lvs_answer.strange} lines of lvs tell of no volume that could be understood."
        problems = (Problem(where=NAME, message=text),) if lvs_answer.strange else ()
        if lvs_answer.silent is None:
            return Inventory(arrays=arrays, problems=problems)
        plain = plain_arrays(picture, lvs_answer.silent.message, without=groups)
        return Inventory(arrays=(*arrays, *plain), problems=(*problems, _timeout_problem(lvs_answer.silent, plain)))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of the volume's kind."""
        return settings_of(self._outlines.get(target.address)) if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        return readings(await self._view(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The commands that set `key` to `value`, and those that bring the present value back."""
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """The same for several settings: both watermarks, and both rates, in the order in which each is legal."""
        view = await self._view(target)
        changes = []
        for key in _in_order(view, values):
            setting = setting_of(settings_of(view.outline), target, key)
            request = requested_value(target, setting, readings(view)[key], values[key], wanted_value(view))
            changes.append(_planned(view, request))
            view = _with_value(view, key, request.value)
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """The commands that set `value` again; what else a cache is set to is kept as it is now."""
        require_companions(target, key, companions, {})
        view = await self._view(target)
        setting = setting_of(settings_of(view.outline), target, key)
        return _planned(view, validated_old_value(target, setting, reading_for_undo(view, key), value, value_before))

    async def apply(self, change: Change) -> None:
        """Run the commands, unless the value is set and in force already: LVM says `changed` to that as well."""
        view = await self._view(change.target)
        require_same_device(change, _identity(view))
        require_own_step(change, view)
        if view.silent:
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {view.silent}.")
        if view.volume.flushing is not None:
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {flush_text(view)}.")
        now = readings(view).get(change.key)
        if now is not None and now.now == change.after and now.effective is None:
            return
        await run_steps(change, self._take)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """A flush of its cache, a resync, check, reshape ... Raises NotFoundError, DeviceGoneError."""
        view = await self._view(target)
        return tasks_of(view.volume, view.group)

    async def candidates(self) -> tuple[Candidate, ...]:
        """Physical volumes, of which the free extents can become volumes."""
        return await group_candidates(self._host)

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """lvcreate's line for a volume in a group (`controller`)."""
        return await plan_in_group(self._host, request, controller, assume_clean=assume_clean)

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """By the UUIDs of its group and of itself, its tag, name and segments."""
        return await find_in_group(self._host, array)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """lvcreate or lvremove of one volume of this group."""
        tools = [self._host.which((tool,)) for tool in TOOLS]
        require_steps(steps, "" if controller is None else controller.address, tools)
        for step in steps:
            await self._take(step)

    async def diagnose(self) -> tuple[Problem, ...]:
        """What is missing, and groups and volumes that need somebody."""
        try:
            inventory = await self.inventory()
            volumes = (await ask_lvs(self._host)).volumes
        except RaidbenchError as error:
            return (Problem(where=NAME, message=error.message, hint=error.hint),)
        problems = [*inventory.problems]
        for group, members in by_group(volumes).items():
            missing = next(iter(members.values())).number("vg_missing_pv_count")
            if missing:
                text = f"The volume group {group} misses {missing} physical volume{'s' if missing > 1 else ''}."
                problems.append(Problem(where=NAME, message=text, hint="`pvs` and `vgs` tell which; see lvmraid(7)."))
        for array in inventory.arrays:
            if array.why not in ("", "not active"):
                problems.append(Problem(where=str(array.target), message=f"{array.target}: {array.why}."))
        return tuple(problems)

    async def _ask(self) -> LvsAnswer | RaidbenchError:
        try:
            return await ask_lvs(self._host)
        except RaidbenchError as error:
            return error

    async def _loaded(self) -> tuple[Mapping[str, LoadedTable], str]:
        """What the kernel has, and why that is not all; nothing where there is no dmsetup or it gives no answer."""
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
        """The volume as it is now, and what stands against changing it."""
        if target.backend != NAME:
            raise not_found_error(target)
        answer, (tables, cut) = await asyncio.gather(ask_lvs(self._host), self._loaded())
        groups = by_group(answer.volumes)
        shown = (lv_facts for lv_facts in answer.volumes if is_shown(lv_facts))
        volume = next((lv_facts for lv_facts in shown if lv_facts.address == target.address), None)
        if volume is None:
            raise gone_error(target) if answer.silent is None else answer.silent
        if self._page is None:
            self._page = await page_bytes(self._host)
        group = groups[volume.group]
        self._outlines[volume.address] = outline_of(volume, group)
        cache = group.get(volume.pool or "") if volume.kind == "cache" else None
        on = nodes_of(cache, group) if cache is not None else ()
        lvchange = self._host.which(("lvchange",))
        if tables and volume.active and volume.kind not in POOLS and volume.dm_name not in tables:
            cut = cut or f"dmsetup table: {CUT}: {volume.address} is not in it"
        silent = "" if answer.silent is None else f"lvchange would wait for ever: {answer.silent.message.rstrip('.')}"
        return LvView(
            volume=volume,
            group=group,
            loaded=tables.get(volume.dm_name),
            lvchange=lvchange,
            lvconvert=self._host.which(("lvconvert",)),
            why_not=cut or await denial_of(self._host, lvchange),
            silent=silent,
            redundant=cache is not None and (_is_raid(cache, group) or await self._on_arrays(on)),
            cache_on=", ".join(on),
            page_bytes=self._page,
        )

    async def _on_arrays(self, nodes: tuple[str, ...]) -> bool:
        """Whether each of these is an md array that outlives a disk."""
        names = [(await self._host.link(node) or node).removeprefix("/dev/") for node in nodes]
        levels = await self._host.read_many([f"/sys/block/{name}/md/level" for name in names])
        return bool(names) and len(levels) == len(names) and all(level in REDUNDANT for level in levels.values())

    async def _take(self, step: ChangeStep) -> None:
        # without udev nobody would tell it that a node is there (dmsetup(8), ENVIRONMENT); it warns of our lock's file
        udev = await self._host.stat("/run/udev/control") is not None
        env = {"LVM_SUPPRESS_FD_WARNINGS": "1", **({} if udev else {"DM_DISABLE_UDEV": "1"})}
        command = Command(argv=step.argv, timeout=SECONDS, mutates=True, env=env)
        done = await self._host.run(command)
        if done.returncode != 0 or "No settings changed" in done.stdout + done.stderr:
            raise ToolFailedError(error_sentence(done, "LVM"), evidence=evidence_of(command, done))


def _timeout_problem(error: ToolTimeoutError, unknown: tuple[Array, ...]) -> Problem:
    """What kept LVM waiting, and what is not known for that."""
    names = [array.name or "" for array in unknown]
    addition = f" Of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''} only names and sizes are known."
    return Problem(where=NAME, message=error.message + (addition if names else ""), hint=error.hint)


def _planned(view: LvView, request: RequestedValue) -> Change:
    identity = _identity(view)
    return change_of(view, request, identity, f"{disk_lock(identity)}\n{lock_of(view.volume.group_uuid)}")


def _identity(view: LvView) -> Identity:
    """What the volume is, by LVM's own UUIDs: kernel name and numbers are others after the next start."""
    volume = view.volume
    name = f"{MARK}{volume.group_uuid}{volume.uuid}".replace("-", "").replace("LVM", MARK, 1)
    return Identity(name=volume.address, wwn=f"dm.{name}")


def _is_raid(cache: LvFacts, group: Mapping[str, LvFacts]) -> bool:
    """Whether a cache outlives a disk by itself: data and metadata are RAIDs, or lie on one that is a hidden volume."""
    parts = [group.get(cache.columns.get(literal, "").strip("[]")) for literal in ("data_lv", "metadata_lv")]
    whole = [part for part in parts if part is not None] or [cache]
    lower = ([group[hidden_name] for hidden_name in part.places if hidden_name in group] for part in whole)
    return all(
        lv_facts.level in REDUNDANT or (below and all(image.level in REDUNDANT for image in below))
        for lv_facts, below in zip(whole, lower, strict=True)
    )


def _in_order(view: LvView, values: Mapping[str, str]) -> list[str]:
    """Watermarks and rates in the order in which each is legal."""
    volume = view.volume
    now = {
        "low_watermark": volume.settings.get("low_watermark", str(LOW_WATERMARK)),
        "min_recovery_rate": volume.columns.get(RATES["min_recovery_rate"]),
    }
    return order_by_bounds(values, now, ("low_watermark", "high_watermark"), ("min_recovery_rate", "max_recovery_rate"))


def _with_value(view: LvView, key: str, value: str) -> LvView:
    """The view with a tunable of its cache, or a rate, as it will be."""
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
