"""What is shipped has the version of the checkout: the program, its bill of materials and its manual pages."""

from __future__ import annotations

import pytest

from backends.version import program_version
from tools.package import man, sbom, tree


def test_the_files_are_named_after_the_program() -> None:
    assert program_version() == tree.VERSION


def test_the_bill_of_materials_names_it() -> None:
    component = sbom.document((), 0)["metadata"]["component"]
    assert (component["name"], component["version"]) == ("raidbench", program_version())


@pytest.mark.long
@pytest.mark.parametrize("page", ["man1/raidbench.1", "man1/raidbench-set.1", "man5/raidbench.toml.5"])
def test_the_manual_pages_name_it(page: str) -> None:
    title = man.pages("2026-11-29", tree.VERSION)[page].splitlines()
    assert any(line.startswith(".TH") and f'"raidbench {program_version()}"' in line for line in title)
