"""A recorded machine answers as the live one did, and gives no serial away."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from backends.errors import InvalidValueError, NotFoundError, RefusedError, ToolMissingError
from backends.host import Command, Host
from backends.redaction import Redactor
from backends.system.local import LocalHost
from backends.system.recorded import RecordingHost, ReplayHost

SAY = Command(argv=(sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))


def machine(folder: Path, **parts: Any) -> ReplayHost:
    (folder / "machine.json").write_text(json.dumps({"format": 1, "name": "apricot", "root": True, **parts}))
    return ReplayHost(folder)


async def answers(host: Host, folder: Path) -> list[object]:
    """One of every question."""
    done = await host.run(SAY)
    return [
        (done.returncode, done.stdout, done.stderr),
        await host.read(str(folder / "a")),
        await host.read(str(folder / "missing")),
        dict(await host.read_many((str(folder / "a"), str(folder / "missing")))),
        await host.list(str(folder / "*")),
        await host.list(str(folder / "none*")),
        await host.link(str(folder / "link")),
        await host.link(str(folder / "missing")),
        await host.stat(str(folder / "a")),
        await host.stat("/dev/null"),
        await host.stat(str(folder / "missing")),
        await host.writable(str(folder / "a")),
        await host.writable(str(folder / "missing")),
        host.which(("sh",)),
        host.which(("no-such-tool", "sh")),
        host.which(("no-such-tool",)),
        host.name,
        host.is_root,
    ]


async def test_a_replay_answers_as_the_machine_did(tmp_path: Path) -> None:
    live = tmp_path / "live"
    live.mkdir()
    (live / "a").write_text("1 [none] ünï \udcff\n", encoding="utf-8", errors="surrogateescape")
    (live / "link").symlink_to("a")
    recording = RecordingHost(LocalHost())
    heard = await answers(recording, live)
    recording.save(tmp_path / "machine")
    assert await answers(ReplayHost(tmp_path / "machine"), live) == heard


async def test_a_replay_needs_nothing_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    recording = RecordingHost(LocalHost())
    await recording.read(str(tmp_path / "a"))
    recording.save(tmp_path / "machine")
    (tmp_path / "a").unlink()
    assert await ReplayHost(tmp_path / "machine").read(str(tmp_path / "a")) == "1"


CHANGES: list[Callable[[Host], Awaitable[object]]] = [
    lambda host: host.run(Command(argv=("/bin/true",), mutates=True)),
    lambda host: host.write("/dev/null", "1"),
    lambda host: host.install("/no/such/file", b"1", before=None),
]


@pytest.mark.parametrize("change", CHANGES, ids=["run", "write", "install"])
async def test_a_recording_changes_nothing(change: Callable[[Host], Awaitable[object]]) -> None:
    with pytest.raises(RefusedError):
        await change(RecordingHost(LocalHost()))


# -- secrets ---------------------------------------------------------------------------------------------------------


async def test_a_secret_is_in_no_part_of_the_folder(tmp_path: Path) -> None:
    serial = "WD-WX1234567"
    (tmp_path / f"ata-{serial}").write_text(f"serial {serial}")
    recording = RecordingHost(LocalHost())
    await recording.read(str(tmp_path / f"ata-{serial}"))
    await recording.list(str(tmp_path / "*"))
    await recording.stat(str(tmp_path / f"ata-{serial}"))
    await recording.run(Command(argv=("/bin/echo", serial)))
    recording.save(tmp_path / "machine", Redactor(serials=(serial,)))
    assert serial not in (tmp_path / "machine" / "machine.json").read_text()


async def test_a_masked_serial_is_the_same_wherever_it_stands(tmp_path: Path) -> None:
    serial = "WD-WX1234567"
    (tmp_path / f"ata-{serial}").write_text(serial)
    recording = RecordingHost(LocalHost())
    await recording.read(str(tmp_path / f"ata-{serial}"))
    redactor = Redactor(serials=(serial,), patterns=False)
    recording.save(tmp_path / "machine", redactor)
    masked = redactor.text(serial)
    assert await ReplayHost(tmp_path / "machine").read(str(tmp_path / f"ata-{masked}")) == masked


@pytest.mark.parametrize("secret", ["files", "name", "1", "", "format", "kind", "argv"])
async def test_a_serial_that_looks_like_our_own_words_spoils_nothing(tmp_path: Path, secret: str) -> None:
    recording = RecordingHost(LocalHost())
    await recording.stat("/dev/null")
    await recording.run(Command(argv=("/bin/echo", "hello")))
    recording.save(tmp_path / "machine", Redactor(serials=(secret,)))
    assert await ReplayHost(tmp_path / "machine").stat("/dev/null") is not None


# -- replaying -------------------------------------------------------------------------------------------------------


async def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    host = machine(tmp_path, files={"/sys/nr_requests": "128"})
    await host.write("/sys/nr_requests", "256")
    assert await host.read("/sys/nr_requests") == "256"


async def test_a_file_of_choices_moves_its_brackets(tmp_path: Path) -> None:
    host = machine(tmp_path, files={"/sys/scheduler": "[none] mq-deadline kyber"})
    await host.write("/sys/scheduler", "kyber")
    assert await host.read("/sys/scheduler") == "none mq-deadline [kyber]"


async def test_writing_changes_nothing_on_disk(tmp_path: Path) -> None:
    await machine(tmp_path, files={"/sys/a": "1"}).write("/sys/a", "2")
    assert await ReplayHost(tmp_path).read("/sys/a") == "1"


async def test_a_file_that_was_not_recorded_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        await machine(tmp_path).write("/sys/a", "2")


async def test_an_installed_file_is_there_until_it_is_removed(tmp_path: Path) -> None:
    host = machine(tmp_path)
    await host.install("/etc/x", b"rule", before=None)
    there = await host.read("/etc/x")
    await host.install("/etc/x", b"", before=b"rule")
    assert (there, await host.read("/etc/x")) == ("rule", None)


async def test_a_command_with_other_words_was_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ToolMissingError):
        await machine(tmp_path).run(Command(argv=("/opt/storcli", "show")))


async def test_a_pattern_nobody_asked_for_matches_among_the_files(tmp_path: Path) -> None:
    host = machine(tmp_path, files={"/sys/block/sda/size": "1", "/sys/block/sdb/size": "2", "/proc/x": "3"})
    assert await host.list("/sys/block/*/size") == ("/sys/block/sda/size", "/sys/block/sdb/size")


@pytest.mark.parametrize(("root", "why"), [(True, None), (False, "needs root")])
async def test_a_recorded_file_is_writable_for_root(tmp_path: Path, root: bool, why: str | None) -> None:
    assert await machine(tmp_path, root=root, files={"/sys/a": "1"}).writable("/sys/a") == why


def test_a_recording_is_marked_as_not_the_machine(tmp_path: Path) -> None:
    assert machine(tmp_path).simulated


def test_a_hostile_host_name_is_cleaned(tmp_path: Path) -> None:
    assert machine(tmp_path, name="\x1b[31mx").name == "\ufffd[31mx"


# -- damage ----------------------------------------------------------------------------------------------------------


def test_a_folder_without_a_machine_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        ReplayHost(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        '{"format": 0}',
        '{"format": "2"}',
        '{"format": 1, "files": 7}',
        '{"format": 1, "files": ["a"]}',
        '{"format": 1, "commands": [{}]}',
        '{"format": 1, "commands": [7]}',
        '{"format": 1, "commands": 7}',
        '{"format": 1, "commands": [{"argv": [1]}]}',
        "[" * 200_000,
        '{"format": 1, "\ud800": 1}',
    ],
    ids=lambda text: ascii(text[:40]),
)
def test_a_damaged_machine_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "machine.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidValueError):
        ReplayHost(tmp_path)
