"""Simulated volume groups: LVM's metadata and the active device-mapper tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from itertools import pairwise

from backends.simulator.caches import CacheCounts
from backends.values import dataclass

EXTENT = 4 << 20
"""Extent size in bytes."""

FLUSH_BYTES = 60_000_000
"""Bytes per second that a flush writes from a cache to hard disks."""

CACHED = ("cache", "writecache")
"""Kinds of volumes with a cache."""

META_USED, META_BLOCKS = 10, 2048
"""Used and total blocks of dm-cache's metadata."""

OF_POLICY = (
    *("random_threshold", "sequential_threshold"),
    *("discard_promote_adjustment", "read_promote_adjustment", "write_promote_adjustment"),
)
"""Settings of the old mq policy, which smq still reports under the alias mq (drivers/md/dm-cache-policy-smq.c)."""

MIRRORED, STRIPED = ("raid1",), ("raid5", "raid6", "raid10")

RAIDS = (*MIRRORED, *STRIPED)
"""Kinds of volumes whose images have their own metadata."""

FIRST_EXTENT = 1 << 20
"""Bytes of LVM metadata before the extents of a physical volume."""

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@lru_cache(maxsize=1024)
def lvm_uuid(name: str) -> str:
    """Return a UUID in LVM's format, which depends only on the name."""
    digest = hashlib.sha256(name.encode()).digest()
    letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)
    cuts = (0, 6, 10, 14, 18, 22, 26, 32)
    return "-".join(letters[start:end] for start, end in pairwise(cuts))


@dataclass(frozen=True, slots=True, kw_only=True)
class DmNode:
    """One device-mapper device of a volume."""

    name: str
    """Name in LVM: `mail`, `mail_corig`, `fastmail_cvol-cdata`."""
    number: int
    """Number in its kernel name `dm-N`."""
    size_bytes: int
    """Size in bytes."""
    slaves: tuple[str, ...]
    """Kernel names of the devices below."""
    table: str
    """Target and parameters in `dmsetup table`."""
    status: str
    """Target and status in `dmsetup status`."""
    ending: str = ""
    """Suffix of its device-mapper UUID, after the volume's UUID."""

    @property
    def kernel(self) -> str:
        """Kernel name such as `dm-5`."""
        return f"dm-{self.number}"


