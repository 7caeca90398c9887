"""Preallocation of scratch files: blocks that belong to the file, but were never written."""

from __future__ import annotations

import ctypes
import errno
import os

_PUNCH_HOLE_KEEP_SIZE = 3
"""FALLOC_FL_PUNCH_HOLE and FALLOC_FL_KEEP_SIZE (linux/falloc.h)."""

_UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS)


def preallocate(descriptor: int, size: int, *, has_content: bool) -> bool:
    """Give an open file new blocks up to `size`; return whether its filesystem can preallocate.

    Without support the file stays sparse, as etcd leaves its log. `has_content`: whether to discard old blocks first.
    The size never shrinks, because the mark of a scratch file contains it. Raises OSError if the disk is full.
    """
    # os.posix_fallocate would write to every block where the filesystem cannot preallocate (glibc).
    if has_content and not _fallocate(descriptor, _PUNCH_HOLE_KEEP_SIZE, max(size, os.fstat(descriptor).st_size)):
        return False
    return _fallocate(descriptor, 0, size)


def _fallocate(descriptor: int, mode: int, size: int) -> bool:
    """Call fallocate(2) for the first `size` bytes; return whether the filesystem supports it. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Only the 64-bit call takes large sizes on 32-bit machines; musl has one call for both.
    call = getattr(libc, "fallocate64", None) or libc.fallocate
    call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    while call(descriptor, mode, 0, size):
        code = ctypes.get_errno()
        if code in _UNSUPPORTED:
            return False
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code))
    return True
