"""What simulated programs and the simulated kernel answer, and figures as the cards' tools write them."""

from __future__ import annotations

import time

from backends.errors import ToolFailedError
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOutput:
    """Output and exit status."""

    text: str
    """Standard output."""
    code: int = 0
    """Exit status."""
    seconds: float = 0.0
    """How long it took, simulated."""
    changed: bool = False
    """Whether the rack is not as it was."""


def invalid_argument(text: str) -> ToolFailedError:
    """Return the kernel's refusal of what was written to one of its files."""
    return ToolFailedError(f"The kernel refused {text!r}: Invalid argument.", evidence="EINVAL")


def size_text(size: int) -> str:
    """`475.999 GB`, `2.182 TB`: binary units, three decimals, as storcli writes them."""
    for unit, power in (("TB", 40), ("GB", 30), ("MB", 20)):
        if size >= 1 << power:
            return f"{size / (1 << power):.3f} {unit}"
    return f"{size // 1024} KB"


def strip_text(strip: int) -> str:
    """`64 KB`, `1.000 MB`."""
    return "1.000 MB" if strip == 1 << 20 else f"{strip // 1024} KB"


def fahrenheit(celsius: int) -> str:
    """`31C (87.80 F)`."""
    return f"{celsius}C ({celsius * 9 / 5 + 32:.2f} F)"


def format_time(moment: float, form: str) -> str:
    """Return a moment of the rack's time in UTC as text."""
    return time.strftime(form, time.gmtime(moment))
