"""What a laboratory's LVM 2.03.16 said of volumes of all kinds, and a host that says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from backends.host import Completed
from backends.model import Scope, Target
from backends.vendors.lvm.facts import LvFacts, parse_lvs, parse_tables
from backends.vendors.lvm.inventory import group_volumes
from backends.vendors.lvm.settings import LvView
from tests.backends.fakes import FakeHost

RECORDED = Path(__file__).parent / "recorded"
KINDS = (RECORDED / "all-kinds.lvs").read_text(), (RECORDED / "all-kinds.dmsetup").read_text()
"""Linear, striped, raid1, raid5, a cache, a thin pool with a volume."""
CACHES = (RECORDED / "caches.lvs").read_text(), (RECORDED / "caches.dmsetup").read_text()
"""A writecache, a cache that writes back, one of a cache pool, a mirror."""


def target(address: str) -> Target:
    return Target(backend="lvm", address=address, scope=Scope.ARRAY)


def done(text: str, status: int = 0, error: str = "") -> Completed:
    return Completed(returncode=status, stdout=text, stderr=error)


def host(lvs: str, tables: str, *, files: dict[str, str] | None = None, root: bool = True) -> FakeHost:
    """A machine with four drives that says this."""
    sysfs = {f"/sys/block/nvme{at}n1/dev": f"259:{at}" for at in range(4)}
    for name in parse_tables(tables):
        kernel = next((two.kernel for two in parse_lvs(lvs)[0] if two.dm_name == name and two.kernel), None)
        if kernel is not None:
            number = int(kernel.removeprefix("dm-"))
            own = {"dev": f"254:{number}", "size": "49152", "diskseq": str(number), "dm/name": name, "dm/uuid": "LVM-x"}
            sysfs |= {f"/sys/block/{kernel}/{key}": text for key, text in own.items()}
    tools = {"lvs": done(lvs), "dmsetup": done(tables), "lvchange": done(""), "lvconvert": done("")}
    return FakeHost(sysfs | (files or {}), tools=tools, root=root)


def volumes(lvs: str) -> dict[str, LvFacts]:
    """By name."""
    return {one.name: one for one in parse_lvs(lvs)[0]}


def view(said: tuple[str, str], name: str, **told: str) -> LvView:
    """A volume of a recording, some of its columns otherwise."""
    found, _ = parse_lvs(said[0])
    group = dict(group_volumes(found)["vg0"])
    group[name] = replace(group[name], columns={**group[name].columns, **told})
    tables = parse_tables(said[1])
    return LvView(
        volume=group[name],
        group=group,
        loaded=tables.get(group[name].dm_name),
        lvchange="/usr/sbin/lvchange",
        lvconvert="/usr/sbin/lvconvert",
    )
