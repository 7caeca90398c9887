"""Controllers from sysfs: what they are, what hangs from them, and what doctor says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from backends.errors import NotFoundError, RaidbenchError, ToolFailedError
from backends.firmware_queries import FirmwareQuery, FirmwareQueryHost
from backends.host import Command, Completed
from backends.model import Controller, Inventory, Problem, Scope, State, Target
from backends.registry import MachineBackends
from backends.vendors.block import VENDOR as BLOCK
from backends.vendors.hba import VENDOR
from backends.vendors.hba.backend import HbaBackend
from tests.backends.fakes import FakeHost, disk, machine
from tests.backends.hba.answers import ANSWERS, AnsweringCard

LSPCI = """\
Slot:\t0000:03:00.0
Class:\tRAID bus controller [0104]
Vendor:\tBroadcom / LSI [1000]
Device:\tMegaRAID SAS 2108 [Liberator] [0079]
SVendor:\tBroadcom / LSI [1000]
SDevice:\tMegaRAID SAS 9260-8i [9261]

Slot:\t0000:00:1f.2
Class:\tSATA controller [0106]
Vendor:\tIntel Corporation [8086]
Device:\tC610/X99 series chipset 6-Port SATA Controller [AHCI mode] [8d02]
SVendor:\tSuper Micro Computer Inc [15d9]
SDevice:\tDevice [0832]

Slot:\t0000:04:00.0
Class:\tSerial Attached SCSI controller [0107]
Vendor:\tBroadcom / LSI [1000]
Device:\tSAS3008 PCI-Express Fusion-MPT SAS-3 [0097]

