"""What every start costs on a machine that has none of a vendor's things: a few looks, no program and no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from backends.host import Command, Completed
from backends.protocol import Vendor
from backends.registry import find_vendors
from tests.backends.fakes import FakeHost, machine

QUIET = ("areca", "fusionio", "hba", "marvell", "megaraid", "santricity", "smartarray", "smcli", "threeware")
"""Vendors of cards and disk systems: most machines have none."""
VENDORS = {vendor.name: vendor for vendor in find_vendors(plugins=()).vendors}


class Looked(FakeHost):
    """A machine without any card, which notes what is looked for; a file or program is one too many."""

    def __init__(self) -> None:
        super().__init__(machine())
        self.asked: list[object] = []

    async def list(self, pattern: str) -> tuple[str, ...]:
        self.asked.append(pattern)
        return ()

    def which(self, names: Sequence[str]) -> str | None:
        self.asked.append(tuple(names))
        return None

    async def run(self, command: Command) -> Completed:
        raise AssertionError(command.argv)

    async def read(self, path: str) -> str | None:
        raise AssertionError(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        raise AssertionError(paths)


@pytest.mark.parametrize("name", QUIET)
async def test_a_vendor_that_is_not_there_costs_a_look_at_its_drivers_and_one_for_its_tools(name: str) -> None:
    host = Looked()
    assert not await VENDORS[name].present(host)
    looks = [one for one in host.asked if isinstance(one, tuple)]
    assert len(looks) <= 1
    assert len(host.asked) <= 5


async def test_no_two_vendors_look_for_the_same() -> None:
    host = Looked()
    for name in QUIET:
        await VENDORS[name].present(host)
    assert len(host.asked) == len(set(host.asked))


def test_every_vendor_that_is_quiet_is_one() -> None:
    assert all(isinstance(VENDORS.get(name), Vendor) for name in QUIET)
