"""The parsers of what kernel and tools print: nothing invented, nothing raised, whatever comes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import RaidbenchError
from backends.text import parse_choices
from backends.topology.mounts import parse_mountinfo, parse_swaps
from backends.topology.signatures import (
    blkid_signatures,
    lsblk_signatures,
    parse_lsblk,
    parse_udev,
    udev_signatures,
    wipefs_signatures,
)
from backends.vendors.block.settings import BY_KEY, RULES, actions
from backends.vendors.block.values import reading
from tests.backends import system_texts

LINE = "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/ro\\011ot rw,errors=continue"

lines = st.lists(st.text(max_size=40) | st.just(LINE), max_size=5).map("\n".join)
anything = st.text(max_size=300) | lines
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=12,
)


def test_a_mount_line_of_the_kernels_documentation() -> None:
    (mount,) = parse_mountinfo(LINE)
    assert (mount.devno, mount.point, mount.fstype, mount.source) == ("98:0", "/mnt 2", "ext3", "/dev/ro\tot")


def test_a_mount_without_optional_fields_and_with_none_as_source() -> None:
    (mount,) = parse_mountinfo("1 2 0:21 / /proc ro - proc none rw")
    assert (mount.read_only, mount.source) == (True, "none")


@given(anything)
def test_mountinfo_invents_nothing(text: str) -> None:
    for mount in parse_mountinfo(text):
        assert mount.devno in text


@given(anything)
def test_swaps_are_paths(text: str) -> None:
    assert all(area.startswith("/") for area in parse_swaps(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none [mq-deadline] kyber bfq ", ("mq-deadline", ("none", "mq-deadline", "kyber", "bfq"))),
        ("none", ("none", ("none",))),
        ("[none] ", ("none", ("none",))),
        ("", (None, ())),
        ("a b", (None, ("a", "b"))),
    ],
)
def test_scheduler_files(text: str, expected: tuple[str | None, tuple[str, ...]]) -> None:
    assert parse_choices(text) == expected


@given(anything)
def test_the_scheduler_in_force_is_one_of_those_there_are(text: str) -> None:
    current, names = parse_choices(text)
    assert current is None or current in names
    assert len(names) == len(set(names))


@given(st.sampled_from(sorted(BY_KEY)), st.dictionaries(st.sampled_from([*BY_KEY, "max_hw_sectors_kb"]), anything))
def test_a_reading_never_raises_and_never_invents_a_value(key: str, attributes: dict[str, str]) -> None:
    found = reading(key, attributes, None, 4)
    assert found.now is None or found.now == "unknown" or attributes.get(key, "").strip() != ""
    assert found.availability.available or found.availability.why_not


@given(anything | json_values.map(json.dumps))
def test_lsblk_never_raises(text: str) -> None:
    for row in parse_lsblk(text).values():
        lsblk_signatures(row, None, 1)


@given(
    anything | json_values.map(lambda value: json.dumps({"blockdevices": [value, {"kname": "sda", "children": value}]}))
)
def test_lsblk_with_anything_inside(text: str) -> None:
    for row in parse_lsblk(text).values():
        assert all(isinstance(value, str) for value in row.values())


@pytest.mark.parametrize("text", ["[" * 200_000, '{"blockdevices":' * 20_000, '{"blockdevices": [' + "9" * 5000 + "]}"])
def test_monstrous_json_is_no_answer(text: str) -> None:
    assert parse_lsblk(text) == {}
    assert wipefs_signatures(text, None, None) is None


def test_lsblk_children_are_found_and_nulls_left_out() -> None:
    text = json.dumps(
        {"blockdevices": [{"name": "x", "kname": "sda", "size": 5, "children": [{"name": "sda1", "fstype": None}]}]}
    )
    assert parse_lsblk(text) == {"sda": {"name": "x", "kname": "sda", "size": "5"}, "sda1": {"name": "sda1"}}


def test_blkid_tells_type_table_and_label_and_no_partition_entry() -> None:
    text = 'DEVNAME=/dev/sdb\nLABEL=my\\ "x\nUUID=1-2\nTYPE=ext4\nUSAGE=filesystem\nPART_ENTRY_TYPE=0x83\n'
    assert [(found.kind, found.label, found.uuid) for found in blkid_signatures(text, None, 9)] == [
        ("ext4", 'my "x', "1-2")
    ]
    assert blkid_signatures("DEVNAME=/dev/sdb1\nPART_ENTRY_SCHEME=gpt\n", "sdb1", 9) == ()
    assert [found.kind for found in blkid_signatures("PTTYPE=gpt\nPTUUID=x\n", None, 9)] == ["gpt"]


@pytest.mark.parametrize("label", ["my\\x-1data", "my\\x٣0data", "my\\xzzdata", "my\\x2"])
def test_what_is_no_escape_of_udev_stays_as_it_is(label: str) -> None:
    [found] = udev_signatures({"ID_FS_TYPE": "ext4", "ID_FS_LABEL_ENC": label}, None, None)
    assert found.label == label


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", system_texts.PARSERS)
def test_spoiled_answers_of_the_system_raise_nothing_and_nothing_is_invented(name: str) -> None:
    for seed in range(300):
        system_texts.check(name, system_texts.spoiled(system_texts.PARSERS[name][0], seed))


@given(anything)
def test_probe_answers_never_raise(text: str) -> None:
    blkid_signatures(text, None, None)
    wipefs_signatures(text, None, None)
    udev_signatures(parse_udev(text), None, None)


@given(anything, st.booleans())
def test_a_rules_file_never_loses_a_persons_line(text: str, empty: bool) -> None:
    values = {} if empty else {"nomerges": "2"}
    try:
        merged = RULES.merge(text.encode("utf-8", "surrogatepass"), ('ENV{ID_SERIAL}=="x"',), actions(values))
    except RaidbenchError:
        return
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    theirs = [line for line in lines if line.strip() and not line.startswith((b"ACTION", b"# Settings"))]
    assert [line for line in merged.split(b"\n") if line in theirs] == theirs
