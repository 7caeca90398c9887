"""Backend for the kernel's disks: inventory, and reading and changing of settings, through sysfs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.change_steps import (
    RequestedValue,
    gone_error,
    lock_of,
    not_found_error,
    requested_value,
    require_companions,
    require_same_device,
    run_steps,
    setting_of,
    validated_old_value,
)
from backends.errors import RefusedError, ToolFailedError
from backends.host import Host
from backends.model import Inventory, Problem, Target
from backends.protocol import PersistRule
from backends.settings import Reading, Setting, check_value, is_understood
from backends.text import clean
from backends.topology import Node, read_tree, scan_topology
from backends.topology.device_identity import identity
from backends.topology.tree import page_bytes, read_node
from backends.udev import match_keys, require_unique
from backends.vendors.block.drives import drive, is_drive
from backends.vendors.block.settings import BY_KEY, RULES, SIDE_EFFECTS, actions, in_order, resets_to, settings_of
from backends.vendors.block.values import (
    fitting_companions,
    kernel_text,
    reading,
    require_size,
    scheduler_file,
    value_afterwards,
)

NAME = "block"
"""Prefix of this backend's targets."""

_EXTRA_ATTRIBUTES = ("max_hw_sectors_kb", "logical_block_size", "rotational", "optimal_io_size")
"""Queue attributes that determine legal values and the kernel's defaults. They are read along with the settings."""

_TUNABLE = re.compile(r"iosched/[a-z][a-z0-9_]{0,40}")
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)


class BlockBackend:
    """Backend for all disks of a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._page: int | None = None

    async def inventory(self) -> Inventory:
        """Return all disks, sorted by name."""
        picture = await scan_topology(self._host)
        nodes = sorted(filter(is_drive, picture.tree.nodes.values()), key=lambda node: (len(node.name), node.name))
        problems = [Problem(where=NAME, message=f"{text.capitalize()}.") for text in picture.blind]
        if not picture.tree.nodes:
            problems.append(
                Problem(where=NAME, message="/sys/block lists no device.", hint="Check that /sys is mounted.")
            )
        return Inventory(drives=tuple(drive(node, picture) for node in nodes), problems=tuple(problems))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings that a disk may have. If the disk lacks one, its reading is blocked."""
        return settings_of(target.address) if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the current readings of all settings."""
        name = await self._name(target)
        return await self._readings(name, await self._attributes(name))

    async def _readings(self, name: str, attributes: Mapping[str, str]) -> Mapping[str, Reading]:
        folder = _queue(name)
        declared = settings_of(name)
        reasons = await asyncio.gather(*(self._host.writable(f"{folder}/{setting.key}") for setting in declared))
        page = await self._page_kb()
        return {
            setting.key: reading(setting.key, attributes, why_not or _useless_reason(name, setting.key), page)
            for setting, why_not in zip(declared, reasons, strict=True)
        }

    async def _page_kb(self) -> int:
        """Return the kernel's page size in KiB."""
        if self._page is None:
            self._page = await page_bytes(self._host)
        return self._page // 1024

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, with the writes that undo it."""
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes in an order in which no change resets an earlier one.

        If the scheduler changes, the values of the other settings must be legal with the new scheduler.
        """
        settings = {key: setting_of(self.settings(target), target, key) for key in values}
        node = await self._node(target)
        attributes = await self._attributes(node.name)
        lock = await lock_of(self._host, node.name)
        changes: list[Change] = []
        for key in in_order(values):
            now = (await self._readings(node.name, attributes))[key]
            request = requested_value(target, settings[key], now, values[key])
            if key == "nr_requests" and "scheduler" in values:  # the new scheduler will have reset the current value
                require_size(request, attributes)
            changes.append(await self._plan(node, request, attributes, lock))
            attributes = _with_attribute(attributes, key, kernel_text(key, request.value), now)
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that restores `value`, then the companions, which the kernel had reset along with it."""
        setting = setting_of(self.settings(target), target, key)
        require_companions(target, key, companions, {name: _NUMBER for name in companions if _is_companion(key, name)})
        node = await self._node(target)
        attributes = await self._attributes(node.name)
        request = validated_old_value(target, setting, (await self._readings(node.name, attributes))[key], value)
        if key == "nr_requests" and request.value != request.now.now:
            require_size(request, attributes)
        change = await self._plan(node, request, attributes, await lock_of(self._host, node.name))
        if key == "scheduler":
            companions = fitting_companions(companions, request.value, attributes)
        return replace(change, writes=_revert_writes(node.name, key, request.value, companions))

    async def _plan(self, node: Node, request: RequestedValue, attributes: Mapping[str, str], lock: str) -> Change:
        key = request.setting.key
        companions = await self._companions(node.name, key, attributes)
        before = request.now.now
        undo = (
            _revert_writes(node.name, key, before, companions)
            if key in attributes and before is not None and is_understood(before)
            else ()
        )
        write = ChangeStep(path=f"{_queue(node.name)}/{key}", text=kernel_text(key, request.value))
        change = request.change((write,), undo, identity(node), lock)
        after = value_afterwards(key, request.value, attributes)
        requested = request.value if after != request.value else ""
        return replace(
            change,
            after=after,
            asked=requested,
            moves=SIDE_EFFECTS.get(key, ()),
            resets_to=resets_to(key, request.value, attributes, await self._page_kb()),
            companions=companions,
        )

    async def apply(self, change: Change) -> None:
        """Write the values of the change, after checking that the target is still the planned device."""
        _require_own_writes(change)
        await run_steps(change, self._write_step, same=lambda: self._require_same(change))

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """Return the udev rules file with the lines for this disk replaced and all other lines kept."""
        node = await self._node(target)
        declared = {key: setting_of(self.settings(target), target, key) for key in values}
        attributes = await self._attributes(node.name) if values else {}
        legal: dict[str, str] = {}
        for key in in_order(values):
            now = (await self._readings(node.name, attributes))[key]
            legal[key] = kernel_text(key, check_value(declared[key], now, values[key]))
            attributes = _with_attribute(attributes, key, legal[key], now)
        match = match_keys(node)
        require_unique(node, match, await read_tree(self._host))
        return await RULES.rule(self._host, node.device, match, actions(legal), legal)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return problems that prevent changing settings, persisting settings, or writing to raw devices."""
        problems: list[Problem] = []
        if not self._host.is_root:
            message = "Without root, raidbench can read settings but not change them, and cannot write to devices."
            problems.append(Problem(where=NAME, message=message, hint="Start raidbench with sudo."))
        missing = [tool for tool in ("blkid", "wipefs") if self._host.which((tool,)) is None]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            message = (
                f"{' and '.join(missing)} {verb} not installed, so raidbench cannot verify that a disk is empty. Every "
                "disk is treated as containing data."
            )
            problems.append(Problem(where=NAME, message=message, hint="Install util-linux."))
        if self._host.which(("udevadm",)) is None:
            message = "udevadm is not installed, so settings cannot be persisted by a udev rule."
            problems.append(
                Problem(where=NAME, message=message, hint="Set them at boot from a systemd unit or script.")
            )
        return tuple(problems)

    async def _write_step(self, step: ChangeStep) -> None:
        assert step.path is not None
        if "/iosched/" in step.path and step.path not in await self._host.list(f"{step.path.rpartition('/')[0]}/*"):
            raise ToolFailedError(f"the kernel has no {step.path.rpartition('/')[2]} with this scheduler")
        await self._host.write(step.path, step.text or "")

    async def _require_same(self, change: Change) -> None:
        require_same_device(change, identity(await self._node(change.target)))

    async def _companions(self, name: str, key: str, attributes: Mapping[str, str]) -> dict[str, str]:
        """Return the values to restore after the old value of `key`: settings that the kernel resets, and tunables of
        the scheduler.
        """
        folder = _queue(name)
        companions = {other: attributes[other] for other in SIDE_EFFECTS.get(key, ()) if other in attributes}
        if key != "scheduler":
            return companions
        tunables = await self._host.read_many(await self._host.list(f"{folder}/iosched/*"))
        return companions | {path.removeprefix(f"{folder}/"): text for path, text in sorted(tunables.items()) if text}

    async def _attributes(self, name: str) -> Mapping[str, str]:
        folder = _queue(name)
        names = (*BY_KEY, *_EXTRA_ATTRIBUTES)
        tags = f"/sys/block/{name}/mq/0/nr_tags"
        texts = await self._host.read_many([*(f"{folder}/{key}" for key in names), tags])
        attributes = {path.rsplit("/", 1)[1]: text for path, text in texts.items()}
        if not attributes:
            raise gone_error(Target(backend=NAME, address=name))
        return attributes

    async def _name(self, target: Target) -> str:
        """Return the kernel name of a target of this backend, which is safe as part of a path."""
        name = target.address
        if target.backend != NAME or not name or "/" in name or name.startswith("."):
            raise not_found_error(target)
        return name

    async def _node(self, target: Target) -> Node:
        node = await read_node(self._host, await self._name(target))
        if node is None:
            raise gone_error(target)
        return node


