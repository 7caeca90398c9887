"""Where each vendor's drive health comes from, with a recording that proves each cell of the table.

A recording is an answer of the tool in its own grammar, made by hand. `vendors_page` writes the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from backends.model import Health
from backends.topology import Topology
from backends.topology.tree import Tree
from backends.vendors.areca.output_parsing import drive_health as areca_health
from backends.vendors.fusionio.inventory import drive as io_drive
from backends.vendors.fusionio.text import parse_status
from backends.vendors.marvell.backend import drive_health as marvell_health
from backends.vendors.megaraid.megacli.drives import parse_drives
from backends.vendors.megaraid.storcli.document import replies
from backends.vendors.megaraid.storcli.drives import drives as storcli_drives
from backends.vendors.nvme.identify import parse_id_ctrl, parse_smart_log
from backends.vendors.nvme.inventory import ControllerAnswers, health_of
from backends.vendors.santricity.responses import hardware
from backends.vendors.scsi.inventory import condition
from backends.vendors.scsi.smartctl import parse_smartctl
from backends.vendors.smartarray.arcconf.parsing import card_text
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smcli.facts import parse_profile
from backends.vendors.smcli.inventory import inventory as smcli_inventory
from backends.vendors.threeware.inventory import ThreewareCard, inventory_drives
from backends.vendors.threeware.settings import rows
from tests.backends.listed.texts import ARECA_DRIVE, MARVELL_SMART

NOTHING = Topology(tree=Tree(nodes={}, numbers={}))
"""A machine without a disk."""

FACTS = {
    "predicts_failure": "Predicts failure",
    "media_errors": "Media errors",
    "other_errors": "Other errors",
    "predictive_errors": "Predictive errors",
    "wear_percent": "Wear",
    "temperature": "Temperature",
    "temperature_limit": "Limit",
    "locked": "Locked",
    "foreign": "Foreign",
    "copyback": "Copyback",
}
"""Columns of the table by the field of `Health`."""


@dataclass(frozen=True, kw_only=True)
class HealthSource:
    """One tool: its recording, how it is read, what it proves."""

    title: str
    recording: str
    read: Callable[[str], Health]
    """Return the health of the only drive in an answer."""
    health: Health
    """What the recording says."""
    cells: Mapping[str, tuple[str, ...]]
    """By field the words of the recording that it comes from."""
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By field other words for it, of other versions of the tool, each with an answer that has no other."""


def filled(health: Health) -> frozenset[str]:
    """Return the names of the fields that are reported."""
    return frozenset(one.name for one in fields(health) if getattr(health, one.name) is not None)


def health_table() -> str:
    """Return the table of the page."""
    head = "| Tool | " + " | ".join(FACTS.values()) + " |\n" + "| --- " * (len(FACTS) + 1) + "|\n"
    return head + "".join(
        f"| {one.title} | " + " | ".join(_cell(one, name) for name in FACTS) + " |\n" for one in SOURCES
    )


def _cell(one: HealthSource, name: str) -> str:
    words = (*map(str.strip, one.cells.get(name, ())), *one.also.get(name, ()))
    return ", ".join(f"`{word}`" for word in words) or "-"


# -- recordings ---------------------------------------------------------------------------------------------------


_STORCLI7 = """{"Controllers": [{
  "Command Status": {"CLI Version": "007.2007.0000.0000", "Controller": 0, "Status": "Success"},
  "Response Data": {
    "Drive /c0/e8/s3": [{"EID:Slt": "8:3", "DID": 11, "State": "Cpybck", "DG": "F", "Size": "3.637 TB", "Intf": "SAS",
      "Med": "HDD", "SeSz": "512B", "Model": "ACME4000"}],
    "Drive /c0/e8/s3 - Detailed Information": {
      "Drive /c0/e8/s3 State": {"Shield Counter": 0, "Media Error Count": 17, "Other Error Count": 4,
        "Drive Temperature": " 41C (105.80 F)", "Predictive Failure Count": 0,
        "S.M.A.R.T alert flagged by drive": "Yes"},
      "Drive /c0/e8/s3 Device attributes": {"SN": "ZC1A0001"},
      "Drive /c0/e8/s3 Policies/Settings": {"Locked": "Yes"}
    }
  }
}]}"""

_STORCLI8 = """{"Controllers": [{
  "Command Status": {"CLI Version": "008.0004.0000.0010", "Controller": 0, "Status": "Success"},
  "Response Data": {"Drives List": [{
    "Drive Information": {"EID:Slt": "306:2", "PID": 295, "State": "Conf", "Status": "Replace", "DG": "F"},
    "Drive Detailed Information": {"Temperature(C)": 44, "Serial Number": "WP00",
      "LU/NS Properties": {"Media Error Count": 5, "Other Error Count": 6, "Predictive Failure Count": 1,
        "Locked": "Yes"}}
  }]}
}]}"""

