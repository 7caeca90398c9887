"""A sentence about each scheduler."""

from __future__ import annotations

SENTENCES = {
    "none": "Requests go to the device as they come: best for fast NVMe and for RAID controllers that sort themselves.",
    "noop": "First come, first served with merging; the old name of doing nothing.",
    "mq-deadline": "Bounds the wait of each request and prefers reads: the usual choice for SATA, SAS and hard disks.",
    "deadline": "The single-queue form of mq-deadline, on old kernels.",
    "kyber": "Throttles queue depth to meet latency targets for reads and writes: for fast flash with mixed load.",
    "bfq": "Shares bandwidth fairly between programs: for slow disks and desktops, costs CPU time per request.",
    "cfq": "Fair time slices per program, on old kernels.",
    "adios": "Sorts by predicted latency: an addition of some distributions' kernels.",
}
"""One sentence of help per scheduler (Documentation/block, block/*-iosched.c)."""
