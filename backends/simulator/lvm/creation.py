"""Simulated lvcreate and lvremove. Refusals and questions were recorded with LVM 2.03.16 on Linux 6.1."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from backends.simulator.lvm.answer import free_extents
from backends.simulator.lvm.volumes import EXTENT, RAIDS, LvmGroup, LvmVolume, lvm_uuid
from backends.simulator.rack import Rack
from backends.simulator.tool_output import SimulatedOutput
from backends.values import dataclass

_FLAGS = ("--yes", "--nosync")
_KINDS = ("striped", *RAIDS)
_SPARED = {"raid5": 1, "raid6": 2}
"""Number of images whose space is used for parity, by RAID level."""

_LEAST_STRIPES = {"raid5": 2, "raid6": 3}

_SECONDS = 0.6
_FIRST_NUMBER = 40
"""First device number of new volumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LvRequest:
    """Parsed arguments of a command."""

    flags: frozenset[str]
    """Options without a value."""
    options: Mapping[str, str]
    """Options with a value."""
    rest: tuple[str, ...]
    """Positional arguments."""


def _request(args: Sequence[str]) -> LvRequest:
    flags, options, rest = set[str](), dict[str, str](), list[str]()
    remaining = list(args)
    while remaining:
        word = remaining.pop(0)
        if word in _FLAGS:
            flags.add(word)
        elif word.startswith("--") and remaining:
            options[word] = remaining.pop(0)
        else:
            rest.append(word)
    return LvRequest(flags=frozenset(flags), options=options, rest=tuple(rest))


def _refuse(text: str, code: int = 5) -> SimulatedOutput:
    return SimulatedOutput(text="".join(f"  {line}\n" for line in text.splitlines()), code=code)


def lvcreate_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run lvcreate: create a volume on free extents of a group."""
    request = _request(args)
    options = request.options
    group = rack.lvm.get(request.rest[0]) if request.rest else None
    if group is None:
        name = request.rest[0] if request.rest else ""
        return _refuse(f'Volume group "{name}" not found\nCannot process volume group {name}')
    if (refusal := _group_refusal(group)) is not None:
        return refusal
    kind, name, devices = options.get("--type", "linear"), options.get("--name", ""), _places(group, request)
    if kind not in _KINDS:
        return _refuse("No command with matching syntax recognised.", 3)
    if kind == "raid6" and "--nosync" in request.flags:
        return _refuse("nosync option prohibited on RAID6.\nRun `lvcreate --help' for more information.", 3)
    stripes = int(options.get("--stripes", "1"))
    if stripes < _LEAST_STRIPES.get(kind, 1):
        return _refuse(f"Minimum of {_LEAST_STRIPES[kind]} stripes required for {kind}.", 3)
    if any(volume.name == name for volume in group.volumes):
        return _refuse(f'Logical Volume "{name}" already exists in volume group "{group.name}"')
    count = stripes * (1 + int(options.get("--mirrors", "0"))) + _SPARED.get(kind, 0)
    extents = int(options.get("--extents", "0"))
    share = -(-extents // (stripes if kind != "raid1" else 1))
    with_space = [device for device in devices if free_extents(rack, group, device) >= share + (kind in RAIDS)]
    if len(with_space) < count:
        needed = extents if kind == "striped" else share * count
        available = sum(free_extents(rack, group, device) for device in devices)
        return _refuse(
            "No specified PVs have space available."
            if not available
            else f"Insufficient suitable allocatable extents for logical volume {name}: {needed} more required"
        )
    if (former := group.former.get(with_space[0])) is not None and "--yes" not in request.flags:
        return SimulatedOutput(text=_wipe_question(group, name, former), code=5)
    wiped = f"  Wiping {group.former.pop(with_space[0])} signature on /dev/{group.name}/{name}.\n" if former else ""
    group.volumes.append(_volume(rack, group, request, kind, with_space[:count], extents))
    warning = "  WARNING: New raid5 won't be synchronised. Don't read what you didn't write!\n"
    nosync_warning = warning if kind == "raid5" and "--nosync" in request.flags else ""
    return SimulatedOutput(text=f'{wiped}{nosync_warning}  Logical volume "{name}" created.\n', seconds=_SECONDS)


def _group_refusal(group: LvmGroup) -> SimulatedOutput | None:
    """Return LVM's refusal to change a group, or None."""
    fields = group.refuses
    if fields.get("vg_exported"):
        return _refuse(f"Volume group {group.name} is exported")
    if fields.get("vg_partial"):
        return _refuse(f"Cannot change VG {group.name} while PVs are missing.")
    if fields.get("vg_permissions") == "read-only":
        return _refuse(f"Volume group {group.name} is read-only.")
    if fields.get("vg_lock_type"):
        return _refuse(f"Cannot access VG {group.name} with lock type {fields['vg_lock_type']} that requires lvmlockd.")
    if group.busy or any(volume.flush_to for volume in group.volumes):
        busy = f"/run/lock/lvm/V_{group.name}: flock failed: Resource temporarily unavailable"
        return _refuse(f"{busy}\nCan't get lock for {group.name}.\nCannot process volume group {group.name}")
    return None


