"""Findings for the screens: those of the command `check`, because the same devices are read and the same rules run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.tui.feature_hooks import CheckTracker

if TYPE_CHECKING:
    from app.core.presentation.table import Facts
    from app.core.workbench import Workbench
    from app.features.check.runner import CheckResult
    from app.features.check.snapshot import SystemSnapshot


class CheckFindings(CheckTracker):
    """Provides the findings about the machine of the session."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__(workbench)
        self._snapshot: SystemSnapshot | None = None
        self.checked: CheckResult | None = None
        """Result of the last check; None before the first."""
        self.last_visited: str | None = None
        """Key of the row of the list of findings on which the cursor was last; None before the list is first shown."""

    @property
    def state(self) -> object:
        """The last result, which is another object after each check."""
        return self.checked

    @property
    def severities(self) -> Sequence[str]:
        """The severity of each finding of the last check, the gravest first."""
        return () if self.checked is None else self.checked.severities

    async def update(self) -> None:
        """Check the last scan. Devices and kernel files that were read since the scan are not read again.

        An incomplete scan is not checked: its findings would not last.
        """
        from app.features.check.collector import gather
        from app.features.check.runner import evaluate, record

        machine, session = self._workbench.hardware.machine, self._workbench.session
        if session.probing:
            return
        inventory = session.inventory
        with machine.using_last_scan():
            readings, problems = await machine.read_remaining_devices(inventory)
        if self._snapshot is None or self._snapshot.inventory is not inventory:
            self._snapshot = await gather(machine.host, inventory, {})
        self.checked = evaluate(replace(self._snapshot, readings=readings), problems=problems)
        record(self._workbench, self.checked)

    def facts(self, address: str) -> tuple[Facts, ...]:
        """Return the findings of a device as facts, which are shown above its other facts."""
        if self.checked is None or not (results := self.checked.at(address)):
            return ()
        from app.features.check.presentation import finding_facts

        return finding_facts(results)
