"""The bcache backend: devices with their caches, settings through sysfs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, Write
from backends.changing import gone, lock_of, not_found, require_same, setting_of, take_steps, wanted
from backends.errors import BlockedError, RefusedError
from backends.host import Host
from backends.model import Inventory, Problem, Target
from backends.protocol import PersistRule
from backends.settings import Reading, Setting
from backends.text import clean
from backends.topology import Node, look, node_path, read_tree
from backends.topology.naming import identity
from backends.topology.tree import read_node
from backends.udev import assign, match_keys, queue_rules, require_unique
from backends.vendors.bcache.facts import BcacheFacts, read_devices
from backends.vendors.bcache.inventory import NAME, array_of
from backends.vendors.bcache.readings import kernel_word, readings, settled, wanted_value
from backends.vendors.bcache.settings import KEPT, OF_SET, SETTINGS

RULES = queue_rules("bcache", "bcache device")
"""The lines of bcache devices, beside those of request queues."""

_REDUNDANT = frozenset(("raid1", "raid4", "raid5", "raid6", "raid10"))
"""md levels that lose a drive without losing data."""


class Bcache:
    """Every bcache device of one host that runs."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def inventory(self) -> Inventory:
        """Each device as an array of what is cached and what caches it."""
        devices = await read_devices(self._host)
        picture = await look(self._host) if devices else None
        return Inventory(arrays=tuple(array_of(one, picture) for one in devices if picture is not None))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The same for every device; what one without a cache lacks is blocked when read."""
        return SETTINGS if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now. Raises NotFoundError, DeviceGoneError."""
        return await self._readings(await self._device(target))

    async def _readings(self, device: BcacheFacts) -> Mapping[str, Reading]:
        paths = {one.key: path for one in SETTINGS if (path := device.path(one.key)) is not None}
        reasons = await asyncio.gather(*map(self._host.writable, paths.values()))
        levels = await self._host.read_many([f"/sys/block/{name}/md/level" for name in device.caches])
        redundant = 0 < len(levels) == len(device.caches) and _REDUNDANT.issuperset(levels.values())
        return readings(device, dict(zip(paths, reasons, strict=True)), redundant=redundant)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would write, and what brings the present state back."""
        setting = setting_of(self.settings(target), target, key)
        device = await self._device(target)
        wish = wanted(target, setting, (await self._readings(device))[key], value, wanted_value)
        path, before = device.path(key), wish.now.now
        write = Write(path=path, text=kernel_word(key, wish.value))
        undo = () if before in (None, "unknown") else (replace(write, text=kernel_word(key, before or "")),)
        lock = await lock_of(self._host, device.name)
        if key in OF_SET:  # one for all that the set serves
            lock = f"bcache-{device.set_uuid}\n{lock}"
        change = wish.change((write,), undo, identity(await self._node(target)), lock)
        after = settled(key, wish.value)
        return replace(change, after=after, asked=wish.value if after != wish.value else "")

    async def apply(self, change: Change) -> None:
        """Write, after making sure that this is still the device that was planned for, with the same cache set."""
        if change.before != change.after:
            await take_steps(change, self._take, same=lambda: self._same(change))

    async def _take(self, step: Write) -> None:
        assert step.path is not None
        await self._host.write(step.path, step.text or "")

    async def _same(self, change: Change) -> None:
        require_same(change, identity(await self._node(change.target)))
        path = (await self._device(change.target)).path(change.key)
        for step in change.writes:
            if path is None or step.path != path:
                raise RefusedError(
                    f"A step wants to write {clean(step.shown(), 200)}, which is not {change.key} of {change.target}."
                )

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """The udev rules file with this device's line replaced; no other line is touched."""
        device, node = await self._device(target), await self._node(target)
        now = await self._readings(device) if values else {}
        legal: dict[str, str] = {}
        for key, value in values.items():
            setting = setting_of(SETTINGS, target, key)
            if key not in KEPT:
                where = "cache set, which may come after the device" if key in OF_SET else "superblock"
                raise BlockedError(f"{setting.label} is not kept by a rule: it is of the {where}.")
            legal[key] = kernel_word(key, wanted_value(setting, now[key], value))
        match = match_keys(node)
        require_unique(node, match, await read_tree(self._host))
        actions = tuple(assign(f"bcache/{key}", legal[key]) for key in KEPT if key in legal)
        return await RULES.rule(self._host, node.device, match, actions, legal)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Disks whose cache is missing: they do not start without it."""
        files = [await self._host.list(f"/sys/block/{pattern}/bcache/running") for pattern in ("*", "*/*")]
        texts = await self._host.read_many([path for found in files for path in found])
        waiting = [path.split("/")[-3] for path, text in texts.items() if text == "0"]
        message = "is cached by bcache and waits for its cache device"
        hint = "Connect the cache device. What is in it alone is lost to a disk that is made to run without it."
        return tuple(Problem(where=NAME, message=f"{node_path(name)} {message}.", hint=hint) for name in waiting)

    async def _device(self, target: Target) -> BcacheFacts:
        name = target.address
        if target.backend != NAME or not name.startswith("bcache") or not name.isalnum():
            raise not_found(target)
        found = next((one for one in await read_devices(self._host) if one.name == name), None)
        if found is None:
            raise gone(target)
        return found

    async def _node(self, target: Target) -> Node:
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone(target)
        return node
