"""Whether the workbench may be suspended (Ctrl+Z)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.worker import Worker

    from app.core.workbench import Workbench


JOINT = "joint"
"""Worker group of a run on many hosts."""


def suspend_refusal(workbench: Workbench, workers: Iterable[Worker[object]]) -> str:
    """Return why the workbench cannot be suspended now, as a sentence; "" if it can.

    A sweep and the watchdog of a trial have their own processes, which continue.
    """
    groups = {worker.group for worker in workers if not worker.is_finished}
    if workbench.jobs.running:
        return "a job is running, and nobody would read what fio reports meanwhile. x ends it, q leaves."
    if JOINT in groups:
        return "hosts are measuring together, and stop when they hear nothing from here. x ends it, q leaves."
    if "write" in groups and not workbench.changes.trials():
        return "something is being set. It takes seconds."
    if workbench.changes.watches_itself and workbench.changes.trials():
        return "of a simulated machine nobody takes the trial back meanwhile. K keeps it, u takes it back."
    return ""
