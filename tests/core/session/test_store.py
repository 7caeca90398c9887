"""A session on disk loses nothing that was complete, and knows what it cannot read."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from app.core.session import event_codec
from app.core.session.events import ChangeIntended, NoteAdded, SessionEnded
from app.core.session.folders import LOG, session_folders
from app.core.session.journal import read_records
from app.core.session.paths import Paths
from app.core.session.store import SessionLog, create_session_folder, find_continuable, latest_session, load
from backends.errors import NotFoundError, StorageError
from tests.case_loop import loop_over
from tests.core.doubles import Bench, FakeBackend
from tests.core.generated import KINDS, logged_events, values
from tests.core.session.test_state import STARTED, ended, intended, run

ROOT = Path(__file__).parents[3]
EVENTS = (STARTED, intended(), ended("verified"), run(), NoteAdded(at=9.0, text='"\n\x1b'), SessionEnded(at=10.0))


def written(folder: Path) -> Path:
    log = SessionLog(folder)
    for event in EVENTS:
        log.append(event)
    log.close()
    return folder / LOG


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As if the filesystem took `size` bytes of a file and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# -- one line ------------------------------------------------------------------------------------------------------


@pytest.mark.long
@loop_over("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_comes_back_equal(kind: type[Any]) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(values(kind))
    def comes_back(event: Any) -> None:
        if isinstance(event, ChangeIntended):  # those fields are never logged
            event = replace(event, change=replace(event.change, lock="", found=None, members=()))
        assert event_codec.decode(event_codec.encode(event)) == event

    comes_back()


@pytest.mark.long
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(logged_events())
def test_an_event_is_one_line_of_ascii(event: Any) -> None:
    line = event_codec.encode(event)
    assert line.isascii()
    assert "\n" not in line


def test_a_field_of_a_later_version_is_ignored() -> None:
    line = json.dumps({**json.loads(event_codec.encode(EVENTS[4])), "colour": {"deep": [1]}})
    assert event_codec.decode(line) == EVENTS[4]


@loop_over(
    "line",
    ["", "null", "[]", '"x"', "{}", '{"event":[]}', '{"event":"note-added"}', "\0\0\0", "[" * 100_000, '{"event":"x"}'],
    ids=lambda line: line[:12] or "empty",
)
def test_a_line_that_is_no_event_is_none(line: str) -> None:
    assert event_codec.decode(line) is None


# -- a torn log ----------------------------------------------------------------------------------------------------


def test_a_log_cut_at_any_byte_keeps_every_complete_event(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole").read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    file = tmp_path / LOG
    for length in range(len(whole) + 1):
        file.write_bytes(whole[:length])
        complete = sum(end <= length for end in ends)
        assert load(tmp_path).session.events == EVENTS[:complete], f"cut at {length}"


def test_an_event_after_a_torn_line_is_read_wherever_the_line_was_torn(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole").read_bytes().split(b"\n")[1]
    for length in range(1, len(whole)):
        (tmp_path / LOG).write_bytes(whole[:length])
        log = SessionLog(tmp_path)
        log.append(EVENTS[4])
        log.close()
        assert load(tmp_path).session.events == (EVENTS[4],), f"torn at {length}"


def test_a_torn_line_is_counted(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_bytes(file.read_bytes()[:-10])
    assert load(tmp_path).passed_over == 1


def test_an_unknown_event_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text('{"event":"teleported","at":1}\n' + file.read_text())
    loaded = load(tmp_path)
    assert (loaded.passed_over, loaded.session.events) == (1, EVENTS)


def test_zeros_left_by_a_power_cut_are_passed_over(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_bytes(file.read_bytes() + b"\0" * 4096)
    assert load(tmp_path).session.events == EVENTS


def test_a_log_continued_by_another_program_is_one_session(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path)
    assert load(tmp_path).session.events == (*EVENTS, *EVENTS)


def test_a_folder_without_a_log_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load(tmp_path)


def test_a_log_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / LOG).mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        load(tmp_path)


# -- who may write it ----------------------------------------------------------------------------------------------


def test_a_session_has_one_writer(tmp_path: Path) -> None:
    log = SessionLog(tmp_path)
    with pytest.raises(BlockingIOError):
        SessionLog(tmp_path)
    log.close()


def test_a_closed_session_can_be_continued(tmp_path: Path) -> None:
    SessionLog(tmp_path).close()
    SessionLog(tmp_path).close()


def test_a_closed_log_writes_into_no_other_file(tmp_path: Path) -> None:
    log = SessionLog(tmp_path / "one")
    number = log._descriptor
    log.close()
    other = os.open(tmp_path / "precious", os.O_RDWR | os.O_CREAT)
    os.dup2(other, number)  # the number is given again, as the kernel does
    with pytest.raises(StorageError):
        log.append(EVENTS[0])
    os.close(other)
    if number != other:
        os.close(number)
    assert (tmp_path / "precious").read_bytes() == b""


def test_only_its_owner_may_read_a_session(tmp_path: Path) -> None:
    file = written(tmp_path / "session")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_link_in_the_logs_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / LOG).symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError):
        SessionLog(tmp_path)


def test_a_file_in_the_folders_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "session").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        SessionLog(tmp_path / "session")


# -- where there is no room ----------------------------------------------------------------------------------------


def test_an_event_that_does_not_fit_is_refused_at_whatever_byte_room_ends(tmp_path: Path) -> None:
    line = event_codec.encode(EVENTS[1]).encode() + b"\n"
    for room in range(0, len(line), 7):
        log = SessionLog(tmp_path / str(room))
        with files_of_at_most(room), pytest.raises(StorageError):
            log.append(EVENTS[1])
        log.close()


def test_after_an_event_that_did_not_fit_the_next_stands_on_its_own_line(tmp_path: Path) -> None:
    log = SessionLog(tmp_path)
    with files_of_at_most(20), pytest.raises(StorageError):
        log.append(EVENTS[1])
    log.append(EVENTS[4])
    log.close()
    assert load(tmp_path).session.events == (EVENTS[4],)


async def test_at_whatever_byte_the_journals_room_ends_nothing_is_set(tmp_path: Path) -> None:
    probe = Bench(tmp_path / "probe")
    await probe.set("256")
    size = probe.journal.file.read_bytes().index(b"\n") - len("123456")  # a clock may have fewer digits the next time
    for room in range(0, size, 23):
        bench = Bench(tmp_path / f"{room:05}", FakeBackend())
        with files_of_at_most(room), pytest.raises(StorageError):
            await bench.set("256")
        assert bench.backend.applied == [], f"room for {room} bytes"


_ON_A_BAD_DISK = """
import asyncio, os, subprocess, sys
from pathlib import Path
from backends.errors import StorageError
from tests.core.doubles import Bench

