"""Read and atomically replace configuration files that other programs or administrators may have written."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

from backends.errors import RefusedError, ToolFailedError
from backends.output_file import sync_folder
from backends.text import clean

LARGEST = 16 << 20
"""Maximum size in bytes of a file that is replaced; a larger file is refused."""

_OPENING = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # opening a FIFO would block
_KERNELS_OWN = ("security.ima", "security.evm")
"""Extended attributes that the kernel computes from the content of a file, so they are not copied."""


def read_whole(path: str) -> bytes | None:
    """Return all bytes of a regular file; None if there is no file.

    Raises RefusedError if it is a link, has a second hard link, or is too large: it cannot be replaced without loss.
    """
    opened = _open(path)
    if opened is None:
        return None
    with opened:
        return opened.content


class _OpenedFile:
    """A file that may be replaced: descriptor, state and content."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.descriptor = descriptor
        self.info = os.fstat(descriptor)
        if not stat.S_ISREG(self.info.st_mode):
            raise _unfit_error(path, "is not a regular file")
        if self.info.st_nlink != 1:
            raise _unfit_error(path, f"has {self.info.st_nlink} names (hard links), of which only one would change")
        parts: list[bytes] = []
        size = 0
        while size <= LARGEST and (part := os.read(descriptor, 1 << 20)):
            parts.append(part)
            size += len(part)
        if size > LARGEST:
            raise _unfit_error(path, f"is larger than {LARGEST >> 20} MiB")
        self.content = b"".join(parts)

    def __enter__(self) -> _OpenedFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    @property
    def state(self) -> tuple[int, ...]:
        """Return numbers that change with every write to the file and differ between files, to detect a replacement."""
        info = self.info
        return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _open(path: str) -> _OpenedFile | None:
    """Open the file and return it with its state and content; None if there is no file.

    Raises RefusedError if it must not be replaced.
    """
    try:
        descriptor = os.open(path, _OPENING)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            leads = clean(os.readlink(path), 200) if os.path.islink(path) else "itself"
            raise _unfit_error(path, f"is a symbolic link to {leads}, which a regular file would replace") from error
        raise _unfit_error(path, f"cannot be read: {error.strerror}") from error
    try:
        return _OpenedFile(path, descriptor)
    except OSError as error:
        os.close(descriptor)
        raise _unfit_error(path, f"cannot be read: {error.strerror}") from error
    except BaseException:
        os.close(descriptor)
        raise


def _unfit_error(path: str, why: str) -> RefusedError:
    return RefusedError(f"{path} {why}. It was not changed.", hint="Edit the file manually, or move it away.")


def replace_whole(path: str, content: bytes, before: bytes | None, *, mode: int = 0o644) -> None:
    """Replace a file atomically if its current content is `before`. `content`: the new content; b"" removes the file.

    `before`: None if the file must not exist. `mode`: mode of a new file. Owner, mode, ACL and extended attributes
    of an existing file are kept. Raises RefusedError if the file has changed, ToolFailedError if it cannot be written.
    """
    try:
        if content:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        opened = _open(path)
        if opened is None:
            if before is not None:
                raise _changed_error(path)
            if content:
                _create(path, content, mode)
            return
        with opened:
            if opened.content != before:
                raise _changed_error(path)
            if not content:
                os.unlink(path)
            elif content != before:
                _exchange(path, content, opened)
    except OSError as error:
        raise ToolFailedError(
            f"{path} could not be written: {error.strerror}.", hint=_hint(error), evidence=str(error)
        ) from error


def _changed_error(path: str) -> RefusedError:
    return RefusedError(
        f"{path} has changed since you reviewed it. Nothing was written.", hint="Review the change again."
    )


def _hint(error: OSError) -> str:
    if not isinstance(error, PermissionError):
        return ""
    return "Run raidbench as root." if os.geteuid() else "`lsattr` shows whether the file or its folder is immutable."


def _create(path: str, content: bytes, mode: int) -> None:
    """Create the file. Raises RefusedError if another process created it meanwhile, OSError."""
    descriptor, temporary = _write_temporary(path, content)
    try:
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
        os.link(temporary, path)  # link(2) never replaces a file
    except FileExistsError:
        raise _changed_error(path) from None
    finally:
        os.close(descriptor)
        _remove(temporary)
    sync_folder(Path(path).parent)


def _exchange(path: str, content: bytes, opened: _OpenedFile) -> None:
    """Replace the opened file. Raises RefusedError if it changed meanwhile or an attribute cannot be kept, OSError."""
    descriptor, temporary = _write_temporary(path, content)
    try:
        _copy_attributes(path, opened, descriptor)
        os.fsync(descriptor)
        now = _open(path)
        if now is None:
            raise _changed_error(path)
        with now:
            if now.state != opened.state:
                raise _changed_error(path)
        # os.replace is atomic: udev and systemd may read the folder at any moment.
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    finally:
        os.close(descriptor)
    sync_folder(Path(path).parent)


def _write_temporary(path: str, content: bytes) -> tuple[int, str]:
    """Return descriptor and path of a new file with the content in the folder of `path`. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".raidbench-")
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.close(descriptor)
        _remove(temporary)
        raise
    return descriptor, temporary


def _copy_attributes(path: str, opened: _OpenedFile, descriptor: int) -> None:
    """Copy owner, mode, ACL and extended attributes to the new file. Raises RefusedError, OSError."""
    os.fchown(descriptor, opened.info.st_uid, opened.info.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(opened.info.st_mode))
    try:
        names = os.listxattr(opened.descriptor)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        names = []
    for name in names:
        if name in _KERNELS_OWN:
            continue
        value = os.getxattr(opened.descriptor, name)
        try:
            os.setxattr(descriptor, name, value)
        except OSError as error:
            raise _unfit_error(path, f"has the attribute {clean(name, 80)}, which cannot be preserved") from error


def _remove(temporary: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
