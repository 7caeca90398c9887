"""Titles of the workloads, in a module of their own because shell completion must load them fast."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "randread-4k": "4k random read",
    "randwrite-4k": "4k random write",
    "seqread-4k": "4k sequential read",
    "seqwrite-4k": "4k sequential write",
    "seqread-4m": "4M sequential read",
    "seqwrite-4m": "4M sequential write",
    "mixed-32k": "32k random, 75/25",
    "randread-32k": "32k random read",
    "mixed-4k": "4k random, 67/33",
    "iometer-file-server": "File server (sector aligned)",
    "iometer-file-server-4k": "File server (4k aligned)",
    "iometer-web-server": "Web server (sector aligned)",
    "iometer-web-server-4k": "Web server (4k aligned)",
    "iometer-database": "Database (sector aligned)",
    "iometer-database-4k": "Database (4k aligned)",
    "etcd": "Write-ahead log of etcd",
    "ceph-osd": "Commits of a Ceph OSD",
    "postgres": "Write-ahead log of PostgreSQL",
}
"""A short title for each workload name, in display order."""
