"""Simulated ioMemory controller, and the programs that come with its driver."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backends.simulator.tool_output import SimulatedOutput
from backends.values import dataclass

NO_DEVICES = "No devices were found in this system. Please check if the iomemory-vsl driver is loaded.\n"


@dataclass(slots=True, kw_only=True)
class IoMemory:
    """A controller with one module and one block device."""

    number: int = 0
    """Number of the module's control node."""
    model: str = "ioDrive2 320GB"
    """Model, which on a simulated host is a key of `DRIVES`."""
    serial: str = "1149D0969"
    """Serial number."""
    pci: str = "07:00.0"
    """PCI address."""
    size_bytes: int = 320_000_000_000
    """Formatted capacity in bytes."""
    sector_bytes: int = 512
    """Sector size in bytes."""
    written_bytes: int | None = None
    """Bytes written since the last format, from the start of the device; None if all of it was written."""
    attached: bool = True
    """True if its block device is attached."""
    in_use: bool = False
    """True if fio-detach asks before it continues."""
    driver: bool = True
    """True if its driver is loaded."""

    @property
    def control(self) -> str:
        """Name of the module's control node."""
        return f"fct{self.number}"

    @property
    def volume(self) -> str:
        """Name of the module's block device."""
        return f"fio{chr(ord('a') + self.number)}"

    def answer(self, program: str, args: Sequence[str]) -> SimulatedOutput:
        """Run a program and return its output."""
        if not self.driver:
            return SimulatedOutput(text=NO_DEVICES, code=1)
        match program, *args:
            case "fio-status", "-a":
                return SimulatedOutput(text=self._text(), seconds=0.3)
            case "fio-status", "-fj":
                return SimulatedOutput(text=self._json(), seconds=0.3)
            case "fio-detach", node if node == f"/dev/{self.control}":
                return self._detach()
            case "fio-attach", node if node == f"/dev/{self.control}":
                return self._attach()
            case "fio-format", "-y", size, node if node == f"/dev/{self.control}":
                return self._format(size.removeprefix("-b"))
            case _:
                return SimulatedOutput(text=f"Error: Unknown option for {program}.\n", code=1)

    def _detach(self) -> SimulatedOutput:
        if not self.attached:
            return SimulatedOutput(text=f"Error: Device {self.control} is not attached.\n", code=1)
        if self.in_use:  # the question remains unanswered, so nothing is detached
            question = "WARNING: Please verify that the device is no longer in use. Do you wish to continue [y/n]?"
            return SimulatedOutput(text=f"{question}\n", code=1)
        self.attached = False
        return SimulatedOutput(text=f"Detaching: {self.control}\nDetaching: [====] (100%)\n", seconds=2)

    def _attach(self) -> SimulatedOutput:
        if self.attached:
            return SimulatedOutput(text=f"Error: Device {self.control} is already attached.\n", code=1)
        self.attached = True
        text = f"Attaching: {self.control}\nAttaching: [====] (100%)\n{self.volume}\n"
        return SimulatedOutput(text=text, seconds=3)

    def _format(self, size: str) -> SimulatedOutput:
        if self.attached:
            return SimulatedOutput(
                text=f"Error: Device /dev/{self.control} must be detached before formatting.\n", code=1
            )
        if size not in ("512", "4096"):
            return SimulatedOutput(text=f"Error: Invalid block size {size}.\n", code=1)
        self.sector_bytes, self.written_bytes = int(size), 0
        return SimulatedOutput(text="Formatting: [====] (100%)\nFormat successful.\n", seconds=5)

    def _text(self) -> str:
        """Return the output of `fio-status -a`."""
        sectors = self.size_bytes // self.sector_bytes
        size = f"{self.size_bytes / 10**9:.2f} GBytes device size"
        is_second_generation = self.model.startswith("ioDrive2")
        board = "ioDrive2 Adapter Controller" if is_second_generation else "Low-Profile ioDIMM Adapter"
        maker = "" if is_second_generation else "Fusion-io "
        number = "F00-001-320G-CS-0001" if is_second_generation else "FS1-001-321-CS"
        lines = [
            "",
            "Found 1 ioMemory device in this system",
            "Driver version: 3.2.16 build 1731",
            "",
            "Adapter: Single Controller Adapter",
            f"\t{maker}{self.model}, Product Number:{number}, SN:{self.serial}, FIO SN:{self.serial}",
            "\tExternal Power: NOT connected",
            "\tPCIe Bus power: avg 10.83W max 15.23W",
            "\tPCIe Power limit threshold: 24.75W",
            "\tConnected ioMemory modules:",
            f"\t  {self.control}:\tSN:{self.serial}",
            "",
            f"{self.control}\t{'Attached' if self.attached else 'Detached'}",
            f"\t{board}, SN:{self.serial}",
            f"\tLocated in slot 0 Center of {board} SN:{self.serial}",
            "\tPowerloss protection: protected",
            f"\tPCI:{self.pci}, Slot Number:3",
            "\tFirmware v7.1.17, rev 116786 Public",
            f"\t{size}",
            f"\tFormat: v500, {sectors} sectors of {self.sector_bytes} bytes",
            "\tInternal temperature: 51.19 degC, max 58.08 degC",
            "\tReserve space status: Healthy; Reserves: 100.00%, warn at 10.00%",
            "\tActive media: 100.00%",
            "\tRated PBW: 4.00 PB, 99.10% remaining",
            "\tLifetime data volumes:",
            "\t   Physical bytes written: 35,912,004,118,528",
            "\t   Physical bytes read   : 61,004,220,518,400",
        ]
        if self.attached:
            lines += [
                "\tContained VSUs:",
                f"\t  {self.volume}:\tID:0, UUID:43836c20-0000-0000-0000-25ac72c1a270",
                "",
                f"{self.volume}\tState: Online, Type: block device",
                "\tID:0, UUID:43836c20-0000-0000-0000-25ac72c1a270",
                f"\t{size}",
                f"\tFormat: {sectors} sectors of {self.sector_bytes} bytes",
            ]
        return "\n".join([*lines, ""])

    def _json(self) -> str:
        """Return the output of `fio-status -fj`."""
        volume = {
            "device_name": self.volume,
            "sector_count": str(self.size_bytes // self.sector_bytes),
            "sector_size_bytes": str(self.sector_bytes),
            "size_bytes": str(self.size_bytes),
            "vsu_state": "Online",
            "vsu_type": "block device",
        }
        module = {
            "board_name": "ioDrive2 Adapter Controller",
            "device_name": self.control,
            "current_errors": "",
            "current_warnings": "",
            "write_throttling_state": "None",
            "vsu": [volume] if self.attached else [],
        }
        adapter = {"external_power_connected": "0", "power_limit_watts": "24.75", "iomemory": [module]}
        return json.dumps({"adapter": [adapter], "version": "1.0"}, indent=2)
