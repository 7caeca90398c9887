"""The members of an array after a run, for people."""

from __future__ import annotations

from app.cli.render import fitted_lines
from app.core.presentation.members import member_table
from app.core.session.results import MemberStats


def member(device: str, model: str = "SM883", *, depth: int = 0, reads: float = 34_400.0) -> MemberStats:
    return MemberStats(
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


def shown(*members: MemberStats, width: int | None = None) -> list[str]:
    return fitted_lines(member_table(members, "Members of /dev/md0"), width)


def test_each_is_a_line() -> None:
    heading, _, line = shown(member("sdc"))
    assert (heading, line.split()) == (
        "Members of /dev/md0",
        ["sdc", "SM883", "34.4k", "0", "1075", "98", "%", "15.5", "52", "%", "-"],
    )


def test_what_is_below_a_member_is_set_in() -> None:
    assert [line[:5] for line in shown(member("md1"), member("sda", depth=1))[2:]] == ["md1  ", "  sda"]


def test_a_plain_disk_has_no_table() -> None:
    assert shown() == []


def test_models_give_way_in_a_narrow_terminal() -> None:
    narrow = shown(member("nvme0n1", "SAMSUNG MZQL2960HCJR-00A07"), width=70)
    assert "SAMSUNG" not in "".join(narrow)
    assert max(map(len, narrow)) <= 70


def test_models_stay_where_there_is_room() -> None:
    assert "SAMSUNG" in "".join(shown(member("nvme0n1", "SAMSUNG MZQL2960HCJR-00A07"), width=120))


def test_a_hostile_model_steers_nothing() -> None:
    assert "\x1b" not in "".join(shown(member("sda", "a\x1b]0;x\x07")))
