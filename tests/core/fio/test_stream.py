"""Documents and noise from bytes, however they were cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.fio.stream import Event, FioJsonDocument, MalformedDocument, NonJsonLine, StreamParser
from tests.core.fio.documents import direction, document, printed

DOCUMENTS = [
    document(250 * n, read=direction({1688: 10 * n, 7072: 90 * n, 99840: n}, runtime_ms=250 * n)) for n in range(1, 6)
]
STREAM = b"".join(map(printed, DOCUMENTS))


def parse(data: bytes, cuts: list[int] | None = None, limit: int | None = None) -> list[Event]:
    parser = StreamParser() if limit is None else StreamParser(limit)
    events: list[Event] = []
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts or []), len(data)]
    for start, end in itertools.pairwise(edges):
        events += parser.feed(data[start:end])
    return events + parser.close()


def documents(events: list[Event]) -> list[object]:
    return [event.data for event in events if isinstance(event, FioJsonDocument)]


def noise(events: list[Event]) -> list[str]:
    return [event.line for event in events if isinstance(event, NonJsonLine)]


def test_every_document_is_found() -> None:
    assert parse(STREAM) == [FioJsonDocument(data) for data in DOCUMENTS]


noisy = st.lists(
    st.one_of(
        st.sampled_from(
            [printed(DOCUMENTS[0]), b"{\n", b"}\n", b"fio: terminating on signal 2\n", b"\n", b'  "a": nan\n']
        ),
        st.binary(max_size=30),
    ),
    max_size=8,
).map(b"".join)


@pytest.mark.exhaustive
@given(noisy, st.lists(st.integers(min_value=0, max_value=4000), max_size=20))
def test_how_the_bytes_were_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    assert parse(data, cuts) == parse(data)


@pytest.mark.exhaustive
@given(noisy, st.integers(min_value=1, max_value=500))
def test_nor_with_a_small_limit(data: bytes, limit: int) -> None:
    assert parse(data, list(range(len(data))), limit) == parse(data, limit=limit)


foreign = st.one_of(
    st.text(max_size=40).map(str.encode), st.binary(max_size=40), st.sampled_from([b"{\n", b"}\n", b"\n}\n", b"\n{\n"])
)


@pytest.mark.exhaustive
@given(st.integers(min_value=0, max_value=len(STREAM)), foreign)
def test_foreign_text_costs_one_document_at_most(at: int, text: bytes) -> None:
    found = documents(parse(STREAM[:at] + text + STREAM[at:]))
    kept = [data for data in found if data in DOCUMENTS]
    assert len(kept) >= len(DOCUMENTS) - 1


@given(st.integers(min_value=0, max_value=len(STREAM)))
def test_a_stream_cut_off_keeps_every_complete_document(end: int) -> None:
    complete = STREAM[:end].count(b"\n}\n") + STREAM[:end].endswith(b"\n}")
    assert documents(parse(STREAM[:end])) == DOCUMENTS[:complete]


@pytest.mark.exhaustive
@given(st.integers(min_value=0, max_value=len(STREAM)), st.integers(min_value=1, max_value=300))
def test_a_lost_piece_costs_no_more_than_it_touches(start: int, length: int) -> None:
    end = min(start + length, len(STREAM))
    touched = STREAM[start:end].count(b"\n}\n") + 2
    kept = [data for data in documents(parse(STREAM[:start] + STREAM[end:])) if data in DOCUMENTS]
    assert len(kept) >= len(DOCUMENTS) - touched


@given(st.binary(max_size=400))
def test_garbage_is_noise_and_never_an_exception(data: bytes) -> None:
    assert documents(parse(data)) == []


def test_messages_around_documents_are_noise() -> None:
    data = b"fio: hello\n" + printed(DOCUMENTS[0]) + b"fio: terminating on signal 2\n" + printed(DOCUMENTS[1])
    assert noise(parse(data)) == ["fio: hello", "fio: terminating on signal 2"]


def test_foreign_lines_inside_a_document_are_taken_out_and_told() -> None:
    lines = printed(DOCUMENTS[0]).splitlines(keepends=True)
    data = b"".join([*lines[:5], b"prerun says }\n", *lines[5:]])
    assert parse(data) == [NonJsonLine("prerun says }"), FioJsonDocument(DOCUMENTS[0])]


def test_numbers_as_c_prints_them_are_null() -> None:
    data = b'{\n  "fio version" : "fio-3.33",\n  "a" : -nan,\n  "b" : [inf, nan],\n  "c" : "x: nan,"\n}\n'
    event = parse(data)[0]
    assert isinstance(event, FioJsonDocument)
    assert (event.data["a"], event.data["b"]) == (None, [None, None])


def test_control_characters_in_names_are_let_through() -> None:
    event = parse(b'{\n  "fio version" : "fio-3.33",\n  "name" : "a\tb\x07\xff"\n}\n')[0]
    assert isinstance(event, FioJsonDocument)
    assert event.data["name"] == "a\tb\x07�"


def test_a_brace_at_the_start_of_a_line_inside_a_name_does_not_end_the_document() -> None:
    data = b'{\n  "fio version" : "fio-3.33",\n  "name" : "lines\n}\n{ and }"\n}\n'
    event = parse(data)[-1]
    assert isinstance(event, FioJsonDocument)
    assert event.data["name"] == "lines\n}\n{ and }"


def test_a_document_cut_off_by_the_next_is_broken_and_the_next_is_kept() -> None:
    half = b"".join(printed(DOCUMENTS[0]).splitlines(keepends=True)[:9])
    assert parse(half + printed(DOCUMENTS[1])) == [MalformedDocument(9), FioJsonDocument(DOCUMENTS[1])]


def test_json_that_is_not_fios_is_no_document() -> None:
    assert documents(parse(b'{\n  "version" : 1\n}\n')) == []


def test_a_document_without_an_end_is_given_up_and_what_follows_is_found() -> None:
    data = b"{\n" + b'  "x": 1,\n' * 100 + b"{\n" + b"  1\n" * 400 + printed(DOCUMENTS[0])
    assert documents(parse(data, limit=len(printed(DOCUMENTS[0])) + 10)) == [DOCUMENTS[0]]


def test_nesting_too_deep_for_the_reader_is_broken() -> None:
    data = b'{\n  "fio version": ' + b"[" * 200_000 + b"]" * 200_000 + b"\n}\n"
    assert parse(data) == [MalformedDocument(3)]