@dataclass(slots=True, kw_only=True)
class LvmVolume:
    """One logical volume with its hidden sub-volumes."""

    name: str
    """Volume name."""
    kind: str = "linear"
    """Kind of volume: `linear`, `striped`, `cache`, `writecache`, `raid1`, `raid5`, `raid6`, `raid10`."""
    size_bytes: int
    """Size in bytes."""
    places: list[str]
    """Kernel names of the physical volumes with its data, one per image."""
    number: int
    """Number in its kernel name `dm-N`. The numbers of its sub-volumes follow."""
    fast: str = ""
    """Name of the cache volume, or ""."""
    fast_place: str = ""
    """Kernel name of the cache volume's physical volume."""
    fast_bytes: int = 0
    """Size of the cache volume in bytes."""
    chunk_bytes: int = 1 << 16
    """Chunk size of dm-cache, or block size of a writecache."""
    mode: str = "writethrough"
    """Cache mode, by dm-cache's name."""
    policy: str = "smq"
    """Policy of dm-cache."""
    settings: dict[str, int] = field(default_factory=dict)
    """Changed cache settings."""
    read_ahead: str = "auto"
    """Read-ahead setting of LVM: `auto`, `none` or sectors."""
    queue_sectors: int = 256
    """Read-ahead of the queue in sectors."""
    stripe_bytes: int = 0
    """Stripe size in bytes."""
    write_mostly: list[str] = field(default_factory=list)
    """Kernel names of write-mostly physical volumes."""
    write_behind: int = 0
    """Maximum outstanding writes to write-mostly images; 0 if not set."""
    rates: dict[str, int] = field(default_factory=dict)
    """`min` and `max` recovery rates in KiB/s, where set."""
    counts: CacheCounts = field(default_factory=CacheCounts)
    """Contents and counters of its cache."""
    flush_to: str = ""
    """Mode or policy that applies after the running flush, such as `mode=writethrough`, or ""."""
    flush_since: float = 0.0
    """Start of the flush in simulated time."""
    reshape_since: float = 0.0
    """Start of the running reshape in simulated time, or 0."""
    tag: str = ""
    """Tag, or ""."""
    uuid: str = ""
    """UUID of a volume that reuses a name, or "" for the name's default UUID."""
    snapshot: bool = False
    """True if it has a snapshot."""

    @property
    def device(self) -> str:
        """Kernel name of the volume, such as `dm-5`."""
        return f"dm-{self.number}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Kernel names of the devices below the volume; for a cached volume, these are the slow and the fast device."""
        if self.kind == "cache":
            return f"dm-{self.number + 4}", f"dm-{self.number + 2}"
        if self.kind == "writecache":
            return f"dm-{self.number + 2}", f"dm-{self.number + 1}"
        return tuple(self.places)

    @property
    def origin_name(self) -> str:
        """Name of the slow part of a cached volume."""
        return f"{self.name}_{'wcorig' if self.kind == 'writecache' else 'corig'}"

    @property
    def work(self) -> tuple[str, bool]:
        """State of the background work: the pending flush (see `flush_to`), and whether a reshape is running."""
        return self.flush_to, bool(self.reshape_since)

    @property
    def blocks(self) -> int:
        """Number of cache blocks, excluding the space for metadata of dm-cache or dm-writecache."""
        share = 0.995 if self.kind == "writecache" else 0.99
        return int(self.fast_bytes * share) // self.chunk_bytes

    def dirty_now(self, now: float) -> int:
        """Return how many bytes of the cache are not on the slow device yet."""
        flushed = int((now - self.flush_since) * FLUSH_BYTES) if self.flush_to else 0
        return max(0, int(self.counts.dirty_bytes) - flushed)

    def settle(self, now: float) -> None:
        """End a flush or reshape that is complete at time `now`, and apply the change that waited for the flush."""
        if self.flush_to and not self.dirty_now(now):
            key, _, value = self.flush_to.partition("=")
            setattr(self, key, value)
            self.flush_to, self.counts.dirty_bytes = "", 0
        if self.reshape_since and now - self.reshape_since > self.size_bytes / FLUSH_BYTES:
            self.reshape_since = 0.0

    def reshape_progress(self, now: float) -> float:
        """Return the completed share of a reshape, 0..1; 1 without a reshape."""
        if not self.reshape_since:
            return 1.0
        return min(1.0, max(0.0, now - self.reshape_since) * FLUSH_BYTES / self.size_bytes)

    @property
    def used(self) -> int:
        """Number of used cache blocks."""
        return min(self.blocks, int(self.counts.held_bytes) // self.chunk_bytes)

    @property
    def figures(self) -> str:
        """Counters that `dmsetup status` prints for the cache, beginning with the hits (dm-writecache.c, 5.16)."""
        counts = self.counts
        hits = [int(value) for value in (counts.read_hits, counts.read_misses, counts.write_hits, counts.write_misses)]
        if self.kind == "cache":
            return " ".join(map(str, (*hits, int(counts.demotions), int(counts.promotions))))
        reads, writes = hits[0] + hits[1], hits[2] + hits[3]
        return " ".join(map(str, (reads, hits[0], writes, 0, hits[2], 0, hits[3], 0, 0, 0)))

    @property
    def kernel_policy(self) -> str:
        """Effective policy: cleaner during a flush, otherwise smq, which the kernel reports by its old name mq."""
        return "cleaner" if self.flush_to else "mq"

    @property
    def kernel_mode(self) -> str:
        """Effective mode. During a flush for a change of mode, this is already the new mode."""
        key, _, value = self.flush_to.partition("=")
        return value if key == "mode" else self.mode

    @property
    def threshold(self) -> int:
        """Effective migration threshold of dm-cache in sectors, which LVM sets to at least 8 chunks."""
        return max(self.settings.get("migration_threshold", 2048), 8 * self.chunk_bytes // 512)

    def nodes(self, now: float) -> tuple[DmNode, ...]:
        """Return the device-mapper devices of the volume, beginning with the volume itself."""
        if self.kind in CACHED:
            return tuple(self._cached_nodes(now))
        if self.kind == "linear":
            return (self._top_node(tuple(self.places), "linear"),)
        if self.kind == "striped":
            stripes = " ".join(f"{{{device}}} 2048" for device in self.places)
            table = f"striped {len(self.places)} {self.stripe_bytes // 512} {stripes}"
            return (self._top_node(tuple(self.places), table),)
        return tuple(self._raid_nodes(now))

    def _top_node(self, slaves: tuple[str, ...], table: str, **more: str) -> DmNode:
        """Return the device of the volume itself."""
        return self._node(self.name, 0, self.size_bytes, slaves, table, **more)

    def _node(self, name: str, offset: int, size: int, slaves: tuple[str, ...], table: str, **more: str) -> DmNode:
        """Return a device of the volume. `offset`: the device's number minus the number of the volume."""
        status = more.pop("status", f"{table.split()[0]} ")  # without parameters, the kernel prints a trailing blank
        return DmNode(
            name=name, number=self.number + offset, size_bytes=size, slaves=slaves, table=table, status=status, **more
        )

    def _cached_nodes(self, now: float) -> Iterator[DmNode]:
        slow = (*self.places,)
        origin = self.origin_name
        fast = f"{self.fast}_cvol"
        if self.kind == "writecache":
            pairs = [f"{key} {value}" for key, value in self.settings.items() if key != "cleaner"]
            settings = " ".join([*pairs, *(["cleaner"] if self.settings.get("cleaner") else [])]).split()
            count = " ".join((str(len(settings)), *settings))
            free = self.blocks - self.used
            parts = (f"dm-{self.number + 1}", f"dm-{self.number + 2}")
            yield self._top_node(
                parts,
                f"writecache s {{{parts[1]}}} {{{parts[0]}}} {self.chunk_bytes} {count}",
                status=f"writecache 0 {self.blocks} {free} 0 {self.figures}",
            )
            yield self._node(fast, 1, self.fast_bytes, (self.fast_place,), "linear", ending="-cvol")
            yield self._node(origin, 2, self.size_bytes, slow, "linear", ending="-real")
            return
        layers = [f"dm-{self.number + at}" for at in range(2, 5)]
        settings_text = " ".join(f"{key} {value}" for key, value in self.settings.items())
        count = f"{2 * len(self.settings)} {settings_text}".strip()
        sectors = self.chunk_bytes // 512
        dirty = self.dirty_now(now) // self.chunk_bytes
        layers_text = f"{{{layers[1]}}} {{{layers[0]}}} {{{layers[2]}}}"
        yield self._top_node(
            tuple(layers),
            f"cache {layers_text} {sectors} 2 metadata2 {self.kernel_mode} {self.kernel_policy} {count}",
            status=f"cache 8 {META_USED}/{META_BLOCKS} {sectors} {self.used}/{self.blocks} {self.figures} {dirty} "
            f"2 metadata2 {self.kernel_mode} 2 migration_threshold {self.threshold} "
            f"{self.kernel_policy} {len(OF_POLICY) * 2} {' '.join(f'{key} 0' for key in OF_POLICY)} rw - ",
        )
        yield self._node(fast, 1, self.fast_bytes, (self.fast_place,), "linear", ending="-cvol")
        meta = 1 << 23
        cache_device = (f"dm-{self.number + 1}",)
        yield self._node(f"{fast}-cdata", 2, self.fast_bytes - meta, cache_device, "linear", ending="-cdata")
        yield self._node(f"{fast}-cmeta", 3, meta, cache_device, "linear", ending="-cmeta")
        yield self._node(origin, 4, self.size_bytes, slow, "linear", ending="-real")

    def _raid_nodes(self, now: float) -> Iterator[DmNode]:
        count = len(self.places)
        sub_devices = [f"dm-{self.number + 1 + at}" for at in range(2 * count)]
        fields = [str(self.stripe_bytes // 512), "region_size 4096"]
        fields += [f"write_mostly {self.places.index(name)}" for name in self.write_mostly]
        fields += ["max_write_behind 0"] if self.write_behind else []  # Linux 6.1 reports 0, whatever value was set
        fields += [f"{key}_recovery_rate {value}" for key, value in self.rates.items()]
        raid_options = " ".join(fields).split()
        kind = {"raid5": "raid5_ls", "raid6": "raid6_zr"}.get(self.kind, self.kind)
        pairs = " ".join(f"{{{sub_devices[2 * at]}}} {{{sub_devices[2 * at + 1]}}}" for at in range(count))
        table = f"raid {kind} {len(raid_options)} {' '.join(raid_options)} {count} {pairs}"
        action = "reshape" if self.reshape_since else "idle"
        total = self.size_bytes // 512
        done = int(total * self.reshape_progress(now))
        yield self._top_node(
            tuple(sub_devices),
            table,
            status=f"raid {kind} {count} {'A' * count} {done}/{total} {action} 0 0 -",
        )
        share = self.size_bytes // max(1, self.data_images)
        for at, device in enumerate(self.places):
            for step, (part, size) in enumerate((("rmeta", EXTENT), ("rimage", share))):
                yield self._node(f"{self.name}_{part}_{at}", 1 + 2 * at + step, size, (device,), "linear")

    @property
    def data_images(self) -> int:
        """Number of images that hold data in one stripe, without parity and copies."""
        count = len(self.places)
        kinds = {"striped": count, "raid1": 1, "raid5": count - 1, "raid6": count - 2, "raid10": count // 2}
        return kinds.get(self.kind, 1)

    def extents_on(self, device: str) -> int:
        """Return the number of the volume's extents on the physical volume `device`."""
        share = -(-self.size_bytes // EXTENT // self.data_images)
        data_extents = (share + (self.kind in RAIDS)) * self.places.count(device)
        return data_extents + (self.fast_bytes // EXTENT if self.fast_place == device else 0)


@dataclass(slots=True, kw_only=True)
class LvmGroup:
    """A volume group."""

    name: str
    """Name of the group."""
    places: list[str]
    """Kernel names of its physical volumes."""
    volumes: list[LvmVolume] = field(default_factory=list)
    """Logical volumes."""
    refuses: dict[str, str] = field(default_factory=dict)
    """Values that make LVM refuse changes, by the column in which vgs and pvs show them, such as `vg_exported`."""
    busy: bool = False
    """True if a long-running command has the group's lock."""
    former: dict[str, str] = field(default_factory=dict)
    """Signatures that removed volumes left, by the physical volume on which each of these volumes started."""

    @property
    def uuid(self) -> str:
        """UUID of the group."""
        return lvm_uuid(self.name)

    def uuid_of(self, part: str) -> str:
        """Return the UUID of a volume or sub-volume."""
        volume_uuid = next((volume.uuid for volume in self.volumes if volume.name == part), "")
        return volume_uuid or lvm_uuid(f"{self.name}/{part}")

    def dm_name(self, node: DmNode) -> str:
        """Return the name below /dev/mapper."""
        return f"{self.name.replace('-', '--')}-{_escape_name(node.name)}"

    def dm_uuid(self, node: DmNode) -> str:
        """Return the device-mapper UUID."""
        part = node.name.removesuffix("-cdata").removesuffix("-cmeta")
        return f"LVM-{self.uuid}{self.uuid_of(part)}".replace("-", "").replace("LVM", "LVM-", 1) + node.ending


def _escape_name(name: str) -> str:
    """Return a name with each dash doubled, except before cdata and cmeta."""
    for ending in ("-cdata", "-cmeta"):
        if name.endswith(ending):
            return name.removesuffix(ending).replace("-", "--") + ending
    return name.replace("-", "--")
