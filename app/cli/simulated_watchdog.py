"""The process that reverts a trial on a simulated machine at its deadline."""

from __future__ import annotations

import sys

from app.engine.change import watchdog
from app.engine.session.paths import Paths
from backends.errors import RefusedError
from backends.host import Host
from backends.racks.host import SimulatedHost
from backends.racks.machines import STATE_FILE
from backends.racks.machines.table import MACHINES
from backends.racks.state import RackFile


def simulated_machine(paths: Paths) -> Host:
    """Return the simulated machine that the folders are of. Raises RefusedError for another one."""
    if (make := MACHINES.get(paths.apart)) is None:
        raise RefusedError(f"{paths.apart or 'This machine'} is no simulated machine.")
    return SimulatedHost(RackFile(paths.state / STATE_FILE, make=make), apart=paths.apart)


if __name__ == "__main__":
    sys.exit(watchdog.main(simulated_machine, ("backends.racks",)))
