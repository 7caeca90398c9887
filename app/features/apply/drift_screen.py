"""Differences between the machine and a settings file that the user named. They are determined from existing readings,
so no program runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.tui.feature_hooks import DriftWatch, FileDifference
from backends.errors import NotFoundError, RaidbenchError
from backends.text import clean

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.apply.drift import Drift
    from app.features.apply.settings_file import DesiredFile
    from backends.model import Target
    from backends.settings import Reading

_NOTHING: Mapping[str, Drift] = MappingProxyType({})


class SettingsDrift(DriftWatch):
    """Differences between the session's machine and the settings file."""

    def __init__(self, workbench: Workbench, file: Path | None) -> None:
        """`file` is the settings file. If it is None, there are never any differences."""
        super().__init__(workbench, file)
        self._by_target: dict[str, dict[str, Drift]] = {}
        self._parsed: tuple[tuple[int, int, int], DesiredFile] | None = None
        self._reported: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name of the file for messages."""
        return "" if self.file is None else clean(self.file.name, 60)

    def at(self, target: str) -> Mapping[str, FileDifference]:
        """Return the differences of the settings of a target, by setting key."""
        return self._by_target.get(target, _NOTHING)

    async def update(self) -> tuple[RaidbenchError, ...]:
        """Compare again. Return new errors: in the settings file, or about selectors without a matching device.

        An error that was already returned is not returned again while it persists.
        """
        if self.file is None:
            return ()
        from app.features.apply.drift import DriftKind, DriftScan

        drifts: tuple[Drift, ...] = ()
        troubles: list[RaidbenchError] = []
        try:
            state = await DriftScan(self._workbench, self._read_file(self.file), self._last_readings).look()
        except RaidbenchError as error:
            troubles.append(error)
        else:
            drifts = tuple(drift for drift in state.drifts if drift.key and drift.kind is not DriftKind.UNREAD)
            if not self._workbench.session.probing:
                missing = [drift for drift in state.drifts if drift.kind is DriftKind.MISSING]
                lines = "".join(f" Line {drift.line}: {drift.why}." for drift in missing[:3])
                more = f" And {len(missing) - 3} more." if len(missing) > 3 else ""
                troubles += (
                    [NotFoundError(f"{self.name} names devices that this machine does not have.{lines}{more}")]
                    if missing
                    else []
                )
        if drifts != self.drifts:
            self.drifts, self._by_target = drifts, {}
            for drift in drifts:
                self._by_target.setdefault(str(drift.target), {})[drift.key] = drift
        new_errors = tuple(error for error in troubles if error.message not in self._reported)
        self._reported = frozenset(error.message for error in troubles)
        return new_errors

    def _read_file(self, file: Path) -> DesiredFile:
        """Return the parsed file, read again only if it changed. Raises DesiredError, NotFoundError."""
        from app.features.apply.settings_file import read_file

        try:
            info = file.stat()
        except OSError as error:
            raise NotFoundError(f"Cannot read {clean(str(file), 300)}: {error.strerror}.") from None
        stamp = (info.st_mtime_ns, info.st_size, info.st_ino)
        if self._parsed is None or self._parsed[0] != stamp:
            self._parsed = (stamp, read_file(file))
        return self._parsed[1]

    async def _last_readings(self, target: Target) -> Mapping[str, Reading]:
        """Return the last readings of a target by setting key. Raises NotFoundError when they were never read."""
        await asyncio.sleep(0)  # let the screens update: a file may name thousands of targets
        readings = self._workbench.hardware.machine.last_readings.get(target)
        if readings is None:
            raise NotFoundError(f"{target} has not been read yet.")
        return readings
