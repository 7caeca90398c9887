"""Faults of a drive according to its health data, and reasons against using it in a new array. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from enum import StrEnum

from backends.model import Drive, Health, Inventory, Media, State

WORN = 80.0
"""Used part of the rated endurance, in percent, from which a drive's replacement should be planned."""

OTHER_ERRORS = 100
"""Threshold of errors with other causes than the medium: raidbench reports them from this number on.

The counters cover the whole life of the drive and do not record when an error occurred. Each hot-plug, reset and
refused command adds a few, so small counts are normal. A bad cable, port or expander adds hundreds.
"""

_WARMEST = {Media.HDD: 60.0, Media.SSD: 70.0, Media.NVME: 70.0, Media.UNKNOWN: 70.0}
"""Highest operating temperature by media in degrees Celsius, as data sheets of server drives usually state it.

Drives of unknown media get the higher limit. Virtual disks and RAM have none.
"""

_FLASH_ON_PCIE = "pcie"
_WARMEST_ON_PCIE = 78.0
"""Temperature of the controller chip at which ioMemory cards begin to slow down (Fusion-io KB 37)."""

FOREIGN = "it has a foreign configuration and may belong to an array of another controller"
"""Reason against using a drive with a foreign configuration in a new array."""


class HealthFault(StrEnum):
    """Faults of a drive, most severe first. The device list shows the values."""

    PREDICTS_FAILURE = "predicts failure"
    LOCKED = "locked"
    MEDIA_ERRORS = "media errors"
    FOREIGN = "foreign"
    HOT = "hot"
    WORN = "worn"
    OTHER_ERRORS = "other errors"

    @property
    def is_grave(self) -> bool:
        """Whether the drive may fail soon or cannot be read."""
        return self in (HealthFault.PREDICTS_FAILURE, HealthFault.LOCKED)


def faults_of(drive: Drive, health: Health | None = None) -> tuple[HealthFault, ...]:
    """Return the faults of a drive, most severe first.

    `health`: health merged from several views of the drive; None to use the health in `drive`.
    """
    reported = drive.health if health is None else health
    limit = warmest(drive, reported)
    present = {
        HealthFault.PREDICTS_FAILURE: is_failing(reported),
        HealthFault.LOCKED: reported.locked,
        HealthFault.MEDIA_ERRORS: reported.media_errors,
        HealthFault.FOREIGN: reported.foreign or drive.state is State.FOREIGN,
        HealthFault.HOT: reported.temperature is not None and limit is not None and reported.temperature >= limit,
        HealthFault.WORN: (reported.wear_percent or 0) >= WORN,
        HealthFault.OTHER_ERRORS: (reported.other_errors or 0) >= OTHER_ERRORS,
    }
    return tuple(fault for fault in HealthFault if present[fault])


def is_failing(health: Health) -> bool:
    """Return whether the drive or its controller predicts a failure, by a status or by a counter."""
    return bool(health.predicts_failure or health.predictive_errors)


def warmest(drive: Drive, health: Health) -> float | None:
    """Return the temperature limit in degrees Celsius: the drive's own, else the usual one of its media, else None."""
    if health.temperature_limit is not None and health.temperature_limit > 0:
        return health.temperature_limit
    if drive.interface == _FLASH_ON_PCIE:
        return _WARMEST_ON_PCIE
    return _WARMEST.get(drive.media)


def worst_fault(drive: Drive) -> HealthFault | None:
    """Return the most severe fault of a drive; None if it has none."""
    return next(iter(faults_of(drive)), None)


def health_at(inventory: Inventory, drive: Drive) -> Health:
    """Return the health of a drive, merged from all drives of the inventory at the same node."""
    views = inventory.at(drive.device) if drive.device is not None else ()
    others = (view.health for view in views if isinstance(view, Drive) and view.target != drive.target)
    return merge_health((drive.health, *others))


def merge_health(reports: Iterable[Health]) -> Health:
    """Return one health report for several on one drive: a flag is set if any sets it; of numbers the largest counts.

    The temperature and its limit come from the same report, because each sensor has its own limit.
    """
    all_reports = tuple(reports)
    values: dict[str, bool | int | float | None] = {}
    for field in fields(Health):
        reported = [value for report in all_reports if (value := getattr(report, field.name)) is not None]
        flags = [value for value in reported if isinstance(value, bool)]
        values[field.name] = max(reported, default=None) if not flags else any(flags)
    warm = next((report for report in all_reports if report.temperature is not None), Health())
    values |= {"temperature": warm.temperature, "temperature_limit": warm.temperature_limit}
    return Health(**values)  # type: ignore[arg-type]  # each merged field has the type that it has in the reports


def reasons_against(health: Health) -> tuple[str, ...]:
    """Return the reasons against using a drive in a new array, each a clause."""
    conditions = (
        (health.foreign, FOREIGN),
        (health.locked, "it is encrypted and locked"),
        (is_failing(health), "it predicts failure"),
    )
    return tuple(reason for applies, reason in conditions if applies)


def cautions(health: Health) -> tuple[str, ...]:
    """Return warnings about the use of a drive in a new array, each a clause."""
    conditions = (
        (health.media_errors, f"it has {health.media_errors} media errors"),
        ((health.wear_percent or 0) >= WORN, f"it has used {health.wear_percent or 0:g} % of its rated endurance"),
    )
    return tuple(caution for applies, caution in conditions if applies)
