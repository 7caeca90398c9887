"""Which block device is which, what it is built of, and what uses it."""

from backends.topology.look import MEMBER_KINDS, SYSTEM_POINTS, Topology, look
from backends.topology.mounts import Mount, parse_mountinfo, parse_swaps
from backends.topology.tree import Node, Tree, node_path, read_tree

__all__ = [
    "MEMBER_KINDS",
    "SYSTEM_POINTS",
    "Mount",
    "Node",
    "Topology",
    "Tree",
    "look",
    "node_path",
    "parse_mountinfo",
    "parse_swaps",
    "read_tree",
]
