"""Findings for the TUI. They are computed from existing readings, so that no program runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.presentation.attention_list import AttentionItem
from app.tui.feature_hooks import CheckTracker
from backends.model import Inventory

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
        self._cached: tuple[Inventory, CheckResult | None, tuple[AttentionItem, ...]] = (Inventory(), None, ())
        self.checked: CheckResult | None = None
        """Result of the last check; None before the first."""

    @property
    def state(self) -> object:
        """The last result, which is another object after each check."""
        return self.checked

    async def update(self) -> None:
        """Check the last scan with the latest readings. The kernel files are read again only after a new scan."""
        from app.features.check.collector import gather
        from app.features.check.runner import evaluate, record

        machine, inventory = self._workbench.hardware.machine, self._workbench.session.inventory
        if self._snapshot is None or self._snapshot.inventory is not inventory:
            self._snapshot = await gather(machine.host, inventory, {})
        self.checked = evaluate(replace(self._snapshot, readings=dict(machine.last_readings)))
        record(self._workbench, self.checked)

    def facts(self, address: str) -> tuple[Facts, ...]:
        """Return the findings of a device as facts, which are shown above its other facts."""
        if self.checked is None or not (results := self.checked.at(address)):
            return ()
        from app.features.check.presentation import finding_facts

        return finding_facts(results)

    def troubles(self, inventory: Inventory) -> tuple[AttentionItem, ...]:
        """Return the attention items, faults first. They are cached, because the header needs them at every sample."""
        last_inventory, checked, items = self._cached
        if last_inventory is not inventory or checked is not self.checked:
            if self.checked is None:
                items = super().troubles(inventory)
            else:
                from app.features.check.presentation import checked_troubles

                items = checked_troubles(inventory, self.checked)
            self._cached = (inventory, self.checked, items)
        return items
