"""What counts as done: the object's own row, whatever the exit status and the first line say."""

from __future__ import annotations

import pytest

from backends.errors import InvalidValueError
from backends.host import Completed
from backends.vendors.megaraid.dialect import NewVolume
from backends.vendors.megaraid.storcli import StorCli7, StorCli8
from backends.vendors.megaraid.storcli.verdict import judge
from tests.backends.fakes import FakeHost
from tests.backends.megaraid.answers import VERSION_8, answer, failure
from tests.case_loop import loop_over

SEVEN = StorCli7(FakeHost({}), "/opt/storcli64")
EIGHT = StorCli8(FakeHost({}), "/opt/storcli2")
RAID10 = NewVolume(
    level="raid10",
    drives=("8:0", "8:1", "8:3", "9:4"),
    drives_per_span=2,
    strip_bytes=1 << 17,
    write_cache="write-through",
    read_ahead="none",
    io_policy="direct",
    drive_cache="off",
    name="data",
)


def row(status: str = "Success", code: object = 0, message: str = "-", vd: int = 1) -> dict[str, object]:
    return {"VD": vd, "Property": "wrCache", "Value": "WT", "Status": status, "ErrCd": code, "ErrMsg": message}


def test_a_row_of_success_is_success_whatever_the_exit_status() -> None:
    command = SEVEN.set_volume(0, 1, "write_cache", "write-through")[0]
    done = Completed(returncode=46, stdout=answer(rows=[row()]), stderr="")
    assert SEVEN.judge(command, done).ok


def test_exit_0_with_a_failed_row_is_a_failure_in_the_tools_words() -> None:
    found = judge(answer(status="Failure", rows=[row("Failed", 255, "SSD Pd is present")]))
    assert (found.ok, found.message) == (False, "SSD Pd is present (code 255)")


def test_one_failed_row_among_good_ones_is_a_failure() -> None:
    assert not judge(answer(rows=[row(), row("Failed", 50, "no", vd=2)])).ok


def test_success_without_rows_is_by_the_whole() -> None:
    assert judge(answer(description="Delete VD succeeded")).ok
    assert judge(answer(status="Failure", description="No")).message == "No"


def test_version_8_has_its_rows_among_the_data() -> None:
    made = {"VDID": 25, "VDSize": "9.094 TiB", "Status": "Success", "ErrType": "-", "ErrCd": "-", "Msg": "-"}
    bad = made | {"Status": "Failed", "ErrCd": 255, "Msg": "no room"}
    assert judge(answer({"VD Information": [made]}, card="0", version=VERSION_8)).ok
    assert judge(answer({"VD Information": [bad]}, card="0", version=VERSION_8)).message == "no room (code 255)"


@pytest.mark.parametrize(
    ("code", "pending"), [(89, "controller reset"), (116, "reboot"), (132, "reboot"), ("132", "reboot")]
)
def test_codes_called_failures_that_mean_later(code: int | str, pending: str) -> None:
    found = judge(failure("done", code))
    assert (found.ok, found.pending) == (True, pending)


def test_a_sentence_that_asks_for_a_restart_means_later() -> None:
    words = "Successfully applied the Activation key. Please restart the system for the changes to take effect."
    assert judge(answer(description=words)).pending == "reboot"


def test_a_code_without_words_gets_some() -> None:
    assert judge(failure("-", 84)).message.startswith("the controller has unwritten data")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The tool printed nothing."),
        ("syntax error, unexpected TOKEN_WRITE_CACHE, expecting $end", "The tool reports: syntax error"),
        ('{"Controllers":[{"Command Status":{"Sta', "The tool reports:"),
        ("Do you want to continue? (y/n)", "The tool reports: Do you want"),
        ("Status = Failure\nDescription = Un-supported command", "Un-supported command"),
    ],
)
def test_what_is_not_understood_is_no_success(text: str, words: str) -> None:
    found = judge(text)
    assert not found.ok
    assert found.message.startswith(words)


