"""Backend for bcache: lists devices with their caches, and reads and writes settings through sysfs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.change_steps import (
    LOOK_AGAIN,
    RequestedValue,
    gone_error,
    lock_of,
    not_found_error,
    require_same_device,
    setting_of,
)
from backends.errors import BlockedError, RefusedError
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.protocol import PersistRule
from backends.settings import Reading, Setting
from backends.settings_backend import Settable
from backends.text import clean
from backends.tool_output import truncation_error
from backends.topology import Node, node_path, read_tree, scan_topology
from backends.topology.device_identity import identity
from backends.topology.tree import read_node
from backends.udev import attribute_assignment, match_keys, queue_rules, require_unique
from backends.values import dataclass
from backends.vendors.bcache.inventory import NAME, BcacheFacts, array_of, read_devices
from backends.vendors.bcache.readings import kernel_word, readings, value_afterwards, value_before, wanted_value
from backends.vendors.bcache.settings import KEPT, OF_SET, SETTINGS

RULES = queue_rules("bcache", "bcache device")
"""Part of the udev rules file for the `bcache` attributes of a device; the block backend writes those of its queue."""

_REDUNDANT = frozenset(("raid1", "raid4", "raid5", "raid6", "raid10"))
"""md levels that survive the loss of a drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BcacheSnapshot:
    """State of a bcache device at one moment."""

    facts: BcacheFacts
    """Values of the device from sysfs, including its cache set."""
    node: Node
    """The kernel's disk."""


class Bcache(Settable[BcacheSnapshot]):
    """All running bcache devices of a host."""

    async def inventory(self) -> Inventory:
        """Return each device as an array of its backing device and its cache devices."""
        devices = await read_devices(self._host)
        picture = await scan_topology(self._host) if devices else None
        return Inventory(
            arrays=tuple(array_of(device, picture) for device in devices if picture is not None),
            problems=tuple(
                Problem(where=f"{NAME}:{device.name}", message=f"{device.cut}.", hint=LOOK_AGAIN)
                for device in devices
                if device.cut
            ),
        )

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return all settings. A device without a cache lacks some of them; their readings are blocked."""
        return SETTINGS if target.backend == NAME else ()

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes for all values. Raises BlockedError if the device could only be read in part."""
        if cut := (await self._device(target)).cut:
            raise truncation_error(target, cut)
        return await super().plan_together(target, values)

    async def read_state(self, target: Target, *, back: bool = False) -> BcacheSnapshot:
        """Return the current state of a bcache device, including its cache set."""
        facts = await self._device(target)
        return BcacheSnapshot(facts=facts, node=await self._node(target))

    async def readings_of(self, snapshot: BcacheSnapshot) -> Mapping[str, Reading]:
        """Return the current value and the legal values of every setting."""
        return await self._readings(snapshot.facts)

    async def _readings(self, device: BcacheFacts) -> Mapping[str, Reading]:
        paths = {setting.key: path for setting in SETTINGS if (path := device.path(setting.key)) is not None}
        reasons = await asyncio.gather(*map(self._host.writable, paths.values()))
        levels = await self._host.read_many([f"/sys/block/{name}/md/level" for name in device.caches])
        redundant = 0 < len(levels) == len(device.caches) and _REDUNDANT.issuperset(levels.values())
        return readings(device, dict(zip(paths, reasons, strict=True)), redundant=redundant)

    def identity_of(self, snapshot: BcacheSnapshot, key: str) -> Identity:
        """Return the identity of the kernel's disk."""
        return identity(snapshot.node)

    async def lock_for(self, snapshot: BcacheSnapshot, key: str) -> str:
        """Return the name of the disk's lock.

        Several devices share a cache set. For a setting of the set, return the set's lock and the disk's, one per line.
        """
        lock = await lock_of(self._host, snapshot.facts.name)
        return f"bcache-{snapshot.facts.set_uuid}\n{lock}" if key in OF_SET else lock

    def steps(
        self, snapshot: BcacheSnapshot, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the step that writes `value` to the file of the setting, which belongs to the device or its current
        cache set.
        """
        return (ChangeStep(path=snapshot.facts.path(key), text=kernel_word(key, value)),)

    def check(self, setting: Setting, now: Reading, value: str) -> str:
        """Return the value in canonical form; see `wanted_value`."""
        return wanted_value(setting, now, value)

    def check_restorable(self, snapshot: BcacheSnapshot, setting: Setting, now: Reading, value: str) -> str:
        """Return the old value in canonical form; see `value_before`."""
        return value_before(setting, now, value)

    def finished(
        self, snapshot: BcacheSnapshot, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """Return the change with the value that the kernel will report after the requested value was written."""
        after = value_afterwards(request.setting.key, request.value)
        return replace(change, after=after, asked=request.value if after != request.value else "")

    def require_steps(self, snapshot: BcacheSnapshot, change: Change) -> None:
        """Raise RefusedError unless each step writes the file of the setting that the change sets."""
        path = snapshot.facts.path(change.key)
        for step in change.writes:
            if path is None or step.path != path:
                raise RefusedError(
                    f"Refusing to write {clean(step.shown(), 200)}: it is not {change.key} of {change.target}."
                )

    async def require_unchanged_target(self, snapshot: BcacheSnapshot, change: Change) -> None:
        """Raise an error unless the target is still the same device with the same cache set."""
        present = await self.read_state(change.target)
        require_same_device(change, self.identity_of(present, change.key))
        self.require_steps(present, change)

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """Return the udev rules file with the rule for this device replaced and all other lines kept."""
        device, node = await self._device(target), await self._node(target)
        now = await self._readings(device) if values else {}
        legal: dict[str, str] = {}
        for key, value in values.items():
            setting = setting_of(SETTINGS, target, key)
            if key not in KEPT:
                where = "cache set, which may appear after the device" if key in OF_SET else "superblock"
                raise BlockedError(f"{setting.label} cannot be persisted by a udev rule: it belongs to the {where}.")
            legal[key] = kernel_word(key, wanted_value(setting, now[key], value))
        match = match_keys(node)
        require_unique(node, match, await read_tree(self._host))
        actions = tuple(attribute_assignment(f"bcache/{key}", legal[key]) for key in KEPT if key in legal)
        return await RULES.rule(self._host, node.device, match, actions, legal)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem for each bcache disk that the kernel has not started because its cache is missing."""
        files = [await self._host.list(f"/sys/block/{pattern}/bcache/running") for pattern in ("*", "*/*")]
        texts = await self._host.read_many([path for file in files for path in file])
        waiting = [path.split("/")[-3] for path, text in texts.items() if text == "0"]
        message = "waits for its bcache cache device"
        hint = "Connect the cache device. If the disk runs without it, data that is only in the cache is lost."
        return tuple(Problem(where=NAME, message=f"{node_path(name)} {message}.", hint=hint) for name in waiting)

    async def _device(self, target: Target) -> BcacheFacts:
        name = target.address
        if target.backend != NAME or not name.startswith("bcache") or not name.isalnum():
            raise not_found_error(target)
        facts = next((device for device in await read_devices(self._host) if device.name == name), None)
        if facts is None:
            raise gone_error(target)
        return facts

    async def _node(self, target: Target) -> Node:
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone_error(target)
        return node
