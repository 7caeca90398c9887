"""What makes and deletes a logical drive, in each tool's own words, and which lines are none of these."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.errors import InvalidValueError
from backends.model import Level, State
from backends.simulator.smartarray.arcconf import CREATE_USAGE
from backends.vendors.smartarray.arcconf.tool import Arcconf
from backends.vendors.smartarray.dialect import NewLogical
from backends.vendors.smartarray.facts import BayDrive, CardText, Family, LogicalDrive, RaidCard
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smartarray.ssacli.tool import Ssacli
from tests.backends.fakes import FakeHost

SSACLI, ARCCONF = Ssacli(FakeHost({}), "/usr/sbin/ssacli"), Arcconf(FakeHost({}), "/usr/Arcconf/arcconf")
SMART = CardText(card=RaidCard(number="1"))
SERIES = CardText(card=RaidCard(number="1", family=Family.SERIES))
NEW = NewLogical(
    level=Level.RAID5,
    places=("0:0", "0:1", "0:2"),
    strip_bytes=65536,
    parity_groups=None,
    policies={"acceleration": "none"},
    name="rb-1",
)
OF_SERIES = replace(NEW, policies={"write_cache": "write-through", "read_cache": "off"})
LEGS = "Usage: CREATE [Legs <LEGS>] [Name <NAME>] [Stripesize <STRIPE>] <Size>"


def line(tool: Ssacli | Arcconf, text: CardText, new: NewLogical, usage: str = "") -> str:
    ((_, *words),) = tool.create(text, new, usage)
    return " ".join(words)


def test_ssacli_has_one_line_for_a_logical_drive_of_whole_drives() -> None:
    words = "ctrl slot=1 create type=ld drives=0:0,0:1,0:2 raid=5 size=max ss=64 caching=disable"
    assert line(SSACLI, SMART, NEW) == f"{words} logicaldrivelabel=rb-1 forced"
    six = replace(NEW, level=Level.RAID50, parity_groups=2, policies={"acceleration": "controller-cache"})
    assert " raid=50 size=max ss=64 numberparitygroups=2 caching=enable " in line(SSACLI, SMART, six)
    assert "caching" not in line(SSACLI, SMART, replace(NEW, policies={}))


def test_a_card_that_calls_its_cache_the_array_accelerator_is_told_so() -> None:
    old = replace(SMART, volumes=(LogicalDrive(number=1, old_words=True),))
    (argv,) = SSACLI.create(old, NEW, "")
    assert "arrayaccelerator=disable" in argv
    assert "caching=disable" not in argv
    assert SSACLI.is_creation_or_deletion("1", argv)


def test_what_hpacucli_is_told_is_not_known() -> None:
    with pytest.raises(InvalidValueError, match="hpacucli"):
        Ssacli(FakeHost({}), "/usr/sbin/hpacucli").create(SMART, NEW, "")


def test_arcconf_says_only_words_that_its_usage_has() -> None:
    start, end = "create 1 logicaldrive name rb-1", "max 5 0 0 0 1 0 2 noprompt"
    assert line(ARCCONF, SMART, NEW, CREATE_USAGE) == f"{start} stripesize 64 method quick ldcache loff {end}"
    told = line(ARCCONF, SERIES, OF_SERIES, CREATE_USAGE)
    assert told == f"{start} stripesize 64 method quick wcache wt rcache roff {end}"
    usual = replace(NEW, strip_bytes=256 << 10)
    assert line(ARCCONF, SMART, usual, "Usage: CREATE [Name <NAME>] <Size>") == f"{start} {end}"


@pytest.mark.parametrize(("level", "number"), [(Level.RAID50, "50"), (Level.RAID60, "60")])
def test_arcconf_is_told_the_legs_before_the_size(level: Level, number: str) -> None:
    new = replace(NEW, level=level, parity_groups=3, policies={})
    start, end = "create 1 logicaldrive name rb-1 stripesize 64 legs 3", f"max {number} 0 0 0 1 0 2 noprompt"
    assert line(ARCCONF, SMART, new, LEGS) == f"{start} {end}"
    assert line(ARCCONF, SMART, new, CREATE_USAGE) == f"{start} method quick {end}"


@pytest.mark.parametrize(
    ("text", "usage", "born"),
    [
        (SMART, CREATE_USAGE, {"acceleration": ("none", "controller-cache")}),
        (SMART, "[LDcache <CON | COFF>]", {"acceleration": ("none", "controller-cache")}),
        (SMART, "[Wcache <WT | WB>]", {}),
        (
            SERIES,
            CREATE_USAGE,
            {"write_cache": ("write-through", "write-back", "always-write-back"), "read_cache": ("on", "off")},
        ),
        (SERIES, "[Wcache <WT | WBB>]", {"write_cache": ("write-through", "write-back")}),
        (SERIES, "", {}),
    ],
)
def test_arcconf_can_say_at_birth_what_its_usage_has(
    text: CardText, usage: str, born: dict[str, tuple[str, ...]]
) -> None:
    assert ARCCONF.creation_choices(text, usage) == born


@pytest.mark.parametrize(
    ("new", "usage", "why"),
    [
        (NEW, "Usage: CREATE <Controller#> LOGICALDRIVE <Size>", "cannot name a logical device"),
        (
            replace(NEW, level=Level.RAID60, parity_groups=2),
            LEGS.replace("[Legs <LEGS>] ", ""),
            "the spans of a RAID60",
        ),
        (NEW, "Usage: CREATE [Name <NAME>] <Size>", "cannot set a strip size"),
    ],
)
def test_what_could_not_be_told_again_is_not_made(new: NewLogical, usage: str, why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        ARCCONF.create(SMART, new, usage)


def test_each_deletes_one_logical_drive_and_answers_no_question() -> None:
    assert SSACLI.delete(SMART, 3) == (("/usr/sbin/ssacli", "ctrl", "slot=1", "ld", "3", "delete", "forced"),)
    assert ARCCONF.delete(SMART, 3) == (("/usr/Arcconf/arcconf", "delete", "1", "logicaldrive", "3", "noprompt"),)


@pytest.mark.parametrize("tool", [SSACLI, ARCCONF], ids=["ssacli", "arcconf"])
def test_its_own_lines_are_taken_on_its_own_card_alone(tool: Ssacli | Arcconf) -> None:
    spanned = tool.create(SMART, replace(NEW, level=Level.RAID50, parity_groups=2), CREATE_USAGE)
    series = tool.create(SERIES, replace(OF_SERIES, policies={**OF_SERIES.policies, **NEW.policies}), CREATE_USAGE)
    for argv in (*tool.create(SMART, NEW, CREATE_USAGE), *spanned, *series, *tool.delete(SMART, 3)):
        assert tool.is_creation_or_deletion("1", argv)
        assert not tool.is_creation_or_deletion("2", argv)
        assert not tool.is_creation_or_deletion("1", (*argv, "more"))
        assert not tool.is_creation_or_deletion("1", ("/bin/sh", *argv[1:]))


@pytest.mark.parametrize(
    ("use", "state", "free"),
    [
        ("Unassigned Drive", "OK", True),
        ("Unassigned Drive", "Predictive Failure", False),
        ("Unassigned Drive", "OK (encrypted)", False),
        ("HBA Mode Drive", "OK", False),
        ("", "OK", False),
    ],
)
def test_a_drive_of_ssacli_is_free_by_two_words(use: str, state: str, free: bool) -> None:
    drive = BayDrive(place="1I:1:1", use_raw=use, state=State.UNASSIGNED, state_raw=state)
    assert SSACLI.is_free(drive) is free


@pytest.mark.parametrize(("raw", "free"), [("Ready", True), ("Ready (missing)", False), ("Raw", False)])
def test_a_drive_of_arcconf_is_free_by_one(raw: str, free: bool) -> None:
    assert ARCCONF.is_free(BayDrive(place="0:1", state=State.UNASSIGNED, state_raw=raw)) is free


@pytest.mark.parametrize(
    ("told", "kinds"),
    [("Queued", ["initialisation"]), ("In Progress", ["initialisation"]), ("Initialization Completed", [])],
)
def test_parity_that_waits_to_be_initialised_is_work_under_way(told: str, kinds: list[str]) -> None:
    text = (
        "\nSmart Array P440 in Slot 1\n   Array: A\n      Logical Drive: 1\n         Fault Tolerance: 5\n"
        f"         Status: OK\n         Parity Initialization Status: {told}\n"
    )
    (card,) = cards(text)
    assert [job.kind for job in card.volumes[0].jobs] == kinds
