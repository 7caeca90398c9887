"""Every command line that is ever given to MegaCli.

Words and their order are those of the tool's own help (8.07.14) and of recordings. `-NoLog` is always the last
word: without it MegaSAS.log grows in the working directory. `-aN` names one card; `-aALL` is used for counting
only. Reads: `version`, `count`, `adapters`, `adapter`, `pci`, `volumes_and_members`, `volumes`, `drives`,
`battery`, `features`, `patrol_read`, `consistency_check`, `queueing`, `background_setting`, `progress`,
`rebuild_progress`. All others change something.
"""

from __future__ import annotations

from collections.abc import Sequence

NO_LOG = "-NoLog"
"""Keeps MegaSAS.log from being written."""


def version() -> tuple[str, ...]:
    """Version of the tool: `-v`."""
    return ("-v", NO_LOG)


def count() -> tuple[str, ...]:
    """How many cards there are; the exit code is that number: `-adpCount`."""
    return ("-adpCount", NO_LOG)


def adapters() -> tuple[str, ...]:
    """All cards with their numbers, where counting gave nothing: `-AdpAllInfo -aALL`."""
    return ("-AdpAllInfo", "-aALL", NO_LOG)


def adapter(card: int) -> tuple[str, ...]:
    """Everything of one card: `-AdpAllInfo -aN`."""
    return ("-AdpAllInfo", f"-a{card}", NO_LOG)


def pci(card: int) -> tuple[str, ...]:
    """Where the card is on the PCI bus: `-AdpGetPciInfo -aN`."""
    return ("-AdpGetPciInfo", f"-a{card}", NO_LOG)


def volumes_and_members(card: int) -> tuple[str, ...]:
    """Virtual drives, each with its spans and drives: `-LdPdInfo -aN`."""
    return ("-LdPdInfo", f"-a{card}", NO_LOG)


def volumes(card: int) -> tuple[str, ...]:
    """Virtual drives without members, for what `-LdPdInfo` leaves out: `-LDInfo -LALL -aN`."""
    return ("-LDInfo", "-LALL", f"-a{card}", NO_LOG)


def drives(card: int) -> tuple[str, ...]:
    """Every drive: `-PDList -aN`."""
    return ("-PDList", f"-a{card}", NO_LOG)


def battery(card: int) -> tuple[str, ...]:
    """State, capacity, design and properties of battery or CacheVault: `-AdpBbuCmd -aN`."""
    return ("-AdpBbuCmd", f"-a{card}", NO_LOG)


def features(card: int) -> tuple[str, ...]:
    """Activated advanced software options: `-ELF -ControllerFeatures -aN`."""
    return ("-ELF", "-ControllerFeatures", f"-a{card}", NO_LOG)


def patrol_read(card: int) -> tuple[str, ...]:
    """Mode and state of patrol read: `-AdpPR -Info -aN`."""
    return ("-AdpPR", "-Info", f"-a{card}", NO_LOG)


def consistency_check(card: int) -> tuple[str, ...]:
    """Mode and state of the scheduled consistency check: `-AdpCcSched -Info -aN`."""
    return ("-AdpCcSched", "-Info", f"-a{card}", NO_LOG)


def queueing(card: int) -> tuple[str, ...]:
    """Whether native command queueing is on: `-AdpGetProp NCQDsply -aN`."""
    return ("-AdpGetProp", "NCQDsply", f"-a{card}", NO_LOG)


def background_setting(card: int) -> tuple[str, ...]:
    """Whether background initialisation starts by itself, per virtual drive: `-LDBI -GetSetting -LALL -aN`."""
    return ("-LDBI", "-GetSetting", "-LALL", f"-a{card}", NO_LOG)


def progress(card: int, job: str) -> tuple[str, ...]:
    """Progress on every virtual drive; `job` is `-LDInit`, `-LDBI` or `-LDCC`: `-LDCC -ShowProg -LALL -aN`."""
    return (job, "-ShowProg", "-LALL", f"-a{card}", NO_LOG)


def rebuild_progress(card: int, places: Sequence[str]) -> tuple[str, ...]:
    """Progress of rebuilding drives: `-PDRbld -ShowProg -PhysDrv[e:s,e:s] -aN`; `[:s]` without an enclosure."""
    return ("-PDRbld", "-ShowProg", f"-PhysDrv[{','.join(places)}]", f"-a{card}", NO_LOG)


