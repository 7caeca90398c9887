"""The parsers of what kernel and tools print: nothing invented, nothing raised, whatever comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import RaidbenchError
from backends.topology.mounts import parse_mountinfo, parse_swaps
from backends.topology.signatures import (
    blkid_signatures,
    lsblk_signatures,
    parse_lsblk,
    parse_udev,
    udev_signatures,
    wipefs_signatures,
)
from backends.vendors.block.knobs import BY_KEY
from backends.vendors.block.persist import RULES, actions
from backends.vendors.block.schedulers import parse_scheduler
from backends.vendors.block.values import reading
from backends.vendors.mdraid.details import parse_export, parse_unused
from backends.vendors.mdraid.facts import parse_array
from backends.vendors.mdraid.mdstat import parse_mdstat
from backends.vendors.nvme.features import parse_value
from backends.vendors.nvme.health import parse_smart_log
from backends.vendors.nvme.identify import parse_id_ctrl, parse_id_ns
from backends.vendors.scsi.hdparm import parse_hdparm
from backends.vendors.scsi.sdparm import parse_sdparm
from backends.vendors.scsi.smartctl import parse_smartctl

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="needs the collection of recorded outputs")

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
    assert parse_scheduler(text) == expected


@given(anything)
def test_the_scheduler_in_force_is_one_of_those_there_are(text: str) -> None:
    current, names = parse_scheduler(text)
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


@given(anything)
def test_probe_answers_never_raise(text: str) -> None:
    blkid_signatures(text, None, None)
    wipefs_signatures(text, None, None)
    udev_signatures(parse_udev(text), None, None)


@given(anything, st.booleans())
def test_a_rules_file_never_loses_a_persons_line(text: str, empty: bool) -> None:
    values = {} if empty else {"nomerges": "2"}
    try:
        merged = RULES.merge(text, ('ENV{ID_SERIAL}=="x"',), actions(values))
    except RaidbenchError:
        return
    theirs = [line for line in text.splitlines() if line.strip() and not line.startswith(("ACTION", "# Settings"))]
    assert [line for line in merged.splitlines() if line in theirs] == theirs


@needs_samples
@pytest.mark.parametrize(
    "path", sorted(SAMPLES.glob("*/*/*lsblk*json*")) + sorted(SAMPLES.glob("linux/lsblk/*")), ids=lambda path: path.name
)
def test_recorded_lsblk_outputs(path: Path) -> None:
    text = path.read_text(errors="replace")
    found = parse_lsblk(text)
    for name, row in found.items():
        assert name in text
        assert all(signature.kind in text for signature in lsblk_signatures(row, None, None))
    assert found or '"blockdevices"' not in text


@needs_samples
def test_recorded_queues_give_a_reading_of_every_setting() -> None:
    for path in sorted(SAMPLES.glob("*/*/*queue.txt")):
        rows = (
            line.rpartition("/queue/")[2] for line in path.read_text(errors="replace").splitlines() if "/queue/" in line
        )
        attributes = {
            key: value for key, colon, value in (row.partition(":") for row in rows) if colon and "/" not in key
        }
        for key in set(BY_KEY) & set(attributes):
            found = reading(key, attributes, None, 4)
            assert found.now is not None, f"{path.name}: {key}"
            assert found.now != "unknown", f"{path.name}: {key}={attributes[key]}"


@needs_samples
@pytest.mark.parametrize(
    "path",
    sorted([*SAMPLES.glob("ata/hdparm/*"), *SAMPLES.glob("lab/sata/*hdparm-*"), *SAMPLES.glob("lab/scsi/hdparm-*")]),
    ids=lambda path: path.name,
)
def test_recorded_hdparm_outputs(path: Path) -> None:
    text = path.read_text(errors="replace")
    found = parse_hdparm(text)
    for flag in found.values():
        assert flag.raw in " ".join(text.split())
        assert flag.number is not None or not flag.supported
    assert ("-W" in found) == ("write-caching =" in text)


@needs_samples
@pytest.mark.parametrize(
    "path", sorted([*SAMPLES.glob("scsi/sdparm/*"), *SAMPLES.glob("lab/scsi*/*")]), ids=lambda path: path.name
)
def test_recorded_sdparm_outputs(path: Path) -> None:
    text = path.read_text(errors="replace")
    for name, bit in parse_sdparm(text).items():
        (first, *_) = [line.split() for line in text.splitlines() if line.strip().startswith(f"{name} ")]
        assert bit.now is (first[1] == "1"), name


@needs_samples
@pytest.mark.parametrize(
    "path",
    sorted([*SAMPLES.glob("linux/smartctl/*.json"), *SAMPLES.glob("lab/*/smartctl-*-json.txt")]),
    ids=lambda path: path.name,
)
def test_recorded_smartctl_documents(path: Path) -> None:
    text = path.read_text(errors="replace")
    found = parse_smartctl(text)
    assert (found is None) == ('"smartctl":' not in text)
    if found is not None:
        assert all(str(number) in text for number in (found.rpm, found.celsius, found.hours) if number is not None)
        assert (found.firmware is None) == not_there(text, "firmware_version", "scsi_revision")


def not_there(text: str, *keys: str) -> bool:
    return not any(f'"{key}":' in text for key in keys)


NVME = sorted([*SAMPLES.glob("nvme/nvme-cli/*"), *SAMPLES.glob("lab/nvme/*")])


@needs_samples
@pytest.mark.parametrize("path", [path for path in NVME if "get_feature_06" in path.name or "get-feature" in path.name])
def test_recorded_nvme_features(path: Path) -> None:
    text = path.read_text(errors="replace")
    values = [parse_value(text, number) for number in (2, 6, 7, 8)]
    recorded = "Current value:" in text
    assert [value is not None for value in values].count(True) == recorded
    assert not recorded or max(value for value in values if value is not None) in (0, 1, 0x10001)


@needs_samples
@pytest.mark.parametrize("path", [path for path in NVME if "smart-log" in path.name])
def test_recorded_nvme_health(path: Path) -> None:
    text = path.read_text(errors="replace")
    found = parse_smart_log(text)
    assert found.kelvin in (310, 323, 324)
    assert found.percent_used is not None
    assert found.hours is not None
    assert str(found.media_errors) in text


@needs_samples
@pytest.mark.parametrize("path", [path for path in NVME if "id-ctrl" in path.name or "info_template" in path.name])
def test_recorded_nvme_controllers(path: Path) -> None:
    text = path.read_text(errors="replace")
    found = parse_id_ctrl(text)
    assert found.serial is None or found.serial in text
    assert (found.vwc, found.warning_kelvin) in ((7, 357), (7, 356), (6, 356), (7, 343), (7, 355))
    assert found.power_states
    assert all(one.operational is not None and one.watts for one in found.power_states)


@needs_samples
def test_recorded_nvme_namespaces() -> None:
    found = parse_id_ns((SAMPLES / "lab/nvme/id-ns-json.txt").read_text())
    assert [(one.data_bytes, one.metadata_bytes) for one in found.formats] == [
        (size, metadata) for size in (512, 4096) for metadata in (0, 8, 16, 64)
    ]
    assert found.in_use == 0


@needs_samples
@pytest.mark.parametrize(
    "path",
    sorted(SAMPLES.glob("linux/mdstat/*")) + sorted(SAMPLES.glob("lab/md*/*mdstat*")),
    ids=lambda path: path.name,
)
def test_recorded_mdstat(path: Path) -> None:
    text = path.read_text(errors="replace")
    found = parse_mdstat(text)
    assert sorted(found) == sorted(
        {line.split(" ")[0] for line in text.splitlines() if " : " in line and "active" in line}
    )
    for row in found.values():
        assert row.progress is None or f"{row.progress * 100:.1f}%" in text
        assert all(member in text for member in row.members or ())


@needs_samples
@pytest.mark.parametrize(
    "path",
    sorted(SAMPLES.glob("lab/md*/*md-sysfs.txt")) + sorted(SAMPLES.glob("linux/sysfs/procfs__md*_md.txt")),
    ids=lambda path: path.name,
)
def test_recorded_md_folders(path: Path) -> None:
    own: dict[str, str] = {}
    members: dict[str, dict[str, str]] = {}
    for line in path.read_text(errors="replace").splitlines():
        key, colon, value = line.partition("/md/")[2].partition(":")
        member, slash, attribute = key.removeprefix("dev-").partition("/")
        if key.startswith("dev-") and slash:
            members.setdefault(member, {})[attribute] = value
        elif colon:
            own[key] = value
    found = parse_array("md0", own, members, None)
    assert found.level_word == own["level"]
    assert found.uuid is not None
    assert {member.name for member in found.members} == set(members)
    assert found.layout_word != "unknown"


@needs_samples
def test_recorded_exports_and_examinations_of_mdadm() -> None:
    for path in sorted(SAMPLES.glob("lab/md*/*D-export.txt")):
        assert parse_export(path.read_text())["MD_LEVEL"] in path.read_text()
    for path in sorted(SAMPLES.glob("lab/md/*examine.txt")):
        assert parse_unused(path.read_text()) is not None
