"""What has to be known of the machine before a plan can be spread out: targets, their settings now, features."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field

from app.core.fio.sizes import parse_size
from app.core.session.sweep_steps import NeededFeature
from app.core.workbench import Workbench
from app.features.sweep.engine.plan import PlanError, SweepPlan
from app.features.sweep.engine.raid_levels import PlannedArrays, plan_levels
from backends.did_you_mean import suggestion_hint
from backends.display_names import is_path
from backends.errors import InvalidValueError, NotFoundError
from backends.model import Array, Controller, Drive, Target
from backends.settings import Reading, Setting, check_value
from backends.text import clean
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingOwner:
    """A thing that has settings, as read just now."""

    target: Target
    """Which."""
    settings: Mapping[str, Setting]
    """As declared, by key."""
    readings: Mapping[str, Reading]
    """Their values, by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    """The machine as far as a plan is concerned."""

    addresses: Mapping[str, str]
    """What each role stands for; roles that nobody named are left out."""
    devices: Mapping[str, str] = field(default_factory=dict)
    """Block device node or path of each role that has one."""
    holders: Mapping[str, tuple[SettingOwner, ...]] = field(default_factory=dict)
    """What has the settings of a role: itself, then the request queue that it is to the kernel."""
    features: Mapping[str, NeededFeature] = field(default_factory=dict)
    """Features of the plan by name, as they are now."""
    arrays: PlannedArrays | None = None
    """What the plan's axis of levels makes here."""
    can_restart: bool = False
    """Whether the machine may be restarted in the middle: only one that is simulated."""

    def holder(self, role: str, key: str) -> SettingOwner | None:
        """What has the setting `key` of a role; None if nothing has."""
        return next((owner for owner in self.holders.get(role, ()) if key in owner.readings), None)


def legal_value(setting: Setting, reading: Reading, value: str) -> str:
    """The value in the backend's words; sizes may be written `64k`. Raises InvalidValueError naming the legal ones."""
    try:
        return check_value(setting, reading, value)
    except InvalidValueError as error:
        try:
            return check_value(setting, reading, str(parse_size(value)))
        except InvalidValueError:
            raise error from None


async def inspect_targets(bench: Workbench, plan: SweepPlan, named: Mapping[str, str]) -> TargetFacts:
    """Find every target of the plan and read its settings; changes nothing.

    What the plan itself names and this machine does not have is as if nobody had named it, unless it has none of that.
    Raises PlanError, NotFoundError, DeviceGoneError, ToolFailedError.
    """
    if plan.levels is not None and plan.levels.role in named:
        raise PlanError(
            f"{plan.levels.role} is what the sweep makes: no --target says where it is.",
            hint="Name its drives in the plan, or with --drives.",
        )
    for role in named:
        if role not in plan.targets:
            raise PlanError(
                f"The plan has no target {clean(role, 40)!r}.",
                hint=suggestion_hint(role, plan.targets, f"It has: {', '.join(plan.targets) or 'none'}."),
            )
    addresses = {role: named.get(role, address) for role, address in plan.targets.items()}
    matches: dict[str, str] = {}
    devices: dict[str, str] = {}
    holders: dict[str, tuple[SettingOwner, ...]] = {}
    things: dict[str, Controller | Array | Drive] = {}
    read: dict[Target, SettingOwner] = {}
    absent: list[NotFoundError] = []
    for role, address in addresses.items():
        if not address:
            continue
        try:
            device = await _thing(bench, address)
        except NotFoundError as error:
            if role in named:
                raise
            absent.append(error)
            continue
        if device is None:
            matches[role] = devices[role] = _path(address)
            continue
        things[role], matches[role] = device, str(device.target)
        if not isinstance(device, Controller) and device.device is not None:
            devices[role] = device.device
        twin = bench.session.inventory.twin(device)
        targets = [device.target] if twin is None else [device.target, twin.target]
        for target in targets:
            if target not in read:
                read[target] = await _holder(bench, target)
        holders[role] = tuple(read[target] for target in targets)
    if absent and not matches:
        raise absent[0]
    return TargetFacts(
        addresses=matches,
        arrays=None if plan.levels is None else await plan_levels(bench, plan.levels),
        devices=devices,
        holders=holders,
        features={
            name: NeededFeature(name=name, target=owner.target, active=is_active(owner, name), key=feature.key)
            for name, feature in plan.features.items()
            if (owner := things.get(feature.target)) is not None
        },
        can_restart=bench.restarts is not None,
    )


async def _thing(bench: Workbench, address: str) -> Controller | Array | Drive | None:
    """What the address names; None for a path that is to be a scratch file. Raises NotFoundError."""
    try:
        return await bench.hardware.find(address)
    except NotFoundError:
        if is_path(address):
            return None
        if address.startswith("/dev/") and await bench.host.stat(address) is not None:
            return None  # a partition or volume
        raise


def _path(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


async def _holder(bench: Workbench, target: Target) -> SettingOwner:
    return SettingOwner(
        target=target,
        settings={setting.key: setting for setting in bench.hardware.settings(target)},
        readings=await bench.hardware.read(target),
    )


def is_active(device: Controller | Array | Drive | None, name: str) -> bool:
    """Whether a controller has the feature in force."""
    if not isinstance(device, Controller):
        return False
    return any(name.lower() in feature.name.lower() and feature.state == "active" for feature in device.features)
