"""The md backend: arrays of the kernel's RAID driver through sysfs, geometry and policies through mdadm."""

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
    WHOLE_EXPORT,
    WHOLE_PLATFORM,
    ImsmPlatform,
    has_none,
    parse_export,
    parse_platforms,
    platform_of,
    unnamed,
)
from backends.vendors.mdraid.facts import ArrayFacts, parse_uuid
from backends.vendors.mdraid.interrupted_creation import assembly_hint
from backends.vendors.mdraid.inventory import NAME, array_of, known_by_udev, tasks_of
from backends.vendors.mdraid.plans import (
    GEOMETRY,
    ReshapeContext,
    change_of,
    identity_for,
    legal_companions,
    order_rank,
    sysfs_path,
    value_before,
    wanted_value,
    with_bitmap,
)
from backends.vendors.mdraid.readings import ArrayView, readings
from backends.vendors.mdraid.reshape import ReshapeMethod, fixed_reason, method_of
from backends.vendors.mdraid.reshape_backup import backup_for
from backends.vendors.mdraid.running import KEPT, RULES, MdRaidRunner, actions, match_of
from backends.vendors.mdraid.settings import ArrayTraits, outline_of, settings_of
from backends.vendors.mdraid.sysfs import count_cpus, read_arrays

_MEMORY, _CPUS, _SPEED = "/proc/meminfo", "/sys/devices/system/cpu/online", "/proc/sys/dev/raid/speed_limit_max"

_FROM_SYSFS = 10.0
"""Seconds after which mdadm is not waited for any longer: sysfs has told nearly all by then."""


