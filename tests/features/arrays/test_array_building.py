"""`array create` and `delete` on the rack: what is made, what is refused, and what a crash leaves for `recover`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.changes.arrays.array_journal import ArrayJournalEntry, ArrayStage
from app.core.changes.arrays.builder import ArrayBuilder
from backends.array_planning import ArrayMatch, ArrayMatchState, Candidate
from backends.change import ChangeStep
from backends.errors import ToolFailedError
from backends.free_drives import kernel_candidate
from backends.host import Host
from backends.identity import Signature
from backends.model import Drive, Target
from backends.vendors.mdraid.backend import MdRaid
from tests.cli.conftest import Cli

RACK = ("--demo", "arrays")
ARRAY = (*RACK, "array")
MIRROR = ("create", "raid1", "sdb", "sdc")
NESTED = ("create", "raid50", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "--strip", "64k")
WORD = "2-6f509a"


class KilledError(BaseException):
    """As if raidbench were gone from here on."""


def made(cli: Cli, words: Sequence[str] = MIRROR, word: str = WORD) -> Any:
    done = cli(*ARRAY, *words, "--confirm", word, "--json")
    assert done.status == 0, done.err
    return done.json["array"]


def here(cli: Cli) -> list[tuple[str, str]]:
    return [(entry["level"], entry["stage"]) for entry in cli(*ARRAY, "list", "--json").json["made_here"]]


def free(cli: Cli) -> set[str]:
    drives = cli(*ARRAY, "list", "--json").json["drives"]
    return {drive["place"] for drive in drives if drive["free"] and drive["place"].startswith("/dev/sd")}


EIGHT = {f"/dev/sd{letter}" for letter in "bcdefghi"}


def run_only(monkeypatch: pytest.MonkeyPatch, count: int, error: BaseException) -> None:
    """mdadm takes so many steps of what is made, and then that happens."""
    take = MdRaid.run_making

    async def some(self: MdRaid, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        if steps[0].argv[1] != "--create":
            return await take(self, controller, steps)
        await take(self, controller, steps[:count])
        raise error

    monkeypatch.setattr(MdRaid, "run_making", some)


def killed(cli: Cli, monkeypatch: pytest.MonkeyPatch, count: int, words: Sequence[str], word: str) -> None:
    """raidbench is gone after so many steps; others see that it is."""
    with monkeypatch.context() as patch:
        run_only(patch, count, KilledError())
        with pytest.raises(KilledError):
            cli(*ARRAY, *words, "--confirm", word)
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "word"),
    [(MIRROR, WORD), (NESTED, "6-6d125b")],
    ids=["a mirror", "nested"],
)
def test_what_is_made_is_listed_and_deleted_without_a_trace(cli: Cli, words: Sequence[str], word: str) -> None:
    array = made(cli, words, word)
    assert (array["address"], array["device"]) == ("md:md100", "/dev/md100")
    assert here(cli) == [(words[1], "made")]
    gone = cli(*ARRAY, "delete", array["name"], "--confirm", array["name"])
    assert (gone.status, gone.out.splitlines()[-1]) == (0, f"deleted  {array['name']}")
    assert (here(cli), free(cli)) == ([], EIGHT)


def test_without_the_word_of_its_drives_in_their_order_nothing_is_made(cli: Cli) -> None:
    for words in ((), ("--confirm", "1700,1701"), ("--confirm", "2-e8ca0c")):
        done = cli(*ARRAY, *MIRROR, *words)
        assert (done.status, WORD in done.err) == (3, True), words
    assert (here(cli), free(cli)) == ([], EIGHT)


def test_a_drive_that_was_swapped_after_the_question_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    async def swapped(host: Host, drive: Drive) -> Candidate:
        now = await kernel_candidate(host, drive)
        assert now.identity is not None
        other = replace(now.identity, serial="S47FNA0M999999", wwn=None)
        return replace(now, identity=other) if drive.device == "/dev/sdc" else now

    monkeypatch.setattr("app.core.changes.arrays.builder.kernel_candidate", swapped)
    done = cli(*ARRAY, *MIRROR, "--confirm", WORD)
    assert (done.status != 0, "/dev/sdc is not the drive that you confirmed" in done.err, here(cli)) == (True, True, [])


@pytest.mark.parametrize("words", [("create", "raid1", "sdb", "sdc", "--confirm", WORD), ("delete", "rb-1")])
def test_a_read_only_raidbench_makes_and_deletes_nothing(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli("--read-only", *ARRAY, *words)
    assert (done.status, "Read-only" in done.err) == (3, True)


def test_a_dry_run_of_a_deletion_shows_the_commands_and_runs_none(cli: Cli) -> None:
    name = made(cli)["name"]
    done = cli(*ARRAY, "delete", name, "--dry-run")
    assert (done.status, "mdadm --stop /dev/md100" in done.out) == (0, True)
    assert "mdadm --zero-superblock /dev/sdb /dev/sdc" in done.out
    assert here(cli) == [("raid1", "made")]


def test_an_array_that_another_program_deleted_is_no_longer_listed_once_its_deletion_was_tried(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = made(cli)["name"]

    async def find(_builder: ArrayBuilder, _entry: ArrayJournalEntry) -> ArrayMatch:
        return ArrayMatch(state=ArrayMatchState.ABSENT, sentence="No array has its UUID.")

    monkeypatch.setattr(ArrayBuilder, "find", find)
    looked = cli(*ARRAY, "delete", name, "--dry-run")
    assert (looked.status, here(cli)) == (2, [("raid1", "made")])
    for why in (f"{name} no longer exists", f"raidbench did not create an array '{name}' here"):
        done = cli(*ARRAY, "delete", name, "--confirm", name)
        assert (done.status, why in done.err, here(cli)) == (2, True, [])


def test_only_what_was_made_here_is_deleted(cli: Cli) -> None:
    done = cli(*ARRAY, "delete", "system", "--confirm", "system")
    assert (done.status, "raidbench did not create an array 'system' here" in done.err) == (2, True)


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2])
def test_what_a_failed_step_leaves_is_taken_apart_at_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    run_only(monkeypatch, count, ToolFailedError("no luck."))
    done = cli(*ARRAY, *NESTED, "--confirm", "6-6d125b")
    assert (done.status, "was not created: no luck." in done.err, "All its parts were deleted." in done.err) == (
        1,
        True,
        True,
    )
    assert (here(cli), free(cli)) == ([], EIGHT)


@pytest.mark.long
def test_an_array_at_which_nobody_can_look_is_named_and_recovered_once_its_drives_answer(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the process that made it, too: it is not at it any more."""

    async def fails(_self: ArrayBuilder, _entry: ArrayJournalEntry) -> ArrayMatch:
        raise ToolFailedError("mdadm: cannot open /dev/sdc: No such device or address")

    with monkeypatch.context() as patch:
        patch.setattr("app.core.changes.arrays.builder.ArrayBuilder.find", fails)
        done = cli(*ARRAY, *MIRROR, "--name", "rb-lost", "--confirm", WORD)
    assert done.status == 1
    assert "Whether rb-lost was created is unknown: mdadm: cannot open /dev/sdc" in done.err
    assert "`raidbench --demo arrays recover`" in done.err
    assert "rb-lost" in cli(*RACK, "devices").err
    assert cli(*RACK, "recover", "--restore").status == 0
    assert here(cli) == [("raid1", "made")]
    finds = ArrayBuilder.find

    async def fails_later(self: ArrayBuilder, entry: ArrayJournalEntry) -> ArrayMatch:
        return await (fails if entry.stage is ArrayStage.REMOVING or removing else finds)(self, entry)

    removing = []
    take = MdRaid.run_making

    async def remove(self: MdRaid, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        removing.append(steps)
        await take(self, controller, steps)

    with monkeypatch.context() as patch:
        patch.setattr("app.core.changes.arrays.builder.ArrayBuilder.find", fails_later)
        patch.setattr(MdRaid, "run_making", remove)
        done = cli(*ARRAY, "delete", "rb-lost", "--confirm", "rb-lost")
    assert "Whether rb-lost was deleted is unknown: mdadm: cannot open /dev/sdc" in done.err
    assert cli(*RACK, "recover", "--restore").status == 0
    assert (here(cli), free(cli)) == ([], EIGHT)


REST = "former ext4 (a copy of its superblock at 128 MiB)"


def test_what_is_left_of_a_former_file_system_does_not_stand_against_a_deletion(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = made(cli)["name"]
    kinds: list[str] = []

    async def lies(_host: object, _device: str) -> tuple[Signature, ...]:
        return tuple(Signature(kind=kind) for kind in kinds)

    monkeypatch.setattr("app.core.changes.arrays.builder.require_free", lies)
    for found, status in (((REST, "xfs"), 3), (("unknown",), 3), ((REST,), 0)):
        kinds[:] = found
        done = cli(*ARRAY, "delete", name, "--confirm", name)
        assert done.status == status, done.err
        assert ("is not empty" in done.err) is bool(status)
        assert REST not in done.err


@pytest.mark.parametrize(
    ("count", "standing"),
    [
        pytest.param(0, "absent", marks=pytest.mark.long),
        (1, "partly"),
        pytest.param(2, "partly", marks=pytest.mark.long),
        (3, "whole"),
    ],
)
def test_after_a_kill_recover_tells_what_there_is_and_leaves_no_half(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, count: int, standing: str
) -> None:
    killed(cli, monkeypatch, count, NESTED, "6-6d125b")
    assert "was interrupted" in cli(*RACK, "devices").err
    (left,) = cli(*RACK, "recover", "--list", "--json").json["left"]["arrays"]
    assert (left["standing"], bool(left["remove"])) == (standing, standing in ("partly", "whole"))
    assert cli(*RACK, "recover", "--restore").status == 0
    assert here(cli) == ([("raid50", "made")] if standing == "whole" else [])
    assert (free(cli) == EIGHT) is (standing != "whole")
    assert "was interrupted" not in cli(*RACK, "devices").err


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "standing"), [(0, "whole"), (1, "partly"), (2, "partly"), (3, "partly"), (4, "partly"), (5, "absent")]
)
def test_after_a_kill_in_a_deletion_recover_tells_what_there_is_and_finishes_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, count: int, standing: str
) -> None:
    name = made(cli, NESTED, "6-6d125b")["name"]
    take = MdRaid.run_making

    async def some(self: MdRaid, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        assert len(steps) == 5
        await take(self, controller, steps[:count])
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(MdRaid, "run_making", some)
        with pytest.raises(KilledError):
            cli(*ARRAY, "delete", name, "--confirm", name)
    assert here(cli) == [("raid50", "removing")]
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: False)
    assert "was interrupted" in cli(*RACK, "devices").err
    (left,) = cli(*RACK, "recover", "--list", "--json").json["left"]["arrays"]
    assert (left["name"], left["standing"]) == (name, standing)
    assert cli(*RACK, "recover", "--restore").status == 0
    assert here(cli) == ([("raid50", "made")] if standing == "whole" else [])
    assert (free(cli) == EIGHT) is (standing != "whole")


