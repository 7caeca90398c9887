"""Whether a setting took: by the object's own line, never by the exit status."""

from __future__ import annotations

import pytest

from backends.host import Command, Completed
from backends.vendors.megaraid.dialect import Answer
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.megacli.verdict import judge
from tests.backends.fakes import FakeHost

RA = ("-LDSetProp", "RA", "-L1", "-a0", "-NoLog")
ADD = ("-CfgLDAdd", "-R5[245:1,245:2,245:3]", "WT", "NORA", "-a0", "-NoLog")
DELETE = ("-CfgLdDel", "-L1", "-a0", "-NoLog")
KEY = ("-ELF", "-Applykey", "key", "K3Y", "-a0", "-NoLog")
OK = "\nExit Code: 0x00\n"


def verdict(words: tuple[str, ...], stdout: str, *, status: int = 0, stderr: str = "") -> Answer:
    command = Command(argv=("/MegaCli64", *words), mutates=True, secret=("K3Y",) if "K3Y" in words else ())
    return judge(command, Completed(returncode=status, stdout=stdout, stderr=stderr))


@pytest.mark.parametrize("status", [0, 1, 89])
def test_the_objects_own_line_counts_and_no_exit_status(status: int) -> None:
    text = "\r      \nSet Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) success\n" + OK
    answer = verdict(RA, text, status=status)
    assert (answer.ok, answer.pending) == (True, "")
    assert answer.message == "Set Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) success"


def test_a_missing_exit_code_line_is_no_failure() -> None:
    assert verdict(RA, "\tSet Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) success\n").ok


@pytest.mark.parametrize(
    "text",
    [
        "Set Read Policy to ReadAhead on Adapter 0, VD 0 (target id: 0) success\n",
        "Set Read Policy to ReadAhead on Adapter 1, VD 1 (target id: 1) success\n",
        "Set Read Policy to ReadAhead on Adapter 0, VD 11 (target id: 11) success\n",
        "Set Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) failed\n",
        "All is well.\n",
        "",
    ],
)
def test_anothers_success_or_none_is_a_failure(text: str) -> None:
    assert not verdict(RA, text + OK).ok


def test_a_failure_among_successes_is_a_failure() -> None:
    text = "Set Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) success\nSet Cache Policy failed\n"
    answer = verdict(RA, text + OK)
    assert not answer.ok
    assert "Set Cache Policy failed" in answer.message


@pytest.mark.parametrize("beginning", ["", "Adapter 0: "])
def test_write_back_that_waits_for_a_battery_is_done_and_says_why_it_waits(beginning: str) -> None:
    text = (
        f"{beginning}Get BBU Status Failed.\n\n"
        "So policy Change to WB will not come into effect immediately\n\n"
        "Set Write Policy to WriteBack on Adapter 0, VD 1 (target id: 1) success\n"
    )
    answer = verdict(("-LDSetProp", "WB", "-L1", "-a0"), text + OK)
    assert (answer.ok, answer.pending) == (True, "")
    assert "Get BBU Status Failed. So policy Change to WB will not come into effect immediately" in answer.message


def test_a_battery_that_gives_no_status_does_not_make_a_refusal_a_success() -> None:
    text = "Get BBU Status Failed.\n\nSet Write Policy to WriteBack on Adapter 0, VD 1 (target id: 1) failed\n"
    assert not verdict(("-LDSetProp", "WB", "-L1", "-a0"), text + OK).ok


@pytest.mark.parametrize("word", ["Write Cache OK if bad BBU", "No Write Cache if bad BBU"])
def test_the_bad_in_the_battery_policy_is_no_failure(word: str) -> None:
    text = f"Set {word} on Adapter 0, VD 1 (target id: 1) success\n"
    assert verdict(("-LDSetProp", "CachedBadBBU", "-L1", "-a0"), text + OK).ok


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0x26, "wrong type or state"),
        (0x54, "preserved cache"),
        (0x22, "the required hardware (battery, alarm) is missing"),
        (0xEE, "without a known meaning"),
    ],
)
def test_a_code_is_explained(code: int, words: str) -> None:
    answer = verdict(
        ADD, f"Adapter 0: Configure Adapter Failed\nFW error description:\n no.\nExit Code: 0x{code:02x}\n"
    )
    assert not answer.ok
    assert words in answer.message
    assert "Configure Adapter Failed" in answer.message


def test_a_code_with_no_failing_line_is_a_failure_all_the_same() -> None:
    text = "Set Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) success\nExit Code: 0x32\n"
    assert not verdict(RA, text).ok