_MEGACLI = """
Adapter #0

Enclosure Device ID: 252
Slot Number: 3
Device Id: 7
Media Error Count: 12
Other Error Count: 3
Predictive Failure Count: 0
PD Type: SAS
Raw Size: 279.396 GB [0x22ecb25c Sectors]
Firmware state: Copyback
Locked: Locked
Foreign State: Foreign
Drive Temperature :39C (102.20 F)
Drive has flagged a S.M.A.R.T alert : Yes
"""

_SSACLI = """
Smart Array P440ar in Slot 0 (Embedded)
   Slot: 0
   Controller Status: OK

   Array: A
      Interface Type: Solid State SATA
      Status: OK

      physicaldrive 1I:1:4
         Status: OK
         Drive Type: Data Drive
         Interface Type: Solid State SATA
         Size: 960 GB
         Current Temperature (C): 33
         Maximum Temperature (C): 51
         Usage remaining: 4.50%
         SSD Smart Trip Wearout: True
"""

_HPACUCLI = """
Smart Array P410i in Slot 0 (Embedded)
   Slot: 0
   Controller Status: OK

   array A
      physicaldrive 2I:1:6 (port 2I:box 1:bay 6, SAS, 300 GB, Predictive Failure)
"""

_SMARTRAID = """Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Adaptec SmartRAID 3154-8i
----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
   Channel #0:
      Device #3
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,3(3:0)
         Vendor                             : ATA
         Model                              : ACME 960
         S.M.A.R.T.                         : Yes
         S.M.A.R.T. warnings                : 1
         SSD                                : Yes
         Current Temperature                : 52 deg C
         Maximum Temperature                : 61 deg C
         Threshold Temperature              : 70 deg C
         Usage Remaining                    : 12 percent
      ----------------------------------------------------------------
      Device Error Counters
      ----------------------------------------------------------------
         Aborted Commands                   : 2
         Bad Target Errors                  : 1
         Hard Read Errors                   : 4
         Hard Write Errors                  : 1
         Media Failures                     : 9
         Predictive Failures                : 3
"""

_SERIES = """Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Adaptec 6405
----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,0(0:0)
         Vendor                             : ACME
         S.M.A.R.T.                         : Yes
         S.M.A.R.T. warnings                : 1
         Temperature                        : 36 C/ 96 F
      ----------------------------------------------------------------
      Runtime Error Counters
      ----------------------------------------------------------------
         Hardware Error Count               : 1
         Medium Error Count                 : 7
         Parity Error Count                 : 2
         Link Failure Count                 : 3
         Aborted Command Count              : 4
         SMART Warning Count                : 5
"""


def _device(line: str) -> str:
    """Return an answer of arcconf about a drive of which it says this alone."""
    return f"{_SERIES.partition('         State ')[0]}         {line}\n"


_THREEWARE = """
VPort Status         Unit Size      Type  Phy Encl-Slot    Model
------------------------------------------------------------------------------
p0    SMART-FAILURE  u0   931.51 GB SATA  0   -            ACME 1000
"""

_THREEWARE_ECC = _THREEWARE.replace("SMART-FAILURE", "ECC-ERROR    ")

_SMARTCTL = """{"smartctl": {"exit_status": 8}, "device": {"name": "/dev/sda"}, "in_smartctl_database": true,
 "rotation_rate": 0, "smart_status": {"passed": false}, "temperature": {"current": 38},
 "ata_smart_attributes": {"table": [
  {"id": 187, "name": "Reported_Uncorrect", "value": 91, "worst": 91, "thresh": 0, "raw": {"value": 9}},
  {"id": 197, "name": "Current_Pending_Sector", "value": 100, "worst": 100, "thresh": 0, "raw": {"value": 3}},
  {"id": 199, "name": "UDMA_CRC_Error_Count", "value": 200, "worst": 200, "thresh": 0, "raw": {"value": 21}},
  {"id": 233, "name": "Media_Wearout_Indicator", "value": 14, "worst": 14, "thresh": 0, "raw": {"value": 0}}]}}"""

_STATISTICS = """{"smartctl": {"exit_status": 0}, "ata_device_statistics": {"pages": [{"table": [
 {"name": "Percentage Used Endurance Indicator", "value": 86, "flags": {"valid": true}}]}]}}"""


