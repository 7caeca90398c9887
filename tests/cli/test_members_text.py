"""The members of an array after a run, for people."""

from __future__ import annotations

import pytest

from app.cli import members_text
from app.cli.members_text import member_table
from app.engine.session.events import RunEnded, RunStarted
from app.engine.session.figures import MemberFigures, RunFigures, RunStatus
from app.engine.session.state import RunRecord

START = RunStarted(
    at=0.0, id="r1", target="md:md0", device="/dev/md0", profile=None, job={}, title="", planned_seconds=1.0
)


def run(*members: MemberFigures) -> RunRecord:
    return RunRecord(
        start=START,
        end=RunEnded(at=1.0, id="r1", figures=RunFigures(status=RunStatus.OK, members=members), folder="r1"),
    )


def member(device: str, model: str = "SM883", *, depth: int = 0, reads: float = 34_400.0) -> MemberFigures:
    return MemberFigures(
        device=device,
        label=model,
        depth=depth,
        read_iops=reads,
        write_iops=0.0,
        read_bytes_per_second=reads * 32768,
        write_bytes_per_second=0.0,
        utilisation=0.98,
        queue=15.5,
        share_of_reads=0.52,
    )


def shown(capsys: pytest.CaptureFixture[str], *members: MemberFigures) -> list[str]:
    member_table(run(*members))
    return capsys.readouterr().out.splitlines()


def test_each_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    heading, _, line = shown(capsys, member("sdc"))
    assert (heading, line.split()) == (
        "Members of /dev/md0",
        ["sdc", "SM883", "34.4k", "0", "1075", "98", "%", "15.5", "52", "%", "-"],
    )


def test_what_is_below_a_member_is_set_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert [line[:5] for line in shown(capsys, member("md1"), member("sda", depth=1))[2:]] == ["md1  ", "  sda"]


def test_a_plain_disk_has_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys) == []


def test_models_give_way_in_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members_text, "terminal_width", lambda: 70)
    assert "SAMSUNG" not in "".join(shown(capsys, member("nvme0n1", "SAMSUNG MZQL2960HCJR-00A07")))


def test_a_hostile_model_steers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in "".join(shown(capsys, member("sda", "a\x1b]0;x\x07")))
