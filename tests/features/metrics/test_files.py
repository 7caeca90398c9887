"""What is written for others to read: a file whole or not at all, units, rules and a board that name what there is."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.changes.systemd_units import units_text
from app.features.metrics.alerts import ALERTS, board_text, rules_text
from app.features.metrics.definitions import METRICS
from app.features.metrics.openmetrics import write
from backends.errors import RefusedError, StorageError

NAMES = {one.name for one in METRICS}
TEXT = "# HELP raidbench_problems x\n# TYPE raidbench_problems gauge\nraidbench_problems 0.0\n# EOF\n"


def test_a_file_can_be_read_by_all_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write(tmp_path / "a.prom", TEXT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.prom").stat().st_mode) == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ["a.prom"]


def test_whoever_reads_meanwhile_has_a_whole_text(tmp_path: Path) -> None:
    file, done, torn = tmp_path / "a.prom", threading.Event(), []
    texts = {TEXT + "#" * count for count in (10, 100_000)}
    write(file, TEXT + "#" * 10)

    def read() -> None:
        while not done.is_set():
            torn.extend([text for text in (file.read_text(),) if text not in texts])
            torn.extend(one.name for one in tmp_path.glob("*.prom") if one != file)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        for text in texts:
            write(file, text)
    done.set()
    reader.join()
    assert torn == []


OTHERS: dict[str, Callable[[Path], object]] = {
    "another's": lambda file: file.write_text("node_x 1\n"),
    "a folder": Path.mkdir,
    "a link": lambda file: file.symlink_to("/etc/passwd"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_file_of_ours_is_not_replaced(tmp_path: Path, what: str) -> None:
    file = tmp_path / "a.prom"
    OTHERS[what](file)
    with pytest.raises(RefusedError):
        write(file, TEXT)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write(tmp_path / "no" / "a.prom", TEXT)


def test_what_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        write(tmp_path / "a.prom", TEXT)
    assert list(tmp_path.iterdir()) == []


def named(text: str) -> set[str]:
    return set(re.findall(r"raidbench_[a-z_]+", text))


def test_rules_and_board_name_metrics_that_there_are() -> None:
    assert named(" ".join(one.expr for one in ALERTS)) | named(board_text()) <= NAMES


def test_labels_of_the_rules_are_those_of_their_metrics() -> None:
    labels = {one.name: set(one.labels) for one in METRICS}
    for alert in ALERTS:
        known = set().union(*(labels[name] for name in named(alert.expr)))
        asked = set(re.findall(r"\$labels\.(\w+)", alert.summary)) | set(re.findall(r"[{,](\w+)=~?\"", alert.expr))
        assert asked <= known, alert.name


def test_panels_of_the_board_do_not_lie_over_one_another() -> None:
    panels = [one["gridPos"] for one in json.loads(board_text())["panels"]]
    cells = [(x, y) for p in panels for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_a_lost_battery_alerts_with_the_first_scrape() -> None:
    (battery,) = (one for one in ALERTS if one.name == "RaidbenchCacheProtectionLost")
    assert (battery.lasting, battery.severity) == ("0m", "critical")


def test_the_rules_are_yaml_of_one_form() -> None:
    rows = rules_text().splitlines()
    assert rows[:3] == ["groups:", "  - name: raidbench", "    rules:"]
    assert sum(row.startswith("      - alert: ") for row in rows) == len(ALERTS)
    assert [row for row in rows if not re.match(r"^ *(- )?[a-z]+:( .+)?$", row)] == []


def units(which: str = "both") -> str:
    command = ("/opt/rb/raidbench", "metrics", "--output", "/var/lib/a b.prom")
    return units_text(
        "raidbench-x",
        which,
        command,
        description="X",
        calendar="*:0/5",
        spread="30s",
        well=(5,),
    )


def test_a_unit_holds_words_with_blanks() -> None:
    assert 'ExecStart=/opt/rb/raidbench metrics --output "/var/lib/a b.prom"' in units("service")
    assert "SuccessExitStatus=5\n" in units("service")
    assert "OnCalendar=*:0/5" in units("timer")
    assert units("both") == f"{units('service')}\n{units('timer')}"


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    try:
        for which in ("service", "timer"):
            (tmp_path / f"raidbench-x.{which}").write_text(units(which).replace("/opt/rb/raidbench", "/bin/true"))
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))],
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        pytest.skip("systemd-analyze cannot be found: apt-get install systemd")
    told = [row for row in done.stderr.splitlines() if "raidbench-x" in row]
    assert (told, done.returncode) == ([], 0)
