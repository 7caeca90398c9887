"""The LVM backend: volumes as lvs and the kernel tell them, changed by lvchange and lvconvert.

What they say of a change proves nothing: `changed` is said before the kernel refuses, and when a question was answered
by no. Their exit status and what is read afterwards count. `lvchange --test` is never run: from write-back to another
mode it does not end (tried with LVM 2.03.16).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, Write, disk_lock
from backends.changing import (
    denial_of,
    evidence_of,
    gone,
    not_found,
    require_same,
    setting_of,
    take_steps,
    wanted,
)
from backends.errors import BlockedError, RaidbenchError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target, Task
from backends.settings import Reading, Setting
from backends.text import clean, clean_lines
from backends.topology import look
from backends.topology.tree import page_bytes
from backends.vendors.lvm.facts import LVS, TABLES, LoadedTable, LvFacts, parse_lvs, parse_tables
from backends.vendors.lvm.inventory import (
    NAME,
    array_of,
    by_group,
    is_shown,
    nodes_of,
    plain_arrays,
    tasks_of,
)
from backends.vendors.lvm.numbers import wanted_value
from backends.vendors.lvm.plans import change_of, require_ours
from backends.vendors.lvm.presence import MARK
from backends.vendors.lvm.readings import flush_words, readings
from backends.vendors.lvm.settings import LvOutline, outline_of, settings_of
from backends.vendors.lvm.view import LvView

SECONDS = 60.0
"""A look; a change is waited for as long as it takes."""

_CHANGED = re.compile(r" *Logical volume \S+ changed\.")
_REDUNDANT = ("raid1", "raid10", "raid4", "raid5", "raid6")


class Lvm:
    """Volumes of one host. Which settings one has is known once it was looked at."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._outlines: dict[str, LvOutline] = {}
        self._page: int | None = None

    async def inventory(self) -> Inventory:
        """Every volume that somebody made; where LVM cannot be asked those of device-mapper, by name."""
        picture = await look(self._host)
        try:
            volumes, strange = await self._volumes()
        except RaidbenchError as error:
            problem = Problem(where=NAME, message=error.message, hint=error.hint)
            return Inventory(arrays=plain_arrays(picture), problems=(problem,))
        groups = by_group(volumes)
        shown = [one for one in volumes if is_shown(one)]
        self._outlines = {one.address: outline_of(one, groups[one.group]) for one in shown}
        arrays = tuple(array_of(one, groups[one.group], picture) for one in shown)
        words = f"{strange} lines of lvs tell of no volume that could be understood."
        return Inventory(arrays=arrays, problems=(Problem(where=NAME, message=words),) if strange else ())

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
        """The same for several settings: both watermarks in the order in which each is legal."""
        view = await self._view(target)
        changes = []
        for key in _in_order(view, values):
            setting = setting_of(settings_of(view.outline), target, key)
            wish = wanted(target, setting, readings(view)[key], values[key], wanted_value(view))
            identity = _identity(view)
            changes.append(change_of(view, wish, identity, f"{disk_lock(identity)}\nlvm-{view.volume.group_uuid}"))
            view = _with(view, key, wish.value)
        return tuple(changes)

    async def apply(self, change: Change) -> None:
        """Run the commands, unless the value is set and in force already: LVM says `changed` to that as well."""
        view = await self._view(change.target)
        require_same(change, _identity(view))
        require_ours(change, view)
        if view.volume.flushing is not None:
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {flush_words(view)}.")
        now = readings(view).get(change.key)
        if now is not None and now.now == change.after and now.effective is None:
            return
        await take_steps(change, self._take)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """A flush of its cache, a resync, check, reshape ... Raises NotFoundError, DeviceGoneError."""
        return tasks_of((await self._view(target)).volume)

    async def diagnose(self) -> tuple[Problem, ...]:
        """What is missing, and groups and volumes that need somebody."""
        try:
            found = await self.inventory()
            volumes, _ = await self._volumes()
        except RaidbenchError as error:
            return (Problem(where=NAME, message=error.message, hint=error.hint),)
        problems = [*found.problems]
        for group, members in by_group(volumes).items():
            missing = next(iter(members.values())).number("vg_missing_pv_count")
            if missing:
                words = f"The volume group {group} misses {missing} physical volume{'s' if missing > 1 else ''}."
                problems.append(Problem(where=NAME, message=words, hint="`pvs` and `vgs` tell which; see lvmraid(7)."))
        for array in found.arrays:
            if array.why not in ("", "not active"):
                problems.append(Problem(where=str(array.target), message=f"{array.target}: {array.why}."))
        return tuple(problems)

    async def _volumes(self) -> tuple[tuple[LvFacts, ...], int]:
        """Everything lvs tells. Raises ToolFailedError, ToolTimeoutError."""
        tool = self._host.which(("lvs",))
        if tool is None:
            raise ToolFailedError("lvs is not installed, so nothing is known of volumes.", hint="Install lvm2.")
        command = Command(argv=(tool, *LVS), timeout=SECONDS)
        done = await self._host.run(command)
        found, strange = parse_lvs(done.stdout)
        if not found and done.returncode != 0:
            if not self._host.is_root:
                raise ToolFailedError("LVM tells root alone of its volumes.", hint="Start raidbench with sudo.")
            raise ToolFailedError(_words(done, "lvs"), evidence=evidence_of(command, done))
        return found, strange

    async def _loaded(self) -> Mapping[str, LoadedTable]:
        """What the kernel has; nothing where dmsetup gives no answer."""
        tool = self._host.which(("dmsetup",))
        if tool is None:
            return {}
        try:
            return parse_tables((await self._host.run(Command(argv=(tool, *TABLES), timeout=SECONDS))).stdout)
        except RaidbenchError:
            return {}

    async def _view(self, target: Target) -> LvView:
        """The volume as it is now, and what stands against changing it."""
        if target.backend != NAME:
            raise not_found(target)
        (volumes, _), tables = await asyncio.gather(self._volumes(), self._loaded())
        groups = by_group(volumes)
        volume = next((one for one in volumes if one.address == target.address and is_shown(one)), None)
        if volume is None:
            raise gone(target)
        if self._page is None:
            self._page = await page_bytes(self._host)
        group = groups[volume.group]
        self._outlines[volume.address] = outline_of(volume, group)
        cache = group.get(volume.pool or "") if volume.kind == "cache" else None
        on = nodes_of(cache, group) if cache is not None else ()
        lvchange = self._host.which(("lvchange",))
        return LvView(
            volume=volume,
            group=group,
            loaded=tables.get(volume.dm_name),
            lvchange=lvchange,
            lvconvert=self._host.which(("lvconvert",)),
            why_not=await denial_of(self._host, lvchange),
            redundant=cache is not None and (_is_raid(cache, group) or await self._on_arrays(on)),
            cache_on=", ".join(on),
            page_bytes=self._page,
        )

    async def _on_arrays(self, nodes: tuple[str, ...]) -> bool:
        """Whether each of these is an md array that outlives a disk."""
        names = [(await self._host.link(one) or one).removeprefix("/dev/") for one in nodes]
        levels = await self._host.read_many([f"/sys/block/{name}/md/level" for name in names])
        return bool(names) and len(levels) == len(names) and all(one in _REDUNDANT for one in levels.values())

    async def _take(self, step: Write) -> None:
        # without udev nobody would tell it that a node is there (dmsetup(8), ENVIRONMENT); it warns of our lock's file
        udev = await self._host.stat("/run/udev/control") is not None
        env = {"LVM_SUPPRESS_FD_WARNINGS": "1", **({} if udev else {"DM_DISABLE_UDEV": "1"})}
        command = Command(argv=step.argv, timeout=SECONDS, mutates=True, env=env)
        done = await self._host.run(command)
        if done.returncode != 0 or "No settings changed" in done.stdout + done.stderr:
            raise ToolFailedError(_words(done, "LVM"), evidence=evidence_of(command, done))


