"""Host bus adapters: storcli prints of them what it prints of RAID cards."""

from __future__ import annotations

import pytest

from backends.model import State
from backends.vendors.megaraid.addresses import card_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.settings import CARD_SETTINGS
from backends.vendors.megaraid.storcli.cards import card
from tests.backends.fakes import disk
from tests.backends.megaraid import answers
from tests.backends.megaraid.cards import PlayedCard

IT = {"Min Strip Size": "512Bytes", "Max Strip Size": "512Bytes", "Enable JBOD": "Yes"}
RAID = {"RAID Level Supported": "RAID0, RAID1, RAID5", "Min Strip Size": "8 KB", "Max Strip Size": "1.0 MB"}


class Adapter(PlayedCard):
    """The played card with one drive that is in no array, by default with the limits and the driver of IT firmware."""

    def __init__(self, limits: dict[str, str] = IT, driver: str = "mpt3sas") -> None:
        super().__init__()
        self.limits, self.driver = limits, driver

    def _answer(self, words: tuple[str, ...]) -> str:
        if words == ("show",):
            return answers.overview("HBA 9500-8i")
        if words == ("/c0/eall/sall", "show", "all"):
            return answers.answer(answers.details("245:1"))
        if words != ("/c0", "show", "all"):
            return answers.failure("Un-supported command")
        rates = dict.fromkeys(answers.RATES, "0 %") | {"Cache Flush Interval": "0s"}
        data = answers.show_all(drives=[answers.drive_row("245:1", state="UGood", group="-")], rates=rates)
        return answers.answer(data | {"Capabilities": self.limits, "Version": {"Driver Name": self.driver}})


@pytest.mark.parametrize(
    ("driver", "limits", "expected"),
    [
        ("mpt3sas", {}, False),
        ("ItSas35", {}, False),
        (None, IT, False),
        ("megaraid_sas", RAID, True),
        (None, RAID, True),
        ("megaraid_sas", {}, None),
        ("mpi3mr", {}, None),
    ],
)
def test_what_makes_arrays(driver: str | None, limits: dict[str, str], expected: bool | None) -> None:
    version = {} if driver is None else {"Version": {"Driver Name": driver}}
    assert card(0, {"Capabilities": limits} | version).makes_arrays is expected


async def test_an_adapter_has_no_rates_and_no_flush_interval() -> None:
    read = await MegaRaid(Adapter()).read(card_target("/c0"))
    keys = [setting.key for setting in CARD_SETTINGS if setting.key != "activation_key"]
    assert {(read[key].now, read[key].availability.why_not) for key in keys} == {
        (None, "the controller is a host bus adapter without arrays")
    }


async def test_an_adapter_has_no_strip_sizes() -> None:
    (found,) = (await MegaRaid(Adapter()).inventory()).controllers
    assert [fact.value for fact in found.facts if fact.label == "Strip sizes"] == []


async def test_drives_of_an_adapter_are_the_systems_own() -> None:
    (drive,) = (await MegaRaid(Adapter()).inventory()).drives
    assert drive.state is State.ONLINE


@pytest.mark.parametrize(("there", "state"), [(True, State.ONLINE), (False, State.UNASSIGNED)])
async def test_a_drive_in_no_array_is_unassigned_unless_the_system_has_it(there: bool, state: State) -> None:
    host = Adapter(RAID, "megaraid_sas")
    host.files |= disk("sdc", devno="8:32", device__wwid="naa.500a075100000001") if there else {}
    (drive,) = (await MegaRaid(host).inventory()).drives
    assert (drive.device, drive.state) == ("/dev/sdc" if there else None, state)
