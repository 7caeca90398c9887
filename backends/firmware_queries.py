"""Queries to the firmware of MegaRAID controllers, as a closed table: no other query is possible. No I/O.

The driver's management interface accepts any command, including those that erase arrays. So no other part of raidbench
uses opcodes: it names a `FirmwareQuery`, and every query only reads.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol, runtime_checkable

from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class MfiCommand:
    """An MFI direct command that only transfers data from the controller to the host."""

    opcode: int
    """`MR_DCMD_*` (drivers/scsi/megaraid/megaraid_sas.h) or `MFI_DCMD_*` (FreeBSD, sys/dev/mfi/mfireg.h)."""
    size: int
    """Size of the answer in bytes."""
    subject: str = ""
    """`struct` format of the drive's or virtual drive's number in the mailbox; "" for queries about the controller."""


class FirmwareQuery(Enum):
    """All permitted queries."""

    CONTROLLER = MfiCommand(0x01010000, 2048)
    """Product, serial number, firmware, memory, capabilities: `mfi_ctrl_info`."""
    PROPERTIES = MfiCommand(0x01020100, 64)
    """Rates and other settings of the controller: `mfi_ctrl_props`."""
    DRIVES = MfiCommand(0x02010000, 8 + 256 * 24)
    """Addresses of the physical drives: `mfi_pd_list`."""
    DRIVE = MfiCommand(0x02020000, 512, "<H")
    """One physical drive, by device id: `mfi_pd_info`."""
    VOLUMES = MfiCommand(0x03010000, 8 + 64 * 16)
    """Numbers, states and sizes of the first 64 virtual drives: `mfi_ld_list`."""
    VOLUME = MfiCommand(0x03020000, 384, "<B")
    """One virtual drive, by target id: `mfi_ld_info`."""
    CONFIGURATION_SIZE = MfiCommand(0x04010000, 32)
    """Header of the configuration, which contains its length."""
    CONFIGURATION = MfiCommand(0x04010000, 65536)
    """Drive groups, their virtual drives and spares: `mfi_config_data`. Its header contains its real length."""
    BATTERY = MfiCommand(0x05010000, 64)
    """Battery or capacitor: `mfi_bbu_status`."""


@runtime_checkable
class FirmwareQueryHost(Protocol):
    """A host whose controllers can be queried through the driver: only the local machine, with or without a helper."""

    @property
    def firmware_queries(self) -> bool:
        """Return whether the user permits queries."""

    async def firmware_reachable(self) -> str | None:
        """Return None if controllers can be queried, else the reason as a string. Sends no query."""

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        """Return the answer of the controller behind SCSI host `host_number` to a query.

        `subject` is the number of the drive or virtual drive that the query is about. `size` requests fewer bytes than
        the query's default. Raises ToolMissingError (no device node), RefusedError (no root, not allowed, another
        driver's node), ToolFailedError (the controller refuses) or ToolTimeoutError (no answer).
        """