def _attribute(number: int, name: str) -> str:
    row = f'{{"id": {number}, "name": "{name}", "value": 60, "raw": {{"value": 5}}}}'
    head = '{"smartctl": {"exit_status": 0}, "in_smartctl_database": true, "ata_smart_attributes": {"table": ['
    return f"{head}{row}]}}}}"


_SMARTCTL_SAS = """{"smartctl": {"exit_status": 8}, "device": {"name": "/dev/sdb"}, "smart_status": {"passed": false},
 "temperature": {"current": 44, "drive_trip": 65}, "scsi_percentage_used_endurance_indicator": 83,
  "scsi_error_counter_log": {
  "read": {"total_errors_corrected": 70, "total_uncorrected_errors": 3}, "write": {"total_uncorrected_errors": 1}}}"""

_SMART_LOG = """{"critical_warning": 4, "temperature": 341, "percent_used": 104, "media_errors": 6, "avail_spare": 9}"""
_ID_CTRL = """{"mn": "ACME NVME", "wctemp": 350}"""

_FIO_STATUS = """
Adapter: Single Controller Adapter
\tioDrive2 Adapter Controller, Product Number:00D8431, SN:11S
fct0\tAttached
\tInternal temperature: 58.57 degC, max 71.37 degC
\tReserve space status: Low metadata; Reserves: 8.00%, warn at 10.00%
\tRated PBW: 17.00 PB, 11.20% remaining
fioa\tState: Online, Type: block device
"""

_MVCLI = MARVELL_SMART.replace("RETURN: OK", "RETURN: Threshold Exceeds Condition")

_SMCLI = """
PROFILE FOR STORAGE ARRAY: EF560 (11/3/15 9:12:44 AM CET)

DRIVES------------------------------
   DETAILS
   Drive at Tray 99, Slot 4
      Status: Impending failure
      Mode: Assigned
      Raw capacity: 800.000 GB
      Percent endurance used: 71 %
      Read/write accessible: No
"""

_SANTRICITY = """{"trays": [{"trayRef": "0E1", "trayId": 99}], "drives": [
 {"driveRef": "0100", "physicalLocation": {"trayRef": "0E1", "slot": 4}, "status": "optimal", "pfa": true,
  "fdeLocked": true, "driveTemperature": {"currentTemp": 47, "refTemp": 64},
  "ssdWearLife": {"isWearLifeMonitoringSupported": true, "percentEnduranceUsed": 66}}]}"""


# -- how each is read ---------------------------------------------------------------------------------------------


def _storcli(text: str) -> Health:
    (reply,) = replies(text)
    (drive,) = storcli_drives(0, reply.data)
    return drive.health


def _arcconf(text: str) -> Health:
    found = card_text(text, 1)
    assert found is not None
    return found.drives[0].health


def _port(text: str) -> Health:
    row = {"Ctl": "c0", "Model": "9650SE-4LPML"}
    card = ThreewareCard(row=row, units=(), ports=rows(text, "VPort", "Status", "Unit"))
    ((_, drive),) = inventory_drives(card)
    return drive.health


def _smartctl(text: str) -> Health:
    found = parse_smartctl(text)
    assert found is not None
    return condition(found)


def _nvme(text: str) -> Health:
    log, about = text.splitlines()
    return health_of(ControllerAnswers(about=parse_id_ctrl(about), health=parse_smart_log(log)))


def _io_memory(text: str) -> Health:
    found = parse_status(text)
    (module,) = found.modules
    (volume,) = module.volumes
    return io_drive(volume, module, found).health


def _smcli(text: str) -> Health:
    profile = parse_profile(text)
    assert profile is not None
    return smcli_inventory(profile, NOTHING).drives[0].health


