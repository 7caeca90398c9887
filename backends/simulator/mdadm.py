"""Simulated mdadm: reports, creates, changes and stops md arrays.

Refusals and questions of `--create` were recorded with mdadm 4.2 on Linux 6.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from backends.simulator.md_array import OFFSET_COPIES, OFFSET_SECTORS, MdArray, MdMember, component_of
from backends.simulator.profiles import HOSTS
from backends.simulator.rack import Rack
from backends.simulator.tool_output import SimulatedOutput, format_time
from backends.values import dataclass

_COPIES = re.compile(r"([nfo])(\d{1,3})", re.ASCII)
"""Pattern of a RAID 10's layout argument, such as `n2`: two near copies (mdadm's parse_layout_10)."""

_USUAL_LAYOUT = {"raid5": 2, "raid6": 2, "raid10": 258}
"""The kernel's default layout numbers: left-symmetric parity, and two near copies for RAID 10."""

_MOST_COPIES = 200
"""Maximum number of copies in a RAID 10 (parse_layout_10)."""

_LEVELS = {"0": "raid0", "1": "raid1", "5": "raid5", "6": "raid6", "10": "raid10", "stripe": "raid0", "mirror": "raid1"}
"""The kernel's names of the levels, by the number or alias that mdadm accepts."""

_LEAST = {"raid0": 1, "raid1": 1, "raid5": 2, "raid6": 4, "raid10": 2}
"""Minimum number of members (Create.c)."""

_CHUNK = 512 << 10
"""Default chunk size in bytes (mdadm(8), --chunk)."""

_LARGE_KIB = 100 << 20
"""Member size in KiB above which a redundant array has a bitmap by default (Create.c)."""

_CREATE_SECONDS, _SHORT = 0.7, 0.3
"""Durations of `--create` and of other changes in seconds."""

_BUSY = "Device or resource busy"

_BOOT = (
    "mdadm: Note: this array has metadata at the start and\n"
    "    may not be suitable as a boot device.  If you plan to\n"
    "    store '/boot' on this device please ensure that\n"
    "    your boot-loader understands md/v1.x metadata, or use\n"
    "    --metadata=0.90\n"
)
"""Note that mdadm prints for a mirror."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MdRequest:
    """Arguments of `--create`."""

    name: str
    """Kernel name of the new array."""
    members: tuple[str, ...]
    """Kernel names of the members."""
    options: Mapping[str, str]
    """Options of the form `--key=value`."""
    flags: frozenset[str]
    """Options of the form `--key`."""

    @property
    def level(self) -> str:
        """RAID level, by the kernel's name."""
        word = self.options.get("level", "raid1")
        return _LEVELS.get(word, word)

    @property
    def layout(self) -> int | None:
        """Kernel's layout number, or None for a layout that the level does not have."""
        word = self.options.get("layout")
        if word is None:
            return _USUAL_LAYOUT.get(self.level, 0)
        match = _COPIES.fullmatch(word)
        if self.level != "raid10" or match is None or not 1 <= int(match[2]) <= _MOST_COPIES:
            return None
        copies = int(match[2])
        return copies | 1 << 8 if match[1] == "n" else copies << 8 | 1 | (OFFSET_COPIES if match[1] == "o" else 0)

    @property
    def chunk(self) -> int | None:
        """Chunk size in bytes, 0 for a level without chunks, or None for an invalid size."""
        if self.level == "raid1":
            return 0
        text = self.options.get("chunk", f"{_CHUNK // 1024}K")
        match = re.fullmatch(r"(\d{1,9})([KM]?)", text)
        size = int(match[1]) << (20 if match[2] == "M" else 10) if match is not None else 0
        return size if size and size % 4096 == 0 else None


def refuse(text: str, code: int = 1) -> SimulatedOutput:
    """Return the output of a refused command."""
    return SimulatedOutput(text=f"mdadm: {text}\n", code=code)


def create_array(rack: Rack, request: MdRequest) -> SimulatedOutput:
    """Run `--create`. If mdadm would have to ask a question, the command is aborted."""
    refusal = _request_refusal(request) or _device_refusal(rack, request)
    if refusal is not None:
        return refusal
    warnings = "".join(_warning_text(rack, member) for member in request.members)
    warnings += _BOOT if request.level == "raid1" else ""
    if warnings and "run" not in request.flags:
        return SimulatedOutput(text=f"{warnings}Continue creating array? mdadm: create aborted.\n", code=1)
    array = _new_array(rack, request)
    for member in request.members:
        rack.overwrite(member)
    rack.md[array.name] = array
    return SimulatedOutput(text=f"{warnings}mdadm: array /dev/{array.name} started.\n", seconds=_CREATE_SECONDS)


