"""Simulated hosts of `--demo`, in their initial state. docs/simulation.md lists the articles A to F."""

from __future__ import annotations

from collections.abc import Mapping

HOSTS: Mapping[str, str] = {
    "lsi": "rack-demo",
    "hpe": "rack-hpe",
    "linux": "rack-linux",
    "arrays": "rack-arrays",
    "ssds": "rack-ssds",
}
"""Host names by name of the rack. The first one is used by `--demo` without a name."""

FIRST = next(iter(HOSTS))

STATE_FILE = "demo-rack.json"
"""File with a host's state, in its own state folder."""


def demo_text(rack: str) -> str:
    """Return the option that selects a rack: `--demo`, `--demo hpe`; `--demo` for ""."""
    return "--demo" if rack in ("", FIRST) else f"--demo {rack}"


def rack_name(host: str) -> str:
    """Return the name of the rack of a host, or ""."""
    return next((name for name, host_name in HOSTS.items() if host_name == host), "")


SOUND = "sound"
STATES: Mapping[str, str] = {
    "slow": "vendors' tools take 0.5 to 8 s to answer",
    "locked": "another ssacli runs, and somebody else is changing the disk system",
    "battery-failed": "no battery keeps a cache",
    "cache-problem": "the Smart Array's cache has a problem, and the card takes no changes",
    "old-tool": "arcconf does not know the newer card",
    "hung": "a disk of the rack linux answers after 60 s",
    "slow-disk": "another disk of the rack linux takes 30 % longer",
    SOUND: "none of these",
}
"""Simulated faults and their descriptions."""
