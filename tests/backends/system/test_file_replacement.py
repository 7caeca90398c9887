"""Files that other programs or people wrote: replaced without loss, or refused."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backends.errors import RefusedError, ToolFailedError
from backends.system.local import file_replacement
from backends.system.local.file_replacement import LARGEST, read_whole, replace_whole
from backends.system.local.host import LocalHost
from tests.packages import needs

FOREIGN = b'# caf\xe9\r\n\x00\x0cKERNEL=="x"\xe2\x80\xa8\n' + b"#" * 1_400_000
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "99-raidbench.rules"
    path.write_bytes(FOREIGN)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_byte_is_read(file: Path) -> None:
    assert read_whole(str(file)) == FOREIGN


def test_no_file_is_none(tmp_path: Path) -> None:
    assert read_whole(str(tmp_path / "none")) is None


def test_the_largest_file_is_read_and_a_larger_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as out:
        out.truncate(LARGEST)
    assert len(read_whole(str(path)) or b"") == LARGEST
    os.truncate(path, LARGEST + 1)
    with pytest.raises(RefusedError, match="larger than 16 MiB"):
        read_whole(str(path))


def _link(path: Path) -> None:
    (path.parent / "target").write_bytes(b"x")
    path.symlink_to("target")


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _masked(path: Path) -> None:
    path.symlink_to("/dev/null")


def _hard(path: Path) -> None:
    (path.parent / "target").write_bytes(b"x")
    os.link(path.parent / "target", path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(path.parent):
        listener.bind(path.name)  # a whole path may be too long


@pytest.mark.parametrize("make", [_link, _dangling, _masked, _hard, _socket, os.mkfifo, os.mkdir])
def test_what_a_file_would_destroy_is_refused_and_stays(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "99-raidbench.rules"
    make(path)
    before = (names(tmp_path), os.lstat(path).st_ino, os.lstat(path).st_mode)
    with pytest.raises(RefusedError, match="was not changed"):
        read_whole(str(path))
    for known in (None, b"x"):
        with pytest.raises(RefusedError):
            replace_whole(str(path), b"new", known)
    assert (names(tmp_path), os.lstat(path).st_ino, os.lstat(path).st_mode) == before


def test_the_refusal_names_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/elsewhere")
    with pytest.raises(RefusedError, match="symbolic link to /etc/elsewhere"):
        read_whole(str(tmp_path / "link"))


def test_mode_and_attributes_stay(file: Path) -> None:
    file.chmod(0o640)
    try:
        os.setxattr(file, "user.note", b"mine\0")
    except OSError:
        pytest.skip("this file system has no attributes")
    replace_whole(str(file), b"new", FOREIGN)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o640)
    assert os.getxattr(file, "user.note") == b"mine\0"


@as_root
def test_owner_and_acl_stay(file: Path) -> None:
    os.chown(file, 12345, 23456)
    entries = ((0x01, 6, -1), (0x02, 4, 777), (0x04, 4, -1), (0x10, 6, -1), (0x20, 0, -1))  # linux/posix_acl_xattr.h
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(file, "system.posix_acl_access", acl)
    except OSError:
        pytest.skip("this file system has no ACLs")
    replace_whole(str(file), b"new", FOREIGN)
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 23456)
    assert os.getxattr(file, "system.posix_acl_access") == acl


def test_an_attribute_that_cannot_be_kept_refuses(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(os, "listxattr", lambda _: ["security.selinux"])
    monkeypatch.setattr(os, "getxattr", lambda *_: b"label")
    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(RefusedError, match=r"security\.selinux"):
        replace_whole(str(file), b"new", FOREIGN)
    assert (file.read_bytes(), names(file.parent)) == (FOREIGN, [file.name])


def test_a_changed_file_is_left_alone(file: Path) -> None:
    for known in (None, b"", FOREIGN + b"x"):
        with pytest.raises(RefusedError, match="changed since"):
            replace_whole(str(file), b"new", known)
        with pytest.raises(RefusedError, match="changed since"):
            replace_whole(str(file), b"", known)
    assert (file.read_bytes(), names(file.parent)) == (FOREIGN, [file.name])


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="changed since"):
        replace_whole(str(tmp_path / "file"), b"new", b"old")
    assert names(tmp_path) == []


def _rewritten(path: Path) -> None:
    path.write_bytes(b"other")


def _exchanged(path: Path) -> None:
    (path.parent / "other").write_bytes(FOREIGN)
    (path.parent / "other").rename(path)


@pytest.mark.parametrize("change", [_rewritten, _exchanged, Path.unlink])
def test_a_change_while_the_new_file_is_written_is_seen(
    file: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    copy = file_replacement._copy_attributes

    def late(path: str, opened: file_replacement._OpenedFile, descriptor: int) -> None:
        copy(path, opened, descriptor)
        change(file)

    monkeypatch.setattr(file_replacement, "_copy_attributes", late)
    with pytest.raises(RefusedError, match="changed since"):
        replace_whole(str(file), b"new", FOREIGN)
    assert not [name for name in names(file.parent) if name.startswith(".raidbench-")]
    assert not file.exists() or file.read_bytes() != b"new"


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, path = file_replacement._write_temporary, tmp_path / "file"

    def late(where: str, content: bytes) -> tuple[int, str]:
        path.write_bytes(b"theirs")
        return written(where, content)

    monkeypatch.setattr(file_replacement, "_write_temporary", late)
    with pytest.raises(RefusedError, match="changed since"):
        replace_whole(str(path), b"new", None)
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["file"])


def test_on_a_full_disk_the_old_file_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ToolFailedError, match="No space left"):
        replace_whole(str(file), b"new", FOREIGN)
    assert (file.read_bytes(), names(file.parent)) == (FOREIGN, [file.name])


IMMUTABLE = 0x10  # FS_IMMUTABLE_FL
GET, SET = 0x80086601, 0x40086602  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS


@pytest.fixture
def immutable(file: Path) -> Iterator[Path]:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        flags = struct.unpack("l", fcntl.ioctl(descriptor, GET, struct.pack("l", 0)))[0]
        fcntl.ioctl(descriptor, SET, struct.pack("l", flags | IMMUTABLE))
    except OSError:
        os.close(descriptor)
        pytest.skip("this file system has no immutable files")
    yield file
    fcntl.ioctl(descriptor, SET, struct.pack("l", flags))
    os.close(descriptor)


@as_root
@pytest.mark.parametrize("content", [b"new", b""])
def test_an_immutable_file_stays_and_the_hint_names_lsattr(immutable: Path, content: bytes) -> None:
    with pytest.raises(ToolFailedError, match="not permitted") as caught:
        replace_whole(str(immutable), content, FOREIGN)
    assert "lsattr" in caught.value.hint
    assert (immutable.read_bytes(), names(immutable.parent)) == (FOREIGN, [immutable.name])


@as_root
@needs("unshare")
def test_on_a_read_only_file_system_the_sentence_says_so(file: Path) -> None:
    script = (
        "import subprocess, sys\n"
        f"subprocess.run(['mount', '--bind', {str(file.parent)!r}, {str(file.parent)!r}], check=True)\n"
        f"subprocess.run(['mount', '-o', 'remount,ro,bind', {str(file.parent)!r}], check=True)\n"
        "from backends.system.local.file_replacement import read_whole, replace_whole\n"
        f"replace_whole({str(file)!r}, b'new', read_whole({str(file)!r}))\n"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", script],
        capture_output=True,
        text=True,
    )
    if "unshare" in done.stderr or "mount" in done.stderr.splitlines()[-1]:
        pytest.skip("no mount namespaces here")
    assert "Read-only file system" in done.stderr
    assert file.read_bytes() == FOREIGN


def test_nothing_is_written_where_nothing_changes(file: Path) -> None:
    before = file.stat()
    replace_whole(str(file), FOREIGN, FOREIGN)
    assert file.stat().st_ino == before.st_ino


async def test_the_host_reads_and_replaces_so(file: Path) -> None:
    host = LocalHost()
    assert await asyncio.wait_for(host.read_whole(str(file)), 60) == FOREIGN
    await host.install(str(file), FOREIGN + b"\n", before=FOREIGN)
    assert file.read_bytes() == FOREIGN + b"\n"