def _identity(view: LvView) -> Identity:
    """What the volume is, by LVM's own UUIDs: kernel name and numbers are others after the next start."""
    volume = view.volume
    name = f"{MARK}{volume.group_uuid}{volume.uuid}".replace("-", "").replace("LVM", MARK, 1)
    return Identity(name=volume.address, wwn=f"dm.{name}")


def _is_raid(cache: LvFacts, group: Mapping[str, LvFacts]) -> bool:
    """Whether a cache outlives a disk by itself: data and metadata are RAIDs, or lie on one that is a hidden volume."""
    parts = [group.get(cache.told.get(one, "").strip("[]")) for one in ("data_lv", "metadata_lv")]
    whole = [part for part in parts if part is not None] or [cache]
    lower = ([group[one] for one in part.places if one in group] for part in whole)
    return all(one.level in _REDUNDANT or (below and all(each.level in _REDUNDANT for each in below))
               for one, below in zip(whole, lower, strict=True))  # fmt: skip


def _in_order(view: LvView, values: Mapping[str, str]) -> list[str]:
    """High watermark first, unless it goes below the low one that is set now."""
    now = view.volume.settings
    high, low = values.get("high_watermark", ""), now.get("low_watermark", "45")
    down = high.isdigit() and low.isdigit() and int(high) < int(low)
    return sorted(values, key=lambda key: (key == "high_watermark") == down and key.endswith("_watermark"))


def _with(view: LvView, key: str, value: str) -> LvView:
    """The view with a tunable of its cache as it will be."""
    if view.volume.kind != "writecache":
        return view
    kept = {name: text for name, text in view.volume.settings.items() if name != key}
    if value.isdigit():
        kept[key] = value
    text = ",".join(f"{name}={one}" for name, one in kept.items())
    return replace(view, volume=replace(view.volume, told={**view.volume.told, "cache_settings": text}))


def _words(done: Completed, tool: str) -> str:
    """The tool's own words in a sentence, without `changed`, which is said before anything happens."""
    lines = f"{done.stderr}\n{done.stdout}".splitlines()
    told = [line for line in lines if line.strip() and not _CHANGED.fullmatch(line) and "WARNING:" not in line]
    said = clean(clean_lines("\n".join(told), lines=6).replace("\n", " "), 300).rstrip(".")
    return f"{said}." if said else f"{tool} ended with status {done.returncode} and did not say why."
