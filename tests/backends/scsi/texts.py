"""What hdparm, sdparm and smartctl print, in their form: for the parsers' tests."""

from __future__ import annotations

import json

HDPARM = """
/dev/sda:
SG_IO: bad/missing sense data, sb[]:  70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 c0 00 00 00 00 00 00 00 00
 setting drive write-caching to 1 (on)
 look-ahead    =  1 (on)
 write-caching =  1 (on)
 APM_level\t= 128
 acoustic      = 254 (128=quiet ... 254=fast)
"""

HDPARM_LACKING = """
/dev/sdd:
 look-ahead    = not supported
 write-caching = not supported
 APM_level\t= off
 acoustic      = not supported
"""

HDPARM_REFUSED = "\n/dev/sda:\n HDIO_DRIVE_CMD(setcache) failed: Input/output error\n write-caching =  1 (on)\n"

SDPARM = """    /dev/sdd: LAB       SAS HDD           2.5+
WCE           1  [cha: y, def:  1, sav:  0]
RCD           0  [cha: n, def:  0]
DRA           0
"""

SDPARM_PAGE = """    /dev/sdd: LAB       SAS HDD           2.5+
Caching (SBC) [ca] mode page:
  IC            0  [cha: n, def:  0]  Initiator control
  WCE           1  [cha: y, def:  1]  Write cache enable
  RCD           0  [cha: n, def:  0]  Read cache disable
  DRA           1  [cha: y, def:  0]  Disable read ahead
  NCS           20  [cha: n, def: 20]  Number of cache segments
"""

SDPARM_ATTENTION = """    /dev/sdk: LAB       DISK              0191
mode sense(10):
Fixed format, current; Sense key: Unit Attention
Additional sense: Mode parameters changed
MODE SENSE(10) failed, unit attention
"""

_ROWS = [
    {"id": 9, "name": "Power_On_Hours", "value": 99, "thresh": 0},
    {"id": 175, "name": "Power_Loss_Cap_Test", "value": 100, "thresh": 10},
    {"id": 177, "name": "Wear_Leveling_Count", "value": 97, "thresh": 0},
]

_STATISTICS = {
    "pages": [
        {
            "number": 7,
            "table": [
                {"name": "Percentage Used Endurance Indicator", "value": 3, "flags": {"valid": True}},
            ],
        }
    ]
}

SMART_ATA = json.dumps(
    {
        "smartctl": {"exit_status": 4, "messages": [{"string": "a warning", "severity": "warning"}]},
        "model_name": "DISK 9000",
        "in_smartctl_database": True,
        "serial_number": "S123",
        "firmware_version": "FW01",
        "rotation_rate": 7200,
        "form_factor": {"ata_value": 2, "name": "3.5 inches"},
        "interface_speed": {"current": {"string": "6.0 Gb/s"}},
        "smart_status": {"passed": True},
        "temperature": {"current": 49},
        "power_on_time": {"hours": 8244},
        "ata_smart_attributes": {"table": _ROWS},
        "ata_device_statistics": _STATISTICS,
    },
    indent=2,
)

SMART_SCSI = json.dumps(
    {
        "smartctl": {"exit_status": 0},
        "scsi_model_name": "MAKER DISK",
        "scsi_revision": "A1",
        "temperature": {"current": 34, "drive_trip": 85},
        "scsi_percentage_used_endurance_indicator": 12,
    },
    indent=2,
)

SMART_ASLEEP = json.dumps(
    {"smartctl": {"messages": [{"string": "Device is in STANDBY mode, exit(2)", "severity": "information"}]}}
)

ALL = {name: text for name, text in globals().items() if name.isupper() and isinstance(text, str)}
"""Every text above by its name."""
