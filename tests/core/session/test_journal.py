"""The journal keeps every acknowledged record, whatever happens to the file around it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session import journal as module
from app.core.session.journal import Journal, UnresolvedChange, boot_id, read_records
from backends.errors import StorageError
from backends.processes import process_start
from backends.settings import Persistence
from tests.core.doubles import planned
from tests.core.session.journal_faults import SESSION, cut_at_every_byte, filled, flip_bits, written_on_after_every_cut


def of_dead_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records written from here on look as if their process had died since."""
    monkeypatch.setattr(module, "process_start", lambda pid: "1")


def alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "process_start", process_start)


@pytest.mark.exhaustive
def test_a_journal_cut_at_any_byte_keeps_every_record_before_the_cut(tmp_path: Path) -> None:
    assert cut_at_every_byte(tmp_path, 4).notes == []


@pytest.mark.exhaustive
def test_a_record_after_a_torn_one_is_found_wherever_the_first_was_torn(tmp_path: Path) -> None:
    assert written_on_after_every_cut(tmp_path).notes == []


@pytest.mark.exhaustive
def test_a_flipped_bit_costs_at_most_the_record_it_is_in_and_changes_none(tmp_path: Path) -> None:
    assert flip_bits(tmp_path, 5000, 13).notes == []


def test_noise_of_any_kind_is_no_journal_and_no_error(tmp_path: Path) -> None:
    file = tmp_path / "journal.log"
    chance = random.Random(7)
    for _ in range(200):
        file.write_bytes(chance.randbytes(chance.randrange(600)))
        assert read_records(file) == []


def test_a_missing_journal_has_nothing_unresolved(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none").unresolved() == ()


def test_an_intent_comes_back_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = planned("128", "256", lock="block-disk0")
    of_dead_process(monkeypatch)
    Journal(tmp_path).write_intent("c1", SESSION, change)
    alive(monkeypatch)
    (intent,) = Journal(tmp_path).unresolved()
    assert intent == UnresolvedChange(
        id="c1",
        session=str(SESSION),
        at=intent.at,
        pid=os.getpid(),
        boot=boot_id(),
        start="1",
        change=replace(change, writes=(), undo=()),  # what was changed, and never how
    )


def test_an_intent_of_a_process_that_lives_is_not_unresolved(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write_intent("c1", SESSION, planned("128", "256"))
    assert journal.unresolved() == ()


def test_a_recycled_pid_does_not_hide_an_unresolved_intent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_dead_process(monkeypatch)  # our own pid, and another start time: somebody else had the number
    Journal(tmp_path).write_intent("c1", SESSION, planned("128", "256"))
    alive(monkeypatch)
    assert [intent.pid for intent in Journal(tmp_path).unresolved()] == [os.getpid()]


@pytest.mark.parametrize(
    ("persistence", "left"), [(Persistence.STORED, ["c1"]), (Persistence.LOST_AT_REBOOT, [])], ids=str
)
def test_a_reboot_resolves_only_what_a_reboot_undoes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, persistence: Persistence, left: list[str]
) -> None:
    monkeypatch.setattr(module, "boot_id", lambda: "the boot before")
    Journal(tmp_path).write_intent("c1", SESSION, planned("128", "256", persistence=persistence))
    monkeypatch.setattr(module, "boot_id", lambda: "this boot")
    assert [intent.id for intent in Journal(tmp_path).unresolved()] == left


def test_an_unreadable_boot_id_is_not_taken_for_a_reboot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_dead_process(monkeypatch)
    Journal(tmp_path).write_intent("c1", SESSION, planned("128", "256", persistence=Persistence.LOST_AT_REBOOT))
    alive(monkeypatch)
    monkeypatch.setattr(module, "boot_id", lambda: "")
    assert [intent.id for intent in Journal(tmp_path).unresolved()] == ["c1"]


def test_unresolved_intents_come_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_dead_process(monkeypatch)
    for name in ("first", "second", "third"):
        Journal(tmp_path).write_intent(name, SESSION, planned("128", "256"))
    alive(monkeypatch)
    assert [intent.id for intent in Journal(tmp_path).unresolved()] == ["third", "second", "first"]


def test_the_same_change_id_in_two_sessions_is_two_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_dead_process(monkeypatch)
    journal = Journal(tmp_path)
    journal.write_intent("c1", SESSION, planned("128", "256"))
    journal.write_intent("c1", Path("/sessions/two"), planned("128", "256"))
    journal.write_outcome("c1", SESSION, "verified")
    alive(monkeypatch)
    assert [intent.session for intent in journal.unresolved()] == ["/sessions/two"]


@pytest.mark.parametrize("word", ['{"pid":1e999}', '{"undo":7}', '{"target":{"x":1}}', '{"persistence":"eternal"}'])
def test_a_record_of_another_shape_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    import json
    import zlib

    of_dead_process(monkeypatch)
    journal = Journal(tmp_path)
    journal.write_intent("c1", SESSION, planned("128", "256"))
    record = read_records(journal.file)[0] | json.loads(word) | {"id": "c2"}
    body = json.dumps(record).encode()
    with journal.file.open("ab") as file:
        file.write(b"%08x %d %s\n" % (zlib.crc32(body), len(body), body))
    alive(monkeypatch)
    assert [intent.id for intent in journal.unresolved()] == ["c1"]


def test_only_its_owner_may_read_the_journal(tmp_path: Path) -> None:
    file = filled(tmp_path / "journal").file
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_link_in_the_journals_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "journal.log").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError):
        Journal(tmp_path / "journal").write_intent("c1", SESSION, planned("128", "256"))