class MdRaid:
    """Arrays of one host. Which settings an array has is known once it was looked at."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._runner = MdRaidRunner(host)
        self._outlines: dict[str, ArrayTraits] = {}
        self._page: int | None = None

    async def inventory(self) -> Inventory:
        """Every array and container, from sysfs; names that only mdadm knows are added where it can be asked."""
        array_facts = await read_arrays(self._host)
        if not array_facts:
            return Inventory()
        picture, page = await asyncio.gather(scan_topology(self._host), self._page_bytes())
        arrays = {array.name: array for array in array_facts}
        self._outlines = {name: outline_of(array, page) for name, array in arrays.items()}
        asked = asyncio.gather(
            *(self._read_properties(array, picture.tree.nodes.get(array.name)) for array in array_facts)
        )
        (platforms, untold), pairs = await asyncio.gather(self._platforms(array_facts), asked)
        return Inventory(
            arrays=tuple(
                array_of(_with_uuid(array, more), picture, arrays, more, platforms)
                for array, (more, _) in zip(array_facts, pairs, strict=True)
            ),
            problems=deduplicate(
                (*_cuts(array_facts), *(problem for _, problem in pairs if problem is not None), *untold)
            ),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of the array's level, and of its members; of a container none."""
        return settings_of(self._outlines.get(target.address)) if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now. Raises NotFoundError, DeviceGoneError."""
        return readings(await self._view(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would write or run, and what brings the present value back."""
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """The same for several settings, each as if those before it were set: an array created again has their bitmap.

        Raises BlockedError where more than one of them moves every byte.
        """
        if GEOMETRY.keys() <= values.keys():
            raise BlockedError(
                f"Chunk size and layout of {target} cannot be set together: each moves every byte.",
                hint="Set one of them, and the other when that has come to its end.",
            )
        view = as_found = await self._view(target)
        changes: list[Change] = []
        for key in sorted(values, key=order_rank):
            change = await self._planned(view, target, key, values[key])
            if key in GEOMETRY and as_found is not view:  # made again, it is to be as it was before the whole set
                first = await self._planned(as_found, target, key, values[key])
                change = replace(change, undo=first.undo, companions=first.companions)
            changes.append(change)
            view = with_bitmap(view, change.after) if key == "bitmap" else view
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """What writes or runs `value` again: a bitmap with its chunks; a re-creation of the members that there are."""
        return await self._planned(await self._view(target), target, key, value, companions)

    async def _planned(
        self, view: ArrayView, target: Target, key: str, value: str, companions: Mapping[str, str] | None = None
    ) -> Change:
        """`companions`: of a value that is to come back."""
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
        there = companions is not None and now.now == value
        anew = key in GEOMETRY and method_of(view.array, key) is ReshapeMethod.RECREATE
        if anew and self._host.is_root and not there:
            contents = await require_free(self._host, view.device)  # without root not all can be seen: before applying
        if companions is None:
            request = requested_value(target, setting, now, value, wanted_value)
        else:
            request = validated_old_value(target, setting, now, value, value_before)
        view = replace(view, array=_with_uuid(view.array, properties))
        beside = ReshapeContext(properties=properties)
        if not there:
            beside = await self._reshape_context(view, key, request.value, picture, properties, contents)
        change = change_of(view, request, await self._identity(target), beside, companions)
        return replace(change, found=contents)

    async def apply(self, change: Change) -> None:
        """Take the steps, after making sure that this is still the array that was planned for."""
        array = await self._array(change.target)
        require_same_device(change, identity_for(change.key, await self._identity(change.target)))
        if change.before == change.after and any(write.argv for write in change.writes):
            return  # mdadm calls it an error to set what is set, and nothing is created again for nothing
        if array.uuid is None and change.key in GEOMETRY:
            array = _with_uuid(array, await self._properties(array))
        if change.key in GEOMETRY and (why_not := fixed_reason(array)):  # mdadm would break off a check for its reshape
            raise BlockedError(f"{change.label} of {change.target} cannot be changed: {why_not}.")
        try:
            await self._runner.run(change, array, node_path(array.name))
        except ToolFailedError as error:
            first = await self.remains(change)
            raise (
                error if first is None else ToolFailedError(error.message, hint=first, evidence=error.evidence)
            ) from error

    async def remains(self, change: Change) -> str | None:
        """How to bring an array back that was stopped, where its members still hold it."""
        tool = self._host.which(("mdadm",))
        try:
            await self._array(change.target)
        except DeviceGoneError:
            return (
                None
                if tool is None
                else await assembly_hint(self._host, tool, node_path(change.target.address), change)
            )
        except RaidbenchError:
            pass
        return None

    async def candidates(self) -> tuple[Candidate, ...]:
        """None of its own: the kernel sees every drive that md can have."""
        return ()

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """The lines of mdadm that make it, its node and its UUID chosen."""
        tool = self._host.which(("mdadm",))
        if tool is None:
            raise BlockedError("mdadm is not installed.", hint="Install mdadm.")
        taken = [path.split("/")[3] for path in await self._host.list("/sys/block/md*/dev")]
        uuids = tuple(uuid_text(uuid4().hex) for _ in range(1 + (request.spans or 2)))
        planned = plan_array(request, mdadm=tool, taken=taken, uuids=uuids, assume_clean=assume_clean)
        names = [kernel_name(drive.place) for drive in request.drives]
        return replace(planned, locks=await locks_of(self._host, names))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """By the UUIDs on its drives; what bears another one is never taken for it."""
        tool = self._host.which(("mdadm",))
        if tool is None:
            raise BlockedError("mdadm is not installed.", hint="Install mdadm.")
        return await find_made(self._host, tool, array)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """mdadm, step by step."""
        await self._runner.run_making(steps)

    async def begin_check(self, target: Target) -> None:
        """By sync_action (Documentation/admin-guide/md.rst)."""
        array = await self._array(target)
        await self._host.write(f"/sys/block/{array.name}/md/sync_action", "check")

    async def mismatches(self, target: Target) -> int | None:
        """By mismatch_cnt: sectors, counted in whole pages or chunks."""
        array = await self._array(target)
        return number(await self._host.read(f"/sys/block/{array.name}/md/mismatch_cnt"))

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """The udev rules file with this array's line replaced; no other line is touched."""
        view = await self._view(target)
        now = readings(view)
        legal: dict[str, str] = {}
        for key, value in values.items():
            setting = setting_of(settings_of(view.outline), target, key)
            if setting.stands_for:
                parts = ", ".join(setting.stands_for)
                raise BlockedError(f"{setting.label} is no setting of its own.", hint=f"Keep {parts} instead.")
            if key not in KEPT or setting.persistence is Persistence.STORED:
                raise BlockedError(f"{setting.label} is kept in the array itself; there is nothing to add.")
            legal[key] = wanted_value(setting, now[key], value)
        array = view.array
        if array.uuid is None:
            array = _with_uuid(array, await self._properties(array))
        return await RULES.rule(self._host, view.device, match_of(array.uuid), actions(legal), legal)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """A resync, check, reshape ... of the array. Raises NotFoundError, DeviceGoneError."""
        return tasks_of(await self._array(target))

    async def diagnose(self) -> tuple[Problem, ...]:
        """What is missing without mdadm, and arrays that need somebody."""
        array_facts = await read_arrays(self._host)
        problems: list[Problem] = []
        if array_facts and self._host.which(("mdadm",)) is None:
            message = (
                "mdadm is not installed: chunk, layout, bitmap and consistency policy of md arrays cannot be changed, "
                "and their names are known only where udev has them. Everything else works without it."
            )
            problems.append(Problem(where=NAME, message=message, hint="Install mdadm."))
        for array in array_facts:
            if array.is_converted and array.sync is None:
                message = (
                    f"{node_path(array.name)} is a RAID 4 without its parity disk: a RAID 0 whose reshape has ended."
                )
                hint = f"If it was a RAID 0, make it one again: mdadm --grow --level=0 {node_path(array.name)}"
                problems.append(Problem(where=f"{NAME}:{array.name}", message=message, hint=hint))
        return tuple(problems)

    async def _view(self, target: Target) -> ArrayView:
        """The array as it is now, and what stands against changing it."""
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
            mdadm_why_not=await self._run_blocked_reason(base, tool),
            memory_bytes=kib * 1024 if kib else None,
            cpus=count_cpus(texts.get(_CPUS)),
            speed_kib=number(texts.get(_SPEED)),
        )

    async def _run_blocked_reason(self, base: str, tool: str | None) -> str | None:
        """What stands against running mdadm for a change; a dry run answers as root would be answered."""
        if tool is None:
            return "mdadm is not installed"
        return await denial_of(self._host, f"{base}array_state")

    async def _array(self, target: Target) -> ArrayFacts:
        name = target.address
        if target.backend != NAME or not name or set(name) & set("/*?[]") or name.startswith("."):
            raise not_found_error(target)
        array_facts = await read_arrays(self._host, (name,))
        if not array_facts:
            raise gone_error(target)
        return array_facts[0]

    async def _properties(self, array: ArrayFacts) -> Mapping[str, str]:
        """What udev knows of an array, else mdadm; nothing where neither can be asked. Raises BlockedError for half."""
        properties, problem = await self._read_properties(array, await read_node(self._host, array.name))
        if problem is not None:
            raise truncation_error(f"{NAME}:{array.name}", problem.message.rstrip("."))
        return properties

    async def _read_properties(self, array: ArrayFacts, node: Node | None) -> tuple[Mapping[str, str], Problem | None]:
        """The same of a node, with what is told of an answer that was cut."""
        udev_properties = known_by_udev(node)
        tool = self._host.which(("mdadm",))
        if udev_properties.get("MD_UUID") or tool is None or not self._host.is_root:
            return udev_properties, None
        where = f"{NAME}:{array.name}"
        device = node_path(array.name)
        command = Command(argv=(tool, "--detail", "--export", device), timeout=_FROM_SYSFS, stall=STALL)
        tool_output = await run_checked(self._host, WHOLE_EXPORT, command, where)
        fields, problem = parse_export(tool_output.text), tool_output.problem
        if problem is None and (absent := unnamed(fields, (member.name for member in array.members))) is not None:
            problem = truncation_problem(where, command, f"{node_path(absent)} is not in it")
        return fields or udev_properties, problem

    async def _platforms(
        self, arrays: Iterable[ArrayFacts]
    ) -> tuple[tuple[ImsmPlatform, ...] | None, tuple[Problem, ...]]:
        """What the machine's Intel firmware allows, and what is told where mdadm does not say it of an array.

        None where mdadm cannot be asked or does not tell, or no array is of its kind.
        """
        tool = self._host.which(("mdadm",))
        boxes = [array for array in arrays if array.is_imsm]
        if not boxes or tool is None or not self._host.is_root:
            return None, ()
        command = Command(argv=(tool, *ASK_PLATFORM), timeout=_FROM_SYSFS, stall=STALL)
        try:
            done = await self._host.run(command)
        except RaidbenchError as error:
            return None, (Problem(where=NAME, message=error.message, hint=error.hint),)
        if not done.stdout.strip() and has_none(done.returncode, done.stderr):
            return (), ()
        tool_output = judge_output(WHOLE_PLATFORM, command, NAME, done)
        platforms = parse_platforms(tool_output.text)
        untold = [
            box for box in boxes if platform_of(platforms, {node_path(member.name) for member in box.members}) is None
        ]
        if not untold:
            return platforms, ()
        text = f"none of the disks of {untold[0].name} is in it, as of another controller"
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
        """What a change of the geometry needs besides; for all others nothing."""
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
    """What is told of arrays that the kernel did not tell of as a whole."""
    for array in arrays:
        if array.cut:
            yield Problem(where=f"{NAME}:{array.name}", message=f"{array.cut}.", hint=LOOK_AGAIN)


def _with_uuid(array: ArrayFacts, properties: Mapping[str, str]) -> ArrayFacts:
    """With the UUID that udev or mdadm know, where the kernel does not tell it (before Linux 5.9)."""
    return array if array.uuid is not None else replace(array, uuid=parse_uuid(properties.get("MD_UUID")))
