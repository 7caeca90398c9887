"""Whether the workbench may be suspended (Ctrl+Z)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.worker import Worker

    from app.core.workbench import Workbench


JOINT = "joint"
"""Worker group of a run on many hosts."""


def suspend_refusal(workbench: Workbench, workers: Iterable[Worker[object]]) -> str:
    """Return the reason why the workbench cannot be suspended now, as a sentence; "" if it can be.

    A sweep and the watchdog of a trial have their own processes, which continue.
    """
    groups = {worker.group for worker in workers if not worker.is_finished}
    if workbench.jobs.running:
        return "a job is running, and fio's output must be read. <bench.jobs.stop> stops it, <app.quit> quits."
    if JOINT in groups:
        return "hosts are measuring, and stop if raidbench does not answer. <joint.stop> stops them, <app.quit> quits."
    if "write" in groups and not workbench.changes.trials():
        return "a setting is being applied. Try again in a few seconds."
    if workbench.changes.watches_itself and workbench.changes.trials():
        keys = "<app.keep-trial> keeps it, <app.take-back> reverts it."
        return f"the trial on a simulated host would not be reverted in time. {keys}"
    return ""


def is_shell_job() -> bool:
    """Return whether a shell with job control started this process, so that it can continue a stopped one.

    Such a shell puts every job into a process group of its own. The group of the session leader has no such shell.
    """
    return os.getpgrp() != os.getsid(0)
