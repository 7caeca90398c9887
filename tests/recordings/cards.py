"""What the tools of cards and disk systems that are not MegaRAID said, read by the backends of their vendors."""

from __future__ import annotations

import re
from pathlib import Path

from backends.sizes import read_size
from backends.topology import Topology, Tree
from backends.vendors.areca.output_parsing import NOT_THERE, drives, pairs, raid_sets
from backends.vendors.fusionio.text import parse_document, parse_status
from backends.vendors.marvell.backend import ADAPTER, DISK, VOLUME
from backends.vendors.marvell.presence import records
from backends.vendors.smcli.dialects import is_carried_out, names_in, refusal
from backends.vendors.smcli.facts import parse_profile
from backends.vendors.threeware.inventory import ThreewareCard, inventory
from backends.vendors.threeware.settings import rows, values
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
    sizes = re.findall(r"Format: v\d+, \d+ sectors of (\d+) bytes", text)
    assert [one.sector_bytes for one in found.modules if one.sector_bytes] == list(map(int, sizes))


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
    assert is_carried_out(text) is whole
    assert whole or refusal(text).startswith("There are currently no storage systems listed")
    assert parse_profile(text) is None


@checks("ibm/smcli/*no_arrays*")
def no_disk_system_is_listed(path: Path) -> None:
    assert names_in(text_of(path)) == ()


@checks("3ware/tw_cli/*.txt")
def tw_cli(path: Path) -> None:
    text = text_of(path)
    lines = [line.split() for line in text.splitlines() if line.strip()]
    first = {name: [words for words in lines if re.fullmatch(rf"{name}\d+", words[0])] for name in "cup"}
    units, ports = rows(text, "Unit", "UnitType", "Status"), rows(text, "Status", "Unit", "Size")
    assert [row["Model"] for row in rows(text, "Ctl")] == [words[1] for words in first["c"]]
    assert [(row["Unit"], row["UnitType"], row["Status"]) for row in units] == [
        tuple(words[:3]) for words in first["u"]
    ]
    assert [row["Status"] for row in ports] == [words[1] for words in first["p"]]
    assert [row["Unit"] for row in ports] == [words[2] for words in first["p"]]
    assert all(row["Size"] in text and (row.get("Model") or row["Serial"]) in text for row in ports)
    for row, words in zip(units, first["u"], strict=True):
        cache = words[-3] if "IgnECC" in text else words[-2]
        assert row["Cache"] == cache
        assert values(cache, "").get("write_cache") == (
            None if cache == "-" else "write-back" if cache.endswith(("W", "ON")) else "write-through"
        )
    card = ThreewareCard(row={"Ctl": "c0", "Model": "x"}, units=units, ports=ports)
    found = inventory(card, Topology(tree=Tree(nodes={}, numbers={})))
    assert len(found.arrays) == sum(words[1] != "SPARE" for words in first["u"])
    assert len(found.drives) == sum(words[1] != "NOT-PRESENT" for words in first["p"])
    assert all([one.size_bytes for one in found.arrays] + [one.size_bytes for one in found.drives])


@checks("areca/cli64/*disk*info*.txt")
def areca_disks(path: Path) -> None:
    text = text_of(path)
    found = drives(text)
    shown = [line for line in text.splitlines() if re.match(r" *\d+ +\d+ ", line) and NOT_THERE not in line]
    assert len(found) == len(shown)
    for one, line in zip(found, shown, strict=True):
        assert line.split()[0] == one.number
        assert f"{one.model} " in line
        assert line.split(one.size)[1].strip() == one.usage


@checks("areca/cli64/*rsf*info*.txt")
def areca_raid_sets(path: Path) -> None:
    text = text_of(path)
    found = raid_sets(text)
    shown = [line for line in text.splitlines() if re.match(r" *\d+ +\S.*\dGB", line)]
    assert [line.split()[-1] for line in shown] == [one.state for one in found]
    assert all(one.name in line and f" {one.disks} " in line for one, line in zip(found, shown, strict=True))


@checks("areca/cli64/redhat-cip__*.txt")
def areca_rows(path: Path) -> None:
    text = text_of(path)
    found = pairs(text)
    assert len(found) == len(
        {line.split(" : ")[0].strip() for line in text.splitlines() if " : " in line and "[" not in line}
    )
    assert all(value in " ".join(text.split()) for value in found.values())


@checks("marvell/mvcli/*info*.txt")
def mvcli(path: Path) -> None:
    text = text_of(path)
    adapters, volumes, disks = (records(text, *kind) for kind in (ADAPTER, VOLUME, DISK))
    assert len(adapters) == len(re.findall(r"^(?:Adapter|controller) ID:", text, re.MULTILINE))
    assert [row["name"] for row in volumes] == re.findall(r"^name: +(\S+)", text, re.MULTILINE)
    assert [row["serial"] for row in disks] == re.findall(r"^Serial: +(\S+)", text, re.MULTILINE)
    assert all(read_size(row["size"]) for row in (*volumes, *disks))
