"""The bill of materials: everything that is shipped, by name, version and licence."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tools.package import sbom

ROOT = Path(__file__).parents[2]
LOCK = """\
# a comment
attrs==26.1.0 \\
    --hash=sha256:aaaa{0} \\
    --hash=sha256:bbbb{0}
    # via cattrs
click==8.5.1 --hash=sha256:cccc{0}
""".format("0" * 60)


def wheel(site: Path, name: str, *rows: str) -> None:
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(
        "\n".join(("Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *rows, "", "x"))
    )


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
    assert sbom.licence(f"Name: x\n{row}\n\nLicense: MIT") == expected


def test_a_wheel_without_a_known_licence_ends_the_build(tmp_path: Path) -> None:
    wheel(tmp_path, "strange", "License: mine")
    with pytest.raises(ValueError, match=r"strange .* declares no known licence"):
        sbom.wheels(tmp_path, LOCK)


def test_a_component_bears_the_sums_of_the_files_that_are_locked(tmp_path: Path) -> None:
    wheel(tmp_path, "attrs", "License-Expression: MIT")
    [one] = sbom.wheels(tmp_path, LOCK)
    [source] = one["externalReferences"]
    assert [sum["content"][:4] for sum in source["hashes"]] == ["aaaa", "bbbb"]


def test_the_product_is_no_component_of_itself(tmp_path: Path) -> None:
    wheel(tmp_path, "raidbench", "License-Expression: MIT")
    assert sbom.wheels(tmp_path, LOCK) == []


def test_every_package_that_the_product_needs_is_told_with_its_licence() -> None:
    """The packages of this environment, by their own words."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    site = next(Path(place) for place in sys.path if list(Path(place).glob("textual-*.dist-info")))
    for name in (re.split("[<>=]", one)[0] for one in declared):
        [folder] = site.glob(f"{name.replace('-', '_')}-*.dist-info")
        assert sbom.licence((folder / "METADATA").read_text("utf-8")) is not None


def test_the_portable_python_tells_what_is_linked_into_it() -> None:
    """The questions are asked of any Python that has these modules; only 3.14 has zstd."""
    for name, (_, _, question) in sbom.LINKED.items():
        if name != "Zstandard":
            told: list[str] = []
            exec(question, {"print": told.append})
            assert re.fullmatch(r"\d+\.\d+[\w.]*", told[0]), name


def test_the_modules_of_the_launcher_come_from_what_the_compiler_wrote_into_it() -> None:
    info = "x: go1.26.8\n\tpath\traidbench\n\tdep\tgithub.com/klauspost/compress\tv1.18.0\th1:c/C=\n"
    told = {one["purl"] for one in sbom.launcher(info)}
    assert told == {"pkg:golang/github.com/klauspost/compress@v1.18.0", "pkg:golang/std@1.26.8"}


def test_the_same_components_make_the_same_document_and_others_another() -> None:
    two = sbom.launcher("x: go1.26.8\n\tdep\texample.org/a\tv1.0.0\n")
    first, again, other = (json.dumps(sbom.document(one, 1_700_000_000)) for one in (two, two[::-1], two[:1]))
    assert (first == again, first == other) == (True, False)


def test_an_expression_of_several_licences_is_no_single_one() -> None:
    [module, std] = sbom.launcher("x: go1.26.8\n\tdep\texample.org/a\tv1.0.0\n")
    assert "expression" in module["licenses"][0]
    assert std["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
