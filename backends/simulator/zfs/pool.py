"""A ZFS pool of the simulated host: its disks, its datasets, and where each of their values comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from backends.sizes import read_size
from backends.values import dataclass

FILESYSTEM, VOLUME = "filesystem", "volume"
INHERIT = "-"
"""What stands for a value that is inherited although one was received."""

_BOTH, _FILES = (FILESYSTEM, VOLUME), (FILESYSTEM,)
_CACHE = ("all", "none", "metadata")
_LEVELS = "on off lzjb gzip gzip-1 gzip-2 gzip-3 gzip-4 gzip-5 gzip-6 gzip-7 gzip-8 gzip-9 zle lz4 zstd zstd-fast"


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property that may be set, as OpenZFS 2.1 has it (module/zcommon/zfs_prop.c)."""

    default: str
    """Where nobody set it."""
    kinds: tuple[str, ...] = _BOTH
    """Datasets that have it."""
    words: tuple[str, ...] = ()
    """Legal words; none for a size."""
    shown: str = ""
    """The same as zfs lists them in a refusal."""
    zero: bool = False
    """Whether a size may be 0."""


def _word_property(default: str, text: str, *, kinds: tuple[str, ...] = _BOTH, shown: str = "") -> Property:
    return Property(default=default, kinds=kinds, words=tuple(text.split()), shown=shown or " | ".join(text.split()))


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
"""By name."""

_READ_AS = {("compression", "gzip-6"): "gzip", ("xattr", "dir"): "on"}
"""Words that are read as another one."""

_READ_ONLY = {"guid", "type", "creation", "used", "available", "mounted", "volblocksize"}


@dataclass(slots=True, kw_only=True)
class Dataset:
    """A filesystem or a volume."""

    guid: int
    """What it is, whatever its name."""
    kind: str = FILESYSTEM
    """`filesystem` or `volume`."""
    values: dict[str, str] = field(default_factory=dict)
    """What was set on it; `INHERIT` over a received value."""
    received: dict[str, str] = field(default_factory=dict)
    """What came with a stream."""
    mountpoint: str = ""
    """Where a filesystem is mounted."""
    size_bytes: int = 0
    """Size of a volume."""
    block_bytes: int = 8192
    """Block of a volume."""
    node: str = ""
    """Kernel name of a volume, `zd0`."""


@dataclass(slots=True, kw_only=True)
class ZfsPool:
    """A pool of mirrors."""

    name: str
    """Its name, and that of its uppermost dataset."""
    guid: int
    """What it is."""
    mirrors: list[list[str]]
    """Kernel names of the disks, a mirror at a time."""
    size_bytes: int
    """As zpool has it."""
    datasets: dict[str, Dataset]
    """By name, the uppermost first."""
    autotrim: str = "off"
    """Whether freed space is told the disks."""
    ashift: int = 12
    """Power of two of its sector."""

    @property
    def disks(self) -> tuple[str, ...]:
        """Kernel names of all of them."""
        return tuple(disk for mirror in self.mirrors for disk in mirror)

    def value(self, name: str, key: str) -> tuple[str, str]:
        """A value as it reads, and its source in zfs's words."""
        own = self.datasets[name]
        if (pair := _own_value(own, key)) is not None:
            return pair
        for above in _ancestors(name):
            if (value := _own_value(self.datasets[above], key)) is not None:
                return value[0], f"inherited from {above}"
        return PROPERTIES[key].default, "default"

    def record_bytes(self, name: str) -> int:
        """What new blocks of a dataset are written in at most."""
        own = self.datasets[name]
        return own.block_bytes if own.kind == VOLUME else int(self.value(name, "recordsize")[0])

    def set(self, name: str, key: str, word: str) -> str:
        """Set a value; "" or zfs's words against it."""
        own, definition = self.datasets[name], PROPERTIES.get(key)
        refused = f"cannot set property for '{name}': "
        if key in _READ_ONLY:
            return f"{refused}'{key}' is readonly"
        if definition is None:
            return f"{refused}invalid property '{key}'"
        if own.kind not in definition.kinds:
            return f"{refused}'{key}' does not apply to datasets of this type"
        if definition.words:
            if word not in definition.words:
                return f"{refused}'{key}' must be one of '{definition.shown}'"
            own.values[key] = _READ_AS.get((key, word), word)
            return ""
        size = read_size(word, bare="b")
        if size is None:
            return f"{refused}bad numeric value '{word}'"
        if not (definition.zero and size == 0) and (size & (size - 1) or not 512 <= size <= 1 << 20):
            if definition.zero:
                return f"{refused}invalid '{key}={word}' property: must be zero or a power of 2 from 512B to 1M"
            return f"{refused}'{key}' must be power of 2 from 512B to 1M"
        own.values[key] = str(size)
        return ""

    def inherit(self, name: str, key: str, *, received: bool) -> str:
        """Take what was set off; "" or zfs's words against it. `received`: back to what came with a stream."""
        if key in _READ_ONLY:
            return f"{key} property is read-only"
        if key not in PROPERTIES:
            return f"invalid property '{key}'"
        own = self.datasets[name]
        if own.kind not in PROPERTIES[key].kinds:
            return f"cannot inherit {key} for '{name}': property doesn't apply to datasets of this type"
        own.values.pop(key, None)
        if key in own.received and not received:
            own.values[key] = INHERIT
        return ""


def _own_value(dataset: Dataset, key: str) -> tuple[str, str] | None:
    """Return the value of a dataset itself and its source; None where it inherits."""
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
