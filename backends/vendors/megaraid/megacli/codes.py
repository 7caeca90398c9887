"""What MegaCli's `Exit Code: 0xNN` means.

The numbers are the firmware's own command status, so storcli's ErrCd uses the same ones. Meanings after the MegaRAID
firmware interface (Linux, drivers/scsi/megaraid/megaraid_sas.h, enum MFI_STAT) up to 0x39; above, after Broadcom's
table of storcli error codes. The process exit status is often the low byte of it, and the number of cards
after -adpCount: it decides nothing.
"""

from __future__ import annotations

DONE = 0x00
"""The one code of success."""

PENDING = {0x59: "controller reset", 0x74: "reboot", 0x84: "reboot"}
"""Codes that say: done, but it takes effect later."""

MEANINGS = {
    0x01: "the firmware does not know the command",
    0x02: "the firmware does not know the operation",
    0x03: "a parameter is invalid",
    0x04: "the configuration changed meanwhile",
    0x05: "it cannot be aborted",
    0x0B: "it conflicts with the present configuration",
    0x0C: "there is no such drive or virtual drive",
    0x0D: "a drive is too small",
    0x17: "a consistency check is running on it",
    0x18: "it is being initialised",
    0x1A: "the card has as many virtual drives as it can have",
    0x1B: "the virtual drive is not optimal",
    0x1C: "the virtual drive is being rebuilt",
    0x1D: "the virtual drive is being reconstructed",
    0x1E: "the RAID level does not allow it",
    0x20: "the card has no memory left for it",
    0x21: "the card has a hardware error",
    0x22: "the hardware it needs is not there (battery, alarm)",
    0x23: "not found",
    0x24: "not in that enclosure",
    0x25: "a drive is being cleared",
    0x26: "a drive is of the wrong type or state for it (JBOD, foreign, in use)",
    0x27: "patrol read is disabled",
    0x2D: "a drive answered with an error",
    0x2E: "the data of a drive could not be had",
    0x32: "its state does not allow it",
    0x33: "the virtual drive is offline",
    0x3B: "a foreign configuration is incomplete",
    0x54: "the card holds unwritten data for a virtual drive that is offline or missing (preserved cache)",
    0x5E: "the drives' security key does not match",
    0x6A: "the card is in safe mode",
    0x76: "it is not possible now",
    0x97: "the card does not support the policy",
    0x99: "the card has to be shut down for it",
}
"""What other codes mean, as the second half of a sentence."""
