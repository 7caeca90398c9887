"""What the kernel and the system's own tools print, spoiled: the parsers of it that no vendor owns."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import astuple, is_dataclass

from app.core.benchmark.device_stats import diskstats
from app.core.fio.stream import FioJsonDocument, StreamParser
from backends.identity import Signature
from backends.text import parse_choices
from backends.topology.mounts import Mount, parse_mountinfo, parse_swaps, unescape
from backends.topology.signatures import (
    blkid_signatures,
    lsblk_signatures,
    parse_lsblk,
    parse_udev,
    udev_signatures,
    wipefs_signatures,
)
from backends.vendors.hba.names import parse_lspci
from backends.vendors.mdraid.details import parse_export
from tests.backends.patience import PATIENCE

MOUNTINFO = (
    "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/ro\\011ot rw,errors=continue\n"
    "25 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n31 25 0:27 /vol /srv/data ro - btrfs /dev/sdb rw\n"
)
SWAPS = "Filename\tType\tSize\tUsed\tPriority\n/dev/sdb2 partition 2097148 0 -2\n/swap\\040file file 1048572 12 -3\n"
UDEV = (
    "S:disk/by-id/ata-X\nE:ID_SERIAL_SHORT=X5C0FFEE\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=my_data\n"
    "E:ID_FS_LABEL_ENC=my\\x20data\nE:ID_FS_UUID=12-34\nE:ID_PART_TABLE_TYPE=gpt\nE:ID_PART_TABLE_UUID=56-78\n"
)
LSBLK = (
    '{"blockdevices": [{"name": "sda", "kname": "sda", "size": 4000787030016, "pttype": "gpt", "ptuuid": "a-b",\n'
    '  "children": [{"name": "sda1", "kname": "sda1", "fstype": "ext4", "label": "my data", "uuid": "1-2"},\n'
    '    {"name": "sda2", "kname": "sda2", "fstype": null, "label": null}]}]}\n'
)
BLKID = 'DEVNAME=/dev/sdb\nLABEL=my\\ "x\nUUID=1-2\nTYPE=ext4\n\nDEVNAME=/dev/sdc\nPTTYPE=gpt\nPTUUID=5-6\n'
WIPEFS = '{"signatures": [{"device":"sdb", "offset":"0x438", "type":"ext4", "uuid":"1-2", "label":"my data"},\n'
WIPEFS += '  {"device":"sdb", "offset":"0x1fe", "type":"dos", "uuid":null, "label":null}]}\n'
LSPCI = (
    "Slot:\t0000:01:00.0\nClass:\tRAID bus controller [0104]\nVendor:\tBroadcom / LSI [1000]\n"
    "Device:\tMegaRAID SAS 2208 [Thunderbolt] [005b]\nSVendor:\tDell [1028]\nSDevice:\tPERC H710 [1f35]\n\n"
    "Slot:\t0000:02:00.0\nClass:\tNon-Volatile memory controller [0108]\nVendor:\tACME [1234]\nDevice:\tDevice [5678]\n"
)
DISKSTATS = (
    "   8       0 sda 15487 5213 1288818 8452 90231 31002 4123882 120031 0 60112 128483 0 0 0 0\n"
    "   8       1 sda1 120 0 9600 55 4 0 32 1 0 44 56\n 259       0 nvme0n1 7 8 9 10 11 12 13 14 15 16 17\n"
)
EXPORT = "MD_LEVEL=raid5\nMD_DEVICES=4\nMD_NAME=lab:r5\nMD_UUID=6689836f:97e6caec:c09b0e7b:40aefd16\n"
SCHEDULER = "none [mq-deadline] kyber bfq\n"
FIO = (
    'fio: this platform has no clock\n{\n  "fio version" : "fio-3.33",\n  "timestamp_ms" : 1700000000123,\n'
    '  "jobs" : [\n    {\n      "jobname" : "a",\n      "error" : 0,\n      "read" : {\n        "total_ios" : 512\n'
    '      }\n    }\n  ]\n}\n{\n  "fio version" : "fio-3.33",\n  "jobs" : []\n}\nfio: terminating on signal 2\n'
)


def _fio(text: str) -> object:
    parser = StreamParser()
    events = [*parser.feed(text.encode(errors="replace")), *parser.close()]
    return tuple(event.data for event in events if isinstance(event, FioJsonDocument))


PARSERS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "mountinfo": (MOUNTINFO, parse_mountinfo),
    "swaps": (SWAPS, parse_swaps),
    "udev": (UDEV, lambda text: udev_signatures(parse_udev(text), None, None)),
    "lsblk": (LSBLK, lambda text: tuple(lsblk_signatures(row, None, None) for row in parse_lsblk(text).values())),
    "blkid": (BLKID, lambda text: blkid_signatures(text, None, None)),
    "wipefs": (WIPEFS, lambda text: wipefs_signatures(text, None, None)),
    "lspci": (LSPCI, parse_lspci),
    "diskstats": (DISKSTATS, lambda text: diskstats.parse(text, ("sda", "sda1", "nvme0n1"))),
    "mdadm --export": (EXPORT, parse_export),
    "scheduler": (SCHEDULER, parse_choices),
    "fio": (FIO, _fio),
}
"""A good answer and what reads it, by the name of what prints it."""

MANY = int(os.environ.get("RAIDBENCH_MUTATIONS", "300"))
"""Spoiled answers for each parser of a vendor's tool."""

