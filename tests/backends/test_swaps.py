"""What the kernel writes to an active swap area by itself is told from what somebody else writes."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
from pathlib import Path

import pytest

from tests.backends.loops import ext4, loop, mounted, needs_loops, run
from tests.backends.swaps import bytes_but, kernels_own, make_swap
from tests.packages import needs

pytestmark = [pytest.mark.root, needs_loops(), needs("mkfs.ext4", "mkswap")]

PAGE_OUT = 21  # MADV_PAGEOUT, linux/mman.h


def swapped_out() -> mmap.mmap:
    """Memory of this program that the kernel was told to move out; held as long as it is referred to."""
    memory = mmap.mmap(-1, 4 * mmap.PAGESIZE)
    memory.write(os.urandom(len(memory)))
    memory.madvise(PAGE_OUT)
    return memory


def test_pages_that_the_kernel_moves_into_a_swap_file_are_no_write_of_anybody(tmp_path: Path) -> None:
    with loop(tmp_path / "disk", size=16 << 20) as device:
        ext4(device.sure())
        with mounted(device.device, tmp_path / "here"):
            area = tmp_path / "here" / "swap"
            area.write_bytes(bytes(1 << 20))
            area.chmod(0o600)
            make_swap(area)
            own = kernels_own(area)
            if subprocess.run(["swapon", "-p", "32767", str(area)], check=False, capture_output=True).returncode:
                pytest.skip("no swap file can be made here")
            try:
                raw, before = bytes_but(device.backing, ()), bytes_but(device.backing, own)
                memory = swapped_out()
                after = bytes_but(device.backing, ())
                assert bytes_but(device.backing, own) == before
                memory.close()
                if after == raw:
                    pytest.skip("this kernel keeps elsewhere what it moves out")
            finally:
                run("swapoff", str(area))
            with open(device.sure(), "r+b") as opened:
                os.pwrite(opened.fileno(), b"other", own[0].start - 4096)
            assert bytes_but(device.backing, own) != before


def test_an_area_that_nobody_uses_is_the_kernels_but_for_its_header(tmp_path: Path) -> None:
    area = tmp_path / "area"
    area.write_bytes(bytes(1 << 20))
    make_swap(area)
    assert kernels_own() == (range(mmap.PAGESIZE, 10 * mmap.PAGESIZE),)
    assert ctypes.c_uint32.from_buffer_copy(area.read_bytes(), 1028).value == 9  # last_page
