"""A door of a host: what goes through it is verified, bounded, and told as a command is."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backends.errors import RaidbenchError, RefusedError, ToolFailedError, ToolTimeoutError
from backends.host import Command, Completed, Host, WriteDenied
from backends.system.https import request
from backends.system.https.endpoint import HttpsEndpoint
from backends.system.https.host import WebHost
from backends.system.recorded import RecordingHost, ReplayHost
from backends.system.wrapped import DryRunHost, ExecutedCommand, LoggingHost, ReadOnlyHost
from tests.backends.fakes import FakeHost
from tests.backends.santricity.services import DOOR, ROOT, SECRET, PlayedServer, PlayedServices

SERVED, ELSEWHERE = (Path(__file__).parent / name for name in ("served.pem", "elsewhere.pem"))
READ = Command(argv=(DOOR, "GET", ROOT), timeout=120)
CHANGE = Command(
    argv=(DOOR, "POST", f"{ROOT}/1/volumes/{PlayedServices().reference}", '{"cacheSettings": {}}'),
    timeout=120,
    mutates=True,
)


@pytest.fixture
def server() -> Iterator[PlayedServer]:
    with PlayedServer(PlayedServices()).running() as running:
        yield running


@pytest.fixture
def encrypted() -> Iterator[PlayedServer]:
    with PlayedServer(PlayedServices()).running(SERVED) as running:
        yield running


def host_with(door: HttpsEndpoint) -> WebHost:
    return WebHost(FakeHost({}), (door,))


def secured(server: PlayedServer, folder: Path, **more: object) -> WebHost:
    return host_with(server.door(folder, url=f"https://127.0.0.1:{server.port}", **more))


def sha256(file: Path) -> str:
    return hashlib.sha256(
        ssl.PEM_cert_to_DER_cert(file.read_text()[file.read_text().index("-----BEGIN CERT") :])
    ).hexdigest()


async def refused(host: Host, command: Command = READ) -> RaidbenchError:
    with pytest.raises(RaidbenchError) as caught:
        await host.run(command)
    return caught.value


async def test_a_get_is_answered_like_a_command(server: PlayedServer, tmp_path: Path) -> None:
    done = await host_with(server.door(tmp_path)).run(READ)
    assert (done.returncode, done.stderr) == (0, "HTTP 200 OK")
    assert '"name": "array1"' in done.stdout


async def test_any_answer_but_a_good_one_has_an_exit_status(server: PlayedServer, tmp_path: Path) -> None:
    done = await host_with(server.door(tmp_path)).run(replace(READ, argv=(DOOR, "GET", "/nothing")))
    assert (done.returncode, done.stderr) == (22, "HTTP 404 Not Found")


async def test_all_else_is_the_wrapped_host(tmp_path: Path) -> None:
    inner = FakeHost({"/sys/x": "1"}, tools={"true": Completed(returncode=7, stdout="", stderr="")})
    host = WebHost(inner, (PlayedServer(PlayedServices()).door(tmp_path),))
    assert (await host.run(Command(argv=("/bin/true",)))).returncode == 7
    assert await host.list("/sys/*") == ("/sys/x",)
    assert await host.list("/redfish:/*") == ()


async def test_web_hosts_are_listed_by_kind_and_may_be_tried_by_anybody(tmp_path: Path) -> None:
    one = PlayedServer(PlayedServices()).door(tmp_path)
    host = WebHost(FakeHost({}, root=False), (one, replace(one, name="a"), replace(one, kind="other")))
    assert await host.list("/santricity:/*") == ("/santricity:/a", DOOR)
    assert await host.writable(DOOR) is None
    assert await host.writable("/santricity:/none") is not None


@pytest.mark.parametrize(
    "command",
    [
        replace(READ, mutates=True),
        replace(CHANGE, mutates=False),
        replace(READ, argv=(DOOR, "DELETE", ROOT)),
        replace(CHANGE, argv=(*CHANGE.argv, "more")),
    ],
)
async def test_only_a_get_is_a_read(server: PlayedServer, tmp_path: Path, command: Command) -> None:
    assert "Invalid request" in (await refused(host_with(server.door(tmp_path)), command)).message
    assert server.services.asked == []


async def test_nothing_is_changed_read_only_and_in_a_dry_run(server: PlayedServer, tmp_path: Path) -> None:
    for wrapped in (ReadOnlyHost, DryRunHost, RecordingHost):
        assert isinstance(await refused(wrapped(host_with(server.door(tmp_path))), CHANGE), RefusedError)
    assert server.services.asked == []
    assert await ReadOnlyHost(host_with(server.door(tmp_path))).writable(DOOR) is WriteDenied.READ_ONLY
    assert await DryRunHost(host_with(server.door(tmp_path))).writable(DOOR) is None


async def test_a_recording_answers_without_the_network_and_without_the_address(
    server: PlayedServer, tmp_path: Path
) -> None:
    recording = RecordingHost(host_with(server.door(tmp_path)))
    said = (await recording.run(READ)).stdout
    assert await recording.list("/santricity:/*") == (DOOR,)
    recording.save(tmp_path / "machine")
    replay = ReplayHost(tmp_path / "machine")
    assert (await replay.run(READ)).stdout == said
    assert await replay.list("/santricity:/*") == (DOOR,)
    written = (tmp_path / "machine" / "machine.json").read_text()
    assert SECRET not in written
    assert str(server.port) not in written


async def test_the_password_goes_to_the_server_and_nowhere_else(server: PlayedServer, tmp_path: Path) -> None:
    told: list[ExecutedCommand] = []
    host = LoggingHost(host_with(server.door(tmp_path)), told.append)
    await host.run(READ)
    await host.run(CHANGE)
    assert all(head["Authorization"].startswith("Basic ") for head in server.heads)
    assert [one.mutates for one in told] == [False, True]
    assert not any(SECRET in repr(one) or server.heads[0]["Authorization"] in repr(one) for one in told)
    assert SECRET not in repr(vars(host))


async def test_a_certificate_that_is_vouched_for_is_good(encrypted: PlayedServer, tmp_path: Path) -> None:
    assert (await secured(encrypted, tmp_path, ca_file=str(SERVED)).run(READ)).returncode == 0


async def test_a_certificate_that_nobody_vouches_for_is_refused_before_a_word_is_sent(
    encrypted: PlayedServer, tmp_path: Path
) -> None:
    error = await refused(secured(encrypted, tmp_path))
    assert "is not trusted: self-signed certificate" in error.message.replace("self signed", "self-signed")
    assert sha256(SERVED) in error.hint
    assert encrypted.heads == []


async def test_its_fingerprint_is_enough(encrypted: PlayedServer, tmp_path: Path) -> None:
    assert (await secured(encrypted, tmp_path, fingerprint=sha256(SERVED)).run(READ)).returncode == 0


async def test_another_certificate_than_the_named_one_gets_no_password(encrypted: PlayedServer, tmp_path: Path) -> None:
    error = await refused(secured(encrypted, tmp_path, fingerprint=sha256(ELSEWHERE)))
    assert "does not match the fingerprint" in error.message
    assert encrypted.heads == []


async def test_a_certificate_for_another_name_is_refused(tmp_path: Path) -> None:
    with PlayedServer(PlayedServices()).running(ELSEWHERE) as server:
        error = await refused(secured(server, tmp_path, ca_file=str(ELSEWHERE)))
        assert "is not trusted" in error.message
        assert server.heads == []


async def test_what_speaks_no_tls_gets_no_password(server: PlayedServer, tmp_path: Path) -> None:
    error = await refused(secured(server, tmp_path))
    assert "offers no supported encryption" in error.message or "does not respond" in error.message
    assert server.heads == []


async def test_a_file_without_certificates_vouches_for_nothing(encrypted: PlayedServer, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("nothing\n")
    error = await refused(secured(encrypted, tmp_path, ca_file=str(tmp_path / "empty")))
    assert error.message.endswith("contains no certificates.")


async def test_nobody_there_is_told_as_such(tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        gone = PlayedServer(PlayedServices())
        gone.port = taken.getsockname()[1]
        error = await refused(host_with(gone.door(tmp_path)))
    assert isinstance(error, ToolFailedError)
    assert error.message.endswith("does not respond: Connection refused.")


@pytest.mark.parametrize("how", ["silent", "drip"])
async def test_who_does_not_answer_in_time_is_given_up(server: PlayedServer, tmp_path: Path, how: str) -> None:
    if how == "silent":
        server.silent.set()
    server.drip = how == "drip"
    with pytest.raises(ToolTimeoutError, match="did not respond within 1 s"):
        await host_with(server.door(tmp_path)).run(replace(READ, timeout=1.0))
    server.drip = False


async def test_a_change_that_is_cancelled_is_waited_for(server: PlayedServer, tmp_path: Path) -> None:
    server.silent.set()
    running = asyncio.ensure_future(host_with(server.door(tmp_path)).run(CHANGE))
    while not server.heads:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.sleep(0.05)
    assert not running.done()
    server.silent.clear()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [method for method, _, _ in server.services.asked] == ["POST"]


@pytest.mark.parametrize(
    "raw", [b"", b"\0" * 100, b"HTTP/1.1 2000 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX" + b"x" * 70_000]
)
async def test_what_is_no_http_is_told_as_such(server: PlayedServer, tmp_path: Path, raw: bytes) -> None:
    server.raw = raw
    assert "does not respond" in (await refused(host_with(server.door(tmp_path)))).message


async def test_an_answer_that_breaks_off_is_no_answer(server: PlayedServer, tmp_path: Path) -> None:
    server.raw = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[]"
    assert "does not respond: the response is incomplete" in (await refused(host_with(server.door(tmp_path)))).message


async def test_an_answer_that_never_ends_is_refused(server: PlayedServer, tmp_path: Path) -> None:
    server.raw = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (17 << 20)
    assert "is larger than 16 MiB" in (await refused(host_with(server.door(tmp_path)))).message


async def test_what_leads_elsewhere_is_not_followed(server: PlayedServer, tmp_path: Path) -> None:
    server.raw = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    assert (await host_with(server.door(tmp_path)).run(READ)).stderr == "HTTP 302 Found"


@pytest.mark.parametrize("path", ["/a b", "/a\r\nX: y", "/\u00e4"])
async def test_a_path_is_no_way_into_the_head(server: PlayedServer, tmp_path: Path, path: str) -> None:
    error = await refused(host_with(server.door(tmp_path)), replace(READ, argv=(DOOR, "GET", path)))
    assert "Invalid request" in error.message
    assert server.heads == []


async def test_a_program_is_streamed_and_a_door_is_not(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="runs no programs"):
        host_with(PlayedServer(PlayedServices()).door(tmp_path)).stream(READ)


async def test_an_answer_of_more_than_one_choice_is_not_a_good_one(server: PlayedServer, tmp_path: Path) -> None:
    server.raw = b"HTTP/1.1 300 Multiple Choices\r\nContent-Length: 0\r\n\r\n"
    assert (await host_with(server.door(tmp_path)).run(READ)).returncode == 22


async def test_a_change_that_was_given_up_while_it_was_connecting_is_never_sent(
    server: PlayedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, given_up = request._Call._connect, threading.Event()

    def slowly(call: request._Call) -> http.client.HTTPConnection:
        connection = connected(call)
        given_up.wait(120)
        return connection

    monkeypatch.setattr(request._Call, "_connect", slowly)
    with pytest.raises(ToolTimeoutError):
        await host_with(server.door(tmp_path)).run(replace(CHANGE, timeout=0.5))
    (late,) = (one for one in threading.enumerate() if one.name == "POST to lab")
    given_up.set()
    await asyncio.to_thread(late.join, 120)
    assert not late.is_alive()
    assert server.heads == []
