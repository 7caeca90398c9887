"""The simulated rack's bcache device as plain files, so that any of them can be spoiled."""

from __future__ import annotations

from collections.abc import Callable

from backends.model import Scope, Target
from backends.simulator.bcache import BcacheDevice
from backends.simulator.host import SimulatedHost
from backends.simulator.kernel.machine import build_sysfs
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from tests.backends.fakes import FakeHost

BCACHE0 = Target(backend="bcache", address="bcache0", scope=Scope.ARRAY)
OWN = "/sys/block/bcache0/bcache"
UUID = linux_rack().bcache["bcache0"].uuid
SET = f"/sys/fs/bcache/{linux_rack().bcache['bcache0'].set_uuid}"


def rack(change: Callable[[BcacheDevice], object] = lambda _: None) -> Rack:
    """Its bcache device, changed, and the disks of that."""
    whole = linux_rack()
    device = whole.bcache["bcache0"]
    change(device)
    nvme, sata = {device.cache: whole.nvme[device.cache]}, {device.backing: whole.sata[device.backing]}
    return Rack(name="linux", nvme=nvme, sata=sata, bcache={device.name: device})


def simulated(change: Callable[[BcacheDevice], object] = lambda _: None) -> SimulatedHost:
    """A host that takes what is written as the kernel does."""
    return SimulatedHost(rack(change), speed=1e6)


def files(change: Callable[[BcacheDevice], object] = lambda _: None) -> FakeHost:
    """The same as files."""
    told = build_sysfs(rack(change))
    return FakeHost(told.files, links=told.links, stats=told.nodes)


def alone(device: BcacheDevice) -> None:
    """Its cache is detached."""
    device.state = "no cache"
