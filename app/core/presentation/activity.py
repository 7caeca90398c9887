"""Present I/O of block devices in words and cells. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.benchmark.device_stats.activity import PARTS
from app.core.benchmark.device_stats.diskstats import DeviceRates
from app.core.presentation.table import Align, Column
from widgets.text_utils import units
from widgets.text_utils.sparkline import spark

COLUMNS = (
    Column(key="iops", title="IOPS", align=Align.RIGHT, room=5),
    Column(key="rate", title="MiB/s", align=Align.RIGHT, room=5),
    Column(key="latency", title="Latency", align=Align.RIGHT, room=7),
    Column(key="busy", title="Util", align=Align.RIGHT, room=5),
    Column(key="minute", title="Last minute", room=PARTS, priority=1),
)
"""Columns of the present I/O. The sparkline of the last minute shows the utilisation, from 0 to 100 %."""

_IDLE = ("0", "0", units.NOTHING, "0 %")
_UNKNOWN = (units.NOTHING,) * (len(COLUMNS) - 1)


def is_busy(rates: DeviceRates) -> bool:
    """Return whether the device has done anything."""
    return bool(rates.done.reads or rates.done.writes or rates.done.busy_ms)


def rate_cells(rates: DeviceRates | None) -> tuple[str, ...]:
    """Return IOPS, MiB/s, latency and utilisation; `-` in each cell for None."""
    if rates is None:
        return _UNKNOWN
    if not is_busy(rates):
        return _IDLE
    return (
        units.iops(rates.read_iops + rates.write_iops),
        units.mib_per_s(rates.read_bytes_per_second + rates.write_bytes_per_second),
        units.latency(rates.latency_ns),
        units.fraction(rates.utilisation),
    )


def minute_text(shares: Sequence[float | None], width: int = PARTS, *, ascii: bool = False) -> str:
    """Return the utilisation of the last minute as a sparkline."""
    return spark(shares, width, ascii_only=ascii, top=1.0)


def activity_line(
    rates: DeviceRates | None,
    shares: Sequence[float | None],
    members: Iterable[DeviceRates],
    width: int,
    *,
    ascii: bool = False,
) -> str:
    """Return the present I/O of a device in a line: `1.20k IOPS  4.69 MiB/s  0.8 ms  63 %`, then what has room.

    That is, for an array, the range of the utilisation of its members, and the sparkline of the last minute. Every
    number has a fixed place, so that few cells change.
    """
    iops, rate, latency, busy = rate_cells(rates)
    line = f"{iops:>5} IOPS {rate:>5} MiB/s {latency:>7} {busy:>5}"
    shown = sorted(member.utilisation for member in members)
    text = f"{line}  members {units.fraction(shown[0]):>5} to {units.fraction(shown[-1]):>5}" if shown else line
    line = text if len(text) <= width else line
    room = min(PARTS, width - len(line) - 2)
    return f"{line}  {minute_text(shares, room, ascii=ascii)}".rstrip() if room >= PARTS // 3 else line
