"""`--json`: an error is a document on standard output, too, and there is one document only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from app.cli.exit_status import INTERRUPTED, REFUSED, USAGE
from tests.cli.conftest import Cli, argv

DEMO = ("--demo", "--demo-speed", "1000")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((*DEMO, "show", "/c0/v9"), USAGE),
        ((*DEMO, "devices", "--jsno"), USAGE),
        ((*DEMO, "set", "/c0/v1", "read_ahead=read-ahead"), REFUSED),
        ((*DEMO, "set", "/c0/v1", "read_ahead=no-such"), USAGE),
        (("attach",), USAGE),
        (("--config", "/nonexistent.toml", "devices"), USAGE),
    ],
)
def test_an_error_is_a_document(cli: Cli, words: tuple[str, ...], status: int) -> None:
    found = cli(*words, "--json")
    error = found.json["error"]
    assert (found.status, error["status"]) == (status, status)
    assert error["message"] in found.err
    assert error["hint"] is None or error["hint"] in found.err
    assert found.json["simulated"] is ("--demo" in words)


def test_without_json_nothing_is_on_standard_output(cli: Cli) -> None:
    assert cli(*DEMO, "show", "/c0/v9").out == ""


@pytest.mark.long
def test_who_interrupts_gets_a_document(tmp_path: Path) -> None:
    words = argv("--demo", "bench", "/c0/v1", "--runtime", "300", "--stream", "--json")
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as begun:
        assert begun.stdout is not None
        begun.stdout.readline()  # the first sample: it runs
        begun.send_signal(signal.SIGINT)
        rest, _ = begun.communicate(timeout=180)
    assert begun.returncode == INTERRUPTED
    assert json.loads(rest.splitlines()[-1])["run"]["status"] == "stopped"
