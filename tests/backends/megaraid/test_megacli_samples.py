"""Every recording of MegaCli at hand: nothing raised, and all that the text shows is in the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.host import Command, Completed
from backends.vendors.megaraid.megacli.verdict import judge
from tests.backends.megaraid.megacli_fields import KINDS, found_fields
from tests.backends.megaraid.megacli_texts import ADPALLINFO, BATTERY, LDPDINFO, OLD_LDINFO, PDLIST, SAMPLES

FILES = sorted(SAMPLES.iterdir()) if SAMPLES.is_dir() else []


@pytest.mark.skipif(not FILES, reason="no recordings at hand")
def test_there_are_recordings_of_every_kind() -> None:
    told = [kind for path in FILES for kind in KINDS if found_fields(path.read_text(errors="replace"), kind)]
    assert {kind: told.count(kind) > 1 for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_all_that_a_recording_shows_is_found(path: Path, kind: str) -> None:
    fields = found_fields(path.read_text(errors="replace"), kind)
    assert {name for name, found in fields.items() if not found} == set()


@pytest.mark.parametrize(
    ("text", "kind", "least"),
    [
        (LDPDINFO, "volumes", 16),
        (OLD_LDINFO, "volumes", 14),
        (PDLIST, "drives", 16),
        (ADPALLINFO, "card", 11),
        (BATTERY, "battery", 7),
    ],
)
def test_all_that_our_own_texts_show_is_found(text: str, kind: str, least: int) -> None:
    fields = found_fields(text, kind)
    assert len(fields) >= least
    assert all(fields.values()), fields


@pytest.mark.skipif(not FILES, reason="no recordings at hand")
@pytest.mark.parametrize(
    ("recording", "line", "ok"),
    [
        ("LDSetProp_CachedBadBBU_success", "-LDSetProp CachedBadBBU -L2 -a0", True),
        ("LDSetProp_CachedBadBBU_success", "-LDSetProp CachedBadBBU -L7 -a0", False),
        ("LDSetProp_NoCachedBadBBU_success", "-LDSetProp NoCachedBadBBU -L4 -a0", True),
        ("LDSetProp_DisDskCache_indented", "-LDSetProp -DisDskCache -L1 -a0", True),
        ("LDSetProp_ForcedWB", "-LDSetProp ForcedWB -L2 -a0", True),
        ("LDSetProp_WB_success", "-LDSetProp WB -L0 -a0", True),
        ("CfgLdAdd_created", "-CfgLDAdd -R0[21:7] -a0", True),
        ("CfgLdAdd_jbod_drive_0x26", "-CfgLDAdd -R0[21:7] -a0", False),
        ("CfgLdAdd_preserved_cache_0x54", "-CfgLDAdd -R0[17:6] -a0", False),
        ("DiscardPreservedCache_segfault", "-DiscardPreservedCache -L5 -a0", False),
    ],
)
def test_recorded_answers_to_settings_are_judged(recording: str, line: str, ok: bool) -> None:
    (path,) = [path for path in FILES if path.stem.endswith(recording) and f"_{recording}" in path.stem]
    done = Completed(returncode=0, stdout=path.read_text(errors="replace"), stderr="")
    assert judge(Command(argv=("/MegaCli64", *line.split()), mutates=True), done).ok is ok