@pytest.mark.parametrize(("code", "pending"), [(0x59, "controller reset"), (0x74, "reboot"), (0x84, "reboot")])
def test_codes_that_ask_for_a_reboot_mean_done(code: int, pending: str) -> None:
    answer = verdict(KEY, f"Failure\nExit Code: 0x{code:02x}\n")
    assert (answer.ok, answer.pending) == (True, pending)


def test_the_tools_own_words_say_what_is_pending() -> None:
    text = "Successfully applied the Activation key. Please restart the system for the changes to take effect.\n"
    answer = verdict(KEY, text + "\nExit Code: 0x59\n")
    assert (answer.ok, answer.pending) == (True, "reboot")


def test_a_key_that_is_echoed_is_masked() -> None:
    answer = verdict(KEY, "The key K3Y is invalid.\nExit Code: 0x03\n")
    assert not answer.ok
    assert "K3Y" not in answer.message
    assert "***" in answer.message


@pytest.mark.parametrize(
    ("stdout", "stderr", "status"),
    [
        ("Adapter #0\nSegmentation fault\n", "", 0),
        ("", "sh: line 1: 12 Segmentation fault (core dumped)", 139),
        ("Set Read Policy to ReadAhead on Adapter 0, VD 1 (target id: 1) success\n", "", -11),
    ],
)
def test_a_crash_is_a_failure(stdout: str, stderr: str, status: int) -> None:
    answer = verdict(RA, stdout, status=status, stderr=stderr)
    assert not answer.ok
    assert "crashed" in answer.message


def test_no_answer_is_a_failure() -> None:
    assert "MegaCli printed nothing" in verdict(RA, " \r\n").message


def test_storclis_refusal_of_old_words_is_a_failure() -> None:
    assert not verdict(RA, "Status = Failure\nDescription = Deprecated command. Please use the new syntax.\n").ok


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (DELETE, "Adapter 0: Deleted Virtual Drive-1(target id-1)"),
        (ADD, "Adapter 0: Created VD 1\n\nAdapter 0: Configured the Adapter!!"),
        (("-AdpSetProp", "RebuildRate", "-60", "-a0"), "Adapter 0: Set rebuild rate to 60% success."),
        (("-AdpPR", "-Dsbl", "-a0"), "Adapter 0: Patrol Read Mode is set to DISABLED."),
        (("-AdpCcSched", "-ModeConc", "-a0"), "Adapter 0: Scheduled CC mode is set to Concurrent."),
        (("-LDBI", "-Dsbl", "-L1", "-a0"), "Background Initialization on VD #1 is Disabled"),
    ],
)
def test_every_kind_of_command_has_its_line(words: tuple[str, ...], line: str) -> None:
    assert verdict(words, f"\n{line}\n").ok
    assert verdict(words, f"\n{line}\n{OK}").ok
    assert not verdict(words, "\nSomething else happened.\n").ok


def test_a_deletion_that_the_system_was_not_told_of_is_done() -> None:
    text = "Adapter 0: Deleted Virtual Drive-1(target id-1)\nFailed while adding the configuration to OS.\n"
    answer = verdict(DELETE, text + OK)
    assert answer.ok
    assert "Failed while adding" in answer.message


def test_words_that_nobody_recorded_do_with_exit_code_zero() -> None:
    assert verdict(("-LDSetProp", "-Name", "fast", "-L1", "-a0"), "Name of VD 1 is fast now.\n" + OK).ok
    assert not verdict(("-LDSetProp", "-Name", "fast", "-L1", "-a0"), "Invalid name\n" + OK).ok


def test_what_floods_is_judged_by_its_ends() -> None:
    text = "Adapter 0: Created VD 1\n" + "\n" * 400_000 + "x" * 2_000_000 + OK
    assert verdict(ADD, text).ok


def test_an_array_made_anew_under_another_number_stops_there() -> None:
    cli = MegaCli(FakeHost({}), "/MegaCli64")

    def told(words: tuple[str, ...], line: str) -> Answer:
        command = Command(argv=("/MegaCli64", *words), mutates=True)
        return cli.judge(command, Completed(returncode=0, stdout=line + OK, stderr=""))

    assert told(DELETE, "Adapter 0: Deleted Virtual Drive-1(target id-1)").ok
    answer = told(ADD, "Adapter 0: Created VD 0")
    assert not answer.ok
    assert "created as virtual drive 0, not 1. No further settings" in answer.message
    assert told(ADD, "Adapter 0: Created VD 5").ok
