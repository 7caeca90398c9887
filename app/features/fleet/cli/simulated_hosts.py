"""`--demo` with `--hosts`: one process reads the simulated machine for all hosts that have the same fault."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.core.session.paths import Paths
from app.features.fleet.hosts.wire_format import HostsRequest, RawResponse
from backends.errors import ToolTimeoutError
from backends.host import Command, Host
from backends.self_exec import self_exec_argv
from backends.simulator.profiles import STATE_FILE
from backends.simulator.profiles.host_fleet import InjectedFault, faults_by_host
from backends.simulator.profiles.table import MACHINES
from backends.simulator.state_file import RackFile
from backends.system.local import LocalHost


async def query_simulated(order: HostsRequest, rack: str, fleet: Sequence[str]) -> AsyncIterator[RawResponse]:
    """Yield the response of each host; hosts with the same fault get the same response.

    The order of `fleet` decides which host has which fault.
    """
    plants = faults_by_host(fleet)
    kinds: dict[str, list[str]] = {}
    for host in order.hosts:
        kinds.setdefault(plants[host].name if host in plants else "", []).append(host)
    by_name = {plant.name: plant for plant in plants.values()}
    folder = Path(tempfile.mkdtemp(prefix="raidbench-hosts-"))
    for name in kinds:
        (folder / (name or "plain")).mkdir()
    local = LocalHost()
    reads = [
        asyncio.create_task(_read(local, order, rack, folder / (name or "plain"), by_name.get(name), hosts))
        for name, hosts in kinds.items()
    ]
    try:
        for read in asyncio.as_completed(reads):
            raw, hosts = await read
            for host in hosts:
                yield replace(raw, host=host)
    finally:
        for task in reads:
            task.cancel()
        await asyncio.gather(*reads, return_exceptions=True)
        shutil.rmtree(folder, ignore_errors=True)


async def _read(
    local: Host, order: HostsRequest, rack: str, folder: Path, plant: InjectedFault | None, hosts: list[str]
) -> tuple[RawResponse, list[str]]:
    """Return the response of the first of `hosts`, and all hosts that give the same response."""
    first = hosts[0]
    if plant is not None and plant.change is None:
        text = f"ssh: connect to host {first} port 22: No route to host"
        return RawResponse(host=first, status=255, err=text), hosts
    _make(RackFile(Paths.below(folder, rack).state / STATE_FILE, make=MACHINES[rack]), plant)
    argv = (*self_exec_argv("app", with_pythonpath=True), "--demo", rack, *order.words[1:])
    environment = {name: value for name, value in os.environ.items() if name in ("PYTHONPATH", "HOME")}
    command = Command(
        argv=argv, timeout=order.seconds, env={**environment, "RAIDBENCH_STATE_DIR": str(folder), "LC_ALL": "C.UTF-8"}
    )
    try:
        done = await local.run(command)
    except ToolTimeoutError:
        return RawResponse(host=first, status=None, late=True), hosts
    return (
        RawResponse(host=first, status=done.returncode, out=done.stdout, err=done.stderr, endless=done.truncated),
        hosts,
    )


def _make(file: RackFile, plant: InjectedFault | None) -> None:
    """Create the state of the simulated machine, with its injected fault."""
    with file.edit() as state:
        if plant is not None and plant.change is not None:
            plant.change(state)
