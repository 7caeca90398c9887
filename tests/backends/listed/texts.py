"""Answers of cli64 and mvcli, made by hand in their grammar, and hosts that give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.host import Command, Completed
from backends.simulator import tw_cli
from backends.simulator.threeware import SimulatedThreeware, SimulatedUnit
from tests.backends.fakes import FakeHost, disk, machine

SUCCESS = "===============================\nGuiErrMsg<0x00>: Success.\n"
ARECA_DRIVE = (
    "Drive Information\n====\nDevice State                       : NORMAL\nTimeout Count                      : 2\n"
    "Media Error Count                  : 5\nDevice Temperature                 : 27 C\n"
    "SMART Read Error Rate              : 100(16)\nSMART Reallocation Count           : 5(5)\n"
    f"SMART Calibration Retries          : N.A.(N.A.)\n{SUCCESS}"
)
ARECA: Mapping[tuple[str, ...], str] = {
    ("sys", "info"): (
        "The System Information\n====\nMain Processor     : 800MHz\nFirmware Version   : V1.49 2011-08-10\n"
        f"Serial Number      : Y1\nController Name    : ARC-1222\n{SUCCESS}"
    ),
    ("sys", "showcfg"): f"SATA NCQ Support                : Enabled\nDisk Write Cache Mode           : Auto\n{SUCCESS}",
    ("adsys", "info"): f"Amount Of Read Ahead         : Auto\n{SUCCESS}",
    ("hw", "info"): f"[Controller H/W Monitor]\n  CPU Temperature  : 39 C\n  Battery Status   : 100%\n{SUCCESS}",
    ("rsf", "info"): (
        " #  Name             Disks TotalCap  FreeCap MinDiskCap         State\n====\n"
        f" 1  Raid Set # 000       2 1500.0GB    0.0GB    750.0GB         Degraded\n{SUCCESS}"
    ),
    ("disk", "info"): (
        "  # Enc# Slot#   ModelName                        Capacity  Usage\n====\n"
        "  1  01  Slot#1  N.A.                                0.0GB  N.A.\n"
        "  2  02  SLOT 01 ST3750640AS                       750.2GB  Raid Set # 00\n"
        "  3  02  SLOT 02 WDC WD7500AYYS-01RCA0             750.2GB  Failed\n"
        f"  4  02  SLOT 03 ST3750640AS                       750.2GB  HotSpare\n{SUCCESS}"
    ),
    **{("disk", "info", f"drv={number}"): ARECA_DRIVE for number in (2, 3, 4)},
}
NOISE = "cli :error opening SG device /dev/sg0: No such file or directory\nWait for SG driver ready.\n"
MARVELL_SMART = (
    "SG driver version 3.5.36.\nSMART STATUS RETURN: OK.\n\nSmart Info\n"
    "ID      Attribute Name          Current Worst   Threshhold      RawValue        Status\n"
    "C2      HDA temperature         121     117     0               00270017001D    OK\n"
    "C5      Current pending         200     200     0               000000000003    OK\n"
    "C6      Offline scan wrong      100     253     0               000000000001    OK\n"
    "C7      UDMA CRC error rate     200     200     0               00000000000B    OK\n"
)
MARVELL: Mapping[tuple[str, ...], str] = {
    ("info", "-o", "hba"): (
        "SG driver version 3.5.36.\n\nAdapter ID:                          0\n"
        "Product:                             1b4b-9230\n"
        "Current PCIe speed:                  5Gb/s\nCurrent PCIe link:                   2\n"
        "Firmware version:                    2.5.13.1210\nSupported RAID mode:                 RAID0 RAID1\n"
        "Image health:                        Healthy\nHBA info image health:               Healthy\n"
    ),
    ("info", "-o", "vd"): (
        f"{NOISE}\nVirtual Disk Information\n-------------------------\nid:                  0\n"
        "name:                boot\nstatus:              degraded\nStripe size:         64\n"
        "RAID mode:           RAID1\nCache mode:          Not Support\n"
        "size:                228872 M\nPD RAID setup:       0 1 \n\nTotal # of VD:       1\n"
    ),
    ("info", "-o", "pd"): "".join(
        f"\nAdapter:             0\nPD ID:               {number}\n"
        "Type:                SATA PD\n"
        f"Linked at:           HBA port {number}\nSize:                234431064 K\n"
        "Write cache:         not supported\n"
        f"model:               ACME 240          \nSerial:              S{number}\nSSD Type:            SSD\n"
        for number in (0, 1)
    )
    + "\n\nTotal # of PD:       2\n",
    **{("smart", "-p", str(number)): MARVELL_SMART for number in (0, 1)},
}


class Telling(FakeHost):
    """A host on which one tool gives these answers, and nothing else is installed."""

    def __init__(self, tool: str, answers: Mapping[tuple[str, ...], str], *, root: bool = True) -> None:
        drivers = {"cli64": ("arcmsr", "0x17d3"), "mvcli": ("ahci", "0x1b4b"), "mnv_cli": ("nvme", "0x1b4b")}
        driver, vendor = drivers[tool]
        super().__init__(machine(**{f"/sys/bus/pci/drivers/{driver}/0000:03:00.0/vendor": vendor}), root=root)
        self.made_up = True
        self.tool, self.answers = tool, answers

    def which(self, names: Sequence[str]) -> str | None:
        return f"/usr/bin/{self.tool}" if self.tool in names else None

    async def run(self, command: Command) -> Completed:
        assert not command.mutates
        return Completed(returncode=0, stdout=self.answers.get(command.argv[1:], ""), stderr="")


def threeware(*, battery: str = "OK", **unit: Any) -> SimulatedThreeware:
    """A card with a RAID 5 of four drives. `unit`: what is otherwise with that."""
    return SimulatedThreeware(battery=battery, units=[SimulatedUnit(**unit)])


class PlayedUnit(FakeHost):
    """A 3ware card, its unit 0 the disk sdb."""

    def __init__(self, card: SimulatedThreeware | None = None, *, root: bool = True) -> None:
        self.card = card or SimulatedThreeware()
        self.ran: list[str] = []
        size = round(1396.93 * (1 << 30)) // 512 * 512
        files = machine(
            disk("sdb", devno="8:16", size=size, device__vendor="AMCC    ", device__model="9650SE-4LP DISK"),
            **{
                "/usr/bin/tw_cli": "",
                "/sys/bus/pci/drivers/3w-9xxx/0000:02:00.0/vendor": "0x13c1",
            },
        )
        links = {"/sys/block/sdb": "/sys/devices/pci0000:00/0000:02:00.0/host4/target4:0:0/4:0:0:0/block/sdb"}
        super().__init__(files, links=links, root=root)
        self.made_up = True

    def which(self, names: Sequence[str]) -> str | None:
        return "/usr/bin/tw_cli" if "tw_cli" in names else None

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != "/usr/bin/tw_cli":
            return Completed(returncode=2, stdout="", stderr="")
        assert command.mutates == ("set" in command.argv)
        if command.mutates:
            self.ran.append(" ".join(command.argv[1:]))
        said = tw_cli.answer((self.card,), command.argv[1:])
        return Completed(returncode=said.code, stdout=said.text, stderr="")
