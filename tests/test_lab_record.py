"""A laboratory that ends early keeps what it has, says what was not reached, and goes on from there."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.ci.recorder import VARIABLE
from tests.ci.sessions import read_outcomes
from tests.lab import __main__ as lab
from tests.lab import record, results
from tests.lab.machine import guest, zfs_module
from tests.lab.machine.guest import Guest, clear_up, processor_seconds
from tests.lab.machine.missing import LabError, LabUnavailableError
from tests.lab.record import FILE, Writer, begun, merged, read
from tests.lab.results import BEGIN, END, Row

ARRAY, FAULT = "tests/lab/test_arrays.py", "tests/lab/test_faults.py"


def row(what: str) -> Row:
    return Row(section="Arrays", cells=("raid1", what, "seen"), ok=True)


def run(writer: Writer, test: str, rows: Sequence[Row] = (), *, failed: str = "") -> None:
    for when in ("setup", "call", "teardown"):
        writer.report(test, when, failed=when == failed, rows=rows)


# -- the record --------------------------------------------------------------------------------------------------------


def test_each_test_is_kept_with_its_outcome_and_its_own_rows(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.there((f"{ARRAY}::a", f"{ARRAY}::b", f"{FAULT}::c"))
    run(writer, f"{ARRAY}::a", [row("one")])
    run(writer, f"{ARRAY}::b", [row("one"), row("two")], failed="call")
    found = read(tmp_path / FILE)
    assert found.ended == {f"{ARRAY}::a": True, f"{ARRAY}::b": False}
    assert found.rows == {f"{ARRAY}::a": [row("one")], f"{ARRAY}::b": [row("two")]}


@pytest.mark.parametrize("part", ["setup", "call", "teardown"])
def test_a_file_is_whole_when_every_test_ended_and_no_part_of_one_failed(tmp_path: Path, part: str) -> None:
    writer = Writer(tmp_path)
    writer.there((f"{ARRAY}::a", f"{FAULT}::c", f"{FAULT}::d"))
    run(writer, f"{ARRAY}::a")
    run(writer, f"{FAULT}::c")
    assert read(tmp_path / FILE).whole == {ARRAY}
    run(writer, f"{FAULT}::d", failed=part)
    assert read(tmp_path / FILE).whole == {ARRAY}


def test_a_test_under_way_was_not_reached_and_a_line_cut_off_counts_for_nothing(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.there((f"{ARRAY}::a", f"{ARRAY}::b", f"{FAULT}::c"))
    run(writer, f"{ARRAY}::a")
    writer.report(f"{ARRAY}::b", "setup", failed=False, rows=())
    with open(tmp_path / FILE, "a") as file:
        file.write('{"ended": "tests/lab/test_faults.py::c", "o')
    other = "tests/lab/test_new.py"
    assert read(tmp_path / FILE).not_reached([ARRAY, FAULT, other]) == [
        f"{ARRAY}: 1 of 2 tests",
        f"{FAULT}: 1 of 1 tests",
        other,
    ]


# -- a run of all ------------------------------------------------------------------------------------------------------


class Guests:
    """Stands in for both: what a guest writes into its folder, and how it ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.given: list[list[str]] = []
        self.ends: Exception | type[BaseException] | None = None
        self.reaches: tuple[str, ...] = (ARRAY, FAULT)
        self.fails = ""
        self.folder = tmp_path / "run"
        (tmp_path / "page.md").write_text(f"{BEGIN}\n\n{results.markdown([row('one')])}\n{END}\n")
        monkeypatch.setattr(lab, "RUN", self.folder)
        monkeypatch.setattr(lab, "PAGE", tmp_path / "page.md")
        monkeypatch.setattr(lab, "in_order", lambda _: [ARRAY, FAULT])
        monkeypatch.setattr(lab, "_in_two", self.run)
        monkeypatch.setattr(lab, "_compile", lambda: None)
        monkeypatch.setattr(lab, "check", lambda: None)
        monkeypatch.setattr(lab, "kernel", lambda _: SimpleNamespace(version="6.1"))
        monkeypatch.setattr(record, "tree_of", lambda _: "a tree")

    def run(self, _ready: object, files: Sequence[str]) -> list[int]:
        self.given.append([*files])
        (self.folder / "one").mkdir()
        writer = Writer(self.folder / "one")
        writer.there(f"{file}::t" for file in files)
        proved = []
        for file in self.reaches:
            if file in files:
                proved += [row("one")] if file == ARRAY else []
                run(writer, f"{file}::t", proved, failed="call" if file == self.fails else "")
        if self.fails:
            return [1, 0]
        if self.ends is not None:
            raise self.ends
        return [0, 0]


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Guests]:
    before = signal.getsignal(signal.SIGTERM)
    yield Guests(monkeypatch, tmp_path)
    signal.signal(signal.SIGTERM, before)


