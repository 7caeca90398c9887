"""`array create` and `delete` in a volume group on the rack: made, refused, found after a crash; others' left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backends.array_planning import ArrayMatch, CreatedArray
from backends.change import ChangeStep
from backends.model import Target
from backends.vendors.lvm.backend import Lvm
from tests.cli.conftest import Cli

ARRAY = ("--demo", "arrays", "array")
STRIPED = ("create", "raid0", "data", "nvme2n1", "nvme3n1", "--size", "10G", "--name", "bench")


class KilledError(BaseException):
    """As if raidbench were gone from here on."""


def listed(cli: Cli) -> Any:
    return cli(*ARRAY, "list", "--json").json


def volumes(cli: Cli) -> list[str]:
    return [one["name"] for one in listed(cli)["arrays"] if one["address"].startswith("lvm:")]


def here(cli: Cli) -> list[tuple[str, str]]:
    return [(entry["name"], entry["stage"]) for entry in listed(cli)["made_here"]]


def made(cli: Cli) -> Any:
    done = cli(*ARRAY, *STRIPED, "--confirm", "data", "--json")
    assert done.status == 0, done.err
    return done.json["array"]


def killed(cli: Cli, monkeypatch: pytest.MonkeyPatch, *, before: bool) -> None:
    """raidbench is gone before or after lvcreate; others see that it is."""
    take = Lvm.run_making

    async def some(self: Lvm, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        if not before:
            await take(self, controller, steps)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Lvm, "run_making", some)
        with pytest.raises(KilledError):
            cli(*ARRAY, *STRIPED, "--confirm", "data")
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: False)


@pytest.mark.long
def test_a_volume_is_made_listed_by_its_own_uuid_and_deleted(cli: Cli) -> None:
    array = made(cli)
    assert (array["address"], array["size_bytes"], array["full_stripe_bytes"]) == (
        "lvm:data/bench",
        10 << 30,
        128 << 10,
    )
    (entry,) = listed(cli)["made_here"]
    assert (entry["name"], entry["stage"], len(entry["uuid"])) == ("bench", "made", 38)
    assert volumes(cli) == ["data/mail", "data/bench"]
    gone = cli(*ARRAY, "delete", "bench", "--confirm", "bench")
    assert (gone.status, here(cli), volumes(cli)) == (0, [], ["data/mail"]), gone.err


@pytest.mark.parametrize("words", [(), ("--confirm", "mail"), ("--confirm", "1302,1303")])
def test_without_the_name_of_the_group_nothing_is_made(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*ARRAY, *STRIPED, *words)
    assert (done.status, "--confirm data" in done.err, volumes(cli)) == (3, True, ["data/mail"])


def test_a_dry_run_tells_the_command_and_makes_nothing(cli: Cli) -> None:
    done = cli(*ARRAY, "create", "raid5", "data", "--size", "100G", "--dry-run")
    assert "--type raid5 --stripes 4 --stripesize 64k" in done.out
    assert "no other volume is changed" in done.err
    assert (here(cli), volumes(cli)) == ([], ["data/mail"])


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (("raid0", "data", "nvme2n1"), 2, "at least 2 physical volumes"),
        (("raid0", "data", "--size", "100T"), 2, "5242880 are needed on each of 5 physical volumes for 100 TiB"),
        (("raid0", "data", "sdb"), 2, "There is no drive 'sdb'"),
        (("raid0", "data", "--name", "mail"), 3, "The volume group data already has a volume named mail."),
        (("raid50", "data"), 2, "LVM does not support RAID50."),
        (("raid0", "sdb", "--size", "10G"), 2, "a size is not supported here"),
    ],
)
def test_what_cannot_be_made_is_refused(cli: Cli, words: tuple[str, ...], status: int, why: str) -> None:
    done = cli(*ARRAY, "create", *words, "--dry-run")
    assert (done.status, why in done.err) == (status, True), done.err


def test_others_volumes_are_never_deleted(cli: Cli) -> None:
    done = cli(*ARRAY, "delete", "mail", "--confirm", "mail")
    assert (done.status, volumes(cli)) == (2, ["data/mail"])


def test_what_cannot_be_looked_at_is_not_deleted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    made(cli)
    find = Lvm.find_made

    async def inactive(self: Lvm, array: CreatedArray) -> ArrayMatch:
        found = await find(self, array)
        return replace(found, device=None, looked_at=(), remove=(), sentence="It is not active.")

    monkeypatch.setattr(Lvm, "find_made", inactive)
    done = cli(*ARRAY, "delete", "bench", "--confirm", "bench")
    assert (done.status, "bench was not deleted: It is not active." in done.err) == (3, True)
    assert here(cli) == [("bench", "made")]


@pytest.mark.long
@pytest.mark.parametrize(("before", "standing", "left"), [(True, "absent", []), (False, "whole", [("bench", "made")])])
def test_after_a_kill_recover_tells_whether_it_was_made(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, before: bool, standing: str, left: list[tuple[str, str]]
) -> None:
    killed(cli, monkeypatch, before=before)
    assert here(cli) == [("bench", "making")]
    (found,) = cli("--demo", "arrays", "recover", "--list", "--json").json["left"]["arrays"]
    assert found["standing"] == standing
    assert cli("--demo", "arrays", "recover", "--restore").status == 0
    assert here(cli) == left
    if left:
        assert cli(*ARRAY, "delete", "bench", "--confirm", "bench").status == 0
    assert volumes(cli) == ["data/mail"]


PLAN = """
[measure]
repeats = 1
[job]
rw = "randread"
runtime = "2s"
[[axis]]
array = "level"
values = ["raid0", "raid5"]
drives = ["data"]
strip = "64k"
"""


def test_a_sweep_over_levels_makes_none_in_a_group(cli: Cli, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    done = cli("--demo", "arrays", "sweep", str(plan), "--dry-run")
    assert (done.status, "creates its arrays on drives, not in lvm:data" in done.err) == (2, True), done.err
    assert volumes(cli) == ["data/mail"]
