"""docs/vendors.md, out of the declarations and of what the backends plan on simulated cards.

`python -m tests.vendors_page` writes it.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import backends.vendors
from backends.errors import RaidbenchError
from backends.host import Command, Completed
from backends.model import Scope, Target
from backends.protocol import Backend
from backends.settings import Reading, Setting
from backends.simulator.fusionio import IoMemory
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.smcli import DiskSystem
from backends.testing.conformance import candidates
from backends.tool_output import CompletenessCheck
from backends.vendors.bcache.backend import Bcache
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.fusionio.inventory import drive_target as ioDrive
from backends.vendors.lvm.backend import Lvm
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.nvme.backend import Nvme
from backends.vendors.nvme.sysfs import namespace_target
from backends.vendors.santricity.backend import Santricity
from backends.vendors.smartarray.addresses import card_target as smart_card
from backends.vendors.smartarray.addresses import drive_target as smart_drive
from backends.vendors.smartarray.addresses import volume_target as smart_volume
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.inventory import system_target
from backends.vendors.smcli.inventory import volume_target as logical_drive
from backends.vendors.threeware.backend import Threeware
from backends.vendors.threeware.inventory import unit_target
from backends.vendors.zfs.backend import Zfs
from backends.vendors.zfs.inventory import MODULE
from backends.vendors.zfs.inventory import target_of as dataset
from tests.backends.bcache.machines import BCACHE0, alone, simulated
from tests.backends.fusionio.cards import PlayedCard as PlayedIoMemory
from tests.backends.listed.texts import PlayedUnit
from tests.backends.lvm.machines import target as volume_of_lvm
from tests.backends.lvm.test_conformance import volumes_rack
from tests.backends.megaraid.cards import PlayedCard
from tests.backends.nvme.drives import PlayedDrive
from tests.backends.santricity.services import PlayedServices, PlayedWeb
from tests.backends.simulator.asking import NOW
from tests.backends.smartarray.cards import HPE, SERIES, SMARTRAID, PlayedCards
from tests.backends.smcli.systems import PlayedSystem
from tests.health_sources import health_table
from tests.settable_page import DIALECTS, KERNEL, System
from tests.settable_page import table as settable

PAGE = Path(__file__).parents[1] / "docs" / "vendors.md"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A vendor's dialect: a machine that is well, some that are not, and what of them is looked at."""

    title: str
    short: str
    page: str
    well: Callable[[], Backend]
    targets: tuple[Target, ...]
    troubled: tuple[Callable[[], Backend], ...] = ()


def _dead_megaraid() -> Backend:
    host = PlayedCard(wrcache="wb")
    host.card["battery"] = "Failed"
    return MegaRaid(host)


def _behind_lvm() -> Backend:
    """Somebody else's LVM keeps what this kernel has not loaded."""
    rack = volumes_rack(lambda: NOW)
    for volume in rack.logical_volumes():
        volume.write_behind = 256
    return Lvm(_Unloaded(rack, speed=1e9))


class _Unloaded(SimulatedHost):
    async def run(self, command: Command) -> Completed:
        said = await super().run(command)
        kernel = said.stdout.replace("writethrough mq 0", "writeback cleaner 0").replace("4096 0\n", "4096 1 cleaner\n")
        return replace(said, stdout=kernel.replace('"kernel_cache_policy": "mq"', '"kernel_cache_policy": "cleaner"'))


class _Unnoticed(PlayedIoMemory):
    """The kernel has another sector size than the card."""

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        self.files["/sys/block/fioa/queue/logical_block_size"] = "4096"
        return await super().read_many(paths)


