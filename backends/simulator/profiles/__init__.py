"""The machines of `--demo`, each a rack made as new."""

from __future__ import annotations

from collections.abc import Mapping

HOSTS: Mapping[str, str] = {
    "lsi": "rack-demo",
    "hpe": "rack-hpe",
    "linux": "rack-linux",
    "arrays": "rack-arrays",
    "ssds": "rack-ssds",
}
"""Host names by the racks' names; the first rack is that of `--demo` alone."""

FIRST = next(iter(HOSTS))

STATE_FILE = "demo-rack.json"
"""Where a rack keeps its state, in the state folder of its own."""


def demo_text(rack: str) -> str:
    """Return the words that choose a rack: `--demo`, `--demo hpe`; `--demo` for ""."""
    return "--demo" if rack in ("", FIRST) else f"--demo {rack}"


def rack_name(host: str) -> str:
    """Return which rack this is the host of; "" for none."""
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
"""What a rack may be made to suffer from."""
