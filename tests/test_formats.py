"""Versions live together: a newer program reads what an older one kept; an older one says which program it needs."""

from __future__ import annotations

import gzip
import json
import platform
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from app.core.benchmark.preconditioning import PreconditionHistory
from app.core.changes.arrays.array_journal import ArrayJournal
from app.core.session import event_codec
from app.core.session.archive import write_archive
from app.core.session.archive_reader import unpacked_archive
from app.core.session.event_types import PreconditionWritten
from app.core.session.folders import LOG, session_folders
from app.core.session.journal import FILE, Journal, boot_clock, read_records
from app.core.session.paths import ARRAYS, Paths
from app.core.session.recorder import Recorder
from app.core.session.store import load
from app.features.apply import settings_file
from app.features.fleet.multihost.record import DOCUMENT, joint_records
from app.features.history.baselines import Baselines
from app.features.watch import finding_status, last_watch
from backends.array_planning import CreatedArray
from backends.errors import NewerError
from backends.formats import FORMATS, FileFormat
from backends.model import Level
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.state_file import RackFile, rack_data
from backends.system.local import LocalHost
from backends.system.recorded import ReplayHost
from backends.system.streams import Recording
from backends.version import program_version
from tests.cli.conftest import Cli, cli  # noqa: F401  the command line in this process
from tests.core.doubles import IDENTITY, planned
from tests.released import FOLDER, RACK

KEPT = Paths.below(FOLDER / "0.2.0" / "state", RACK)
(WORKED, _) = sorted(session_folders(KEPT))
NEWER = "9.9.0"
SAYS = rf"was written by raidbench {NEWER}; this is {program_version()}\.$"


def changed(file: Path, **fields: object) -> None:
    """A JSON file, or the first line of one, with other fields."""
    first, _, rest = file.read_text().partition("\n")
    file.write_text(json.dumps({**json.loads(first), **fields}, separators=(",", ":")) + "\n" + rest)


def session(folder: Path) -> None:
    shutil.copytree(WORKED, folder / "worked")
    changed(folder / "worked" / LOG, version=NEWER, format=FORMATS[FileFormat.SESSION] + 1)
    load(folder / "worked")


def baseline(folder: Path) -> None:
    shutil.copytree(KEPT.state / "baselines", folder / "baselines")
    file = folder / "baselines" / "recorded.json"
    newer = {"program": NEWER, "schema": FORMATS[FileFormat.BASELINE] + 1}
    file.write_text(json.dumps({**json.loads(file.read_text()), **newer}))
    Baselines(places(folder)).load("recorded")


def archive(folder: Path) -> None:
    """An archive says its format in its last bytes, before anything else of it is believed."""
    write_archive(WORKED, folder / "own.raidbench")
    data = (folder / "own.raidbench").read_bytes()
    begin = data.rindex(b"raidbench-archive ")
    words = data[begin:].split()
    seal = b" ".join((words[0], b"%d" % (FORMATS[FileFormat.ARCHIVE] + 1), b"by", NEWER.encode(), *words[4:]))
    (folder / "newer.raidbench").write_bytes(data[:begin] + seal)
    with unpacked_archive(folder / "newer.raidbench"):
        pass


def rack(folder: Path) -> None:
    (folder / "rack.json").write_text(json.dumps(rack_data(linux_rack())))
    changed(folder / "rack.json", program=NEWER, format=FORMATS[FileFormat.RACK] + 1)
    assert RackFile(folder / "rack.json").rack


def machine(folder: Path) -> None:
    (folder / "machine.json").write_text(json.dumps({"format": FORMATS[FileFormat.MACHINE] + 1, "program": NEWER}))
    ReplayHost(folder)


def stream(folder: Path) -> None:
    data = {"format": FORMATS[FileFormat.STREAM] + 1, "program": NEWER}
    (folder / "fio.json.gz").write_bytes(gzip.compress(json.dumps(data).encode()))
    Recording.load(folder / "fio.json.gz")


def joint(folder: Path) -> None:
    (folder / "runs" / "j1").mkdir(parents=True)
    data = {"format": FORMATS[FileFormat.JOINT] + 1, "program": NEWER}
    (folder / "runs" / "j1" / DOCUMENT).write_text(json.dumps(data))
    joint_records(folder)


def journal(folder: Path) -> None:
    record(folder, kind="intent", id="c1", session="/sessions/one", format=FORMATS[FileFormat.JOURNAL] + 1, by=NEWER)
    Journal(folder).write_intent("c2", folder, planned("128", "256"))


def arrays(folder: Path) -> None:
    newer = FORMATS[FileFormat.ARRAYS] + 1
    record(folder, name=ARRAYS, kind="array", stage="making", format=newer, by=NEWER)
    (folder / FILE).rename(folder / ARRAYS)
    array = CreatedArray(name="rb-1", level=Level.RAID0, controller=None, members=(), strip_bytes=None)
    ArrayJournal(folder).write_begin(array, folder)


