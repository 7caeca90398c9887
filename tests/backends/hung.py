"""A block device that stops to answer: a loop device on a file of a file system in user space. Takes root and FUSE."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.loops import attach, detach, why_no_loops

SIZE = 16 << 20
"""Bytes of the device."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_MNT_DETACH = 2
_IN = struct.Struct("<IIQQIIII")  # fuse_in_header (include/uapi/linux/fuse.h)
_OUT = struct.Struct("<IiQ")
_ATTR = struct.Struct("<QQQQQQIIIIIIIIII")
_LOOKUP, _FORGET, _GETATTR, _SETATTR, _OPEN, _READ, _WRITE, _STATFS, _FSYNC = 1, 2, 3, 4, 14, 15, 16, 17, 20
_INIT, _OPENDIR, _BATCH_FORGET, _ENOSYS, _ENOENT = 26, 27, 42, 38, 2
_FILE = 2


class HungFile:
    """A file of zeros that answers until it is told to fall silent, and again after that."""

    def __init__(self, folder: Path) -> None:
        """Mounted at `folder`. Raises OSError."""
        self._device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0".encode()
        if _LIBC.mount(b"hung", str(folder).encode(), b"fuse", 0, options) != 0:
            os.close(self._device)
            raise OSError(ctypes.get_errno(), "no file system in user space can be mounted")
        self._folder = folder
        self._answers = threading.Event()
        self._answers.set()
        self.asked = threading.Event()
        """Whether somebody waits for data."""
        self.path = folder / "disk"
        """The file."""
        threading.Thread(target=self._serve, name="hung file", daemon=True).start()

    def silence(self) -> None:
        """From now on nothing is answered that asks for data."""
        self.asked.clear()
        self._answers.clear()

    def answer(self) -> None:
        """All that was asked, too."""
        self._answers.set()

    def close(self) -> None:
        """Unmount it."""
        self.answer()
        _LIBC.umount2(str(self._folder).encode(), _MNT_DETACH)

    def _serve(self) -> None:
        while True:
            try:
                request = os.read(self._device, (1 << 20) + 4096)
            except OSError:
                return
            _, opcode, unique, node, *_ = _IN.unpack_from(request)
            body = request[_IN.size :]
            if opcode in (_READ, _WRITE, _FSYNC) and not self._answers.is_set():
                self.asked.set()
                threading.Thread(target=self._late, args=(opcode, unique, node, body), daemon=True).start()
                continue
            self._reply(opcode, unique, node, body)

    def _late(self, opcode: int, unique: int, node: int, body: bytes) -> None:
        self._answers.wait()
        self._reply(opcode, unique, node, body)

    def _reply(self, opcode: int, unique: int, node: int, body: bytes) -> None:
        if opcode in (_FORGET, _BATCH_FORGET):
            return
        error, data = 0, b""
        if opcode == _INIT:
            data = struct.pack("<IIIIHHIIHHIIIIIII", 7, 31, 65536, 0, 16, 12, 1 << 17, 1, 32, 0, 0, *[0] * 6)
        elif opcode == _LOOKUP:
            known = body.rstrip(b"\0") == b"disk"
            error = 0 if known else -_ENOENT
            data = struct.pack("<QQQQII", _FILE, 1, 3600, 3600, 0, 0) + _attributes(_FILE) if known else b""
        elif opcode in (_GETATTR, _SETATTR):
            data = struct.pack("<QII", 3600, 0, 0) + _attributes(node)
        elif opcode in (_OPEN, _OPENDIR):
            data = struct.pack("<QII", 1, 1, 0)
        elif opcode == _READ:
            data = bytes(struct.unpack_from("<QQI", body)[2])
        elif opcode == _WRITE:
            data = struct.pack("<II", struct.unpack_from("<QQI", body)[2], 0)
        elif opcode == _STATFS:
            data = struct.pack("<QQQQQIIII6I", 1 << 20, 1 << 19, 1 << 19, 1, 1, 4096, 255, 4096, 0, *[0] * 6)
        elif opcode != _FSYNC:
            error = 0 if opcode in (18, 25, 29) else -_ENOSYS
        try:
            os.write(self._device, _OUT.pack(_OUT.size + len(data), error, unique) + data)
        except OSError:  # whoever asked is gone
            return


def _attributes(node: int) -> bytes:
    mode = 0o100600 if node == _FILE else 0o040755
    return _ATTR.pack(node, SIZE if node == _FILE else 0, SIZE // 512, *[0] * 6, mode, 1, 0, 0, 0, 4096, 0)


def why_no_hung_disks() -> str:
    """Why none can be made, "" where it can."""
    return why_no_loops() or ("" if Path("/dev/fuse").exists() else "needs FUSE")


@contextmanager
def hung_disk(folder: Path, *options: str) -> Iterator[tuple[str, HungFile]]:
    """The node of a loop device, and what keeps its data; it answers until its file falls silent."""
    place = folder / "fuse"
    place.mkdir()
    file = HungFile(place)
    try:
        made = attach(file.path, *options)
        try:
            yield made.device, file
        finally:
            file.answer()
            detach(made)
    finally:
        file.close()
