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


def option(host: str) -> str:
    """The words that choose the rack of this host: `--demo`, `--demo hpe`; `--demo` where no rack is called so."""
    name = rack_of(host)
    return "--demo" if name in ("", FIRST) else f"--demo {name}"


def rack_of(host: str) -> str:
    """Which rack this is the host of; "" for none."""
    return next((name for name, known in HOSTS.items() if known == host), "")


def state_file(name: str) -> str:
    """Where a rack keeps its state, beside the sessions."""
    return "demo-rack.json" if name == FIRST else f"demo-rack-{name}.json"


SOUND = "sound"
STATES: Mapping[str, str] = {
    "slow": "vendors' tools take 0.5 to 8 s to answer",
    "locked": "another ssacli runs, and somebody else is changing the disk system",
    "battery-failed": "no battery keeps a cache",
    "cache-problem": "the Smart Array's cache has a problem, and the card takes no changes",
    "old-tool": "arcconf does not know the newer card",
    "hung": "a disk of the rack linux answers after 60 s",
    SOUND: "none of these",
}
"""What a rack may be made to suffer from."""