folder, state = Path(sys.argv[1]), sys.argv[2]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
if state == "full":
    try:
        with open(folder / "filler", "wb", buffering=0) as filler:
            while filler.write(b"x" * 4096):
                pass
    except OSError:
        pass
else:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
bench = Bench(folder)
bench.locks = folder.parent / "locks"
bench.changer.locks = bench.locks
try:
    asyncio.run(bench.set("256"))
except StorageError as error:
    print(f"refused after {len(bench.backend.applied)} sets: {error}")
"""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a filesystem to fill")
@pytest.mark.parametrize(("state", "word"), [("full", "No space left"), ("read-only", "Read-only file system")])
def test_a_bad_disk_refuses_a_change_before_anything_is_set(tmp_path: Path, state: str, word: str) -> None:
    (tmp_path / "disk").mkdir()
    command = ["unshare", "-m", sys.executable, "-c", _ON_A_BAD_DISK, str(tmp_path / "disk"), state]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no private mounts here: {done.stderr.strip()}")
    assert done.stdout.startswith(f"refused after 0 sets: The journal cannot be written: {word}"), done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
async def test_a_folder_without_the_right_to_write_refuses_a_change(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "journal").mkdir(mode=0o500)
    with pytest.raises(StorageError):
        await bench.set("256")
    assert (bench.backend.applied, read_records(bench.journal.file)) == ([], [])


# -- which one -----------------------------------------------------------------------------------------------------


def of(sessions: Path) -> Paths:
    return Paths(sessions=sessions, journal=sessions, locks=sessions, config=sessions)


def aged(folder: Path, seconds: float) -> Path:
    file = written(folder)
    when = time.time() - seconds
    os.utime(file, (when, when))
    return folder


def test_sessions_come_newest_first(tmp_path: Path) -> None:
    old, new = aged(tmp_path / "old", 100), aged(tmp_path / "new", 10)
    assert (session_folders(of(tmp_path)), latest_session(of(tmp_path))) == ([new, old], new)


def test_what_is_no_session_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "odd" / LOG).mkdir(parents=True)
    assert session_folders(of(tmp_path)) == []


def test_without_a_folder_there_are_no_sessions(tmp_path: Path) -> None:
    assert session_folders(of(tmp_path / "none")) == []


@pytest.mark.parametrize(("age", "goes_on"), [(60, True), (13 * 3600, False)])
def test_a_command_goes_on_with_a_session_used_lately(tmp_path: Path, age: float, goes_on: bool) -> None:
    folder = aged(tmp_path / "last", age)
    assert find_continuable(of(tmp_path), host="apricot", simulated=False) == (folder if goes_on else None)


@pytest.mark.parametrize(("host", "simulated"), [("banana", False), ("apricot", True)])
def test_a_command_does_not_go_on_with_a_session_of_another_machine(tmp_path: Path, host: str, simulated: bool) -> None:
    aged(tmp_path / "last", 60)
    assert find_continuable(of(tmp_path), host=host, simulated=simulated) is None


def test_a_command_goes_on_with_its_own_session_though_another_machines_is_newer(tmp_path: Path) -> None:
    own, other = aged(tmp_path / "own", 60), aged(tmp_path / "other", 10)
    text = (other / LOG).read_text().replace("apricot", "banana")
    (other / LOG).write_text(text)
    assert find_continuable(of(tmp_path), host="apricot", simulated=False) == own


def test_two_sessions_of_one_second_have_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda form: "2026-01-02-030405")
    names = [create_session_folder(tmp_path / "sessions").name for _ in range(3)]
    assert names == ["2026-01-02-030405", "2026-01-02-030405-2", "2026-01-02-030405-3"]


def test_a_place_for_sessions_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "sessions").touch()
    with pytest.raises(StorageError, match="cannot be written"):
        create_session_folder(tmp_path / "sessions")
