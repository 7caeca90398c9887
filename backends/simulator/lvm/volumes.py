"""Volume groups of the simulated host: what LVM keeps of them, and what device-mapper has in force."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise

from backends.simulator.caches import CacheCounts
from backends.values import dataclass

EXTENT = 4 << 20
"""Bytes of an extent."""

FLUSH_BYTES = 60_000_000
"""Bytes a second that are written back from a cache to hard disks while it is flushed."""

CACHED = ("cache", "writecache")
"""Kinds with a fast volume before a slow one."""

META_USED, META_BLOCKS = 10, 2048
"""Blocks of dm-cache's metadata."""

OF_POLICY = (
    *("random_threshold", "sequential_threshold"),
    *("discard_promote_adjustment", "read_promote_adjustment", "write_promote_adjustment"),
)
"""What `mq`, which is smq today, still tells of its predecessor (drivers/md/dm-cache-policy-smq.c)."""

MIRRORED, STRIPED = ("raid1",), ("raid5", "raid6", "raid10")

RAIDS = (*MIRRORED, *STRIPED)
"""Kinds with images that have metadata of their own."""

FIRST_EXTENT = 1 << 20
"""Bytes of LVM's own before the extents of a physical volume."""

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def lvm_uuid(name: str) -> str:
    """A UUID as LVM writes it, always the same for a name."""
    digest = hashlib.sha256(name.encode()).digest()
    letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)
    cuts = (0, 6, 10, 14, 18, 22, 26, 32)
    return "-".join(letters[start:end] for start, end in pairwise(cuts))


@dataclass(frozen=True, slots=True, kw_only=True)
class DmNode:
    """One device-mapper device of a volume."""

    name: str
    """As LVM names it: `mail`, `mail_corig`, `fastmail_cvol-cdata`."""
    number: int
    """That of its `dm-` name."""
    size_bytes: int
    """Size."""
    slaves: tuple[str, ...]
    """Kernel names of what it lies on."""
    table: str
    """Its kind and what follows, as `dmsetup table` has it."""
    status: str
    """The same as `dmsetup status` has it."""
    ending: str = ""
    """What follows its volume's UUID in device-mapper's."""

    @property
    def kernel(self) -> str:
        """`dm-5`."""
        return f"dm-{self.number}"