def stop_array(rack: Rack, name: str) -> SimulatedOutput:
    """Run `--stop`, which leaves only the superblocks on the members."""
    array = rack.md.get(name)
    if array is None:
        return refuse(f"error opening /dev/{name}: No such file or directory")
    if holder(rack, name) is not None or _mount_point(rack, name) is not None:
        return refuse(
            f"Cannot get exclusive access to /dev/{name}:Perhaps a running process, mounted filesystem or active "
            "volume group?"
        )
    array.work = ""
    del rack.md[name]
    rack.stopped[array.uuid] = array
    rack.forget_disk(name)
    return SimulatedOutput(text=f"mdadm: stopped /dev/{name}\n", seconds=_SHORT)


def zero_superblocks(rack: Rack, names: Sequence[str]) -> SimulatedOutput:
    """Run `--zero-superblock` on each device."""
    lines: list[str] = []
    code = 0
    for name in names:
        if _member_bytes(rack, name) is None or holder(rack, name) is not None or _mount_point(rack, name) is not None:
            lines.append(f"mdadm: Couldn't open /dev/{name} for write - not zeroing\n")
            code = 2
        elif rack.superblock(name) is None:
            lines.append(f"mdadm: Unrecognised md component device - /dev/{name}\n")
        else:
            rack.forget_superblock(name)
    return SimulatedOutput(text="".join(lines), code=code, seconds=_SHORT)


def holder(rack: Rack, name: str) -> str | None:
    """Return the array, cache, volume group or pool that a device belongs to, or None."""
    built = {array.name: [member.name for member in array.members] for array in rack.md.values()}
    built |= {device.name: [device.backing, device.cache] for device in rack.bcache.values()}
    built |= {group.name: list(group.places) for group in rack.lvm.values()}
    built |= {pool.name: list(pool.disks) for pool in rack.pools.values()}
    return next((owner for owner, members in built.items() if name in members), None)


def _request_refusal(request: MdRequest) -> SimulatedOutput | None:
    """Return mdadm's refusal of arguments that are wrong whatever the devices are, or None."""
    level, count_text = request.level, request.options.get("raid-devices", "")
    if level not in _LEAST:
        return refuse(f"invalid raid level: {request.options['level']}", 2)
    if request.chunk is None:
        return refuse(f"invalid chunk/rounding value: {request.options['chunk']}", 2)
    if not count_text.isdecimal():
        return refuse("number of raid devices must be given with --raid-devices when creating an array", 2)
    expected, count = int(count_text), len(request.members)
    if (layout := request.layout) is None:
        word = request.options["layout"]
        if level != "raid10":
            return refuse(f"layout {word} not understood for {level}.", 2)
        return refuse(f"layout for raid10 must be 'nNN', 'oNN' or 'fNN' where NN is a number, not {word}", 2)
    copies = max(layout & 0xFF, 1) * max(layout >> 8 & 0xFF, 1) if level == "raid10" else 1
    if expected < copies:
        return refuse(f"that layout requires at least {copies} devices")
    if expected < _LEAST[level]:
        return refuse(f"at least {_LEAST[level]} raid-devices needed for level {level.removeprefix('raid')}")
    if count < expected:
        return refuse("You haven't given enough devices (real or missing) to create this array")
    if count > expected:
        return refuse(f"You have listed more devices ({count}) than are in the array({expected})!")
    return None


def _device_refusal(rack: Rack, request: MdRequest) -> SimulatedOutput | None:
    """Return mdadm's refusal of the devices, or None."""
    if request.name in rack.md:
        return refuse(f"/dev/{request.name} is already in use.")
    checked: set[str] = set()
    for member in request.members:
        if _member_bytes(rack, member) is None:
            return refuse(f"cannot open /dev/{member}: No such file or directory", 2)
        if member in checked or holder(rack, member) is not None:
            return refuse(f"cannot open /dev/{member}: {_BUSY}", 2)
        checked.add(member)
        if _mount_point(rack, member) is not None:
            text = f"super1.x cannot open /dev/{member}: {_BUSY}"
            unfit = f"mdadm: /dev/{member} is not suitable for this array."
            return refuse(f"{text}\n{unfit}\nmdadm: create aborted")
    return None


