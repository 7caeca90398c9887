"""What MegaCli prints, written by hand in its manner: a 9280 with three SATA drives and odd neighbours."""

from __future__ import annotations

from collections.abc import Mapping

BLANK = "\r" + " " * 37 + "\n"
"""What most answers begin with."""


def code(number: int = 0) -> str:
    """The last line."""
    return f"\nExit Code: 0x{number:02x}\n"


def volume(
    number: int = 1,
    *,
    word: str = "Virtual Drive",
    level: str = "Primary-5, Secondary-0, RAID Level Qualifier-3",
    drives: str = "Number Of Drives    : 3",
    depth: int = 1,
    default: str = "WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU",
    current: str | None = None,
    strip: str = "Strip Size          : 64 KB",
    disk_cache: str = "Disk's Default",
    state: str = "Optimal",
    extra: str = "",
) -> str:
    """One virtual drive of -LDInfo."""
    return (
        f"{word}: {number} (Target Id: {number})\nName                :fast{number}\nRAID Level          : {level}\n"
        f"Size                : 476.375 GB\nSector Size         : 512\nParity Size         : 238.187 GB\n"
        f"State               : {state}\n{strip}\n{drives}\nSpan Depth          : {depth}\n"
        f"Default Cache Policy: {default}\nCurrent Cache Policy: {current or default}\n"
        "Default Access Policy: Read/Write\nCurrent Access Policy: Read/Write\n"
        f"Disk Cache Policy   : {disk_cache}\n{extra}Encryption Type     : None\nIs VD Cached: No\n\n\n"
    )


def physical(
    slot: int = 1,
    *,
    enclosure: str = "245",
    state: str = "Online, Spun Up",
    foreign: str = "None ",
    inquiry: str = "00000000110302F5A7C1    MTFDDAC256MAG-1G1AA                     0007",
    level: str = "0007",
    kind: str = "SATA",
    span: int = 0,
    temperature: str = ":31C (87.80 F)",
    media: str = "Solid State Device",
) -> str:
    """One drive of -PDList."""
    return (
        f"Enclosure Device ID: {enclosure}\nSlot Number: {slot}\n"
        f"Drive's postion: DiskGroup: 1, Span: {span}, Arm: {slot}\nEnclosure position: 0\nDevice Id: {slot + 9}\n"
        f"WWN: 500A07510302F5{slot:02X}\nSequence Number: 2\nMedia Error Count: {slot}\nOther Error Count: 0\n"
        "Predictive Failure Count: 0\nLast Predictive Failure Event Seq Number: 0\n"
        f"PD Type: {kind}\nRaw Size: 238.474 GB [0x1dcf32b0 Sectors]\n"
        "Non Coerced Size: 237.974 GB [0x1dbf32b0 Sectors]\n"
        f"Coerced Size: 237.968 GB [0x1dbf0000 Sectors]\nFirmware state: {state}\nDevice Firmware Level: {level}\n"
        f"SAS Address(0): 0x500605b00000000{slot % 10}\nConnected Port Number: 0(path0) \nInquiry Data: {inquiry}\n"
        f"Foreign State: {foreign}\nDevice Speed: 6.0Gb/s \nLink Speed: 6.0Gb/s \nMedia Type: {media}\n"
        f"Drive Temperature {temperature}\nPort-0 :\nPort status: Active\nPort's Linkspeed: 6.0Gb/s \n\n\n\n"
    )


