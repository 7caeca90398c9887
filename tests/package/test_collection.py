"""The Ansible collection as a file: what ansible-galaxy takes, the same bytes of the same sources."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from tools.package import collection
from tools.package.tree import VERSION


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, bytes]:
    """Its files by name."""
    collection.make(tmp_path / collection.file_name(), 1_700_000_000)
    with tarfile.open(tmp_path / collection.file_name()) as archive:
        return {one.name: data.read() for one in archive.getmembers() if (data := archive.extractfile(one)) is not None}


def test_it_bears_the_version_of_raidbench(parts: dict[str, bytes]) -> None:
    about = json.loads(parts["MANIFEST.json"])["collection_info"]
    assert (about["namespace"], about["name"], about["version"]) == ("raidbench", "storage", VERSION)
    assert (about["license"], about["dependencies"]) == (["MIT"], {})


def test_every_file_in_it_is_told_with_its_sum(parts: dict[str, bytes]) -> None:
    told = {one["name"]: one["chksum_sha256"] for one in json.loads(parts["FILES.json"])["files"]}
    files = {name: sum for name, sum in told.items() if sum is not None}
    own = {name: data for name, data in parts.items() if name not in ("MANIFEST.json", "FILES.json")}
    assert files == {name: hashlib.sha256(data).hexdigest() for name, data in own.items()}
    assert {"plugins/modules/settings.py", "plugins/modules/facts.py", "roles/tune/tasks/main.yml"} <= own.keys()
    manifest = json.loads(parts["MANIFEST.json"])["file_manifest_file"]["chksum_sha256"]
    assert manifest == hashlib.sha256(parts["FILES.json"]).hexdigest()


def test_the_same_sources_make_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        collection.make(tmp_path / name, 1_700_000_000)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


def test_a_line_of_galaxy_yml_that_is_not_understood_is_no_silence() -> None:
    with pytest.raises(ValueError, match="cannot parse a line"):
        collection._about("namespace: x\n   odd\n")
