"""The watchdog process that reverts trials on a simulated machine at their deadline."""

from __future__ import annotations

import sys

from app.core.changes import watchdog
from app.core.session.paths import Paths
from backends.errors import RefusedError
from backends.host import Host
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles import STATE_FILE
from backends.simulator.profiles.table import MACHINES
from backends.simulator.state_file import RackFile


def simulated_machine(paths: Paths) -> Host:
    """Return the simulated machine to which the state folders `paths` belong. Raises RefusedError if there is none."""
    if (make := MACHINES.get(paths.apart)) is None:
        raise RefusedError(f"{paths.apart or 'This machine'} is not a simulated host.")
    return SimulatedHost(RackFile(paths.state / STATE_FILE, make=make), apart=paths.apart)


if __name__ == "__main__":
    sys.exit(watchdog.main(simulated_machine, ("backends.simulator",)))
