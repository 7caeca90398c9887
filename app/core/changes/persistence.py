"""Values that survive a reboot: plans and installs the file that sets them at boot."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from app.core.session.events import RulePersisted
from app.core.session.inventory import SessionInventory
from app.core.session.recorder import Recorder
from backends.change_steps import persistence_error
from backends.host import Command
from backends.model import Target
from backends.protocol import CanPersist, PersistRule
from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """A planned file that sets values at boot, for one view of a target (its array, drive or kernel disk)."""

    target: Target
    rule: PersistRule
    values: Mapping[str, str]
    """The values by setting key; empty if the file is written without the lines for this target."""


class SettingPersister:
    """Plans and writes the files that set values again at boot."""

    def __init__(self, record: Recorder, hardware: SessionInventory) -> None:
        self._record, self._hardware = record, hardware

    async def plan_rules(self, target: Target, values: Mapping[str, str]) -> list[PlannedRule]:
        """Return the files that would persist `values`: one for each view of the target that has some of the settings.

        An empty mapping removes the target's lines from all of these files. The result then has each file with such
        lines, or a single unchanged file if there are none. Raises BlockedError if the target's settings cannot be
        persisted this way.
        """
        if values:
            homes = self._by_home(target, values).items()
            return [PlannedRule(home, await self._plan(home, part), part) for home, part in homes]
        able = [
            view
            for view in self._hardware.views_of(target)
            if isinstance(self._hardware.machine.backend(view), CanPersist)
        ]
        rules = [PlannedRule(view, await self._plan(view, {}), {}) for view in able or [target]]
        return [planned for planned in rules if planned.rule.changes] or rules[:1]

    async def _plan(self, view: Target, values: Mapping[str, str]) -> PersistRule:
        backend = self._hardware.machine.backend(view)
        if not isinstance(backend, CanPersist):
            raise persistence_error(view)
        return await backend.persist(view, values)

    def _by_home(self, target: Target, values: Mapping[str, str]) -> dict[Target, dict[str, str]]:
        """Return `values`, grouped by the view of the target that has the settings."""
        homes: dict[Target, dict[str, str]] = {}
        for key, value in values.items():
            homes.setdefault(self._hardware.owner_of_setting(target, key), {})[key] = value
        return homes

    async def install_rule(self, target: Target, rule: PersistRule, values: Mapping[str, str]) -> None:
        """Write the file that sets `values` at boot, and activate it.

        Raises StorageError, ToolFailedError, RefusedError if that fails.
        """
        if not rule.changes:
            return
        self._record.require_recording()
        self._record.emit(RulePersisted(at=time.time(), target=target, path=rule.path, values=dict(values)))
        if self._record.host.root_side is not None:
            await self._record.host.root_side.ask(
                "persist", target=str(target), scope=target.scope, values=dict(values), digest=rule.digest
            )
            return
        await self._record.host.install(rule.path, rule.content, before=rule.before)
        for argv in rule.reload:
            await self._reload(argv)

    async def _reload(self, argv: Sequence[str]) -> None:
        """Run the command that activates a written file.

        Without the tool, the file takes effect at the next boot anyway.
        """
        program = self._record.host.which((argv[0],))
        if program is not None:
            await self._record.host.run(Command(argv=(program, *argv[1:]), mutates=True))
