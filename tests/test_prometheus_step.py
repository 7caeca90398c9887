"""`make metrics` where no Prometheus can be had: skipped with the reason, no failure and no success."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.prometheus import programs
from tests.prometheus.__main__ import SKIPPED, main


def test_without_a_package_manager_it_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "PLACES", str(tmp_path))
    monkeypatch.setattr(programs, "UNPACKED", tmp_path / "unpacked")
    assert main([]) == SKIPPED
    assert "prometheus, node_exporter, promtool cannot be found" in capsys.readouterr().err


def test_a_registry_that_cannot_be_reached_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, script in (("apt-get", "echo 'E: no route to the registry' >&2; exit 100"), ("dpkg-deb", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(programs, "PLACES", str(tmp_path))
    monkeypatch.setattr(programs, "UNPACKED", tmp_path / "unpacked")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert main([]) == SKIPPED
    assert "E: no route to the registry" in capsys.readouterr().err
