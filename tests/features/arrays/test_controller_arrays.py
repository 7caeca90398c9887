"""`array create` and `delete` behind cards, on the rack: what is made, what is refused, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from backends.change import ChangeStep
from backends.model import Level, Target
from backends.protocol import ArrayCreator
from backends.simulator.firmware_rules import PINNED, RefusalError
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.threeware.backend import Threeware
from tests.cli.conftest import Cli

RACK = ("--demo", "arrays", "--demo-speed", "1000")
ARRAY = (*RACK, "array")
STORCLI = ("create", "raid5", "252:0", "252:1", "252:2", "--name", "rb-1", "--confirm", "3-10dbd8")
MEGACLI = (
    "create",
    "raid5",
    "245:0",
    "245:1",
    "245:2",
    "--name",
    "rb-1",
    "--set",
    "drive_cache=off",
    "--confirm",
    "3-ccf2e4",
)
CREATE = ("--name", "rb-1", "--confirm")
SSACLI = ("create", "raid5", "2I:1:1", "2I:1:2", "2I:1:3", *CREATE, "3-39be97")
ARCCONF = ("create", "raid5", "/arc1/0:0", "/arc1/0:1", "/arc1/0:2", *CREATE, "3-d825f9")
SERIES = ("create", "raid5", "/aac2/0:0", "/aac2/0:1", "/aac2/0:2", *CREATE, "3-423bb6")
TW_CLI = ("create", "raid5", "p0", "p1", "p2", *CREATE, "3-0b4c45")
WORDS = {"/c0": STORCLI, "/c1": MEGACLI, "/slot0": SSACLI, "/arc1": ARCCONF, "/aac2": SERIES, "/c2": TW_CLI}
NAMES = {
    "/c0": "storcli",
    "/c1": "MegaCli",
    "/slot0": "ssacli",
    "/arc1": "arcconf",
    "/aac2": "arcconf of series 5",
    "/c2": "tw_cli",
}
EACH = pytest.mark.parametrize(("card", "words"), WORDS.items(), ids=NAMES.values())
QUICK_FIRST = pytest.mark.parametrize(
    ("card", "words"),
    [
        pytest.param(*one, id=NAMES[one[0]], marks=[pytest.mark.long] if one[0] in ("/c1", "/aac2") else [])
        for one in WORDS.items()
    ],
)
"""The same; MegaRAID's and Adaptec's second way of speaking among the long tests."""
BOTH = pytest.mark.parametrize(("words", "card"), [(STORCLI, "/c0"), (MEGACLI, "/c1")], ids=["storcli", "MegaCli"])
TARGETS = {
    "/c0": "/c0/v1",
    "/c1": "/c1/v0",
    "/slot0": "/slot0/ld2",
    "/arc1": "/arc1/ld0",
    "/aac2": "/aac2/ld0",
    "/c2": "/c2/u1",
}
BACKENDS = {"/c0": "megaraid", "/c1": "megaraid", "/c2": "threeware"}
FREE = 53
"""Drives of the rack."""


Take = Callable[..., Awaitable[None]]
"""A backend's `run_making`."""


class KilledError(BaseException):
    """As if raidbench were gone from here on."""


def free(cli: Cli) -> int:
    drives = cli(*ARRAY, "list", "--json").json["drives"]
    return sum(drive["free"] for drive in drives if drive["free_extents"] is None)


def here(cli: Cli) -> list[tuple[str, str]]:
    return [(entry["level"], entry["stage"]) for entry in cli(*ARRAY, "list", "--json").json["made_here"]]


def killed(cli: Cli, monkeypatch: pytest.MonkeyPatch, count: int, words: Sequence[str]) -> None:
    """raidbench is gone after so many steps; others see that it is."""
    with monkeypatch.context() as patch:
        for backend in (MegaRaid, SmartArray, Threeware):
            patch.setattr(backend, "run_making", _some(backend.run_making, count))
        with pytest.raises(KilledError):
            cli(*ARRAY, *words)
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: False)


