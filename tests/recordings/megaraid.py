"""What storcli, perccli and MegaCli said of other people's cards, compared with what independent expressions find."""

from __future__ import annotations

from pathlib import Path

from backends.host import Command, Completed
from backends.vendors.megaraid.megacli import verdict as megacli
from backends.vendors.megaraid.storcli.verdict import judge
from tests.backends.megaraid import megacli_fields, storcli_fields
from tests.backends.megaraid.storcli_fields import answers_in, drive_rows, volume_rows
from tests.recordings import checks, text_of

STORCLI = ("lsi/storcli/*", "lsi/storcli2/*", "dell/perccli/*")
MEGACLI = "lsi/megacli/*"
_WRITE = {"WT": "write-through", "WB": "write-back", "AWB": "always-write-back"}
_STATES = {
    "Optl": "optimal",
    "OfLn": "offline",
    "Dgrd": "degraded",
    "Pdgd": "degraded",
    "Onln": "online",
    "JBOD": "online",
    "UGood": "unassigned",
    "Failed": "failed",
    "Offln": "offline",
    "Foreign": "foreign",
}
_STORCLI_SAID = {
    "raidmgmt__logicalvolumes_cacheoptions_success": True,
    "raidmgmt__logicalvolumes_create_success": True,
    "raidmgmt__logicalvolumes_create_fail": False,
    "raidmgmt__logicalvolumes_delete_fail_invalid": False,
    "raidmgmt__logicalvolumes_delete_fail_vdNotExist": False,
    "raidmgmt__logicalvolumes_migrate_fail": False,
    "raidmgmt__physicaldrives_jbod_enable_fail": False,
    "pystorcli2__namedSet_delete_vd_00___c0_v1_del_J": True,
    "check_raid-198__deprecated_syntax": False,
    "raidmgmt__lvcachesetter_cacheoptions_success_wrcache": True,
    "raidmgmt__logicalvolumemanager_create_success": True,
    "raidmgmt__logicalvolumemanager_create_fail": False,
    "raidmgmt__logicalvolumemanager_delete_success": True,
    "raidmgmt__logicalvolumemanager_delete_fail_invalid": False,
}
_MEGACLI_SAID = {
    "index-161844889__LDSetProp_CachedBadBBU_success": (
        ("-LDSetProp CachedBadBBU -L2 -a0", True),
        ("-LDSetProp CachedBadBBU -L7 -a0", False),
    ),
    "index-161844889__LDSetProp_NoCachedBadBBU_success": (("-LDSetProp NoCachedBadBBU -L4 -a0", True),),
    "index-1080156918__LDSetProp_DisDskCache_indented": (("-LDSetProp -DisDskCache -L1 -a0", True),),
    "index-39200090321__LDSetProp_ForcedWB": (("-LDSetProp ForcedWB -L2 -a0", True),),
    "index-40028919256__LDSetProp_WB_success": (("-LDSetProp WB -L0 -a0", True),),
    "index-39200090321__CfgLdAdd_created": (("-CfgLDAdd -R0[21:7] -a0", True),),
    "index-39200090321__CfgLdAdd_jbod_drive_0x26": (("-CfgLDAdd -R0[21:7] -a0", False),),
    "index-39200090321__CfgLdAdd_preserved_cache_0x54": (("-CfgLDAdd -R0[17:6] -a0", False),),
    "index-39200090321__DiscardPreservedCache_segfault": (("-DiscardPreservedCache -L5 -a0", False),),
}


@checks(*STORCLI)
def all_that_storcli_shows_is_found(path: Path) -> None:
    text = text_of(path)
    fields = {f"{kind}: {name}": found for kind, of in storcli_fields.KINDS.items() for name, found in of(text).items()}
    assert [name for name, found in fields.items() if not found] == []


@checks(*STORCLI)
def numbers_states_and_policies_are_the_very_ones(path: Path) -> None:
    text = text_of(path)
    found, seen, _ = answers_in(text)
    volumes = {(str(row["DG/VD"]), row["TYPE"], row["State"]) for row in volume_rows(text)}
    groups = ["-" if one.group is None else one.group for one in found]
    numbers = [f"{group}/{one.number}" for group, one in zip(groups, found, strict=True)]
    assert {(at, one.level_raw, one.state_raw) for at, one in zip(numbers, found, strict=True)} == volumes
    drives = {(str(row["EID:Slt"]).replace(" ", ""), row["State"].replace("-", "")) for row in drive_rows(text)}
    assert {(one.place, one.state_raw.partition("/")[0]) for one in seen} == drives
    for one in found:
        assert one.state.value == _STATES.get(one.state_raw, "unknown")
        policy = one.configured.write_cache
        if policy is not None:
            column = policy.raw.replace("Through", "T").replace("Back", "B").replace("Write", "W")
            assert policy.value == _WRITE[column]
    for drive in seen:
        if "/" not in drive.state_raw:
            assert drive.state.value == _STATES.get(drive.state_raw, "unknown")


@checks(*STORCLI, named=_STORCLI_SAID)
def storclis_word_on_a_change_is_taken(path: Path) -> None:
    assert judge(text_of(path)).ok is _STORCLI_SAID[path.stem]


@checks(MEGACLI)
def all_that_megacli_shows_is_found(path: Path) -> None:
    text = text_of(path)
    shown = {kind: megacli_fields.found_fields(text, kind) for kind in megacli_fields.KINDS}
    assert [f"{kind}: {name}" for kind, of in shown.items() for name, found in of.items() if not found] == []


@checks(MEGACLI, named=_MEGACLI_SAID)
def megaclis_word_on_a_change_is_taken(path: Path) -> None:
    done = Completed(returncode=0, stdout=text_of(path), stderr="")
    for line, ok in _MEGACLI_SAID[path.stem]:
        command = Command(argv=("/MegaCli64", *line.split()), mutates=True)
        assert megacli.judge(command, done).ok is ok, line
