"""Settings of pools, filesystems and volumes, and the commands that set a value or restore its source.

Sources: zfsprops(7) and zpoolprops(7) of 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from backends.change import Change, ChangeStep
from backends.settings import Choice, Effect, Persistence, Reading, Risk, Setting, offer
from backends.sizes import size_words
from backends.text import clean
from backends.vendors.zfs.facts import OWN, ZfsKind, ZfsValue
from backends.vendors.zfs.parameters import FOLDER

INHERIT, RECEIVED = "inherit", "received"
"""Special values of a setting: inherit the value from the dataset above, or restore the value received with a
stream.
"""

_stored = partial(Setting, persistence=Persistence.STORED, other_words=(INHERIT, RECEIVED))
_LEVELS = (
    *(f"gzip-{level}" for level in range(1, 10)),
    *(f"zstd-{level}" for level in range(1, 20)),
    *(f"zstd-fast-{level}" for level in (*range(1, 11), *range(20, 101, 10), 500, 1000)),
    *("gzip", "lzjb", "zstd", "zstd-fast"),
)
"""Compression methods that are not always offered (zfsprops(7), compression)."""

SYNC = _stored(
    key="sync",
    label="Sync",
    help="Handling of synchronous writes (fsync, O_DSYNC). standard writes them to the intent log before they "
    "return. always does that for every write, disabled for none. (zfsprops(7), sync)",
    risk_text="Synchronous writes are acknowledged while they are only in memory. A power failure or crash loses the "
    "last "
    "seconds of acknowledged writes of databases, virtual machines and NFS clients. The pool remains consistent.",
)
LOGBIAS = _stored(
    key="logbias",
    label="Log bias",
    help="How synchronous writes are logged. latency uses the log devices of the pool. throughput writes data "
    "directly to the pool and logs only its addresses. (zfsprops(7), logbias)",
)
PRIMARY = _stored(
    key="primarycache",
    label="Primary cache",
    help="Content that the ARC (in memory) caches. Without data, every read goes to the disks, without read-ahead. "
    "(zfsprops(7), primarycache)",
)
SECONDARY = _stored(
    key="secondarycache",
    label="Secondary cache",
    help="Content that the cache devices of the pool (L2ARC) cache. Only content that was in the ARC is stored "
    "there. (zfsprops(7), secondarycache)",
)
COMPRESSION = _stored(
    new_data=True,
    key="compression",
    other_words=(INHERIT, RECEIVED, *_LEVELS),
    label="Compression",
    help="Compression of new blocks. Existing blocks do not change until they are rewritten. With compressible data, "
    "a benchmark measures the processor, not the disks. zstd and its levels activate a pool feature that older "
    "systems and boot loaders cannot read. (zfsprops(7), compression)",
)
RECORDSIZE = _stored(
    new_data=True,
    key="recordsize",
    label="Record size",
    help="Largest block of a file. It applies only to new files, so re-create a scratch file to measure it. A "
    "smaller read reads the whole block. A smaller write reads and writes the whole block. A value above 128 "
    "KiB activates a pool feature. (zfsprops(7), recordsize)",
    unit="bytes",
)
VOLBLOCKSIZE = _stored(
    key="volblocksize",
    label="Volume block size",
    help="Block size of the zvol. A smaller request reads or writes a whole block. It is fixed at creation. "
    "(zfsprops(7), volblocksize)",
    effect=Effect.RECREATED,
    unit="bytes",
)
ATIME = _stored(
    key="atime",
    label="Access times",
    help="Whether reading a file updates its access time. (zfsprops(7), atime)",
)
XATTR = _stored(
    key="xattr",
    label="Extended attributes",
    help="Where extended attributes are stored. sa stores them with the file, which needs fewer requests for ACLs "
    "and SELinux. dir uses a hidden directory. Existing attributes are not moved. (zfsprops(7), xattr)",
)
REDUNDANT = _stored(
    new_data=True,
    key="redundant_metadata",
    label="Redundant metadata",
    help="Which metadata has a second copy in addition to the redundancy of the pool. Fewer copies make random "
    "writes cheaper, but one corrupt block can destroy more: about 1000 records with most, a file with some, "
    "the whole dataset with none. (zfsprops(7), redundant_metadata)",
)
SPECIAL = _stored(
    new_data=True,
    key="special_small_blocks",
    label="Small blocks on special",
    help="New blocks up to this size go to the special devices of the pool. With 0 only metadata does. From the "
    "record size on, all data does. (zfsprops(7), special_small_blocks)",
    unit="bytes",
)
AUTOTRIM = _stored(
    key="autotrim",
    label="Automatic trim",
    help="Whether freed space is trimmed on the disks of the pool automatically. If it is off, use `zpool trim`. "
    "(zpoolprops(7), autotrim)",
)
ASHIFT = _stored(
    key="ashift",
    label="Sector shift",
    help="Exponent of the pool's sector size: 12 for 4 KiB. A device keeps the value from when it was added. "
    "(zpoolprops(7), ashift)",
    effect=Effect.RECREATED,
)

_KINDS: tuple[tuple[Setting, tuple[ZfsKind, ...]], ...] = (
    (SYNC, (ZfsKind.POOL, ZfsKind.FILESYSTEM, ZfsKind.VOLUME)),
    (LOGBIAS, (ZfsKind.POOL, ZfsKind.FILESYSTEM, ZfsKind.VOLUME)),
    (PRIMARY, (ZfsKind.POOL, ZfsKind.FILESYSTEM, ZfsKind.VOLUME)),
    (SECONDARY, (ZfsKind.POOL, ZfsKind.FILESYSTEM, ZfsKind.VOLUME)),
    (COMPRESSION, (ZfsKind.POOL, ZfsKind.FILESYSTEM, ZfsKind.VOLUME)),
    (RECORDSIZE, (ZfsKind.POOL, ZfsKind.FILESYSTEM)),
    (VOLBLOCKSIZE, (ZfsKind.VOLUME,)),
    (ATIME, (ZfsKind.POOL, ZfsKind.FILESYSTEM)),
    (XATTR, (ZfsKind.POOL, ZfsKind.FILESYSTEM)),
    (REDUNDANT, (ZfsKind.POOL, ZfsKind.FILESYSTEM, ZfsKind.VOLUME)),
    (SPECIAL, (ZfsKind.POOL, ZfsKind.FILESYSTEM)),
    (AUTOTRIM, (ZfsKind.POOL,)),
    (ASHIFT, (ZfsKind.POOL,)),
)

OF_POOLS = (AUTOTRIM, ASHIFT)
"""Settings that a pool has in addition to the settings of its top-level filesystem."""

OF_DATASETS = tuple(setting for setting, _ in _KINDS if setting not in OF_POOLS)
"""Settings of datasets, in display order."""

INHERITED = tuple(setting.key for setting in OF_DATASETS if setting is not VOLBLOCKSIZE)
"""Properties that datasets inherit."""

FIXED = {
    "volblocksize": "it is fixed at creation",
    "ashift": "a device keeps the value from when it was added to the pool",
}
"""Reason why a setting is read-only, by key."""


def settings_of(kind: ZfsKind, *, special: bool) -> tuple[Setting, ...]:
    """Return the settings of a kind of target. `special`: whether its pool has special devices."""
    return tuple(setting for setting, kinds in _KINDS if kind in kinds and (special or setting is not SPECIAL))


def _cache_choices(which: str) -> tuple[Choice, ...]:
    return (
        offer("all", f"Data and metadata are cached in {which}."),
        offer("metadata", f"Only metadata is cached in {which}."),
        offer("none", f"Nothing is cached in {which}."),
    )


def _plain(**helps: str) -> tuple[Choice, ...]:
    return tuple(offer(value, text) for value, text in helps.items())


_SIZES = tuple(
    offer(str(1 << power), f"Blocks of {size_words(1 << power)} at most.", label=size_words(1 << power))
    for power in range(9, 25)
)

CHOICES: dict[str, tuple[Choice, ...]] = {
    "sync": (
        offer("standard", "Writes are synchronous if a program requests it."),
        offer("always", "Every write is synchronous, which is slow without a fast log device."),
        offer("disabled", "No write waits for the disks.", risk=Risk.POWER_LOSS),
    ),
    "logbias": _plain(latency="Writes go to the log devices.", throughput="Writes bypass the log devices."),
    "primarycache": _cache_choices("memory"),
    "secondarycache": _cache_choices("the cache devices"),
    "compression": (
        offer("off", "Blocks are written as they are."),
        offer("on", "The default method of ZFS: lz4."),
        offer("lz4", "Fast. Stops early on incompressible data."),
        offer("zle", "Compresses only runs of zeros."),
        offer("gzip-1", "Slow, and denser than lz4."),
        offer("gzip", "Level 6: slower and denser than gzip-1."),
        offer("gzip-9", "Slowest and densest level of gzip."),
        offer("zstd-fast", "Almost as fast as lz4."),
        offer("zstd", "Level 3: as dense as gzip, several times as fast."),
        offer("zstd-9", "Denser and slower than zstd."),
        offer("zstd-19", "Densest. For data that is written once."),
    ),
    "recordsize": _SIZES,
    "atime": _plain(on="Access times are updated.", off="Access times are not updated."),
    "xattr": _plain(
        sa="Stored with the file.", dir="Stored in a hidden directory.", off="Extended attributes are disabled."
    ),
    "redundant_metadata": _plain(
        all="All metadata has a second copy.",
        most="Most metadata has a second copy.",
        some="Only critical metadata has a second copy.",
        none="No metadata has a second copy.",
    ),
    "special_small_blocks": (offer("0", "Metadata only."), *_SIZES),
    "autotrim": _plain(off="Freed space is not trimmed.", on="Freed space is trimmed."),
}
"""Choices of each setting in display order. Readings do not include values that a pool or version does not support."""


# -- commands that set a property, or restore its current value and source. No I/O ------------------------------------

NAMED = 6
"""Maximum number of inheriting datasets that are listed by name."""

_WORD = re.compile(r"[a-z0-9-]{1,40}")


def steps(zfs: str, name: str, key: str, value: str) -> tuple[ChangeStep, ...]:
    """Return the steps that set a value on a dataset or pool, or remove it so that the value is inherited."""
    if key not in INHERITED:
        zpool = zfs.removesuffix("zfs") + "zpool"
        return (ChangeStep(argv=(zpool, "set", f"{key}={value}", name)),)
    if value == INHERIT:
        return (ChangeStep(argv=(zfs, "inherit", key, name)),)
    if value == RECEIVED:
        return (ChangeStep(argv=(zfs, "inherit", "-S", key, name)),)
    return (ChangeStep(argv=(zfs, "set", f"{key}={value}", name)),)


def undo_steps(zfs: str, name: str, key: str, now: Reading) -> tuple[ChangeStep, ...]:
    """Return the steps that restore the current value; empty if the value is unknown."""
    readable = now.now is not None and _WORD.fullmatch(now.now) and now.now != "unknown"
    return steps(zfs, name, key, now.now or "") if readable else ()


def own_steps(change: Change, zfs: str) -> tuple[ChangeStep, ...]:
    """Return the steps that set the new value of a change; empty for an invalid value.

    The caller compares them with the recorded steps of the change.
    """
    if not _WORD.fullmatch(change.after):
        return ()
    return steps(zfs, change.target.address, change.key, change.after)


def is_own_parameter(change: Change) -> bool:
    """Return whether a change of the module writes only numbers, only to its own parameter, and the wanted
    number last.
    """
    numbers = all(write.path == FOLDER + change.key and (write.text or "").isdecimal() for write in change.writes)
    return bool(change.writes) and numbers and change.writes[-1].text == change.after


def inheriting_datasets(target: str, values: Iterable[tuple[str, ZfsValue]]) -> tuple[str, ...]:
    """Return the datasets below the target that inherit a value from it, and so change with it.

    `values`: name of each dataset, and its value of the setting with the source.
    """
    others = dict(values)
    target_value = others.pop(target, None)
    if target_value is None:
        return ()
    source = f"inherited from {target}" if target_value.source in OWN else target_value.source
    return tuple(name for name, value in others.items() if value.source == source)


def inheriting_datasets_text(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names for display. If there are many, return the first names and the number of the others."""
    lines = tuple(clean(name, 100) for name in names[:NAMED])
    return lines if len(names) <= NAMED else (*lines, f"{len(names) - NAMED} more")


def kind_at(address: str) -> ZfsKind:
    """Return the kind of a target that has not been read yet, from its address. A volume counts as a filesystem."""
    if address == "/module":
        return ZfsKind.MODULE
    return ZfsKind.FILESYSTEM if "/" in address else ZfsKind.POOL