SOURCES = (
    HealthSource(
        title="cli64 (`disk info drv=N`)",
        recording=ARECA_DRIVE,
        read=areca_health,
        health=Health(predicts_failure=True, media_errors=5, other_errors=2, temperature=27.0),
        cells={
            "predicts_failure": ("SMART Reallocation Count",),
            "media_errors": ("Media Error Count",),
            "other_errors": ("Timeout Count",),
            "temperature": ("Device Temperature",),
        },
    ),
    HealthSource(
        title="mvcli (`smart -p N`)",
        recording=_MVCLI,
        read=marvell_health,
        health=Health(predicts_failure=True, media_errors=3, other_errors=11, temperature=29.0),
        cells={
            "predicts_failure": ("SMART STATUS RETURN",),
            "media_errors": ("Current pending",),
            "other_errors": ("UDMA CRC error rate",),
            "temperature": ("HDA temperature",),
        },
        also={"media_errors": {"Offline scan wrong": MARVELL_SMART.replace("Current pending", "Seek Error Rate")}},
    ),
    HealthSource(
        title="storcli, perccli (version 7)",
        recording=_STORCLI7,
        read=_storcli,
        health=Health(
            predicts_failure=True,
            media_errors=17,
            other_errors=4,
            predictive_errors=0,
            temperature=41.0,
            locked=True,
            foreign=True,
            copyback=True,
        ),
        cells={
            "predicts_failure": ("S.M.A.R.T alert flagged by drive",),
            "media_errors": ("Media Error Count",),
            "other_errors": ("Other Error Count",),
            "predictive_errors": ("Predictive Failure Count",),
            "temperature": ("Drive Temperature",),
            "locked": ("Locked",),
            "foreign": ("DG",),
            "copyback": ("Cpybck",),
        },
    ),
    HealthSource(
        title="storcli2, perccli2 (version 8)",
        recording=_STORCLI8,
        read=_storcli,
        health=Health(
            predicts_failure=True,
            media_errors=5,
            other_errors=6,
            predictive_errors=1,
            temperature=44.0,
            locked=True,
            foreign=True,
            copyback=True,
        ),
        cells={
            "predicts_failure": ("Predictive Failure Count",),
            "media_errors": ("Media Error Count",),
            "other_errors": ("Other Error Count",),
            "predictive_errors": ("Predictive Failure Count",),
            "temperature": ("Temperature(C)",),
            "locked": ("Locked",),
            "foreign": ("DG",),
            "copyback": ("Replace",),
        },
    ),
    HealthSource(
        title="MegaCli",
        recording=_MEGACLI,
        read=lambda text: parse_drives(text)[0].health,
        health=Health(
            predicts_failure=True,
            media_errors=12,
            other_errors=3,
            predictive_errors=0,
            temperature=39.0,
            locked=True,
            foreign=True,
            copyback=True,
        ),
        cells={
            "predicts_failure": ("Drive has flagged a S.M.A.R.T alert",),
            "media_errors": ("Media Error Count",),
            "other_errors": ("Other Error Count",),
            "predictive_errors": ("Predictive Failure Count",),
            "temperature": ("Drive Temperature",),
            "locked": ("Locked: Locked",),
            "foreign": ("Foreign State",),
            "copyback": ("Copyback",),
        },
    ),
    HealthSource(
        title="ssacli, hpssacli",
        recording=_SSACLI,
        read=lambda text: cards(text)[0].drives[0].health,
        health=Health(predicts_failure=True, wear_percent=95.5, temperature=33.0),
        cells={
            "predicts_failure": ("SSD Smart Trip Wearout",),
            "wear_percent": ("Usage remaining",),
            "temperature": ("Current Temperature (C)",),
        },
    ),
    HealthSource(
        title="ssacli, hpacucli, in a list",
        recording=_HPACUCLI,
        read=lambda text: cards(text)[0].drives[0].health,
        health=Health(predicts_failure=True),
        cells={"predicts_failure": ("Predictive Failure",)},
    ),
    HealthSource(
        title="arcconf, SmartRAID",
        recording=_SMARTRAID,
        read=_arcconf,
        health=Health(
            predicts_failure=True,
            media_errors=9,
            other_errors=3,
            predictive_errors=3,
            wear_percent=88.0,
            temperature=52.0,
            temperature_limit=70.0,
        ),
        cells={
            "predicts_failure": ("S.M.A.R.T.  ",),
            "media_errors": ("Media Failures",),
            "other_errors": ("Aborted Commands", "Bad Target Errors"),
            "predictive_errors": ("Predictive Failures",),
            "wear_percent": ("Usage Remaining",),
            "temperature": ("Current Temperature",),
            "temperature_limit": ("Threshold Temperature",),
        },
        also={
            "predicts_failure": {
                "Predictive Failure": _device("State : Predictive Failure"),
                **{word: _device(f"{word} : True") for word in ("SSD Smart Trip Wearout", "56 Day Warning Present")},
            },
            "media_errors": {
                word: _device(f"{word} : 2")
                for word in ("Hard Read Errors", "Hard Write Errors", "Failed Read Recovers", "Failed Write Recovers")
            },
            "other_errors": {
                word: _device(f"{word} : 2")
                for word in (
                    "Format Errors",
                    "Hardware Errors",
                    "Not Ready Errors",
                    "Other Time Out Errors",
                    "Scsi Bus Faults",
                )
            },
        },
    ),
    HealthSource(
        title="arcconf, series 2 to 8",
        recording=_SERIES,
        read=_arcconf,
        health=Health(predicts_failure=True, media_errors=7, other_errors=10, predictive_errors=5, temperature=36.0),
        cells={
            "predicts_failure": ("S.M.A.R.T.  ",),
            "media_errors": ("Medium Error Count",),
            "other_errors": (
                "Hardware Error Count",
                "Parity Error Count",
                "Link Failure Count",
                "Aborted Command Count",
            ),
            "predictive_errors": ("SMART Warning Count",),
            "temperature": ("Temperature",),
        },
        also={
            "predicts_failure": {"PFA": _device("PFA : Yes")},
            "predictive_errors": {"S.M.A.R.T. warnings": _device("S.M.A.R.T. warnings : 2")},
        },
    ),
    HealthSource(
        title="tw_cli",
        recording=_THREEWARE,
        read=_port,
        health=Health(predicts_failure=True),
        cells={"predicts_failure": ("SMART-FAILURE",)},
    ),
    HealthSource(
        title="tw_cli, unreadable sectors",
        recording=_THREEWARE_ECC,
        read=_port,
        health=Health(media_errors=1),
        cells={"media_errors": ("ECC-ERROR",)},
    ),
    HealthSource(
        title="smartctl, SATA",
        recording=_SMARTCTL,
        read=_smartctl,
        health=Health(predicts_failure=True, media_errors=9, other_errors=21, wear_percent=86.0, temperature=38.0),
        cells={
            "predicts_failure": ("smart_status",),
            "media_errors": ("Reported_Uncorrect",),
            "other_errors": ("UDMA_CRC_Error_Count",),
            "wear_percent": ("Media_Wearout_Indicator",),
            "temperature": ("current",),
        },
        also={
            "media_errors": {
                "Current_Pending_Sector": _attribute(197, "Current_Pending_Sector"),
                "Offline_Uncorrectable": _attribute(198, "Offline_Uncorrectable"),
            },
            "wear_percent": {
                "Percentage Used Endurance Indicator": _STATISTICS,
                "Wear_Leveling_Count": _attribute(177, "Wear_Leveling_Count"),
                "Percent_Lifetime_Remain": _attribute(202, "Percent_Lifetime_Remain"),
                "SSD_Life_Left": _attribute(231, "SSD_Life_Left"),
            },
        },
    ),
    HealthSource(
        title="smartctl, SAS",
        recording=_SMARTCTL_SAS,
        read=_smartctl,
        health=Health(
            predicts_failure=True, media_errors=4, wear_percent=83.0, temperature=44.0, temperature_limit=65.0
        ),
        cells={
            "predicts_failure": ("smart_status",),
            "media_errors": ("total_uncorrected_errors",),
            "wear_percent": ("scsi_percentage_used_endurance_indicator",),
            "temperature": ("current",),
            "temperature_limit": ("drive_trip",),
        },
    ),
    HealthSource(
        title="nvme-cli",
        recording=f"{_SMART_LOG}\n{_ID_CTRL}",
        read=_nvme,
        health=Health(
            predicts_failure=True, media_errors=6, wear_percent=104.0, temperature=68.0, temperature_limit=77.0
        ),
        cells={
            "predicts_failure": ("critical_warning",),
            "media_errors": ("media_errors",),
            "wear_percent": ("percent_used",),
            "temperature": ("temperature",),
            "temperature_limit": ("wctemp",),
        },
    ),
    HealthSource(
        title="fio-status",
        recording=_FIO_STATUS,
        read=_io_memory,
        health=Health(predicts_failure=True, wear_percent=88.8, temperature=58.57),
        cells={
            "predicts_failure": ("Reserve space status",),
            "wear_percent": ("Rated PBW",),
            "temperature": ("Internal temperature",),
        },
    ),
    HealthSource(
        title="SMcli",
        recording=_SMCLI,
        read=_smcli,
        health=Health(predicts_failure=True, wear_percent=71.0, locked=True),
        cells={
            "predicts_failure": ("Impending failure",),
            "wear_percent": ("Percent endurance used",),
            "locked": ("Read/write accessible",),
        },
    ),
    HealthSource(
        title="SANtricity Web Services",
        recording=_SANTRICITY,
        read=lambda text: hardware(text).drives[0].health,
        health=Health(predicts_failure=True, wear_percent=66.0, temperature=47.0, locked=True),
        cells={
            "predicts_failure": ("pfa",),
            "wear_percent": ("percentEnduranceUsed",),
            "temperature": ("currentTemp",),
            "locked": ("fdeLocked",),
        },
    ),
)
