"""storcli answers written by hand, in the shape that versions 7 and 8 print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.json_text import indented_json

Json = dict[str, Any]

VERSION_7 = "007.2807.0000.0000 Dec 22, 2023"
VERSION_8 = "008.0005.0000.0010 Feb 22, 2023"
NAA = "600605b00a1b2c3d2f00000000000001"


def answer(
    data: object = None,
    *,
    card: int | str | None = 0,
    status: str = "Success",
    description: str = "None",
    rows: Sequence[Json] = (),
    version: str | None = VERSION_7,
) -> str:
    """One card's answer as JSON."""
    head: Json = {} if version is None else {"CLI Version": version}
    head |= {"Operating system": "Linux 6.1.0"}
    head |= {} if card is None else {"Controller": card}
    head |= {"Status": status, "Description": description}
    head |= {"Detailed Status": list(rows)} if rows else {}
    entry: Json = {"Command Status": head}
    return indented_json({"Controllers": [entry if data is None else entry | {"Response Data": data}]})


def failure(message: str, code: int | str = 255, **row: object) -> str:
    """A refusal in a row of its own."""
    return answer(
        status="Failure",
        rows=[{"Ctrl": 0, "Status": "Failed", "Property": "-", "ErrMsg": message, "ErrCd": code} | row],
    )


def overview(*models: str) -> str:
    """Answer to `show`."""
    rows = [{"Ctl": at, "Model": model, "Ports": 8, "PDs": 4, "VDs": 1} for at, model in enumerate(models)]
    return answer({"Number of Controllers": len(rows), "Host Name": "h", "System Overview": rows}, card=None)


NO_CARD = answer(card=None, status="Failure", description="No Controller found")


def drive_row(place: str, *, state: str = "Onln", group: int | str = 0, med: str = "SSD", **more: object) -> Json:
    """A row of `PD LIST`."""
    row = {"EID:Slt": place, "DID": 10, "State": state, "DG": group, "Size": "223.062 GB", "Intf": "SATA", "Med": med}
    return row | {"SED": "N", "PI": "N", "SeSz": "512B", "Model": "CTFDDAC256MAG-1G1   ", "Sp": "U", "Type": "-"} | more


def volume_row(number: int = 1, *, group: int = 0, **more: object) -> Json:
    """A row of `VD LIST`."""
    row = {"DG/VD": f"{group}/{number}", "TYPE": "RAID5", "State": "Optl", "Access": "RW", "Consist": "Yes"}
    return row | {"Cache": "NRWTD", "Cac": "-", "sCC": "ON", "Size": "446.125 GB", "Name": "data"} | more


def properties(**more: object) -> Json:
    """`VDn Properties`."""
    lines: Json = {"Strip Size": "64 KB", "Number of Blocks": 935591936, "Span Depth": 1}
    lines |= {"Number of Drives Per Span": 3, "Write Cache(initial setting)": "WriteThrough"}
    lines |= {"Disk Cache Policy": "Disk's Default", "Encryption": "None", "Active Operations": "None"}
    return lines | {"Exposed to OS": "Yes", "OS Drive Name": "/dev/sdb", "SCSI NAA Id": NAA} | more


def topology(*places: str, group: int = 0, spans: int = 1, level: str = "RAID5", free: str = "N") -> list[Json]:
    """Rows of `TOPOLOGY` for one group."""
    whole = {"DG": group, "Arr": "-", "Row": "-", "EID:Slot": "-", "DID": "-", "Type": level, "State": "Optl"}
    rows: list[Json] = [whole | {"PDC": "dflt", "FSpace": free}]
    each = len(places) // spans
    for span in range(spans):
        rows.append(whole | {"Arr": span, "PDC": "dflt", "FSpace": free})
        rows += [
            {"DG": group, "Arr": span, "Row": row, "EID:Slot": place, "DID": 9, "Type": "DRIVE", "State": "Onln"}
            | {"PDC": "dflt", "FSpace": "-"}
            for row, place in enumerate(places[span * each : (span + 1) * each])
        ]
    return rows


