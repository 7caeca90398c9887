"""What really lies on a device: libblkid's low-level probe, through blkid and wipefs."""

from __future__ import annotations

from dataclasses import replace

from backends.errors import RaidbenchError
from backends.host import Command, Host
from backends.identity import Signature
from backends.topology.signatures import blkid_signatures, group_in, wipefs_signatures
from backends.topology.tree import Node

_FOUND, _NOTHING = 0, 2
"""Exit statuses of `blkid -p`; 8 is ambivalent, 4 an error."""


async def probe_signatures(host: Host, node: Node) -> tuple[Signature, ...]:
    """Every filesystem, RAID member or partition table on `node`; empty only if it is proven blank.

    `blkid -p` says 2 both for "nothing" and for "cannot be opened", sometimes without a word, so its word counts
    only together with an empty list from `wipefs`, which does say so. Anything else counts as found: kind `unknown`.
    """
    part = node.name if node.parent is not None else None
    unknown = Signature(kind="unknown", part=part, size_bytes=node.size_bytes)
    blkid, wipefs = host.which(("blkid",)), host.which(("wipefs",))
    if blkid is None or wipefs is None:
        return (unknown,)
    try:
        low = await host.run(Command(argv=(blkid, "-p", "-o", "export", node.device), timeout=30))
        full = await host.run(Command(argv=(wipefs, "--no-act", "--json", node.device), timeout=30))
    except RaidbenchError:
        return (unknown,)
    listed = wipefs_signatures(full.stdout, part, node.size_bytes)
    seen = blkid_signatures(low.stdout, part, node.size_bytes) if low.returncode == _FOUND else ()
    kinds = {signature.kind for signature in seen}
    found = (*seen, *(signature for signature in listed or () if signature.kind not in kinds))
    found = tuple([await _with_group(host, node, signature) for signature in found])
    sure = low.returncode in (_FOUND, _NOTHING) and not low.stderr.strip()
    sure = sure and full.returncode == 0 and listed is not None
    return found if sure else (*found, unknown)


async def _with_group(host: Host, node: Node, signature: Signature) -> Signature:
    """The mark of a physical volume with the name of its volume group, which is in LVM's own metadata only.

    `--readonly` takes no lock and writes nothing, nor does it activate anything (lvm(8)).
    """
    tool = host.which(("lvm",)) if signature.kind == "LVM2_member" and signature.label is None else None
    if tool is None:
        return signature
    words = ("pvs", "--readonly", "--reportformat", "json", "-o", "vg_name", node.device)
    try:
        done = await host.run(Command(argv=(tool, *words), timeout=20))
    except RaidbenchError:
        return signature
    return replace(signature, label=group_in(done.stdout) if done.returncode == 0 else None)
