"""What MegaCli is told: the very lines, and what is refused before anything is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.errors import InvalidValueError
from backends.host import Command
from backends.vendors.megaraid.dialect import NewVolume
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.presence import MEGACLI, MEGACLI_PLACES
from tests.backends.fakes import FakeHost
from tests.case_loop import loop_over

TOOL = "/opt/MegaRAID/MegaCli/MegaCli64"
CLI = MegaCli(FakeHost({}), TOOL)
ARTICLE = NewVolume(
    level="raid5",
    drives=("245:1", "245:2", "245:3"),
    drives_per_span=None,
    strip_bytes=64 * 1024,
    write_cache="write-through",
    read_ahead="none",
    io_policy="direct",
    drive_cache=None,
    name=None,
)


def said(commands: tuple[Command, ...]) -> list[str]:
    assert all(command.mutates and command.argv[0] == TOOL for command in commands)
    return [" ".join(command.argv[1:]) for command in commands]


@loop_over(
    ("key", "value", "line"),
    [
        ("write_cache", "write-through", "-LDSetProp WT -L1 -a0 -NoLog"),
        ("read_ahead", "none", "-LDSetProp NORA -L1 -a0 -NoLog"),
        ("read_ahead", "read-ahead", "-LDSetProp RA -L1 -a0 -NoLog"),
        ("read_ahead", "adaptive", "-LDSetProp ADRA -L1 -a0 -NoLog"),
        ("io_policy", "direct", "-LDSetProp Direct -L1 -a0 -NoLog"),
        ("io_policy", "cached", "-LDSetProp Cached -L1 -a0 -NoLog"),
        ("drive_cache", "on", "-LDSetProp -EnDskCache -L1 -a0 -NoLog"),
        ("drive_cache", "off", "-LDSetProp -DisDskCache -L1 -a0 -NoLog"),
        ("access_policy", "read-only", "-LDSetProp -RO -L1 -a0 -NoLog"),
        ("access_policy", "read-write", "-LDSetProp -RW -L1 -a0 -NoLog"),
        ("auto_bgi", "off", "-LDBI -Dsbl -L1 -a0 -NoLog"),
        ("auto_bgi", "on", "-LDBI -Enbl -L1 -a0 -NoLog"),
    ],
)
def test_a_virtual_drives_setting_is_one_line(key: str, value: str, line: str) -> None:
    assert said(CLI.set_volume(0, 1, key, value)) == [line]


def test_write_back_is_never_kept_without_a_battery_on_the_way() -> None:
    assert said(CLI.set_volume(2, 7, "write_cache", "write-back")) == [
        "-LDSetProp NoCachedBadBBU -L7 -a2 -NoLog",
        "-LDSetProp WB -L7 -a2 -NoLog",
    ]
    assert said(CLI.set_volume(2, 7, "write_cache", "always-write-back")) == [
        "-LDSetProp WB -L7 -a2 -NoLog",
        "-LDSetProp CachedBadBBU -L7 -a2 -NoLog",
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [("drive_cache", "default"), ("access_policy", "blocked"), ("write_cache", "WB"), ("strip_size", "65536")],
)
def test_what_it_has_no_word_for_is_refused(key: str, value: str) -> None:
    with pytest.raises(InvalidValueError):
        CLI.set_volume(0, 1, key, value)


@loop_over(
    ("key", "value", "line"),
    [
        ("rebuild_rate", "60", "-AdpSetProp RebuildRate -60 -a0 -NoLog"),
        ("bgi_rate", "0", "-AdpSetProp BgiRate -0 -a0 -NoLog"),
        ("cc_rate", "30", "-AdpSetProp CCRate -30 -a0 -NoLog"),
        ("migrate_rate", "30", "-AdpSetProp ReconRate -30 -a0 -NoLog"),
        ("patrol_read_rate", "100", "-AdpSetProp PatrolReadRate -100 -a0 -NoLog"),
        ("cache_flush_interval", "4", "-AdpSetProp CacheFlushInterval -4 -a0 -NoLog"),
        ("patrol_read", "off", "-AdpPR -Dsbl -a0 -NoLog"),
        ("patrol_read", "auto", "-AdpPR -EnblAuto -a0 -NoLog"),
        ("patrol_read", "manual", "-AdpPR -EnblMan -a0 -NoLog"),
        ("consistency_check", "concurrent", "-AdpCcSched -ModeConc -a0 -NoLog"),
        ("consistency_check", "sequential", "-AdpCcSched -ModeSeq -a0 -NoLog"),
        ("consistency_check", "off", "-AdpCcSched -Dsbl -a0 -NoLog"),
    ],
)
def test_a_cards_setting_is_one_line(key: str, value: str, line: str) -> None:
    assert said(CLI.set_card(0, key, value)) == [line]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rebuild_rate", "101"),
        ("rebuild_rate", "-5"),
        ("rebuild_rate", "٣"),
        ("cache_flush_interval", "0"),
        ("perf_mode", "0"),
        ("jbod", "off"),
        ("patrol_read", "on"),
    ],
)
def test_a_cards_value_that_is_none_is_refused(key: str, value: str) -> None:
    with pytest.raises(InvalidValueError):
        CLI.set_card(0, key, value)


def test_the_articles_array_is_made_anew_with_the_articles_line() -> None:
    assert said(CLI.recreate(0, 1, ARTICLE)) == [
        "-CfgLdDel -L1 -a0 -NoLog",
        "-CfgLDAdd -R5[245:1,245:2,245:3] WT NORA Direct -strpsz64 -a0 -NoLog",
    ]


def test_policies_and_strip_stand_in_the_order_of_the_help() -> None:
    new = replace(ARTICLE, write_cache="always-write-back", read_ahead="adaptive", io_policy="cached")
    new = replace(new, strip_bytes=1024**2, drive_cache="off", name="fast 1")
    assert said(CLI.recreate(3, 0, new)) == [
        "-CfgLdDel -L0 -a3 -NoLog",
        "-CfgLDAdd -R5[245:1,245:2,245:3] WB ADRA Cached CachedBadBBU -strpsz1024 -a3 -NoLog",
        "-LDSetProp -DisDskCache -L0 -a3 -NoLog",
        "-LDSetProp -Name fast 1 -L0 -a3 -NoLog",
    ]


def test_spans_are_arrays_of_their_own() -> None:
    drives = ("252:0", "252:1", ":2", ":3")
    new = replace(ARTICLE, level="raid10", drives=drives, drives_per_span=2, write_cache="write-back")
    assert said(CLI.recreate(0, 0, new))[1] == (
        "-CfgSpanAdd -R10 -Array0[252:0,252:1] -Array1[:2,:3] WB NORA Direct NoCachedBadBBU -strpsz64 -a0 -NoLog"
    )


@loop_over(
    "new",
    [
        replace(ARTICLE, level="unknown"),
        replace(ARTICLE, level="jbod"),
        replace(ARTICLE, drives=("245:1", "245:2")),
        replace(ARTICLE, drives=("245:1", "245:1", "245:2")),
        replace(ARTICLE, drives=("245:1", "245:?", "245:2")),
        replace(ARTICLE, drives=("245:1", "245:2]", "245:3")),
        replace(ARTICLE, drives_per_span=1),
        replace(ARTICLE, level="raid10", drives=("1:1", "1:2", "1:3", "1:4"), drives_per_span=None),
        replace(ARTICLE, level="raid10", drives=("1:1", "1:2", "1:3", "1:4"), drives_per_span=4),
        replace(ARTICLE, level="raid50", drives_per_span=2),
        replace(ARTICLE, level="raid1"),
        replace(ARTICLE, strip_bytes=48 * 1024),
        replace(ARTICLE, strip_bytes=512),
        replace(ARTICLE, write_cache="unknown"),
        replace(ARTICLE, name="sixteen letters!"),
        replace(ARTICLE, name="-L0"),
        replace(ARTICLE, name="a\x1b"),
        replace(ARTICLE, drive_cache="unknown"),
    ],
)
def test_a_shape_that_cannot_be_told_is_refused_before_anything_is_deleted(new: NewVolume) -> None:
    with pytest.raises(InvalidValueError):
        CLI.recreate(0, 1, new)


def test_an_activation_key_is_a_secret() -> None:
    (command,) = commands = CLI.apply_key(0, "K3Y-OF-GOLD", preview=False)
    assert command.argv[1:] == ("-ELF", "-Applykey", "key", "K3Y-OF-GOLD", "-a0", "-NoLog")
    assert (command.secret, command.mutates) == (("K3Y-OF-GOLD",), True)
    assert "GOLD" not in command.shown()
    assert CLI.flatten(commands) == ((TOOL, "-ELF", "-Applykey", "key", "***", "-a0", "-NoLog"),)


def test_a_preview_says_so() -> None:
    (command,) = CLI.apply_key(1, "KEY", preview=True)
    assert command.argv[4:] == ("KEY", "-preview", "-a1", "-NoLog")


@pytest.mark.parametrize("key", ["", " ", "-preview", "a b", "a\nb", "ä"])
def test_a_key_that_is_no_word_is_refused(key: str) -> None:
    with pytest.raises(InvalidValueError):
        CLI.apply_key(0, key, preview=True)


def test_the_vendors_own_folder_is_looked_into_first() -> None:
    assert MEGACLI_PLACES[0] == TOOL
    assert {"MegaCli64", "megacli", "CmdTool2_64"} <= set(MEGACLI)
