"""A drive played by a dictionary: answers nvme-cli's command lines and does what they say. For the backend's rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from backends.host import Command, Completed, FileStat
from tests.backends.fakes import QUEUE, FakeHost, disk, machine

TOOL = "/usr/sbin/nvme"
NAMES = {1: "Arbitration", 2: "Power Management", 6: "Volatile Write Cache", 8: "Interrupt Coalescing"}
FORMATS = ((9, 0, 2), (12, 0, 0), (9, 8, 3))
"""Formats of the played drive: log2 of the block, metadata, relative performance."""


def controller(name: str, *heads: str, serial: str = "S1", **own: str) -> dict[str, str]:
    """sysfs files of one controller; `heads` are the entries of its namespaces."""
    number = name.removeprefix("nvme")
    files = {
        "model": "ACME SSD 9",
        "serial": serial,
        "firmware_rev": "1.0",
        "transport": "pcie",
        "state": "live",
        "address": f"0000:0{number}:00.0",
        "cntlid": "0",
        "subsysnqn": f"nqn.acme:{serial}",
        "dev": f"245:{number}",
    } | own
    base = f"/sys/class/nvme/{name}"
    return {f"{base}/{key}": text for key, text in files.items()} | {f"{base}/{head}/dev": "" for head in heads}


def namespace(name: str, *, nsid: int = 1, devno: str = "259:0", serial: str = "S1") -> dict[str, str]:
    """sysfs files of one namespace's block device."""
    queue = QUEUE | {"rotational": "0", "scheduler": "[none] mq-deadline"}
    own = {
        "nsid": str(nsid),
        "wwid": f"eui.{nsid:016x}",
        "device/model": "ACME SSD 9",
        "device/serial": serial,
        "device/firmware_rev": "1.0",
    }
    return disk(name, devno=devno, queue=queue) | {f"/sys/block/{name}/{key}": text for key, text in own.items()}


class PlayedDrive(FakeHost):
    """nvme-cli and the drive behind it: nvme0 with its only namespace nvme0n1, unless other files are given."""

    def __init__(self, *parts: dict[str, str], root: bool = True, **ident: Any) -> None:
        files = parts or (controller("nvme0", "nvme0n1"), namespace("nvme0n1"))
        nodes = ("nvme0n1", "nvme0n2", "nvme1n1")
        stats = {
            f"/dev/{node}": FileStat(kind="block", size=0, devno=devno)
            for part in files
            for node in nodes
            if (devno := part.get(f"/sys/block/{node}/dev")) is not None
        }
        super().__init__(machine(*files, **{TOOL: ""}), stats=stats, root=root)
        self.made_up = True
        self.ran: list[tuple[str, ...]] = []
        self.features = {1: 0x07030203, 2: 0x20, 6: 1, 8: 0x0103}
        self.feature_capabilities = dict.fromkeys(self.features, 4)
        self.ident: dict[str, Any] = {"sn": "S1", "mn": "ACME SSD 9", "fr": "1.0", "vwc": 7, "oacs": 0x1E, "nn": 1}
        self.ident |= {"oncs": 0x5F, "fna": 0, "cmic": 0, "apsta": 1, "wctemp": 343, "cctemp": 353}
        self.ident |= {"psds": [_state(2500, 0, 0, 0), _state(900, 0, 5, 5), _state(50, 3, 2000, 9000)]} | ident
        self.space: dict[str, Any] = {"nsze": 1 << 21, "nuse": 1 << 21, "nlbaf": 2, "flbas": 0, "dps": 0, "nmic": 0}
        self.health = {"temperature": 323, "percent_used": 3, "avail_spare": 100, "spare_thresh": 10, "media_errors": 0}
        self.allocated = [1]
        self.installed = True
        self.blkid = ""
        self.answers: dict[str, Callable[[tuple[str, ...]], Completed]] = {}

    def which(self, names: Sequence[str]) -> str | None:
        if tools := {"blkid", "wipefs"} & set(names):
            return f"/usr/sbin/{tools.pop()}"
        return TOOL if self.installed and "nvme" in names else None

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != TOOL:
            name = command.argv[0].rpartition("/")[2]
            found = self.blkid if name == "blkid" else '{"signatures": []}'
            return self.tools.get(name, Completed(returncode=0 if found else 2, stdout=found, stderr=""))
        words = command.argv[1:]
        assert command.mutates == (words[0] in ("set-feature", "format"))
        self.ran.append(words)
        play = self.answers.get(words[0], self._answer)
        return play(words)

    @property
    def sets(self) -> list[str]:
        """The lines that changed something."""
        return [" ".join(words) for words in self.ran if words[0] in ("set-feature", "format")]

    def _answer(self, words: tuple[str, ...]) -> Completed:
        match words:
            case ("id-ctrl", _, "-o", "json"):
                return said(json.dumps(self.ident))
            case ("id-ns", _, "-o", "json"):
                formats = [{"ms": ms, "ds": ds, "rp": rp} for ds, ms, rp in FORMATS]
                return said(json.dumps(self.space | {"lbafs": formats}))
            case ("smart-log", _, "-o", "json"):
                return said(json.dumps(self.health))
            case ("list-ns", _, "--all"):
                return said("".join(f"[{place:4}]:{nsid:#x}\n" for place, nsid in enumerate(self.allocated)))
            case ("get-feature", "/dev/nvme0", feature, select):
                return self._get(int(feature.removeprefix("--feature-id=")), select)
            case ("set-feature", "/dev/nvme0", feature, value):
                number = int(feature.removeprefix("--feature-id="))
                self.features[number] = int(value.removeprefix("--value="), 16)
                return said(f"set-feature:0x{number:02x} ({NAMES[number]}), value:{self.features[number]:#010x}\n")
            case ("format", "/dev/nvme0n1", "--namespace-id=1", *options):
                self._format(options)
                return said("Success formatting namespace:1\n")
            case _:
                raise AssertionError(words)

    def _get(self, number: int, select: str) -> Completed:
        value, name = (self.features[number], "Current")
        if select == "--sel=3":
            value, name = self.feature_capabilities[number], "Supported capabilities"
        return said(f"get-feature:0x{number:02x} ({NAMES[number]}), {name} value:{value:#010x}\n")

    def _format(self, options: Sequence[str]) -> None:
        given = dict(option.removeprefix("--").split("=") for option in options)
        self.space["flbas"] = int(given["lbaf"]) | int(given.get("ms", 0)) << 4
        self.space["dps"] = int(given.get("pi", 0)) | int(given.get("pil", 0)) << 3
        block = 1 << FORMATS[int(given["lbaf"])][0]
        self.files["/sys/block/nvme0n1/queue/logical_block_size"] = str(block)


def said(text: str) -> Completed:
    """What the tool printed, and that it went well."""
    return Completed(returncode=0, stdout=text, stderr="")


def refused(words: str, status: int = 1) -> Completed:
    """What the tool prints when the drive refuses."""
    return Completed(returncode=status, stdout="", stderr=f"NVMe status: {words}\n")


def _state(power: int, flags: int, entry: int, leave: int) -> dict[str, int]:
    return {"max_power": power, "flags": flags, "entry_lat": entry, "exit_lat": leave}
