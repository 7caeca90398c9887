"""Read bcache devices from sysfs (folders of device, cache set and cache device), and convert them to `Array`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace

from backends.host import Host
from backends.model import Array, Fact, Level, Scope, State, Target
from backends.sizes import size_words
from backends.text import clean, parse_choices
from backends.tool_output import CompletenessCheck, unreadable_files_message
from backends.topology import Topology, node_path
from backends.topology.device_identity import identity
from backends.topology.tree import natural
from backends.values import dataclass
from backends.vendors.bcache.settings import CACHE_MODE, CHOICES, OF_SET, REPLACEMENT, SETTINGS

_SET = (*OF_SET, "bucket_size", "cache_available_percent")
_READ = (*(setting.key for setting in SETTINGS), *_SET[-2:], "state", "dirty_data", "label", "backing_dev_uuid")
WHOLE_FOLDER = CompletenessCheck(
    tool="sysfs of bcache devices",
    mark="every requested file of the folders is readable",
    missing=lambda text: "",
    hides="the end of a value, which the kernel returns in one read",
    statuses=frozenset(),
)
"""Completeness of a device's folders. Kernel versions differ in their files, so only listed files must be readable."""

_FOLDERS = ("/sys/block/bcache*/bcache/*", "/sys/fs/bcache/*/*", "/sys/fs/bcache/*/cache0/*")
_SET_FOLDER = re.compile(r"/sys/fs/bcache/([0-9a-fA-F-]{36})")
_HUMAN = re.compile(r"([0-9]{1,19})(?:\.([0-9])([kMGTPEZY]))?")
_UNITS = "?kMGTPEZY"


@dataclass(frozen=True, slots=True, kw_only=True)
class BcacheFacts:
    """sysfs values of one device."""

    name: str
    """Kernel name, `bcache0`."""
    backing: str | None = None
    """Kernel name of the disk or partition that is cached; None if not reported."""
    set_uuid: str | None = None
    """UUID of its cache set; None if it has no cache set."""
    caches: tuple[str, ...] = ()
    """Kernel names of the set's cache devices."""
    sharing: tuple[str, ...] = ()
    """Kernel names of the other devices that use the same cache set."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Contents of the sysfs files, by file name."""
    cut: str = ""
    """Clause about existing files that cannot be read; "" if all can be read."""

    @property
    def state(self) -> str:
        """Return the kernel's state `no cache`, `clean`, `dirty` or `inconsistent`; "" if not reported."""
        return clean(self.texts.get("state", ""), 32)

    @property
    def has_cache_set(self) -> bool:
        """Return whether the device has a cache set."""
        return self.set_uuid is not None

    def path(self, key: str) -> str | None:
        """Return the path of a setting's file; None if it belongs to a cache set and there is none."""
        if key not in _SET:
            return f"/sys/block/{self.name}/bcache/{key}"
        if self.set_uuid is None:
            return None
        return f"/sys/fs/bcache/{self.set_uuid}/{'cache0/' if key == REPLACEMENT.key else ''}{key}"


async def read_devices(host: Host) -> tuple[BcacheFacts, ...]:
    """Return all running devices, sorted by name."""
    states = await host.list("/sys/block/bcache*/bcache/state")
    names = sorted((path.split("/")[3] for path in states), key=natural)
    folders, links = await asyncio.gather(
        _links(host, [f"/sys/block/{name}/bcache" for name in names]),
        _links(host, [f"/sys/block/{name}/bcache/cache" for name in names]),
    )
    matches = [_SET_FOLDER.fullmatch(link or "") for link in links]
    sets = {name: match[1] for name, match in zip(names, matches, strict=True) if match is not None}
    caches = {set_uuid: await _caches(host, set_uuid) for set_uuid in dict.fromkeys(sets.values())}
    devices = [
        BcacheFacts(
            name=name,
            backing=_disk_of(folder),
            set_uuid=(set_of_device := sets.get(name)),
            caches=caches.get(set_of_device or "", ()),
            sharing=tuple(sharer for sharer in sets if sets[sharer] == set_of_device and sharer != name),
        )
        for name, folder in zip(names, folders, strict=True)
    ]
    paths = {device.name: {key: path for key in _READ if (path := device.path(key)) is not None} for device in devices}
    texts = await host.read_many([path for set_of_device in paths.values() for path in set_of_device.values()])
    listed = await asyncio.gather(*map(host.list, _FOLDERS)) if devices else ()
    existing = {path for group in listed for path in group}
    return tuple(_with_texts(device, paths[device.name], texts, existing) for device in devices)


def _with_texts(
    device: BcacheFacts, paths: Mapping[str, str], texts: Mapping[str, str], existing: Collection[str]
) -> BcacheFacts:
    """Return the device with the contents of its files, and with a clause about files that cannot be read."""
    unreadable = [key for key, path in paths.items() if path not in texts and path in existing]
    return replace(
        device,
        texts={key: texts[path] for key, path in paths.items() if path in texts},
        cut=unreadable_files_message(f"/sys/block/{device.name}/bcache", unreadable),
    )


