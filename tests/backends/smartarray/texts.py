"""What arcconf prints, by hand, in the layouts of its builds."""

from __future__ import annotations

SERIES = """Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Adaptec 6405
   Controller Serial Number                 : 2B32DEMO
   Physical Slot                            : 4
   Temperature                              : -4 C/ 25 F (Normal)
   Installed memory                         : 512 MB
   Global task priority                     : High
   Performance Mode                         : Default/Dymatic
   --------------------------------------------------------
   Controller Version Information
   --------------------------------------------------------
   BIOS                                     : 5.2-0 (19109)
   Firmware                                 : 5.2-0 (19109)
   --------------------------------------------------------
   Controller ZMM Information
   --------------------------------------------------------
   Status                                   : ZMM not installed

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   Logical device name                      : data
   RAID level                               : 6 Reed-Solomon
   Status of logical device                 : Impacted ( Build/Verify with fix : 90 % )
   Size                                     : 1906678 MB
   Stripe-unit size                         : 256 KB
   Read-cache setting                       : Enabled
   Read-cache status                        : On
   Write-cache setting                      : On when protected by battery/ZMM
   Write-cache status                       : Off
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Group 0, Segment 0                       : Present (Controller:1,Enclosure:0,Slot:0)      WD-DEMO0
   Group 0, Segment 1                       : Present (476940MB, SATA, HDD, Enclosure:0, Slot:1) WD-DEMO1
   Group 1, Segment 0                       : Present (0,18) WD-OTHER
   Group 1, Segment 1                       : Missing

Logical device number 1
   RAID level                               : 1
   Status of logical device                 : Okay
   Size                                     : 69889 MB
   Write-cache mode                         : Not supported
   Partitioned                              : Yes
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Segment 0                                : Present (0,18) WD-OTHER

----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
   Channel #0:
      Device #0
         Device is a Hard drive
         State                              : Online
         Block Size                         : 4K Bytes
         Transfer Speed                     : SATA 6.0 Gb/s
         Reported Channel,Device(T:L)       : 0,16(16:0)
         Reported Location                  : Enclosure 0, Slot 0
         Vendor                             : ATA
         Model                              : WDC WD1003FBYX-01Y7B
         Serial number                      : WD-DEMO0
         World-wide name                    : 5000C50039EE5900
         Total Size                         : 953869 MB
         Write Cache                        : Disabled (write-through)
         SSD                                : No
      ----------------------------------------------------------------
      Device Phy Information
      ----------------------------------------------------------------
         Phy #0
            SAS Address                     : 5000
      Device #1
         Device is a Hard drive
         State                              : Global Hot-Spare
         Transfer Speed                     : SAS 6.0 Gb/s
         Reported Channel,Device(T:L)       : 0,17(17:0)
         Reported Location                  : Enclosure 0, Slot 1
         Model                              : ST3300657SS
         Total Size                         : 286102 MB
         Write Cache                        : Enabled (write-back)
         SSD                                : No
      Device #2
         Device is an Enclosure services device
         Reported Channel,Device(T:L)       : 2,0(0:0)
         Model                              : VSC7160


Command completed successfully."""

NO_COLUMNS = "\n".join(
    line.strip() if " : " not in line else " : ".join(p.strip() for p in line.split(" : "))
    for line in SERIES.splitlines()
)
"""The same without indentation and columns, as old builds of IBM's print."""

SMART = """Controllers found: 1
-------------------------------------------------------------------
Controller information
-------------------------------------------------------------------
   Controller Status                          : Optimal
   Controller Mode                            : Mixed
   Controller Model                           : Adaptec SmartRAID 3154-16i
   Controller Serial Number                   : 1A17DEMO
   PCI Address (Domain:Bus:Device:Function)   : 0:d9:0:0
   Queue Depth                                : Not Applicable
   Driver Name                                : smartpqi
   -------------------------------------------------------------------
   Cache Properties
   -------------------------------------------------------------------
   Cache Status                               : Ok
   Cache memory                               : 3856 MB
   Read Cache Percentage                      : 10 percent
   Write Cache Percentage                     : 90 percent
   No-Battery Write Cache                     : Disabled
   Write Cache Bypass Threshold Size          : 1040 KB
   -------------------------------------------------------------------
   Green Backup Information
   -------------------------------------------------------------------
   Backup Power Status                        : Ok
   -------------------------------------------------------------------
   Physical Drive Write Cache Policy Information
   -------------------------------------------------------------------
   Configured Drives                          : Default
   -------------------------------------------------------------------
   Controller Version Information
   -------------------------------------------------------------------
   Firmware                                   : 4.11
   Driver                                     : Linux 1.1.4-130

-------------------------------------------------------------------
Array Information
-------------------------------------------------------------------
Array Number 0
   Name                                       : A
   Status                                     : Ok
   Interface                                  : SATA SSD
   Unused Size                                : 4 MB
   SSD I/O Bypass                             : Disabled
   -------------------------------------------------------------------
   Array Physical Device Information
   -------------------------------------------------------------------
   Device 0                                   : Present (228936MB, SATA, SSD, Connector:0, Device:0) BTYFDEMO

-------------------------------------------------------------------
Logical device information
-------------------------------------------------------------------
Logical Device number 0
   Logical Device name                        : OS: the first
   Disk Name                                  : /dev/sda
   Array                                      : 0
   RAID level                                 : 1
   Status of Logical Device                   : Optimal
   Size                                       : 228902 MB
   Stripe-unit size                           : 256 KB
   Full Stripe Size                           : 256 KB
   Caching                                    : Enabled
   LD Acceleration Method                     : Controller Cache
   Volume Unique Identifier                   : 600508B1001C50CDC910104454AF6DA9
   -------------------------------------------------------------------
   Array Physical Device Information
   -------------------------------------------------------------------
   Device 0                                   : Present (228936MB, SATA, SSD, Connector:0, Device:0) BTYFDEMO

-------------------------------------------------------------------
Physical Device information
-------------------------------------------------------------------
   Channel #0:
      Device #0
         Device is a Hard drive
         State                                : Online
         Reported Channel,Device(T:L)         : 0,0(0:0)
         Reported Location                    : Enclosure Direct Attached, Slot 0(Connector 0:CN0)
         Array                                : 0
         Serial number                        : BTYFDEMO
         Total Size                           : 228936 MB
         SSD                                  : Yes
         Current Temperature                  : 34 deg C


Command completed successfully."""

STATUS = """Controllers found: 1
Logical device Task:
   Logical device                 : 0
   Task ID                        : 103
   Current operation              : Rebuild
   Status                         : In Progress
   Percentage complete            : 3

Command completed successfully.
"""
