"""What goes into the tree, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backends.version import program_version
from tests.case_loop import loop_over
from tools.package import elf, golang, system, tree
from tools.package.tree import MACHINES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "name",
    [
        "bin/python3.14",
        "lib/python3.14/os.py",
        "lib/python3.14/asyncio/base_events.py",
        "lib/python3.14/lib-dynload/.empty",
        "lib/python3.14/LICENSE.txt",
        "lib/python3.14/encodings/cp437.py",
        "lib/python3.14/encodings/cp1251.py",
        "lib/python3.14/encodings/koi8_r.py",
    ],
)
def test_what_the_program_runs_on_is_taken(name: str) -> None:
    assert tree.wanted(name)


@loop_over(
    "name",
    [
        "bin/pip3",
        "bin/python3.14-config",
        "include/python3.14/Python.h",
        "lib/libpython3.14.so.1.0",
        "lib/tcl9.0/init.tcl",
        "lib/python3.14/tkinter/__init__.py",
        "lib/python3.14/test/test_os.py",
        "lib/python3.14/site-packages/pip/__init__.py",
        "lib/python3.14/config-3.14-x86_64-linux-gnu/Makefile",
        "lib/python3.14/lib-dynload/_dbm.cpython-314-x86_64-linux-gnu.so",
        "lib/python3.14/pdb.py",
        "lib/python3.14/encodings/mac_roman.py",
        "lib/python3.14/encodings/cp037.py",
        "lib/python3.14/multiprocessing/pool.py",
        "lib/python3.14/lib-dynload/_testcapi.cpython-314-x86_64-linux-gnu.so",
    ],
)
def test_what_it_never_needs_is_left_out(name: str) -> None:
    assert not tree.wanted(name)


def test_the_product_in_a_tree_is_all_of_its_files_but_the_conformance_suite_and_nothing_else(tmp_path: Path) -> None:
    tree.put_ourselves(tmp_path)
    kept = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    sources = {
        str(path.relative_to(ROOT))
        for package in ("app", "widgets", "backends")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.is_relative_to(ROOT / tree.TESTING)
    }
    plans = {f"app/plans/{path.name}" for path in (ROOT / "plans").iterdir()}
    listed = {"app/packages"}
    about = {f"raidbench-{tree.VERSION}.dist-info/{name}" for name in ("METADATA", "LICENSE")}
    assert kept == sources | plans | listed | about


def test_a_tree_says_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.put_ourselves(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert program_version() == tree.VERSION


def library(folder: Path, moment: int) -> Path:
    """A tree whose library has a module, a package, and a package that must stay replaceable."""
    place = folder / "lib" / f"python{tree.MINOR}"
    sources = {
        "plain.py": "def fail():\n    raise ValueError\n",
        "os.py": "landmark = 1\n",
        "site-packages/ours/__init__.py": "from ours.part import VALUE\n",
        "site-packages/ours/part.py": "VALUE = 7\n",
        "site-packages/ours/deep/__init__.py": "",
        "site-packages/ours/deep/leaf.py": "",
        "site-packages/ours/data.txt": "text",
        "site-packages/ClusterShell/__init__.py": "",
        "encodings/utf_8.py": "",
    }
    for name, text in sources.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
        os.utime(place / name, (moment, moment))
    tree.pack_modules(folder, Path(sys.executable))
    return place


def test_the_archive_depends_on_no_time_and_on_no_folder(tmp_path: Path) -> None:
    first, second = library(tmp_path / "one", 1_000_000_000), library(tmp_path / "other", 1_500_000_000)
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert [(first / file).read_bytes() for file in files] == [(second / file).read_bytes() for file in files]
    assert {str(file) for file in files} >= {"modules.bin", "os.pyc", "encodings/utf_8.pyc"}
    assert [file.name for file in files if file.suffix == ".py"] == ["__init__.py"]  # ClusterShell's


def test_the_archive_has_the_docstrings_that_are_shown_and_no_others(tmp_path: Path) -> None:
    """Click shows those of decorated functions, dataclasses need those of classes, and the library extends its own."""
    place = tmp_path / "lib" / f"python{tree.MINOR}"
    source = '"""module"""\n@staticmethod\nclass C:\n    """class"""\n'
    source += 'def plain():\n    """plain"""\n@staticmethod\ndef shown():\n    """shown"""\n'
    for name in ("app", "their"):
        (place / "site-packages" / name).mkdir(parents=True)
        (place / "site-packages" / name / "__init__.py").write_text(source)
    (place / "library.py").write_text(source.replace("@staticmethod\nclass", "class"))
    tree.pack_modules(tmp_path, Path(sys.executable))
    code = f"import sys; sys.path.insert(0, {str(place / 'site-packages')!r}); import sitecustomize\n"
    code += "import app as own, their, library\n"
    code += "shown = [x.__doc__ for m in (own, their) for x in (m, m.C.__wrapped__, m.plain, m.shown)]\n"
    code += "print(shown, library.__doc__, library.C.__doc__)"
    done = subprocess.run((sys.executable, "-I", "-S", "-c", code), capture_output=True, text=True)
    kept = "[None, 'class', None, 'shown', None, 'class', None, None] module class\n"
    assert done.stdout == kept, done.stderr


PROBE = """
import sys; sys.path[:0] = [{site!r}, {library!r}]
import sitecustomize, json, pkgutil, importlib, importlib.resources, runpy, traceback
import ours
try:
    importlib.import_module("plain").fail()
