"""Reports as files: every format where it is wanted, nothing overwritten, nothing half done."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.events import RunEnded, RunStarted
from app.core.session.results import SteadyStateResult
from app.core.session.state import Session, replay
from app.features.report.html import to_html
from app.features.report.model import report_of
from app.features.report.output import ReportFormat, format_of, report_text, write_report
from backends.errors import InvalidValueError, RefusedError
from tests.core import sessions
from tests.core.fio.documents import direction, document, printed
from tests.features.report.pages import picture

JOB = {"rw": "randread", "bs": "4k", "iodepth": "8", "numjobs": "2", "runtime": "1s", "ramp": "0s"}


def run(id: str = "r1", **more: object) -> list[RunStarted | RunEnded]:
    start, end = sessions.run(id, job=JOB)
    assert isinstance(start, RunStarted)
    assert isinstance(end, RunEnded)
    return [replace(start, **more), end]  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session's folder with what fio wrote in a second: 100 reads of 1 ms in each quarter of it."""
    documents = []
    for quarter in range(1, 5):
        entry = direction({1_003_520: 100 * quarter}, runtime_ms=250 * quarter)
        entry["lat_ns"] = {"min": 0, "max": 0, "mean": 1_010_000.0, "stddev": 0.0, "N": 100 * quarter}
        documents.append(printed(document(250 * quarter, read=entry)))
    for name in ("r1", "r2"):
        place = tmp_path / "session/runs" / name
        place.mkdir(parents=True)
        (place / "fio.out").write_bytes(b"".join(documents))
        (place / "job.fio").write_text("[raidbench]\nrw=randread\n")
    return tmp_path / "session"


@pytest.fixture
def session() -> Session:
    """Two runs of the same."""
    return replay([sessions.started(), sessions.seen(), *sessions.change(), *run("r1"), *run("r2")])


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", ReportFormat.MARKDOWN),
        ("a.html", ReportFormat.HTML),
        ("A.HTM", ReportFormat.HTML),
        ("a.csv", ReportFormat.CSV),
    ],
)
def test_the_ending_names_the_format(name: str, form: ReportFormat) -> None:
    assert format_of(Path(name)) is form


def test_another_ending_is_refused() -> None:
    with pytest.raises(InvalidValueError):
        format_of(Path("report.pdf"))


@pytest.mark.parametrize("form", list(ReportFormat))
def test_nothing_is_overwritten(session: Session, folder: Path, tmp_path: Path, form: ReportFormat) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(RefusedError):
        write_report(session, folder, tmp_path / "mine", form)
    assert (tmp_path / "mine").read_text() == "mine"


def test_graphs_lie_beside_the_text_that_shows_them(session: Session, folder: Path, tmp_path: Path) -> None:
    write_report(session, folder, tmp_path / "out.md", ReportFormat.MARKDOWN)
    shown = [
        line.partition("](")[2].rstrip(")") for line in (tmp_path / "out.md").read_text().splitlines() if "](" in line
    ]
    assert sorted(shown) == sorted(f"out-files/{file.name}" for file in (tmp_path / "out-files").iterdir())


def test_pictures_are_whole_files(session: Session, folder: Path, tmp_path: Path) -> None:
    write_report(session, folder, tmp_path / "out.md", ReportFormat.MARKDOWN)
    roots = [picture(file.read_text()).tag for file in (tmp_path / "out-files").iterdir()]
    assert set(roots) == {"{http://www.w3.org/2000/svg}svg"}


def test_markdown_alone_links_to_no_pictures(session: Session, folder: Path) -> None:
    assert "](" not in report_text(session, folder, ReportFormat.MARKDOWN)


def test_a_page_allows_nothing_but_its_own_style(session: Session, folder: Path) -> None:
    page = report_text(session, folder, ReportFormat.HTML)
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert not any(word in page for word in ("<script", "@import", "url(", "src=", "http://", "https://"))


def test_a_page_has_the_graphs_of_its_runs(session: Session, folder: Path) -> None:
    page = report_text(session, folder, ReportFormat.HTML)
    assert all(f'id="{run}-{key}-t"' in page for run in ("r1", "r2") for key in ("iops", "read-latency"))


def test_the_job_stands_as_fio_got_it(session: Session, folder: Path) -> None:
    assert "[raidbench]\nrw=randread\n```" in report_text(session, folder, ReportFormat.MARKDOWN)


def test_runs_of_the_same_are_one_row_with_an_interval(session: Session, folder: Path) -> None:
    assert "| 1.00k ±0.0 % |" in report_text(session, folder, ReportFormat.MARKDOWN)


def test_long_tables_are_folded() -> None:
    many = [event for at in range(30) for event in run(f"r{at}")]
    assert "<summary>30 rows</summary>" in to_html(report_of(replay([sessions.started(), *many])))


def test_a_row_of_the_table_is_a_run(session: Session, folder: Path) -> None:
    rows = list(csv.DictReader(report_text(session, folder, ReportFormat.CSV).splitlines()))
    told = [(row["run"], row["read_iops"], row["job_iodepth"], row["setting_read_ahead_kb"]) for row in rows]
    assert told == [("r1", "1000", "8", "128"), ("r2", "1000", "8", "128")]


