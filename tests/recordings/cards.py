"""What the tools of cards and disk systems that are not MegaRAID said, read by the backends of their vendors."""

from __future__ import annotations

import re
from pathlib import Path

from backends.vendors.fusionio.document import parse_document
from backends.vendors.fusionio.text import parse_status
from backends.vendors.smcli.profile import parse_profile
from backends.vendors.smcli.words import done, names_in, refusal
from tests.recordings import checks, text_of


@checks("fusionio/fio-status/*.txt")
def fio_status(path: Path) -> None:
    text = text_of(path)
    found = parse_status(text)
    assert [one.name for one in found.modules] == re.findall(r"^(fct\d+)\s+Attached", text, re.MULTILINE)
    volumes = [each.name for one in found.modules for each in one.volumes]
    assert volumes == re.findall(r"^(fio[a-z])\s+State: Online", text, re.MULTILINE)
    assert [one.pci for one in found.modules] == re.findall(r"PCI:(\S+),", text)
    heat = re.findall(r"temperature: (\S+) degC, max (\S+) degC", text)
    assert [(one.celsius, one.celsius_most) for one in found.modules] == [tuple(map(float, each)) for each in heat]
    assert all((one.reserve_state, one.reserve_percent) == ("Healthy", 100.0) for one in found.modules)
    assert len(found.adapters) == text.count("Adapter: ")
    assert all((one.external_power, one.power_limit) == ("NOT connected", "24.75W") for one in found.adapters)
    assert all(serial in text for serial in [one.serial or "?" for one in found.modules])
    formats = re.findall(r"Format: v\d+, (\d+) sectors of (\d+) bytes", text)
    assert [(one.sectors, one.sector_bytes) for one in found.modules if one.sectors] == [
        (int(sectors), int(size)) for sectors, size in formats
    ]


@checks("fusionio/fio-status/*fj*.json")
def fio_status_in_json(path: Path) -> None:
    (module,) = parse_document(text_of(path)).modules
    (volume,) = module.volumes
    assert (module.name, module.pci, volume.name) == ("fct0", "0000:07:00.0", "fioa")
    assert (volume.sector_bytes, volume.sectors, volume.size_bytes) == (4096, 191650390, 784999997440)
    assert module.throttling == "None"


@checks("ibm/smcli/*.txt")
def smcli_frames(path: Path) -> None:
    text = text_of(path)
    whole = "Script execution complete." in text and "SMcli completed successfully." in text
    assert done(text) is whole
    assert whole or refusal(text).startswith("There are currently no storage systems listed")
    assert parse_profile(text) is None


@checks("ibm/smcli/*no_arrays*")
def no_disk_system_is_listed(path: Path) -> None:
    assert names_in(text_of(path)) == ()
