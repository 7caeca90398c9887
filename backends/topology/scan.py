"""Scan of all block devices of a host, and probing of content with blkid and wipefs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from backends.errors import RaidbenchError, result_or_error
from backends.host import STALL, Command, Host
from backends.identity import Signature
from backends.text import clean
from backends.topology.device_identity import likely_of, other_paths
from backends.topology.device_mapper import TABLE, parse_mapped, query_dmsetup, segments_by_kernel_name
from backends.topology.exports import export_texts, read_exports, read_imports
from backends.topology.loop_backing import Backing, read_backings
from backends.topology.mounts import Mount, file_mount, parse_mountinfo, parse_swaps
from backends.topology.quiet_users import QuietUsers, read_quiet_users
from backends.topology.replicas import with_replicas
from backends.topology.signatures import (
    blkid_signatures,
    group_in,
    lsblk_signatures,
    parse_lsblk,
    udev_signatures,
    wipefs_signatures,
)
from backends.topology.stacking import pool_of, read_bcache, read_pools
from backends.topology.tree import Node, Tree, names_by_folder, read_tree, run_tool
from backends.topology.usage import Topology, mount_nodes, mounted_by_node, system_disks

_FOUND, _NOTHING = 0, 2
"""Exit statuses of `blkid -p`; 8 is ambivalent, 4 an error."""


async def probe_signatures(host: Host, node: Node) -> tuple[Signature, ...]:
    """Return every filesystem, RAID member and partition table on `node`; empty only if it is proven blank.

    `blkid -p` exits with 2 both for "nothing" and for "cannot be opened", sometimes without a message. Status 2 counts
    as blank only if `wipefs` also lists nothing, because it reports errors. In all other cases a signature of kind
    `unknown` is added.
    """
    signatures = await probe_path(host, node.device, node.part, node.size_bytes)
    return tuple([await _with_group(host, node, signature) for signature in signatures])


async def probe_path(
    host: Host, path: str, part: str | None = None, size_bytes: int | None = None
) -> tuple[Signature, ...]:
    """Return the signatures of a device or file by its path, like `probe_signatures`."""
    unknown = Signature(kind="unknown", part=part, size_bytes=size_bytes)
    blkid, wipefs = host.which(("blkid",)), host.which(("wipefs",))
    if blkid is None or wipefs is None:
        return (unknown,)
    try:
        low = await host.run(Command(argv=(blkid, "-p", "-o", "export", path), timeout=30, stall=STALL))
        full = await host.run(Command(argv=(wipefs, "--no-act", "--json", path), timeout=30, stall=STALL))
    except RaidbenchError:
        return (unknown,)
    listed = wipefs_signatures(full.stdout, part, size_bytes)
    from_blkid = blkid_signatures(low.stdout, part, size_bytes) if low.returncode == _FOUND else ()
    kinds = {signature.kind for signature in from_blkid}
    signatures = (*from_blkid, *(signature for signature in listed or () if signature.kind not in kinds))
    sure = low.returncode in (_FOUND, _NOTHING) and not low.stderr.strip()
    sure = sure and full.returncode == 0 and listed is not None
    return signatures if sure else (*signatures, unknown)


async def _with_group(host: Host, node: Node, signature: Signature) -> Signature:
    """Return the signature, with the volume group added for a physical volume: only LVM's metadata contains its name.

    `--readonly` takes no lock, writes nothing and activates nothing (lvm(8)).
    """
    if signature.kind != "LVM2_member" or signature.label is not None:
        return signature
    argv = ("lvm", "pvs", "--readonly", "--reportformat", "json", "-o", "vg_name", node.device)
    done = await run_tool(host, argv, seconds=20)
    return signature if done is None else replace(signature, label=group_in(done.stdout))


# -- scan of all block devices ----------------------------------------------------------------------------------------

READ_LIMIT = 1024 * 1024 - 1
"""Number of characters from which a text counts as truncated, because a host's `read` returns at most 1 MiB."""


async def scan_topology(host: Host, *, everywhere: bool = False) -> Topology:
    """Return the current topology. `everywhere`: also read what only the guard needs, such as exports and tables.

    If it is False, of the mount namespaces only raidbench's own and that of process 1 are read, which is cheap.
    """
    bare, own_mounts, swaps, btrfs, bcache = await asyncio.gather(
        read_tree(host, guarded=everywhere),
        host.read("/proc/self/mountinfo"),
        host.read("/proc/swaps"),
        host.list("/sys/fs/btrfs/*/devices/*"),
        read_bcache(host),
    )
    pools, signatures, tables = await asyncio.gather(  # in parallel: each program may wait for the same disk
        read_pools(host, bare), _signatures(host, bare), _tables(host, bare, everywhere=everywhere)
    )
    tree = await with_replicas(host, pools.under(bare))
    mounts = list(parse_mountinfo(own_mounts or ""))
    blind: list[str] = [] if mounts else ["/proc/self/mountinfo could not be read"]
    if len(own_mounts or "") >= READ_LIMIT:
        blind.append("the list of mounts is too long to read")
    others, unseen = await _other_mounts(host, None if everywhere else ("/proc/1",))
    mounts += others
    blind += unseen
    if swaps is None:
        blind.append("/proc/swaps could not be read")
    if not pools.known:
        names = ", ".join(pools.names)
        blind.append(f"zpool does not report the devices of the imported pools ({names})")
    btrfs_members = names_by_folder(btrfs)
    mounted = mounted_by_node(tree, mounts, btrfs_members)
    exports = await read_exports(host, tree) if everywhere else ()
    blind += [reason for export in exports if (reason := export.unidentified_reason)]
    backings = await read_backings(host, tree, mounts, sure=everywhere)
    backings |= await read_imports(host, tree, exports) if everywhere else {}
    if isinstance(signatures, RaidbenchError):
        blind.append(f"{signatures.message.rstrip('.')}, so the content of the devices is unknown")
    return Topology(
        tree=tree,
        tables=segments_by_kernel_name(tables, tree),
        mounts=tuple(mounts),
        mounted=mounted,
        system=system_disks(tree, mounted, mounts, pools),
        swaps=await _swap_numbers(host, parse_swaps(swaps or "")),
        btrfs=btrfs_members,
        pools=pools,
        datasets={pool: tuple(mount for mount in mounts if pool_of(mount) == pool) for pool in pools.names},
        bcache=bcache,
        loops=_loop_texts(tree, mounts, backings),
        twins=other_paths(tree),
        likely=likely_of(tree) if everywhere else {},
        backings=backings,
        mapped=parse_mapped(tables, tree) if everywhere else None,
        exported=export_texts(exports),
        quiet=await read_quiet_users(host, tree, mounts) if everywhere else QuietUsers(),
        signatures={} if isinstance(signatures, RaidbenchError) else signatures,
        blind=tuple(blind),
    )