def _some(take: Take, count: int) -> Take:
    async def some(self: ArrayCreator, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        await take(self, controller, steps[:count])
        raise KilledError

    return some


@pytest.mark.long
@QUICK_FIRST
def test_what_a_card_makes_is_measured_and_deleted_without_a_trace(cli: Cli, words: Sequence[str], card: str) -> None:
    done = cli(*ARRAY, *words, "--json")
    assert done.status == 0, done.err
    assert done.json["array"]["address"] == f"{BACKENDS.get(card, 'smartarray')}:{TARGETS[card]}"
    assert (here(cli), free(cli)) == ([("raid5", "made")], FREE - 3)
    run = cli(*RACK, "bench", TARGETS[card], "--profile", "randread-4k", "--runtime", "2", "--ramp", "0")
    assert run.status == 0, run.err
    gone = cli(*ARRAY, "delete", "rb-1", "--confirm", "rb-1")
    assert (gone.status, gone.out.splitlines()[-1]) == (0, "deleted  rb-1")
    assert (here(cli), free(cli)) == ([], FREE)


@pytest.mark.long
@EACH
def test_what_a_kill_leaves_of_a_cards_array_is_found_by_its_drives(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], card: str
) -> None:
    standings = ["absent", "whole"] if card != "/c1" else ["absent", "partly", "partly", "whole"]
    for count, standing in enumerate(standings):
        killed(cli, monkeypatch, count, words)
        (left,) = cli(*RACK, "recover", "--list", "--json").json["left"]["arrays"]
        assert (left["standing"], bool(left["remove"])) == (standing, standing != "absent")
        assert cli(*RACK, "recover", "--restore").status == 0
        assert here(cli) == ([("raid5", "made")] if standing == "whole" else [])
        assert free(cli) == (FREE - 3 if standing == "whole" else FREE)


@pytest.mark.long
@EACH
def test_a_kill_in_a_deletion_leaves_the_array_or_its_free_drives_and_recover_says_which(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], card: str
) -> None:
    for count, standing in enumerate(("whole", "absent")):
        if not here(cli):
            assert cli(*ARRAY, *words).status == 0
        killed(cli, monkeypatch, count, ("delete", "rb-1", "--confirm", "rb-1"))
        assert here(cli) == [("raid5", "removing")]
        (left,) = cli(*RACK, "recover", "--list", "--json").json["left"]["arrays"]
        assert (left["name"], left["standing"]) == ("rb-1", standing)
        assert cli(*RACK, "recover", "--restore").status == 0
        assert here(cli) == ([("raid5", "made")] if standing == "whole" else [])
        assert free(cli) == (FREE - 3 if standing == "whole" else FREE)


@pytest.mark.long
@pytest.mark.parametrize(("level", "count"), [("raid50", 6), ("raid60", 8)])
def test_what_a_kill_leaves_of_an_array_of_legs_is_found_and_deleted_again(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, level: str, count: int
) -> None:
    drives = [f"/arc1/0:{device}" for device in range(count)]
    words = ("create", level, *drives, *CREATE)
    words = (*words, cli(*ARRAY, *words, "no-token").err.split("--confirm ")[-1].split(".")[0].split()[0])
    killed(cli, monkeypatch, 1, words)
    (left,) = cli(*RACK, "recover", "--list", "--json").json["left"]["arrays"]
    assert (left["standing"], bool(left["remove"])) == ("whole", True)
    assert cli(*RACK, "recover", "--restore").status == 0
    assert (here(cli), free(cli)) == ([(level, "made")], FREE - count)
    assert cli(*ARRAY, "delete", "rb-1", "--confirm", "rb-1").status == 0
    assert (here(cli), free(cli)) == ([], FREE)


@BOTH
def test_an_array_that_a_card_refuses_leaves_nothing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], card: str
) -> None:
    def pinned(*_words: object, **_more: object) -> None:
        raise RefusalError(PINNED, "Controller has LD cache pinned")

    monkeypatch.setattr("backends.simulator.firmware_rules.create", pinned)
    done = cli(*ARRAY, *words)
    assert (done.status, "rb-1 was not created" in done.err, "All its parts were deleted." in done.err) == (
        1,
        True,
        True,
    )
    assert {"/c0": "Controller has LD cache pinned", "/c1": "0x54"}[card] in done.err
    assert (here(cli), free(cli)) == ([], FREE)


def test_a_policy_that_reads_otherwise_than_it_was_asked_for_is_told_and_the_array_stays(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backends.simulator.smartarray.arcconf._WRITE", dict.fromkeys(("wt", "wbb", "wb"), "Enabled"))
    done = cli(*ARRAY, *SERIES, "--set", "write_cache=write-back", "--json")
    assert done.status == 1
    assert done.json["array"]["differs"] == {
        "write_cache": "Write cache of rb-1 is always-write-back instead of write-back."
    }
    assert "instead of write-back." in done.err
    assert here(cli) == [("raid5", "made")]
    assert cli(*ARRAY, "delete", "rb-1", "--confirm", "rb-1").status == 0
    usual = cli(*ARRAY, *SERIES)
    assert (usual.status, "instead of write-through." in usual.err) == (0, True)


def test_one_that_is_another_by_now_is_not_deleted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli(*ARRAY, *MEGACLI).status == 0
    striped = dict.fromkeys(Level, "Primary-0, Secondary-0, RAID Level Qualifier-0")
    monkeypatch.setattr("backends.simulator.megacli.lists.LEVELS", striped)
    done = cli(*ARRAY, "delete", "rb-1", "--confirm", "rb-1")
    assert (done.status, "is RAID0, not RAID5" in done.err) == (3, True)
    assert here(cli) == [("raid5", "made")]
