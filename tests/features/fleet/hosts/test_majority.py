"""A file of settings out of what hosts told: what more than half of them have, and nothing of a single machine."""

from __future__ import annotations

from typing import Any

import pytest

from app.features.apply.exporting import render_document
from app.features.apply.settings_file import DesiredError, parse
from app.features.fleet.hosts.majority_config import Majority, majority_settings

SELECT = {"vendor": "block", "kind": "drive", "model": "ST1"}


def told(values: dict[str, Any], select: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"targets": [{"select": select or SELECT, "about": "block: ST1", "set": values, "expect": {}}]}


def kept(most: Majority) -> dict[str, tuple[str, str]]:
    return {value.key: (value.value, value.comment) for target in most.targets for value in target.values}


def test_what_more_than_half_have_is_kept_and_the_rest_is_named() -> None:
    hosts = [told({"a": "1", "b": "x"}), told({"a": "1", "b": "y"}), told({"a": "2", "b": "z", "c": "1"})]
    most = majority_settings(hosts)
    assert kept(most) == {"a": ("1", "on 2 of 3 hosts")}
    assert most.left_out == ("ST1 b", "ST1 c")


@pytest.mark.parametrize("number", [2, 4])
def test_half_is_no_majority(number: int) -> None:
    hosts = [told({"a": str(place % 2)}) for place in range(number)]
    assert majority_settings(hosts) == Majority(targets=(), left_out=("ST1 a",))


@pytest.mark.parametrize(
    "select",
    [
        {**SELECT, "serial": "S1"},
        {"vendor": "block", "kind": "drive", "serial": "S1"},
        {"address": "block:sda"},
        {"vendor": "block", "kind": "drive", "name": "x"},
        {"model": "ST1"},
        {**SELECT, "other": "x"},
    ],
)
def test_what_means_one_machine_is_not_taken(select: dict[str, Any]) -> None:
    assert majority_settings([told({"a": "1"}, select)]).targets == ()


@pytest.mark.parametrize("rubbish", [{}, {"targets": 7}, {"targets": [7, {"select": [], "set": {"a": "1"}}]}])
def test_rubbish_makes_nothing(rubbish: dict[str, Any]) -> None:
    assert majority_settings([rubbish, told({"a": "1"})]).targets == ()


def test_a_key_that_is_none_makes_no_file() -> None:
    with pytest.raises(DesiredError):
        majority_settings([told({"a\n[target.set]\nb": "1"})])


def test_the_file_has_what_hosts_said_as_words_and_nothing_else() -> None:
    hostile = {"vendor": "block", "kind": "drive", "model": 'x"}\npersist = true\x1b[2J#'}
    most = majority_settings([told({"a": '1"\npersist = true\x1b'}, hostile)])
    found = parse(render_document(most.targets).encode(), "it")
    assert (found.persist, len(found.targets), set(found.targets[0].values)) == (False, 1, {"a"})
    assert "\x1b" not in render_document(most.targets)
