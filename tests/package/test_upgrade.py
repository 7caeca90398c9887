"""Packages of three versions with a tree of one program, installed by dpkg while that program runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.package.fake import needs_go
from tests.package.hosts import HERE as HERE_ROOT
from tests.package.test_sbom import component
from tests.packages import needs
from tools.package import system
from tools.package.tree import INTERPRETER

VERSIONS = ("0.1.8", "0.1.9", "0.2.9")

pytestmark = [pytest.mark.package, pytest.mark.slow, pytest.mark.root]

SCRIPT = f"""
install() {{ dpkg -i --force-depends /in/$1.deb >/tmp/out 2>&1; echo $? $(ls /usr/lib/raidbench); }}
install 0.1.8
/usr/lib/raidbench/0.1.8/{INTERPRETER} 600 &
install 0.1.9
/usr/lib/raidbench/0.1.8/{INTERPRETER} 0 && echo "the old program runs"
dpkg -r raidbench >/tmp/out 2>&1 || echo "not removed: $(grep -o 'raidbench is running' /tmp/out)"
kill $!
wait $! 2>/dev/null
install 0.2.9
install 0.2.9
touch /var/lib/raidbench/file
dpkg -r raidbench >/tmp/out 2>&1; echo $? $(ls -d /usr/lib/raidbench /var/lib/raidbench 2>/dev/null)
dpkg -P raidbench >/tmp/out 2>&1; echo $? $(ls -d /var/lib/raidbench 2>/dev/null)
"""

EXPECTED = """\
0 0.1.8
0 0.1.8 0.1.9
the old program runs
not removed: raidbench is running
0 0.2.9
0 0.2.9
0 /var/lib/raidbench
0
"""


def package(work: Path, version: str, nfpm: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(system, "VERSION", version)
    monkeypatch.setattr(system, "PREFIX", f"/usr/lib/raidbench/{version}")
    program = work / "tree" / INTERPRETER
    program.parent.mkdir(parents=True)
    shutil.copy(str(shutil.which("sleep")), program)
    (work / "sbom.json").touch()
    folder = system.write_files(work, [component("x", part="portable Python")], work / "sbom.json", 0)
    settings = system.configuration(work / "tree", folder, "amd64", 0)
    (work / "nfpm.json").write_text(json.dumps({**settings, "deb": {"compression": "gzip"}}))
    argv = (nfpm, "package", "-f", work / "nfpm.json", "-p", "deb", "-t", work / f"{version}.deb")
    subprocess.run(argv, check=True, capture_output=True)
    return work / f"{version}.deb"


@needs_go
@needs("dpkg")
def test_an_upgrade_below_a_program_that_runs_succeeds_and_takes_nothing_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why := HERE_ROOT.why_not():
        pytest.skip(why)
    nfpm = system.build_nfpm(tmp_path)
    (tmp_path / "root" / "in").mkdir(parents=True)
    for version in VERSIONS:
        (tmp_path / version).mkdir()
        shutil.move(package(tmp_path / version, version, nfpm, monkeypatch), tmp_path / "root" / "in")
    done = HERE_ROOT.run(tmp_path / "root", SCRIPT)
    assert done.stdout == EXPECTED, done.stderr