READS: dict[FileFormat, Callable[[Path], None]] = {
    FileFormat.SESSION: session,
    FileFormat.JOURNAL: journal,
    FileFormat.ARRAYS: arrays,
    FileFormat.BASELINE: baseline,
    FileFormat.ARCHIVE: archive,
    FileFormat.RACK: rack,
    FileFormat.MACHINE: machine,
    FileFormat.STREAM: stream,
    FileFormat.JOINT: joint,
}
"""What is read of a newer program's. An index is made anew (tests/core/past_runs); for the others see below."""


def record(folder: Path, **fields: object) -> None:
    """A record at the end of a journal, as a program would put it there."""
    folder.mkdir(exist_ok=True)
    body = json.dumps(fields).encode()
    with (folder / FILE).open("ab") as file:
        file.write(b"%08x %d %s\n" % (zlib.crc32(body), len(body), body))


@pytest.mark.parametrize("kept", READS)
def test_what_a_newer_program_wrote_is_not_read_but_said(kept: FileFormat, tmp_path: Path) -> None:
    with pytest.raises(NewerError, match=SAYS) as told:
        READS[kept](tmp_path)
    assert told.value.hint == f"Use raidbench {NEWER} or newer to read it."


def test_each_format_is_tried() -> None:
    others = {FileFormat.INDEX, FileFormat.DEVICE, FileFormat.SETTINGS, FileFormat.WATCH}
    assert set(FileFormat) - set(READS) == others


def test_the_formats_begin_with_the_first_release() -> None:
    assert set(FORMATS.values()) == {1}


def test_settings_of_a_newer_program_are_refused_with_the_version_that_is_needed() -> None:
    text = f"format = {FORMATS[FileFormat.SETTINGS] + 1}\n"
    with pytest.raises(
        settings_file.DesiredError, match=rf"is of a newer raidbench; {program_version()} reads"
    ) as told:
        settings_file.parse(text.encode(), "site.toml")
    assert told.value.hint == f"Use a version after {program_version()}."