def test_an_answer_that_was_cut_is_no_success() -> None:
    assert not judge(answer(), truncated=True).ok


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("write_cache", "always-write-back", "wrcache=awb"),
        ("read_ahead", "none", "rdcache=nora"),
        ("io_policy", "cached", "iopolicy=cached"),
        ("drive_cache", "default", "pdcache=default"),
        ("access_policy", "read-only", "accesspolicy=ro"),
        ("auto_bgi", "off", "autobgi=off"),
    ],
)
def test_lines_that_set_a_virtual_drive(key: str, value: str, words: str) -> None:
    (command,) = SEVEN.set_volume(0, 228, key, value)
    assert command.argv == ("/opt/storcli64", "/c0/v228", "set", words, "J", "nolog")
    assert command.mutates
    assert command.timeout >= 60


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("rebuild_rate", "60", ("rebuildrate=60",)),
        ("patrol_read", "manual", ("patrolread=on", "mode=manual")),
        ("patrol_read", "off", ("patrolread=off",)),
        ("consistency_check", "concurrent", ("cc=conc",)),
        ("perf_mode", "1", ("perfmode=1",)),
        ("cache_flush_interval", "4", ("cacheflushint=4",)),
    ],
)
def test_lines_that_set_a_card(key: str, value: str, words: tuple[str, ...]) -> None:
    assert SEVEN.set_card(3, key, value)[0].argv == ("/opt/storcli64", "/c3", "set", *words, "J", "nolog")


def test_making_a_virtual_drive_again_is_two_lines() -> None:
    delete, add = SEVEN.recreate(0, 1, RAID10)
    assert " ".join(delete.argv) == "/opt/storcli64 /c0/v1 del force J nolog"
    assert " ".join(add.argv) == (
        "/opt/storcli64 /c0 add vd r10 name=data drives=8:0-1,8:3,9:4 pdperarray=2 pdcache=off wt nora direct "
        "strip=128 J nolog"
    )


def test_version_8_deletes_with_another_verb_and_knows_no_io_policy() -> None:
    delete, add = EIGHT.recreate(0, 25, RAID10)
    assert "delete" in delete.argv
    assert "direct" not in add.argv


@loop_over(
    "change",
    [
        {"strip_bytes": 100_000},
        {"strip_bytes": 4096},
        {"drives": (":3", ":4")},
        {"drives": ()},
        {"drives_per_span": 3},
        {"drives_per_span": None},
        {"level": "raid4"},
        {"name": "two words"},
        {"name": "=force"},
        {"name": "a name longer than 15"},
        {"write_cache": "unknown"},
    ],
)
def test_what_the_tool_cannot_be_told_exactly_is_refused_before_anything_is_deleted(change: dict[str, object]) -> None:
    from dataclasses import replace

    with pytest.raises(InvalidValueError):
        SEVEN.recreate(0, 1, replace(RAID10, **change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value"), [("io_policy", "direct"), ("read_ahead", "adaptive"), ("write_cache", "wt; reboot")]
)
def test_version_8_has_no_word_for_some_values(key: str, value: str) -> None:
    with pytest.raises(InvalidValueError):
        EIGHT.set_volume(0, 1, key, value)


@pytest.mark.parametrize(("key", "value"), [("rebuild_rate", "30 J"), ("patrol_read", "on"), ("no_such", "1")])
def test_lines_that_nobody_may_make_up(key: str, value: str) -> None:
    with pytest.raises(InvalidValueError):
        SEVEN.set_card(0, key, value)


def test_an_activation_key_is_masked_wherever_the_line_is_shown() -> None:
    (command,) = SEVEN.apply_key(0, "ABCD-1234", preview=False)
    assert "ABCD-1234" not in command.shown()
    assert SEVEN.flatten((command,)) == (("/opt/storcli64", "/c0", "set", "aso", "key=***", "J", "nolog"),)
    assert not SEVEN.apply_key(0, "ABCD-1234", preview=True)[0].mutates