async def _other_mounts(host: Host, only: tuple[str, ...] | None) -> tuple[list[Mount], list[str]]:
    """Return the mounts of other mount namespaces, and a clause if some are hidden. `only`: read only these processes.

    If the links in /proc/PID/ns are readable, one process per namespace is read. Otherwise all processes are read, and
    equal lists of mounts count once.
    """
    processes = only or [path.rsplit("/", 1)[0] for path in await host.list("/proc/[0-9]*/mountinfo")]
    links = await asyncio.gather(*(host.link(f"{path}/ns/mnt") for path in ("/proc/self", *processes)))
    spaces = {_namespace(links[0])}
    texts = {await host.read("/proc/self/mountinfo")}
    mounts: list[Mount] = []
    hidden = False
    for path, link in zip(processes, links[1:], strict=True):
        if link is not None and _namespace(link) in spaces:
            continue
        text = await host.read(f"{path}/mountinfo")
        if text is None:  # the process has ended, or is not readable
            hidden = hidden or (only is None and not host.is_root and (await host.stat(path)) is not None)
        elif text not in texts:
            name, number = clean(await host.read(f"{path}/comm") or "?", 32), path.rsplit("/", 1)[1]
            namespace = f"in the mount namespace of {name}, process {number}"
            seen_in = "outside this container" if number == "1" else namespace
            mounts += parse_mountinfo(text, seen_in=seen_in)
            hidden = hidden or len(text) >= READ_LIMIT
        spaces |= {_namespace(link)} if link is not None and text else set()
        texts.add(text)
    return mounts, ["the mounts of other programs are visible only to root"] if hidden else []


def _namespace(link: str | None) -> str:
    """Return `/proc/7/ns/mnt:[4026531841]` as `mnt:[4026531841]`."""
    return (link or "").rsplit("/", 1)[-1]


async def _swap_numbers(host: Host, areas: tuple[str, ...]) -> tuple[str, ...]:
    """Return one string per swap area: the number of a device, the ID of a file, or the path if neither can be read."""
    stats = await asyncio.gather(*(host.stat(area) for area in areas))
    identifiers = [stat.devno or stat.place if stat is not None else None for stat in stats]
    return tuple(number or area for area, number in zip(areas, identifiers, strict=True))


def _loop_texts(tree: Tree, mounts: list[Mount], backings: Mapping[str, Backing]) -> dict[str, dict[str, str]]:
    """Return descriptions of the loop and zram devices that store data on a device or in its files.

    The keys are the kernel name of the device, then that of the loop or zram device.
    """
    texts: dict[str, dict[str, str]] = {}
    for name, backing in backings.items():
        device = tree.nodes[name].device
        if backing.devno is not None:
            direct = tree.by_devno(backing.devno)
            under: tuple[Node, ...] = (direct,) if direct is not None else ()
            text = f"{device} is set up on it"
        else:
            mount = file_mount(backing.path, mounts)
            under = mount_nodes(tree, mount) if mount is not None else ()
            text = f"{device} stores its data on it, in {clean(backing.path)}"
        for lower in under:
            texts.setdefault(lower.name, {})[name] = text
    return texts


async def _tables(host: Host, tree: Tree, *, everywhere: bool) -> str:
    """Return the output of `dmsetup table`; "" if it fails or `everywhere` is False."""
    return await query_dmsetup(host, tree, TABLE) if everywhere else ""


async def _signatures(host: Host, tree: Tree) -> dict[str, tuple[Signature, ...]] | RaidbenchError:
    """Return the content of all devices by kernel name, from udev's database or else from lsblk; an error if lsblk
    fails.
    """
    rows: Mapping[str, Mapping[str, str]] = {}
    if not any(node.udev for node in tree.nodes.values()):
        tool = host.which(("lsblk",))
        if tool is not None:
            done = await result_or_error(host.run(Command(argv=(tool, "-J", "-b", "-O"), timeout=20, stall=STALL)))
            if isinstance(done, RaidbenchError):
                return done
            rows = parse_lsblk(done.stdout)
    contents: dict[str, tuple[Signature, ...]] = {}
    for node in tree.nodes.values():
        row, location = rows.get(node.name, {}), (node.part, node.size_bytes)
        content = udev_signatures(node.udev, *location) or lsblk_signatures(row, *location)
        if content:
            contents[node.name] = content
    return contents
