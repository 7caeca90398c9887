"""Tables of device-mapper as the kernel gives them: every segment, whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from backends.system.local import mapper
from backends.topology.device_mapper import segments_by_name

NUMBER = "253:300"
ENCODED = (253 << 8) | (300 & 0xFF) | ((300 & ~0xFF) << 12)
"""As the kernel packs the number of a device (huge_encode_dev in linux/kdev_t.h)."""
TARGETS = [(0, 2048, "linear", "8:0 4096"), (2048, 64, "error", ""), (2112, 8, "striped", "2 128 8:0 0 8:16 0")]


class Kernel:
    """Answers DM_TABLE_STATUS as drivers/md/dm-ioctl.c does (retrieve_status)."""

    def __init__(self, targets: list[tuple[int, int, str, str]]) -> None:
        self.targets = targets
        self.sizes: list[int] = []

    def ioctl(self, _file: int, request: int, data: bytearray) -> int:
        assert request == 0xC138FD0C
        major, minor, _, size, start, _, _, flags, _, _, device, *_ = mapper._HEAD.unpack_from(data)
        assert (major, minor, flags & 0x10) == (4, 0, 0x10)
        assert size == len(data)
        self.sizes.append(size)
        if device != ENCODED:
            raise OSError(errno.ENXIO, "No such device or address")
        out = bytearray()
        for first, sectors, kind, words in self.targets:
            text = words.encode() + b"\0"
            text += bytes(-len(text) % 8)
            after = len(out) + mapper._TARGET.size + len(text)
            out += mapper._TARGET.pack(first, sectors, 0, after, kind.encode()) + text
        full = start + len(out) > size
        if not full:
            data[start : start + len(out)] = out
        flags |= 0x100 if full else 0
        mapper._HEAD.pack_into(data, 0, 4, 48, 0, size, start, len(self.targets), 1, flags, 0, 0, device, b"", b"")
        return 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    kernel = Kernel(TARGETS)
    (tmp_path / "control").touch()
    monkeypatch.setattr(mapper, "_CONTROL", str(tmp_path / "control"))
    monkeypatch.setattr(fcntl, "ioctl", kernel.ioctl)
    return kernel


def test_every_segment_is_read(kernel: Kernel) -> None:
    parts = segments_by_name(mapper.read_tables([NUMBER]))[NUMBER]
    assert [(one.start, one.length, one.kind, " ".join(one.args)) for one in parts] == TARGETS


def test_a_long_table_is_read_whole(kernel: Kernel) -> None:
    kernel.targets = [(at, 1, "linear", f"8:0 {at}") for at in range(5000)]
    assert len(segments_by_name(mapper.read_tables([NUMBER]))[NUMBER]) == 5000
    assert kernel.sizes == [16 << 10, 256 << 10, 4 << 20]


def test_a_table_that_does_not_fit_is_not_told_in_part(kernel: Kernel) -> None:
    kernel.targets = [(at, 1, "linear", "x" * 4000) for at in range(2000)]
    assert mapper.read_tables([NUMBER]) == ""


def test_a_device_that_is_not_there_has_no_table(kernel: Kernel) -> None:
    assert mapper.read_tables(["253:9", NUMBER]).count(NUMBER) == len(TARGETS)


def test_an_error_of_the_kernel_is_raised(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(fcntl, "ioctl", refuse)
    with pytest.raises(PermissionError):
        mapper.read_tables([NUMBER])


def test_the_structures_have_the_kernels_sizes() -> None:
    assert (mapper._HEAD.size, mapper._TARGET.size) == (312, 40)
