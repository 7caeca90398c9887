"""All that our own answers of storcli show is in the result, by expressions that know nothing of the parsers."""

from __future__ import annotations

from backends.vendors.megaraid.sizes import strip
from backends.vendors.megaraid.storcli import commands, words
from backends.vendors.megaraid.storcli.document import chosen, replies
from tests.backends.megaraid import answers
from tests.backends.megaraid.coverage import PAGE
from tests.backends.megaraid.storcli_fields import KINDS


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
    second = chosen(replies(text), 2)
    assert second is not None
    assert second.data == {"x": 1}


def test_every_word_for_a_strip_is_one_parser() -> None:
    assert {strip(f"{size}{unit}") for size, unit in ((64, " KB"), (64, "kB"), (64, " KiB"))} == {65536}
    assert words.policies("RWBD").write_cache is not None


def test_the_page_has_every_command_as_documented() -> None:
    listing = (commands.__doc__ or "").partition("\n")[2].strip()
    assert listing in PAGE.read_text()
