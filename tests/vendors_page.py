"""Text of docs/vendors.md and docs/dev/vendor-settings.md, from the backends on simulated controllers.

`python -m tests.vendors_page` writes both.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import backends.vendors
from app.core.presentation.risk_text import effect_text
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
DETAILS = PAGE.parent / "dev" / "vendor-settings.md"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A vendor's dialect: a healthy machine, machines with faults, and their targets."""

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
        short="SmartRAID",
        page="smartarray.md",
        well=lambda: SmartArray(PlayedCards(adaptec=(SMARTRAID,))),
        targets=(smart_card("/arc1"), smart_volume("/arc1", 1)),
        troubled=(lambda: SmartArray(PlayedCards(adaptec=(replace(SMARTRAID, battery="Failed"),))),),
    ),
    Section(
        title="Adaptec series 2 to 8 (arcconf)",
        short="Series 2-8",
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
        title="E-Series, EF (SANtricity Web Services)",
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
        title="bcache (sysfs)",
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

HEAD = """# Settings by controller and system

This page shows which settings raidbench can change on your controller, array or drive.

<!-- Written by `python -m tests.vendors_page`. -->

## Find out whether you can change a setting

1. Find the name of your system in [Systems](#systems).
2. Find the setting in [Settings](#settings). **Name** is its name on the screens, if it differs from the key. **Set**
   lists the systems where raidbench can change it. **Only shown** lists the systems where it can only show the value.
   raidbench does not know the setting in other systems.
3. Show the target. The output lists its settings, their possible values and the reason why a setting cannot be
   changed:

```console
$ raidbench show lvm:vg0/mail
...
Setting                   Key                  Now                May be
Read-ahead of the volume  lv_read_ahead        auto, now 128 KiB  auto (auto, now 128 KiB), none, 128 (128 KiB), ...
Cache mode                cache_mode           write-through      write-through, write-back, passthrough
Cache policy *            cache_policy         smq                smq
Migration threshold       migration_threshold  default, 2048      default (default, 2048), 2048, 4096, 8192, ...

Cannot be changed:
* cache_policy: the kernel has no other policy
```

4. Show the exact command without changing anything:

```console
$ raidbench set lvm:vg0/mail migration_threshold=4096 --dry-run
```

The reason depends on the machine. For example, the controller does not report the value, or the value is fixed when
the array is created.

"""

SYSTEMS_HEAD = """## Systems

| System | Hardware or software (tools) |
| --- | --- |
"""

OTHER_PAGES = {
    "storcli": ("MegaRAID, PERC (storcli, perccli)", "megaraid.md"),
    "block queue": ("Every block device (request queue of the kernel)", "queue.md"),
    "SATA": ("SATA drives (hdparm, smartctl)", "scsi.md"),
    "SAS": ("SAS drives (sdparm, smartctl)", "scsi.md"),
    "md": ("Linux software RAID, Intel VROC (mdadm, sysfs)", "md.md"),
    "MegaCli": ("MegaRAID, PERC (MegaCli)", "megaraid.md"),
    "storcli2": ("MegaRAID, PERC (storcli2, perccli2)", "megaraid.md"),
}
"""Description and page of the systems that are not in `SECTIONS` or whose title covers several tools."""

LIMITS = """## Limits

- Changes of some settings have not been tested on real hardware. The review says so, and raidbench verifies them by
  reading the value back. [The settings in detail](dev/vendor-settings.md) mark them `read-back`.
- Areca, Marvell, btrfs, DRBD, Stratis and other device-mapper targets have no settings in raidbench. They are [only
  listed](listed-only.md).
"""

DETAILS_HEAD = """# Settings in detail

This page lists for each vendor how raidbench reads and changes every setting, and how it recognises complete output
of the tools. The overview is in [vendors.md](../vendors.md).

<!-- Written by `python -m tests.vendors_page`, from changes that the backends plan on simulated controllers. -->

- **Target**: the kind of target that has the setting.
- **Value**: the configured value of the simulated controller. The word of the tool follows in parentheses if it is
  different.
- **Command**: the first command that changes the value, or the reason why the simulated controller does not allow it.
- **Effective value**: `separate` if raidbench reads the effective value separately from the configured value.
- **Evidence**: `recorded` if changes with this tool were recorded on real hardware. With `read-back`, the value that
  is read after the change is the only confirmation.
"""

HEALTH_HEAD = """## Drive health

The table lists the words in the output of each tool from which raidbench reads the condition of a drive. An empty
cell (-) means that the tool does not report the fact. The fact is then unknown, which does not mean that it is
absent. A test proves each cell with a recorded output.

- **Predicts failure**: the drive still works and announces its failure. Its state does not change.
- **Media**, **other** and **predictive errors** are counts. If a tool has several counters that may count the same
  event, the largest one counts. Other errors are added.
- **Wear** is the used share of the rated endurance, in percent.
- A temperature of 0 °C is unknown, because tools report it for drives without a sensor.

A drive behind an Areca controller predicts its failure when an attribute reaches its threshold. md and OpenZFS count
errors of members; these are facts of the array. A logical drive that has lost data (`Unrecoverable Media Errors`,
`Failed stripes`, `Bad Blocks Exist`) has the fact "Unrecoverable media errors".

"""

NAMED_HEAD = """## Output about another object

Output must name the requested object exactly once. Otherwise raidbench refuses it: it shows no value from it and
changes no setting. The message names the command, both objects and the next step. Other objects stay listed. If
output describes an object twice, raidbench uses neither description. The same rule applies to the output that
verifies a change.

| Output | Names | Refused |
| --- | --- | --- |
"""

NAMED = (
    (
        "MegaCli: `-AdpAllInfo`, `-LdPdInfo`, `-LDInfo`, `-PDList`",
        "`Adapter #N`, or `Adapter N -- Virtual Drive Information`, once",
        "the output; a virtual drive or drive that is listed twice or has two values of one property",
    ),
    (
        "MegaCli: all others",
        "the adapter, if the command prints one",
        "the output; `-ShowProg` names no adapter",
    ),
    (
        "storcli, perccli, storcli2, perccli2",
        "`Controller` once; paths (`/c0/v5`), headings (`VD5 Properties`) and rows (`DG/VD`, `EID:Slt`)",
        "the output; a virtual drive or drive whose heading and row differ, that is listed twice, or whose world wide "
        "name belongs to another one on any controller",
    ),
    (
        "ssacli, hpssacli, hpacucli",
        "the slot, in the title",
        "the output; arrays, logical drives and drives that are described twice, and then every change on the "
        "controller",
    ),
    (
        "SMcli",
        "the disk system, in the title",
        "the output; logical drives and drives with the same name",
    ),
    (
        "hdparm, sdparm, mdadm --examine",
        "the device, in the first line",
        "the output",
    ),
    (
        "smartctl",
        "`device.name`",
        "the output",
    ),
    (
        "nvme id-ctrl",
        "the serial number, compared with the kernel's",
        "the output and the health log",
    ),
    (
        "mdadm --detail --export",
        "the members, compared with the kernel's",
        "the output",
    ),
    (
        "lvs, pvs",
        "the UUIDs of volume, group and physical volume",
        "all volumes of the group, if a UUID has two names or a name has two UUIDs",
    ),
    (
        "zfs, zpool",
        "dataset or pool, in each line",
        "lines with the same name and different values",
    ),
    (
        "JSON of any tool",
        "",
        "a key that an object has twice with different values",
    ),
)
"""Output, how it names its object, and refused parts."""

NAMED_TAIL = """
The following output does not name its object, so raidbench cannot recognise output about another object:

- arcconf `getconfig` (output with two controllers is refused)
- tw_cli `info cN` (units and ports that are listed twice are refused)
- nvme smart-log, id-ns and list-ns (a feature names its number)
- `zpool get` of one property, cli64, and `dmsetup table` of one device

raidbench also cannot recognise output in which every name of the object was replaced.

"""

TAIL = """## Complete output

raidbench recognises truncated output of each tool by a mark of completeness. It shows the facts of truncated output
with the note "incomplete output". The missing facts are unknown, and raidbench plans no change that depends on them.

| Output | Mark of completeness | Exit status | Truncation that is not recognised |
| --- | --- | --- | --- |
"""

_OF = {Scope.CONTROLLER: "controller", Scope.ARRAY: "array", Scope.DRIVE: "drive"}


def named() -> str:
    """Return the section on answers about another object."""
    rows = "".join(f"| {' | '.join(row)} |\n" for row in NAMED)
    return f"{NAMED_HEAD}{rows}{NAMED_TAIL}"


async def page() -> str:
    """Return the text of the page for users: systems and settings."""
    systems = (*(_system(section) for section in SECTIONS), *DIALECTS, *KERNEL)
    known = {section.short: (section.title, section.page) for section in SECTIONS} | OTHER_PAGES
    rows = "".join(f"| {name} | [{title}]({link}) |\n" for name, (title, link) in known.items())
    return f"{HEAD}{SYSTEMS_HEAD}{rows}\n{await settable(systems)}\n{LIMITS}"


async def details() -> str:
    """Return the text of the page for developers: commands and evidence."""
    parts = [DETAILS_HEAD]
    for section in SECTIONS:
        rows = [row async for row in _rows(section)]
        title = "| Target | Setting | Value | Command | Effective value | Takes effect | Evidence |"
        table = "\n".join((title, "| --- " * 7 + "|", *rows))
        parts.append(f"## {section.title}\n\nUser page: [{section.page}](../{section.page}).\n\n{table}\n")
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
    statuses = ", ".join(map(str, sorted(one.statuses))) or "not used"
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
                "separate" if setting.key in told else "-",
                effect_text(setting.effect, target.scope),
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
        return "on the user page"
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
    return "only one value"


def _others(now: Reading) -> Iterator[str]:
    yield from (value for value in candidates(now) if value != now.now)


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "/").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(page()), encoding="utf-8")
    DETAILS.write_text(asyncio.run(details()), encoding="utf-8")
