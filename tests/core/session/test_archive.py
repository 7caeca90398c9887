"""A session in one file comes back as it was; what somebody made by hand to do harm is refused in a sentence."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.session import archive_reader
from app.core.session.archive import MANIFEST, ArchivedFile, digest_of, write_archive
from app.core.session.archive_reader import load_archive, unpacked_archive
from app.core.session.folders import LOG
from app.core.session.store import load
from backends.errors import NotFoundError, RaidbenchError, RefusedError, StorageError
from backends.version import program_version
from tests.core import sessions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = sessions.written(tmp_path / "2026-01-31-142500", sessions.started(), *sessions.run("r1"))
    (made / "runs/r1").mkdir(parents=True)
    (made / "runs/r1/job.fio").write_text("[raidbench]\nrw=randread\n")
    (made / "runs/r1/fio.out").write_bytes(os.urandom(3 << 20))
    return made


@pytest.fixture
def file(folder: Path, tmp_path: Path) -> Path:
    return write_archive(folder, tmp_path / "session.zip").file


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    return tmp_path / "private"


@dataclass
class Usage:
    """Of a file system."""

    free: int


def refusal(file: Path, into: Path) -> str:
    """Why it is not taken; nothing of it may lie outside of where it was to go."""
    with pytest.raises(RefusedError) as refused:
        load_archive(file, into)
    return refused.value.message


def test_a_session_comes_back_whole(folder: Path, file: Path, into: Path) -> None:
    loaded = load_archive(file, into)
    names = ("runs/r1/job.fio", "runs/r1/fio.out", LOG)
    assert [(loaded.folder / name).read_bytes() for name in names] == [(folder / name).read_bytes() for name in names]


def test_what_it_is_called_is_the_file(file: Path, into: Path) -> None:
    assert load_archive(file, into).display_path == str(file)


def test_for_a_verdict_the_log_alone_is_unpacked(file: Path) -> None:
    with unpacked_archive(file, with_output=False) as loaded:
        assert [path.name for path in loaded.folder.iterdir()] == [LOG]


def test_nothing_is_left_of_it_afterwards(file: Path) -> None:
    with unpacked_archive(file) as loaded:
        pass
    assert not loaded.folder.parent.exists()


def test_nobody_else_may_read_what_is_unpacked(file: Path) -> None:
    with unpacked_archive(file) as loaded:
        files = [path for path in loaded.folder.rglob("*") if path.is_file()]
        assert {stat.S_IMODE(place.stat().st_mode) & 0o077 for place in (loaded.folder.parent, *files)} == {0}


def test_the_checksum_is_that_of_the_file(folder: Path, tmp_path: Path) -> None:
    made = write_archive(folder, tmp_path / "session.zip")
    assert made.sha256 == hashlib.sha256(made.file.read_bytes()).hexdigest()


def test_an_archive_is_not_written_over(file: Path, folder: Path) -> None:
    with pytest.raises(RefusedError):
        write_archive(folder, file)


def test_an_archive_is_replaced_where_that_is_meant(file: Path, folder: Path, into: Path) -> None:
    file.write_text("something else")
    write_archive(folder, file, force=True)
    assert load_archive(file, into).session == load(folder).session


def test_a_session_that_cannot_be_read_leaves_no_file_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError):
        write_archive(tmp_path / "empty", tmp_path / "session.zip")
    assert not (tmp_path / "session.zip").exists()


def test_links_out_of_the_session_are_left_out(folder: Path, tmp_path: Path, into: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "output").mkdir()
    (folder / "output/1.txt").symlink_to(tmp_path / "secret")
    (folder / "runs/r2").symlink_to(tmp_path)
    loaded = load_archive(write_archive(folder, tmp_path / "session.zip").file, into)
    assert sorted(path.name for path in loaded.folder.rglob("*")) == ["fio.out", "job.fio", "r1", "runs", LOG]


@pytest.mark.long
def test_no_serial_number_is_in_a_redacted_archive(folder: Path, tmp_path: Path, into: Path) -> None:
    (folder / "runs/r1/job.fio").write_text("# on pear\n")
    loaded = load_archive(write_archive(folder, tmp_path / "session.zip", redact=True).file, into)
    texts = [(loaded.folder / name).read_text() for name in (LOG, "runs/r1/job.fio")]
    assert [("pear" in text, bool(text)) for text in texts] == [(False, True), (False, True)]


@pytest.mark.parametrize("at", [0, 40, 1 << 20, -1, -70, -120])
def test_a_byte_that_was_changed_anywhere_is_found(file: Path, into: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    assert "archive" in refusal(file, into) or "damaged" in refusal(file, into)


@pytest.mark.parametrize("length", [0, 1, 100, 1 << 20])
def test_an_archive_that_was_cut_off_is_refused(file: Path, into: Path, length: int) -> None:
    os.truncate(file, length)
    assert refusal(file, into) == f"{file} is not an archive of raidbench, or its end is missing."


def test_a_file_of_another_kind_is_refused(tmp_path: Path, into: Path) -> None:
    (tmp_path / "x").write_bytes(b"PK\x05\x06" + bytes(18))
    assert "is not an archive of raidbench" in refusal(tmp_path / "x", into)


def test_a_pipe_is_not_waited_for(tmp_path: Path, into: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe", into).endswith("is not a file.")


def test_a_newer_format_says_what_reads_it(file: Path, into: Path) -> None:
    content = file.read_bytes()
    at = content.rindex(b"raidbench-archive")
    file.write_bytes(content[:at] + b"raidbench-archive 2 by 3.1 sha256=" + b"0" * 64)
    with pytest.raises(RefusedError) as refused:
        load_archive(file, into)
    assert (refused.value.message, refused.value.hint) == (
        f"{file} was written by raidbench 3.1; this is {program_version()}.",
        "Use raidbench 3.1 or newer to read it.",
    )


LINE = b'{"event":"note-added","at":1.0,"text":"x"}\n'


class Forged:
    """An archive made by hand: every checksum is right, whatever else is not."""

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {LOG: LINE}
        self.manifest: dict[str, Any] = {}
        self.info: Callable[[ZipInfo], None] = lambda info: None
        self.compression = ZIP_DEFLATED
        self.unlisted: dict[str, bytes] = {}
        self.sizes: dict[str, int] = {}

    def write(self, file: Path) -> Path:
        parts = [
            ArchivedFile(name=name, size=self.sizes.get(name, len(content)), sha256=hashlib.sha256(content).hexdigest())
            for name, content in self.parts.items()
        ]
        listed = [{"name": part.name, "size": part.size, "sha256": part.sha256} for part in parts]
        told = {"format": 1, "program": "1", "session": "s", "parts": listed, "sha256": digest_of(parts)}
        with ZipFile(file, "w", self.compression) as archive:
            for name, content in (*self.parts.items(), *self.unlisted.items()):
                info = ZipInfo(name)
                info.compress_type = self.compression
                self.info(info)
                archive.writestr(info, content)
            archive.writestr(MANIFEST, json.dumps(told | self.manifest))
            archive.comment = b"raidbench-archive 1 by 1 sha256=" + b"0" * 64
        content = file.read_bytes()[:-64]
        file.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
        return file


@pytest.fixture
def forged() -> Forged:
    return Forged()


def test_what_is_made_by_hand_and_sound_is_read(forged: Forged, tmp_path: Path, into: Path) -> None:
    assert len(load_archive(forged.write(tmp_path / "x.zip"), into).session.events) == 1


@pytest.mark.parametrize(
    "name", ["../x", "/tmp/x", "runs/../../x", "runs//x", ".hidden", "runs\\..\\x", "a/./b", "x\n"]
)
def test_a_name_that_leads_out_is_refused(forged: Forged, tmp_path: Path, into: Path, name: str) -> None:
    forged.parts[name] = b"owned"
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("outside the session.")
    assert list(into.iterdir()) == []


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc", 7, None, "x\n"])
def test_a_session_whose_name_leads_out_is_refused(forged: Forged, tmp_path: Path, into: Path, name: object) -> None:
    forged.manifest["session"] = name
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("outside the session.")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFDIR])
def test_links_and_devices_are_refused(forged: Forged, tmp_path: Path, into: Path, kind: int) -> None:
    forged.info = lambda info: setattr(info, "external_attr", (kind | 0o777) << 16)
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("entries that are not regular files.")


def test_another_compression_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.compression = ZIP_LZMA
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("entries that are not regular files.")


def test_a_bomb_is_refused_before_it_is_unpacked(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.parts["output/bomb"] = bytes(64 << 20)
    assert "larger than any session" in refusal(forged.write(tmp_path / "x.zip"), into)
    assert list(into.iterdir()) == []


def test_a_log_that_no_memory_holds_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.parts["runs/r1/fio.out"] = os.urandom(4 << 20)
    forged.sizes[LOG] = 300 << 20
    assert "larger than any session" in refusal(forged.write(tmp_path / "x.zip"), into)


def test_a_part_that_is_longer_than_it_says_is_not_unpacked_any_further(
    forged: Forged, tmp_path: Path, into: Path
) -> None:
    forged.parts["output/long"] = bytes(8 << 20)
    forged.sizes["output/long"] = 10
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("output/long differs from what was written.")
    assert (into / "s/output/long").stat().st_size == 0


@pytest.mark.parametrize("change", [{"parts": []}, {"parts": None}, {"parts": [{}]}, {"format": "1"}, {"sha256": "0"}])
def test_a_manifest_that_makes_no_sense_is_refused(
    forged: Forged, tmp_path: Path, into: Path, change: dict[str, Any]
) -> None:
    forged.manifest = change
    assert refusal(forged.write(tmp_path / "x.zip"), into)


def test_a_file_that_no_manifest_lists_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.unlisted["output/more"] = b"x"
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("does not match its manifest.")


def test_the_same_name_twice_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.unlisted[LOG] = LINE
    with pytest.warns(UserWarning, match="Duplicate"):
        made = forged.write(tmp_path / "x.zip")
    assert refusal(made, into).endswith("does not match its manifest.")


def test_a_file_where_a_folder_is_needed_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.parts |= {"runs": b"", "runs/r1/fio.out": b""}
    assert "damaged" in refusal(forged.write(tmp_path / "x.zip"), into)


def test_a_manifest_of_deep_brackets_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.manifest["x"] = 1
    made = forged.write(tmp_path / "x.zip")
    with ZipFile(made, "w") as archive:
        archive.writestr(MANIFEST, "[" * 200_000)
        archive.comment = b"raidbench-archive 1 by 1 sha256=" + b"0" * 64
    content = made.read_bytes()[:-64]
    made.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
    assert "damaged" in refusal(made, into)


def test_an_archive_that_is_not_there_is_named(tmp_path: Path, into: Path) -> None:
    with pytest.raises(NotFoundError, match="does not exist"):
        load_archive(tmp_path / "none.zip", into)


def resealed(content: bytes) -> bytes:
    """With the checksum of the whole made right again."""
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), min_size=1, max_size=8))
def test_whatever_is_changed_in_it_ends_in_a_sentence_and_writes_nowhere_else(
    tmp_path: Path, changes: list[tuple[int, int]]
) -> None:
    content = bytearray(Forged().write(tmp_path / "sound.zip").read_bytes())
    for at, byte in changes:
        content[at % (len(content) - 64)] = byte
    (tmp_path / "x.zip").write_bytes(resealed(bytes(content)))
    with TemporaryDirectory(dir=tmp_path) as private, contextlib.suppress(RaidbenchError):
        load_archive(tmp_path / "x.zip", Path(private))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sound.zip", "x.zip"]


def test_an_encrypted_part_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    made = forged.write(tmp_path / "x.zip")
    content = bytearray(made.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    made.write_bytes(resealed(bytes(content)))
    assert refusal(made, into).endswith("entries that are not regular files.")


def test_a_list_that_is_larger_than_its_entries_is_not_read(forged: Forged, tmp_path: Path, into: Path) -> None:
    made = forged.write(tmp_path / "x.zip")
    content = bytearray(made.read_bytes())
    at = content.rindex(b"PK\x05\x06")
    content[at + 12 : at + 16] = (1 << 30).to_bytes(4, "little")
    made.write_bytes(resealed(bytes(content)))
    assert refusal(made, into).endswith("is damaged, or is not a raidbench archive.")


def test_a_zip_with_extensions_is_not_read(forged: Forged, tmp_path: Path, into: Path) -> None:
    made = forged.write(tmp_path / "x.zip")
    content = made.read_bytes()
    at = content.rindex(b"PK\x05\x06")
    made.write_bytes(resealed(content[:at] + b"PK\x06\x07" + bytes(16) + content[at:]))
    assert refusal(made, into).endswith("is damaged, or is not a raidbench archive.")


def test_what_does_not_fit_is_not_begun(file: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.session.archive_reader.shutil.disk_usage", lambda _: Usage(free=1 << 20))
    assert refusal(file, into).endswith("MiB of free space to unpack.")
    assert list(into.iterdir()) == []


def test_a_newer_manifest_says_what_reads_it(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.manifest = {"format": 2, "program": "3.1"}
    assert "was written by raidbench 3.1; this is" in refusal(forged.write(tmp_path / "x.zip"), into)


def test_a_part_that_is_not_what_its_checksum_says_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    parts = [ArchivedFile(name=LOG, size=len(LINE), sha256="0" * 64)]
    listed = [{"name": part.name, "size": part.size, "sha256": part.sha256} for part in parts]
    forged.manifest = {"parts": listed, "sha256": digest_of(parts)}
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith(f"is damaged: {LOG} differs from what was written.")


def test_names_that_some_file_systems_do_not_tell_apart_are_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.parts |= {"output/a": b"1", "output/A": b"2"}
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("does not match its manifest.")


def test_an_archive_without_a_log_is_refused(forged: Forged, tmp_path: Path, into: Path) -> None:
    forged.parts = {"output/a": b"1"}
    assert refusal(forged.write(tmp_path / "x.zip"), into).endswith("does not match its manifest.")


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("the drive is gone"), "the drive is gone"),
    ],
)
def test_an_archive_that_cannot_be_unpacked_says_why(
    error: OSError, why: str, folder: Path, into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_archive(folder, tmp_path / "session.zip").file

    def fail(*_args: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(archive_reader, "_unpack", fail)
    with pytest.raises(StorageError) as raised:
        load_archive(file, into)
    assert raised.value.message == f"{file} cannot be unpacked: {why}."