def _member_bytes(rack: Rack, name: str) -> int | None:
    """Return the size in bytes of a device that can be a member of an array; None for any other or unknown device."""
    if (array := rack.md.get(name)) is not None:
        return array.size_bytes
    drive = rack.drive(name)
    return None if drive is None else drive.size_bytes


def _mount_point(rack: Rack, name: str) -> str | None:
    return next((content.mount for device, content in rack.contents() if device == name), None)


def _warning_text(rack: Rack, name: str) -> str:
    """Return the warning about an ext filesystem, md metadata or a partition table. mdadm ignores LVM, LUKS, btrfs."""
    array = rack.superblock(name)
    content = rack.lying.get(name)
    if array is not None:
        about = f"level={array.level} devices={len(array.members)} ctime={_time_text(array.created)}"
        return f"mdadm: /dev/{name} appears to be part of a raid array:\n       {about}\n"
    if content is not None and content.table is not None:
        return f"mdadm: partition table exists on /dev/{name}\n"
    if content is not None and content.filesystem in ("ext2", "ext3", "ext4"):
        about = f"size={(_member_bytes(rack, name) or 0) // 1024}K  mtime={_time_text(0.0)}"
        return f"mdadm: /dev/{name} appears to contain an ext2fs file system\n       {about}\n"
    return ""


def _new_array(rack: Rack, request: MdRequest) -> MdArray:
    options, level, chunk = request.options, request.level, request.chunk or 0
    largest = component_of(min(_member_bytes(rack, member) or 0 for member in request.members))
    component = int(options.get("size", "0K").removesuffix("K")) or largest
    rack.made += 1
    digits = options.get("uuid", f"{rack.made:032x}").replace(":", "").replace("-", "")
    name = options.get("name", request.name.removeprefix("md"))
    bitmap = options.get("bitmap", "internal" if component >= _LARGE_KIB else "none")
    array = MdArray(
        name=request.name,
        label=name if ":" in name else f"{options.get('homehost', HOSTS[rack.name])}:{name}",
        uuid=f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}",
        level=level,
        members=[MdMember(name=member) for member in request.members],
        component_kib=component // (chunk // 1024) * (chunk // 1024) if chunk else component,
        chunk=chunk,
        layout=request.layout or 0,
        bitmap=level != "raid0" and bitmap == "internal",
        sequence=rack.made,
        created=rack.now(),
    )
    if array.redundant and "assume-clean" not in request.flags:
        array.begin("recover" if level == "raid5" else "resync", rack.now())
    return array


_OPTION = re.compile(r"--([a-z-]+)=(.*)")
_FLAG = re.compile(r"--([a-z-]+)")

_QUICK = 0.02
"""Duration of a read-only command in seconds."""


def mdadm_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run mdadm and return its output."""
    verb, *rest = args or ("",)
    devices = tuple(word.removeprefix("/dev/") for word in rest if word.startswith("/dev/"))
    options = {match[1]: match[2] for word in rest if (match := _OPTION.fullmatch(word))}
    flags = frozenset(match[1] for word in rest if (match := _FLAG.fullmatch(word)))
    name = devices[0] if devices else ""
    match verb:
        case "--create":
            return create_array(rack, MdRequest(name=name, members=devices[1:], options=options, flags=flags))
        case "--stop":
            return stop_array(rack, name)
        case "--zero-superblock" if devices:
            return zero_superblocks(rack, devices)
        case "--examine" if devices:
            return _examine(rack, devices, export="export" in flags)
        case "--detail" | "--grow" if name not in rack.md:
            doing = "cannot open" if verb == "--detail" else "error opening"
            return refuse(f"{doing} /dev/{name}: No such file or directory")
        case "--detail" if "export" in flags:
            return _export(rack.md[name])
        case "--grow":
            return _grow(rack, rack.md[name], options)
        case _:
            return refuse(f"{verb} is not known here")


def mdadm_uuid(uuid: str) -> str:
    """Return the kernel's UUID as mdadm formats it."""
    digits = uuid.replace("-", "")
    return ":".join(digits[at : at + 8] for at in range(0, 32, 8))