@pytest.mark.long
def test_what_somebody_else_made_of_its_drives_meanwhile_is_left_alone(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(cli, monkeypatch, 0, MIRROR, WORD)
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: True)
    made(cli, ("create", "raid1", "sdc", "sdd"), "2-654c33")
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: False)
    done = cli(*RACK, "recover", "--restore")
    assert done.status == 1
    assert "/dev/sdc belongs to a different md array, " in done.err
    assert "raidbench cannot verify that it created this array." in done.err
    assert ("raid1", "made") in here(cli)
    assert "/dev/sdd" not in free(cli)


def test_a_raidbench_that_is_at_it_is_not_disturbed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    name = made(cli)["name"]
    with monkeypatch.context() as patch:
        patch.setattr("app.core.changes.arrays.builder.ArrayBuilder.find", _killed)
        with pytest.raises(KilledError):
            cli(*ARRAY, "delete", name, "--confirm", name)
    assert here(cli) == [("raid1", "made")]


async def _killed(*_words: object) -> None:
    raise KilledError


@pytest.mark.long
@pytest.mark.parametrize("name", ["rb-mine", "system"])
def test_a_name_that_an_array_has_is_given_to_no_other(cli: Cli, name: str) -> None:
    if name != "system":
        made(cli, (*MIRROR, "--name", name))
    done = cli(*ARRAY, "create", "raid1", "sdd", "sde", "--name", name, "--confirm", "1702,1703")
    assert (done.status, f"An array named {name} exists already." in done.err) == (3, True)
    assert {"/dev/sdd", "/dev/sde"} <= free(cli)


