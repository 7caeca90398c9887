"""A run in progress is called running wherever runs are shown, and failed only once its process is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.core.analysis.past_runs.index import load_past_runs
from app.core.session.store import SessionLog, load
from app.features.history.screen import HistoryScreen
from app.tui.runs.compare import CompareScreen
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.journeys.bench_walk import run_once, start
from tests.tui.stage import Table, app_of, notices, opened, paths_in, text_of, until


def cli_text(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    return result.stdout + result.stderr


@pytest.mark.long
@pytest.mark.parametrize("size", [(120, 40), (200, 60)], ids=str)
async def test_a_running_job_is_called_running_on_every_screen_and_in_the_report(
    table: Table, size: tuple[int, int]
) -> None:
    session = str(table.options.session)
    async with opened(table, size) as pilot:
        await pilot.press("2")
        await pilot.pause()
        await run_once(pilot, table)
        await start(pilot, table)
        seen = {}
        await pilot.press("3", "end")
        await until(pilot, lambda: "Run: r2" in text_of(pilot) or "r2: " in text_of(pilot))
        seen["runs"] = text_of(pilot)
        await pilot.press("enter")
        await pilot.pause()
        seen["enter"] = notices(pilot)
        await pilot.press("space", "up", "space", "c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        seen["compare"] = text_of(pilot)
        seen |= {name: cli_text("--session", session, name) for name in ("runs", "log")}
        seen["report"] = cli_text("report", session, "--format", "md")
        seen["plot"] = cli_text("plot", f"{session}/r2")
        listed = json.loads(CliRunner().invoke(cli, ["--session", session, "runs", "--json"]).stdout)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        await pilot.press("space", "home", "space", "end", "X")  # without marks, the run under the cursor
        await until(pilot, lambda: "still running" in text_of(pilot))
        seen["explore"] = text_of(pilot)
        await pilot.press("escape", "H")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen) and "running" in text_of(pilot))
        seen["history"] = text_of(pilot)
        app_of(pilot).workbench.jobs.stop()
        await until(pilot, lambda: not table.bench.jobs.running)
    assert {place for place, text in seen.items() if "failed" in text or "ended during" in text} == set()
    assert [place for place in ("runs", "enter", "compare", "report", "plot") if "running" not in seen[place]] == []
    assert [(run["status"], run["reason"]) for run in listed["runs"]] == [("ok", None), ("running", None)]


def unended(folder: Path) -> Path:
    """A session in the state folder whose log ends with a run that has not ended."""
    path = paths_in(folder).sessions / "s1"
    return sessions.written(path, sessions.started(), sessions.seen(), *sessions.run(ended=False))


def statuses(folder: Path) -> tuple[str, str]:
    """The status of that run in its session and in the index of all sessions."""
    (run,) = load(folder).session.runs
    (past,) = load_past_runs(paths_in(folder.parents[1])).runs
    return run.figures.status.value, past.status


def test_another_process_that_holds_the_log_runs_it_and_one_that_is_gone_failed(tmp_path: Path) -> None:
    folder = unended(tmp_path)
    writer = SessionLog(folder)
    during = statuses(folder)
    writer.close()
    assert (during, statuses(folder)) == (("running", "running"), ("failed", "failed"))


def test_asking_whether_a_session_is_written_leaves_it_free_for_a_writer(tmp_path: Path) -> None:
    folder = unended(tmp_path)
    load(folder)
    SessionLog(folder).close()


@pytest.mark.long
def test_a_redacted_session_says_the_same(tmp_path: Path) -> None:
    folder = unended(tmp_path)
    assert "failed" in cli_text("report", str(folder), "--format", "md", "--redact")