def test_a_file_in_the_folders_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StorageError, match=r"cannot be written: .*\. Nothing was changed"):
        Journal(tmp_path / "journal").write_intent("c1", SESSION, planned("128", "256"))


def test_a_short_write_is_refused_and_the_next_record_stands_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = filled(tmp_path, 1)
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:40]))
    with pytest.raises(StorageError, match="Nothing was changed"):
        journal.write_intent("torn", SESSION, planned("128", "256"))
    monkeypatch.undo()
    journal.write_outcome("next", SESSION, "kept")
    assert [record["id"] for record in read_records(journal.file)] == ["c0", "c0", "next"]


_APPLIER = """
import sys
from pathlib import Path
from app.core.session.journal import Journal
from tests.core.doubles import planned
from tests.core.session.journal_faults import SESSION, cut_at_every_byte, filled, flip_bits, written_on_after_every_cut

journal, setting = Journal(Path(sys.argv[1])), Path(sys.argv[2])
def tell(word):
    sys.stdout.write(word + "\\n")
    sys.stdout.flush()
for number in range(1, 100000):
    before = setting.read_text() if setting.exists() else "0"
    journal.write_intent(f"c{number}", Path("/sessions/one"), planned(before, str(number)))
    tell(f"intent c{number}")
    setting.write_text(str(number))
    journal.write_outcome(f"c{number}", Path("/sessions/one"), "verified")
    tell(f"outcome c{number}")
"""


