"""Simulated hosts of `--demo`, in their initial state. The articles A to F are listed in docs/simulation.md."""

from __future__ import annotations

from collections.abc import Mapping

HOSTS: Mapping[str, str] = {
    "lsi": "rack-demo",
    "hpe": "rack-hpe",
    "linux": "rack-linux",
    "arrays": "rack-arrays",
    "ssds": "rack-ssds",
}
"""Host names by name of the rack. `--demo` without a name uses the first rack."""

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
    "slow": "vendor tools take 0.5 to 8 s to answer",
    "locked": "another ssacli runs, and another client changes the disk system",
    "battery-failed": "all cache batteries have failed",
    "cache-problem": "the Smart Array cache has a fault, and the controller refuses changes",
    "old-tool": "arcconf does not support the newer controller",
    "hung": "a drive of the host linux answers after 60 s",
    "slow-disk": "another drive of the host linux is 30 % slower",
    SOUND: "none of these",
}
"""Simulated faults and their descriptions."""
