"""The simulated rack from the command line: every command, one rack, marked everywhere."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from backends.simulator.firmware_rules import DEMO_KEY
from tests.cli.conftest import Cli, Outcome, argv, run_here

FAST = ("--demo", "--demo-speed", "500")
RUN = ("--runtime", "20", "--ramp", "5")
SDB = "megaraid:/c0/v1"


@pytest.fixture
def demo(cli: Cli) -> Cli:
    def run(*words: str) -> Outcome:
        return cli(*FAST, *words)

    return run


def iops(outcome: Outcome) -> float:
    return float(outcome.json["run"]["read"]["iops"])


def test_the_rack_appears_and_says_what_it_is(demo: Cli) -> None:
    found = demo("devices", "--json").json
    assert (found["host"], found["simulated"]) == ("rack-demo", True)
    models = {controller["model"] for controller in found["controllers"]}
    assert {"LSI MegaRAID SAS 9280-24i4e", "AVAGO MegaRAID SAS 9361-8i", "MegaRAID SAS 84016E"} <= models
    devices = {array["address"]: array["device"] for array in found["arrays"]}
    assert devices[SDB] == "/dev/sdb"
    assert "SIMULATED" in demo("devices").err


@pytest.mark.long
def test_read_ahead_costs_what_the_article_says_and_undo_brings_it_back(demo: Cli) -> None:
    done = demo("set", SDB, "read_ahead=read-ahead", "--yes")
    assert done.status == 0
    assert "storcli64 /c0/v1 set rdcache=ra" in done.err
    assert "verified" in done.out
    assert iops(demo("bench", SDB, *RUN, "--json")) == pytest.approx(67_800, rel=0.03)
    assert demo("undo", "--yes").status == 0
    after = demo("bench", "/c0/v1", *RUN, "--json")
    assert iops(after) == pytest.approx(83_400, rel=0.03)
    assert after.json["run"]["settings"]["read_ahead"] == "none"
    runs = demo("runs", "--json").json["runs"]
    assert len(runs) == 2
    assert all(run["simulated"] for run in runs)


@pytest.mark.long
def test_everything_that_is_kept_is_marked(demo: Cli) -> None:
    run = demo("bench", SDB, *RUN)
    assert "SIMULATED" in run.out
    assert "SIMULATED" in demo("runs").out
    assert "SIMULATED" in demo("log").out
    assert "SIMULATED" in demo("report").out
    assert demo("report", "--format", "json").json["session"]["simulated"] is True


def test_a_refusal_with_exit_status_0_is_told(demo: Cli) -> None:
    done = demo("set", "megaraid:/c1/v0", "drive_cache=off", "--yes")
    assert done.status == 1
    assert "SSD Pd is present" in done.out + done.err


@pytest.mark.long
def test_writing_to_a_raw_array_asks_for_the_end_of_its_wwn(demo: Cli) -> None:
    write = ("bench", "megaraid:/c1/v0", "--rw", "randwrite", "--runtime", "5", "--ramp", "0", "--json")
    refused = demo(*write)
    assert refused.status == 3
    assert "bench-old" in refused.err
    done = demo(*write, "--confirm", "a66d13")
    assert done.status == 0
    assert done.json["run"]["write"]["iops"] > 0
    assert demo(*write).status == 3  # writing still wants that, though nothing lies there any more
    mounted = demo("bench", "/dev/sdd", "--rw", "randwrite", "--confirm", "dde6c4")
    assert mounted.status == 3
    assert "mounted on /srv/vm" in mounted.err


@pytest.mark.parametrize("rw", ["randtrim", "trimwrite"])
def test_trimming_a_raw_array_asks_as_writing_does_and_names_the_range(demo: Cli, rw: str) -> None:
    trim = ("bench", "megaraid:/c1/v0", "--rw", rw, "--size", "1G", "--runtime", "5", "--ramp", "0", "--json")
    refused = demo(*trim)
    assert refused.status == 3
    assert "bench-old" in refused.err
    assert "the first 1 GiB of megaraid:/c1/v0 (bytes 0 to 1073741823)" in refused.err
    assert ("This run TRIMS" in refused.err) is (rw == "randtrim")
    assert demo("--read-only", *trim, "--confirm", "a66d13").status == 3
    done = demo(*trim, "--confirm", "a66d13")
    assert done.status == 0
    assert done.json["run"]["trim"]["iops"] > 0
    assert (done.json["run"]["write"] is None) is (rw == "randtrim")
    mounted = demo("bench", "/dev/sdd", "--rw", rw, "--confirm", "dde6c4")
    assert mounted.status == 3
    assert "mounted on /srv/vm" in mounted.err


def test_a_scratch_file_is_only_imagined(demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    done = demo("bench", "./scratch.dat", "--size", "1G", "--runtime", "3", "--ramp", "0", "--repeat", "2", "--json")
    assert done.status == 0, done.err
    assert {path for path in set(tmp_path.iterdir()) - before if path.name != "state"} == set()


def test_another_speed_and_a_new_rack_are_about_the_demonstration(cli: Cli, demo: Cli) -> None:
    assert cli("--demo-speed", "5", "devices").status == 2
    demo("set", SDB, "read_ahead=read-ahead", "--yes")
    shown = demo("show", SDB, "--json").json
    assert next(one for one in shown["target"]["settings"] if one["key"] == "read_ahead")["now"] == "read-ahead"
    shown = cli(*FAST, "--demo-reset", "show", SDB, "--json").json
    assert next(one for one in shown["target"]["settings"] if one["key"] == "read_ahead")["now"] == "none"


@pytest.mark.long
def test_a_key_is_in_force_after_a_reboot_and_never_shown(cli: Cli, demo: Cli, state: Path) -> None:
    applied = demo("set", "megaraid:/c0", f"activation_key={DEMO_KEY}", "--yes", "--confirm", "418263")
    assert DEMO_KEY not in applied.out + applied.err
    assert not any(DEMO_KEY.encode() in path.read_bytes() for path in state.rglob("*") if path.is_file())

    def features() -> list[str]:
        return [one["name"] for one in demo("devices", "--json").json["controllers"][0]["features"]]

    assert "MegaRAID FastPath" not in features()
    assert cli(*FAST, "--demo-reboot", "devices").status == 0
    assert "MegaRAID FastPath" in features()


def test_a_damaged_rack_is_told_with_what_to_do(demo: Cli, demo_state: Path) -> None:
    demo_state.mkdir(parents=True)
    (demo_state / "demo-rack.json").write_text("{")
    done = demo("devices")
    assert "--demo-reset" in done.out + done.err


def test_doctor_finds_all_it_needs(demo: Cli) -> None:
    assert demo("doctor").status == 0


@pytest.mark.long
def test_an_interrupted_run_keeps_its_figures(state: Path) -> None:
    words = argv("--demo", "--demo-speed", "8", "bench", SDB, "--runtime", "300", "--ramp", "0", "--stream")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stdout is not None
        for _ in range(4):
            assert running.stdout.readline()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=180)  # left alone it would take 300 s
    assert running.returncode == 130
    listed = subprocess.run(argv(*FAST, "runs", "--json"), capture_output=True, env=environment, timeout=180)
    run = json.loads(listed.stdout)["runs"][0]
    assert run["status"] == "stopped"
    assert run["simulated"]
    assert run["read"]["iops"] == pytest.approx(83_400, rel=0.06)


def test_a_strip_size_is_set_together_with_a_policy(demo: Cli) -> None:
    words = ("strip_size=131072", "read_ahead=read-ahead", "--yes", "--confirm", "6ef362")
    done = demo("set", SDB, *words)
    assert done.status == 0, done.err
    settings = {one["key"]: one["now"] for one in demo("show", SDB, "--json").json["target"]["settings"]}
    assert (settings["strip_size"], settings["read_ahead"]) == ("131072", "read-ahead")


def test_the_review_of_a_set_shows_the_policy_in_the_command_that_makes_the_array_anew(demo: Cli) -> None:
    shown = demo("set", SDB, "strip_size=131072", "read_ahead=read-ahead", "--dry-run").out
    assert "wt ra direct strip=128" in shown
    assert "wt nora direct strip=64" in shown


def test_a_queue_that_only_the_new_scheduler_allows_is_set_with_it(demo: Cli) -> None:
    done = demo("set", SDB, "nr_requests=2048", "scheduler=mq-deadline", "--yes", "--json").json
    assert [(one["key"], one["outcome"]["now"]) for one in done["changes"]] == [
        ("scheduler", "mq-deadline"),
        ("nr_requests", "2048"),
    ]


def test_a_value_that_another_change_of_the_set_may_move_is_set_even_if_it_is_so_already(demo: Cli) -> None:
    settings = {one["key"]: one["now"] for one in demo("show", SDB, "--json").json["queue"]["settings"]}
    done = demo("set", SDB, "scheduler=mq-deadline", f"nr_requests={settings['nr_requests']}", "--dry-run", "--json")
    assert [one["key"] for one in done.json["changes"]] == ["scheduler", "nr_requests"]


def test_a_drive_at_its_warning_temperature_ends_the_run(demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hot(_host: object, device: str | None) -> tuple[str, ...]:
        return (f"{device} has 84 °C (warns at 80 °C)",)

    monkeypatch.setattr("app.core.benchmark.runner.too_warm", hot)
    done = demo("bench", SDB, "--runtime", "3600", "--ramp", "0", "--json")
    assert (done.status, done.json["run"]["status"]) == (1, "stopped")
    assert "Stopped because of heat: /dev/sdb has 84 °C (warns at 80 °C)." in done.err


SDC = "megaraid:/c1/v0"


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Two runs on two arrays at once, told in JSON and in words; and what is said of both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path_factory.mktemp("together")))
        said = {"json": run_here(*FAST, "bench", SDB, SDC, *RUN, "--json")}
        said["csv"] = run_here(*FAST, "report", "--format", "csv")
        said["words"] = run_here(*FAST, "bench", SDB, SDC, *RUN)
        said["compared"] = run_here(*FAST, "compare", "r1", "r2")
        return said


@pytest.mark.long
def test_several_arrays_are_measured_at_once_with_a_row_each(together: dict[str, Outcome]) -> None:
    run = together["json"].json["run"]
    rows = [(row["target"], row["device"], row["read"]["total_ios"] > 0) for row in run["targets"]]
    assert rows == [(SDB, "/dev/sdb", True), (SDC, "/dev/sdc", True)]


@pytest.mark.long
def test_the_rows_of_several_arrays_add_up(together: dict[str, Outcome]) -> None:
    run = together["json"].json["run"]
    assert sum(row["read"]["iops"] for row in run["targets"]) == pytest.approx(run["read"]["iops"], rel=1e-9)


@pytest.mark.long
def test_the_table_of_figures_has_a_row_for_each_array(together: dict[str, Outcome]) -> None:
    first = [line.split()[0] for line in together["words"].out.splitlines()[1:4]]
    assert first == ["r2", SDB, SDC]


@pytest.mark.long
def test_the_csv_has_a_row_for_the_run_and_one_for_each_array(together: dict[str, Outcome]) -> None:
    rows = list(csv.DictReader(io.StringIO(together["csv"].out)))
    whole, *parts = (float(row["read_iops"]) for row in rows)
    assert [(row["row"], row["device"]) for row in rows] == [
        ("run", ""),
        ("target", "/dev/sdb"),
        ("target", "/dev/sdc"),
    ]
    assert sum(parts) == pytest.approx(whole, rel=1e-6)


def test_two_runs_on_several_arrays_are_compared_array_by_array(together: dict[str, Outcome]) -> None:
    assert [line.split()[0] for line in together["compared"].out.splitlines()[-2:]] == [SDB, SDC]


@pytest.mark.parametrize(("words", "capped"), [((), True), (("--runtime", "60"), False)], ids=["no", "60"])
def test_only_a_job_whose_run_time_nobody_named_ends_at_a_tenth_of_the_drive(
    demo: Cli, words: tuple[str, ...], capped: bool
) -> None:
    assert ("a tenth of the drive" in demo("bench", SDB, "--rw", "randwrite", *words).err) is capped


def test_a_job_file_that_names_a_run_time_is_not_ended_at_a_tenth_of_the_drive(demo: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.fio"
    file.write_text("[a]\nrw=randwrite\nruntime=60\n")
    assert "a tenth of the drive" not in demo("bench", SDB, "--jobfile", str(file)).err


def test_writing_to_several_arrays_wants_the_word_of_each(demo: Cli) -> None:
    words = demo("bench", SDB, SDC, "--rw", "randwrite", *RUN).err
    assert words.count("This run WRITES to") == 2


def test_what_a_drive_is_rated_for_is_told_before_it_is_written_to_where_the_configuration_has_it(
    cli: Cli, state: Path
) -> None:
    state.mkdir()
    (state / "config.toml").write_text('[endurance_tbw]\n"SAMSUNG MZQLB960HAJR" = 1400\n')
    asked = cli("--demo", "bench", "nvme0n1", "--rw", "randwrite")
    assert "Rated endurance of block:nvme0n1: 1400 TB, from the configuration." in asked.err
