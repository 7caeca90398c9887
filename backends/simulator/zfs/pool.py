"""Simulated ZFS pool: disks, datasets, and the sources of their property values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from backends.sizes import read_size
from backends.values import dataclass

FILESYSTEM, VOLUME = "filesystem", "volume"
INHERIT = "-"
"""Local value that marks a property as inherited although a value was received."""

_BOTH, _FILES = (FILESYSTEM, VOLUME), (FILESYSTEM,)
_CACHE = ("all", "none", "metadata")
_LEVELS = "on off lzjb gzip gzip-1 gzip-2 gzip-3 gzip-4 gzip-5 gzip-6 gzip-7 gzip-8 gzip-9 zle lz4 zstd zstd-fast"


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property that can be set in OpenZFS 2.1 (module/zcommon/zfs_prop.c)."""

    default: str
    """Default value."""
    kinds: tuple[str, ...] = _BOTH
    """Kinds of datasets that have the property."""
    legal: tuple[str, ...] = ()
    """Legal values; empty for a size."""
    shown: str = ""
    """Legal values in the form in which zfs lists them in a refusal."""
    zero: bool = False
    """True if a size may be 0."""


def _word_property(default: str, text: str, *, kinds: tuple[str, ...] = _BOTH, shown: str = "") -> Property:
    return Property(default=default, kinds=kinds, legal=tuple(text.split()), shown=shown or " | ".join(text.split()))


PROPERTIES: Mapping[str, Property] = {
    "sync": _word_property("standard", "standard always disabled"),
    "logbias": _word_property("latency", "latency throughput"),
    "primarycache": _word_property("all", " ".join(_CACHE)),
    "secondarycache": _word_property("all", " ".join(_CACHE)),
    "compression": _word_property(
        "off",
        f"{_LEVELS} {' '.join(f'zstd-{level}' for level in range(1, 20))}",
        shown="on | off | lzjb | gzip | gzip-[1-9] | zle | lz4 | zstd | zstd-[1-19] | zstd-fast | "
        "zstd-fast-[1-10,20,30,40,50,60,70,80,90,100,500,1000]",
    ),
    "recordsize": Property(default="131072", kinds=_FILES),
    "atime": _word_property("on", "on off", kinds=_FILES),
    "xattr": _word_property("on", "on off dir sa", kinds=_FILES),
    "redundant_metadata": _word_property("all", "all most some none"),
    "special_small_blocks": Property(default="0", kinds=_FILES, zero=True),
}
"""Properties by name."""

_READ_AS = {("compression", "gzip-6"): "gzip", ("xattr", "dir"): "on"}
"""Values that zfs reports under another name than the one that was set, by property and value."""

_READ_ONLY = {"guid", "type", "creation", "used", "available", "mounted", "volblocksize"}


@dataclass(slots=True, kw_only=True)
class Dataset:
    """A filesystem or zvol."""

    guid: int
    """GUID, which stays the same when the dataset is renamed."""
    kind: str = FILESYSTEM
    """`filesystem` or `volume`."""
    values: dict[str, str] = field(default_factory=dict)
    """Local property values. `INHERIT` overrides a received value."""
    received: dict[str, str] = field(default_factory=dict)
    """Property values from a received stream."""
    mountpoint: str = ""
    """Mount point of a filesystem."""
    size_bytes: int = 0
    """Size of a zvol in bytes."""
    block_bytes: int = 8192
    """Block size of a zvol in bytes."""
    node: str = ""
    """Kernel name of a zvol, such as `zd0`."""


@dataclass(slots=True, kw_only=True)
class ZfsPool:
    """A pool of mirrors."""

    name: str
    """Name of the pool and of its root dataset."""
    guid: int
    """GUID of the pool."""
    mirrors: list[list[str]]
    """Kernel names of the disks, one list per mirror."""
    size_bytes: int
    """Size as zpool reports it."""
    datasets: dict[str, Dataset]
    """Datasets by name, the root dataset first."""
    autotrim: str = "off"
    """`on` if ZFS trims freed space automatically."""
    ashift: int = 12
    """Binary logarithm of the sector size in bytes: 12 for 4096 bytes."""

    @property
    def disks(self) -> tuple[str, ...]:
        """Kernel names of all disks."""
        return tuple(disk for mirror in self.mirrors for disk in mirror)

    def value(self, name: str, key: str) -> tuple[str, str]:
        """Return the effective value of a property, and its source as zfs reports it."""
        dataset = self.datasets[name]
        if (pair := _local_value(dataset, key)) is not None:
            return pair
        for ancestor in _ancestors(name):
            if (value := _local_value(self.datasets[ancestor], key)) is not None:
                return value[0], f"inherited from {ancestor}"
        return PROPERTIES[key].default, "default"

    def record_bytes(self, name: str) -> int:
        """Return the maximum block size of new data in a dataset."""
        dataset = self.datasets[name]
        return dataset.block_bytes if dataset.kind == VOLUME else int(self.value(name, "recordsize")[0])

    def set(self, name: str, key: str, word: str) -> str:
        """Set a property. Return "" on success, or the refusal of zfs."""
        dataset, definition = self.datasets[name], PROPERTIES.get(key)
        prefix = f"cannot set property for '{name}': "
        if key in _READ_ONLY:
            return f"{prefix}'{key}' is readonly"
        if definition is None:
            return f"{prefix}invalid property '{key}'"
        if dataset.kind not in definition.kinds:
            return f"{prefix}'{key}' does not apply to datasets of this type"
        if definition.legal:
            if word not in definition.legal:
                return f"{prefix}'{key}' must be one of '{definition.shown}'"
            dataset.values[key] = _READ_AS.get((key, word), word)
            return ""
        size = read_size(word, bare="b")
        if size is None:
            return f"{prefix}bad numeric value '{word}'"
        if not (definition.zero and size == 0) and (size & (size - 1) or not 512 <= size <= 1 << 20):
            if definition.zero:
                return f"{prefix}invalid '{key}={word}' property: must be zero or a power of 2 from 512B to 1M"
            return f"{prefix}'{key}' must be power of 2 from 512B to 1M"
        dataset.values[key] = str(size)
        return ""

    def inherit(self, name: str, key: str, *, received: bool) -> str:
        """Clear the local value of a property. Return "" on success, or the refusal of zfs.

        `received`: revert to the received value if there is one.
        """
        if key in _READ_ONLY:
            return f"{key} property is read-only"
        if key not in PROPERTIES:
            return f"invalid property '{key}'"
        dataset = self.datasets[name]
        if dataset.kind not in PROPERTIES[key].kinds:
            return f"cannot inherit {key} for '{name}': property doesn't apply to datasets of this type"
        dataset.values.pop(key, None)
        if key in dataset.received and not received:
            dataset.values[key] = INHERIT
        return ""


def _local_value(dataset: Dataset, key: str) -> tuple[str, str] | None:
    """Return the property value that the dataset itself has, and its source. None if it inherits the value."""
    value = dataset.values.get(key)
    if value == INHERIT:
        return None
    if value is not None:
        return value, "local"
    return (dataset.received[key], "received") if key in dataset.received else None


def _ancestors(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name