def set_volume(card: int, volume: int, *options: str) -> tuple[str, ...]:
    """A policy of a virtual drive: `-LDSetProp WORD -Ln -aN`.

    WORD is `WT`, `WB`, `CachedBadBBU`, `NoCachedBadBBU`, `NORA`, `RA`, `ADRA`, `Direct`, `Cached`, `-EnDskCache`,
    `-DisDskCache`, `-RW`, `-RO`, or the two words `-Name NAME`.
    """
    return ("-LDSetProp", *options, f"-L{volume}", f"-a{card}", NO_LOG)


def set_background(card: int, volume: int, word: str) -> tuple[str, ...]:
    """Background initialisation by itself or not: `-LDBI -Enbl -Ln -aN`, `-LDBI -Dsbl -Ln -aN`."""
    return ("-LDBI", word, f"-L{volume}", f"-a{card}", NO_LOG)


def set_property(card: int, name: str, value: int) -> tuple[str, ...]:
    """A rate in per cent or the flush interval in seconds: `-AdpSetProp RebuildRate -30 -aN`.

    Names: `RebuildRate`, `BgiRate`, `CCRate`, `ReconRate`, `PatrolReadRate`, `CacheFlushInterval`.
    """
    return ("-AdpSetProp", name, f"-{value}", f"-a{card}", NO_LOG)


def set_patrol_read(card: int, word: str) -> tuple[str, ...]:
    """Patrol read: `-AdpPR -EnblAuto -aN`, `-AdpPR -EnblMan -aN`, `-AdpPR -Dsbl -aN`."""
    return ("-AdpPR", word, f"-a{card}", NO_LOG)


def set_consistency_check(card: int, word: str) -> tuple[str, ...]:
    """Scheduled consistency check: `-AdpCcSched -ModeConc -aN`, `-ModeSeq`, `-Dsbl`."""
    return ("-AdpCcSched", word, f"-a{card}", NO_LOG)


def set_by_verb(card: int, args: Sequence[str]) -> tuple[str, ...]:
    """A property in the words of `properties`: `-AdpSetProp NCQEnbl -aN`, `-AdpPR -SetDelay 168 -aN`."""
    return (*args, f"-a{card}", NO_LOG)


def delete(card: int, volume: int) -> tuple[str, ...]:
    """Delete a virtual drive and all that is on it: `-CfgLdDel -Ln -aN`. Never with `-Force`."""
    return ("-CfgLdDel", f"-L{volume}", f"-a{card}", NO_LOG)


def add(card: int, level: int, places: Sequence[str], args: Sequence[str]) -> tuple[str, ...]:
    """A virtual drive of one span: `-CfgLDAdd -R5[245:1,245:2,245:3] WT NORA Direct -strpsz64 -aN`.

    `args` in the order of the help: write, read, I/O policy, `CachedBadBBU` or `NoCachedBadBBU` (with `WB` only),
    `-szMIB` (only when it is not all of the drives), `-strpszKIB`.
    """
    return ("-CfgLDAdd", f"-R{level}[{','.join(places)}]", *args, f"-a{card}", NO_LOG)


def add_spanned(card: int, level: int, spans: Sequence[Sequence[str]], args: Sequence[str]) -> tuple[str, ...]:
    """One of several spans: `-CfgSpanAdd -R10 -Array0[252:0,252:1] -Array1[252:2,252:3] WT NORA Direct -strpsz64 -aN`.

    `args` as in `add`.
    """
    arrays = (f"-Array{number}[{','.join(places)}]" for number, places in enumerate(spans))
    return ("-CfgSpanAdd", f"-R{level}", *arrays, *args, f"-a{card}", NO_LOG)


def apply_key(card: int, key: str, *, preview: bool) -> tuple[str, ...]:
    """An activation key: `-ELF -Applykey key KEY -aN`, with `-preview` before `-aN` to see what it would do."""
    return ("-ELF", "-Applykey", "key", key, *(("-preview",) if preview else ()), f"-a{card}", NO_LOG)