def test_a_row_says_that_the_wait_for_the_steady_state_was_cut_off(session: Session, folder: Path) -> None:
    seen = SteadyStateResult(
        attained=False, range_share=None, slope_share=None, rounds=5, window=5, round_s=10, waited_s=70, capped=True
    )
    one = session.runs[0]
    assert one.end is not None
    end = replace(one.end, figures=replace(one.figures, steady=seen))
    session = replace(session, runs=(replace(one, end=end),))
    (row,) = csv.DictReader(report_text(session, folder, ReportFormat.CSV).splitlines())
    assert "NOT STEADY after waiting 70 s, measured anyway" in row["warnings"]


def test_a_row_has_what_the_run_came_from(folder: Path) -> None:
    session = replay([sessions.started(), *run("r1", provenance={"drive_firmware": "A1"}), *run("r2")])
    rows = list(csv.DictReader(report_text(session, folder, ReportFormat.CSV).splitlines()))
    told = [(row["provenance_kernel"], row["provenance_drive_firmware"]) for row in rows]
    assert told == [("6.1.0", "A1"), ("6.1.0", "")]


def test_a_version_of_fio_is_no_number_in_a_table(folder: Path) -> None:
    session = replay([sessions.started(), *run("r1", fio_version="3.40")])
    (row,) = csv.DictReader(report_text(session, folder, ReportFormat.CSV).splitlines())
    assert row["fio_version"] == "fio-3.40"


def test_the_document_says_in_which_runs_what_was_so(folder: Path) -> None:
    session = replay(
        [sessions.started(), *run("r1", provenance={"turbo": "on"}), *run("r2", provenance={"turbo": "off"})]
    )
    text = report_text(session, folder, ReportFormat.MARKDOWN)
    assert "| Kernel | 6.1.0 | all |" in text
    assert "| Turbo | off | r2 |" in text


def test_names_of_columns_stay(session: Session, folder: Path) -> None:
    header = report_text(session, folder, ReportFormat.CSV).splitlines()[0].split(",")
    assert header[:8] == ["run", "session", "started_utc", "host", "target", "device", "job", "profile"]
    assert {"read_bytes_per_s", "read_latency_p99_9_ns", "write_latency_max_ns", "fio_cpu_percent_of_core"} <= {*header}


def test_a_row_of_the_samples_is_an_interval(session: Session, folder: Path) -> None:
    rows = list(csv.DictReader(report_text(session, folder, ReportFormat.CSV, samples=True).splitlines()))
    assert [(row["run"], row["at_s"], row["read_iops"]) for row in rows[:4]] == [
        ("r1", "0.25", "400"), ("r1", "0.5", "400"), ("r1", "0.75", "400"), ("r1", "1", "400"),
    ]  # fmt: skip


def test_fio_plot_finds_the_last_document_by_its_options(session: Session, folder: Path, tmp_path: Path) -> None:
    write_report(session, folder, tmp_path / "plot", ReportFormat.FIO_PLOT)
    job = json.loads((tmp_path / "plot/01-block-sda-4k/randread-8-2.json").read_text())["jobs"][0]
    options = {key: job["job options"][key] for key in ("rw", "iodepth", "numjobs", "bs")}
    assert (options, job["read"]["total_ios"]) == (
        {"rw": "randread", "iodepth": "8", "numjobs": "2", "bs": "4k"}, 400,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("iops", "250, 400, 0, 4096, 0"), ("bw", "250, 1600, 0, 4096, 0"), ("lat", "250, 1010000, 0, 4096, 0")],
)
def test_fio_plot_finds_the_intervals(session: Session, folder: Path, tmp_path: Path, kind: str, rows: str) -> None:
    write_report(session, folder, tmp_path / "plot", ReportFormat.FIO_PLOT)
    log = tmp_path / f"plot/01-block-sda-4k/randread-iodepth-8-numjobs-2_{kind}.1.log"
    assert log.read_text().splitlines()[0] == rows


def test_repeats_have_folders_of_their_own(session: Session, folder: Path, tmp_path: Path) -> None:
    write_report(session, folder, tmp_path / "plot", ReportFormat.FIO_PLOT)
    found = sorted(file.name for file in (tmp_path / "plot").iterdir())
    assert found == ["01-block-sda-4k", "01-block-sda-4k-run2", "README.txt", "runs.csv"]


def test_simulated_runs_are_marked_in_the_name(folder: Path, tmp_path: Path) -> None:
    simulated = replay([sessions.started(simulated=True), *run("r1", simulated=True)])
    write_report(simulated, folder, tmp_path / "plot", ReportFormat.FIO_PLOT)
    assert (tmp_path / "plot/SIMULATED-01-block-sda-4k").is_dir()


def test_a_run_that_points_out_of_the_session_is_not_read(folder: Path, tmp_path: Path) -> None:
    start, end = run("r1")
    assert isinstance(end, RunEnded)
    (tmp_path / "session/outside").symlink_to("/")
    far = replay([sessions.started(), start, replace(end, folder="../session/runs/r1/../../../..")])
    assert report_text(far, folder, ReportFormat.CSV, samples=True).count("\n") == 1