@dataclass(slots=True, kw_only=True)
class LvmVolume:
    """One logical volume, with the hidden ones that it is made of."""

    name: str
    """Given name."""
    kind: str = "linear"
    """`linear`, `striped`, `cache`, `writecache`, `raid1`, `raid5`, `raid6`, `raid10`."""
    size_bytes: int
    """Size."""
    places: list[str]
    """Kernel names of the physical volumes of its data: of each image where there are several."""
    number: int
    """That of its `dm-` name; those of its parts follow."""
    fast: str = ""
    """Name of the volume that caches it, "" without one."""
    fast_place: str = ""
    """Kernel name of the physical volume of that."""
    fast_bytes: int = 0
    """Size of that."""
    chunk_bytes: int = 1 << 16
    """What dm-cache keeps whole; of a writecache its block."""
    mode: str = "writethrough"
    """dm-cache's mode, in its own words."""
    policy: str = "smq"
    """dm-cache's policy."""
    settings: dict[str, int] = field(default_factory=dict)
    """Tunables that were set."""
    read_ahead: str = "auto"
    """`auto`, `none` or sectors."""
    queue_sectors: int = 256
    """Read-ahead that its queue has."""
    stripe_bytes: int = 0
    """Bytes on one image before the next one follows."""
    write_mostly: list[str] = field(default_factory=list)
    """Kernel names of physical volumes that are read last."""
    write_behind: int = 0
    """Writes that may be outstanding there, 0 for none set."""
    rates: dict[str, int] = field(default_factory=dict)
    """`min` and `max` of a resync, KiB/s, where they were set."""
    counts: CacheCounts = field(default_factory=CacheCounts)
    """What its cache holds and has counted."""
    flush_to: str = ""
    """The mode or policy that waits for the end of a flush, as `mode=writethrough`."""
    flush_since: float = 0.0
    """When that began, in the rack's time."""
    reshape_since: float = 0.0
    """When the last reshape began; 0 when none is under way."""
    tag: str = ""
    """Its tag; "" for none."""
    uuid: str = ""
    """Its UUID, where a volume of its name has had another one; "" for that which goes with its name."""
    snapshot: bool = False
    """Whether it has a snapshot."""

    @property
    def device(self) -> str:
        """Kernel name."""
        return f"dm-{self.number}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Kernel names of what it lies on: where it is cached, of the slow part and of the fast one."""
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
        """What goes on in the background."""
        return self.flush_to, bool(self.reshape_since)

    @property
    def blocks(self) -> int:
        """Blocks of its cache: dm-cache's metadata, and what a writecache keeps of its blocks, take a little."""
        share = 0.995 if self.kind == "writecache" else 0.99
        return int(self.fast_bytes * share) // self.chunk_bytes

    def dirty_now(self, now: float) -> int:
        """Bytes that are not on the slow volume yet."""
        gone = int((now - self.flush_since) * FLUSH_BYTES) if self.flush_to else 0
        return max(0, int(self.counts.dirty_bytes) - gone)

    def settle(self, now: float) -> None:
        """A flush that has come to its end, and what waited for it."""
        if self.flush_to and not self.dirty_now(now):
            key, _, value = self.flush_to.partition("=")
            setattr(self, key, value)
            self.flush_to, self.counts.dirty_bytes = "", 0
        if self.reshape_since and now - self.reshape_since > self.size_bytes / FLUSH_BYTES:
            self.reshape_since = 0.0

    def reshape_progress(self, now: float) -> float:
        """Return 0..1 of a reshape; 1 without one."""
        if not self.reshape_since:
            return 1.0
        return min(1.0, max(0.0, now - self.reshape_since) * FLUSH_BYTES / self.size_bytes)

    @property
    def used(self) -> int:
        """Blocks of its cache in use."""
        return min(self.blocks, int(self.counts.held_bytes) // self.chunk_bytes)

    @property
    def figures(self) -> str:
        """The figures of `dmsetup status` from hits on: of dm-cache, or of a writecache (dm-writecache.c, 5.16)."""
        counts = self.counts
        hits = [int(value) for value in (counts.read_hits, counts.read_misses, counts.write_hits, counts.write_misses)]
        if self.kind == "cache":
            return " ".join(map(str, (*hits, int(counts.demotions), int(counts.promotions))))
        reads, writes = hits[0] + hits[1], hits[2] + hits[3]
        return " ".join(map(str, (reads, hits[0], writes, 0, hits[2], 0, hits[3], 0, 0, 0)))

    @property
    def kernel_policy(self) -> str:
        """The policy in force: the kernel calls smq by its older name, and cleans during a flush, else never."""
        return "cleaner" if self.flush_to else "mq"

    @property
    def kernel_mode(self) -> str:
        """The mode in force: a flush for another mode begins with that."""
        key, _, value = self.flush_to.partition("=")
        return value if key == "mode" else self.mode

    @property
    def threshold(self) -> int:
        """dm-cache's migration threshold in force, in sectors: LVM gives the kernel no less than 8 chunks."""
        return max(self.settings.get("migration_threshold", 2048), 8 * self.chunk_bytes // 512)

    def nodes(self, now: float) -> tuple[DmNode, ...]:
        """Its device-mapper devices, itself first."""
        if self.kind in CACHED:
            return tuple(self._cached(now))
        if self.kind == "linear":
            return (self._top(tuple(self.places), "linear"),)
        if self.kind == "striped":
            stripes = " ".join(f"{{{device}}} 2048" for device in self.places)
            table = f"striped {len(self.places)} {self.stripe_bytes // 512} {stripes}"
            return (self._top(tuple(self.places), table),)
        return tuple(self._images(now))

    def _top(self, slaves: tuple[str, ...], table: str, **more: str) -> DmNode:
        """Return the device of the volume itself."""
        return self._node(self.name, 0, self.size_bytes, slaves, table, **more)

    def _node(self, name: str, at: int, size: int, slaves: tuple[str, ...], table: str, **more: str) -> DmNode:
        status = more.pop("status", f"{table.split()[0]} ")  # the kernel leaves a blank where nothing follows
        return DmNode(
            name=name, number=self.number + at, size_bytes=size, slaves=slaves, table=table, status=status, **more
        )

    def _cached(self, now: float) -> Iterator[DmNode]:
        slow = (*self.places,)
        origin = self.origin_name
        fast = f"{self.fast}_cvol"
        if self.kind == "writecache":
            pairs = [f"{key} {value}" for key, value in self.settings.items() if key != "cleaner"]
            settings = " ".join([*pairs, *(["cleaner"] if self.settings.get("cleaner") else [])]).split()
            count = " ".join((str(len(settings)), *settings))
            free = self.blocks - self.used
            under = (f"dm-{self.number + 1}", f"dm-{self.number + 2}")
            yield self._top(
                under,
                f"writecache s {{{under[1]}}} {{{under[0]}}} {self.chunk_bytes} {count}",
                status=f"writecache 0 {self.blocks} {free} 0 {self.figures}",
            )
            yield self._node(fast, 1, self.fast_bytes, (self.fast_place,), "linear", ending="-cvol")
            yield self._node(origin, 2, self.size_bytes, slow, "linear", ending="-real")
            return
        layers = [f"dm-{self.number + at}" for at in range(2, 5)]
        set_here = " ".join(f"{key} {value}" for key, value in self.settings.items())
        count = f"{2 * len(self.settings)} {set_here}".strip()
        sectors = self.chunk_bytes // 512
        dirty = self.dirty_now(now) // self.chunk_bytes
        layers_text = f"{{{layers[1]}}} {{{layers[0]}}} {{{layers[2]}}}"
        yield self._top(
            tuple(layers),
            f"cache {layers_text} {sectors} 2 metadata2 {self.kernel_mode} {self.kernel_policy} {count}",
            status=f"cache 8 {META_USED}/{META_BLOCKS} {sectors} {self.used}/{self.blocks} {self.figures} {dirty} "
            f"2 metadata2 {self.kernel_mode} 2 migration_threshold {self.threshold} "
            f"{self.kernel_policy} {len(OF_POLICY) * 2} {' '.join(f'{key} 0' for key in OF_POLICY)} rw - ",
        )
        yield self._node(fast, 1, self.fast_bytes, (self.fast_place,), "linear", ending="-cvol")
        meta = 1 << 23
        own = (f"dm-{self.number + 1}",)
        yield self._node(f"{fast}-cdata", 2, self.fast_bytes - meta, own, "linear", ending="-cdata")
        yield self._node(f"{fast}-cmeta", 3, meta, own, "linear", ending="-cmeta")
        yield self._node(origin, 4, self.size_bytes, slow, "linear", ending="-real")

    def _images(self, now: float) -> Iterator[DmNode]:
        count = len(self.places)
        under = [f"dm-{self.number + 1 + at}" for at in range(2 * count)]
        fields = [str(self.stripe_bytes // 512), "region_size 4096"]
        fields += [f"write_mostly {self.places.index(name)}" for name in self.write_mostly]
        fields += ["max_write_behind 0"] if self.write_behind else []  # whatever was set (Linux 6.1)
        fields += [f"{key}_recovery_rate {value}" for key, value in self.rates.items()]
        listed = " ".join(fields).split()
        kind = {"raid5": "raid5_ls", "raid6": "raid6_zr"}.get(self.kind, self.kind)
        pairs = " ".join(f"{{{under[2 * at]}}} {{{under[2 * at + 1]}}}" for at in range(count))
        table = f"raid {kind} {len(listed)} {' '.join(listed)} {count} {pairs}"
        action = "reshape" if self.reshape_since else "idle"
        total = self.size_bytes // 512
        done = int(total * self.reshape_progress(now))
        yield self._top(
            tuple(under),
            table,
            status=f"raid {kind} {count} {'A' * count} {done}/{total} {action} 0 0 -",
        )
        share = self.size_bytes // max(1, self.data_images)
        for at, device in enumerate(self.places):
            for step, (part, size) in enumerate((("rmeta", EXTENT), ("rimage", share))):
                yield self._node(f"{self.name}_{part}_{at}", 1 + 2 * at + step, size, (device,), "linear")

    @property
    def data_images(self) -> int:
        """Images that carry data in one stripe."""
        count = len(self.places)
        kinds = {"striped": count, "raid1": 1, "raid5": count - 1, "raid6": count - 2, "raid10": count // 2}
        return kinds.get(self.kind, 1)

    def extents_on(self, device: str) -> int:
        """Return how many extents of a physical volume it has."""
        share = -(-self.size_bytes // EXTENT // self.data_images)
        own = (share + (self.kind in RAIDS)) * self.places.count(device)
        return own + (self.fast_bytes // EXTENT if self.fast_place == device else 0)


@dataclass(slots=True, kw_only=True)
class LvmGroup:
    """A volume group."""

    name: str
    """Given name."""
    places: list[str]
    """Kernel names of its physical volumes."""
    volumes: list[LvmVolume] = field(default_factory=list)
    """Its logical volumes."""
    refuses: dict[str, str] = field(default_factory=dict)
    """Columns of vgs and pvs that say what is against a change: `vg_exported`, `vg_lock_type`, ..."""
    busy: bool = False
    """Whether a command that takes long has its lock."""
    former: dict[str, str] = field(default_factory=dict)
    """Signatures that removed volumes left, by the physical volume on which they began."""

    @property
    def uuid(self) -> str:
        """Its UUID."""
        return lvm_uuid(self.name)

    def uuid_of(self, part: str) -> str:
        """The UUID of one of its volumes, hidden ones too."""
        own = next((volume.uuid for volume in self.volumes if volume.name == part), "")
        return own or lvm_uuid(f"{self.name}/{part}")

    def dm_name(self, node: DmNode) -> str:
        """The name below /dev/mapper."""
        return f"{self.name.replace('-', '--')}-{_escaped(node.name)}"

    def dm_uuid(self, node: DmNode) -> str:
        """Device-mapper's UUID."""
        part = node.name.removesuffix("-cdata").removesuffix("-cmeta")
        return f"LVM-{self.uuid}{self.uuid_of(part)}".replace("-", "").replace("LVM", "LVM-", 1) + node.ending


def _escaped(name: str) -> str:
    """Dashes are doubled, but those before cdata and cmeta."""
    for ending in ("-cdata", "-cmeta"):
        if name.endswith(ending):
            return name.removesuffix(ending).replace("-", "--") + ending
    return name.replace("-", "--")