async def _links(host: Host, paths: Sequence[str]) -> list[str | None]:
    return await asyncio.gather(*map(host.link, paths))


async def _caches(host: Host, set_uuid: str) -> tuple[str, ...]:
    """Return the kernel names of the cache devices of a set.

    The entries of the set link to the devices' `bcache` folders (drivers/md/bcache/super.c).
    """
    folders = await _links(host, await host.list(f"/sys/fs/bcache/{set_uuid}/cache[0-9]*"))
    return tuple(name for link in folders if (name := _disk_of(link)) is not None)


def _disk_of(folder: str | None) -> str | None:
    """Return the kernel name in the path of a `bcache` folder: `sdb1` in `/sys/devices/.../block/sdb/sdb1/bcache`.

    None if the path does not end in `bcache`.
    """
    tokens = (folder or "").split("/")
    return clean(tokens[-2], 64) if len(tokens) > 3 and tokens[-1] == "bcache" and tokens[-2] else None


def parse_size(text: str | None) -> int | None:
    """Return the smallest number of bytes that the kernel prints as this string; None if it is no size.

    Example: `4.0M` is 4194304. The kernel truncates twice: to a whole number of the next smaller unit, then to a tenth
    of the printed unit (drivers/md/bcache/util.c, bch_hprint). So `1.4M` stands for any size in a range of 102 KiB. If
    the smallest one is written, the kernel prints `1.4M` again.
    """
    match = _HUMAN.fullmatch(text or "")
    if match is None:
        return None
    integer, tenth, unit = int(match[1]), match[2], match[3]
    return integer if unit is None else _least(integer, int(tenth), _UNITS.index(unit))


def displayed_size(count: int) -> int:
    """Return the size in bytes that `parse_size` returns for the string that the kernel prints for `count` bytes."""
    power = 1
    while count >> 10 * power >= 1000:
        power += 1
    return _least(count >> 10 * power, (count >> 10 * (power - 1) & 1023) * 10 // 1024, power)


def _least(integer: int, tenth: int, power: int) -> int:
    """Return the smallest number of bytes that the kernel prints as `integer`.`tenth` in the unit 1024^`power`.

    A size below 1000 of the next smaller unit would be printed in that unit.
    """
    return max(integer * 1024 + (tenth * 1024 + 9) // 10, 1000 if power > 1 else 0) << 10 * (power - 1)


# -- conversion to an `Array`. No I/O ---------------------------------------------------------------------------------

NAME = "bcache"
"""Prefix of this backend's targets."""

_STATES = {
    "no cache": (State.ONLINE, "no cache is attached"),
    "clean": (State.OPTIMAL, ""),
    "dirty": (State.OPTIMAL, ""),
    "inconsistent": (State.FAILED, "it was started without its cache, which had unwritten data"),
}
"""State of the array and its reason, by the string that the kernel reports as state of the backing device
(drivers/md/bcache/sysfs.c).
"""


def array_of(device: BcacheFacts, picture: Topology) -> Array:
    """Return the device as an array of the inventory."""
    node = picture.tree.nodes.get(device.name)
    state, why = _STATES.get(device.state, (State.UNKNOWN, ""))
    members = (device.backing, *device.caches)
    return Array(
        target=Target(backend=NAME, address=device.name, scope=Scope.ARRAY),
        name=clean(device.texts.get("label", "")) or None,
        level=Level.CACHED,
        state=state,
        size_bytes=node.size_bytes if node is not None else None,
        why=why,
        device=node_path(device.name),
        members=tuple(
            dict.fromkeys(Target(backend="block", address=picture.tree.disk_of(member)) for member in members if member)
        ),
        identity=identity(node) if node is not None else None,
        uses=picture.uses(device.name),
        facts=Fact.from_rows(_lines(device)),
    )


def _lines(device: BcacheFacts) -> Iterable[tuple[str, str]]:
    texts = device.texts
    mode, _ = parse_choices(texts.get(CACHE_MODE.key, ""))
    cache_choice = CHOICES[CACHE_MODE.key].get(mode or "")
    bucket, dirty = parse_size(texts.get("bucket_size")), parse_size(texts.get("dirty_data"))
    free = texts.get("cache_available_percent", "")
    yield "Cached disk", node_path(device.backing) if device.backing else ""
    yield "Cache device", ", ".join(map(node_path, device.caches)) or "none"
    yield "Cache state", device.state or "unknown"
    yield "Unwritten data", "" if dirty is None else size_words(dirty)
    yield "Cache mode", cache_choice.label if cache_choice is not None else ""
    yield "Cache set", device.set_uuid or ""
    yield "Cache set serves", ", ".join(map(node_path, (device.name, *device.sharing))) if device.sharing else ""
    yield "Bucket", "" if bucket is None else size_words(bucket)
    yield "Not dirty", f"{free} % of the cache" if free.isascii() and free.isdigit() and len(free) < 4 else ""
