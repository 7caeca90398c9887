"""Nothing gets into a release whose licence is not known: a planted component of each kind ends the build."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.package.fake import needs_go
from tools.package import components, interpreter, licences, onefile, tree
from tools.package.tree import INTERPRETER, SITE

ROOT = Path(__file__).parents[2]
LOCK = """\
# a comment
attrs==26.1.0 \\
    --hash=sha256:aaaa{0} \\
    --hash=sha256:bbbb{0}
    # via cattrs
click==8.5.1 --hash=sha256:cccc{0}
""".format("0" * 60)
EXPAT = "Copyright (c) 2020 Somebody\n\nPermission is hereby granted"


def wheel(site: Path, name: str, *rows: str, text: str = EXPAT) -> Path:
    folder = site / f"{name}-1.0.dist-info"
    (folder / "licenses").mkdir(parents=True)
    (site / name).mkdir()
    (folder / "METADATA").write_text(
        "\n".join(("Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *rows, "", "x"))
    )
    (folder / "RECORD").write_text(f"{name}/__init__.py,,\n{folder.name}/METADATA,,\n../../../bin/{name},,\n")
    if text:
        (folder / "licenses" / "LICENSE").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("License-Expression: BSD-3-Clause", "BSD-3-Clause"),
        ("Classifier: License :: OSI Approved :: MIT License", "MIT"),
        (
            "Classifier: License :: OSI Approved :: GNU Lesser General Public License v2 or later (LGPLv2+)",
            "LGPL-2.1-or-later",
        ),
        ("License: MIT", "MIT"),
        ("License: see the file", None),
        ("Summary: License-Expression: MIT", None),
    ],
)
def test_a_wheel_tells_its_licence_in_one_of_three_ways(row: str, expected: str | None) -> None:
    assert components.licence(f"Name: x\n{row}\n\nLicense: MIT") == expected


def test_a_wheel_without_a_known_licence_ends_the_build(tmp_path: Path) -> None:
    wheel(tmp_path, "strange", "License: mine")
    with pytest.raises(ValueError, match=r"strange .* declares no known licence"):
        components.wheels(tmp_path, LOCK)


def test_a_wheel_without_its_text_ends_the_build(tmp_path: Path) -> None:
    wheel(tmp_path, "strange", "License-Expression: MIT", text="")
    with pytest.raises(ValueError, match=r"strange 1.0 has no licence text"):
        components.wheels(tmp_path, LOCK)


def test_a_folder_of_no_wheel_ends_the_build(tmp_path: Path) -> None:
    wheel(tmp_path, "attrs", "License-Expression: MIT")
    (tmp_path / "vendored").mkdir()
    with pytest.raises(ValueError, match=r"files of no package, with no known licence: vendored\."):
        components.wheels(tmp_path, LOCK)


def test_a_wheel_brings_every_text_in_it_and_the_sums_of_its_pinned_files(tmp_path: Path) -> None:
    wheel(tmp_path, "attrs", "License-Expression: MIT")
    (tmp_path / "attrs" / "part").mkdir()
    (tmp_path / "attrs" / "part" / "COPYING").write_text("of a part")
    (tmp_path / "attrs" / "licenses.py").write_text("no licence")
    [one] = components.wheels(tmp_path, LOCK)
    assert one.texts == (EXPAT, "of a part")
    assert [digest[:4] for digest in one.hashes] == ["aaaa", "bbbb"]


def test_the_product_is_no_component_of_itself(tmp_path: Path) -> None:
    tree.put_ourselves(tmp_path)
    assert components.wheels(tmp_path, LOCK) == []


def test_every_package_that_the_product_needs_is_told_with_its_licence() -> None:
    """The packages of this environment, by their own words."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    site = next(Path(place) for place in sys.path if list(Path(place).glob("textual-*.dist-info")))
    for name in (re.split("[<>=]", one)[0] for one in declared):
        [folder] = site.glob(f"{name.replace('-', '_')}-*.dist-info")
        assert components.licence((folder / "METADATA").read_text("utf-8")) is not None


def planted(tmp_path: Path, name: str) -> str:
    """What is said of a tree with that compiled file."""
    (tmp_path / name).parent.mkdir(parents=True)
    shutil.copy(str(shutil.which("sleep")), tmp_path / name)
    return next(iter(interpreter.unknown_files(tmp_path)), "")


@pytest.mark.parametrize(
    "name", ["lib/libdb-6.0.so", "lib/python3.14/lib-dynload/_dbm.so", f"{SITE}/yaml/_yaml.so", f"{SITE}/a.libs/b.so"]
)
def test_a_compiled_file_that_nobody_has_reviewed_ends_the_build(tmp_path: Path, name: str) -> None:
    assert planted(tmp_path, name) == f"{name} is a compiled file whose licence is not known."


@pytest.mark.parametrize("name", [INTERPRETER, f"{SITE}/psutil/_psutil_linux.abi3.so"])
def test_the_interpreter_and_the_modules_that_are_known_may_be_there(tmp_path: Path, name: str) -> None:
    assert planted(tmp_path, name) == ""


def test_a_shared_library_that_no_host_must_have_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "SYSTEM", ())
    assert planted(tmp_path, INTERPRETER) == f"{INTERPRETER} loads libc.so.6, which is not a part of glibc."


