"""What a build before the first release left open is reported with the next step; what it closed is passed over."""

from __future__ import annotations

import json
import os
import time
import zlib
from pathlib import Path

import pytest

from app.core.session.journal import FILE, Journal, boot_clock, read_records
from app.core.session.paths import Paths
from app.core.session.recorder import Recorder
from app.core.session.store import load
from app.core.session.unreleased_sessions import in_force_errors, interrupted_errors
from app.core.unreadable_state import blocking_errors
from backends.errors import NewerError, UnreleasedError
from backends.formats import FORMATS, FileFormat, is_unreleased
from backends.simulator.state_file import RackFile
from backends.system.local import LocalHost
from backends.version import program_version
from tests.cli.conftest import Cli, cli  # noqa: F401  the command line in this process
from tests.core.doubles import planned
from tests.unreleased import RACK, put

OLD = "a build before 0.2.0 (0.1.0)"
TRIAL = "read_ahead_kb of block:nvme0n1, 128 before and 256 after (serial number S437NX0K601300)"
CHANGE = "write_cache of megaraid:/c0/v1, write-through before and write-back after"
BOOT = "0a1b2c3d-0000-4000-8000-000000000000"
OLD_VALUES = "write_cache of megaraid:/c0/v1: write-through"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state folder, which commands use."""
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "2000")
    return tmp_path


def append(folder: Path, **fields: object) -> None:
    """Add a record to a journal, as another build would have written it."""
    body = json.dumps(fields).encode()
    folder.mkdir(exist_ok=True)
    with (folder / FILE).open("ab") as file:
        file.write(b"%08x %d %s\n" % (zlib.crc32(body), len(body), body))


@pytest.fixture(autouse=True)
def _rebooted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine have been rebooted since the files were written."""
    for module in ("journal", "unreleased_sessions"):
        monkeypatch.setattr(f"app.core.session.{module}.boot_id", lambda: BOOT)


def on_this_boot(folder: Path) -> None:
    """Let the records of a journal be of this boot, on which a setting of the kernel is still in force."""
    records = read_records(folder / FILE)
    (folder / FILE).unlink()
    for record in records:
        append(folder, **{**record, **({"boot": BOOT} if "boot" in record else {})})


# -- which build it was ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        *((old, True) for old in ("0.1.0", "0.1.9", "0+source", "", None, 3, "x1.0")),
        *((released, False) for released in ("0.2.0", "0.2.0rc1", "0.10", "1", program_version())),
    ],
)
def test_builds_before_the_first_release_are_known_by_their_version(program: object, expected: bool) -> None:
    assert is_unreleased(program) is expected


# -- the journal -------------------------------------------------------------------------------------------------------


@pytest.fixture
def journal(state: Path) -> Journal:
    """The journal with an open change and an open trial."""
    return Journal(put("change", state) / "journal")


def test_open_changes_and_trials_are_told_with_file_device_and_old_value(journal: Journal) -> None:
    on_this_boot(journal.file.parent)
    error = journal.unreadable_error()
    assert isinstance(error, UnreleasedError)
    assert error.message.startswith(f"{journal.file} has 1 open change and 1 open trial of {OLD}: {CHANGE}")
    assert TRIAL in error.message
    assert error.hint == (
        "Run `raidbench recover` of that build. Or set the old values yourself "
        f"({OLD_VALUES}; read_ahead_kb of block:nvme0n1: 128). Then remove the file."
    )


def test_what_a_reboot_reverted_is_not_open(journal: Journal) -> None:
    error = journal.unreadable_error()
    assert error is not None
    assert f"has 1 open change of {OLD}" in error.message
    assert TRIAL not in error.message


def test_nothing_is_changed_until_then(journal: Journal, tmp_path: Path) -> None:
    before = journal.file.read_bytes()
    with pytest.raises(UnreleasedError):
        journal.write_intent("c1", tmp_path, planned("128", "256"))
    assert journal.file.read_bytes() == before


def test_nothing_acts_on_it(journal: Journal) -> None:
    on_this_boot(journal.file.parent)
    assert (journal.unresolved(), journal.trials(), journal.left_running()) == ((), (), ())


def test_a_record_whose_shape_is_not_known_is_told_too(state: Path) -> None:
    append(state / "journal", kind="intent", id="c7", session="/s", setting="cache")
    error = Journal(state / "journal").unreadable_error()
    assert error is not None
    assert "has 1 open change of a build before 0.2.0: c7, an unknown setting." in error.message
    assert "Or check these settings yourself." in error.hint


@pytest.mark.parametrize("result", ["verified", "restored", "kept"])
def test_a_closed_change_is_passed_over(state: Path, tmp_path: Path, result: str) -> None:
    old = Journal(put("change", state) / "journal")
    session = str(read_records(old.file)[0]["session"])
    append(old.file.parent, kind="outcome", id="c2", session=session, result=result, format=1, by="0.1.0")
    append(old.file.parent, kind="outcome", id="c3", session=session, result="restored", format=1, by="0.1.0")
    assert old.unreadable_error() is None
    old.write_intent("c1", tmp_path, planned("128", "256"))
    assert [one.id for one in old.unresolved()] == []  # this process makes it


@pytest.mark.parametrize(("by", "kind"), [("0.1.0", UnreleasedError), ("9.9", NewerError)])
def test_a_trial_that_was_set_is_open_until_it_is_decided(state: Path, by: str, kind: type[Exception]) -> None:
    number = FORMATS[FileFormat.JOURNAL] + (by == "9.9")
    words = {"id": "c7", "session": "/s", "format": number, "by": by}
    append(state / "journal", kind="intent", until=boot_clock() + 600, **words)
    append(state / "journal", kind="outcome", result="verified", **words)
    kept = Journal(state / "journal")
    assert isinstance(kept.unreadable_error(), kind)
    append(state / "journal", kind="outcome", result="kept", **words)
    assert kept.unreadable_error() is None


