"""The examples of CONTRIBUTING.md work: each is applied to a copy of the checkout, and its command is run there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

_SECTION = re.compile(r"^## (Adding an? \w+)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
_STEP = re.compile(
    r"^(?:In `(?P<file>[^`]+)`, (?P<where>before|after) `(?P<anchor>[^`]+)`|New file `(?P<new>[^`]+)`):\n\n"
    r"```python\n(?P<code>.*?)```\n",
    re.MULTILINE | re.DOTALL,
)
_RUN = re.compile(r"^```console\n\$ raidbench (?P<words>.*)\n(?P<says>(?:.+\n)+)```\n", re.MULTILINE)
EXAMPLES = {name: text for name, text in _SECTION.findall(PAGE) if _RUN.search(text)}


def _apply(tree: Path, step: re.Match[str]) -> None:
    if step["new"]:
        (tree / step["new"]).parent.mkdir(exist_ok=True)
        (tree / step["new"]).write_text(step["code"], encoding="utf-8")
        return
    path = tree / step["file"]
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    places = [number for number, row in enumerate(rows) if row.startswith(step["anchor"])]
    assert len(places) == 1, f"{step['file']} has {len(places)} lines that begin with {step['anchor']!r}"
    rows.insert(places[0] + (step["where"] == "after"), step["code"])
    path.write_text("".join(rows), encoding="utf-8")


def test_there_is_an_example_of_each_kind() -> None:
    kinds = ("a setting", "a workload", "a key", "a vendor", "a feature")
    assert set(EXAMPLES) == {f"Adding {kind}" for kind in kinds}


@pytest.mark.long
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_works(name: str, tmp_path: Path) -> None:
    for package in ("app", "backends", "widgets", "plans"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    steps = list(_STEP.finditer(EXAMPLES[name]))
    assert steps
    for step in steps:
        _apply(tmp_path, step)
    [run] = _RUN.finditer(EXAMPLES[name])
    done = subprocess.run(
        [sys.executable, "-m", "app", *shlex.split(run["words"])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "RAIDBENCH_STATE_DIR": str(tmp_path / "state")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert run["says"].strip() in done.stdout + done.stderr
