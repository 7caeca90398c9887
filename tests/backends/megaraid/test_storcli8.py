"""Version 8 (storcli2, perccli2) behind the backend: its own shape, its own words, one card beside another tool's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backends.errors import BlockedError
from backends.host import Command, Completed
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.fakes import FakeHost, machine
from tests.backends.megaraid import answers
from tests.backends.megaraid.cards import TOOL, PlayedCard

STORCLI2 = "/opt/MegaRAID/storcli2/storcli2"
C0, V1 = card_target("/c0"), volume_target("/c0", 1)
PLACES = ("306:0", "306:1")


def answer(data: object, **more: str) -> str:
    return answers.answer(data, card="0", version=answers.VERSION_8, **more)  # type: ignore[arg-type]


class Played8(FakeHost):
    """storcli2 and one 9660, with a RAID 1 as v1."""

    def __init__(self, *, current: str = "NR,WB", pack: str = "Optimal") -> None:
        super().__init__(machine(**{STORCLI2: ""}))
        info = {"DG/VD": "0/1", "TYPE": "RAID1", "State": "Optl", "Access": "RW", "Size": "9.094 TiB", "Name": ""}
        info |= {"CurrentCache": current, "DefaultCache": "NR,WB"}
        rows = [
            {"EID:Slt": place, "PID": 293, "State": "Conf", "Status": "Online", "DG": 0, "Size": "9.094 TiB"}
            for place in PLACES
        ]
        own = {"Strip Size": "256 KiB", "Span Depth": 1, "Number of Drives": 2, "Auto BGI": "Off", "Secured": "No"}
        own |= {"Drive Write Cache Policy": "Disabled", "SCSI NAA Id": answers.NAA}
        volume = answer({"Virtual Drives": [{"VD Info": info, "PDs": rows, "VD Properties": own}]})
        whole = {
            "Basics": {"Product Name": "MegaRAID 9660-16i", "Serial Number": "SPE1"},
            "Version": {"Firmware Version": "8.12", "Driver Name": "mpi3mr"},
            "Supported VD operations": {"Support Changing Write Policy": "Yes", "Support Changing Read Policy": "Yes"},
            "Properties": {"BGI Rate(%)": 30, "Patrol Read Rate(%)": 30},
            "VD LIST": [info],
            "PD LIST": rows,
            "Energy Pack Info": [{"Type": "Supercap", "SubType": "FBU345", "Temperature(C)": 38, "Status": pack}],
        }
        option = {"Software option": "RAID 5/50", "Time Remaining": "Unlimited", "Location": "Factory Installed"}
        self.plays = {
            "show": answers.answer(
                {"System Overview": [{"Ctrl": 0, "Product Name": "MegaRAID 9660"}]},
                card=None,
                version=answers.VERSION_8,
            ),
            "/c0 show all": answer(whole),
            "/c0/vall show all": volume,
            "/c0/v1 show all": volume,
            "/c0/eall/sall show all": answer({}),
            "/c0 show aso": answer({"Advanced Software options": [option]}),
        }
        self.ran: list[str] = []

    def which(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name == STORCLI2), None)

    async def run(self, command: Command) -> Completed:
        line = " ".join(command.argv[1:-2])
        self.ran.append(line)
        text = self.plays.get(line, "syntax error, unexpected TOKEN_OBJ_CV, expecting $end")
        return Completed(returncode=0, stdout=text, stderr="")


class Both(Played8):
    """A 9660 that storcli2 sees and a 9280 that storcli64 sees: each is its tool's card 0."""

    def __init__(self) -> None:
        super().__init__()
        self.other = PlayedCard()

    def which(self, names: Sequence[str]) -> str | None:
        return super().which(names) or self.other.which(names)

    async def run(self, command: Command) -> Completed:
        return await (self.other.run(command) if command.argv[0] == TOOL else super().run(command))


def backend(host: FakeHost) -> MegaRaid:
    return MegaRaid(host)


async def test_what_is_there() -> None:
    found = await backend(Played8()).inventory()
    (card,), (array,) = found.controllers, found.arrays
    assert (card.model, card.firmware, card.driver) == ("MegaRAID 9660-16i", "8.12", "mpi3mr")
    assert card.protection is not None
    assert (card.protection.kind, card.protection.state) == ("cachevault", "optimal")
    assert [(one.name, one.state) for one in card.features] == [("RAID 5/50", "active")]
    assert (array.strip_bytes, array.data_drives, len(found.drives)) == (1 << 18, 1, 2)


async def test_nothing_is_asked_that_it_has_no_word_for() -> None:
    host = Played8()
    await backend(host).inventory()
    assert not [line for line in host.ran if "cv" in line or "bbu" in line or "perfmode" in line or "autobgi" in line]


async def test_what_is_in_force_is_what_it_says() -> None:
    now = (await backend(Played8(current="NR,WT", pack="Failed")).read(V1))["write_cache"]
    assert (now.now, now.effective) == ("write-back", "write-through")
    assert "CacheVault is failed" in (now.why_effective or "")


async def test_it_has_no_io_policy_and_no_adaptive_read_ahead() -> None:
    now = await backend(Played8()).read(V1)
    assert not now["io_policy"].availability.available
    assert [choice.value for choice in now["read_ahead"].choices] == ["none", "read-ahead"]


async def test_the_preset_leaves_out_what_there_is_no_choice_of() -> None:
    change = await backend(Played8()).plan(V1, "fastpath", "preset")
    assert [step.argv[3] for step in change.writes] == ["wrcache=wt"]


async def test_a_card_that_never_speaks_of_fastpath_is_not_said_to_lack_its_key() -> None:
    host = Played8(current="NR,WT")
    now = (await backend(host).read(V1))["fastpath"]
    assert (now.effective, now.why_effective) == ("unknown", "the tool does not report whether its option is activated")


async def test_card_settings_that_are_not_told_are_dimmed() -> None:
    now = await backend(Played8()).read(C0)
    assert now["bgi_rate"].availability.available
    for key in ("rebuild_rate", "cache_flush_interval", "perf_mode"):
        assert not now[key].availability.available, key
    with pytest.raises(BlockedError):
        await backend(Played8()).plan(C0, "rebuild_rate", "50")


async def test_two_tools_that_count_alike_get_addresses_of_their_own() -> None:
    found = await backend(Both()).inventory()
    assert [str(one.target) for one in found.controllers] == ["megaraid:/c0", "megaraid:/storcli2/c0"]
    assert [one.model for one in found.controllers] == ["LSI MegaRAID SAS 9280-24i4e", "MegaRAID 9660-16i"]
    second = next(array for array in found.arrays if array.target.address == "/storcli2/c0/v1")
    assert (await backend(Both()).read(second.target))["strip_size"].now == str(1 << 18)
