"""The report as Markdown: complete, and nothing in it acts."""

from __future__ import annotations

from dataclasses import replace

from app.core.analysis.pair_design import RULE
from app.core.session.events import ExperimentMark, ExperimentStarted, LoggedEvent, RunEnded, RunStarted
from app.core.session.results import MemberStats
from app.core.session.state import replay
from app.features.report.markdown import _fence, text, to_markdown
from app.features.report.model import report_of
from tests.case_loop import loop_over
from tests.cli.machine import HOSTILE
from tests.core import sessions


def report(*events: object) -> str:
    return to_markdown(report_of(replay(events)))  # type: ignore[arg-type]


@loop_over(
    ("raw", "shown"),
    [
        ("plain words", "plain words"),
        ("a|b", "a\\|b"),
        ("read_ahead_kb", "read\\_ahead\\_kb"),
        ("**bold**", "\\*\\*bold\\*\\*"),
        ("[a](b)", "\\[a\\](b)"),
        ("<script>", "&lt;script&gt;"),
        ("&lt;", "&amp;lt;"),
        ("# head", "\\# head"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("23.5 GiB", "23.5 GiB"),
        ("http://x", "http&#58;//x"),
        ("@all", "&#64;all"),
        ("`x`", "\\`x\\`"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_text_stays_text(raw: str, shown: str) -> None:
    assert text(raw) == shown


def test_the_machine_is_named() -> None:
    assert "- Host: pear" in report(sessions.started())


def test_devices_are_a_table() -> None:
    assert "| block:sda | hdd | 1 TiB | online | TOSHIBA DT01 |" in report(sessions.started(), sessions.seen())


def test_a_hostile_model_is_no_markup() -> None:
    made = report(sessions.started(), sessions.seen(HOSTILE))
    assert not {"\x1b", "\x07", "\u202e", "<b>"} & {*made, "<b>" if "<b>" in made else ""}


def test_a_table_keeps_its_columns_whatever_a_model_holds() -> None:
    made = report(sessions.started(), sessions.seen("a|b|c"))
    row = next(line for line in made.splitlines() if line.startswith("| block:sda"))
    assert row.replace("\\|", "").count("|") == 7


def test_a_change_has_its_command() -> None:
    assert "echo 4096 > /sys/block/sda/queue/read_ahead_kb" in report(sessions.started(), *sessions.change())


def test_a_change_has_its_outcome() -> None:
    assert "- Outcome: verified" in report(sessions.started(), *sessions.change())


def test_a_change_without_outcome_says_so() -> None:
    assert "no outcome" in report(sessions.started(), *sessions.change(result=None))


def test_what_stands_is_listed() -> None:
    after = report(sessions.started(), *sessions.change()).partition("## Still changed")[2]
    assert "Read-ahead of block:sda is 4096 (was 128), until reboot." in after


def test_what_was_taken_back_does_not_stand() -> None:
    events = (*sessions.change("c1"), *sessions.change("c2", undoes="c1"))
    after = report(sessions.started(), *events).partition("## Still changed\n\n")[2]
    assert after.startswith("None.")


def test_settings_that_differ_are_columns() -> None:
    runs = (*sessions.run("r1", settings={"a": "1", "b": "2"}), *sessions.run("r2", settings={"a": "1", "b": "3"}))
    made = report(sessions.started(), *runs)
    heads = next(line for line in made.split("\n") if line.startswith("| Run | When |"))
    assert "| b |" in heads


def test_figures_come_before_the_settings_that_differ() -> None:
    runs = (*sessions.run("r1", settings={"b": "2"}), *sessions.run("r2", settings={"b": "3"}))
    tables = [line for line in report(sessions.started(), *runs).split("\n") if line.startswith("|") and " b |" in line]
    assert len(tables) == 2
    assert all(line.index("Read IOPS") < line.index("Read p99") < line.index(" b |") for line in tables)


def test_figures_come_before_the_machine() -> None:
    made = report(sessions.started(), *sessions.run())
    assert made.index("## Summary") < made.index("IOPS") < made.index("## Machine")


def test_settings_that_do_not_differ_are_said_once() -> None:
    runs = (*sessions.run("r1", settings={"a": "1", "b": "2"}), *sessions.run("r2", settings={"a": "1", "b": "3"}))
    assert "Identical in all runs: a 1." in report(sessions.started(), *runs)


def test_a_percentile_that_few_carry_has_no_figure() -> None:
    assert "too few I/Os" in report(sessions.started(), *sessions.run())


def test_warnings_come_with_their_run() -> None:
    assert "- r1: the ramp was cut" in report(sessions.started(), *sessions.run(warnings=("the ramp was cut",)))


def test_a_simulated_session_is_marked_at_the_top() -> None:
    assert "SIMULATED" in report(sessions.started(simulated=True)).split("## Machine")[0]


def test_notes_are_kept() -> None:
    assert "swapped the cable" in report(sessions.started(), sessions.note("swapped the cable"))


def test_a_command_full_of_backticks_does_not_end_its_block() -> None:
    assert next(iter(_fence(("echo ```",)))) == "````"


def members() -> tuple[MemberStats, ...]:
    whole = MemberStats(device="md1", label="raid1", read_iops=100.0, share_of_reads=1.0)
    return (whole, MemberStats(device="sda", label="a|b", depth=1, role="write-mostly", read_iops=55.0))


def test_members_are_a_table_that_says_what_lies_below_what() -> None:
    start, end = sessions.run()
    assert isinstance(end, RunEnded)
    made = report(sessions.started(), start, replace(end, figures=replace(end.figures, members=members())))
    assert "| r1 | md1/sda | a\\|b | write-mostly | 55.0 | \\- |" in made


def test_runs_without_members_have_no_table_of_them() -> None:
    assert "### Members" not in report(sessions.started(), *sessions.run())


def test_an_experiment_is_told_with_its_figures() -> None:
    start = ExperimentStarted(
        at=1002.0,
        id="e1",
        target=sessions.SDA,
        key="read_ahead_kb",
        label="Read-ahead",
        a="128",
        b="4096",
        order=("A", "B", "B", "A", "A", "B"),
        title="4k random read",
        measured="block:sda",
        rule=RULE,
    )
    events: list[LoggedEvent] = [start]
    for at, letter in enumerate(start.order):
        begun, ended = sessions.run(f"r{at + 1}", iops=(1000.0 if letter == "A" else 800.0) + at)
        assert isinstance(begun, RunStarted)
        mark = ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)
        events += [replace(begun, mark=mark), ended]
    written = to_markdown(report_of(replay([sessions.started(), *events])))
    assert "Slower with read-ahead 4096 KiB than with 128 KiB" in written
    assert "in 3 pairs" in written
    assert "| e1 | read IOPS |" in written


def test_a_code_block_keeps_the_blanks_of_a_picture_and_nothing_that_acts() -> None:
    rows = ("  50k┤   ⠈⠉", "      │", "a\x1b[2J  b  ")
    assert list(_fence(rows)) == ["```", "  50k┤   ⠈⠉", "      │", "a\ufffd[2J  b", "```"]
