"""What can be set on an ioMemory card, declared once."""

from __future__ import annotations

from backends.settings import Effect, Risk, unconfirmed

SECTOR_SIZE = unconfirmed(
    key="sector_size",
    label="Sector size",
    help="Size of a sector that the card offers, in bytes (fio-format -b). 4096 takes less memory of the host and "
    "suits what writes 4 KiB and more. To change it the card is detached, formatted and attached again. Formatting "
    "goes back to the size that the card is sold with: flash that an earlier format set aside is not kept so.",
    risk=Risk.DESTROYS_DATA,
    risk_text="The card is formatted: everything on it is lost. Undo brings the old sector size back, not the data.",
    effect=Effect.RECREATED,
    unit="bytes",
)

SECTORS = (512, 4096)
"""Sector sizes that every VSL can format to."""

SETTINGS = (SECTOR_SIZE,)
"""All that a card has."""
