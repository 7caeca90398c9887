"""Identity of block devices, the layers below them, and their uses."""

from backends.topology.mounts import Mount, parse_mountinfo, parse_swaps
from backends.topology.scan import scan_topology
from backends.topology.tree import Node, Tree, kernel_name, node_path, read_tree, tree_of
from backends.topology.usage import SYSTEM_POINTS, Topology

__all__ = [
    "SYSTEM_POINTS",
    "Mount",
    "Node",
    "Topology",
    "Tree",
    "kernel_name",
    "node_path",
    "parse_mountinfo",
    "parse_swaps",
    "read_tree",
    "scan_topology",
    "tree_of",
]