def test_a_full_disk_is_told_and_nothing_is_made(cli: Cli, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.core.session.journal.open_own", full)
    done = cli(*ARRAY, *MIRROR, "--confirm", WORD)
    assert (done.status, "Nothing was created." in done.err) == (1, True)
    monkeypatch.undo()
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(state))
    assert free(cli) == EIGHT


@pytest.mark.long
def test_a_raid_10_of_a_layout_is_shown_and_deleted_as_any_other(cli: Cli) -> None:
    words = ("create", "raid10", "sdb", "sdc", "sdd", "--layout", "far=2", "--strip", "64k", "--name", "far3")
    asked = cli(*ARRAY, *words, "--dry-run")
    assert "2 far copies (f2)" in asked.out
    made(cli, words, "3-2f9ba9")
    told = cli(*RACK, "devices", "--json").json
    address = next(
        one["address"] for one in told["arrays"] if one["level"] == "raid10" and one["address"] == "md:md100"
    )
    assert "far=2" in cli(*RACK, "show", address).out
    (entry,) = cli(*ARRAY, "list", "--json").json["made_here"]
    assert entry["layout"] == "f2"
    done = cli(*ARRAY, "delete", "far3", "--confirm", "far3")
    assert done.status == 0, done.err
    assert (here(cli), free(cli)) == ([], EIGHT)


def test_a_layout_that_cannot_be_is_refused_before_anything_is_done(cli: Cli) -> None:
    for layout in ("x2", "f1", "f4"):
        done = cli(*ARRAY, "create", "raid10", "sdb", "sdc", "sdd", "--layout", layout, "--confirm", "3-2f9ba9")
        assert done.status == 2, layout
    assert here(cli) == []
