"""How much of a host is taken, and what comes of it, without any ssh."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.features.fleet.hosts.fanout import HostTask, configure
from app.features.fleet.hosts.wire_format import BYTES, LAST_WORDS, LINES, NOISE, RawResponse, parse_response
from app.features.fleet.ssh.command import OPTIONS


class Client:
    """An ssh that gives what the test says."""

    def __init__(self) -> None:
        self.worker: Any = SimpleNamespace(SNAME_STDOUT="stdout")
        self.aborted = 0

    def abort(self) -> None:
        self.aborted += 1


def told(*chunks: bytes, stream: str = "stdout") -> tuple[Client, HostTask]:
    client, talk = Client(), HostTask("n1")
    for chunk in chunks:
        talk.collect(client, stream, chunk)  # type: ignore[arg-type]
        if client.aborted:
            break
    return client, talk


def answer(talk: HostTask, capsys: pytest.CaptureFixture[str], *, late: bool = False) -> RawResponse:
    talk.ev_close(None, late)
    (line,) = capsys.readouterr().out.splitlines()
    found = parse_response(line.encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("begin", "chunk", "times"),
    [
        (b"{", b" " * 65536, BYTES // 65536),
        (b"{", b"\n" * 10_000, LINES // 10_000),
        (b"Welcome\n{", b"\n" * 10_000, LINES // 10_000),
        (b"Welcome", b"!" * 1024, NOISE // 1024),
    ],
)
def test_a_host_that_gives_too_much_is_ended_and_what_it_gave_forgotten(
    begin: bytes, chunk: bytes, times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    fine, _ = told(begin, *[chunk] * (times - 1))
    client, talk = told(begin, *[chunk] * (times + 1))
    found = answer(talk, capsys)
    assert (fine.aborted, client.aborted) == (0, 1)
    assert (found.endless, found.status, len(found.out) <= LAST_WORDS) == (True, None, True)


def test_of_error_output_the_last_words_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    client, talk = told(b"x" * 100_000, b"the end", stream="stderr")
    found = answer(talk, capsys)
    assert (client.aborted, len(found.err), found.err[-8:]) == (0, LAST_WORDS, "xthe end")


def test_a_host_whose_time_is_over_has_no_status(capsys: pytest.CaptureFixture[str]) -> None:
    _, talk = told(b"{}")
    talk.ev_hup(None, "n1", 0)
    assert answer(talk, capsys, late=True) == RawResponse(host="n1", status=None, out="{}", late=True)


def test_hosts_are_asked_directly_64_at_a_time_and_their_answers_are_not_held_back() -> None:
    told: dict[str, object] = {}
    task: Any = SimpleNamespace(set_default=told.__setitem__, set_info=told.__setitem__)
    configure(task, OPTIONS)
    assert (told["auto_tree"], told["fanout"], told["grooming_delay"], told["debug"]) == (False, 64, 0, False)
    assert "-o StrictHostKeyChecking=yes" in str(told["ssh_options"])