def _places(group: LvmGroup, request: LvRequest) -> list[str]:
    """Return the group's physical volumes that are named in the arguments, or all of them if none is named."""
    named = [word.removeprefix("/dev/") for word in request.rest[1:]]
    return [device for device in named if device in group.places] or list(group.places)


def _wipe_question(group: LvmGroup, name: str, kind: str) -> str:
    device = f"/dev/{group.name}/{name}"
    return (
        f"WARNING: {kind} signature detected on {device} at offset 1080. Wipe it? [y/n]: [n]\n"
        f"  Aborted wiping of {kind}.\n  1 existing signature left on the device.\n"
        f"  Failed to wipe signatures on logical volume {group.name}/{name}.\n"
        "  Aborting. Failed to wipe start of new LV.\n"
    )


def _volume(rack: Rack, group: LvmGroup, request: LvRequest, kind: str, devices: list[str], extents: int) -> LvmVolume:
    rack.made += 1
    used_numbers = {node.number for volume in rack.logical_volumes() for node in volume.nodes(rack.now())}
    size = int(request.options.get("--stripesize", "64k").removesuffix("k")) * 1024
    return LvmVolume(
        name=request.options["--name"],
        kind=kind,
        size_bytes=extents * EXTENT,
        places=devices,
        number=max((*used_numbers, _FIRST_NUMBER - 1)) + 1,
        stripe_bytes=0 if kind == "raid1" else min(size, EXTENT),
        tag=request.options.get("--addtag", ""),
        uuid=lvm_uuid(f"{group.name}/{request.options['--name']} {rack.made}"),
    )


_SELECTED = re.compile(r"lv_uuid=(\S+) && lv_tags=(\S+) && lv_role!=origin")


def lvremove_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run lvremove. If `--select` does not match the volume, it silently does nothing."""
    request = _request(args)
    name = request.rest[0] if request.rest else ""
    group = rack.lvm.get(name.partition("/")[0])
    volume = (
        None
        if group is None
        else next((candidate for candidate in group.volumes if f"{group.name}/{candidate.name}" == name), None)
    )
    if group is None or volume is None:
        return _refuse(f'Failed to find logical volume "{name}"')
    if (refusal := _group_refusal(group)) is not None:
        return refusal
    if (output := request.options.get("--select")) is not None:
        match = _SELECTED.fullmatch(output)
        if match is None or (group.uuid_of(volume.name), volume.tag) != match.groups() or volume.snapshot:
            return SimulatedOutput(text="", seconds=_SECONDS)
    content = rack.lying.get(volume.device)
    if content is not None and content.mount is not None:
        return _refuse(f"Logical volume {name} contains a filesystem in use.")
    if "--yes" not in request.flags:
        question = f"Do you really want to remove active logical volume {name}? [y/n]: [n]\n"
        return SimulatedOutput(text=f"{question}  Logical volume {name} not removed.\n", code=5)
    group.volumes.remove(volume)
    if content is not None and content.filesystem:
        group.former[volume.places[0]] = content.filesystem
        del rack.lying[volume.device]
    for node in volume.nodes(rack.now()):
        rack.forget_disk(node.kernel)
    return SimulatedOutput(text=f'  Logical volume "{volume.name}" successfully removed.\n', seconds=_SECONDS)
