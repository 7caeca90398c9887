"""Test files that end the same whoever runs them: `make test-user` leaves them out, since root has run them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_VENDORS = (
    *("bcache", "dm", "fusionio", "hba", "listed", "lvm", "mdraid", "megaraid", "nvme", "scsi"),
    *("smartarray", "smcli", "told", "zfs"),
)
_FEATURES = ("ab", "advice", "apply", "arrays", "check", "fleet", "history", "plots", "report", "slowest", "sweep")
_CORE = ("analysis", "benchmark/device_stats", "changes/arrays", "presentation")
FOLDERS = (
    *(f"tests/backends/{name}" for name in (*_VENDORS, "simulator")),
    *(f"tests/features/{name}" for name in _FEATURES),
    *(f"tests/core/{name}" for name in _CORE),
    *("tests/journeys", "tests/recordings", "tests/tui", "tests/widgets"),
)
"""Values, widgets, screens, parsers and simulated tools: most files there ask the system nothing."""

SHARED = (
    r"backends\.megaraid\.programs",
    r"features\.report\.chromium",
    r"journeys\.terminal",
)
"""Modules in these folders, as a pattern each, that ask the system something: so does a test file that imports one."""

_SYSTEM = re.compile(
    r"\b(LocalHost|subprocess|psutil|chmod|chown|[gs]ete?[ug]id|needs_root|loops|tests\.privsep|run_here|cli: Cli)\b"
    rf"|\btests\.(?:{'|'.join(SHARED)})\b"
    r"|mark\.(?:root|fio)\b"
)


def is_alike(path: Path) -> bool:
    """Return whether a test file lies in one of the folders and asks the system nothing."""
    inside = any(path.is_relative_to(ROOT / folder) for folder in FOLDERS)
    return inside and not system_words(path.read_text(encoding="utf-8"))


def system_words(text: str) -> frozenset[str]:
    """Return the words of a file that ask the system something."""
    return frozenset(match.group() for match in _SYSTEM.finditer(text))
