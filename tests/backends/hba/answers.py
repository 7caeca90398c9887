"""What an emulated MegaRAID SAS 9260-8i with four one-drive arrays answered, and a card that answers so."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from backends.errors import RaidbenchError, ToolFailedError
from backends.firmware_queries import FirmwareQuery


def sparse(size: int, parts: Mapping[int, str]) -> bytes:
    """So many zero bytes, with hexadecimal parts at their places."""
    data = bytearray(size)
    for at, part in parts.items():
        found = bytes.fromhex(part)
        data[at : at + len(found)] = found
    return bytes(data)


CONTROLLER = sparse(
    2048,
    {
        1: "10790000106192",
        180: "010000004150500000000000312e38302d51454d55",
        224: "4170722020312032303134000000000031323a33343a3536",
        1340: "200880404c5349204d656761524149442053415320393236302d3869",
        1424: "4c41424d45474130",
        1456: "34000000ea070a15f0035000ffff000004000000000004000400000000002000000210",
        1498: "500001000000013000001f00000003100000030000000b",
        1600: "322e352b2d51454d55",
    },
)
PROPERTIES = sparse(64, {2: "2c01100032001e1e1e1e1e04020600000000000fa0050001"})
VOLUMES = sparse(
    1032, {0: "04", 8: "0300000003000000000008", 24: "0200000003000000000008", 40: "0100000003", 56: "00000000"}
)
VOLUME = sparse(384, {35: "030100030001", 74: "08", 258: "08"})
DRIVES = sparse(6152, {0: "6800000002", 8: "0002ffff00020001", 32: "0000ffff00000001"})
SILENT_DRIVE = sparse(512, {4: "7f", 100: "7f", 184: "1000000102200000", 234: "08", 250: "08", 256: "ffff"})
CONFIGURATION = sparse(
    32 + 2 * 288 + 2 * 256,
    {
        0: "600400000200400202000002000028",
        34: "08000000000001000002",
        64: "0002000018",
        322: "08000000000001000000",
        352: "0000000018",
        608: "02",
        640: "000000030101030001",
        689: "02",
        864: "00",
        896: "000000030101030001",
    },
)
"""Of two groups and two arrays; the sizes beside the counts are those of all records, as the emulator has it."""

BATTERY = sparse(64, {0: "02", 2: "a00f", 4: "f6ff", 6: "1c00"})


def drive(device_id: int, **at: bytes) -> bytes:
    """A drive as a real card tells it; parts by `b123` for the byte they begin at."""
    inquiry = b"\0\0\6\2\x1f\0\0\0" + b"ATA     " + b"EXAMPLE SSD 960 " + b"0132" + b"SER1234567890       "
    data = bytearray(sparse(512, {184: "1800", 187: "03", 188: "0230", 256: "fc00"}))
    data[0:2] = struct.pack("<H", device_id)
    data[4 : 4 + len(inquiry)] = inquiry
    data[248:256] = struct.pack("<Q", 1875385008)
    data[370], data[402] = 1, 31
    for name, part in at.items():
        start = int(name[1:])
        data[start : start + len(part)] = part
    return bytes(data)


class AnsweringCard:
    """A host whose one card answers from a table; what is not in it is refused."""

    def __init__(self, answers: Mapping[FirmwareQuery, bytes | RaidbenchError], why_not: str | None = None) -> None:
        self.answers = dict(answers)
        self.why_not = why_not
        self.asked: list[tuple[int, FirmwareQuery, int, int | None]] = []
        self.firmware_queries = True

    async def firmware_reachable(self) -> str | None:
        return self.why_not

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        self.asked.append((host_number, question, subject, size))
        answer = self.answers.get(question)
        if answer is None:
            raise ToolFailedError(f"The card refused {question.name.lower()}.")
        if isinstance(answer, RaidbenchError):
            raise answer
        if question is FirmwareQuery.VOLUME:
            answer = bytes([subject]) + answer[1:]
        return answer[: size or question.value.size]


ANSWERS: Mapping[FirmwareQuery, bytes | RaidbenchError] = {
    FirmwareQuery.CONTROLLER: CONTROLLER,
    FirmwareQuery.PROPERTIES: PROPERTIES,
    FirmwareQuery.VOLUMES: sparse(1032, {0: "02", 8: "02", 24: "00"}),
    FirmwareQuery.VOLUME: VOLUME,
    FirmwareQuery.DRIVES: DRIVES,
    FirmwareQuery.DRIVE: SILENT_DRIVE,
    FirmwareQuery.CONFIGURATION_SIZE: CONFIGURATION,
    FirmwareQuery.CONFIGURATION: CONFIGURATION,
}