"""
RAID, SATA, HBA, NVME = "0000:03:00.0", "0000:00:1f.2", "0000:04:00.0", "0000:05:00.0"


def function(address: str, kind: str, ids: str, **more: str) -> dict[str, str]:
    """sysfs of a PCI function; `ids` are vendor, device, and those of the board."""
    names = ("vendor", "device", "subsystem_vendor", "subsystem_device")
    base = f"/sys/bus/pci/devices/{address}"
    files = {f"{base}/class": f"0x{kind}00", f"{base}/numa_node": "0"}
    files |= {f"{base}/{name}": f"0x{number}" for name, number in zip(names, ids.split(), strict=False)}
    return files | {f"{base}/{name}": value for name, value in more.items()}


def scsi_host(number: int, **said: str) -> dict[str, str]:
    return {f"/sys/class/scsi_host/host{number}/{name}": value for name, value in said.items()}


FILES = {
    **function(RAID, "0104", "1000 0079 1000 9261", current_link_speed="5.0 GT/s PCIe", current_link_width="4",
               max_link_speed="5.0 GT/s PCIe", max_link_width="8"),
    **function(SATA, "0106", "8086 8d02 15d9 0832", current_link_speed="Unknown", max_link_width="255"),
    **function(HBA, "0107", "1000 0097 1000 3090"),
    **function(NVME, "0108", "144d a808"),
    **scsi_host(7, proc_name="megaraid_sas", can_queue="975", cmd_per_lun="256", sg_tablesize="80"),
    **scsi_host(0, proc_name="ahci", can_queue="32"),
    **scsi_host(1, proc_name="ahci", can_queue="32"),
    **scsi_host(2, proc_name="ahci", can_queue="31"),
    **scsi_host(8, proc_name="mpt3sas", board_name="SAS9300-8i", version_fw="16.00.12.00", version_bios="08.37.00.00",
                board_tracer="SV63012345"),
    "/sys/module/megaraid_sas/version": "07.719.03.00-rc1",
    "/sys/module/mpt3sas/version": "43.100.00.00",
}  # fmt: skip
PLACES = {
    f"/sys/bus/pci/devices/{RAID}": f"/sys/devices/pci0000:00/0000:00:02.0/{RAID}",
    f"/sys/bus/pci/devices/{SATA}": f"/sys/devices/pci0000:00/{SATA}",
    f"/sys/bus/pci/devices/{HBA}": f"/sys/devices/pci0000:00/0000:00:03.0/{HBA}",
    f"/sys/bus/pci/devices/{RAID}/driver": "/sys/bus/pci/drivers/megaraid_sas",
    f"/sys/bus/pci/devices/{SATA}/driver": "/sys/bus/pci/drivers/ahci",
    f"/sys/bus/pci/devices/{HBA}/driver": "/sys/bus/pci/drivers/mpt3sas",
    "/sys/class/scsi_host/host7": f"/sys/devices/pci0000:00/0000:00:02.0/{RAID}/host7/scsi_host/host7",
    "/sys/class/scsi_host/host8": f"/sys/devices/pci0000:00/0000:00:03.0/{HBA}/host8/scsi_host/host8",
    **{
        f"/sys/class/scsi_host/host{n}": f"/sys/devices/pci0000:00/{SATA}/ata{n + 1}/host{n}/scsi_host/host{n}"
        for n in range(3)
    },
    "/sys/block/sda": f"/sys/devices/pci0000:00/{SATA}/ata1/host0/target0:0:0/0:0:0:0/block/sda",
    "/sys/block/sdb": f"/sys/devices/pci0000:00/0000:00:02.0/{RAID}/host7/target7:2:0/7:2:0:0/block/sdb",
}
NAMED = {"lspci": Completed(returncode=0, stdout=LSPCI, stderr="")}


def host(tools: Mapping[str, Completed] = NAMED) -> FakeHost:
    disks = machine(disk("sda"), disk("sdb", devno="8:16"), **FILES)
    return FakeHost(disks, links=PLACES, tools=tools)


async def card(address: str, tools: Mapping[str, Completed] = NAMED) -> Controller:
    found = (await HbaBackend(host(tools)).inventory()).find(f"hba:{address}")
    assert isinstance(found, Controller)
    return found


def fact(found: Controller, label: str) -> str | None:
    return next((fact.value for fact in found.facts if fact.label == label), None)


async def test_nvme_is_left_to_its_own_backend() -> None:
    found = await HbaBackend(host()).inventory()
    assert [one.target.address for one in found.controllers] == [SATA, RAID, HBA]


async def test_a_card_has_the_name_of_its_board() -> None:
    assert (await card(RAID)).model == "Broadcom / LSI MegaRAID SAS 9260-8i"


async def test_a_chipsets_controller_has_the_name_of_its_chip() -> None:
    assert (await card(SATA)).model == "Intel C610/X99 series chipset 6-Port SATA Controller [AHCI mode]"


@pytest.mark.parametrize("length", [0, 60, LSPCI.index("SDevice"), LSPCI.index("Slot:\t0000:00") - 1])
async def test_a_card_is_not_called_by_its_chip_without_a_word(length: int) -> None:
    tools = {"lspci": Completed(returncode=0, stdout=LSPCI[:length], stderr="")}
    found = await HbaBackend(host(tools=tools)).inventory()
    models = {one.target.address: one.model for one in found.controllers}
    assert models[RAID] == "Broadcom / LSI MegaRAID SAS 2108"
    (problem,) = found.problems
    assert RAID in problem.message
    assert "called by the chip, not by the board" in problem.message


async def test_an_lspci_that_gives_no_answer_is_told() -> None:
    class Slow(FakeHost):
        async def run(self, command: Command) -> Completed:
            raise ToolFailedError("/sbin/lspci could not be started: no answer.")

    slow = Slow(host().files, tools=NAMED)
    (problem,) = (await HbaBackend(slow).inventory()).problems
    assert problem.message.startswith("/sbin/lspci could not be started: no answer. 0000:00:1f.2")


async def test_half_a_list_that_names_every_card_is_no_problem() -> None:
    tools = {"lspci": Completed(returncode=0, stdout=f"{LSPCI}Slot:\t0000:ff", stderr="")}
    assert (await HbaBackend(host(tools=tools)).inventory()).problems == ()


async def test_without_lspci_common_chips_are_known() -> None:
    assert (await card(RAID, {})).model == "Broadcom / LSI MegaRAID SAS 2108"


async def test_without_lspci_the_others_have_their_numbers() -> None:
    assert (await card(SATA, {})).model == "Intel [8086:8d02 (15d9:0832)]"


async def test_what_the_driver_says_of_a_card_comes_first() -> None:
    found = await card(HBA)
    assert (found.model, found.firmware, found.serial) == ("Broadcom / LSI SAS9300-8i", "16.00.12.00", "SV63012345")


async def test_a_card_has_its_driver_with_its_version() -> None:
    assert (await card(RAID)).driver == "megaraid_sas 07.719.03.00-rc1"


async def test_hosts_and_depths_behind_a_controller() -> None:
    found = await card(SATA)
    assert (fact(found, "SCSI hosts"), fact(found, "Queue depth")) == ("host0 to host2", "31 to 32")


async def test_a_link_that_is_narrower_than_the_card_says_so() -> None:
    assert fact(await card(RAID), "PCIe link") == "5.0 GT/s x4, the device supports 5.0 GT/s x8"


async def test_a_chipsets_controller_has_no_link() -> None:
    assert fact(await card(SATA), "PCIe link") is None


async def test_a_card_names_the_tool_that_would_manage_it() -> None:
    assert fact(await card(RAID), "Managed by") == "storcli64 or perccli64, which was not found"
    assert fact(await card(SATA), "Managed by") is None


async def test_a_card_with_a_tool_names_the_program() -> None:
    tools = {**NAMED, "sas3ircu": Completed(returncode=0, stdout="", stderr="")}
    assert fact(await card(HBA, tools), "Managed by") == "/sbin/sas3ircu"


async def test_drives_hang_from_the_controller_on_their_path() -> None:
    found = await MachineBackends(host(), (BLOCK, VENDOR)).probe()
    assert [str(drive.controller) for drive in found.drives] == [f"hba:{SATA}", f"hba:{RAID}"]


async def test_there_is_nothing_to_set() -> None:
    here = MachineBackends(host(), (VENDOR,))
    target = Target(backend="hba", address=HBA, scope=Scope.CONTROLLER)
    assert (here.settings(target), await here.read(target)) == ((), {})
    with pytest.raises(NotFoundError, match="has no settings"):
        here.setter(target)


async def advice(found: FakeHost, address: str) -> list[Problem]:
    return [one for one in await HbaBackend(found).diagnose() if one.where == f"hba:{address}"]


async def test_doctor_names_the_tool_and_where_it_is_looked_for() -> None:
    problem = (await advice(host(), HBA))[0]
    assert "storcli64, sas3flash or sas3ircu" in problem.message
    assert "on PATH" in problem.hint


async def test_doctor_is_content_where_the_tool_is_there() -> None:
    tools = {**NAMED, "sas3ircu": Completed(returncode=0, stdout="", stderr="")}
    assert await advice(host(tools), HBA) == []


async def test_doctor_tells_of_a_narrow_link() -> None:
    problem = (await advice(host(), RAID))[0]
    assert "5.0 GT/s x4" in problem.message
    assert "5.0 GT/s x8" in problem.message


async def test_doctor_has_nothing_to_say_of_a_chipset() -> None:
    assert await advice(host(), SATA) == []


class Asked(AnsweringCard, FakeHost):
    """The machine, whose RAID card answers."""

    def __init__(
        self, answers: Mapping[FirmwareQuery, bytes | RaidbenchError] = ANSWERS, why_not: str | None = None
    ) -> None:
        plain = host()
        FakeHost.__init__(self, plain.files, links=plain.links, tools=plain.tools)
        AnsweringCard.__init__(self, answers, why_not)

    @property
    def firmware(self) -> FirmwareQueryHost:
        return self


async def probed(found: FakeHost) -> Inventory:
    return await MachineBackends(found, (BLOCK, VENDOR)).probe()


async def test_a_card_without_a_tool_is_asked() -> None:
    found = (await probed(Asked())).find(f"hba:{RAID}")
    assert isinstance(found, Controller)
    assert (found.model, found.serial, found.firmware) == ("LSI MegaRAID SAS 9260-8i", "LABMEGA0", "1.80-QEMU")
    assert fact(found, "Settings") == "none: storcli64 or perccli64 is not found"


async def test_its_arrays_are_found_with_their_disk_and_their_members() -> None:
    found = (await probed(Asked())).arrays[0]
    assert (str(found.target), found.device, found.strip_bytes) == (f"hba:{RAID}/v0", "/dev/sdb", 4096)
    assert [str(member) for member in found.members] == [f"hba:{RAID}/s0"]
    assert found.state is State.OPTIMAL


async def test_their_size_is_the_kernels() -> None:
    assert (await probed(Asked())).arrays[0].size_bytes == 1 << 30


async def test_a_card_is_asked_once_in_a_probe() -> None:
    asked = Asked()
    await probed(asked)
    assert [one[1] for one in asked.asked].count(FirmwareQuery.CONTROLLER) == 1


async def test_no_card_is_asked_where_that_is_switched_off() -> None:
    asked = Asked()
    asked.firmware_queries = False
    await probed(asked)
    assert asked.asked == []


async def test_no_card_is_asked_without_a_node() -> None:
    asked = Asked(why_not="There is no node.")
    found = await probed(asked)
    assert asked.asked == []
    assert not found.problems


async def test_a_card_that_a_vendors_backend_has_is_not_asked() -> None:
    asked = Asked()
    backend = HbaBackend(asked)
    own = Controller(target=Target(backend="megaraid", address="/c0"), vendor="megaraid", pci=RAID)
    await backend.inventory()
    await backend.complete(Inventory(controllers=(own,)))
    assert asked.asked == []


async def test_a_card_that_refuses_stays_as_the_bus_shows_it() -> None:
    found = await probed(Asked({}))
    assert found.find(f"hba:{RAID}") is not None
    assert [problem.where for problem in found.problems] == [f"hba:{RAID}"]


async def test_doctor_says_that_a_card_is_asked() -> None:
    said = [problem.message for problem in await advice(Asked(), RAID)]
    assert any("queries its firmware" in message for message in said)


async def test_doctor_says_why_a_card_cannot_be_asked() -> None:
    said = [problem.message for problem in await advice(Asked(why_not="There is no node."), RAID)]
    assert any("cannot be queried: There is no node." in message for message in said)