# -- arrays ------------------------------------------------------------------------------------------------------------


def test_an_array_whose_creation_was_interrupted_is_told(state: Path) -> None:
    (error,) = blocking_errors(Journal(put("array", state) / "journal"))
    assert isinstance(error, UnreleasedError)
    assert error.message.endswith(f"arrays.log has 1 open entry of {OLD}: old, raid0, being created.")
    assert "Run `raidbench recover` of that build" in error.hint


# -- sessions ----------------------------------------------------------------------------------------------------------


def places(state: Path) -> Path:
    (folder,) = (state / "simulated" / RACK / "sessions").iterdir()
    return folder


def test_a_session_of_such_a_build_is_refused_with_its_name(state: Path) -> None:
    put("change", state)
    with pytest.raises(UnreleasedError, match=r"^The session 2026-11-29-194012 was written by a build before 0\.2\.0"):
        load(places(state))


async def test_no_command_goes_on_with_it(state: Path) -> None:
    paths = Paths.at(state)
    first = Recorder(LocalHost(), paths=paths)
    await first.open()
    first.close()
    assert first.folder is not None
    log = first.folder / "session.jsonl"
    log.write_text(log.read_text().replace(f'"version":"{program_version()}"', '"version":"0.1.0"', 1))
    second = Recorder(LocalHost(), paths=paths)
    await second.open(fresh=False)
    second.close()
    assert second.folder != first.folder


@pytest.mark.parametrize(("name", "words"), [("ab", "an A/B"), ("sweep", "a sweep")])
def test_an_interrupted_sweep_or_ab_is_told(state: Path, name: str, words: str) -> None:
    put(name, state)
    (error,) = interrupted_errors(Paths.below(state, RACK))
    assert f"session.jsonl has {words} of {OLD} that was interrupted." in error.message
    assert error.hint.endswith(f" Then remove {places(state)}/{'experiment' if name == 'ab' else name}.active.")


def test_changes_in_force_are_told_of_a_session(state: Path) -> None:
    folder = put("change", state)
    (error,) = in_force_errors(Paths.below(state, RACK), Journal(folder / "journal"))
    assert f"has 2 changes in force of {OLD}: {CHANGE}; read_ahead of megaraid:/c0/v1, none before" in error.message


# -- commands ----------------------------------------------------------------------------------------------------------


def test_recover_says_what_is_open_and_what_to_do(cli: Cli, journal: Journal) -> None:  # noqa: F811
    done = cli("--demo", "recover", "--list")
    assert (done.status, CHANGE in done.err, OLD_VALUES in done.err) == (3, True, True)


@pytest.mark.parametrize("name", ["ab", "sweep"])
def test_recover_says_which_session_was_interrupted(cli: Cli, state: Path, name: str) -> None:  # noqa: F811
    put(name, state)
    done = cli("--demo", "recover", "--list")
    assert (done.status, f"of {OLD} that was interrupted" in done.err) == (0, True)
    assert "nothing to recover" not in done.err


def test_undo_lists_what_is_open_and_in_force(cli: Cli, journal: Journal) -> None:  # noqa: F811
    done = cli("--demo", "undo", "--list")
    assert "no other change is in force" in done.err
    assert ("has 1 open change of" in done.err, "has 2 changes in force of" in done.err) == (True, True)


def test_keep_says_that_there_is_an_open_trial(cli: Cli, journal: Journal) -> None:  # noqa: F811
    on_this_boot(journal.file.parent)
    (journal.file.parent.parent / "demo-rack.json").unlink()
    done = cli("--demo", "keep")
    assert (done.status, TRIAL in done.err) == (3, True)


@pytest.mark.long
@pytest.mark.feature("doctor")
def test_doctor_says_so(cli: Cli, journal: Journal) -> None:  # noqa: F811
    (journal.file.parent.parent / "demo-rack.json").unlink()
    told = cli("--no-helper", "--demo", "doctor").out
    assert (CHANGE in told, OLD_VALUES in told) == (True, True)


# -- the simulated host ------------------------------------------------------------------------------------------------


def test_the_state_of_a_simulated_host_is_refused_with_the_option_that_renews_it(journal: Journal) -> None:
    with pytest.raises(
        UnreleasedError, match=rf"The simulated rack was written by .*; this is {program_version()}"
    ) as told:
        assert RackFile(journal.file.parent.parent / "demo-rack.json").rack
    assert told.value.hint == "To start with a new simulated rack, add --demo-reset."


def test_closed_sessions_of_such_a_build_hide_no_other_session(cli: Cli, state: Path) -> None:  # noqa: F811
    old = places(put("change", state).parents[1])
    for name in ("demo-rack.json", "journal/journal.log"):
        (old.parents[1] / name).unlink()
    assert "There is no session yet." in cli("--demo", "log").err
    assert cli("--demo", "--demo-speed", "1000", "set", "block:nvme0n1", "read_ahead_kb=256", "--yes").status == 0
    os.utime(old / "session.jsonl", (time.time() + 60,) * 2)  # the last used one
    listed = cli("--demo", "log", "--list")
    assert (listed.status, f"was written by {OLD}" in listed.err, len(listed.out.splitlines())) == (0, True, 2)
    assert "read_ahead_kb" in cli("--demo", "log").out
