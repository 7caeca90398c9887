"""Values that survive a reboot: the file that sets them at boot, planned and installed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from app.core.session.events import RulePersisted
from app.core.session.inventory import SessionInventory
from app.core.session.recorder import Recorder
from backends.change_steps import persistence_error
from backends.errors import BlockedError
from backends.host import Command
from backends.model import Target
from backends.protocol import CanPersist, PersistRule


class SettingPersister:
    """Writes the files that set values again at boot."""

    def __init__(self, record: Recorder, hardware: SessionInventory) -> None:
        self._record, self._hardware = record, hardware

    async def plan_rule(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """Return the file that would persist `values`; an empty mapping removes the target's lines.

        Raises BlockedError if the target's settings cannot be persisted this way.
        """
        keeper = self.keeper_of(target, values)
        backend = self._hardware.machine.backend(keeper)
        if not isinstance(backend, CanPersist):
            raise persistence_error(keeper)
        return await backend.persist(keeper, values)

    def keeper_of(self, target: Target, values: Mapping[str, str]) -> Target:
        """Return the view of the target that has all of the values; for no values the first that can persist any.

        Raises BlockedError if different views have them.
        """
        homes = tuple(dict.fromkeys(self._hardware.owner_of_setting(target, key) for key in values))
        if len(homes) > 1:
            raise BlockedError(
                f"Settings of {' and '.join(map(str, homes))} are stored in different places.",
                hint="Make the settings of each one persistent separately.",
            )
        able = (
            view
            for view in self._hardware.views_of(target)
            if isinstance(self._hardware.machine.backend(view), CanPersist)
        )
        return homes[0] if homes else next(able, target)

    async def install_rule(self, target: Target, rule: PersistRule, values: Mapping[str, str]) -> None:
        """Write the file and activate it.

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
        """Activate a rule; without the tool it takes effect at the next boot, which is sufficient."""
        program = self._record.host.which((argv[0],))
        if program is not None:
            await self._record.host.run(Command(argv=(program, *argv[1:]), mutates=True))