except ValueError:
    where = traceback.format_exc()
print(json.dumps(dict(
    value=ours.VALUE, file=ours.__file__, archive=ours.__loader__.archive,
    names=[[m.name, m.ispkg] for m in pkgutil.walk_packages(ours.__path__, "ours.")],
    data=importlib.resources.files("ours").joinpath("data.txt").read_text(),
    ran=runpy.run_module("ours.part")["VALUE"], where=where,
    replaceable=importlib.import_module("ClusterShell").__file__,
    missing=importlib.util.find_spec("ours.nothing") is None,
)))
"""


def test_modules_are_imported_from_the_archive_as_from_files(tmp_path: Path) -> None:
    place = library(tmp_path, 1_000_000_000)
    site = place / "site-packages"
    probe = PROBE.format(site=str(site), library=str(place))
    done = subprocess.run((sys.executable, "-I", "-S", "-c", probe), capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert 'File "plain.py", line 2, in fail' in told.pop("where")
    assert told == {
        "value": 7,
        "file": str(site / "ours/__init__.py"),
        "archive": str(place / "modules.bin"),
        "names": [["ours.deep", True], ["ours.deep.leaf", False], ["ours.part", False]],
        "data": "text",
        "ran": 7,
        "replaceable": str(site / "ClusterShell/__init__.py"),
        "missing": True,
    }


def test_modes_are_those_of_no_umask(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir(0o700)
    for name, mode in (("bin/program", 0o700), ("bin/text", 0o600)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    tree.set_modes(tmp_path)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("bin", "bin/program", "bin/text")]
    assert modes == [0o755, 0o755, 0o644]


def asked(path: Path) -> str:
    """The newest glibc by the versions that a program's text names, the slow way."""
    names = {word.decode() for word in path.read_bytes().split(b"\0") if word.startswith(b"GLIBC_2.")}
    return max(names, key=lambda name: tuple(map(int, name.removeprefix("GLIBC_").split("."))), default="")


def test_the_glibc_that_a_program_asks_for_is_read_off_it() -> None:
    program = Path(str(shutil.which("sleep"))).resolve()
    found = elf.glibc(program)
    assert found is not None
    assert f"GLIBC_{'.'.join(map(str, found))}" == asked(program)
    assert not elf.is_static(program)


def test_a_program_that_needs_a_newer_glibc_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(str(shutil.which("sleep")), tmp_path / "program")
    here = next(machine for machine in MACHINES if machine.name == os.uname().machine)
    other = next(machine for machine in MACHINES if machine is not here)
    monkeypatch.setattr(tree, "GLIBC", (2, 2))
    assert "program needs glibc 2." in tree.too_new(tmp_path, here)[0]
    assert f"program is for {here.name}." in tree.too_new(tmp_path, other)[0]


def test_a_file_that_is_no_program_is_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\x7fEL")
    assert tree.too_new(tmp_path, MACHINES[0]) == []


def test_without_go_it_is_said_what_is_missing_and_what_can_be_built(tmp_path: Path) -> None:
    code = "from tools.package import golang; golang._PLACES = (); from tools.package.__main__ import main; main()"
    done = subprocess.run(
        (sys.executable, "-c", code), env={"PATH": str(tmp_path)}, cwd=ROOT, capture_output=True, text=True
    )
    assert "Go 1.24 or newer is needed" in done.stderr
    assert "`make build` builds the wheel" in done.stderr


def test_an_old_go_is_named_with_the_version_that_is_needed(tmp_path: Path) -> None:
    (tmp_path / "go").write_text("#!/bin/sh\necho go1.19.8\n")
    (tmp_path / "go").chmod(0o755)
    code = "from tools.package import golang; golang._PLACES = (); from tools.package.__main__ import main"
    code += "; raise SystemExit(main())"
    done = subprocess.run(
        (sys.executable, "-c", code), env={"PATH": f"{tmp_path}:/bin"}, cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, "go1.19.8; Go 1.24 or newer is needed" in done.stderr) == (1, True)


def test_a_newer_go_elsewhere_is_taken_where_the_first_is_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in (("old", "go1.19.8"), ("new", "go1.30.1")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "go").write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / folder / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'old'}:/bin")
    monkeypatch.setattr(golang, "_PLACES", (str(tmp_path / "new"),))
    assert golang.go() == str(tmp_path / "new" / "go")


def test_a_package_brings_fio_along_and_names_the_rest(tmp_path: Path) -> None:
    described = system.configuration(tmp_path, tmp_path, "amd64", 0)
    for kind in ("deb", "rpm"):
        assert described["overrides"][kind]["recommends"] == ["fio"]
        assert "mdadm" in described["overrides"][kind]["suggests"]
