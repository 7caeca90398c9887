"""What zfs and zpool tell in columns, parsed: datasets, and their values with where each comes from. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from backends.subject import find_repeated
from backends.text import clean
from backends.topology.tree import number
from backends.values import dataclass


class ZfsKind(StrEnum):
    """What a target is."""

    MODULE = "module"
    POOL = "pool"
    FILESYSTEM = "filesystem"
    VOLUME = "volume"


OWN = ("local", "received", "temporary")
"""Sources of a value that a dataset has itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZfsValue:
    """A property of a dataset or pool."""

    text: str
    """As printed with -p; `-` where it does not apply."""
    source: str = "-"
    """`local`, `default`, `received`, `temporary`, `inherited from tank`, `-`."""
    received: str | None = None
    """The value that came with a stream, None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDataset:
    """A filesystem or a volume, as listed."""

    name: str
    """`tank/files`, not cleaned."""
    kind: ZfsKind
    """Filesystem or volume; the uppermost one is its pool."""
    mountpoint: str | None = None
    """Where it is mounted; None if it is not."""
    size_bytes: int | None = None
    """Size of a volume."""
    block_bytes: int | None = None
    """Block of a volume."""

    @property
    def pool(self) -> str:
        """Its pool."""
        return self.name.split("/", 1)[0]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*(?:[ /][A-Za-z0-9_.:-]+)*")


def is_name(text: str) -> bool:
    """Whether a pool, filesystem or volume can be called so (module/zcommon/zfs_namecheck.c)."""
    return len(text) < 256 and _NAME.fullmatch(text) is not None


DATASET_COLUMNS = ("name", "type", "mountpoint", "mounted", "volsize", "volblocksize")
"""What is listed of every dataset."""

POOL_COLUMNS = ("name", "size", "capacity", "ashift", "autotrim", "guid")
"""What is listed of every pool."""


def rows(text: str, columns: int) -> Iterator[tuple[str, ...]]:
    """Lines of so many columns, separated by tabs (-H); others are passed over."""
    tuples = (tuple(line.split("\t")) for line in text.split("\n"))
    return (cells for cells in tuples if len(cells) == columns and cells[0])


def rows_once(text: str, columns: int, names: int = 1) -> Iterator[tuple[str, ...]]:
    """Return the rows, without those whose first `names` cells another row has with other cells behind."""
    different = tuple(dict.fromkeys(rows(text, columns)))
    twice = find_repeated(cells[:names] for cells in different)
    return (cells for cells in different if cells[:names] not in twice)


def parse_datasets(text: str) -> tuple[ListedDataset, ...]:
    """All that `zfs list` printed in DATASET_COLUMNS."""
    kinds = {"filesystem": ZfsKind.FILESYSTEM, "volume": ZfsKind.VOLUME}
    return tuple(
        ListedDataset(
            name=name,
            kind=ZfsKind.POOL if "/" not in name else kinds[kind],
            mountpoint=where if mounted == "yes" and where.startswith("/") and clean(where, 4096) == where else None,
            size_bytes=number(size),
            block_bytes=number(block),
        )
        for name, kind, where, mounted, size, block in rows_once(text, len(DATASET_COLUMNS))
        if kind in kinds and is_name(name)
    )


def parse_pools(text: str) -> dict[str, dict[str, str]]:
    """All that `zpool list` printed in POOL_COLUMNS, by name."""
    return {cells[0]: dict(zip(POOL_COLUMNS, cells, strict=True)) for cells in rows_once(text, len(POOL_COLUMNS))}


def parse_values(text: str) -> dict[str, dict[str, ZfsValue]]:
    """By dataset and property what `zfs get -o name,property,value,received,source` printed."""
    by_dataset: dict[str, dict[str, ZfsValue]] = {}
    for name, key, value, received, source in rows_once(text, 5, names=2):
        by_dataset.setdefault(name, {})[key] = ZfsValue(
            text=value, source=source, received=None if received == "-" else received
        )
    return by_dataset


def parse_properties(text: str) -> dict[str, ZfsValue]:
    """By property what `zpool get -o property,value,source` printed."""
    return {key: ZfsValue(text=value, source=source) for key, value, source in rows_once(text, 3)}


def parse_arcstats(text: str | None) -> Mapping[str, int]:
    """Counters of /proc/spl/kstat/zfs/arcstats by name; empty where it cannot be read."""
    table_rows = (line.split() for line in (text or "").split("\n"))
    cells = ((row[0], number(row[2])) for row in table_rows if len(row) == 3)
    return {name: value for name, value in cells if value is not None}
