"""The SMART / Health log, from JSON or text. Pure, never raises."""

from __future__ import annotations

import re

from backends.vendors.nvme.answers import rows, tolerant, whole
from backends.vendors.nvme.facts import NvmeHealth

_KELVIN = re.compile(r"\((\d{1,5})\s*K", re.ASCII)
_CELSIUS = re.compile(r"\s*(-?\d{1,4})\s*(?:°|\ufffd|&deg;)?\s*C\b", re.ASCII)

ZERO_CELSIUS = 273
"""Kelvin, as nvme-cli counts."""


def parse_smart_log(text: str) -> NvmeHealth:
    """What `nvme smart-log` says, with or without `-o json`."""
    own = tolerant(text)
    if own:
        kelvin = whole(own.get("temperature"))
    else:
        own = rows(text)
        kelvin = _kelvin(own.get("temperature", ""))

    def number(*names: str) -> int | None:
        return next((found for name in names if (found := whole(own.get(name))) is not None), None)

    def percent(*names: str) -> int | None:
        found = number(*names)
        return found if found is not None and found <= 255 else None

    return NvmeHealth(
        kelvin=kelvin if kelvin and kelvin < 1 << 16 else None,
        percent_used=percent("percent_used", "percentage used"),
        spare=percent("avail_spare", "available spare"),
        spare_threshold=percent("spare_thresh", "available spare threshold"),
        critical_warning=percent("critical_warning", "critical warning"),
        media_errors=number("media_errors", "media errors"),
        warning_minutes=number("warning_temp_time", "warning temperature time"),
        throttled_light=number("thm_temp1_trans_count", "thermal management t1 trans count"),
        throttled_heavy=number("thm_temp2_trans_count", "thermal management t2 trans count"),
        hours=number("power_on_hours", "power on hours"),
    )


def _kelvin(text: str) -> int | None:
    """`50°C (323 Kelvin)`, `122 °F (323 K)`, `39 C`."""
    if found := _KELVIN.search(text[:200]):
        return int(found[1])
    if found := _CELSIUS.match(text[:200]):
        return max(0, int(found[1]) + ZERO_CELSIUS)
    return None