@pytest.mark.parametrize("module", [finding_status, last_watch])
def test_of_a_newer_watch_nothing_is_known(module: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "watch.json"
    file.write_text(json.dumps({"format": FORMATS[FileFormat.WATCH] + 1}))
    assert module.load(file) in (None, finding_status.ReportedFindings())


# -- sessions ----------------------------------------------------------------------------------------------------------


def places(folder: Path) -> Paths:
    """A state folder of this test's own."""
    return Paths.at(folder)


async def begun(folder: Path, **fields: object) -> Path:
    """A session of a moment ago, as a program of other formats would have begun it."""
    recorder = Recorder(LocalHost(), paths=places(folder))
    await recorder.open()
    recorder.close()
    assert recorder.folder is not None
    changed(recorder.folder / LOG, **fields)
    return recorder.folder


async def test_a_session_of_the_same_format_is_gone_on_with(tmp_path: Path) -> None:
    before = await begun(tmp_path)
    recorder = Recorder(LocalHost(), paths=places(tmp_path))
    await recorder.open(fresh=False)
    recorder.close()
    assert recorder.folder == before


@pytest.mark.parametrize("step", [1, -1])
async def test_the_next_command_does_not_go_on_with_a_session_of_another_format(step: int, tmp_path: Path) -> None:
    before = await begun(tmp_path, version=NEWER, format=FORMATS[FileFormat.SESSION] + step)
    recorder = Recorder(LocalHost(), paths=places(tmp_path))
    await recorder.open(fresh=False)
    recorder.close()
    assert recorder.folder != before


async def test_nothing_is_added_to_a_newer_session_that_is_named(tmp_path: Path) -> None:
    before = await begun(tmp_path, version=NEWER, format=FORMATS[FileFormat.SESSION] + 1)
    written = (before / LOG).read_bytes()
    recorder = Recorder(LocalHost(), paths=places(tmp_path))
    with pytest.raises(NewerError, match=SAYS):
        await recorder.open(before)
    recorder.close()
    assert (before / LOG).read_bytes() == written


async def test_a_session_that_a_newer_program_went_on_with_is_not_read_in_part(tmp_path: Path) -> None:
    before = await begun(tmp_path)
    first = json.loads((before / LOG).read_text().partition("\n")[0])
    with (before / LOG).open("a") as log:
        further = {**first, "version": NEWER, "format": FORMATS[FileFormat.SESSION] + 1, "machine": "otherwise"}
        log.write(json.dumps(further, separators=(",", ":")) + "\n")
    with pytest.raises(NewerError, match=SAYS):
        load(before)


EVENTS = {
    1: """
baseline-marked change-ended change-intended command-ran experiment-ended experiment-started inventory-seen
machine-checked note-added precondition-ended problem-met rule-persisted run-ended run-started session-ended
session-started sweep-array-refused sweep-ended sweep-extended sweep-resumed sweep-started sweep-step-ended
sweep-step-started
""",
}
"""Kinds of events by format: an older program would pass over one more. Once a version is out they do not change."""


def test_a_new_kind_of_event_makes_a_new_format() -> None:
    assert sorted(event_codec.KINDS) == EVENTS[FORMATS[FileFormat.SESSION]].split()


# -- the journal -------------------------------------------------------------------------------------------------------


def left_open(folder: Path, **fields: object) -> Journal:
    """A journal in which a newer program has a change open; what it says of that is in a shape unknown here."""
    words = {"id": "c7", "session": "/sessions/of-newer", "format": FORMATS[FileFormat.JOURNAL] + 1, "by": NEWER}
    record(folder, **{"kind": "intent", **words, **fields})
    return Journal(folder)


@pytest.mark.parametrize("kind", ["intent", "announced"])
def test_nothing_is_changed_while_a_newer_program_has_a_change_open(kind: str, tmp_path: Path) -> None:
    kept = left_open(tmp_path / "journal", kind=kind)
    with pytest.raises(NewerError, match=SAYS):
        kept.write_intent("c1", tmp_path, planned("128", "256"))
    assert [one.get("id") for one in read_records(kept.file)] == ["c7"]


def test_what_it_left_open_is_not_taken_for_ours(tmp_path: Path) -> None:
    kept = Journal(tmp_path / "journal")
    kept.write_intent("c7", Path("/sessions/of-newer"), planned("128", "256"), until=boot_clock() + 60)
    left_open(tmp_path / "journal", kind="announced")
    assert (kept.trials(), kept.unresolved()) == ((), ())


def test_a_change_that_a_newer_program_ended_is_ended(tmp_path: Path) -> None:
    kept = left_open(tmp_path / "journal")
    left_open(tmp_path / "journal", kind="outcome", result="verified")
    kept.write_intent("c1", tmp_path, planned("128", "256"))
    assert kept.unreadable_error() is None


def test_a_trial_that_a_newer_program_kept_is_kept(tmp_path: Path) -> None:
    kept = Journal(tmp_path / "journal")
    kept.write_intent("c7", Path("/sessions/of-newer"), planned("128", "256"), until=boot_clock() + 60)
    left_open(tmp_path / "journal", kind="outcome", result="kept")
    assert kept.trials() == ()


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder in which a newer program has a change open."""
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    for folder in ("journal", "simulated/lsi/journal"):
        (tmp_path / folder).parent.mkdir(parents=True, exist_ok=True)
        left_open(tmp_path / folder)


def test_recover_says_which_program_can(cli: Cli, newer: None) -> None:  # noqa: F811
    done = cli("--demo", "--demo-speed", "1000", "recover", "--list")
    assert (done.status, f"raidbench {NEWER}; this is" in done.err, f"{NEWER} or newer" in done.err) == (3, True, True)


def test_every_command_says_so_before_anything_is_tried(cli: Cli, newer: None) -> None:  # noqa: F811
    done = cli("--demo", "--demo-speed", "1000", "set", "/c0/v1", "read_ahead=read-ahead", "--yes")
    assert done.err.count(f"An open change of of-newer was written by raidbench {NEWER}") == 2
    assert done.status == 3


@pytest.mark.long
def test_doctor_says_so(cli: Cli, newer: None) -> None:  # noqa: F811
    assert f"Use raidbench {NEWER} or newer to read it." in cli("--no-helper", "doctor").out


# -- what is only a memory ---------------------------------------------------------------------------------------------


def test_of_a_device_nothing_is_known_that_a_newer_program_knows(tmp_path: Path) -> None:
    kept = PreconditionHistory(tmp_path)
    kept.remember(IDENTITY, WRITTEN)
    (file,) = tmp_path.iterdir()
    known = kept.last_written(IDENTITY)
    with file.open("a") as lines:
        lines.write(json.dumps({"format": FORMATS[FileFormat.DEVICE] + 1, "passes": 2}) + "\n")
    assert (known is not None, kept.last_written(IDENTITY)) == (True, None)


WRITTEN = PreconditionWritten(
    at=1795406857.2,
    device="/dev/sdb",
    size_bytes=511101108224,
    filled_bytes=1022202216448,
    workload="randwrite-4k",
    workload_bytes=2780368896,
    steady=True,
    session="/sessions/small",
)
"""What is remembered of a device."""


# -- the program's own word --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--version", "--json"), ("--json", "--version")])
def test_the_program_says_what_it_reads(words: tuple[str, str], cli: Cli) -> None:  # noqa: F811
    told = cli(*words).json
    assert told["schema"] == 1
    assert told["program"] == {
        "version": program_version(),
        "python": platform.python_version(),
        "form": "tree",
        "formats": {str(kept): number for kept, number in FORMATS.items()},
    }


def test_json_alone_says_nothing(cli: Cli) -> None:  # noqa: F811
    assert cli("--json").status == 2
