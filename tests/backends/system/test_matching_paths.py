"""Paths that match a pattern are those of the standard library's glob."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.system.local.files import match_paths, read_small

NAMES = ("sda", "sda1", ".hidden", "md0", "a[b]", "dev-x", "queue")
PARTS = (*NAMES, "*", "sd*", "md?", "[!s]*", ".*", "*x", "a[[]b]", "*/*", "nothing")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders, files and links, broken ones too, three levels deep."""
    root = tmp_path_factory.mktemp("tree")
    for top in NAMES:
        (root / top).mkdir()
        for name in NAMES[:4]:
            (root / top / name).mkdir()
            (root / top / name / "size").write_text("1\n")
            (root / top / name / "queue").mkdir()
        (root / top / "file").write_text("2\n")
        (root / top / "link").symlink_to(root / top / "sda")
        (root / top / "broken").symlink_to(root / "gone")
    return root


@given(parts=st.lists(st.sampled_from((*PARTS, "size", "file", "link", "broken")), min_size=1, max_size=4))
def test_a_pattern_matches_what_it_matches_elsewhere(tree: Path, parts: list[str]) -> None:
    pattern = os.path.join(glob.escape(str(tree)), *parts)
    assert sorted(match_paths(pattern)) == sorted(glob.glob(pattern))


@pytest.mark.parametrize(
    "pattern", ["", "*", "/", "/*", "//etc/*", "/etc/", "/etc/**", "/etc/passwd", "/no\0thing/*", "/*/\0"]
)
def test_odd_patterns_match_what_they_match_elsewhere(pattern: str) -> None:
    def matched() -> list[str] | None:
        try:
            return sorted(glob.glob(pattern))
        except ValueError:
            return []

    assert sorted(match_paths(pattern)) == matched()


def test_the_patterns_of_sysfs_match_the_same() -> None:
    for pattern in ("/sys/block/*", "/sys/block/*/queue/*", "/sys/block/*/*/holders/*", "/sys/class/block/*/dev"):
        assert sorted(match_paths(pattern)) == sorted(glob.glob(pattern))


def test_a_value_of_sysfs_is_read_as_a_whole() -> None:
    paths = [path for path in glob.glob("/sys/block/*/queue/*") if os.path.isfile(path)]
    whole: dict[str, str | None] = {}
    for path in paths:
        try:
            whole[path] = Path(path).read_text(encoding="utf-8", errors="replace").rstrip()
        except OSError:
            whole[path] = None
    assert {path: read_small(path) for path in paths} == whole
