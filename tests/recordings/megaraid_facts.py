"""Some 2,000 facts of the recordings, read by another route than the parsers', one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.vendors.megaraid.facts import PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.megacli.drives import parse_drives
from backends.vendors.megaraid.megacli.volumes import parse_volumes
from tests.backends.megaraid.storcli_fields import answers_in
from tests.recordings import checks, text_of

_UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_READ = {"ReadAheadNone": "none", "ReadAhead": "read-ahead", "ReadAdaptive": "adaptive"}
_DISK_CACHE = {"Enabled": "on", "Disabled": "off", "Disk's Default": "default"}
Fact = tuple[str, object, object]
"""What, as the recording has it, as it was read."""


def _bytes(words: str) -> float:
    number, unit = words.replace("B", "").rstrip().rstrip("KMGTkmgt"), words.replace(" ", "").upper().rstrip("B")[-1]
    return float(number) * _UNITS.get(unit, 1)


def _pairs(block: str) -> dict[str, str]:
    """`key : value` lines of a block, the first of each."""
    found: dict[str, str] = {}
    for line in block.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found


def _volume(pairs: dict[str, str], one: VirtualDrive) -> Iterator[Fact]:
    yield "name", pairs.get("Name") or None, one.name
    yield "state", pairs.get("State", ""), one.state_raw
    if "Span Depth" in pairs:
        yield "spans", int(pairs["Span Depth"]), one.spans
    if strip := pairs.get("Strip Size") or pairs.get("Stripe Size"):
        yield "strip", _bytes(strip), one.strip_bytes
    if disk := pairs.get("Disk Cache Policy"):
        yield "drive cache", _DISK_CACHE[disk], one.drive_cache and one.drive_cache.value
    if cached := pairs.get("Is VD Cached"):
        yield "CacheCade", cached == "Yes", one.cached is not None and one.cached.value != "off"
    if policies := pairs.get("Default Cache Policy"):
        write, read, io, *battery = policies.split(", ")
        kept = "always-write-back" if battery == ["Write Cache OK if Bad BBU"] else "write-back"
        set_ = one.configured
        yield "write", "write-through" if write == "WriteThrough" else kept, set_.write_cache and set_.write_cache.value
        yield "read", _READ[read], set_.read_ahead and set_.read_ahead.value
        yield "I/O", io.lower(), set_.io_policy and set_.io_policy.value


def _drive(pairs: dict[str, str], one: PhysicalDrive) -> Iterator[Fact]:
    yield "slot", int(pairs["Slot Number"]), one.slot
    yield "state", pairs.get("Firmware state", ""), one.state_raw
    yield "interface", pairs.get("PD Type", "").lower() or None, one.interface
    counters = {"media": "Media Error Count", "other": "Other Error Count", "predictive": "Predictive Failure Count"}
    for ours, theirs in counters.items():
        if theirs in pairs:
            yield theirs, int(pairs[theirs]), one.errors.get(ours)
    if sectors := re.search(r"\[0x([0-9a-f]+) Sectors\]", pairs.get("Coerced Size", "")):
        yield "size", int(sectors[1], 16) * 512, one.size_bytes
    if re.fullmatch("[0-9A-F]{16}", pairs.get("WWN", "")):
        yield "WWN", pairs["WWN"].lower(), one.wwn


@checks("lsi/megacli/*")
def facts_of_megacli(path: Path) -> None:
    text = text_of(path)
    volumes = [
        re.split(r"(?m)^PD: \d|^Physical Disk: ?\d|^Adapter |^Exit Code", block)[0]
        for block in re.split(r"(?m)^\s*(?:CacheCade )?Virtual (?:Drive|Disk): ?(?=\d+ ?\()", text)[1:]
    ]
    drives = [
        block for block in re.split(r"(?m)^(?=Enclosure Device ID: )", text) if re.search(r"(?m)^Slot N.*\d", block)
    ]
    facts: list[Fact] = []
    for block, volume in zip(volumes, parse_volumes(text), strict=True):
        facts += _volume(_pairs(block), volume)
    for block, drive in zip(drives, parse_drives(text), strict=True):
        facts += _drive(_pairs(block), drive)
    assert [fact for fact in facts if fact[1] != fact[2]] == []


def _answers(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cards and what a JSON answer says of each; nothing for text."""
    try:
        document = json.loads(text[text.find("{") :], strict=False)
    except ValueError:
        return
    for entry in document.get("Controllers", ()):
        data = entry.get("Response Data")
        if isinstance(data, dict):
            yield int(entry["Command Status"].get("Controller", 0)), data


@checks("lsi/storcli/*.json", "lsi/storcli2/*.json", "dell/perccli/*.json")
def facts_of_storcli(path: Path) -> None:
    text = text_of(path)
    volumes, _, cards = answers_in(text)
    facts: list[Fact] = []
    for number, data in _answers(text):
        for heading, own in data.items():
            told = re.fullmatch(r"VD(\d+) Properties", heading)
            for one in (one for one in volumes if told and (one.card, one.number) == (number, int(told[1]))):
                facts.append(("strip", _bytes(own["Strip Size"]), one.strip_bytes))
                facts.append(("spans", own["Span Depth"], one.spans))
                facts.append(("drives in each", own["Number of Drives Per Span"], one.drives_per_span))
                facts.append(("blocks", own["Number of Blocks"] * 512, one.size_bytes))
        for card in (card for card in cards if card.number == number):
            for part, key, ours in (("Basics", "Model", card.model), ("Basics", "Serial Number", card.serial)):
                if data.get(part, {}).get(key):
                    facts.append((key, " ".join(data[part][key].split()), ours))
            heat = data.get("HwCfg", {}).get("ROC temperature(Degree Celsius)")
            facts += [("temperature", heat, card.temperature_c)] if heat is not None else []
    assert [fact for fact in facts if fact[1] != fact[2]] == []
