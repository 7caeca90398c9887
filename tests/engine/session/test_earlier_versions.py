"""What version 0.1 wrote is read wholly: sessions, the journal, what was cut short and its way back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.engine.judge.comparison import compare_experiment
from app.engine.session.journal import Journal, boot_id, read_records
from app.engine.session.paths import Paths
from app.engine.session.state import ChangeRecord, Session
from app.engine.session.store import load
from app.engine.view.comparison_words import sentence
from backends.settings import Effect, Persistence, Risk
from tests.cli.conftest import Cli, cli  # noqa: F401  the command line in this process

WRITTEN = Path(__file__).parent / "of_version_0_1"
"""Made with the simulated rack; outputs of tools are cut short."""

BOOT = "00000000-0000-0000-0000-000000000001"
"""Stands in the files for the kernel's id of the boot."""

NAMES = ("worked", "swept", "cut-sweep", "cut-ab")


def session(name: str) -> Session:
    return load(WRITTEN / "sessions" / name).session


def changed(name: str, change_id: str) -> ChangeRecord:
    record = session(name).change(change_id)
    assert record is not None
    return record


@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_passed_over(name: str) -> None:
    assert load(WRITTEN / "sessions" / name).passed_over == 0


def test_changes_end_as_they_ended() -> None:
    told = {
        record.id: (
            record.change.key,
            record.change.before,
            record.change.after,
            None if record.end is None else record.end.result,
            record.undone_by,
        )
        for record in session("worked").changes
    }
    assert told == {
        "c1": ("read_ahead", "none", "read-ahead", "verified", "c4"),
        "c2": ("scheduler", "none", "mq-deadline", "verified", None),
        "c3": ("nr_requests", "256", "64", "verified", None),
        "c4": ("read_ahead", "read-ahead", "none", "verified", None),
        "c5": ("read_ahead_kb", "128", "4096", "verified", "c6"),
        "c6": ("read_ahead_kb", "4096", "128", "verified", None),
        "c7": ("read_ahead_kb", "128", "4096", "verified", "c8"),
        "c8": ("read_ahead_kb", "4096", "128", "verified", None),
        "c9": ("read_ahead", "none", "read-ahead", None, None),
        "c10": ("strip_size", "65536", "131072", None, None),
    }


def test_a_change_keeps_what_its_way_back_needs() -> None:
    intent, change = changed("worked", "c10").intent, changed("worked", "c10").change
    assert (
        str(change.target),
        change.label,
        change.risk,
        change.effect,
        change.persistence,
        None if change.identity is None else change.identity.name,
        [step.argv[-3] for step in change.writes],
        [step.argv[-3] for step in change.undo],
        bool(intent.boot),
    ) == (
        "megaraid:/c0/v1",
        "Strip size",
        Risk.DESTROYS_DATA,
        Effect.RECREATED,
        Persistence.STORED,
        "c0-v1",
        ["force", "strip=128"],
        ["force", "strip=64"],
        True,
    )


def test_what_takes_back_names_what_it_takes_back() -> None:
    assert changed("worked", "c4").intent.undoes == "c1"


def test_changes_in_force_are_those_that_nobody_took_back() -> None:
    assert [record.id for record in session("worked").in_force] == ["c10", "c9", "c3", "c2"]


def test_runs_have_their_figures() -> None:
    figures = {record.id: record.figures for record in session("worked").runs}
    iops = {run: round(known.read.iops) for run, known in figures.items() if known.read is not None}
    assert list(iops) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    assert 68_000 < iops["r1"] < 69_000


def test_an_experiment_is_compared_to_the_same_interval() -> None:
    worked = session("worked")
    shown = compare_experiment(worked, "e1")
    assert shown is not None
    assert "read IOPS +1.2 % [+0.9, +1.4] in 2 pairs" in sentence(shown)


def test_a_sweep_is_known_to_its_end() -> None:
    sweep = session("swept").sweep
    assert sweep is not None
    assert (sweep.finished, sweep.done, len(sweep.changes)) == (True, 8, 2)


def test_a_sweep_cut_short_has_steps_left() -> None:
    sweep = session("cut-sweep").sweep
    assert sweep is not None
    assert (sweep.finished, sweep.done, len(sweep.todo)) == (False, 3, 5)


def test_the_journal_has_no_record_that_is_passed_over() -> None:
    file = WRITTEN / "journal/simulated/journal.log"
    assert len(read_records(file)) == len(file.read_bytes().splitlines())


def test_what_the_journal_left_open_is_found() -> None:
    left = Journal(WRITTEN / "journal/simulated").unresolved()
    assert [(intent.id, intent.change.key, intent.change.risk, intent.change.lock) for intent in left] == [
        ("c10", "strip_size", Risk.DESTROYS_DATA, "megaraid-c0"),
        ("c9", "read_ahead", Risk.NONE, "megaraid-c0"),
    ]


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of the rack with which version 0.1 wrote it, to be written to."""
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))
    folder = Paths.of("lsi").state
    shutil.copytree(WRITTEN, folder)
    shutil.copytree(WRITTEN / "journal/simulated", folder / "journal", dirs_exist_ok=True)
    for log in folder.glob("sessions/*/session.jsonl"):  # as if this machine had not been restarted since
        log.write_text(log.read_text().replace(BOOT, boot_id()))
    monkeypatch.setenv("COLUMNS", "200")
    return folder


@pytest.mark.parametrize(
    ("name", "form"), [("worked", "md"), ("swept", "html"), ("cut-sweep", "json"), ("cut-ab", "csv")]
)
def test_each_session_makes_a_report(cli: Cli, copied: Path, name: str, form: str) -> None:  # noqa: F811
    out = copied / "report"
    made = cli("--session", str(copied / "sessions" / name), "report", "--format", form, "-o", str(out))
    assert (made.status, out.exists()) == (0, True)


def test_runs_are_compared(cli: Cli, copied: Path) -> None:  # noqa: F811
    assert "r2 repeats r1" in cli("--session", str(copied / "sessions/worked"), "compare", "r1", "r2").out


def test_all_that_was_cut_short_is_listed(cli: Cli, copied: Path) -> None:  # noqa: F811
    told = cli("--demo", "--demo-speed", "500", "recover", "--list").out
    assert all(name in told for name in ("cut-sweep", "cut-ab", "c9", "c10"))


@pytest.mark.parametrize(
    ("target", "key", "left", "before"),
    [
        ("megaraid:/c0/v1", "read_ahead", "read-ahead", "none"),
        ("block:nvme0n1", "read_ahead_kb", "4096", "128"),
        ("block:nvme0n1", "scheduler", "kyber", "mq-deadline"),
    ],
)
def test_recover_puts_the_value_of_before_back(
    cli: Cli,  # noqa: F811
    copied: Path,
    target: str,
    key: str,
    left: str,
    before: str,
) -> None:
    demo = ("--demo", "--demo-speed", "500")
    cli(*demo, "--session", str(copied / "now"), "set", target, f"{key}={left}", "--yes")
    cli(*demo, "recover", "--restore")
    settings = cli(*demo, "show", target, "--json").json["target"]["settings"]
    assert next(setting["now"] for setting in settings if setting["key"] == key) == before


def test_what_was_measured_is_one_target_each() -> None:
    runs = session("worked").runs
    assert [[(each.target, each.device) for each in run.start.each] for run in runs] == [
        [(run.start.target, run.start.device)] for run in runs
    ]
