"""What ssacli and arcconf said of other people's cards, compared with what independent expressions find."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from backends.simulator.tool_output import SimulatedOutput
from backends.testing.truncation import every_line, truncation_violations
from backends.tool_output import CUT
from backends.vendors._cards import value_of
from backends.vendors.smartarray import effective
from backends.vendors.smartarray.arcconf.commands import DONE, WHOLE
from backends.vendors.smartarray.arcconf.parsing import card_text, refusal_reason, tasks
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smartarray.facts import CardText
from backends.vendors.smartarray.ssacli.completeness import missing
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smartarray.ssacli.sections import errors
from tests.backends.smartarray.cards import HPE, SMARTRAID, PlayedCards
from tests.recordings import checks, text_of

SSACLI = "hpe/ssacli/*"
ARCCONF = "adaptec/arcconf/*"

_TITLE = re.compile(r"^(\S.*?) in Slot (\w+)", re.MULTILINE)
_WITHOUT_AN_END = ("check_raid__issue75_getconfig.txt", "percona__arcconf-002.txt")
"""Recordings that somebody cut."""
_UNITS = {"MB": 20, "GB": 30, "TB": 40}


def _numbers(pattern: str, text: str) -> list[str]:
    return re.findall(pattern, text, re.MULTILINE | re.IGNORECASE)


def _sizes(pattern: str, text: str) -> list[tuple[int, str]]:
    found = re.findall(pattern, text, re.MULTILINE)
    return [(_binary(number, unit), level) for number, unit, level in found]


def _binary(number: str, unit: str) -> int:
    return round(float(number) * (1 << _UNITS[unit]))


@checks(SSACLI)
def every_card_logical_drive_and_drive_of_ssacli_is_found(path: Path) -> None:
    text = text_of(path)
    found = cards(text)
    titles = [(model, slot) for model, slot in _TITLE.findall(text) if ":" not in model]
    assert [(one.card.model, one.card.number) for one in found if one.card.number] == titles
    volumes = _numbers(r"^\s*logical ?drive:? (\d+)", text)
    assert [str(drive.number) for one in found for drive in one.volumes] == volumes
    places = set(_numbers(r"physicaldrive ([0-9A-Z]+:\d+:\d+)", text))
    assert {drive.place for one in found for drive in one.drives} == places


@checks(SSACLI)
def sizes_levels_and_names_of_ssacli_are_the_very_ones(path: Path) -> None:
    text = text_of(path)
    found = cards(text)
    drives = [drive for one in found for drive in one.volumes]
    rows = _sizes(r"^\s*logicaldrive \d+ \((\d+\.?\d*) (MB|GB|TB), (?:RAID )?([0-9+]+)", text)
    details = _sizes(r"^\s*Logical Drive: \d+\s+Size: (\d+\.?\d*)\s+(MB|GB|TB)\s+Fault Tolerance: ([0-9+]+)", text)
    told = [
        (drive.size_bytes, re.sub(r"[^0-9+]", "", drive.level_raw))
        for drive in drives
        if drive.level_raw and drive.size_bytes
    ]
    assert told == [*rows, *details]
    names = [name.lower() for name in _numbers(r"Unique Identifier: ([0-9A-F]{32})", text)]
    assert [drive.wwn for drive in drives if drive.wwn] == names
    devices = _numbers(r"Disk Name: (/dev/\S+)", text)
    handed_on = [drive.device for one in found for drive in one.drives if drive.device]
    assert [drive.device for drive in drives if drive.device] + handed_on == devices


@checks(SSACLI)
def caching_of_ssacli_is_what_is_set_and_what_is_in_force(path: Path) -> None:
    text = text_of(path)
    disabled = "Cache Status: Temporarily Disabled" in text
    for one in cards(text):
        for drive in one.volumes:
            policy = effective.write_policy(one.card, drive)
            if policy is None:
                continue
            assert policy.value in ("write-through", "write-back", "always-write-back")
            if disabled and policy.value != "write-through":
                force, why = effective.write_cache(one.card, drive)
                assert force == "write-through"
                assert one.card.cache_details is None or one.card.cache_details.rstrip(".") in str(why)


@checks(SSACLI)
def ssaclis_errors_are_told(path: Path) -> None:
    text = text_of(path)
    assert len(list(errors(text))) == len(_numbers(r"^Error:", text))


class _Recorded(PlayedCards):
    """A machine whose tool has this answer about a card."""

    def __init__(self, text: str, *, adaptec: bool) -> None:
        super().__init__() if adaptec else super().__init__((HPE,))
        self.adaptec = (SMARTRAID,) if adaptec else ()
        titles = "".join(f"\n{model} in Slot {slot}\n" for model, slot in _TITLE.findall(text) if ":" not in model)
        self.instead |= {"getconfig": SimulatedOutput(text=text), "getstatus": SimulatedOutput(text=f"{DONE}\n")}
        self.instead |= {"ctrl all show": SimulatedOutput(text=titles), "ctrl slot=": SimulatedOutput(text=text)}


def _half(text: str, *, adaptec: bool) -> list[str]:
    """What is made of half a recording that is wrong."""
    return asyncio.run(truncation_violations(lambda: _Recorded(text, adaptec=adaptec), SmartArray, places=_some_lines))


def _some_lines(text: str) -> list[int]:
    places = list(every_line(text))
    return places[:: max(1, len(places) // 150)] if len(text) > 500 else []


@checks(SSACLI, named=("netdata__", "hpssa_hba_mode", "hpssa_one_drive_raid", "drives_50gb_raid1.txt", "7_disks"))
def half_of_what_ssacli_says_invents_nothing(path: Path) -> None:
    text = text_of(path)
    assert not missing(text)
    if len(cards(text)) > 1:
        return  # the answer to `ctrl all`: one card alone is asked for here, and one about two is refused
    unlisted = "no problem reports that"  # unassigned drives of builds that list no drives of the cages
    assert [words for words in _half(text, adaptec=False) if unlisted not in words or "Physical Drives" in text] == []


@checks(ARCCONF, named=("getconfig.txt", "getconfig_1.txt", "getconfig_1_A", "getconfig2.txt", "percona__arcconf"))
def half_of_what_arcconf_says_invents_nothing(path: Path) -> None:
    text = text_of(path)
    if path.name not in _WITHOUT_AN_END:
        assert not WHOLE.missing(text)
        assert _half(text, adaptec=True) == []
        return
    found = asyncio.run(SmartArray(_Recorded(text, adaptec=True)).inventory())
    assert found.drives
    assert any(CUT in problem.message for problem in found.problems)


def _read(text: str) -> CardText | None:
    return card_text(text, 1)


@checks(ARCCONF)
def every_logical_device_and_drive_of_arcconf_is_found(path: Path) -> None:
    text = text_of(path)
    found = _read(text)
    volumes = _numbers(r"^\s*Logical (?:device|drive) number (\d+)", text)
    hard = _numbers(r"Device is an? (Hard drive)", text)
    assert [str(one.number) for one in (found.volumes if found else ())] == volumes
    assert len(found.drives if found else ()) == len(hard)


@checks(ARCCONF)
def sizes_policies_and_serial_numbers_of_arcconf_are_the_very_ones(path: Path) -> None:
    text = text_of(path)
    found = _read(text)
    if found is None:
        return
    blocks = re.split(r"(?mi)^\s*Logical (?:device|drive) number \d+", text)[1:]
    for drive, block in zip(found.volumes, blocks, strict=True):
        assert drive.size_bytes == int(_numbers(r"^\s*Size\s*: (\d+) MB", block)[0]) << 20
        strip = _numbers(r"^\s*Stripe-unit size\s*: (\d+) KB", block)
        assert drive.strip_bytes == (int(strip[0]) << 10 if strip else None)
        status = _numbers(r"^\s*Write-cache status\s*: (On|Off)", block)
        assert not status or value_of(drive.writing_back) == status[0].lower()
        setting = _numbers(r"^\s*Write-cache setting\s*: (\w+)", block)
        wanted = {"Disabled": ("write-through",), "Enabled": ("write-back", "always-write-back"), "On": ("write-back",)}
        assert not setting or value_of(drive.write_cache) in wanted[setting[0]]
    serials = _numbers(r"^\s*Serial number\s*: (\S+)", text.partition("Physical Device information")[2])
    assert [drive.serial for drive in found.drives if drive.serial] == serials


@checks(ARCCONF, named=("getstatus",))
def work_under_way_is_told(path: Path) -> None:
    text = text_of(path)
    told = [round((job.progress or 0) * 100) for jobs in tasks(text).values() for job in jobs]
    assert told == [int(share) for share in _numbers(r"Percentage complete\s*: (\d+)", text)]


@checks(ARCCONF, named=("setcache", "getconfig_1_LD", "expanderlist"))
def arcconfs_word_on_what_it_was_told_is_taken(path: Path) -> None:
    text = text_of(path)
    assert (refusal_reason(text) is None) is ("Command completed successfully" in text)
