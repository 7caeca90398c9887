"""A release of stand-ins that the tests of this folder share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.release.stand_in import EPOCH, PLACE, make_files, make_keys
from tools.release.folder import publish
from tools.release.signing import ReleaseKeys


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> ReleaseKeys:
    """The keys of the release."""
    return make_keys(tmp_path_factory.mktemp("keys") / "ours")


@pytest.fixture(scope="session")
def other_keys(tmp_path_factory: pytest.TempPathFactory) -> ReleaseKeys:
    """The keys of another publisher."""
    return make_keys(tmp_path_factory.mktemp("keys") / "theirs")


@pytest.fixture(scope="session")
def release(keys: ReleaseKeys, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release, which no test changes."""
    folder = tmp_path_factory.mktemp("release")
    out = folder / "out"
    publish(make_files(folder / "dist"), "## notes\n", out, keys, url=PLACE, epoch=EPOCH)
    return out


@pytest.fixture
def copy(release: Path, tmp_path: Path) -> Path:
    """A copy of the release, of which a test may change a byte."""
    shutil.copytree(release, tmp_path / "copy")
    return tmp_path / "copy"
