"""Prometheus and node_exporter: those of the machine, or the distribution's packages, unpacked and never installed.

Installed, Debian's packages start services that listen on every address.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.packages import PLACES, unpack

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / ".bootstrap" / "prometheus"
NAMES: Mapping[str, tuple[str, ...]] = {
    "prometheus": ("prometheus",),
    "node_exporter": ("prometheus-node-exporter", "node_exporter"),
    "promtool": ("promtool",),
}
"""By the name in these tests, what the program is called where."""
PACKAGES = ("prometheus", "prometheus-node-exporter")


class NotToBeHadError(Exception):
    """They cannot be had here, with the reason."""


def found() -> dict[str, str]:
    """The programs that are there, by their names here."""
    places = f"{PLACES}:{UNPACKED / 'usr' / 'bin'}"
    paths = {name: next(filter(None, (shutil.which(one, path=places) for one in NAMES[name])), None) for name in NAMES}
    return {name: path for name, path in paths.items() if path is not None}


def lacking() -> str:
    """Which are not there, in words; "" where all are."""
    names = [name for name in NAMES if name not in found()]
    return f"{', '.join(names)} cannot be found: make metrics gets them where it can" if names else ""


def get() -> dict[str, str]:
    """All of them, fetched where they are missing. Raises NotToBeHadError."""
    if not lacking():
        return found()
    why = unpack(PACKAGES, UNPACKED, places=PLACES)
    if why:
        raise NotToBeHadError(f"{lacking()}; {why}")
    if lacking():
        raise NotToBeHadError(f"{lacking()}: they are not in {', '.join(PACKAGES)}")
    return found()
