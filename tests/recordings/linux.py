"""What the kernel's files and the tools of Linux said, read by the parsers of topology, block, scsi, nvme and md."""

from __future__ import annotations

from pathlib import Path

from backends.topology.signatures import lsblk_signatures, parse_lsblk
from backends.vendors.block.settings import BY_KEY
from backends.vendors.block.values import reading
from backends.vendors.mdraid.details import parse_export, parse_unused
from backends.vendors.mdraid.facts import parse_array, parse_mdstat
from backends.vendors.nvme.identify import parse_id_ctrl, parse_id_ns, parse_smart_log, parse_value
from backends.vendors.scsi.hdparm import parse_hdparm
from backends.vendors.scsi.sdparm import parse_sdparm
from backends.vendors.scsi.smartctl import parse_smartctl
from tests.recordings import checks, text_of


@checks("*/*/*lsblk*json*", "linux/lsblk/*")
def lsblk(path: Path) -> None:
    text = text_of(path)
    found = parse_lsblk(text)
    for name, row in found.items():
        assert name in text
        assert all(signature.kind in text for signature in lsblk_signatures(row, None, None))
    assert found or '"blockdevices"' not in text


@checks("*/*/*queue.txt")
def queues_give_a_reading_of_every_setting(path: Path) -> None:
    rows = (line.rpartition("/queue/")[2] for line in text_of(path).splitlines() if "/queue/" in line)
    attributes = {key: value for key, colon, value in (row.partition(":") for row in rows) if colon and "/" not in key}
    for key in set(BY_KEY) & set(attributes):
        found = reading(key, attributes, None, 4)
        assert found.now not in (None, "unknown"), f"{key}={attributes[key]}"


@checks("ata/hdparm/*", "lab/sata/*hdparm-*", "lab/scsi/hdparm-*")
def hdparm(path: Path) -> None:
    text = text_of(path)
    found = parse_hdparm(text)
    for flag in found.values():
        assert flag.raw in " ".join(text.split())
        assert flag.number is not None or not flag.is_supported
    assert ("-W" in found) == ("write-caching =" in text)


@checks("scsi/sdparm/*", "lab/scsi*/*")
def sdparm(path: Path) -> None:
    text = text_of(path)
    for name, bit in parse_sdparm(text).items():
        (first, *_) = [line.split() for line in text.splitlines() if line.strip().startswith(f"{name} ")]
        assert bit.now is (first[1] == "1"), name


@checks("linux/smartctl/*.json", "lab/*/smartctl-*-json.txt")
def smartctl(path: Path) -> None:
    text = text_of(path)
    found = parse_smartctl(text)
    assert (found is None) == ('"smartctl":' not in text)
    if found is not None:
        assert all(str(number) in text for number in (found.rpm, found.celsius, found.hours) if number is not None)
        told = any(f'"{key}":' in text for key in ("firmware_version", "scsi_revision"))
        assert (found.firmware is not None) == told
        assert found.life_left is None or '"in_smartctl_database": true' in text


@checks("nvme/nvme-cli/*", "lab/nvme/*", named=("get_feature_06", "get-feature"))
def nvme_features(path: Path) -> None:
    text = text_of(path)
    values = [value for value in (parse_value(text, number) for number in (2, 6, 7, 8)) if value is not None]
    assert len(values) == ("Current value:" in text)
    assert all(value in (0, 1, 0x10001) for value in values)


@checks("nvme/nvme-cli/*", "lab/nvme/*", named=("smart-log",))
def nvme_health(path: Path) -> None:
    text = text_of(path)
    found = parse_smart_log(text)
    assert found.kelvin in (310, 323, 324)
    assert None not in (found.percent_used, found.hours)
    assert str(found.media_errors) in text


@checks("nvme/nvme-cli/*", "lab/nvme/*", named=("id-ctrl", "info_template"))
def nvme_controllers(path: Path) -> None:
    text = text_of(path)
    found = parse_id_ctrl(text)
    assert found.serial is None or found.serial in text
    assert (found.vwc, found.warning_kelvin) in ((7, 357), (7, 356), (6, 356), (7, 343), (7, 355))
    assert found.power_states
    assert all(one.operational is not None and one.watts for one in found.power_states)


@checks("lab/nvme/id-ns-json.txt")
def nvme_namespaces(path: Path) -> None:
    found = parse_id_ns(text_of(path))
    assert [(one.data_bytes, one.metadata_bytes) for one in found.formats] == [
        (size, metadata) for size in (512, 4096) for metadata in (0, 8, 16, 64)
    ]
    assert found.in_use == 0


@checks("linux/mdstat/*", "lab/md*/*mdstat*")
def mdstat(path: Path) -> None:
    text = text_of(path)
    found = parse_mdstat(text)
    assert sorted(found) == sorted(
        {line.split(" ")[0] for line in text.splitlines() if " : " in line and "active" in line}
    )
    for row in found.values():
        assert row.progress is None or f"{row.progress * 100:.1f}%" in text
        assert all(member in text for member in row.members or ())


@checks("lab/md*/*md-sysfs.txt", "linux/sysfs/procfs__md*_md.txt")
def md_folders(path: Path) -> None:
    own: dict[str, str] = {}
    members: dict[str, dict[str, str]] = {}
    for line in text_of(path).splitlines():
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


@checks("lab/md*/*D-export.txt")
def mdadm_exports(path: Path) -> None:
    assert parse_export(text_of(path))["MD_LEVEL"] in text_of(path)


@checks("lab/md/*examine.txt")
def mdadm_examinations(path: Path) -> None:
    assert parse_unused(text_of(path)) is not None
