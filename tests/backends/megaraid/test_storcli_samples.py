"""All that our own answers of storcli show is in the result, by expressions that know nothing of the parsers."""

from __future__ import annotations

import pytest

from backends.model import State
from backends.vendors.megaraid.sizes import strip
from backends.vendors.megaraid.storcli import vocabulary
from backends.vendors.megaraid.storcli.cards import card
from backends.vendors.megaraid.storcli.document import replies, reply_about
from backends.vendors.megaraid.storcli.volumes import volumes
from tests.backends.megaraid import answers
from tests.backends.megaraid.storcli_fields import KINDS
from tests.case_loop import loop_over


def test_all_that_our_own_answers_show_is_found() -> None:
    rows = [answers.drive_row(f"245:{slot}") for slot in (1, 2, 3)]
    text = answers.answer(
        {"/c0/v1": [answers.volume_row()], "PDs for VD 1": rows, "VD1 Properties": answers.properties()}
    )
    fields = KINDS["virtual drives"](text)
    assert len(fields) >= 15
    assert all(fields.values()), fields


def test_a_recording_is_asked_for_by_the_number_of_its_card() -> None:
    text = answers.answer({}, card=0) + answers.answer({"x": 1}, card=2)
    second = reply_about(replies(text), 2)
    assert second is not None
    assert second.data == {"x": 1}


def test_every_word_for_a_strip_is_one_parser() -> None:
    assert {strip(f"{size}{unit}") for size, unit in ((64, " KB"), (64, "kB"), (64, " KiB"))} == {65536}
    assert vocabulary.policies("RWBD").write_cache is not None


@loop_over(
    ("column", "values"),
    [
        ("RaWBD", ("adaptive", "write-back", "direct")),
        ("RaAWBC", ("adaptive", "always-write-back", "cached")),
        ("RaWTD", ("adaptive", "write-through", "direct")),
        ("Ra,WB", ("adaptive", "write-back", None)),
        ("RAWBD", ("read-ahead", "always-write-back", "direct")),
        ("RWBD", ("read-ahead", "write-back", "direct")),
        ("NRWTC", ("none", "write-through", "cached")),
        ("rawbd", ("unknown", "unknown", "unknown")),
    ],
)
def test_the_small_letter_tells_adaptive_read_ahead_from_always_write_back(
    column: str, values: tuple[str | None, ...]
) -> None:
    found = vocabulary.policies(column)
    read = (found.read_ahead, found.write_cache, found.io_policy)
    assert tuple(None if word is None else word.value for word in read) == values


@pytest.mark.parametrize(("word", "state"), [("UBUnsp", State.FAILED), ("UGUnsp", State.UNASSIGNED)])
def test_an_unsupported_drive_is_as_it_was_before(word: str, state: State) -> None:
    assert vocabulary.drive_state(word, None) is state


def document_with(name: str) -> str:
    """Return an answer of storcli about one virtual drive of this name, as the tool prints it."""
    return (
        '{\n"Controllers":[\n{\n\t"Command Status" : {\n\t\t"Controller" : 0,\n\t\t"Status" : "Success"\n\t},\n'
        '\t"Response Data" : {\n\t\t"Product Name" : "Card",\n\t\t"VD LIST" : [\n\t\t\t{\n\t\t\t\t"DG/VD" : "0/0",\n'
        f'\t\t\t\t"TYPE" : "RAID1",\n\t\t\t\t"State" : "Optl",\n\t\t\t\t"Name" : "{name}"\n'
        "\t\t\t}\n\t\t]\n\t}\n}\n]\n}\n"
    )


@pytest.mark.parametrize("name", ['a"b', '"', "back\\slash", "end\\", 'two "words"', "plain"])
def test_a_name_that_the_tool_does_not_escape_hides_no_virtual_drive(name: str) -> None:
    (reply,) = replies(document_with(name))
    (volume,) = volumes(0, reply.data)
    assert (reply.card, volume.number, volume.name) == (0, 0, name)


def test_always_write_back_is_what_is_set_where_the_other_line_knows_write_back_only() -> None:
    text = document_with("x").replace('"State" : "Optl",', '"State" : "Optl",\n\t\t\t\t"Cache" : "RAWBD",')
    line = '"VD0 Properties" : {\n\t\t"Write Cache(initial setting)" : "WriteBack"\n\t\t},\n\t\t"VD LIST"'
    (reply,) = replies(text.replace('"VD LIST"', line))
    (volume,) = volumes(0, reply.data)
    assert volume.configured.write_cache is not None
    assert (volume.configured.write_cache.value, volume.in_force) == ("always-write-back", None)


def test_the_short_answer_of_version_8_has_the_firmware() -> None:
    found = card(0, {"Firmware Version": "8.1.2.3", "Package Version": "8.1.2.3-00001", "Product Name": "Card"})
    assert (found.firmware, found.package) == ("8.1.2.3", "8.1.2.3-00001")
