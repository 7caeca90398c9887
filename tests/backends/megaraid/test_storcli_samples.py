"""Every recording of storcli and perccli at hand: nothing raised, and all that the text shows is in the result."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from backends.vendors.megaraid.storcli import commands, words
from backends.vendors.megaraid.storcli.document import chosen, replies
from backends.vendors.megaraid.storcli.sizes import strip
from backends.vendors.megaraid.storcli.verdict import judge
from tests.backends.megaraid import answers
from tests.backends.megaraid.coverage import PAGE
from tests.backends.megaraid.recordings import SAMPLES, recordings, text_of
from tests.backends.megaraid.storcli_fields import KINDS, answers_in, drive_rows, volume_rows

FILES = recordings()

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

needs_recordings = pytest.mark.skipif(not FILES, reason="no recordings at hand")


@needs_recordings
def test_there_are_recordings_of_every_kind() -> None:
    told = [kind for path in FILES for kind, fields in KINDS.items() if fields(text_of(path))]
    assert {kind: told.count(kind) > 8 for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_all_that_a_recording_shows_is_found(path: Path, kind: str) -> None:
    assert [name for name, found in KINDS[kind](text_of(path)).items() if not found] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_numbers_states_and_policies_are_the_very_ones(path: Path) -> None:
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_verdict_never_raises_and_is_quick(path: Path) -> None:
    started = time.process_time()
    answers_in(text_of(path))
    judge(text_of(path))
    assert time.process_time() - started < 1


@needs_recordings
@pytest.mark.parametrize(
    ("name", "ok"),
    [
        ("lsi/storcli/raidmgmt__logicalvolumes_cacheoptions_success.json", True),
        ("lsi/storcli/raidmgmt__logicalvolumes_create_success.json", True),
        ("lsi/storcli/raidmgmt__logicalvolumes_create_fail.json", False),
        ("lsi/storcli/raidmgmt__logicalvolumes_delete_fail_invalid.json", False),
        ("lsi/storcli/raidmgmt__logicalvolumes_delete_fail_vdNotExist.json", False),
        ("lsi/storcli/raidmgmt__logicalvolumes_migrate_fail.json", False),
        ("lsi/storcli/raidmgmt__physicaldrives_jbod_enable_fail.json", False),
        ("lsi/storcli/pystorcli2__namedSet_delete_vd_00___c0_v1_del_J.json", True),
        ("lsi/storcli/check_raid-198__deprecated_syntax.txt", False),
        ("lsi/storcli2/raidmgmt__lvcachesetter_cacheoptions_success_wrcache.json", True),
        ("lsi/storcli2/raidmgmt__logicalvolumemanager_create_success.json", True),
        ("lsi/storcli2/raidmgmt__logicalvolumemanager_create_fail.json", False),
        ("lsi/storcli2/raidmgmt__logicalvolumemanager_delete_success.json", True),
        ("lsi/storcli2/raidmgmt__logicalvolumemanager_delete_fail_invalid.json", False),
    ],
)
def test_recorded_verdicts(name: str, ok: bool) -> None:
    assert judge(text_of(SAMPLES / name)).ok is ok


def test_all_that_our_own_answers_show_is_found() -> None:
    rows = [answers.drive_row(f"245:{slot}") for slot in (1, 2, 3)]
    text = answers.answer(
        {"/c0/v1": [answers.volume_row()], "PDs for VD 1": rows, "VD1 Properties": answers.properties()}
    )
    fields = KINDS["virtual drives"](text)
    assert len(fields) >= 15
    assert all(fields.values()), fields


def test_a_recording_is_asked_for_by_the_number_of_its_card() -> None:
    text = answers.answer({}, card=0) + answers.answer({"x": 1}, card=2)
    second = chosen(replies(text), 2)
    assert second is not None
    assert second.data == {"x": 1}


def test_every_word_for_a_strip_is_one_parser() -> None:
    assert {strip(f"{size}{unit}") for size, unit in ((64, " KB"), (64, "kB"), (64, " KiB"))} == {65536}
    assert words.policies("RWBD").write_cache is not None


def test_the_page_has_every_command_as_documented() -> None:
    listing = (commands.__doc__ or "").partition("\n")[2].strip()
    assert listing in PAGE.read_text()
