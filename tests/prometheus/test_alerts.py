"""A battery that fails raises its alert in one scrape, and one that is well again takes it back."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.prometheus.programs import ROOT, found, lacking

pytestmark = [pytest.mark.prometheus, pytest.mark.skipif(bool(lacking()), reason=lacking())]

PATIENCE = 120.0
"""Seconds for what never comes."""
EVERY = 1.0
"""Seconds between two scrapes, and between two looks of the rules."""
BATTERY = "RaidbenchCacheProtectionLost"

_DIRECT = build_opener(ProxyHandler({}))
"""Whatever proxy is meant for other machines."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def fetched(url: str) -> str:
    with _DIRECT.open(url, timeout=10) as answer:
        text: str = answer.read().decode()
        return text


@contextmanager
def running(folder: Path, words: list[str], ready: str) -> Iterator[None]:
    """A server until the end of the block, from when it answers."""
    log = folder / f"{Path(words[0]).name}.log"
    with log.open("w") as told, subprocess.Popen(words, cwd=folder, stdout=told, stderr=told) as server:
        try:
            until(lambda: answers(ready) or server.poll() is not None)
            assert server.poll() is None, log.read_text()[-2000:]
            yield
        finally:
            server.terminate()


def answers(url: str) -> bool:
    try:
        fetched(url)
    except OSError:
        return False
    return True


def until(condition: Any) -> Any:
    """What it says once that is true; the deadline is for what never comes."""
    end = time.monotonic() + PATIENCE
    while not (told := condition()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)
    return told


@dataclass
class Monitoring:
    """A rack, the file of its metrics, node_exporter that reads it, and Prometheus with our rules."""

    folder: Path
    exporter: str
    prometheus: str

    def look(self, *state: str) -> None:
        """Let the rack be so, and write its metrics anew."""
        given = [word for one in state for word in ("--demo-state", one)]
        self.raidbench("--demo", "hpe", *given, "metrics", "-o", str(self.folder / "textfile" / "raidbench.prom"))

    def raidbench(self, *words: str) -> str:
        environment = {**os.environ, "RAIDBENCH_STATE_DIR": str(self.folder / "state"), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-P", "-m", "app", *words]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def asked(self, expression: str) -> list[dict[str, Any]]:
        answer = json.loads(fetched(f"{self.prometheus}/api/v1/query?{urlencode({'query': expression})}"))
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def alerts(self, state: str = "firing") -> dict[tuple[str, str], str]:
        """Alerts in this state: name and target, and what is said."""
        told = json.loads(fetched(f"{self.prometheus}/api/v1/alerts"))["data"]["alerts"]
        return {
            (one["labels"]["alertname"], one["labels"].get("target", "")): one["annotations"]["summary"]
            for one in told
            if one["state"] == state
        }

    def looked(self) -> float:
        """When the file says that the rack was looked at."""
        lines = (self.folder / "textfile" / "raidbench.prom").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("raidbench_last_look_timestamp"))

    def scraped(self) -> bool:
        """Whether the last look has come to Prometheus."""
        told = self.asked("raidbench_last_look_timestamp_seconds")
        return bool(told) and abs(float(told[0]["value"][1]) - self.looked()) < 1e-3


@pytest.fixture(scope="module")
def monitoring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitoring]:
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "textfile").mkdir()
    ports = {"exporter": free_port(), "prometheus": free_port()}
    own = Monitoring(folder, *(f"http://127.0.0.1:{port}" for port in ports.values()))
    own.look("sound")
    (folder / "rules.yml").write_text(own.raidbench("metrics", "--alerts"))
    jobs = [{"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{ports['exporter']}"]}]}]
    times = {"scrape_interval": f"{EVERY:.0f}s", "evaluation_interval": f"{EVERY:.0f}s"}
    form = {"global": times, "rule_files": ["rules.yml"], "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(form))  # JSON is YAML
    programs = found()
    exporter = [
        programs["node_exporter"],
        f"--web.listen-address=127.0.0.1:{ports['exporter']}",
        "--collector.disable-defaults",
        "--collector.textfile",
        f"--collector.textfile.directory={folder / 'textfile'}",
    ]
    prometheus = [
        programs["prometheus"],
        f"--web.listen-address=127.0.0.1:{ports['prometheus']}",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'series'}",
    ]
    with ExitStack() as servers:
        servers.enter_context(running(folder, exporter, f"{own.exporter}/metrics"))
        servers.enter_context(running(folder, prometheus, f"{own.prometheus}/-/ready"))
        yield own


def test_every_sample_of_the_file_comes_to_prometheus(monitoring: Monitoring) -> None:
    lines = (monitoring.folder / "textfile" / "raidbench.prom").read_text().splitlines()
    samples = [line for line in lines if line and not line.startswith("#")]
    until(monitoring.scraped)
    (counted,) = monitoring.asked('count({__name__=~"raidbench_.*"})')
    (error,) = monitoring.asked("node_textfile_scrape_error")
    assert (int(counted["value"][1]), error["value"][1]) == (len(samples), "0")


def test_a_file_that_is_removed_makes_the_silence_pending(monitoring: Monitoring) -> None:
    until(monitoring.scraped)
    (monitoring.folder / "textfile" / "raidbench.prom").unlink()
    until(lambda: any(name == "RaidbenchSilent" for name, _ in monitoring.alerts("pending")))
    monitoring.look("sound")
    until(lambda: not any(name == "RaidbenchSilent" for name, _ in monitoring.alerts("pending")))


def test_a_failed_battery_alerts_with_its_first_scrape_and_no_longer_when_it_is_well(monitoring: Monitoring) -> None:
    until(monitoring.scraped)
    time.sleep(2 * EVERY)  # the rules have looked at the sound rack
    assert {name for name, _ in monitoring.alerts()} == set()
    monitoring.look("battery-failed")
    raised = (BATTERY, "smartarray:/slot0")
    until(lambda: raised in monitoring.alerts())
    assert {name for name, _ in monitoring.alerts()} == {BATTERY}  # policies and findings add none
    assert monitoring.alerts()[raised] == "smartarray:/slot0: the bbu is failed, so the cache is not protected"
    failed = 'raidbench_cache_protection{target="smartarray:/slot0",state="failed"}'
    (series,) = monitoring.asked(f"{failed}[30m]")
    first = float(series["values"][0][0])
    alert = f'ALERTS{{alertname="{BATTERY}",target="smartarray:/slot0",alertstate="%s"}}[30m]'
    (firing,) = monitoring.asked(alert % "firing")
    assert float(firing["values"][0][0]) >= first
    assert monitoring.asked(alert % "pending") == []  # it waits for no second scrape
    monitoring.look("sound")
    until(monitoring.scraped)
    until(lambda: raised not in monitoring.alerts())
