"""How much a drive is rated to take in its life: from a person, for no drive reports it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.model import Drive, Fact, Inventory

RATED = "Rated endurance"
"""What it is called among the facts of a drive.

The logs of NVMe (SMART / Health Information), ATA (device statistics, page 7) and SCSI (solid state media) have the
share that is used, as the drive reckons it, and what was written; none has the bytes that the share is of.
"""


def with_ratings(inventory: Inventory, terabytes: Mapping[str, float]) -> Inventory:
    """The inventory with what drives of these models are rated for, in terabytes written (TBW) by model."""
    if not terabytes:
        return inventory
    known = {_plain(model): amount for model, amount in terabytes.items()}

    def rated(drive: Drive) -> Drive:
        amount = None if drive.model is None else known.get(_plain(drive.model))
        if amount is None:
            return drive
        return replace(drive, facts=(*drive.facts, Fact(label=RATED, value=f"{amount:g} TB, by the configuration")))

    return replace(inventory, drives=tuple(map(rated, inventory.drives)))


def _plain(model: str) -> str:
    return " ".join(model.casefold().split())
