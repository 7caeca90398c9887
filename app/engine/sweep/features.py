"""Options of a controller that a key and a restart bring: on a simulated rack on the way, on a real one by hand."""

from __future__ import annotations

import contextlib
import time

from app.engine.session.events import ChangeEnded
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import NeededFeature
from app.engine.sweep.known import is_active
from app.engine.workbench import Workbench
from backends.errors import RaidbenchError, ToolFailedError
from backends.model import Controller

ACTIVATION_KEY = "activation_key"
"""The setting that takes keys."""


class FeatureMissingError(RaidbenchError):
    """The rest of the sweep needs a feature that is not active, and a restart that is nobody's to make but yours."""


async def activate(bench: Workbench, feature: NeededFeature) -> None:
    """Give a simulated controller its key and restart its host. Raises FeatureMissingError on any other."""
    if bench.restarts is None or feature.key is None:
        raise FeatureMissingError(
            f"{feature.name} is not active on {feature.target}, and the steps that are left need it.",
            hint=f"Activate it (`raidbench set {feature.target} {ACTIVATION_KEY}=KEY`), restart the machine, and go on "
            "with `raidbench sweep --resume`.",
        )
    with contextlib.suppress(ToolFailedError):  # refused when it was given before a crash, and waits for the restart
        await bench.apply(await bench.plan(feature.target, ACTIVATION_KEY, feature.key))
    bench.note(f"The simulated host restarts, so that {feature.name} is in force.")
    await bench.restarts.restart()
    await bench.probe()
    if not is_active(_controller(bench, feature), feature.name):
        raise FeatureMissingError(f"{feature.name} is not active on {feature.target} even after a restart.")


async def forget(bench: Workbench, record: SweepRecord) -> tuple[str, ...]:
    """Take back from a simulated controller what the sweep activated; sentences about what is left."""
    left: list[str] = []
    for feature in record.design.features:
        if feature.active or bench.restarts is None or record.todo:  # what is left to do would need it again
            continue
        try:
            if is_active(_controller(bench, feature), feature.name):
                await bench.restarts.restart(without=feature.name)
                told = f"The simulated host restarted without {feature.name}, as it was before. A real card keeps it."
                bench.note(told)
                await bench.probe()
        except RaidbenchError as error:
            left.append(f"{feature.name} is still active on {feature.target}: {error.message}")
            continue
        for made in bench.session.in_force:
            if made.id in record.changes and made.change.key == ACTIVATION_KEY:
                message = "the simulated rack has forgotten the key"
                bench.emit(ChangeEnded(at=time.time(), id=made.id, result="restored", now=None, message=message))
    return tuple(left)


def _controller(bench: Workbench, feature: NeededFeature) -> Controller | None:
    thing = bench.session.inventory.find(str(feature.target))
    return thing if isinstance(thing, Controller) else None