def test_a_module_that_is_linked_into_the_interpreter_ends_the_build() -> None:
    known = [f"PyInit_{name}" for name in interpreter.OWN_MODULES]
    assert interpreter.unknown_modules([*known, "PyInit__ssl", "Py_Main"]) == []
    assert interpreter.unknown_modules([*known, "PyInit__gdbm"]) == [
        "The interpreter contains the module _gdbm, whose licence is not known."
    ]


def test_a_library_that_is_listed_but_not_linked_ends_the_build(tmp_path: Path) -> None:
    """As where libedit gives way to readline, which has another licence."""
    planted(tmp_path, INTERPRETER)
    with pytest.raises(ValueError, match=r"mimalloc is not linked into .*Correct the tables"):
        interpreter.require_known(tmp_path)


def test_every_library_of_the_interpreter_has_its_text() -> None:
    assert {one.name for one in interpreter.LINKED if len(components.text(one.text)) < 200} == set()
    assert "Daan Leijen" in components.text("mimalloc")


def test_the_portable_python_tells_what_is_linked_into_it() -> None:
    """The questions are asked of any Python that has these modules; only 3.14 has zstd."""
    for library in interpreter.LINKED:
        if library.version is not None and library.name != "Zstandard":
            told: list[str] = []
            exec(library.version, {"print": told.append})
            assert re.fullmatch(r"\d+\.\d+[\w.]*", told[0]), library.name


def test_a_go_module_without_a_known_licence_ends_the_build(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"The Go module example.org/new v1 has no known licence"):
        components.go_module("example.org/new", "v1", tmp_path, (), "launcher")


def test_a_go_module_without_its_text_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(components.GO_LICENCES, "example.org/new", "MIT")
    with pytest.raises(ValueError, match=r"example.org/new v1 has no licence text"):
        components.go_module("example.org/new", "v1", tmp_path, (), "launcher")


def test_a_go_module_brings_the_texts_of_the_packages_that_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(components.GO_LICENCES, "example.org/new", "MIT AND Apache-2.0")
    for place in (".", "used/deep", "unused"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "LICENSE").write_text(place)
    one = components.go_module("example.org/new", "v1", tmp_path, [tmp_path / "used" / "deep"], "launcher")
    assert one.texts == (".", "used/deep")


@needs_go
@pytest.mark.package
def test_a_module_that_is_compiled_into_the_launcher_ends_the_build(tmp_path: Path) -> None:
    names = {one.name for one in components.launcher(onefile.SOURCES)}
    assert names == {"github.com/klauspost/compress", "Go standard library"}
    sources = tmp_path / "launcher"
    shutil.copytree(onefile.SOURCES, sources)
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "go.mod").write_text("module example.org/planted\n\ngo 1.24\n")
    (tmp_path / "planted" / "planted.go").write_text("package planted\n")
    with (sources / "go.mod").open("a") as module:
        module.write("\nrequire example.org/planted v1.0.0\nreplace example.org/planted => ../planted\n")
    (sources / "planted.go").write_text('package main\n\nimport _ "example.org/planted"\n')
    with pytest.raises(ValueError, match=r"The Go module example.org/planted v1.0.0 has no known licence"):
        components.launcher(sources)


def shipped(tmp_path: Path) -> list[components.ShippedComponent]:
    wheel(tmp_path, "attrs", "License-Expression: MIT")
    apache = (components.TEXTS / "openssl.txt").read_text()
    library = components.ShippedComponent(
        kind="library",
        name="OpenSSL",
        version="3.5.1",
        terms="Apache-2.0",
        purl=None,
        part="portable Python",
        texts=(apache,),
    )
    return [*components.wheels(tmp_path, LOCK), library]


def test_the_document_has_the_texts_of_raidbench_and_of_all_components(tmp_path: Path) -> None:
    listed = shipped(tmp_path)
    text = licences.document(listed)
    assert (ROOT / "LICENSE").read_text() in text
    assert [one.name for one in listed if not all(part.strip() in text for part in one.texts)] == []


def test_the_copyright_file_of_debian_names_holders_and_refers_to_common_licences(tmp_path: Path) -> None:
    text = licences.debian_copyright(shipped(tmp_path))
    paragraphs = [dict(re.findall(r"^([A-Z][\w-]+):\s?((?:.*)(?:\n .*)*)", part, re.M)) for part in text.split("\n\n")]
    assert paragraphs[0]["Format"].endswith("copyright-format/1.0/")
    own, tree = [one for one in paragraphs if "Files" in one]
    assert (own["Files"], own["License"]) == ("*", "MIT")
    assert tree["License"] == "MIT and attrs-MIT and OpenSSL-Apache-2.0"
    holders = tree["Copyright"].split("\n ")
    assert holders[:3] == [
        "Copyright (c) 2026 The raidbench developers",
        "Copyright (c) 2020 Somebody",
        "Copyright (C) 1995-2020, The OpenSSL Project Authors",
    ]
    alone = {one["License"].splitlines()[0]: one["License"] for one in paragraphs if set(one) == {"License"}}
    assert list(alone) == ["MIT", "attrs-MIT", "OpenSSL-Apache-2.0"]
    assert "/usr/share/common-licenses/Apache-2.0" in alone["OpenSSL-Apache-2.0"]
    assert "Grant of Patent License" not in text
