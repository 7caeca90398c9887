"""The parsers of nvme-cli on the shapes of its versions: the same facts from each."""

from __future__ import annotations

import pytest

from backends.host import Completed
from backends.vendors.nvme.facts import LbaFormat, PowerState
from backends.vendors.nvme.identify import (
    parse_changeable,
    parse_id_ctrl,
    parse_id_ns,
    parse_list_ns,
    parse_smart_log,
    parse_value,
    whole,
)
from backends.vendors.nvme.tool import refusal
from tests.backends.nvme import texts
from tests.case_loop import loop_over


def test_a_controller_from_json() -> None:
    found = parse_id_ctrl(texts.ID_CTRL_JSON)
    assert (found.serial, found.model, found.firmware) == ("S123", "ACME SSD 9", "1.0")
    assert (found.vwc, found.fna, found.oacs, found.oncs) == (7, 4, 23, 95)
    assert found.warning_kelvin == 357


def test_power_states_from_json_with_flags_and_with_words_and_from_text() -> None:
    idle = PowerState(number=1, watts=0.07, operational=False, entry_us=4000, exit_us=10000)
    assert parse_id_ctrl(texts.ID_CTRL_JSON).power_states[1] == idle
    assert parse_id_ctrl(texts.ID_CTRL_TEXT).power_states[1] == idle
    newer = PowerState(number=1, watts=0.005, operational=False, entry_us=500, exit_us=9500)
    assert parse_id_ctrl(texts.ID_CTRL_WORDS_JSON).power_states[1] == newer
    assert parse_id_ctrl(texts.ID_CTRL_JSON).power_states[0].watts == 5.0


@pytest.mark.parametrize("word", ["enlat:16", "exlat:4"])
def test_a_latency_that_no_controller_can_have_is_no_part_of_it(word: str) -> None:
    state = parse_id_ctrl(texts.ID_CTRL_TEXT.replace(word, f"{word}446744073709551616")).power_states[0]
    assert (state.entry_us if word == "enlat:16" else state.exit_us) is None


def test_a_controller_from_text_with_its_explanations() -> None:
    found = parse_id_ctrl(texts.ID_CTRL_TEXT)
    assert (found.serial, found.vwc, found.oacs, found.oncs) == ("S123", 7, 0x10A, 0x15D)
    assert (found.warning_kelvin, found.has_cache) == (343, True)


def test_a_drive_whose_cache_bit_is_0_has_no_cache_whatever_the_other_bits_say() -> None:
    assert parse_id_ctrl(texts.ID_CTRL_WORDS_JSON).has_cache is False


def test_what_a_controller_does_not_say_is_unknown() -> None:
    found = parse_id_ctrl("Usage: nvme id-ctrl <device>")
    assert (found.serial, found.vwc, found.has_cache, found.power_states) == (None, None, None, ())


def test_formats_in_use_metadata_and_protection_from_json() -> None:
    found = parse_id_ns(texts.ID_NS_JSON)
    assert found.formats[1] == LbaFormat(index=1, data_bytes=4096, metadata_bytes=8, performance=0)
    assert (found.in_use, found.extended, found.shared) == (1, True, True)
    assert (found.protection, found.protection_first) == (1, True)


def test_a_format_with_a_block_size_of_0_is_none() -> None:
    assert [one.index for one in parse_id_ns(texts.ID_NS_JSON).formats] == [0, 1]


@pytest.mark.parametrize(
    ("text", "in_use", "sizes", "ranks"),
    [
        (texts.ID_NS_WORDS_JSON, 0, [512, 4096], [2, 0]),
        (texts.ID_NS_TEXT, 1, [512, 4096], [2, 0]),
        (texts.ID_NS_HUMAN, 0, [512, 4096], [1, 0]),
    ],
)
def test_formats_of_other_shapes(text: str, in_use: int, sizes: list[int], ranks: list[int]) -> None:
    found = parse_id_ns(text)
    assert [one.data_bytes for one in found.formats] == sizes
    assert [one.performance for one in found.formats] == ranks
    assert (found.in_use, found.shared, found.protection) == (in_use, False, 0)


