"""`python -m tests.package` where nothing can be built: skipped with the reason, no failure and no success."""

from __future__ import annotations

import subprocess

import pytest

from tests.package import __main__ as step
from tools.package import golang


def test_without_go_it_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> str:
        raise golang.GoMissingError("Go 1.24 or newer is needed.")

    def no_registry(argv: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 1, "", "set-up: Go cannot be downloaded.\n")

    monkeypatch.setattr(golang, "go", missing)
    monkeypatch.setattr(subprocess, "run", no_registry)
    assert step.main([]) == step.SKIPPED
    assert capsys.readouterr().err == "skipped: Go 1.24 or newer is needed. set-up: Go cannot be downloaded.\n"


@pytest.mark.parametrize(
    ("message", "outcome"),
    [("dial tcp: no route to host", step.NoBuildError), ("checksum mismatch", subprocess.CalledProcessError)],
)
def test_sources_that_differ_are_a_failure_and_a_registry_out_of_reach_is_none(
    message: str, outcome: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(*_: object) -> None:
        raise subprocess.CalledProcessError(1, ("go", "mod", "download"), "", message)

    monkeypatch.setattr(golang, "go", lambda: "go")
    monkeypatch.setattr(golang, "download", download)
    with pytest.raises(outcome, match=r"no route|returned non-zero"):
        step.fetch()
