"""Simulated zpool and zfs: their output, and their changes to properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from backends.simulator.rack import Rack
from backends.simulator.tool_output import SimulatedOutput
from backends.simulator.zfs.pool import FILESYSTEM, PROPERTIES, VOLUME, Dataset, ZfsPool

T = TypeVar("T")

_VALUED = ("-o", "-t", "-s")


def zfs_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run zfs and return its output."""
    verb, (options, names) = (args or ("",))[0], _parse(args[1:])
    required = names if verb == "list" else names[1:]
    if missing := [name for name in required if rack.dataset(name) is None]:
        return SimulatedOutput(text=f"cannot open '{missing[0]}': dataset does not exist\n", code=1)
    match verb:
        case "list":
            kinds = _kinds(options)
            rows = (row for row in _named_datasets(rack, names) if row[2].kind in kinds)
            return _table(options, rows, lambda row, column: _column(*row, column))
        case "get":
            return _get(rack, options, names)
        case "set":
            key, _, value = names[0].partition("=")
            return _set_output(pool.set(name, key, value) for pool, name, _ in _named_datasets(rack, names[1:]))
        case "inherit":
            received = "-S" in options
            return _set_output(
                pool.inherit(name, names[0], received=received) for pool, name, _ in _named_datasets(rack, names[1:])
            )
        case _:
            return SimulatedOutput(text=f"unrecognized command '{verb}'\n", code=2)


