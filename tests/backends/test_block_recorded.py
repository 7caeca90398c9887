"""The block backend on a recording of this machine: it cannot tell the difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.system.local import LocalHost
from backends.system.recorded import RecordingHost, ReplayHost
from backends.vendors.block.backend import BlockBackend


async def test_a_recording_gives_the_same_disks_and_settings(tmp_path: Path) -> None:
    recording = RecordingHost(LocalHost())
    live = BlockBackend(recording)
    found = await live.inventory()
    if not found.drives:
        pytest.skip("this machine shows no disk")
    settings = await live.read(found.drives[0].target)
    recording.save(tmp_path / "machine")
    replayed = BlockBackend(ReplayHost(tmp_path / "machine"))
    again = await replayed.inventory()
    assert [drive.target for drive in again.drives] == [drive.target for drive in found.drives]
    assert {key: now.now for key, now in (await replayed.read(found.drives[0].target)).items()} == {
        key: now.now for key, now in settings.items()
    }