@pytest.mark.exhaustive
def test_sixty_kills_at_random_points_lose_no_record_and_invent_none(tmp_path: Path) -> None:
    """Each time: everything acknowledged is in the journal, and an intent is open exactly if its outcome is not."""
    chance = random.Random(60)
    for turn in range(60):
        folder = tmp_path / str(turn)
        folder.mkdir()
        applier = subprocess.Popen(
            [sys.executable, "-c", _APPLIER, str(folder / "journal"), str(folder / "setting")],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert applier.stdout is not None
        told = [applier.stdout.readline().strip() for _ in range(chance.randrange(1, 12))]
        applier.send_signal(signal.SIGKILL)
        told += [line.strip() for line in applier.stdout if line.endswith("\n")]
        applier.wait()
        applier.stdout.close()
        journal = Journal(folder / "journal")
        kept = [f"{record['kind']} {record['id']}" for record in read_records(journal.file)]
        assert kept[: len(told)] == told
        assert len(kept) <= len(told) + 1
        open_ = [] if kept[-1].startswith("outcome") else [kept[-1].split()[1]]
        assert [intent.id for intent in journal.unresolved()] == open_


def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what is fsynced from here on, in order."""
    found: list[str] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    return found


def test_a_new_journal_is_on_disk_with_its_name_before_anything_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = synced(monkeypatch)
    Journal(tmp_path / "state").write_intent("c1", SESSION, planned("128", "256"))
    assert found == ["journal.log", "state"]


def test_every_later_record_is_on_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = filled(tmp_path, 1)
    found = synced(monkeypatch)
    journal.write_outcome("c1", SESSION, "kept")
    assert found == ["journal.log"]


@pytest.mark.parametrize("name", ["journal.log", "state"])
def test_a_record_that_does_not_reach_the_disk_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fsync = os.fsync

    def broken(descriptor: int) -> None:
        if Path(os.readlink(f"/proc/self/fd/{descriptor}")).name == name:
            raise OSError(5, "Input/output error")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match=r"Input/output error\. Nothing was changed"):
        Journal(tmp_path / "state").write_intent("c1", SESSION, planned("128", "256"))


@pytest.mark.parametrize(("late", "on_trial"), [(-5.0, True), (0.0, True), (19.9, True), (20.0, False), (99.0, False)])
def test_a_watchdog_has_twenty_seconds_before_its_trial_counts_as_left_by_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: float, on_trial: bool
) -> None:
    journal = Journal(tmp_path)
    journal.write_intent("c1", SESSION, planned("128", "256"), until=1000.0)
    monkeypatch.setattr(module, "boot_clock", lambda: 1000.0 + late)
    found = [[intent.id for intent in some] for some in (journal.trials(), journal.unresolved())]
    assert found == ([["c1"], []] if on_trial else [[], ["c1"]])


# -- programs that still run ---------------------------------------------------------------------------------------


def of_a_dead_raidbench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal whose change was begun by a process that is gone."""
    journal = Journal(folder)
    with monkeypatch.context() as patch:
        patch.setattr(module, "process_start", lambda pid: "1")
        journal.write_intent("c1", SESSION, planned("128", "256"))
    return journal


def test_a_program_that_a_dead_raidbench_left_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = of_a_dead_raidbench(tmp_path, monkeypatch)
    journal.write_setter("c1", SESSION, os.getpid(), "sdparm")
    (left,) = journal.left_running()
    assert left.setter is not None
    assert (left.id, left.setter.program, left.setter.pid) == ("c1", "sdparm", os.getpid())


def test_a_program_of_a_living_raidbench_is_not_left(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write_intent("c1", SESSION, planned("128", "256"))
    journal.write_setter("c1", SESSION, os.getpid(), "sdparm")
    assert journal.left_running() == ()


def test_another_process_with_its_number_is_not_taken_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = of_a_dead_raidbench(tmp_path, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(module, "process_start", lambda pid: "1")
        journal.write_setter("c1", SESSION, os.getpid(), "sdparm")
    assert journal.left_running() == ()


def test_a_program_of_another_boot_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = of_a_dead_raidbench(tmp_path, monkeypatch)
    journal.write_setter("c1", SESSION, os.getpid(), "sdparm")
    monkeypatch.setattr(module, "boot_id", lambda: "another")
    assert journal.left_running() == ()


def test_a_program_that_only_waits_for_its_parent_has_ended(tmp_path: Path) -> None:
    ended = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    start = process_start(ended.pid)
    ended.wait()
    assert start == ""


def test_the_last_program_of_a_change_is_the_one_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = of_a_dead_raidbench(tmp_path, monkeypatch)
    journal.write_setter("c1", SESSION, os.getpid(), "first")
    journal.write_setter("c1", SESSION, os.getpid(), "second")
    assert [left.setter.program for left in journal.left_running() if left.setter] == ["second"]


def test_a_clock_that_was_set_back_does_not_change_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_dead_process(monkeypatch)
    for number, now in enumerate((1000.0, 5.0, 900.0)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        Journal(tmp_path).write_intent(f"c{number}", SESSION, planned("128", "256"))
    alive(monkeypatch)
    assert [intent.id for intent in Journal(tmp_path).unresolved()] == ["c2", "c1", "c0"]


def test_trials_come_newest_first(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        Journal(tmp_path).write_intent(name, SESSION, planned("128", "256"), until=module.boot_clock() + 60)
    assert [intent.id for intent in Journal(tmp_path).trials()] == ["third", "second", "first"]


def test_a_changed_digit_costs_the_record_it_is_in_and_no_other(tmp_path: Path) -> None:
    journal = filled(tmp_path, 2)
    journal.file.write_bytes(journal.file.read_bytes().replace(b'"id":"c0"', b'"id":"c9"', 1))
    assert [record["id"] for record in read_records(journal.file)] == ["c0", "c1", "c1"]


@pytest.mark.parametrize("body", [b'{"no json', b'{"a":' * 9999])
def test_what_is_whole_and_no_record_hides_none_behind_it(tmp_path: Path, body: bytes) -> None:
    journal = filled(tmp_path, 1)
    whole = b"%08x %d %s\n" % (zlib.crc32(body), len(body), body)
    journal.file.write_bytes(whole + journal.file.read_bytes())
    assert [record["id"] for record in read_records(journal.file)] == ["c0", "c0"]


def test_a_full_disk_is_told_in_the_systems_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda descriptor, data: 0)
    with pytest.raises(StorageError, match=r"^The journal cannot be written: No space left on device\. Nothing was"):
        Journal(tmp_path).write_intent("c1", SESSION, planned("128", "256"))
