"""What really lies on a device: libblkid's low-level probe, through blkid and wipefs."""

from __future__ import annotations

from backends.errors import RaidbenchError
from backends.host import Command, Host
from backends.identity import Signature
from backends.topology.signatures import blkid_signatures, wipefs_signatures
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
    sure = low.returncode in (_FOUND, _NOTHING) and not low.stderr.strip()
    sure = sure and full.returncode == 0 and listed is not None
    return found if sure else (*found, unknown)
