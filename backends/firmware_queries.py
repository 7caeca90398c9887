"""Questions to the firmware of MegaRAID cards, as a closed table: what is not in it cannot be asked. No I/O.

The driver's management interface would take any command, those included that erase arrays. So the rest of raidbench
never speaks of opcodes: it names a `FirmwareQuery`, and every question there is only reads.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol, runtime_checkable

from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class MfiCommand:
    """How a question is put: an MFI direct command whose data only flows from the card to the host."""

    opcode: int
    """`MR_DCMD_*` (drivers/scsi/megaraid/megaraid_sas.h) or `MFI_DCMD_*` (FreeBSD, sys/dev/mfi/mfireg.h)."""
    size: int
    """Bytes of the answer."""
    subject: str = ""
    """How the number of what is asked about is packed into the mailbox (struct's letters); "" for the whole card."""


class FirmwareQuery(Enum):
    """All that can be asked."""

    CONTROLLER = MfiCommand(0x01010000, 2048)
    """Product, serial number, firmware, memory, capabilities: `mfi_ctrl_info`."""
    PROPERTIES = MfiCommand(0x01020100, 64)
    """Rates and other settings of the card: `mfi_ctrl_props`."""
    DRIVES = MfiCommand(0x02010000, 8 + 256 * 24)
    """Addresses of the physical drives: `mfi_pd_list`."""
    DRIVE = MfiCommand(0x02020000, 512, "<H")
    """One physical drive, by device id: `mfi_pd_info`."""
    VOLUMES = MfiCommand(0x03010000, 8 + 64 * 16)
    """Numbers, states and sizes of the first 64 virtual drives: `mfi_ld_list`."""
    VOLUME = MfiCommand(0x03020000, 384, "<B")
    """One virtual drive, by target id: `mfi_ld_info`."""
    CONFIGURATION_SIZE = MfiCommand(0x04010000, 32)
    """The head of the configuration, which tells how long it is."""
    CONFIGURATION = MfiCommand(0x04010000, 65536)
    """Drive groups, the virtual drives on them and spares: `mfi_config_data`, as many bytes as it is said to have."""
    BATTERY = MfiCommand(0x05010000, 64)
    """Battery or capacitor: `mfi_bbu_status`."""


@runtime_checkable
class FirmwareQueryHost(Protocol):
    """A host whose cards can be asked. Only the machine that raidbench runs on is one."""

    @property
    def firmware_queries(self) -> bool:
        """Whether its user lets raidbench ask."""
        ...

    async def firmware_reachable(self) -> str | None:
        """None if a card may be asked, else why not, in words. Asks nothing of a card."""
        ...

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        """The answer of the card behind SCSI host `host_number`.

        `subject` is the number of the drive or virtual drive that a question is about; `size` asks for fewer bytes than
        the question's own. Raises ToolMissingError (no device node), RefusedError (no root, not allowed, another
        driver's node), ToolFailedError (the card says no), ToolTimeoutError.
        """
        ...