RATES = {"Rebuild Rate": "30 %", "PR Rate": "30 %", "BGI Rate": "30 %", "Check Consistency Rate": "30 %"}


def show_all(
    *,
    volumes: Sequence[Json] = (),
    drives: Sequence[Json] = (),
    groups: Sequence[Json] = (),
    options: Mapping[str, str] | None = None,
    protection: Mapping[str, object] | None = None,
    rates: Mapping[str, str] | None = None,
    policies: Mapping[str, str] | None = None,
    support: Mapping[str, str] | None = None,
    **more: object,
) -> Json:
    """Data of `/c0 show all`."""
    table = [{"Policy": name, "Current": value, "Default": ""} for name, value in (rates or RATES).items()]
    data: Json = {
        "Basics": {"Controller": 0, "Model": "LSI MegaRAID SAS 9280-24i4e", "Serial Number": "SV11111111"},
        "Version": {"Firmware Package Build": "12.12.0-0045", "Firmware Version": "2.120.43-1223"},
        "Status": {"Controller Status": "Optimal", "BBU Status": 32},
        "Supported Adapter Operations": {"Rebuild Rate": "Yes", "BGI Rate ": "Yes", "Support Perf Tuning": "Yes"},
        "Supported VD Operations": {"Read Policy": "Yes", "Write Policy": "Yes", "IO Policy": "Yes"}
        | {"Access Policy": "Yes", "Disk Cache Policy": "Yes", "Support FastPath": "Yes"}
        | dict(support or {}),
        "Advanced Software Option": [
            {"Adv S/W Opt": name, " Time Remaining": f" {time}", " Mode": " -"}
            for name, time in (options or {"MegaRAID RAID5": "Unlimited"}).items()
        ],
        "Safe ID": " AAAABBBBCCCCDDDD",
        "HwCfg": {"BBU": "Present", "On Board Memory Size": "512MB", "ROC temperature(Degree Celsius)": 61},
        "Policies": {"Policies Table": table, **(policies or {})},
        "Capabilities": {"Min Strip Size": "8 KB", "Max Strip Size": "1.0 MB", "Enable JBOD": "No"},
        "TOPOLOGY": list(groups),
        "Virtual Drives": len(volumes),
        "VD LIST": list(volumes),
        "Physical Drives": len(drives),
        "PD LIST": list(drives),
    }
    if protection is not None:
        data["BBU_Info"] = [dict(protection)]
    return data | more


def battery(state: str = "Optimal", **more: str) -> Json:
    """Data of `/c0/bbu show all`."""
    rows = {"Type": "iBBU08", "Temperature": "34 C", "Battery State": state} | more
    return {"BBU_Info": [{"Property": name, "Value": value} for name, value in rows.items()]}


def details(place: str, **more: object) -> Json:
    """The two headings of one drive in `show all`."""
    enclosure, slot = place.split(":")
    path = f"Drive /c0/e{enclosure}/s{slot}" if enclosure.strip() else f"Drive /c0/s{slot}"
    state = {"Media Error Count": 0, "Other Error Count": 2, "Drive Temperature": " 31C (87.80 F)"}
    own = {
        "SN": f"SN{slot}",
        "WWN": f"500A0751000000{int(slot):02X}",
        "Firmware Revision": "0007",
        "Link Speed": "6.0Gb/s",
    }
    own |= {"Coerced size": "223.062 GB [0x1be20000 Sectors]", "Logical Sector Size": "512B"}
    return {
        path: [drive_row(place)],
        f"{path} - Detailed Information": {f"{path} State": state, f"{path} Device attributes": own | more},
    }


def property_table(**values: object) -> Json:
    """`Ctrl_Prop` rows, underscores for blanks."""
    return {
        "Controller Properties": [
            {"Ctrl_Prop": name.replace("_", " "), "Value": value} for name, value in values.items()
        ]
    }
