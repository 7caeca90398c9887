"""md backend: arrays of the kernel's RAID driver. Most settings use sysfs; geometry and policies use mdadm."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from backends.array_planning import ArrayMatch, ArrayPlan, ArrayRequest, Candidate, CreatedArray
from backends.change import Change, ChangeStep
from backends.change_steps import (
    LOOK_AGAIN,
    denial_of,
    gone_error,
    locks_of,
    not_found_error,
    requested_value,
    require_companions,
    require_same_device,
    setting_of,
    validated_old_value,
)
from backends.errors import BlockedError, DeviceGoneError, RaidbenchError, ToolFailedError
from backends.guard import require_free
from backends.host import STALL, Command, Host
from backends.identity import Identity, Signature
from backends.model import Inventory, Problem, Target, Task
from backends.protocol import PersistRule
from backends.settings import Persistence, Reading, Setting
from backends.tool_output import deduplicate, judge_output, run_checked, truncation_error, truncation_problem
from backends.topology import Node, Topology, node_path, scan_topology
from backends.topology.device_identity import identity
from backends.topology.tree import kernel_name, number, page_bytes, read_node
from backends.vendors.mdraid.creation import find_made, plan_array, uuid_text
from backends.vendors.mdraid.details import (
    ASK_PLATFORM,
    NO_PLATFORM,
    WHOLE_EXPORT,
    WHOLE_PLATFORM,
    ImsmPlatform,
    parse_export,
    parse_platforms,
    platform_of,
    unlisted_member,
)
from backends.vendors.mdraid.facts import ArrayFacts, parse_uuid
from backends.vendors.mdraid.inventory import NAME, array_of, known_by_udev, tasks_of
from backends.vendors.mdraid.plans import (
    ReshapeContext,
    change_of,
    legal_companions,
    order_rank,
    present_identity,
    sysfs_path,
    value_before,
    wanted_value,
    with_bitmap,
)
from backends.vendors.mdraid.readings import ArrayView, readings
from backends.vendors.mdraid.recreate import GEOMETRY, assembly_hint
from backends.vendors.mdraid.reshape import ReshapeMethod, fixed_reason, method_of
from backends.vendors.mdraid.reshape_backup import backup_for
from backends.vendors.mdraid.running import KEPT, RULES, MdRaidRunner, actions, match_of
from backends.vendors.mdraid.settings import ArrayTraits, outline_of, settings_of
from backends.vendors.mdraid.sysfs import count_cpus, read_arrays

_MEMORY, _CPUS, _SPEED = "/proc/meminfo", "/sys/devices/system/cpu/online", "/proc/sys/dev/raid/speed_limit_max"

_FROM_SYSFS = 10.0
"""Timeout in seconds of mdadm commands that only read. It is short, because nearly all values are also in sysfs."""


class MdRaid:
    """md arrays of one host. The settings of an array are known once it has been read."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._runner = MdRaidRunner(host)
        self._outlines: dict[str, ArrayTraits] = {}
        self._page: int | None = None

    async def inventory(self) -> Inventory:
        """Return all arrays and containers from sysfs, with names from udev, or from mdadm if it can be run as root."""
        array_facts = await read_arrays(self._host)
        if not array_facts:
            return Inventory()
        picture, page = await asyncio.gather(scan_topology(self._host), self._page_bytes())
        arrays = {array.name: array for array in array_facts}
        self._outlines = {name: outline_of(array, page) for name, array in arrays.items()}
        property_reads = asyncio.gather(
            *(self._read_properties(array, picture.tree.nodes.get(array.name)) for array in array_facts)
        )
        (platforms, platform_problems), pairs = await asyncio.gather(self._platforms(array_facts), property_reads)
        return Inventory(
            arrays=tuple(
                array_of(_with_uuid(array, more), picture, arrays, more, platforms)
                for array, (more, _) in zip(array_facts, pairs, strict=True)
            ),
            problems=deduplicate(
                (*_cuts(array_facts), *(problem for _, problem in pairs if problem is not None), *platform_problems)
            ),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of the array's level and its members; a container has none."""
        return settings_of(self._outlines.get(target.address)) if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the current values of all settings. Raises NotFoundError, DeviceGoneError."""
        return readings(await self._view(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, with the steps that undo it."""
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes of several settings, each planned as if the changes before it had been applied.

        For example, a re-created array keeps the new bitmap. Raises BlockedError if two of the changes move all data.
        """
        if GEOMETRY.keys() <= values.keys():
            raise BlockedError(
                f"Chunk size and layout of {target} cannot be set together: each change moves all data.",
                hint="Set one of them first, and the other when that reshape has ended.",
            )
        view = initial_view = await self._view(target)
        changes: list[Change] = []
        for key in sorted(values, key=order_rank):
            change = await self._plan(view, target, key, values[key])
            if key in GEOMETRY and initial_view is not view:  # undo restores the state before the first change
                first = await self._plan(initial_view, target, key, values[key])
                change = replace(change, undo=first.undo, companions=first.companions)
            changes.append(change)
            view = with_bitmap(view, change.after) if key == "bitmap" else view
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that restores the old `value`. An old bitmap includes its chunk size, and an array is
        re-created with its current members."""
        return await self._plan(await self._view(target), target, key, value, companions)

    async def _plan(
        self, view: ArrayView, target: Target, key: str, value: str, companions: Mapping[str, str] | None = None
    ) -> Change:
        """Return the change of `key` to `value`.

        `companions`: values to restore along with `value`, if it is an old value; None if it is a new one.
        """
        setting = setting_of(settings_of(view.outline), target, key)
        now = readings(view)[key]
        if view.array.cut and companions is None:
            raise truncation_error(target, view.array.cut)
        picture = await scan_topology(self._host) if key in GEOMETRY else None
        properties = await self._properties(view.array) if picture is not None else {}
        if companions is not None:
            legal = legal_companions(view, key, value, ReshapeContext(properties=properties))
            require_companions(target, key, companions, legal)
        contents: tuple[Signature, ...] | None = None
        is_present = companions is not None and now.now == value
        recreates = key in GEOMETRY and method_of(view.array, key) is ReshapeMethod.RECREATE
        if recreates and self._host.is_root and not is_present:
            # Without root, this is checked only when the change is applied.
            contents = await require_free(self._host, view.device)
        if companions is None:
            request = requested_value(target, setting, now, value, wanted_value)
        else:
            request = validated_old_value(target, setting, now, value, value_before)
        view = replace(view, array=_with_uuid(view.array, properties))
        context = ReshapeContext(properties=properties)
        if not is_present:
            context = await self._reshape_context(view, key, request.value, picture, properties, contents)
        change = change_of(view, request, await self._identity(target), context, companions)
        return replace(change, found=contents)

    async def apply(self, change: Change) -> None:
        """Run the steps of a change, after checking that the target is still the planned array."""
        array = await self._array(change.target)
        require_same_device(change, present_identity(change, await self._identity(change.target)))
        if change.before == change.after and any(write.argv for write in change.writes):
            return  # the value is already set: mdadm would fail, and a re-creation would needlessly destroy data
        if array.uuid is None and change.key in GEOMETRY:
            array = _with_uuid(array, await self._properties(array))
        if change.key in GEOMETRY and (why_not := fixed_reason(array)):  # mdadm itself would stop a running check
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {why_not}.")
        try:
            await self._runner.run(change, array, node_path(array.name))
        except ToolFailedError as error:
            first = await self.remains(change)
            raise (
                error if first is None else ToolFailedError(error.message, hint=first, evidence=error.evidence)
            ) from error

    async def remains(self, change: Change) -> str | None:
        """Return a hint how to assemble the array that the change stopped; None if it exists, or if its members do not
        contain it any longer.
        """
        tool = self._host.which(("mdadm",))
        try:
            await self._array(change.target)
        except DeviceGoneError:
            if tool is not None:
                return await assembly_hint(self._host, tool, node_path(change.target.address), change)
        except RaidbenchError:
            pass
        return None

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return an empty tuple, because the kernel lists all drives that md can use."""
        return ()

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan of a new array: the mdadm commands that create it, its node and its UUID."""
        tool = self._host.which(("mdadm",))
        if tool is None:
            raise BlockedError("mdadm is not installed.", hint="Install mdadm.")
        taken = [path.split("/")[3] for path in await self._host.list("/sys/block/md*/dev")]
        uuids = tuple(uuid_text(uuid4().hex) for _ in range(1 + (request.spans or 2)))
        planned = plan_array(request, mdadm=tool, taken=taken, uuids=uuids, assume_clean=assume_clean)
        names = [kernel_name(drive.place) for drive in request.drives]
        return replace(planned, locks=await locks_of(self._host, names))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """Return the state of a created array, found by the UUIDs on its drives. Drives with other UUIDs never
        match.
        """
        tool = self._host.which(("mdadm",))
        if tool is None:
            raise BlockedError("mdadm is not installed.", hint="Install mdadm.")
        return await find_made(self._host, tool, array)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Run the mdadm commands in order."""
        await self._runner.run_making(steps)

    async def begin_check(self, target: Target) -> None:
        """Start a check through sync_action (Documentation/admin-guide/md.rst)."""
        array = await self._array(target)
        await self._host.write(f"/sys/block/{array.name}/md/sync_action", "check")

    async def mismatches(self, target: Target) -> int | None:
        """Return the number of mismatched sectors (mismatch_cnt), which md counts in whole pages or chunks.

        None if unknown.
        """
        array = await self._array(target)
        return number(await self._host.read(f"/sys/block/{array.name}/md/mismatch_cnt"))

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """Return the udev rules file with the rule for this array replaced and all other lines kept."""
        view = await self._view(target)
        now = readings(view)
        legal: dict[str, str] = {}
        for key, value in values.items():
            setting = setting_of(settings_of(view.outline), target, key)
            if setting.stands_for:
                parts = ", ".join(setting.stands_for)
                raise BlockedError(f"{setting.label} cannot be persisted separately.", hint=f"Persist {parts} instead.")
            if key not in KEPT or setting.persistence is Persistence.STORED:
                raise BlockedError(f"{setting.label} is stored in the array itself, so it is already persistent.")
            legal[key] = wanted_value(setting, now[key], value)
        array = view.array
        if array.uuid is None:
            array = _with_uuid(array, await self._properties(array))
        return await RULES.rule(self._host, view.device, match_of(array.uuid), actions(legal), legal)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Return the background work of the array. Raises NotFoundError, DeviceGoneError."""
        return tasks_of(await self._array(target))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem if mdadm is missing, and one for each array that an administrator must repair."""
        array_facts = await read_arrays(self._host)
        problems: list[Problem] = []
        if array_facts and self._host.which(("mdadm",)) is None:
            message = (
                "mdadm is not installed, so chunk, layout, bitmap and consistency policy of md arrays cannot be "
                "changed. Array names are known only from udev. Everything else works."
            )
            problems.append(Problem(where=NAME, message=message, hint="Install mdadm."))
        for array in array_facts:
            if array.is_converted and array.sync is None:
                message = (
                    f"{node_path(array.name)} is a RAID 4 without its parity disk. It may be a RAID 0 after a reshape."
                )
                hint = f"If it was a RAID 0, restore that level: mdadm --grow --level=0 {node_path(array.name)}"
                problems.append(Problem(where=f"{NAME}:{array.name}", message=message, hint=hint))
        return tuple(problems)

    async def _view(self, target: Target) -> ArrayView:
        """Return the current state of an array, and the reasons why it cannot be changed."""
        array = await self._array(target)
        outline = outline_of(array, await self._page_bytes())
        self._outlines[array.name] = outline
        keys = [setting.key for setting in settings_of(outline) if not setting.stands_for]
        paths = {key: path for key in keys if (path := sysfs_path(array.name, key))}
        base = f"/sys/block/{array.name}/md/"
        reasons = await asyncio.gather(*(self._host.writable(path) for path in paths.values()))
        tool = self._host.which(("mdadm",))
        above = f"/sys/block/{array.container}/md/metadata_version"
        texts = await self._host.read_many([_MEMORY, _CPUS, _SPEED, above])
        memory = texts.get(_MEMORY, "").partition("MemTotal:")[2].split()
        kib = number(memory[0]) if memory else None
        return ArrayView(
            array=array,
            outline=outline,
            refusals={path.removeprefix(base): why for path, why in zip(paths.values(), reasons, strict=True)},
            container_metadata=texts.get(above, ""),
            mdadm=tool,
            mdadm_why_not=await denial_of(self._host, f"{base}array_state") if tool else "mdadm is not installed",
            memory_bytes=kib * 1024 if kib else None,
            cpus=count_cpus(texts.get(_CPUS)),
            speed_kib=number(texts.get(_SPEED)),
        )

    async def _array(self, target: Target) -> ArrayFacts:
        name = target.address
        if target.backend != NAME or not name or set(name) & set("/*?[]") or name.startswith("."):
            raise not_found_error(target)
        array_facts = await read_arrays(self._host, (name,))
        if not array_facts:
            raise gone_error(target)
        return array_facts[0]

    async def _properties(self, array: ArrayFacts) -> Mapping[str, str]:
        """Return the properties of an array (`MD_NAME`, ...) from udev or else mdadm.

        Raises BlockedError for truncated output.
        """
        properties, problem = await self._read_properties(array, await read_node(self._host, array.name))
        if problem is not None:
            raise truncation_error(f"{NAME}:{array.name}", problem.message.rstrip("."))
        return properties

    async def _read_properties(self, array: ArrayFacts, node: Node | None) -> tuple[Mapping[str, str], Problem | None]:
        """Return the properties of an array from udev or else mdadm, and a problem if the output of mdadm is truncated
        (otherwise None).
        """
        udev_properties = known_by_udev(node)
        tool = self._host.which(("mdadm",))
        if udev_properties.get("MD_UUID") or tool is None or not self._host.is_root:
            return udev_properties, None
        where = f"{NAME}:{array.name}"
        device = node_path(array.name)
        command = Command(argv=(tool, "--detail", "--export", device), timeout=_FROM_SYSFS, stall=STALL)
        tool_output = await run_checked(self._host, WHOLE_EXPORT, command, where)
        fields, problem = parse_export(tool_output.text), tool_output.problem
        if (
            problem is None
            and (absent := unlisted_member(fields, (member.name for member in array.members))) is not None
        ):
            problem = truncation_problem(where, command, f"{node_path(absent)} is not in it")
        return fields or udev_properties, problem

    async def _platforms(
        self, arrays: Iterable[ArrayFacts]
    ) -> tuple[tuple[ImsmPlatform, ...] | None, tuple[Problem, ...]]:
        """Return Intel's RAID platforms, and a problem if mdadm does not list the platform of an array.

        The platforms are None if mdadm cannot be run or does not report them, or if no array has Intel's metadata.
        """
        tool = self._host.which(("mdadm",))
        containers = [array for array in arrays if array.is_imsm]
        if not containers or tool is None or not self._host.is_root:
            return None, ()
        command = Command(argv=(tool, *ASK_PLATFORM), timeout=_FROM_SYSFS, stall=STALL)
        try:
            done = await self._host.run(command)
        except RaidbenchError as error:
            return None, (Problem(where=NAME, message=error.message, hint=error.hint),)
        if not done.stdout.strip() and done.returncode in (1, 2) and NO_PLATFORM.search(done.stderr):
            return (), ()
        tool_output = judge_output(WHOLE_PLATFORM, command, NAME, done)
        platforms = parse_platforms(tool_output.text)
        missing = [
            container
            for container in containers
            if platform_of(platforms, {node_path(member.name) for member in container.members}) is None
        ]
        if not missing:
            return platforms, ()
        text = f"none of the disks of {missing[0].name} is in it"
        return platforms or None, (tool_output.problem or truncation_problem(NAME, command, text),)

    async def _reshape_context(
        self,
        view: ArrayView,
        key: str,
        value: str,
        picture: Topology | None,
        properties: Mapping[str, str],
        contents: tuple[Signature, ...] | None,
    ) -> ReshapeContext:
        """Return the additional facts that a change of chunk size or layout needs; an empty context for other changes.

        `picture`: None for other changes. `contents`: signatures on the array, or None if they were not checked.
        """
        if picture is None:
            return ReshapeContext()
        if method_of(view.array, key) is ReshapeMethod.RECREATE:
            signatures = picture.signatures_of(view.array.name) if contents is None else contents
            named = tuple(signature for signature in signatures if signature.kind != "unknown")
            return ReshapeContext(properties=properties, contents=named)
        return ReshapeContext(
            backup=await backup_for(self._host, view, picture, int(value) if key == "chunk_size" else None)
        )

    async def _identity(self, target: Target) -> Identity:
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone_error(target)
        return identity(node)

    async def _page_bytes(self) -> int:
        if self._page is None:
            self._page = await page_bytes(self._host)
        return self._page


def _cuts(arrays: Iterable[ArrayFacts]) -> Iterable[Problem]:
    """Yield one problem for each array whose values could not be read completely."""
    for array in arrays:
        if array.cut:
            yield Problem(where=f"{NAME}:{array.name}", message=f"{array.cut}.", hint=LOOK_AGAIN)


def _with_uuid(array: ArrayFacts, properties: Mapping[str, str]) -> ArrayFacts:
    """Return the array with the UUID from udev or mdadm, if the kernel does not report it (before Linux 5.9)."""
    return array if array.uuid is not None else replace(array, uuid=parse_uuid(properties.get("MD_UUID")))
