"""A recorded machine by hand: one disk, with whatever names a test wants it to have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HOSTILE = "ST4000[/] |`<b>*x* \x1b]0;owned\x07\u202e"
"""A model that tries markup, Markdown, HTML, terminal escapes and right-to-left text."""

_QUEUE = {
    "scheduler": "none [mq-deadline]",
    "read_ahead_kb": "128",
    "nr_requests": "256",
    "rq_affinity": "1",
    "nomerges": "0",
    "wbt_lat_usec": "75000",
    "max_sectors_kb": "1280",
    "max_hw_sectors_kb": "4096",
    "write_cache": "write back",
    "add_random": "0",
    "iostats": "1",
    "rotational": "1",
    "logical_block_size": "512",
    "physical_block_size": "4096",
}


def machine(folder: Path, *, model: str = "TOSHIBA DT01", root: bool = True) -> Path:
    """The folder of a machine with the disk sda."""
    files: dict[str, str | None] = {
        "/sys/block/sda/dev": "8:0",
        "/sys/block/sda/size": "7814037168",
        "/sys/block/sda/ro": "0",
        "/sys/block/sda/device/model": model,
        "/sys/block/sda/device/vendor": "ATA",
        "/sys/block/sda/device/state": "running",
        "/sys/block/sda/device/wwid": "naa.5000039ff4c0ffee",
        "/sys/block/sda/serial": "X5C0FFEE77",
        "/proc/self/mountinfo": "",
        "/proc/1/mountinfo": "",
        "/proc/swaps": "Filename Type Size Used Priority",
        "/proc/cpuinfo": "processor : 0\nmodel name : Testium",
        "/proc/meminfo": "MemTotal: 1024 kB",
        "/proc/sys/kernel/osrelease": "6.1.0",
    }
    files |= {f"/sys/block/sda/queue/{key}": text for key, text in _QUEUE.items()}
    lists = {"/sys/block/*": ["/sys/block/sda"]}
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {"format": 1, "name": "pear", "root": root, "files": files, "lists": lists}
    content |= {
        "links": {"/sys/block/sda": "/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda"},
        "stats": {},
    }
    content |= {"commands": [], "which": {}, "writable": {}}
    (folder / "machine.json").write_text(json.dumps(content))
    return folder
