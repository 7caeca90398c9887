"""The bill of materials: everything that is shipped, by name, version and licence."""

from __future__ import annotations

import json

from tools.package import sbom
from tools.package.components import ShippedComponent


def component(name: str, terms: str = "MIT", **more: object) -> ShippedComponent:
    values = {
        "kind": "library",
        "version": "1.0",
        "purl": f"pkg:generic/{name}@1.0",
        "part": "launcher",
        "texts": ("as is",),
    }
    return ShippedComponent(name=name, terms=terms, **{**values, **more})  # type: ignore[arg-type]


def test_the_same_components_make_the_same_document_and_others_another() -> None:
    two = [component("a"), component("b")]
    first, again, other = (json.dumps(sbom.document(one, 1_700_000_000)) for one in (two, two[::-1], two[:1]))
    assert (first == again, first == other) == (True, False)


def test_an_expression_of_several_licences_is_no_single_one() -> None:
    one, several = sbom.document([component("a"), component("b", "MIT AND X11")], 0)["components"]
    assert one["licenses"] == [{"license": {"id": "MIT"}}]
    assert several["licenses"] == [{"expression": "MIT AND X11"}]


def test_a_component_bears_the_sums_of_the_files_that_are_locked() -> None:
    [one] = sbom.document([component("a", hashes=("aaaa", "bbbb"))], 0)["components"]
    [source] = one["externalReferences"]
    assert [sum["content"] for sum in source["hashes"]] == ["aaaa", "bbbb"]


def test_what_reports_no_version_is_named_without_one() -> None:
    [one] = sbom.document([component("a", version=None, purl=None)], 0)["components"]
    assert (one["bom-ref"], "version" in one, "purl" in one) == ("within:a", False, False)
