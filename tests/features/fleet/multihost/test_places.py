"""Which scratch files other machines may have, and what tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.features.fleet.multihost.shared_files import shared_places
from tests.backends.fakes import FakeHost

MOUNTS = """\
22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /srv/nfs rw shared:2 - nfs4 10.0.0.1:/export/a rw,vers=4.2
31 22 0:41 / /srv/nfs/deeper rw shared:3 - lustre 10.0.0.9@tcp:/big rw
32 22 253:4 / /srv/gfs rw shared:4 - gfs2 /dev/mapper/shared rw
33 22 0:42 / /mnt/tag rw - virtiofs share rw
34 22 0:43 / /mnt/odd\\040one rw - fuse.glusterfs gl:/vol\\040x rw
"""


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("/srv/nfs/x/scratch", ("nfs4 10.0.0.1:/export/a/x/scratch",)),
        ("/srv/nfs/deeper/scratch", ("lustre 10.0.0.9@tcp:/big/scratch",)),
        ("/srv/gfs/scratch", ("gfs2 1234-uuid/scratch",)),
        ("/mnt/odd one/scratch", ("fuse.glusterfs gl:/vol x/scratch",)),
        ("/mnt/tag/scratch", ()),
        ("/home/scratch", ()),
    ],
)
async def test_a_file_is_told_by_what_its_filesystem_is_on_every_machine(file: str, place: tuple[str, ...]) -> None:
    host = FakeHost({"/proc/self/mountinfo": MOUNTS, "/run/udev/data/b253:4": "E:DM_NAME=x\nE:ID_FS_UUID=1234-uuid"})
    assert await shared_places(host, [Path(file)]) == place


async def test_without_a_uuid_the_name_of_the_device_has_to_do() -> None:
    host = FakeHost({"/proc/self/mountinfo": MOUNTS})
    assert await shared_places(host, [Path("/srv/gfs/a"), Path("/home/b")]) == ("gfs2 /dev/mapper/shared/a",)


async def test_where_the_mounts_cannot_be_read_nothing_is_told() -> None:
    assert await shared_places(FakeHost({}), [Path("/srv/nfs/x")]) == ()