def _export(array: MdArray) -> SimulatedOutput:
    rows = {
        "MD_LEVEL": array.level,
        "MD_DEVICES": str(len(array.members)),
        "MD_METADATA": "1.2",
        "MD_UUID": mdadm_uuid(array.uuid),
        "MD_NAME": array.label,
    }
    for slot, member in enumerate(array.members):
        prefix = f"MD_DEVICE_dev_{member.name}"
        rows |= {f"{prefix}_ROLE": str(slot), f"{prefix}_DEV": f"/dev/{member.name}"}
    return SimulatedOutput(text="".join(f"{key}={value}\n" for key, value in rows.items()), seconds=_QUICK)


def _examine(rack: Rack, names: Sequence[str], *, export: bool) -> SimulatedOutput:
    """Return the output of `--examine` for devices. Members of a stopped array still have their metadata."""
    answers = [_metadata(rack, name, export=export) for name in names]
    return SimulatedOutput(
        text="".join(output.text for output in answers),
        code=max(output.code for output in answers),
        seconds=_QUICK,
    )


def _metadata(rack: Rack, name: str, *, export: bool) -> SimulatedOutput:
    array = rack.superblock(name)
    if array is None:
        return refuse(f"No md superblock detected on /dev/{name}.")
    slot = next(at for at, member in enumerate(array.members) if member.name == name)
    device_uuid = mdadm_uuid(blake2b(f"{array.uuid} {slot}".encode(), digest_size=16).hexdigest())
    if export:
        fields = {
            "MD_LEVEL": array.level,
            "MD_DEVICES": len(array.members),
            "MD_NAME": array.label,
            "MD_ARRAY_SIZE": f"{array.size_bytes / 1e9:.2f}GB",
            "MD_UUID": mdadm_uuid(array.uuid),
            "MD_UPDATE_TIME": int(array.created),
            "MD_DEV_UUID": device_uuid,
            "MD_EVENTS": 18,
        }
        return SimulatedOutput(text="".join(f"{key}={value}\n" for key, value in fields.items()))
    rows = [
        ("Version", "1.2"),
        ("Array UUID", mdadm_uuid(array.uuid)),
        ("Name", array.label),
        ("Creation Time", _time_text(array.created)),
        ("Raid Level", array.level),
        ("Raid Devices", str(len(array.members))),
        ("Data Offset", f"{OFFSET_SECTORS} sectors"),
        ("Unused Space", f"before={OFFSET_SECTORS - 88} sectors, after=0 sectors"),
        ("Device UUID", device_uuid),
        *_geometry(array),
        ("Device Role", f"Active device {slot}"),
        ("Array State", f"{'A' * len(array.members)} ('A' == active, '.' == missing, 'R' == replacing)"),
    ]
    return SimulatedOutput(text=f"/dev/{name}:\n" + "".join(f"{key:>15} : {value}\n" for key, value in rows))


def _geometry(array: MdArray) -> list[tuple[str, str]]:
    """Return the rows with layout and chunk size as pairs of heading and value; [] for a level without chunks."""
    if not array.chunk:
        return []
    layout = "left-symmetric" if array.level in ("raid5", "raid6") else f"{array.arrangement}={array.copies}"
    shown = [] if array.level == "raid0" else [("Layout", layout)]
    return [*shown, ("Chunk Size", f"{array.chunk // 1024}K")]


def _time_text(seconds: float) -> str:
    return format_time(seconds, "%a %b %d %H:%M:%S %Y")


def _grow(rack: Rack, array: MdArray, options: dict[str, str]) -> SimulatedOutput:
    """Run `--grow`: change the bitmap or the chunk size."""
    if bitmap := options.get("bitmap"):
        array.bitmap = bitmap == "internal"
        return SimulatedOutput(text="", seconds=0.2)
    if chunk := options.get("chunk"):
        if array.work:
            return refuse(f"/dev/{array.name} is performing resync/recovery and cannot be reshaped")
        if array.level != "raid0" and (array.level != "raid10" or array.layout >> 8 != 1):
            return refuse("Cannot change chunk size of this array")
        array.old_chunk, array.chunk = array.chunk, int(chunk.removesuffix("K")) * 1024
        array.begin("reshape", rack.now())
        return SimulatedOutput(text="", seconds=0.5)
    return refuse("nothing that this array can be changed in was named")
