"""All MegaCli command lines that raidbench runs.

Arguments and their order follow the tool's own help (8.07.14) and recordings. `-NoLog` always comes last; without it,
MegaSAS.log grows in the working directory. `-aN` names one controller; `-aALL` is used for counting only. The
constants, and the functions whose names contain `progress`, only read. All other functions change something.
"""

from __future__ import annotations

from collections.abc import Sequence

NO_LOG = "-NoLog"
"""Argument that prevents the tool from writing MegaSAS.log."""

VERSION = ("-v", NO_LOG)
"""Command that reports the version of the tool."""

COUNT = ("-adpCount", NO_LOG)
"""Command that counts the controllers; its exit code is their number."""

ADAPTERS = ("-AdpAllInfo", "-aALL", NO_LOG)
"""Command that lists all controllers with their numbers, for builds that cannot count them."""

ADAPTER = ("-AdpAllInfo",)
"""Arguments that read everything a controller reports about itself."""

PCI = ("-AdpGetPciInfo",)
"""Arguments that read the PCI address of a controller."""

VOLUMES_AND_MEMBERS = ("-LdPdInfo",)
"""Arguments that list the virtual drives, each with its spans and drives."""

VOLUMES = ("-LDInfo", "-LALL")
"""Arguments that list the virtual drives without members, for those that `-LdPdInfo` leaves out."""

DRIVES = ("-PDList",)
"""Arguments that list all drives."""

BATTERY = ("-AdpBbuCmd",)
"""Arguments that read state, capacity, design and properties of the battery or CacheVault."""

FEATURES = ("-ELF", "-ControllerFeatures")
"""Arguments that list the activated advanced software options."""

PATROL_READ = ("-AdpPR", "-Info")
"""Arguments that read mode and state of patrol read."""

CONSISTENCY_CHECK = ("-AdpCcSched", "-Info")
"""Arguments that read mode and state of the scheduled consistency check."""

QUEUEING = ("-AdpGetProp", "NCQDsply")
"""Arguments that read whether native command queueing is on."""

BACKGROUND = ("-LDBI", "-GetSetting", "-LALL")
"""Arguments that read, for each virtual drive, whether background initialisation starts automatically."""


def on_card(card: int, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the command line for a controller: `-AdpPR -Info -aN`."""
    return (*arguments, f"-a{card}", NO_LOG)


def on_volume(card: int, volume: int, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the command line for a virtual drive: `-LDSetProp WT -Ln -aN`, `-LDBI -Enbl -Ln -aN`."""
    return on_card(card, (*arguments, f"-L{volume}"))


def progress(card: int, job: str) -> tuple[str, ...]:
    """Return the command that reads the progress of `job`, such as `-LDCC`: `-LDCC -ShowProg -LALL -aN`."""
    return on_card(card, (job, "-ShowProg", "-LALL"))


def rebuild_progress(card: int, places: Sequence[str]) -> tuple[str, ...]:
    """Return the command that reads the progress of rebuilds.

    It is `-PDRbld -ShowProg -PhysDrv[e:s,e:s] -aN`, with `:s` for a drive without an enclosure.
    """
    return on_card(card, ("-PDRbld", "-ShowProg", f"-PhysDrv[{','.join(places)}]"))


def delete(card: int, volume: int) -> tuple[str, ...]:
    """Return the command that deletes a virtual drive and its data: `-CfgLdDel -Ln -aN`. It never has `-Force`."""
    return on_volume(card, volume, ("-CfgLdDel",))


def add(card: int, level: int, places: Sequence[str], args: Sequence[str]) -> tuple[str, ...]:
    """Return the command that creates a virtual drive of one span.

    `-CfgLDAdd -R5[245:1,245:2,245:3] WT NORA Direct -strpsz64 -aN`. `args`, in the order of the help: write, read and
    I/O policy, `CachedBadBBU` or `NoCachedBadBBU` (with `WB` only), `-strpszKIB`.
    """
    return on_card(card, ("-CfgLDAdd", f"-R{level}[{','.join(places)}]", *args))


def add_spanned(card: int, level: int, spans: Sequence[Sequence[str]], args: Sequence[str]) -> tuple[str, ...]:
    """Return the command that creates a virtual drive of several spans; `args` as in `add`.

    `-CfgSpanAdd -R10 -Array0[252:0,252:1] -Array1[252:2,252:3] WT NORA Direct -strpsz64 -aN`.
    """
    arrays = (f"-Array{number}[{','.join(places)}]" for number, places in enumerate(spans))
    return on_card(card, ("-CfgSpanAdd", f"-R{level}", *arrays, *args))


def apply_key(card: int, key: str, *, preview: bool) -> tuple[str, ...]:
    """Return the command that applies an activation key, or only tests it: `-ELF -Applykey key KEY [-preview] -aN`."""
    return on_card(card, ("-ELF", "-Applykey", "key", key, *(("-preview",) if preview else ())))
