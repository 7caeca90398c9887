"""Find the targets of a plan, and read their settings and features, before the plan is expanded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field

from app.core.session.sweep_steps import NeededFeature
from app.core.workbench import Workbench
from app.features.sweep.engine.plan import PlanError, SweepPlan
from app.features.sweep.engine.raid_levels import PlannedArrays, plan_levels
from backends.did_you_mean import suggestion_hint
from backends.display_names import is_path
from backends.errors import NotFoundError
from backends.model import Array, Controller, Drive, Target
from backends.settings import Reading, Setting
from backends.text import clean
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingOwner:
    """A target with its current settings."""

    target: Target
    """The target."""
    settings: Mapping[str, Setting]
    """Settings that the target declares, by key."""
    readings: Mapping[str, Reading]
    """Current readings of the settings, by key."""


BY_OPTION = "Add --target {role}=ADDRESS."
"""How a user of the command line names the target of a role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    """The facts about the machine that are needed to expand a sweep plan."""

    addresses: Mapping[str, str]
    """Addresses by role. Roles without an address, or with an absent one, are left out."""
    devices: Mapping[str, str] = field(default_factory=dict)
    """Block device, or path of a scratch file, by role."""
    holders: Mapping[str, tuple[SettingOwner, ...]] = field(default_factory=dict)
    """Owners of settings by role: the target itself, then its block device in Linux, if that is a separate target."""
    features: Mapping[str, NeededFeature] = field(default_factory=dict)
    """The features in the plan by name, with their present state."""
    arrays: PlannedArrays | None = None
    """Arrays that the plan's level axis creates on this machine; None without a level axis."""
    can_restart: bool = False
    """Whether raidbench may restart the host during the sweep. This is only true of simulated hosts."""
    naming: str = BY_OPTION
    """How the user names the target of a role, as a sentence."""

    def holder(self, role: str, key: str) -> SettingOwner | None:
        """Return the target that has the setting `key` for a role; None if neither the target nor its block device has
        it.
        """
        return next((owner for owner in self.holders.get(role, ()) if key in owner.readings), None)


async def inspect_targets(
    bench: Workbench, plan: SweepPlan, named: Mapping[str, str], *, naming: str = BY_OPTION
) -> TargetFacts:
    """Find every target of the plan and read its settings, without changing anything. `named` has the addresses by role
    that the user specified; `naming` is a sentence that says how.

    Addresses in the plan that this machine lacks are skipped, unless it lacks all of them. Raises PlanError for an
    unknown role, NotFoundError for a target that does not exist, DeviceGoneError or ToolFailedError when one cannot be
    read.
    """
    if plan.levels is not None and plan.levels.role in named:
        raise PlanError(
            f"{plan.levels.role} is created by the sweep and cannot be set with --target.",
            hint="Specify its drives in the plan, or with --drives.",
        )
    for role in named:
        if role not in plan.targets:
            raise PlanError(
                f"The plan has no target {clean(role, 40)!r}.",
                hint=suggestion_hint(role, plan.targets, f"Available: {', '.join(plan.targets) or 'none'}."),
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
            device = await _find_device(bench, address)
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
                read[target] = await _read_owner(bench, target)
        holders[role] = tuple(read[target] for target in targets)
    if absent and not matches:
        raise absent[0]
    return TargetFacts(
        naming=naming,
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


async def _find_device(bench: Workbench, address: str) -> Controller | Array | Drive | None:
    """Return the device at an address; None for a scratch file or another block device, which have no settings. Raises
    NotFoundError when there is nothing at the address.
    """
    try:
        return await bench.hardware.find(address)
    except NotFoundError:
        if is_path(address):
            return None
        if address.startswith("/dev/") and await bench.host.stat(address) is not None:
            return None  # a partition or logical volume: it can be measured, but has no settings
        raise


def _path(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


async def _read_owner(bench: Workbench, target: Target) -> SettingOwner:
    return SettingOwner(
        target=target,
        settings={setting.key: setting for setting in bench.hardware.settings(target)},
        readings=await bench.hardware.read(target),
    )


def is_active(device: Controller | Array | Drive | None, name: str) -> bool:
    """Return whether a controller has an active feature of this name."""
    if not isinstance(device, Controller):
        return False
    return any(name.lower() in feature.name.lower() and feature.state == "active" for feature in device.features)