SECTIONS = (
    Section(
        title="MegaRAID, PERC (storcli, perccli, MegaCli)",
        short="storcli",
        page="megaraid.md",
        well=lambda: MegaRaid(PlayedCard()),
        targets=(card_target("/c0"), volume_target("/c0", 1)),
        troubled=(_dead_megaraid,),
    ),
    Section(
        title="HPE Smart Array (ssacli, hpssacli, hpacucli)",
        short="ssacli",
        page="smartarray.md",
        well=lambda: SmartArray(PlayedCards((HPE,))),
        targets=(smart_card("/slot0"), smart_volume("/slot0", 1)),
        troubled=(lambda: SmartArray(PlayedCards((replace(HPE, battery="Failed (Replace Batteries)"),))),),
    ),
    Section(
        title="Adaptec SmartRAID (arcconf)",
        short="arcconf (SmartRAID)",
        page="smartarray.md",
        well=lambda: SmartArray(PlayedCards(adaptec=(SMARTRAID,))),
        targets=(smart_card("/arc1"), smart_volume("/arc1", 1)),
        troubled=(lambda: SmartArray(PlayedCards(adaptec=(replace(SMARTRAID, battery="Failed"),))),),
    ),
    Section(
        title="Adaptec series 2 to 8 (arcconf)",
        short="arcconf (series 2-8)",
        page="smartarray.md",
        well=lambda: SmartArray(PlayedCards(adaptec=(SERIES,))),
        targets=(smart_card("/aac1"), smart_volume("/aac1", 0), smart_drive("/aac1", "0:2")),
        troubled=(lambda: SmartArray(PlayedCards(adaptec=(replace(SERIES, battery="Failed"),))),),
    ),
    Section(
        title="IBM DS, E-Series (SMcli)",
        short="SMcli",
        page="smcli.md",
        well=lambda: Smcli(PlayedSystem()),
        targets=(system_target("DS4700_A"), logical_drive("DS4700_A", "fast")),
        troubled=(lambda: Smcli(PlayedSystem(DiskSystem(battery="Failed"))),),
    ),
    Section(
        title="E-Series, EF (SANtricity's web services)",
        short="SANtricity",
        page="santricity.md",
        well=lambda: Santricity(PlayedWeb()),
        targets=(Target(backend="santricity", address="lab/array1/fast", scope=Scope.ARRAY),),
        troubled=(lambda: Santricity(PlayedWeb(PlayedServices(battery="failed", second="failed"))),),
    ),
    Section(
        title="Fusion-io ioMemory (fio-status, fio-format)",
        short="ioMemory",
        page="fusionio.md",
        well=lambda: FusionIo(PlayedIoMemory()),
        targets=(ioDrive("fioa"),),
        troubled=(lambda: FusionIo(_Unnoticed(IoMemory())),),
    ),
    Section(
        title="3ware (tw_cli)",
        short="3ware",
        page="listed-only.md",
        well=lambda: Threeware(PlayedUnit()),
        targets=(unit_target("c0", "u0"),),
    ),
    Section(
        title="NVMe (nvme-cli)",
        short="NVMe",
        page="nvme.md",
        well=lambda: Nvme(PlayedDrive()),
        targets=(namespace_target("nvme0n1"),),
    ),
    Section(
        title="LVM (lvchange, lvconvert)",
        short="LVM",
        page="lvm.md",
        well=lambda: Lvm(SimulatedHost(volumes_rack(lambda: NOW), speed=1e9)),
        targets=tuple(map(volume_of_lvm, ("vg0/mail", "vg0/db", "r-1/mir", "r-1/par"))),
        troubled=(_behind_lvm,),
    ),
    Section(
        title="bcache (the kernel's cache of a disk on a faster one)",
        short="bcache",
        page="bcache.md",
        well=lambda: Bcache(simulated()),
        targets=(BCACHE0,),
        troubled=(lambda: Bcache(simulated(alone)),),
    ),
    Section(
        title="OpenZFS (zpool, zfs)",
        short="ZFS",
        page="zfs.md",
        well=lambda: Zfs(SimulatedHost(linux_rack())),
        targets=(MODULE, dataset("tank"), dataset("tank/vm")),
    ),
)

