"""Parsers for the output of zfs and zpool: datasets, and values with their sources. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from backends.subject import find_repeated
from backends.text import clean
from backends.topology.tree import number
from backends.values import dataclass


class ZfsKind(StrEnum):
    """Kind of a ZFS target."""

    MODULE = "module"
    POOL = "pool"
    FILESYSTEM = "filesystem"
    VOLUME = "volume"


OWN = ("local", "received", "temporary")
"""Sources of values that are set on the dataset itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZfsValue:
    """A property of a dataset or pool."""

    text: str
    """Value as zfs prints it with -p; `-` if the property does not apply."""
    source: str = "-"
    """`local`, `default`, `received`, `temporary`, `inherited from tank`, `-`."""
    received: str | None = None
    """Value that was received with a stream; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDataset:
    """A filesystem or volume in a listing."""

    name: str
    """Name such as `tank/files`; not cleaned."""
    kind: ZfsKind
    """FILESYSTEM or VOLUME; POOL for the root filesystem of a pool, which has the pool's name."""
    mountpoint: str | None = None
    """Mount point; None if it is not mounted."""
    size_bytes: int | None = None
    """Size of a volume in bytes."""
    block_bytes: int | None = None
    """Block size of a volume in bytes."""

    @property
    def pool(self) -> str:
        """Return the name of its pool."""
        return self.name.split("/", 1)[0]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*(?:[ /][A-Za-z0-9_.:-]+)*")


def is_name(text: str) -> bool:
    """Return whether this is a valid name of a pool, filesystem or volume (module/zcommon/zfs_namecheck.c)."""
    return len(text) < 256 and _NAME.fullmatch(text) is not None


DATASET_COLUMNS = ("name", "type", "mountpoint", "mounted", "volsize", "volblocksize")
"""Columns to list for every dataset."""

POOL_COLUMNS = ("name", "size", "capacity", "ashift", "autotrim", "guid")
"""Columns to list for every pool."""


def rows(text: str, columns: int) -> Iterator[tuple[str, ...]]:
    """Return the cells of lines with this number of columns, separated by tabs (-H). Other lines are skipped."""
    tuples = (tuple(line.split("\t")) for line in text.split("\n"))
    return (cells for cells in tuples if len(cells) == columns and cells[0])


def unambiguous_rows(text: str, columns: int, names: int = 1) -> Iterator[tuple[str, ...]]:
    """Return the distinct rows. If different rows have the same first `names` cells, all of these are left out."""
    different = tuple(dict.fromkeys(rows(text, columns)))
    twice = find_repeated(cells[:names] for cells in different)
    return (cells for cells in different if cells[:names] not in twice)


def parse_datasets(text: str) -> tuple[ListedDataset, ...]:
    """Return the datasets in the output of `zfs list` with DATASET_COLUMNS."""
    kinds = {"filesystem": ZfsKind.FILESYSTEM, "volume": ZfsKind.VOLUME}
    return tuple(
        ListedDataset(
            name=name,
            kind=ZfsKind.POOL if "/" not in name else kinds[kind],
            mountpoint=where if mounted == "yes" and where.startswith("/") and clean(where, 4096) == where else None,
            size_bytes=number(size),
            block_bytes=number(block),
        )
        for name, kind, where, mounted, size, block in unambiguous_rows(text, len(DATASET_COLUMNS))
        if kind in kinds and is_name(name)
    )


def parse_pools(text: str) -> dict[str, dict[str, str]]:
    """Return the pools in the output of `zpool list` with POOL_COLUMNS, by name."""
    return {
        cells[0]: dict(zip(POOL_COLUMNS, cells, strict=True)) for cells in unambiguous_rows(text, len(POOL_COLUMNS))
    }


def parse_values(text: str) -> dict[str, dict[str, ZfsValue]]:
    """Return the output of `zfs get -o name,property,value,received,source` by dataset and property."""
    by_dataset: dict[str, dict[str, ZfsValue]] = {}
    for name, key, value, received, source in unambiguous_rows(text, 5, names=2):
        by_dataset.setdefault(name, {})[key] = ZfsValue(
            text=value, source=source, received=None if received == "-" else received
        )
    return by_dataset


def parse_properties(text: str) -> dict[str, ZfsValue]:
    """Return the output of `zpool get -o property,value,source` by property."""
    return {key: ZfsValue(text=value, source=source) for key, value, source in unambiguous_rows(text, 3)}


def parse_arcstats(text: str | None) -> Mapping[str, int]:
    """Return the counters of /proc/spl/kstat/zfs/arcstats by name; empty if it could not be read."""
    table_rows = (line.split() for line in (text or "").split("\n"))
    cells = ((row[0], number(row[2])) for row in table_rows if len(row) == 3)
    return {name: value for name, value in cells if value is not None}
