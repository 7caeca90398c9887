"""What a question calls a device, and the word that means it: told apart from every other device of the machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.device_label import (
    DeviceLabel,
    confirm_token,
    device_label,
    device_label_of,
    drive_label,
    labels_title,
)
from backends.identity import Identity
from backends.model import Array, Controller, Drive, Inventory, Scope, Target

DISK = Identity(
    name="sda", serial="WD-WX11D1234567", wwn="naa.50014ee2b1234abc", model="WDC WD40EFRX", size_bytes=4 << 40
)
OTHER = Identity(
    name="sdb", serial="WD-WX11D7654321", wwn="naa.50014ee2b7654def", model="WDC WD40EFRX", size_bytes=4 << 40
)


def test_the_word_is_the_last_six_characters_of_the_serial_number() -> None:
    assert device_label(DISK, (OTHER,)).token == "234567"


def test_without_a_serial_number_it_is_the_end_of_the_wwn() -> None:
    assert device_label(replace(DISK, serial=None)).token == "234abc"


def test_without_both_it_is_the_kernel_name() -> None:
    assert device_label(Identity(name="loop7", size_bytes=1 << 20, backing="/x.img")).token == "loop7"


@pytest.mark.parametrize(
    ("uuid", "words"),
    [("LVM-abc", "an LVM volume"), ("CRYPT-LUKS2-1-x", "an encrypted volume"), ("mpath-36", "a multipath disk")],
)
def test_what_has_another_number_at_the_next_boot_is_called_by_its_name(uuid: str, words: str) -> None:
    volume = Identity(name="dm-3", wwn=f"dm.{uuid}", size_bytes=1 << 30)
    plate = device_label(volume, (DISK,), name="/dev/vg0/db", called="vg0/db")
    assert (plate.token, plate.sentence) == ("vg0/db", f"/dev/vg0/db is {words}, 1 GiB.")


def test_a_question_about_an_array_asks_for_the_same_word_as_one_about_its_node() -> None:
    target, known = Target(backend="lvm", address="vg0/db", scope=Scope.ARRAY), Identity(name="dm-3", devno="253:3")
    found = Inventory(arrays=(Array(target=target, device="/dev/dm-3", link="/dev/vg0/db", identity=known),))
    assert device_label_of(found, target).token == device_label(known, called="vg0/db").token == "vg0/db"


def test_a_filesystem_is_called_one_and_neither_serial_number_nor_size_is_missed() -> None:
    target = Target(backend="zfs", address="tank/files", scope=Scope.ARRAY)
    found = Inventory(arrays=(Array(target=target, name="files", identity=Identity(name="x", model="ZFS filesystem")),))
    assert device_label_of(found, target).sentence == "zfs:tank/files is ZFS filesystem."


@pytest.mark.parametrize("uuid", ["md.3aaa0122:29827cfa:5331ad66:ca767371", "dm.LVM-abcdefghijkl"])
def test_the_uuid_of_an_array_is_no_label_that_anybody_could_read_off(uuid: str) -> None:
    assert device_label(Identity(name="md0", wwn=uuid)).token == "md0"


def test_a_serial_number_of_few_characters_is_asked_for_whole() -> None:
    assert device_label(Identity(name="vda", serial="AB12")).token == "AB12"


@pytest.mark.parametrize("serial", ["1", "001", "Ünïcödé"])
def test_one_that_nobody_could_mean_or_type_is_not(serial: str) -> None:
    assert device_label(Identity(name="vda", serial=serial)).token == "vda"


def test_the_word_grows_until_it_means_one_device() -> None:
    twin_end = replace(OTHER, serial="WD-WX99D1234567")
    assert device_label(DISK, (twin_end,)).token == "1D1234567"


def test_it_grows_for_both_of_them() -> None:
    twin_end = replace(OTHER, serial="WD-WX99D1234567")
    assert device_label(twin_end, (DISK,)).token == "9D1234567"


def test_it_must_not_end_the_wwn_of_another_either() -> None:
    assert device_label(DISK, (replace(OTHER, wwn="naa.5001405000234567"),)).token == "1234567"


def test_namespaces_of_one_drive_are_told_apart_by_their_eui() -> None:
    one = replace(DISK, name="nvme0n1", wwn="eui.0025385000000001")
    two = replace(DISK, name="nvme0n2", wwn="eui.0025385000000002")
    assert (device_label(one, (two,)).token, device_label(two, (one,)).token) == ("000001", "000002")


def test_devices_that_cannot_be_told_apart_by_their_marks_are_by_their_names() -> None:
    bare = Identity(name="sdc", serial="123456789012", model="USB DISK", size_bytes=1 << 30)
    assert device_label(bare, (replace(bare, name="sdd", size_bytes=1 << 31),)).token == "sdc"


def test_another_path_to_the_disk_makes_it_no_longer() -> None:
    assert device_label(DISK, (replace(DISK, name="sdq", devno="65:0"),)).token == "234567"


def test_a_virtual_drive_whose_serial_number_is_its_wwn_backwards_is_meant_by_its_wwn() -> None:
    volume = Identity(name="sda", serial="1b9773e900007b5a3d0f10000b506006", wwn="naa.600605b00001f0d3a5b700009e3779b1")
    assert device_label(volume).token == "3779b1"


def test_it_names_model_serial_number_and_size() -> None:
    assert (
        device_label(DISK, name="/dev/sda").sentence
        == "/dev/sda is WDC WD40EFRX, serial number WD-WX11D1234567, 4 TiB."
    )


def test_what_is_typed_can_be_found_in_what_is_shown() -> None:
    same_serial = replace(DISK, wwn="naa.50014ee2b0000000", model="Other")
    plate = device_label(DISK, (same_serial,))
    assert (plate.token, "WWN naa.50014ee2b1234abc" in plate.description) == ("234abc", True)


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    assert device_label(Identity(name="sdz")).description == "model unknown, no serial number, size unknown"


def test_several_devices_are_meant_by_all_their_words_each_once() -> None:
    plates = [
        DeviceLabel(name=name, description="", token=word)
        for name, word in (("a", "111111"), ("b", "222222"), ("c", "111111"))
    ]
    assert confirm_token(plates) == confirm_token(plates[:2])
    assert confirm_token(plates).startswith("2-")


def test_the_word_for_several_devices_depends_on_their_whole_numbers() -> None:
    other = replace(OTHER, serial="XX-XX11D7654321")
    assert device_label(OTHER, (DISK,)).token == device_label(other, (DISK,)).token
    assert len({confirm_token(map(device_label, pair)) for pair in ((DISK, OTHER), (DISK, other), (OTHER, DISK))}) == 3


CARD = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
VOLUME = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
SLOT = Target(backend="megaraid", address="/c0/e1/s1")


def volume(**fields: object) -> Array:
    return replace(Array(target=VOLUME, controller=CARD, size_bytes=1 << 40), **fields)  # type: ignore[arg-type]


def array_label(*things: Controller | Array | Drive) -> DeviceLabel:
    kinds = {kind: tuple(thing for thing in things if isinstance(thing, kind)) for kind in (Controller, Array, Drive)}
    inventory = Inventory(controllers=kinds[Controller], arrays=kinds[Array], drives=kinds[Drive])  # type: ignore[arg-type]
    return device_label_of(inventory, things[0].target)


def test_an_array_with_a_node_is_what_the_kernel_has_there() -> None:
    kernel = replace(DISK, devno="8:0")
    block = Drive(target=Target(backend="block", address="sda"), device="/dev/sda", identity=kernel)
    assert array_label(volume(device="/dev/sda", identity=kernel), block).token == "234567"


def test_one_without_a_node_is_never_meant_by_the_serial_number_of_its_card() -> None:
    told = Identity(name="c0-v1", serial="SV12345678", wwn="naa.600605b00001f0d3a5b700009e3779b1")
    assert array_label(volume(identity=told)).token == "3779b1"


def test_one_without_a_wwn_is_meant_by_the_name_that_it_was_given() -> None:
    assert array_label(volume(name="backup", identity=Identity(name="c0-v1", serial="SV12345678"))).token == "backup"


def test_a_name_that_two_arrays_have_means_neither() -> None:
    other = replace(volume(name="backup"), target=Target(backend="megaraid", address="/c1/v0", scope=Scope.ARRAY))
    assert array_label(volume(name="backup"), other).token == "/c0/v1"


def test_a_drive_behind_a_card_is_meant_by_its_own_serial_number() -> None:
    assert array_label(Drive(target=SLOT, serial="Z3F041000", model="ST800FM0053")).token == "041000"


def test_a_controller_is_meant_by_its_serial_number() -> None:
    assert array_label(Controller(target=CARD, vendor="megaraid", serial="SV10418263")).token == "418263"


def test_a_controller_is_not_taken_for_the_drive_that_it_is_on() -> None:
    drive = Drive(target=SLOT, serial="SV10418263")
    assert array_label(Controller(target=CARD, vendor="nvme", serial="SV10418263"), drive).token == "418263"


def test_what_is_not_there_is_meant_by_its_address() -> None:
    assert device_label_of(Inventory(), VOLUME).token == "/c0/v1"


def test_the_title_of_labels_says_what_they_are() -> None:
    drives = (drive_label("s1", "A0001"), drive_label("s2", "A0002"))
    group = DeviceLabel(name="data", description="", token="data", drives=("a", "b"), kind="volume group")
    assert labels_title(drives) == "2 drives"
    assert labels_title((group,)) == "volume group data and 2 drives"
    assert labels_title((device_label(Identity(name="sda")), *drives)) == "1 device and 2 drives"
