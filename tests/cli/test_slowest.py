"""`slowest` on the rack that has software RAID."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli

LINUX = ("--demo", "linux", "--demo-speed", "1000")


def test_what_would_be_read_is_said(cli: Cli) -> None:
    done = cli(*LINUX, "slowest", "md:md1", "--dry-run")
    assert (done.status, done.out.split()) == (0, ["/dev/sdc", "/dev/sdd", "/dev/sde", "/dev/sdf"])
    assert "4 drives in 5 rounds" in done.err


@pytest.mark.long
def test_members_that_are_alike_are_not_blamed(cli: Cli) -> None:
    done = cli(*LINUX, "slowest", "md:md1", "--rounds", "3", "--seed", "1", "--json")
    assert (done.status, len(done.json["drives"])) == (0, 4)
    assert [one["slow"] for one in done.json["drives"]] == [False] * 4


@pytest.mark.parametrize(
    ("target", "status", "said"), [("md:md0", 1, "it takes 4"), ("block:sda", 2, "has no members")]
)
def test_what_has_too_few_members_is_a_sentence(cli: Cli, target: str, status: int, said: str) -> None:
    done = cli(*LINUX, "slowest", target)
    assert (done.status, said in done.err) == (status, True)