HEAD = """# Settings by vendor

Every setting of the cards and disk systems that raidbench knows, written by `python -m tests.vendors_page` out of the
declarations and of what the backends plan on simulated cards; a test holds it true.

- **Read**: the value of the simulated card, and the tool's own word for it where that is another one.
- **Set**: the first command of a change to another value. What is blocked on that card says so.
- **In force**: whether what is in force is told apart from what is set, where both can differ.
- **Proved**: `recorded`, where answers of this tool to changes have been recorded. Else what is read back is the only
  verdict, and raidbench says "not confirmed on hardware" wherever it explains or reviews the setting.

Areca and Marvell cards are listed and have nothing to set ([listed-only.md](listed-only.md)); what the kernel sets of
any block device is in [queue.md](queue.md), of SATA and SAS disks in [scsi.md](scsi.md), of arrays in [md.md](md.md).
"""

HEALTH_HEAD = """## Drive health

The condition of a drive and the words of each tool that it is read from. A fact without words is not reported by that
tool, and is unknown, which is not the same as none. Each cell is proved by a recorded answer in the tests.

- **Predicts failure**: the drive still serves and announces its failure. Its state stays what it is otherwise.
- **Media**, **other** and **predictive errors** are counts. Where a tool has several counters of one kind that may
  count the same event, the largest counts; other errors are added up.
- **Wear** is the share of the rated endurance that is used, in percent.
- A temperature of 0 °C is how tools report that there is no sensor: it is unknown.

An attribute of a drive behind an Areca controller announces a failure at its threshold. md and OpenZFS count errors
of members: these are facts of the array. A logical drive that has lost data (`Unrecoverable Media Errors`,
`Failed stripes`, `Bad Blocks Exist`) has the fact "Unrecoverable media errors".

"""

NAMED_HEAD = """## Answers about another object

An answer names the object that was asked for, once, or it is refused. Of a refused answer nothing is believed,
its settings cannot be changed, and the sentence names the command, both objects and what to do. Other objects
stay listed. Of an object that an answer names twice neither version is believed. The reading after a set is
refused like any other.

| Answer | Names | Refused |
| --- | --- | --- |
"""

NAMED = (
    (
        "MegaCli: `-AdpAllInfo`, `-LdPdInfo`, `-LDInfo`, `-PDList`",
        "`Adapter #N`, or `Adapter N -- Virtual Drive Information`, once",
        "the answer; a virtual drive or drive that is there twice, or has one property twice with different values",
    ),
    (
        "MegaCli: all others",
        "the adapter, where they name one",
        "the answer; `-ShowProg` names none",
    ),
    (
        "storcli, perccli, storcli2, perccli2",
        "`Controller` once; paths (`/c0/v5`), headings (`VD5 Properties`) and rows (`DG/VD`, `EID:Slt`)",
        "the answer; a virtual drive or drive of which heading and row differ, that is there twice, or whose "
        "world wide name another one has, on whatever card",
    ),
    (
        "ssacli, hpssacli, hpacucli",
        "the slot, in the title",
        "the answer; arrays, logical drives and drives described twice, and then every change on the card",
    ),
    (
        "SMcli",
        "the disk system, in the title",
        "the answer; logical drives and drives of one name",
    ),
    (
        "hdparm, sdparm, mdadm --examine",
        "the device, in the first line",
        "the answer",
    ),
    (
        "smartctl",
        "`device.name`",
        "the answer",
    ),
    (
        "nvme id-ctrl",
        "the serial number, compared with the kernel's",
        "the answer, and the health log beside it",
    ),
    (
        "mdadm --detail --export",
        "its members, compared with the kernel's",
        "the answer",
    ),
    (
        "lvs, pvs",
        "the UUIDs of volume, group and physical volume",
        "where a UUID has two names, or a name two: all volumes of the group",
    ),
    (
        "zfs, zpool",
        "dataset or pool, in each line",
        "lines of one name that differ",
    ),
    (
        "JSON of any tool",
        "",
        "a key that an object has twice with different values",
    ),
)
"""Answers, what of an object each names, and what is refused."""

NAMED_TAIL = """
These do not name the object, so an answer about another one is not recognised: arcconf (`getconfig` counts no
controller, though two in one answer are refused), tw_cli `info cN` (units and ports that are there twice are
refused), nvme smart-log, id-ns and list-ns (a feature names its number), `zpool get` of one property, cli64,
and a `dmsetup table` of one device. Nor is it recognised where everything that names an object was exchanged
with it.

"""

