"""Members as rows: each of them, or what they have in common and the one that stands out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.session.results import MemberStats
from app.tui.bench.members import find_outlier, member_table
from widgets.static_table import plain


def member(device: str = "sda", *, share: float | None = 0.25, depth: int = 0, role: str = "") -> MemberStats:
    return MemberStats(
        device=device,
        label="SM883",
        role=role,
        depth=depth,
        read_iops=16500.0,
        write_iops=0.0,
        read_bytes_per_second=16500.0 * 32768,
        write_bytes_per_second=1024.0,
        utilisation=0.98,
        queue=15.5,
        share_of_reads=share,
        share_of_writes=None,
    )


def many(count: int, depth: int = 0) -> list[MemberStats]:
    return [member(f"sd{chr(97 + at)}", share=1 / count, depth=depth) for at in range(count)]


def cells(*members: MemberStats, most: int = 8, bar: int = 4, ascii: bool = False) -> list[list[str]]:
    _, rows = member_table(members, most=most, bar=bar, ascii=ascii)
    return [[plain(cell) for cell in row.cells] for row in rows]


def test_a_member_is_a_row_of_all_its_figures() -> None:
    assert cells(member(role="journal"))[0] == [
        "sda", "████  100 %", "16.5k", "16.5k", "0", "516", "98 %", "15.5", "journal", "SM883",
    ]  # fmt: skip


def test_bars_are_plain_where_nothing_else_can_be_drawn() -> None:
    half = replace(member("sdb"), read_iops=8250.0)
    assert [row[1] for row in cells(member(), half, ascii=True)] == ["####   67 %", "##..   33 %"]


def test_the_largest_share_fills_its_bar_and_the_others_are_measured_by_it() -> None:
    rows = cells(*(replace(disk, read_iops=100.0) for disk in many(7)), replace(member("sdx"), read_iops=50.0))
    assert (rows[0][1], rows[-1][1]) == ("████   13 %", "██    6.7 %")


def test_what_is_below_a_member_is_set_in() -> None:
    assert [row[0] for row in cells(member("md1"), member("sda", depth=1))] == ["md1", "  sda"]


@pytest.mark.parametrize(("role", "there"), [("", False), ("spare", True)])
def test_roles_have_a_column_where_somebody_has_one(role: str, there: bool) -> None:
    columns, _ = member_table([member(role=role)], most=4, bar=4)
    assert ("role" in [column.key for column in columns]) is there


def test_what_is_not_counted_is_no_nought() -> None:
    (row,) = cells(MemberStats(device="sda"))
    assert row == ["sda", *["-"] * 7, "not counted"]


def test_a_failed_member_is_marked() -> None:
    _, rows = member_table([member(role="faulty")], most=4, bar=4)
    assert getattr(rows[0].cells[-2], "tone", "") == "bad"
    assert plain(rows[0].cells[0]) == "sda ✖"


def test_the_one_that_deviates_is_marked() -> None:
    odd = replace(member("sdx", share=0.1), read_iops=8000.0)
    assert [row[0] for row in cells(member("sda"), member("sdb"), odd)] == ["sda", "sdb", "sdx ▲"]


def test_a_member_much_busier_than_the_others_is_marked_though_it_does_as_much() -> None:
    easy = [replace(disk, utilisation=0.3) for disk in many(3)]
    assert [row[0] for row in cells(*easy, member("sdx", share=1 / 3))][-1] == "sdx ▲"


def test_members_that_differ_a_little_are_not_marked() -> None:
    assert not any("▲" in row[0] for row in cells(*many(3), member("sdx", share=0.2)))


def test_what_its_role_explains_is_not_marked() -> None:
    assert not any("▲" in row[0] for row in cells(*many(2), member("sdx", share=0.0, role="write-mostly")))


def test_next_to_no_load_is_chance() -> None:
    idle = [replace(disk, read_iops=1.0) for disk in many(3)]
    assert not any("▲" in row[0] for row in cells(*idle, replace(member("sdx", share=0.01), read_iops=0.1)))


def test_more_than_there_is_room_for_are_summed_up() -> None:
    assert [row[0] for row in cells(*many(9))][:3] == ["least of 9", "median", "most"]


def test_as_many_as_there_is_room_for_are_shown() -> None:
    assert len(cells(*many(8))) == 8


def test_a_summary_is_of_the_disks_and_keeps_the_arrays_above_where_they_fit() -> None:
    members = [member("md1"), *many(6, depth=1), member("md2"), *many(6, depth=1)]
    assert [row[0] for row in cells(*members)][:3] == ["md1", "md2", "least of 12"]


def test_a_summary_leaves_the_arrays_out_where_there_is_no_room() -> None:
    members = [member("md1"), *many(6, depth=1), member("md2"), *many(6, depth=1)]
    assert next(row[0] for row in cells(*members, most=4)) == "least of 12"


def test_a_summary_spans_what_the_disks_do() -> None:
    disks = [replace(disk, read_iops=float(at)) for at, disk in enumerate(many(9))]
    assert [row[2] for row in cells(*disks)][:3] == ["0", "4.00", "8.00"]


def test_the_one_that_stands_out_is_the_least_like_the_others() -> None:
    assert find_outlier([*many(8), member("sdx", share=0.01)]).device == "sdx"


def test_a_failed_one_stands_out_most() -> None:
    assert find_outlier([*many(8), member("sdx", share=0.01), member("sdy", role="gone")]).device == "sdy"


def test_members_that_do_nothing_are_all_alike() -> None:
    assert find_outlier([MemberStats(device="sda"), MemberStats(device="sdb")]).device == "sda"
