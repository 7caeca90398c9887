"""Output of simulated programs, refusals by the simulated kernel, and number formats of the controllers' tools."""

from __future__ import annotations

import time

from backends.errors import ToolFailedError
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOutput:
    """Output and exit status of a simulated program."""

    text: str
    """Standard output."""
    code: int = 0
    """Exit status."""
    seconds: float = 0.0
    """Duration in simulated seconds."""


def invalid_argument(text: str) -> ToolFailedError:
    """Return the kernel's error (EINVAL) for text written to one of its files."""
    return ToolFailedError(f"The kernel refused {text!r}: Invalid argument.", evidence="EINVAL")


def size_text(size: int) -> str:
    """Return a size in bytes as storcli writes it: `475.999 GB`, `2.182 TB` (binary units, three decimals)."""
    for unit, power in (("TB", 40), ("GB", 30), ("MB", 20)):
        if size >= 1 << power:
            return f"{size / (1 << power):.3f} {unit}"
    return f"{size // 1024} KB"


def strip_text(strip: int) -> str:
    """Return a strip size in bytes as `64 KB` or `1.000 MB`."""
    return "1.000 MB" if strip == 1 << 20 else f"{strip // 1024} KB"


def fahrenheit(celsius: int) -> str:
    """Return a temperature as `31C (87.80 F)`."""
    return f"{celsius}C ({celsius * 9 / 5 + 32:.2f} F)"


def format_time(moment: float, form: str) -> str:
    """Return a simulated time in UTC as a string. `form`: its format, as for strftime."""
    return time.strftime(form, time.gmtime(moment))