def zpool_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run zpool and return its output."""
    verb, (options, names) = (args or ("",))[0], _parse(args[1:])
    has_key = verb in ("get", "set")
    required = names[1:] if has_key else names
    if missing := [name for name in required if name not in rack.pools]:
        return SimulatedOutput(text=f"cannot open '{missing[0]}': no such pool\n", code=1)
    pools = [pool for pool in rack.pools.values() if not required or pool.name in required]
    match verb:
        case "list":
            return _table(options, pools, lambda pool, column: _pool_values(pool)[column])
        case "get":
            rows = [(pool, key) for pool in pools for key in _pool_values(pool) if names[0] in ("all", key)]
            return _table(options, rows, _pool_row)
        case "set":
            return _set_output(_set_pool(pool, names[0]) for pool in pools)
        case "status":
            return SimulatedOutput(
                text="\n".join(_status(pool) for pool in pools) or "no pools available\n", seconds=0.05
            )
        case _:
            return SimulatedOutput(text=f"unrecognized command '{verb}'\n", code=2)


Row = tuple[ZfsPool, str, Dataset]


def _parse(args: Sequence[str]) -> tuple[Mapping[str, str], list[str]]:
    """Return options with their values, and the other arguments. In `-Hp`, each letter is a separate option."""
    options: dict[str, str] = {}
    rest: list[str] = []
    remaining = iter(args)
    for word in remaining:
        if word in _VALUED:
            options[word] = next(remaining, "")
        elif word.startswith("-"):
            options |= {f"-{letter}": "" for letter in word[1:]}
        else:
            rest.append(word)
    return options, rest


def _named_datasets(rack: Rack, names: Sequence[str]) -> list[Row]:
    """Return the datasets with these names, or all if no name is given."""
    rows = [(pool, name, dataset) for pool in rack.pools.values() for name, dataset in pool.datasets.items()]
    by_name = {row[1]: row for row in rows}
    return [by_name[name] for name in names] if names else rows


def _kinds(options: Mapping[str, str]) -> list[str]:
    return options.get("-t", FILESYSTEM).split(",")


def _table(options: Mapping[str, str], rows: Iterable[T], cell: Callable[[T, str], str]) -> SimulatedOutput:
    columns = options["-o"].split(",")
    text = "".join("\t".join(cell(row, column) for column in columns) + "\n" for row in rows)
    return SimulatedOutput(text=text, seconds=0.02)


def _column(pool: ZfsPool, name: str, dataset: Dataset, column: str) -> str:
    if column in PROPERTIES:
        return pool.value(name, column)[0] if dataset.kind in PROPERTIES[column].kinds else "-"
    is_volume = dataset.kind == VOLUME
    return {
        "name": name,
        "type": dataset.kind,
        "guid": str(dataset.guid),
        "used": str(dataset.size_bytes or 98304),
        "available": str(pool.size_bytes * 9 // 10),
        "mountpoint": "-" if is_volume else dataset.mountpoint or "none",
        "mounted": "-" if is_volume else "yes" if dataset.mountpoint else "no",
        "volsize": str(dataset.size_bytes) if is_volume else "-",
        "volblocksize": str(dataset.block_bytes) if is_volume else "-",
    }.get(column, "-")


def _get(rack: Rack, options: Mapping[str, str], names: Sequence[str]) -> SimulatedOutput:
    keys = names[0].split(",") if names else []
    sources = options.get("-s", "").split(",")

    def row(pair: tuple[Row, str], column: str) -> str:
        (pool, name, dataset), key = pair
        is_set = key in PROPERTIES and dataset.kind in PROPERTIES[key].kinds
        columns = {
            "name": name,
            "property": key,
            "value": _column(pool, name, dataset, key),
            "received": dataset.received.get(key, "-"),
            "source": pool.value(name, key)[1] if is_set else "-",
        }
        return columns[column]

    kinds = _kinds(options) if "-t" in options else (FILESYSTEM, VOLUME)
    datasets = _named_datasets(rack, names[1:])
    prefixes = tuple(f"{name}/" for name in names[1:]) if "-r" in options else ()
    datasets += [item for item in _named_datasets(rack, ()) if item[1].startswith(prefixes)]
    rows = [(dataset_row, key) for dataset_row in datasets if dataset_row[2].kind in kinds for key in keys]
    if "-s" in options:
        rows = [pair for pair in rows if row(pair, "source") in sources]
    return _table(options, rows, row)


def _pool_values(pool: ZfsPool) -> dict[str, str]:
    features = ("lz4_compress", "zstd_compress", "large_blocks", "allocation_classes")
    return {
        "name": pool.name,
        "guid": str(pool.guid),
        "size": str(pool.size_bytes),
        "allocated": "593920",
        "free": str(pool.size_bytes - 593920),
        "capacity": "0",
        "health": "ONLINE",
        "autotrim": pool.autotrim,
        "ashift": str(pool.ashift),
        **{f"feature@{name}": "active" if name == "lz4_compress" else "enabled" for name in features},
    }


def _pool_row(row: tuple[ZfsPool, str], column: str) -> str:
    pool, key = row
    is_local = key == "ashift" or (key == "autotrim" and pool.autotrim != "off") or key.startswith("feature@")
    source = "local" if is_local else "default" if key == "autotrim" else "-"
    return {"name": pool.name, "property": key, "value": _pool_values(pool)[key], "source": source}[column]


def _set_pool(pool: ZfsPool, text: str) -> str:
    key, _, value = text.partition("=")
    prefix = f"cannot set property for '{pool.name}': "
    if key != "autotrim":
        is_readonly = key in _pool_values(pool)
        return (
            f"{prefix}'{key}' is readonly" if is_readonly and key != "ashift" else f"{prefix}invalid property '{key}'"
        )
    if value not in ("on", "off"):
        return f"{prefix}'autotrim' must be one of 'on | off'"
    pool.autotrim = value
    return ""


def _status(pool: ZfsPool) -> str:
    rows = [(0, pool.name)]
    for number, mirror in enumerate(pool.mirrors):
        rows += [(2, f"mirror-{number}"), *((4, f"/dev/{disk}1") for disk in mirror)]
    width = max(10, *(depth + len(name) for depth, name in rows))
    lines = [f"\t{' ' * depth}{name:<{width - depth}}  {'ONLINE':<8} {0:>5} {0:>5} {0:>5}" for depth, name in rows]
    head = f"\t{'NAME':<{width}}  {'STATE':<8} {'READ':>5} {'WRITE':>5} {'CKSUM':>5}"
    end = ("", "errors: No known data errors", "")
    return "\n".join((f"  pool: {pool.name}", " state: ONLINE", "config:", "", head, *lines, *end))


def _set_output(refusals: Iterable[str]) -> SimulatedOutput:
    """Return the output of a change: its refusals, if any, and the exit status."""
    messages = [refusal for refusal in refusals if refusal]
    return SimulatedOutput(text="".join(f"{text}\n" for text in messages), code=1 if messages else 0, seconds=0.1)
