"""What stands for an identifier: the same for the same, of the same shape, and not to be turned back."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.redaction import Redactor
from tests.case_loop import loop_over

SERIAL = "WD-WX1234567"


def redactor(key: bytes = b"k") -> Redactor:
    return Redactor(
        serials=(SERIAL,), names=("pear", "jane"), labels=("backup",), mounts=("/srv/vm", "/srv", "/"), key=key
    )


@loop_over(
    ("text", "hidden"),
    [
        (f"ata-WDC_{SERIAL}-part1", SERIAL),
        (f"serial={SERIAL.lower()}", SERIAL.lower()),
        ("root@pear:~#", "pear"),
        ("md/pear:0", "pear"),
        ("owner jane", "jane"),
        ("/home/joe/.ssh", "joe"),
        ("/dev/sdc: xfs 'backup', 2 TiB", "backup"),
        ('LABEL="backup"', "backup"),
        ("ID_FS_LABEL=backup\nX=1", "backup"),
        ("mounted on /srv/vm/disks", "/srv/vm"),
        ("UUID=0c1d2e3f-1111-2222-3333-444455556666", "0c1d2e3f-1111-2222-3333-444455556666"),
        ("3aaa0122:29827cfa:5331ad66:ca767371", "3aaa0122:29827cfa:5331ad66:ca767371"),
        ("inet 192.168.17.4/24", "192.168.17.4"),
        ("inet6 fe80::21b:21ff:fe22:e865/64", "fe80::21b:21ff:fe22:e865"),
        ("ether 00:1b:21:22:e8:65 txqueuelen", "00:1b:21:22:e8:65"),
    ],
)
def test_what_tells_whose_machine_it_is_is_replaced(text: str, hidden: str) -> None:
    assert hidden not in redactor().text(text)


@loop_over(
    "text",
    [
        "appears",
        "the backup is over",
        "/srv",
        "/boot",
        "spearhead",
        "0000:03:00.0",
        "4.680.00-8290",
        "12:30:45",
        "24.21",
        "08.37.00.00",
        "16.00.12.00",
        "4096",
        "read_ahead_kb=4096",
        "2026-11-28",
        "1024-4096",
        "serial number of digits",
        "uuid: none",
    ],
)
def test_what_tells_nothing_stays(text: str) -> None:
    assert redactor().text(text) == text


@loop_over(
    "text",
    [
        "UUID=7A1C-93F0",
        r"\"serial\": \"Z1X4ABCD\"",
        "Serial Number:    Z1X4ABCD",
        "pear.orchard.example",
        "aaK9ER-3n7E-QU1F-KtZe-8GLB-7CRs-WvSRCB",
        "iqn.2016-04.com.garden:storage.disk1",
        "jane.roe@garden.example",
        "/dev/disk/by-uuid/7A1C-93F0",
        "5E8C2A1F8C29F3D7",
        "5 0014ee 2b1234abc",
    ],
)
def test_forms_of_unique_numbers_are_replaced(text: str) -> None:
    found = text.split("=")[-1].split(":")[-1].split("/")[-1].strip(' \\"')
    assert found not in redactor().text(text)


@pytest.mark.parametrize("text", ["getty@tty1.service", "pear.log", "pear.rba"])
def test_endings_of_files_and_units_stay(text: str) -> None:
    assert redactor().text(text).rpartition(".")[2] == text.rpartition(".")[2]


@pytest.mark.parametrize("text", ["wd wx1234567", "WD%2DWX1234567", "WDWX1234567", "wd:wx:12:34:56:7", "WD_WX1234567"])
def test_any_spelling_is_found_and_has_the_same_pseudonym(text: str) -> None:
    one = redactor()
    made = one.text(text)
    plain = [re.sub(r"%2d|[^0-9a-z]", "", spelled.lower()) for spelled in (made, one.text(SERIAL))]
    assert made != text
    assert plain[0] == plain[1]


def test_the_same_is_replaced_by_the_same() -> None:
    one = redactor()
    first, second = one.text(f"{SERIAL} {SERIAL}").split()
    assert first == second == one.text(SERIAL)


def test_what_was_replaced_is_not_replaced_again() -> None:
    one = redactor()
    once = one.text(f"{SERIAL} on pear, 10.1.2.3")
    assert one.text(once) == once


def test_another_output_has_other_pseudonyms() -> None:
    assert Redactor(serials=(SERIAL,)).text(SERIAL) != Redactor(serials=(SERIAL,)).text(SERIAL)


def test_two_identifiers_never_share_a_pseudonym() -> None:
    names = {f"{letter}{digit}" for letter in "abcdefghij" for digit in range(10)}
    one = Redactor(names=names, patterns=False)
    redacted = {one.text(name) for name in names}
    assert len(redacted) == len(names)
    assert redacted.isdisjoint(names)  # a pseudonym that is the name of another host would be a false lead


@given(st.text(min_size=4, max_size=200))
def test_a_pseudonym_is_as_long_as_what_it_stands_for(secret: str) -> None:
    assert len(Redactor(serials=(secret,), patterns=False).text(secret)) == len(secret)


def test_it_has_a_letter_for_a_letter_and_a_digit_for_a_digit() -> None:
    masked = Redactor(serials=("WDx-19_z",)).text("WDx-19_z")
    shape = "".join(char if not char.isalnum() else "9" if char.isdigit() else "Aa"[char.islower()] for char in masked)
    assert shape == "AAa-99_a"


def test_a_number_stays_one_that_json_takes() -> None:
    numbers = [str(number) for number in range(1000, 1200)]
    one = Redactor(serials=numbers)
    assert all(json.loads(one.text(number)) >= 1000 for number in numbers)


def test_names_of_fields_stay() -> None:
    made = Redactor(names=("size",)).value({"size": ["size"]})
    assert (list(made), made["size"] == ["size"]) == (["size"], False)