LDINFO = BLANK + "\nAdapter 0 -- Virtual Drive Information:\n" + volume(0) + volume(1) + code()
PDLIST = BLANK + "Adapter #0\n\n" + physical(1) + physical(2) + physical(3) + code()
LDPDINFO = (
    BLANK
    + "Adapter #0\n\nNumber of Virtual Disks: 2\n"
    + volume(0, level="Primary-1, Secondary-3, RAID Level Qualifier-0", drives="Number Of Drives per span:2", depth=2)
    + "Number of Spans: 2\nSpan: 0 - Number of PDs: 2\n\nPD: 0 Information\n"
    + physical(4)
    + "PD: 1 Information\n"
    + physical(5)
    + "Span: 1 - Number of PDs: 2\n\nPD: 0 Information\n"
    + physical(6, span=1)
    + "PD: 1 Information\n"
    + physical(7, span=1)
    + volume(1)
    + "Number of Spans: 1\nSpan: 0 - Number of PDs: 3\n\n"
    + "".join(f"PD: {number} Information\n{physical(number + 1)}" for number in range(3))
    + code()
)
OLD_LDINFO = """Adapter 0 -- Virtual Drive Information:
Virtual Disk: 0 (target id: 0)
Name:data
RAID Level: Primary-5, Secondary-0, RAID Level Qualifier-3
Size:696960MB
State: Optimal
Stripe Size: 64kB
Number Of Drives:6
Span Depth:1
Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU
Access Policy: Read/Write
Disk Cache Policy: Disk's Default
"""
ADPALLINFO = (
    BLANK
    + """Adapter #0

==============================================================================
                    Versions
                ================
Product Name    : LSI MegaRAID SAS 9280-24i4e
Serial No       : SV00000001
FW Package Build: 12.12.0-0090

                Image Versions in Flash:
                ================
BIOS Version       : 3.24.00_4.12.05.00_0x05150000
FW Version         : 2.120.43-1223

                HW Configuration
                ================
SAS Address      : 500605b000000001
BBU              : Present
Memory Size      : 512MB
ROC temperature : 61  degree Celsius

                Settings
                ================
Current Time                     : 20:31:29 5/13, 2010
Rebuild Rate                     : 30%
PR Rate                          : 31%
BGI Rate                         : 32%
Check Consistency Rate           : 33%
Reconstruction Rate              : 34%
Cache Flush Interval             : 4s

                Limitations
                ================
Min Strip Size           : 8 KB
Max Strip Size           : 1.0 MB

                Device Present
                ================
Virtual Drives    : 2
  Degraded        : 0
Physical Devices  : 8
  Disks           : 7
  Failed Disks    : 0

                Supported Adapter Operations
                ================
Rebuild Rate                    : Yes
BBU                             : Yes
Block SSD Write Disk Cache Change: No

                Supported VD Operations
                ================
Read Policy          : Yes
Write Policy         : Yes
IO Policy            : No
Access Policy        : Yes
Disk Cache Policy    : Yes

                Supported PD Operations
                ================
Enable JBOD                             : No

                Default Settings
                ================
Strip Size                       : 64kB
Write Policy                     : WB
Enable JBOD                      : Yes
"""
    + code()
)
BATTERY = (
    BLANK
    + """BBU status for Adapter: 0

BatteryType: iBBU08
Voltage: 3922 mV
Current: 0 mA
Temperature: 33 C
Battery State: Optimal

BBU Firmware Status:

  Charging Status              : None
  Voltage                                 : OK
  Temperature                             : OK
  Learn Cycle Requested\t                  : No
  Learn Cycle Active                      : No
  Battery Pack Missing                    : No
  Battery Replacement required            : No
  Remaining Capacity Low                  : No

BBU Capacity Info for Adapter: 0

  Relative State of Charge: 71 %
  Cycle Count: 4

BBU Properties for Adapter: 0

  Next Learn time: Thu Dec 21 18:32:56 2023
  Learn Delay Interval:0 Hours
  BBU Mode = 4
"""
    + code()
)
NO_BATTERY = (
    BLANK
    + "Adapter 0: Get BBU Status Failed.\n\nFW error description: \n"
    + " The required hardware component is not present.  \n"
    + code(0x22)
)
PCI = """
PCI information for Controller 0
--------------------------------
Bus Number      : b
Device Number   : 0
Function Number : 0
""" + code()
FEATURES = """
Activated Advanced Software Options
-----------------------------------

Advanced Software Option    : MegaRAID FastPath
Time Remaining              : Unlimited
Mode                        : -

Advanced Software Option    : MegaRAID RAID6
Time Remaining              : 27 days

Safe ID :  ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHI
""" + code()
PATROL = "\nAdapter 0: Patrol Read Information:\n\nPatrol Read Mode: Auto\nCurrent State: Active\n" + code()
CHECK = BLANK + "Adapter #0\n\nOperation Mode: Concurrent\nExecution Delay: 168\nCurrent State: Stopped\n" + code()
QUEUEING = "\nAdapter 0: NCQ Status is Enabled\n" + code()
BACKGROUND = (
    "\nBackground Initialization on VD #0 (target id: 0) is Enabled\nBackground Initialization on VD #1 is Disabled\n"
    + code()
)
PROGRESS = """
Check Consistency on VD #0 is not in progress.
Check Consistency on VD #1 (target id #1) Completed 4% in 808 Minutes.
Background Initialization on VD #2 (target id #2) Complete 0% in 0 Minutes.
""" + code()
REBUILD = "\nRebuild Progress on Device at Enclosure 245, Slot 2 Completed 31% in 959 Minutes.\n" + code()
VERSION = "\n\n      MegaCLI SAS RAID Management Tool  Ver 8.07.14 Dec 16, 2013\n\n    (c)Copyright 2013\n" + code()
COUNT = "\nController Count: 1.\n" + code(1)

ALL: Mapping[str, str] = {
    name.lower(): text
    for name, text in globals().items()
    if name.isupper() and isinstance(text, str) and name not in ("BLANK",)
}
"""Every answer above by its name, to be torn and mixed."""