def _with_attribute(attributes: Mapping[str, str], key: str, text: str, now: Reading) -> Mapping[str, str]:
    """Return the attributes as they will be after `text` was written to the file of the setting `key`.

    `now`: its current reading.
    """
    return {**attributes, key: scheduler_file(now, text) if key == "scheduler" else text}


def _require_own_writes(change: Change) -> None:
    """Raise RefusedError unless each step of the change writes a file that belongs to the change's setting and disk."""
    front = f"{_queue(change.target.address)}/"
    for step in change.writes:
        attribute = (step.path or "").removeprefix(front)
        if step.path != front + attribute or not (attribute == change.key or _is_companion(change.key, attribute)):
            raise RefusedError(
                f"Refusing the change: the recorded step does not set {change.label} of {change.target}: "
                f"{clean(step.shown(), 200)}."
            )


def _is_companion(key: str, attribute: str) -> bool:
    """Return whether an undo of the setting `key` may also write the file `attribute`."""
    return attribute in SIDE_EFFECTS.get(key, ()) or (key == "scheduler" and _TUNABLE.fullmatch(attribute) is not None)


def _queue(name: str) -> str:
    return f"/sys/block/{name}/queue"


def _useless_reason(name: str, key: str) -> str | None:
    """Return the reason why a setting has no effect although the kernel offers it; None if it has one.

    For example, zram ignores write-back.
    """
    return "a RAM disk has no write cache" if key == "write_cache" and name.startswith(("zram", "ram")) else None


def _revert_writes(name: str, key: str, value: str, companions: Mapping[str, str]) -> tuple[ChangeStep, ...]:
    """Return the steps that write the setting `key` and then its companions.

    The order matters: writing the setting resets the companions, and tunables only exist with their scheduler.
    """
    reset = [other for other in SIDE_EFFECTS.get(key, ()) if other in companions]
    then = {other: companions[other] for other in (*reset, *sorted(set(companions) - set(reset)))}
    return tuple(
        ChangeStep(path=f"{_queue(name)}/{other}", text=text)
        for other, text in {key: kernel_text(key, value), **then}.items()
    )
