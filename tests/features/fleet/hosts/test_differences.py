"""What is not equal among hosts: one line a difference, ties said as ties, roles apart, nothing averaged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.fleet.hosts import facts
from app.features.fleet.hosts.difference_rows import comparison_json, difference_rows, role_heading
from app.features.fleet.hosts.differences import HostsComparison, compare_hosts
from app.features.fleet.hosts.facts import HostFacts, host_facts


def disk(number: int, model: str = "D", firmware: str = "1", **setting: str) -> dict[str, Any]:
    return {
        "address": f"block:sd{'abcdefghij'[number]}",
        "of": model,
        "hardware": {"state": "online"},
        "firmware": {"firmware": firmware},
        "setting": {"scheduler": "none", **setting},
    }


def host(name: str, *things: dict[str, Any], kernel: str = "6.1", findings: tuple[str, ...] = ()) -> HostFacts:
    told = [{"id": rule, "where": "block:sda"} for rule in findings]
    document = {"kernel": kernel, "program": "1", "things": list(things), "findings": told}
    return host_facts(name, document)


def hosts(count: int, *things: dict[str, Any]) -> list[HostFacts]:
    return [host(f"n{number}", *things) for number in range(1, count + 1)]


def rows(comparison: HostsComparison) -> list[str]:
    return [" ".join(row.split()) for role in comparison.roles for row in difference_rows(comparison, role)]


ALIKE = (disk(0), disk(1))


def test_among_equals_nothing_differs() -> None:
    assert compare_hosts(hosts(5, *ALIKE)).differences == ()


def test_the_odd_one_is_named_against_the_most() -> None:
    odd = host("n6", disk(0, firmware="2"), disk(1, firmware="2"))
    assert rows(compare_hosts([*hosts(5, *ALIKE), odd])) == ["n6 firmware D: firmware 2; 1 on 5 of 6"]


def test_one_thing_of_several_is_counted_and_named_never_averaged() -> None:
    odd = host("n6", disk(0), disk(1, scheduler="bfq"))
    assert rows(compare_hosts([*hosts(5, *ALIKE), odd])) == [
        "n6 setting D: scheduler 1 × bfq, 1 × none (block:sda); none on 5 of 6"
    ]


def test_which_kernel_name_a_disk_has_is_no_difference() -> None:
    assert compare_hosts([host("a", disk(0), disk(1, firmware="2")), host("b", disk(5, firmware="2"), disk(3))]).roles[
        0
    ].hosts == ("a", "b")
    assert not compare_hosts([host("a", disk(0), disk(1)), host("b", disk(5), disk(3))]).differences


def test_a_tie_is_a_tie() -> None:
    four = [*hosts(2, *ALIKE), *(host(name, *ALIKE, kernel="6.6") for name in ("m1", "m2"))]
    (tie,) = compare_hosts(four).differences
    assert tie.most is None
    assert rows(compare_hosts(four)) == ["tie system kernel 6.1 on n[1-2]; 6.6 on m[1-2]"]


def test_hosts_with_the_same_difference_stand_together() -> None:
    odd = [host(name, *ALIKE, kernel="6.6", findings=("drive-errors",)) for name in ("n6", "n7")]
    assert rows(compare_hosts([*hosts(5, *ALIKE), *odd])) == [
        "n[6-7] system kernel 6.6; 6.1 on 5 of 7",
        "n[6-7] check drive-errors 1 (block:sda); none on 5 of 7",
    ]


def test_hosts_of_two_roles_are_not_compared() -> None:
    others = [host(name, disk(0, "E", "9")) for name in ("m1", "m2")]
    comparison = compare_hosts([*hosts(3, *ALIKE), *others])
    assert [role.hosts for role in comparison.roles] == [("n1", "n2", "n3"), ("m1", "m2")]
    assert comparison.differences == ()
    assert role_heading(comparison.roles[0]) == "n[1-3] (3 hosts): 2 × D"


def test_several_hosts_that_are_alike_are_a_role_however_near_another_is() -> None:
    comparison = compare_hosts([*hosts(3, *ALIKE), *(host(name, disk(0)) for name in ("m1", "m2"))])
    assert [role.hosts for role in comparison.roles] == [("n1", "n2", "n3"), ("m1", "m2")]


def test_a_host_that_lacks_a_drive_is_one_of_its_role() -> None:
    assert rows(compare_hosts([*hosts(3, *ALIKE), host("n4", disk(0))])) == ["n4 hardware D: number 1; 2 on 3 of 4"]


def test_a_host_that_is_nothing_like_them_is_a_role_of_its_own() -> None:
    comparison = compare_hosts([*hosts(3, *ALIKE), host("x", *(disk(number, "E") for number in range(9)))])
    assert [role.hosts for role in comparison.roles] == [("n1", "n2", "n3"), ("x",)]


def test_against_a_host_it_is_the_measure_whatever_the_most_have() -> None:
    odd = host("n4", *ALIKE, kernel="6.6")
    assert rows(compare_hosts([*hosts(3, *ALIKE), odd], "n4")) == ["n[1-3] system kernel 6.1; 6.6 on n4"]


def test_what_is_not_told_is_not_equal() -> None:
    silent = disk(1)
    silent["firmware"] = {}
    other = disk(0)
    other["firmware"] = {}
    assert rows(compare_hosts([*hosts(3, *ALIKE), host("n4", other, silent)])) == [
        "n4 firmware D: firmware none; 1 on 3 of 4"
    ]


def test_as_json_each_side_has_its_hosts() -> None:
    told = comparison_json(compare_hosts([*hosts(3, *ALIKE), host("n4", *ALIKE, kernel="6.6")]))
    assert told["differences"] == [
        {
            "role": 0,
            "part": "system",
            "of": None,
            "key": "kernel",
            "tie": False,
            "most": {"hosts": "n[1-3]", "names": ["n1", "n2", "n3"], "value": "6.1", "addresses": []},
            "others": [{"hosts": "n4", "names": ["n4"], "value": "6.6", "addresses": []}],
        }
    ]


def test_a_host_that_tells_endlessly_many_things_is_not_told_endlessly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_MOST", 50)
    liar = host("n4", disk(0, **{f"key{number}": "x" for number in range(400)}))
    assert len(rows(compare_hosts([*hosts(3, *ALIKE), liar], "n1"))) < 60


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(("of", "address", "setting", "id")), inner),
)


@pytest.mark.long
@given(st.dictionaries(st.sampled_from(("things", "findings", "kernel")), JSON))
def test_whatever_a_host_tells_is_compared(document: dict[str, Any]) -> None:
    comparison = compare_hosts([*hosts(2, *ALIKE), host_facts("n3", document)])
    assert all(row.isprintable() for row in rows(comparison))
