"""Settings that outlive a reboot: the udev rules file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import BlockedError, InvalidValueError
from backends.model import Target
from backends.topology.tree import Node
from backends.udev import match_keys
from backends.vendors.block.backend import BlockBackend
from backends.vendors.block.settings import RULES, actions
from tests.backends.fakes import FakeHost, disk, machine
from tests.packages import needs

VDA = Target(backend="block", address="vda")
VDB = Target(backend="block", address="vdb")
FRONT = 'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk"'


def host(**more: str) -> FakeHost:
    return FakeHost(machine(disk("vda", serial="scratch-1"), disk("vdb", devno="254:16", serial="scratch-2"), **more))


async def test_a_virtio_disk_is_matched_by_its_serial_number() -> None:
    rule = await BlockBackend(host()).persist(VDA, {"read_ahead_kb": "4096", "scheduler": "none"})
    assert rule.path == RULES.path
    assert rule.text.splitlines()[1:] == [
        f'{FRONT}, ATTR{{serial}}=="scratch-1", ATTR{{queue/scheduler}}="none", ATTR{{queue/read_ahead_kb}}="4096"'
    ]
    assert rule.reload == (("udevadm", "control", "--reload"),)


async def test_udevs_serial_and_wwn_are_preferred() -> None:
    record = {"/run/udev/data/b8:0": "E:ID_SERIAL=Maker_Model_1\nE:ID_WWN=0x5000c500a1b2c3d4"}
    backend = BlockBackend(FakeHost(machine(disk("sda", device__wwid="naa.5"), **record)))
    rule = await backend.persist(Target(backend="block", address="sda"), {"nomerges": "2"})
    assert 'ENV{ID_SERIAL}=="Maker_Model_1", ENV{ID_WWN}=="0x5000c500a1b2c3d4", ATTR{queue/nomerges}="2"' in rule.text


async def test_other_disks_and_a_persons_lines_stay() -> None:
    machine = host()
    own = '# mine\nKERNEL=="sdz", ATTR{queue/nomerges}="1"\n'
    first = await BlockBackend(host(**{RULES.path: own})).persist(VDA, {"nomerges": "2"})
    machine.files[RULES.path] = first.text
    second = await BlockBackend(machine).persist(VDB, {"nomerges": "1"})
    machine.files[RULES.path] = second.text
    third = await BlockBackend(machine).persist(VDA, {})
    assert len(second.text.splitlines()) == 5
    assert third.text.splitlines()[1:3] == own.splitlines()
    assert "scratch-1" not in third.text
    assert "scratch-2" in third.text


async def test_a_line_of_ours_that_a_person_added_to_stays() -> None:
    machine = host()
    line = (await BlockBackend(machine).persist(VDA, {"nomerges": "2"})).text.splitlines()[1] + ', RUN+="/root/mine"'
    machine.files[RULES.path] = f"{line}\n"
    assert line in (await BlockBackend(machine).persist(VDA, {})).text.splitlines()


async def test_a_second_time_replaces_and_nothing_left_removes_the_file() -> None:
    machine = host()
    for value in ("1", "2"):
        machine.files[RULES.path] = (await BlockBackend(machine).persist(VDA, {"nomerges": value})).text
    assert machine.files[RULES.path].count("scratch-1") == 1
    assert (await BlockBackend(machine).persist(VDA, {})).text == ""


async def test_values_that_the_setting_does_not_allow_are_refused() -> None:
    with pytest.raises(InvalidValueError):
        await BlockBackend(host()).persist(VDA, {"nomerges": '2", RUN+="/bin/sh'})


async def test_two_disks_with_one_serial_number_are_refused() -> None:
    twins = machine(disk("vda", serial="same"), disk("vdb", devno="254:16", serial="same"))
    with pytest.raises(BlockedError, match="same serial number"):
        await BlockBackend(FakeHost(twins)).persist(VDA, {"nomerges": "2"})


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (disk("loop3", loop__backing_file="/srv/x"), "no identifier that remains the same"),
        (disk("zram1"), "no identifier that remains the same"),
        (disk("vdc"), "no serial number and no WWN"),
        (disk("vdc", serial="a\nb"), "characters that a udev rule cannot contain"),
        (disk("vdc", serial="é"), "characters that a udev rule cannot contain"),
    ],
)
async def test_without_anything_stable_it_is_refused_with_the_reason(files: dict[str, str], words: str) -> None:
    name = next(iter(files)).split("/")[3]
    with pytest.raises(BlockedError, match=words):
        await BlockBackend(FakeHost(machine(files))).persist(Target(backend="block", address=name), {"nomerges": "2"})


@given(st.text(min_size=1, max_size=30))
def test_no_serial_number_breaks_out_of_its_quotes(serial: str) -> None:
    try:
        match = match_keys(Node(name="vda", devno="1:1", size_bytes=1, attributes={"serial": serial}))
    except BlockedError:
        return
    line = RULES.line(match, actions({"nomerges": "2"}))
    assert re.fullmatch(re.escape(FRONT) + r', ATTR\{serial\}=="[^"\\|\n]*", ATTR\{queue/nomerges\}="2"', line)
    assert RULES.merge(f"{line}\n".encode(), match, ()) == b""


@given(st.text(max_size=20))
def test_no_value_breaks_out_of_its_quotes(value: str) -> None:
    try:
        line = RULES.line(('ATTR{serial}=="x"',), actions({"nomerges": value}))
    except BlockedError:
        return
    assert line.count('"') == 10
    assert "\n" not in line


@needs("udevadm")
async def test_udev_itself_takes_the_rule(tmp_path: Path) -> None:
    rule = await BlockBackend(host()).persist(VDA, {"nomerges": "2"})
    (tmp_path / "99-raidbench.rules").write_text(rule.text)
    done = subprocess.run(["udevadm", "verify", str(tmp_path)], capture_output=True, text=True)
    if "Unknown command" in done.stderr:
        pytest.skip("this udevadm cannot verify")
    assert done.returncode == 0, done.stdout + done.stderr
