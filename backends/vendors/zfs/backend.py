"""ZFS backend: pools, filesystems and volumes through zpool and zfs, and module parameters through sysfs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from backends.change import Change, ChangeStep
from backends.change_steps import (
    RequestedValue,
    denial_of,
    gone_error,
    lock_of,
    not_found_error,
    requested_value,
    require_companions,
    require_equal_steps,
    require_same_device,
    run_step,
    run_steps,
    setting_of,
    validated_old_value,
)
from backends.errors import RaidbenchError, RefusedError, ToolFailedError, result_or_error
from backends.host import STALL, Command, Completed, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Setting
from backends.system.caching import cache_across_changes
from backends.text import clean, clean_lines
from backends.tool_output import CUT, CompletenessCheck, line_end
from backends.topology import kernel_name, scan_topology
from backends.topology.stacking import IMPORTED
from backends.topology.tree import number
from backends.vendors.zfs.facts import (
    DATASET_COLUMNS,
    OWN,
    POOL_COLUMNS,
    ListedDataset,
    ZfsKind,
    ZfsValue,
    is_name,
    parse_arcstats,
    parse_datasets,
    parse_pools,
    parse_properties,
    parse_values,
    rows,
)
from backends.vendors.zfs.inventory import (
    MODULE,
    NAME,
    PoolScan,
    arrays,
    controller,
    link_of,
    node_of,
    plain_arrays,
    select_listed,
)
from backends.vendors.zfs.parameters import (
    FOLDER,
    PARAMETERS,
    ModuleView,
    companions_now,
    legal_companions,
    legal_parameter,
    limit_in_force,
    order_parameters,
    parameter_before,
    parameter_readings,
    parameter_steps,
    with_parameter,
)
from backends.vendors.zfs.readings import DatasetView, dataset_readings, legal_value, value_before
from backends.vendors.zfs.settings import (
    INHERITED,
    inheriting_datasets,
    inheriting_datasets_text,
    is_own_parameter,
    kind_at,
    own_steps,
    settings_of,
    steps,
    undo_steps,
)
from backends.vendors.zfs.status import parse_status

_VERSION, _ARC, _MEMORY = "/sys/module/zfs/version", "/proc/spl/kstat/zfs/arcstats", "/proc/meminfo"
_LARGEST = "zfs_max_recordsize"
_READ = ("type", "guid", "volblocksize", *INHERITED)
"""Properties that are read for each dataset."""

_ENDS = re.compile(r"\nerrors: [^\n]*\n(?:(?!  pool: )[^\n]*\n)*\Z|^no pools available")

WHOLE = CompletenessCheck(
    tool="zpool list, zpool get, zfs list, zfs get",
    mark="every pool of the kernel, every requested value, a newline at the end",
    missing=lambda text: line_end(text) if text else "",
    hides="the last filesystems and volumes, their local values, and features of a pool",
)
WHOLE_STATUS = CompletenessCheck(
    tool="zpool status",
    mark="every pool, and `errors:` at the end of the last one, or `no pools available`",
    missing=lambda text: "" if _ENDS.search(text) else "`errors:` is missing",
)

SECONDS = 60.0
"""Timeout of a read in seconds, because a suspended pool never responds. Changes have no timeout."""


class Zfs:
    """ZFS on one host. The settings of a dataset are known after it has been read once."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._settings: dict[str, tuple[Setting, ...]] = {}
        self._kept: dict[str, DatasetView] = {}
        self._listed: PoolScan | None = None

    async def inventory(self) -> Inventory:
        """Return the module, all pools, their volumes, and the selected filesystems."""
        module = await self._module()
        head = Inventory(controllers=(controller(module),))
        if self._host.which(("zfs",)) is None or self._host.which(("zpool",)) is None:
            return replace(head, problems=(_WITHOUT_TOOLS,))
        # In parallel: both may wait for the same unresponsive disk, and the timeouts must not add up.
        picture, listing = await asyncio.gather(scan_topology(self._host), result_or_error(self._read_pools(module)))
        self._listed = None
        if isinstance(listing, RaidbenchError):
            states = await self._host.read_many(await self._host.list(IMPORTED))
            left = tuple(plain_arrays(states, picture, listing.message))
            return replace(head, arrays=left, problems=(_problem(listing),))
        try:
            await self._cache_values(listing)
        except RaidbenchError as error:  # the listing is valid even without the values
            self._kept = {}
            head = replace(head, problems=(_problem(error),))
        else:
            self._listed = listing
        return replace(head, arrays=tuple(arrays(listing, picture)))

    async def cached_inventory(self) -> Inventory:
        """Return the inventory with the pools and datasets of the last scan, because settings do not change it."""
        if self._listed is None:
            return await self.inventory()
        module, picture = await self._module(), await scan_topology(self._host)
        return Inventory(controllers=(controller(module),), arrays=tuple(arrays(self._listed, picture)))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of the module, or of this kind of dataset."""
        if target.backend != NAME:
            return ()
        if target.address == MODULE.address:
            return PARAMETERS
        return self._settings.get(target.address) or settings_of(kind_at(target.address), special=False)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return all readings. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        if target == MODULE:
            return parameter_readings(await self._module())
        return dataset_readings(await self._view(target))

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """Return all readings.

        The readings of a dataset are from the last inventory, because querying hundreds of datasets takes seconds.
        """
        last_view = self._kept.get(target.address) if target.backend == NAME else None
        return await self.read(target) if last_view is None else dataset_readings(last_view)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`.

        Its undo restores the current value and the source of that value.
        """
        if target == MODULE:
            return (await self.plan_together(MODULE, {key: value}))[0]
        view = await self._view(target)
        setting = setting_of(view.settings, target, key)
        now = dataset_readings(view)[key]
        return await self._plan_change(
            view, requested_value(target, setting, now, value, lambda *given: legal_value(view, *given))
        )

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes of several settings. Parameters that limit each other are in a valid order."""
        if target != MODULE:
            return tuple([await self.plan(target, key, value) for key, value in values.items()])
        declared = {key: setting_of(PARAMETERS, MODULE, key) for key in values}
        module, changes = await self._module(), []
        for key in order_parameters(module, values):
            legal = partial(legal_parameter, module)
            request = requested_value(MODULE, declared[key], parameter_readings(module)[key], values[key], legal)
            changes.append(_of_parameter(module, request, limit_in_force(module, key)))
            module = with_parameter(module, key, request.value)
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that restores `value`.

        For a dataset, `value` may also mean to inherit the value again, or to restore the received one.
        """
        require_companions(target, key, companions, legal_companions(key, value) if target == MODULE else {})
        if target == MODULE:
            module = await self._module()
            setting, reading = setting_of(PARAMETERS, MODULE, key), parameter_readings(module)[key]
            request = validated_old_value(MODULE, setting, reading, value, parameter_before)
            return _of_parameter(module, request, companions)
        view = await self._view(target)
        setting = setting_of(view.settings, target, key)
        return await self._plan_change(
            view, validated_old_value(target, setting, dataset_readings(view)[key], value, value_before)
        )

    async def _plan_change(self, view: DatasetView, request: RequestedValue) -> Change:
        tool, name, key = self._tool(), request.target.address, request.setting.key
        change = request.change(
            steps(tool, name, key, request.value),
            undo_steps(tool, name, key, request.now),
            _identity(view),
            await self._locks(view),
        )
        inherited = key in INHERITED and view.kind is not ZfsKind.VOLUME
        also = await self._inheriting_datasets(name, key) if inherited else ()
        return replace(change, also=inheriting_datasets_text(also))

    async def apply(self, change: Change) -> None:
        """Run the steps, after checking that this is still the planned dataset."""
        if change.target == MODULE:
            if not is_own_parameter(change):
                require_equal_steps(change, ())
            await run_steps(change, self._write, same=lambda: self._require_same_module(change))
            return
        view = await self._view(change.target)
        require_same_device(change, _identity(view))
        require_equal_steps(change, own_steps(change, self._tool()))
        if change.before == change.after:
            return  # the value is already set
        below = f"{view.name}/"  # the readings of datasets that inherit the value change, too
        kept = self._kept.items()
        self._kept = {name: kept_view for name, kept_view in kept if not f"{name}/".startswith(below)}
        await run_steps(change, self._run)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem if the module is loaded but the tools are missing."""
        if await self._host.read(f"{FOLDER}zfs_txg_timeout") is None:
            return ()
        return () if self._host.which(("zfs",)) and self._host.which(("zpool",)) else (_WITHOUT_TOOLS,)

    async def _require_same_module(self, change: Change) -> None:
        require_same_device(change, _module_identity(await self._module()))

    async def _write(self, step: ChangeStep) -> None:
        await self._host.write(step.path or "", step.text or "")

    async def _run(self, step: ChangeStep) -> None:
        await run_step(self._host, step, SECONDS, _refusal)

    async def _module(self) -> ModuleView:
        """Return the current state of the module. Raises DeviceGoneError if it is not loaded."""
        names = (*(setting.key for setting in PARAMETERS), _LARGEST)
        texts = await self._host.read_many([*(FOLDER + name for name in names), _VERSION, _ARC, _MEMORY])
        module_texts = {name: texts[FOLDER + name] for name in names if FOLDER + name in texts}
        if not module_texts:
            raise gone_error(MODULE)
        reasons = await asyncio.gather(*(self._host.writable(FOLDER + name) for name in module_texts))
        memory = texts.get(_MEMORY, "").partition("MemTotal:")[2].split()
        kib = number(memory[0]) if memory else None
        return ModuleView(
            texts=module_texts,
            refusals=dict(zip(module_texts, reasons, strict=True)),
            arc=parse_arcstats(texts.get(_ARC)),
            memory_bytes=kib * 1024 if kib else None,
            version=clean(texts.get(_VERSION, ""), 40) or None,
        )

    async def _read_pools(self, module: ModuleView) -> PoolScan:
        """Return all pools and datasets. This takes four commands, however many datasets there are."""
        every = ("-t", "filesystem,volume")
        lists, status, names, own_values = await asyncio.gather(
            self._ask("zpool", "list", "-Hp", "-o", ",".join(POOL_COLUMNS)),
            self._ask("zpool", "status", "-LP"),
            self._ask("zfs", "list", "-Hp", *every, "-o", ",".join(DATASET_COLUMNS)),
            self._ask("zfs", "get", "-Hp", "-s", ",".join(OWN), *every, "-o", "name,property", ",".join(INHERITED)),
        )
        datasets, pools = parse_datasets(names), parse_pools(lists)
        statuses = {pool_status.name: pool_status for pool_status in parse_status(status)}
        imported = {path.split("/")[-2] for path in await self._host.list(IMPORTED)}
        for line, missing in (
            ("zpool list", imported - pools.keys()),
            ("zpool status", pools.keys() - statuses.keys()),
            ("zfs list", pools.keys() - {dataset.name for dataset in datasets}),
        ):
            if missing:
                raise _truncation_error(line, f"the pool {clean(min(missing))} is not in it")
        return PoolScan(
            pools=pools,
            statuses=statuses,
            datasets=datasets,
            own_values=frozenset(row[0] for row in rows(own_values, 2)) & {dataset.name for dataset in datasets},
            nodes=await self._nodes(datasets),
            module=module,
        )

    async def _nodes(self, datasets: Iterable[ListedDataset]) -> dict[str, str]:
        volumes = [dataset.name for dataset in datasets if dataset.kind is ZfsKind.VOLUME]
        links = await asyncio.gather(*(self._host.link(link_of(name)) for name in volumes))
        return {name: node for name, link in zip(volumes, links, strict=True) if (node := node_of(link)) is not None}

    async def _cache_values(self, listing: PoolScan) -> None:
        """Read the values of all listed datasets with one query."""
        names = [dataset.name for dataset in select_listed(listing)]
        if not names:
            self._kept = {}
            return
        answers = asyncio.gather(*map(self._pool, listing.pools))
        values, pool_values = await asyncio.gather(self._get(_READ, names), answers)
        pools = dict(zip(listing.pools, pool_values, strict=True))
        why_not = await denial_of(self._host, self._tool())
        self._kept = {
            name: _view(name, values[name], pools.get(name.split("/")[0], {}), listing.module, why_not)
            for name in names
            if name in values
        }
        self._settings = {name: view.settings for name, view in self._kept.items()}

    async def _view(self, target: Target) -> DatasetView:
        """Return the current state of a dataset. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        name = target.address
        if target.backend != NAME or not is_name(name):
            raise not_found_error(target)
        try:
            pool = self._pool_of(name) if "/" in name else self._pool(name)
            answers = await asyncio.gather(self._get(_READ, (name,)), pool)
        except ToolFailedError as error:
            if "does not exist" in error.evidence or "no such pool" in error.evidence:
                raise gone_error(target) from error
            raise
        values = answers[0].get(name)
        if values is None:
            raise gone_error(target)
        view = _view(name, values, answers[1], await self._module(), await denial_of(self._host, self._tool()))
        self._settings[name] = view.settings
        self._kept[name] = view
        return view

    async def _pool_of(self, name: str) -> dict[str, ZfsValue]:
        """Return the properties of the pool of dataset `name`.

        They are cached, because no setting of a dataset changes them.
        """
        with cache_across_changes():
            return await self._pool(name.split("/")[0])

    async def _pool(self, name: str) -> dict[str, ZfsValue]:
        properties = parse_properties(
            await self._ask("zpool", "get", "-Hp", "-o", "property,value,source", "all", name)
        )
        if missing := [key for key in ("guid", "ashift", "autotrim") if key not in properties]:
            raise _truncation_error("zpool get", f"{missing[0]} of {clean(name)} is not in it")
        return properties

    async def _get(self, keys: Sequence[str], names: Sequence[str], *options: str) -> dict[str, dict[str, ZfsValue]]:
        """Return values by dataset and property.

        Raises ToolFailedError if a requested value is missing from the output.
        """
        columns = "name,property,value,received,source"
        by_dataset = parse_values(await self._ask("zfs", "get", "-Hp", *options, "-o", columns, ",".join(keys), *names))
        if missing := [f"{key} of {name}" for name in names for key in keys if key not in by_dataset.get(name, {})]:
            raise _truncation_error("zfs get", f"{clean(missing[0], 200)} is not in it")
        return by_dataset

    async def _inheriting_datasets(self, name: str, key: str) -> tuple[str, ...]:
        with cache_across_changes():  # cached: a dataset that inherits the old value also inherits the new value
            by_dataset = await self._get((key,), (name,), "-r", "-t", "filesystem,volume")
        return inheriting_datasets(name, ((name, values[key]) for name, values in by_dataset.items() if key in values))

    async def _locks(self, view: DatasetView) -> str:
        """Return the names of the locks for a change: that of the pool, because values are inherited, and for a volume
        that of its disk.
        """
        guid = view.pool.get("guid", ZfsValue(text="")).text
        pool = f"zfs-{clean(guid, 40) or clean(view.name.split('/')[0], 100)}"
        node = node_of(await self._host.link(link_of(view.name))) if view.kind is ZfsKind.VOLUME else None
        return pool if node is None else f"{pool}\n{await lock_of(self._host, kernel_name(node))}"

    def _tool(self, program: str = "zfs") -> str:
        tool = self._host.which((program,))
        if tool is None:
            raise RefusedError(_WITHOUT_TOOLS.message, hint=_WITHOUT_TOOLS.hint)
        return tool

    async def _ask(self, program: str, *words: str) -> str:
        """Return the output of zfs or zpool. `words`: its arguments. Raises ToolFailedError with the program's
        message.
        """
        command = Command(argv=(self._tool(program), *words), timeout=SECONDS, stall=STALL)
        done = await self._host.run(command)
        if done.returncode != 0 or done.truncated:
            reason = "its output is too long." if done.truncated else _error_sentence(done)
            raise ToolFailedError(
                f"{program} {words[0]} failed: {reason}", evidence=f"{done.stdout[:4000]}{done.stderr}"
            )
        check = WHOLE_STATUS if words[0] == "status" else WHOLE
        if why := check.lost(done):
            raise _truncation_error(command.shown(), why)
        return done.stdout


