"""What `make package` has put into dist/: whole, reproducible, and running wherever it lies."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.backends.loops import loop, needs_loops
from tests.package.fake import needs_go
from tests.package.shipped import DIST, ONE_FILE, PYZ, SUMS, needs_shipped
from tests.packages import needs
from tests.runtime import IMPORT_ALL
from tests.trial import shell, try_trial
from tools.package import collection, elf, tree
from tools.package.tree import MACHINES, ROOT, VERSION

pytestmark = [pytest.mark.package, pytest.mark.slow]
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()))
"""


def environment(folder: Path) -> dict[str, str]:
    places = {"RAIDBENCH_STATE_DIR": str(folder / "state"), "RAIDBENCH_UNPACK_DIR": str(folder / "unpacked")}
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **places}


@pytest.fixture(params=["one file", "pyz"])
def program(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return (str(ONE_FILE),) if request.param == "one file" else (sys.executable, "-I", str(PYZ))


def run(program: tuple[str, ...], *words: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run((*program, *words), env=dict(env), cwd="/", capture_output=True, text=True)


@needs_shipped
def test_every_file_is_there_with_its_sum() -> None:
    told = {row[66:]: row[:64] for row in SUMS.read_text().splitlines()}
    names = [f"raidbench-{VERSION}-linux-{machine.name}" for machine in MACHINES]
    names += [f"raidbench_{VERSION}_{machine.go}.deb" for machine in MACHINES]
    names += [f"raidbench-{VERSION}.{machine.name}.rpm" for machine in MACHINES]
    assert set(told) == {*names, "raidbench.pyz", "sbom.json", "LICENSES.txt", collection.file_name()}
    assert {name: hashlib.sha256((DIST / name).read_bytes()).hexdigest() for name in told} == told


@needs_shipped
def test_the_demo_is_that_of_the_checkout(program: tuple[str, ...], tmp_path: Path) -> None:
    argv = (sys.executable, "-m", "app", "--demo", "devices", "--json")
    places = environment(tmp_path / "checkout")
    expected = subprocess.run(argv, cwd=ROOT, env=places, capture_output=True, text=True, check=True).stdout
    done = run(program, "--demo", "devices", "--json", env=environment(tmp_path))
    assert done.stdout == expected, done.stderr


@needs_shipped
def test_it_says_which_form_it_has(program: tuple[str, ...], tmp_path: Path) -> None:
    told = json.loads(run(program, "--version", "--json", env=environment(tmp_path)).stdout)["program"]
    assert told["form"] == ("one file" if program == (str(ONE_FILE),) else "zipapp")


@needs_shipped
@needs_loops()
@pytest.mark.root
def test_a_value_on_trial_reverts_though_what_was_unpacked_is_gone(program: tuple[str, ...], tmp_path: Path) -> None:
    gone = f"rm -r {shlex.quote(str(tmp_path / 'state' / 'unpacked'))}"
    with loop(tmp_path / "disk.img") as disk:
        try_trial(shlex.join(program), disk, shell(tmp_path / "state"), meanwhile=gone)
    assert not (tmp_path / "state" / "unpacked").exists()


@needs_shipped
def test_every_module_of_the_program_can_be_imported(program: tuple[str, ...], tmp_path: Path) -> None:
    run(program, "--version", env=environment(tmp_path))
    [unpacked] = (tmp_path / "unpacked").iterdir()
    python, place = (unpacked / tree.INTERPRETER, unpacked / tree.SITE)
    if program != (str(ONE_FILE),):
        python, place = Path(sys.executable), unpacked
    code = f"import sys; sys.path[:] = [*(one for one in sys.path if 'site-packages' not in one), {str(place)!r}]"
    done = subprocess.run((python, "-I", "-B", "-c", f"{code}\n{IMPORT_ALL}"), cwd="/", capture_output=True, text=True)
    assert done.stdout == "imported\n", done.stderr


@needs_shipped
def test_an_unpacked_tree_runs_from_another_folder(tmp_path: Path) -> None:
    run((str(ONE_FILE),), "--version", env=environment(tmp_path))
    [unpacked] = (tmp_path / "unpacked").iterdir()
    moved = unpacked.rename(tmp_path / "moved elsewhere")
    python = str(moved / tree.INTERPRETER)
    done = run((python, "-I", "-B", "-m", "app"), "devices", "--json", env=environment(tmp_path))
    assert json.loads(done.stdout)["schema"] == 1, done.stderr


@needs_shipped
@needs("dpkg-deb")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_no_program_needs_a_newer_glibc_than_that_of_rhel_7(machine: tree.Machine, tmp_path: Path) -> None:
    subprocess.run(("dpkg-deb", "-x", DIST / f"raidbench_{VERSION}_{machine.go}.deb", tmp_path), check=True)
    programs = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink() and elf.is_elf(path)]
    assert len(programs) >= 2
    assert tree.too_new(tmp_path, machine) == []


@needs_shipped
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_one_file_needs_no_loader(machine: tree.Machine) -> None:
    file = DIST / f"raidbench-{VERSION}-linux-{machine.name}"
    assert (elf.machine(file), elf.is_static(file), elf.glibc(file)) == (machine.name, True, None)


@needs_shipped
def test_the_bill_of_materials_names_what_is_in_it() -> None:
    bill = json.loads((DIST / "sbom.json").read_text())
    names = {one["name"] for one in bill["components"]}
    assert names >= {"CPython", "OpenSSL", "mimalloc", "HACL*", "textual", "psutil", "github.com/klauspost/compress"}
    assert [one["name"] for one in bill["components"] if not one.get("licenses")] == []
    assert "Berkeley DB" not in names
    texts = (DIST / "LICENSES.txt").read_text()
    assert [name for name in names if f"\n{name} " not in texts] == []


@needs_shipped
def test_every_form_shows_the_licences_of_all_that_is_in_it(program: tuple[str, ...], tmp_path: Path) -> None:
    shown = run(program, "version", "--licenses", env=environment(tmp_path)).stdout
    assert shown.strip() == (DIST / "LICENSES.txt").read_text().strip()


SIZES = {"x86_64": 17.0, "aarch64": 15.0}
"""The largest standalone binaries, in MB."""


@needs_shipped
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_one_file_is_small(machine: tree.Machine) -> None:
    assert (DIST / f"raidbench-{VERSION}-linux-{machine.name}").stat().st_size <= SIZES[machine.name] * 1e6


@needs_shipped
@needs("dpkg-deb")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_tree_of_a_package_has_few_files_and_no_code_of_berkeley_db(machine: tree.Machine, tmp_path: Path) -> None:
    subprocess.run(("dpkg-deb", "-x", DIST / f"raidbench_{VERSION}_{machine.go}.deb", tmp_path), check=True)
    files = [path for path in (tmp_path / "usr/lib/raidbench").rglob("*") if path.is_file()]
    assert len(files) <= 400
    assert [path for path in files if elf.is_elf(path) and b"Berkeley DB" in path.read_bytes()] == []


@needs_shipped
@needs("lintian")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_package_has_no_error_of_lintian(machine: tree.Machine) -> None:
    argv = ("lintian", "--tag-display-limit", "0", DIST / f"raidbench_{VERSION}_{machine.go}.deb")
    done = subprocess.run(argv, capture_output=True, text=True)
    assert [row for row in done.stdout.splitlines() if row.startswith("E:")] == []


@needs_shipped
@needs("rpm")
def test_the_rpm_marks_the_licences_as_such() -> None:
    argv = ("rpm", "-qp", "--licensefiles", DIST / f"raidbench-{VERSION}.x86_64.rpm")
    assert subprocess.run(argv, capture_output=True, text=True).stdout == "/usr/share/licenses/raidbench/LICENSES.txt\n"


@needs_shipped
@needs("rpm")
def test_the_rpm_asks_for_what_its_hooks_need_and_owns_its_folders() -> None:
    file = DIST / f"raidbench-{VERSION}.x86_64.rpm"
    needed, paths = (
        subprocess.run(("rpm", "-qp", what, file), capture_output=True, text=True).stdout.splitlines()
        for what in ("--requires", "--list")
    )
    assert {"/bin/sh", "glibc >= 2.17"} <= set(needed)
    own = {str(Path(path).parent) for path in paths if "raidbench" in str(Path(path).parent)}
    assert own <= set(paths)


@needs_shipped
def test_the_bill_of_materials_is_valid(tmp_path: Path) -> None:
    uv = ("sh", str(ROOT / "tools" / "bootstrap"), "uv")
    wanted = str(ROOT / "tests" / "package" / "validate.txt")
    for words in (
        ("venv", "-q", "--python", sys.executable, str(tmp_path / "env")),
        ("pip", "install", "-q", "--python", str(tmp_path / "env"), "--require-hashes", "-r", wanted),
    ):
        done = subprocess.run((*uv, *words), cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"the validator cannot be got: {done.stderr.strip()[-200:]}")
    argv = (str(tmp_path / "env" / "bin" / "python"), "-c", VALIDATE, str(DIST / "sbom.json"))
    assert subprocess.run(argv, capture_output=True, text=True).stdout == "None\n"


@needs_go
def test_the_same_sources_make_the_same_bytes(tmp_path: Path) -> None:
    sums = []
    for folder in ("one", "another folder"):
        words = (
            "-m",
            "tools.package",
            "--quick",
            "--out",
            tmp_path / folder / "out",
            "--work",
            tmp_path / folder / "work",
        )
        places = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run((sys.executable, *words), cwd=ROOT, env=places, check=True, capture_output=True)
        sums.append((tmp_path / folder / "out" / "SHA256SUMS").read_text())
        shutil.rmtree(tmp_path / folder / "work")
    assert sums[0] == sums[1]