TAIL = """## Whole answers

How it is known that a tool's answer was not cut. Of one that was, what is there is shown, with "incomplete output";
what it does not tell is unknown, and nothing is planned on it.

| Answer | Whole if | Exit status | A cut can hide |
| --- | --- | --- | --- |
"""

_OF = {Scope.CONTROLLER: "card", Scope.ARRAY: "array", Scope.DRIVE: "drive"}


def named() -> str:
    """Return the section on answers about another object."""
    rows = "".join(f"| {' | '.join(row)} |\n" for row in NAMED)
    return f"{NAMED_HEAD}{rows}{NAMED_TAIL}"


async def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for section in SECTIONS:
        rows = [row async for row in _rows(section)]
        title = "| Of | Setting | Read | Set | In force | Takes effect | Proved |"
        table = "\n".join((title, "| --- " * 7 + "|", *rows))
        parts.append(f"## {section.title}\n\nSee [{section.page}]({section.page}).\n\n{table}\n")
    systems = (*(_system(section) for section in SECTIONS), *DIALECTS, *KERNEL)
    parts.insert(1, await settable(systems))
    return (
        "\n".join(parts)
        + "\n"
        + HEALTH_HEAD
        + health_table()
        + "\n"
        + named()
        + TAIL
        + "".join(map(_whole, declared()))
    )


def _system(section: Section) -> System:
    return System(name=section.short, makers=(section.well, *section.troubled), targets=section.targets)


def declared() -> list[CompletenessCheck]:
    """Every `CompletenessCheck` that a module of the vendors declares."""
    found: dict[str, CompletenessCheck] = {}
    for module in pkgutil.walk_packages(backends.vendors.__path__, f"{backends.vendors.__name__}."):
        names = vars(importlib.import_module(module.name)).values()
        found |= {one.tool: one for one in names if isinstance(one, CompletenessCheck)}
    return [found[tool] for tool in sorted(found, key=str.lower)]


def _whole(one: CompletenessCheck) -> str:
    statuses = ", ".join(map(str, sorted(one.statuses))) or "says nothing"
    return f"| {' | '.join(map(_cell, (one.tool, one.mark, statuses, one.hides or 'nothing')))} |\n"


async def _rows(section: Section) -> AsyncIterator[str]:
    backend = section.well()
    await backend.inventory()
    for target in section.targets:
        readings = await backend.read(target)
        told = await _told_apart(section, target)
        for setting in backend.settings(target):
            now = readings[setting.key]
            cells = (
                _OF[target.scope],
                f"`{setting.key}`",
                _read(now),
                await _set(backend, target, setting, now),
                "told apart" if setting.key in told else "-",
                setting.effect.value,
                "recorded" if setting.confirmed else "read-back",
            )
            yield f"| {' | '.join(cells)} |"


async def _told_apart(section: Section, target: Target) -> set[str]:
    found: set[str] = set()
    for make in (section.well, *section.troubled):
        backend = make()
        await backend.inventory()
        found |= {key for key, reading in (await backend.read(target)).items() if reading.effective is not None}
    return found


def _read(now: Reading) -> str:
    if now.now is None:
        return "not reported"
    return f"`{_cell(now.now)}`" + (f" ({_cell(now.raw)})" if now.raw not in (None, "", now.now) else "")


async def _set(backend: Backend, target: Target, setting: Setting, now: Reading) -> str:
    if setting.secret:
        return "see the page"
    if not now.availability.available:
        return f"blocked: {_cell(now.availability.why_not or '')}"
    for value in _others(now):
        try:
            change = await backend.plan(target, setting.key, value)
        except RaidbenchError:
            continue
        tool, _, words = change.writes[0].shown().partition(" ")
        more = f" and {len(change.writes) - 1} more" if len(change.writes) > 1 else ""
        return f"`{tool.rpartition('/')[2]} {_cell(words)}`{more}"
    return "one value only"


def _others(now: Reading) -> Iterator[str]:
    yield from (value for value in candidates(now) if value != now.now)


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "/").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(page()), encoding="utf-8")
