"""What a check found, as a session keeps it: the report of the session tells of the machine as it was then."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from app.engine.check.checking import Checked, judged
from app.engine.check.finding import Flaw
from app.engine.check.gather import gather
from app.engine.session.events import FoundFlaw, MachineChecked, last_check
from backends.errors import StorageError

if TYPE_CHECKING:
    from app.engine.session.recorder import Recorder
    from backends.registry import Machine


def record(session: Recorder, checked: Checked) -> None:
    """Put it into the session, where other things were found than the last time there. Never raises."""
    found = tuple(
        FoundFlaw(
            rule=ruling.rule.id,
            severity=ruling.rule.severity.value,
            where=ruling.said.where,
            message=ruling.said.message,
            evidence=ruling.said.evidence,
            mends=ruling.said.mends,
        )
        for ruling in checked.findings
        if isinstance(ruling.said, Flaw)
    )
    last = last_check(session.session.events)
    if session.logs and found != (last.findings if last is not None else ()):
        with contextlib.suppress(StorageError):
            session.emit(MachineChecked(at=time.time(), findings=found, rules=checked.rules))


async def check_session(session: Recorder, machine: Machine) -> None:
    """Judge what the session has seen of its machine; no program runs for it."""
    record(session, judged(await gather(machine.host, session.session.inventory, dict(machine.read_so_far))))