_WITHOUT_TOOLS = Problem(
    where=NAME,
    message="The module zfs is loaded, but zpool and zfs are not installed, so pools are not visible.",
    hint="Install zfsutils-linux.",
)


def _truncation_error(line: str, why: str) -> ToolFailedError:
    return ToolFailedError(f"{line}: {CUT}: {why}.", hint=f"Run the command manually: {line}")


def _problem(error: RaidbenchError) -> Problem:
    return Problem(where=NAME, message=error.message, hint=error.hint)


def _view(
    name: str, values: Mapping[str, ZfsValue], pool: Mapping[str, ZfsValue], module: ModuleView, why_not: str | None
) -> DatasetView:
    kind = values.get("type", ZfsValue(text="")).text
    return DatasetView(
        name=name,
        kind=ZfsKind.VOLUME if kind == "volume" else ZfsKind.FILESYSTEM if "/" in name else ZfsKind.POOL,
        values=values,
        pool=pool,
        largest=number(module.texts.get(_LARGEST)) or 1 << 20,
        why_not=why_not,
    )


def _of_parameter(view: ModuleView, request: RequestedValue, companions: Mapping[str, str]) -> Change:
    """Return the change of a module parameter.

    `companions`: the effective ARC limit, which is set first if the requested value lets ZFS choose the limit.
    """
    key, present = request.setting.key, companions_now(view, request.setting.key)
    readable = request.now.now not in (None, "unknown")
    change = request.change(
        parameter_steps(key, request.value, companions),
        parameter_steps(key, request.now.now or "", present) if readable else (),
        _module_identity(view),
        "zfs-module",
    )
    return replace(change, companions=present)


def _identity(view: DatasetView) -> Identity:
    """Return the identity of a dataset, which includes its guid.

    A dataset re-created under the same name has another guid.
    """
    return Identity(name=clean(view.name), serial=clean(view.values.get("guid", ZfsValue(text="")).text, 40) or None)


def _module_identity(view: ModuleView) -> Identity:
    return Identity(name="zfs", model=view.version)


def _refusal(done: Completed) -> str:
    return _error_sentence(done) if done.returncode != 0 else ""


def _error_sentence(done: Completed) -> str:
    """Return the program's error output as a sentence."""
    output = clean(clean_lines(f"{done.stderr}\n{done.stdout}".strip(), lines=4).replace("\n", " "), 300).rstrip(".")
    return f"{output}." if output else f"it exited with status {done.returncode} and reported no reason."