def test_a_run_that_reached_all_is_compared_with_the_page(guests: Guests, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.main([]) == 0
    assert capsys.readouterr().out.endswith("all 1 rows of docs/dev/lab.md were proved\n")


@pytest.mark.parametrize(("ends", "status"), [(None, 1), (LabError("the guest died"), 1), (KeyboardInterrupt, 130)])
def test_what_was_not_reached_is_said_however_it_ends_and_the_next_run_goes_on_there(
    guests: Guests, capsys: pytest.CaptureFixture[str], ends: Exception | None, status: int
) -> None:
    guests.reaches, guests.ends = (ARRAY,), ends
    assert lab.main([]) == status
    said = capsys.readouterr().err
    assert f"lab: not reached: {FAULT}: 1 of 1 tests\n" in said
    assert "--resume" in said
    guests.reaches, guests.ends = (ARRAY, FAULT), None
    assert lab.main(["--resume"]) == 0
    assert guests.given == [[ARRAY, FAULT], [FAULT]]
    assert "all 1 rows" in capsys.readouterr().out  # that of the first run


def repeated(guests: Guests, monkeypatch: pytest.MonkeyPatch, test: str, rows: Sequence[Row], status: int) -> int:
    """The status of `--again TEST` where the guest of that test ends with this status."""

    def some(_ready: object, words: Sequence[str], into: Path) -> int:
        assert words == [test]
        into.mkdir()
        writer = Writer(into)
        writer.there(words)
        run(writer, test, rows, failed="call" if status else "")
        return status

    monkeypatch.setattr(lab, "_some", some)
    return lab.main(["--again", test])


def test_a_test_that_passes_when_it_is_repeated_and_what_it_proves_count_in_the_last_run(
    guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests.fails = ARRAY
    assert lab.main([]) == 1
    assert lab.main(["--compare"]) == 1
    assert repeated(guests, monkeypatch, f"{ARRAY}::t", [row("one")], 0) == 0
    assert lab.main(["--compare"]) == 0


def test_a_test_that_passes_when_it_is_repeated_and_proves_less_than_the_page_claims_does_not(
    guests: Guests, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guests.fails = ARRAY
    lab.main([])
    repeated(guests, monkeypatch, f"{ARRAY}::t", [], 0)
    assert lab.main(["--compare"]) == 1
    assert "claimed, but not proved" in capsys.readouterr().err


def test_a_test_that_fails_again_leaves_the_run_failed(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    guests.fails = ARRAY
    lab.main([])
    assert repeated(guests, monkeypatch, f"{ARRAY}::t", [row("one")], 1) == 1
    assert lab.main(["--compare"]) == 1


def test_nothing_is_compared_with_less_than_a_run_of_all(guests: Guests) -> None:
    assert lab.main(["--compare"]) == 1
    guests.reaches = (ARRAY,)
    lab.main([])
    assert lab.main(["--compare"]) == 1


def test_what_was_repeated_does_not_count_in_the_next_run(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    guests.fails = ARRAY
    lab.main([])
    repeated(guests, monkeypatch, f"{ARRAY}::t", [row("one")], 0)
    lab.main([])
    assert lab.main(["--compare"]) == 1


@pytest.mark.parametrize("dies", [False, True])
def test_the_failures_of_a_guest_are_handed_on_and_one_that_dies_leaves_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    def run_in_guest(*_words: object, **_more: object) -> int:
        if dies:
            raise LabError("the guest died")
        (tmp_path / record.OUTCOMES).write_text('{"ended": 0, "passed": 1}\n')
        return 0

    (tmp_path / "outcomes").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "outcomes"))
    monkeypatch.setattr(lab, "run_in_guest", run_in_guest)
    monkeypatch.setattr(zfs_module, "folder", lambda _: None)
    with contextlib.suppress(LabError):
        lab._some(SimpleNamespace(version="6.1"), [ARRAY], tmp_path)  # type: ignore[arg-type]
    assert read_outcomes(tmp_path / "outcomes").broken == (("pytest did not reach its end",) if dies else ())


def test_a_run_that_is_not_resumed_begins_anew(guests: Guests) -> None:
    assert [lab.main([]), lab.main([])] == [0, 0]
    assert guests.given == [[ARRAY, FAULT]] * 2


def test_what_was_proved_of_another_program_is_proved_again(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.main([])
    monkeypatch.setattr(record, "tree_of", lambda _: "another")
    lab.main(["--resume"])
    assert guests.given == [[ARRAY, FAULT]] * 2


def test_nothing_is_written_into_the_page_by_a_run_that_did_not_reach_all(guests: Guests, tmp_path: Path) -> None:
    before = (tmp_path / "page.md").read_text()
    guests.reaches = (FAULT,)
    assert lab.main(["--keep"]) == 1
    assert (tmp_path / "page.md").read_text() == before


def test_two_runs_in_one_checkout_are_refused(guests: Guests, capsys: pytest.CaptureFixture[str]) -> None:
    with begun(guests.folder, lab.GUESTS, "a tree", resumed=False):
        assert lab.main([]) == 1
    assert "another one is at it" in capsys.readouterr().err


def test_a_laboratory_that_cannot_be_had_has_a_status_of_its_own(
    guests: Guests, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent() -> None:
        raise LabUnavailableError("there is no QEMU")

    monkeypatch.setattr(lab, "check", absent)
    assert lab.main([]) == lab.SKIPPED == 77
    assert capsys.readouterr().out == "lab: SKIPPED: there is no QEMU.\n"


def test_both_guests_and_what_went_before_are_one_run(tmp_path: Path) -> None:
    for name, file in zip(lab.GUESTS, (ARRAY, FAULT), strict=True):
        (tmp_path / name).mkdir()
        writer = Writer(tmp_path / name)
        writer.there((f"{ARRAY}::t", f"{FAULT}::t"))
        run(writer, f"{file}::t")
    assert merged(tmp_path, lab.GUESTS).whole == {ARRAY, FAULT}


def test_a_line_of_the_program_or_of_the_laboratory_makes_another_tree(tmp_path: Path) -> None:
    (tmp_path / "tests/lab").mkdir(parents=True)
    (tmp_path / "backends").mkdir()
    trees = []
    for path in ("tests/lab/test_md.py", "backends/x.py"):
        (tmp_path / path).write_text("one\n")
        trees.append(record.tree_of(tmp_path))
        (tmp_path / path).write_text("two\n")
        trees.append(record.tree_of(tmp_path))
    assert len(set(trees)) == 4


# -- the guest's time --------------------------------------------------------------------------------------------------


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen((sys.executable, "-c", "while True: pass")) as process:
        yield process
        process.kill()


def made(process: subprocess.Popen[bytes], folder: Path) -> Guest:
    for name in ("serial.log", "qemu.log"):
        (folder / name).touch()
    return Guest(process, folder, folder)


@pytest.mark.long
def test_a_guest_is_ended_by_the_processor_time_that_it_used(
    busy: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "PATIENCE", 1000)  # by the clock a busy machine would end it before
    with pytest.raises(LabError, match=r"after [0-9]+ s of processor time"):
        made(busy, tmp_path).wait(0.3)
    assert processor_seconds(busy.pid) > 0.3


def test_a_guest_that_has_to_wait_for_others_is_not_ended(tmp_path: Path) -> None:
    with subprocess.Popen(("sleep", "1")) as process:
        made(process, tmp_path).wait(0.5)  # it took twice as long, and next to nothing of the processor
        assert process.returncode == 0


def test_a_guest_that_stands_still_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "PATIENCE", 1)
    with subprocess.Popen(("sleep", "600")) as process:
        with pytest.raises(LabError, match="still at it"):
            made(process, tmp_path).wait(0.5)
        process.kill()


def test_what_a_killed_laboratory_left_is_cleared_up_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: subprocess.Popen[bytes]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen(("true",)) as gone:
        pass
    dead, alive, other = (
        tmp_path / f"raidbench-lab-{name}" for name in (f"{gone.pid}-x", f"{busy.pid}-x", "results-x")
    )
    for folder in (dead, alive, other):
        folder.mkdir()
        (folder / "disk").touch()
    clear_up()
    assert [folder.exists() for folder in (dead, alive, other)] == [False, True, True]
