"""Simulated hosts of `--demo`, in their initial state. The plans articles-* repeat the runs of articles A to F."""

from __future__ import annotations

from collections.abc import Mapping

HOSTS: Mapping[str, str] = {
    "lsi": "rack-demo",
    "hpe": "rack-hpe",
    "linux": "rack-linux",
    "arrays": "rack-arrays",
    "ssds": "rack-ssds",
}
"""Host names by name of the simulated host (the rack). `--demo` without a name selects the first one."""

FIRST = next(iter(HOSTS))

STATE_FILE = "demo-rack.json"
"""Name of the file with a simulated host's state. The file is in a state folder of that host."""


def demo_text(rack: str) -> str:
    """Return the option that selects a simulated host, such as `--demo hpe`; `--demo` for the first host or no name."""
    return "--demo" if rack in ("", FIRST) else f"--demo {rack}"


def rack_name(host: str) -> str:
    """Return the name of the simulated host (such as `hpe`) with this host name, or an empty string."""
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