OURS = ("unknown",)
"""Words that a parser says of its own."""
ODD_NUMBERS = ("N/A", "-1", "1e400", "9" * 5000, "", "٣", "nan", "null", "true", "18446744073709551616")
CONTROLS = '\0\x07\x0b\x0c\r\x1b\x1c\x85\u2028\u202e\ufeff\ufffd[]:="{}\\'


def spoiled(text: str, seed: int) -> str:
    """The text after one to four accidents."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(ACCIDENTS)(text, chance)
    return text


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _splice(text: str, chance: random.Random) -> str:
    other = chance.choice([good for good, _ in PARSERS.values()])
    at = chance.randint(0, len(text))
    return text[:at] + other[chance.randint(0, len(other)) :] + text[at:]


def _double(text: str, chance: random.Random) -> str:
    return text + chance.choice(("", "\n", "banner {\n")) + text


def _shuffle(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join(lines)


def _flip(text: str, chance: random.Random) -> str:
    data = bytearray(text.encode(errors="replace"))
    for _ in range(min(len(data), chance.randint(1, 20))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data.decode(errors="replace")


def _renumber(text: str, chance: random.Random) -> str:
    share = chance.random() / 2
    return re.sub(r"\d+", lambda match: chance.choice(ODD_NUMBERS) if chance.random() < share else match[0], text)


def _widen(text: str, chance: random.Random) -> str:
    return text.encode("utf-16", errors="replace").decode(errors="replace")


def _deepen(text: str, chance: random.Random) -> str:
    depth = chance.choice((50, 5000, 200_000 if chance.random() < 0.02 else 900))
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(("[", '{"a":')) * depth + text[at:]


def _control(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 20)):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(CONTROLS) + text[at:]
    return text


ACCIDENTS = (_cut, _splice, _double, _shuffle, _flip, _renumber, _widen, _deepen, _control)


def said(found: object) -> Iterator[str]:
    """Every word and number in a result, as text."""
    match found:
        case None | bool():
            pass
        case str():
            yield found
        case int():
            yield str(found)
        case float():
            yield repr(found)
        case Mount():
            yield from (found.devno, found.point, found.fstype, found.source)
        case Signature():
            yield from said((found.kind, found.label, found.uuid))
        case tuple() | list():
            for value in found:
                yield from said(value)
        case dict():
            for key, value in found.items():
                yield from (*said(key), *said(value))
        case _ if is_dataclass(found) and not isinstance(found, type):
            yield from said(astuple(found))
        case _:
            raise AssertionError(type(found))


def bare(text: str) -> str:
    """Letters and digits alone: cleaning and escapes change the rest."""
    return re.sub(r"[\W_]+", "", text)


def check(name: str, text: str) -> None:
    """One of the parsers here on one text: nothing is raised, nothing invented, no time lost."""
    check_parser(PARSERS[name][1], text)


def check_parser(parse: Callable[[str], object], text: str, ours: Collection[str] = ()) -> None:
    """Any parser on one text; `ours`: the words that it says of its own."""
    began = time.process_time()
    found = parse(text)
    assert time.process_time() - began < PATIENCE
    words = list(said(found))
    if not words:
        return
    plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    plain = re.sub(r"\\x([0-7][0-9a-fA-F])", lambda match: chr(int(match[1], 16)), plain)
    source = bare(text), bare(unescape(plain)), bare(re.sub(r"\\[nrtbf]", "", plain))
    for word in words:
        assert word in OURS or word in ours or any(bare(word) in each for each in source) or _same_number(word, text), (
            word
        )


def _same_number(word: str, text: str) -> bool:
    """Whether a number stands there in another spelling: 1e5 for 100000.0, 1e400 for what is beyond all."""
    if not re.fullmatch(r"-?(inf|[0-9.]+(e[+-]?[0-9]+)?)", word):
        return False
    written = re.findall(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?", text)
    return any(float(each) == float(word) for each in written)