def test_the_upper_bits_of_the_format_in_use_count_only_where_there_are_more_than_16() -> None:
    assert parse_id_ns('{"flbas":33,"nlbaf":20}').in_use == 17
    assert parse_id_ns('{"flbas":33,"nlbaf":7}').in_use == 1


def test_health_from_json_and_from_text_is_the_same() -> None:
    assert parse_smart_log(texts.SMART_TEXT) == parse_smart_log(texts.SMART_JSON)
    found = parse_smart_log(texts.SMART_JSON)
    assert (found.kelvin, found.percent_used, found.spare, found.spare_threshold) == (324, 30, 100, 5)
    assert (found.media_errors, found.warning_minutes, found.throttled_light, found.hours) == (2, 7, 3, 24424)


def test_health_with_floats_strings_and_objects_for_numbers() -> None:
    floats, strings = parse_smart_log(texts.SMART_FLOAT_JSON), parse_smart_log(texts.SMART_STRING_JSON)
    assert (floats.kelvin, floats.percent_used, floats.spare) == (310, 2, 100)
    assert (strings.kelvin, strings.percent_used, strings.media_errors, strings.critical_warning) == (323, 255, 0, 4)


def test_the_temperature_of_old_versions_is_celsius() -> None:
    assert parse_smart_log(texts.SMART_OLD_TEXT).kelvin == 39 + 273


@pytest.mark.parametrize("text", texts.FEATURE_TEXTS)
def test_a_features_value_in_every_form(text: str) -> None:
    assert parse_value(text, 6) == 1


def test_a_value_without_0x_is_hexadecimal_all_the_same() -> None:
    assert parse_value("get-feature:0x08 (Interrupt Coalescing), Current value:00000104", 8) == 0x104


def test_another_features_answer_or_another_selection_is_no_value() -> None:
    assert parse_value(texts.FEATURE_TEXTS[0], 8) is None
    assert parse_value(texts.CAPABILITY_TEXTS[0], 6) is None
    assert parse_value("NVMe status: Invalid Field in Command(0x4002)", 6) is None


@pytest.mark.parametrize("text", texts.CAPABILITY_TEXTS)
def test_whether_a_feature_can_be_changed_in_every_form(text: str) -> None:
    assert parse_changeable(text, 6) is True


def test_a_feature_of_which_nothing_is_said_may_be_changeable_or_not() -> None:
    assert parse_changeable("", 6) is None
    assert parse_changeable(texts.FEATURE_TEXTS[0], 6) is None


def test_allocated_namespaces_from_text_and_json() -> None:
    assert parse_list_ns(texts.LIST_NS_TEXT) == (1, 32)
    assert parse_list_ns(texts.LIST_NS_JSON) == (1, 32)
    assert parse_list_ns("NVMe status: Invalid Field in Command") is None


@loop_over(
    ("value", "number"),
    [
        (30, 30),
        (30.0, 30),
        ("0x1e", 30),
        ("30%", 30),
        ("1,928 (9.8 GB)", 1928),
        (" 30.0", 30),
        (-1, None),
        (2.5, None),
        ("2.5", None),
        (True, None),
        ("30x", None),
        ("N/A", None),
        (None, None),
        (1e400, None),
        (float("nan"), None),
        ({"value": {"value": 1}}, None),
    ],
)
def test_numbers(value: object, number: int | None) -> None:
    assert whole(value) == number


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (Completed(returncode=0, stdout="Success formatting namespace:1\n", stderr=""), ""),
        (
            Completed(returncode=1, stdout="", stderr="NVMe status: Feature Not Changeable: no(0x410e)\n"),
            "Feature Not Changeable: no(0x410e)",
        ),
        (
            Completed(returncode=0, stdout="NVMe Status:FEATURE_NOT_SAVEABLE(10d)\n", stderr=""),
            "FEATURE_NOT_SAVEABLE(10d)",
        ),
        (
            Completed(returncode=1, stdout="", stderr="/dev/nvme1n1: Device or resource busy\nUsage: nvme format\n"),
            "/dev/nvme1n1: Device or resource busy",
        ),
        (Completed(returncode=-9, stdout="", stderr=""), "it exited with status -9"),
    ],
)
def test_the_tools_verdict(done: Completed, words: str) -> None:
    assert refusal(done) == words
