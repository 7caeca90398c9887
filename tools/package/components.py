"""Components of the release files: name, version, licence and licence texts of all that is not raidbench's own.

`sbom` and `licences` write them down. Each function raises ValueError if a component has no known licence or no licence
text, so nothing unknown gets into a release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from tools.package import golang
from tools.package.tree import PROJECT

TEXTS = Path(__file__).parent / "texts"
"""Folder with the texts of components that bring none (README.md there names their origin)."""

CLASSIFIED = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
"""SPDX names of licences by Trove classifier, for older wheels that declare their licence only by a classifier."""

GO_LICENCES = {
    golang.PYTHON.name: "Apache-2.0",
    "github.com/klauspost/compress": "BSD-3-Clause AND Apache-2.0 AND MIT",
}
"""Licences (SPDX) of Go modules, which declare them nowhere. Read a module's files before adding it."""

_LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)([.-].*)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedComponent:
    """Something in the release files that others wrote."""

    kind: str
    """Its type in CycloneDX, such as `library`."""
    name: str
    version: str | None
    """None if it cannot be determined."""
    terms: str
    """Its licence, as an SPDX expression."""
    purl: str | None
    """Package URL, None without a version."""
    part: str
    """Part of the release that contains it, such as `Python package`."""
    texts: tuple[str, ...]
    """Its licence texts and notices."""
    hashes: tuple[str, ...] = ()
    """SHA-256 sums of the pinned files it comes from."""

    def __post_init__(self) -> None:
        if not any(text.strip() for text in self.texts):
            raise ValueError(f"{self.name} {self.version or ''} has no licence text. Add it to {TEXTS}.")


def licence(metadata: str) -> str | None:
    """Return the SPDX expression of the licence in the METADATA of a wheel, or None if it has no known licence."""
    headers = HeaderParser().parsestr(metadata)
    if expression := headers["License-Expression"]:
        return str(expression)
    for classifier in headers.get_all("Classifier", []):
        if classifier in CLASSIFIED:
            return CLASSIFIED[classifier]
    name = str(headers["License"] or "")
    return name if name in CLASSIFIED.values() else None


def sums(requirements: str) -> dict[str, list[str]]:
    """Return the SHA-256 sums of the pinned files, by package name (lower case). `requirements`: text of the lock."""
    sums_by_name: dict[str, list[str]] = {}
    name = ""
    for row in requirements.splitlines():
        if start := re.match(r"([A-Za-z0-9._-]+)==", row):
            name = start[1].lower()
        sums_by_name.setdefault(name, []).extend(re.findall(r"--hash=sha256:([0-9a-f]{64})", row))
    return sums_by_name


def wheels(site: Path, requirements: str) -> list[ShippedComponent]:
    """Return the Python packages in the folder `site`.

    Raises ValueError if a package declares no known licence or has no licence text, or if a folder or module belongs
    to no package.
    """
    locked = sums(requirements)
    packages: list[ShippedComponent] = []
    owned: set[str] = set()
    for folder in sorted(site.glob("*.dist-info")):
        metadata = (folder / "METADATA").read_text("utf-8")
        headers = HeaderParser().parsestr(metadata)
        name, version, terms = headers["Name"], headers["Version"], licence(metadata)
        own = name == PROJECT["project"]["name"]
        names = set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) if own else _top_names(folder)
        owned |= {folder.name, *names}
        if own:
            continue
        if terms is None:
            raise ValueError(f"{name} {version} declares no known licence: see {folder.name}/METADATA.")
        places = (folder.name, *sorted(names))
        packages.append(
            ShippedComponent(
                kind="library",
                name=name,
                version=version,
                terms=terms,
                purl=f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}",
                part="Python package",
                texts=_texts_below(site / place for place in places),
                hashes=tuple(locked.get(name.lower(), ())),
            )
        )
    if strangers := {path.name for path in site.iterdir()} - owned:
        raise ValueError(f"{site} has files of no package, with no known licence: {', '.join(sorted(strangers))}.")
    return packages


def launcher(sources: Path) -> list[ShippedComponent]:
    """Return the Go modules that the launcher in the folder `sources` is compiled from, and Go's standard library.

    Raises ValueError if a module has no known licence or no licence text.
    """
    listed = golang.run("list", "-e", "-deps", "-json=Dir,Module,Standard", ".", folder=sources)
    folders: dict[tuple[str, str, str], set[Path]] = {}
    for package in _documents(listed):
        module = package.get("Module")
        if module is not None and not module.get("Main"):
            key = (module["Path"], module["Version"], module["Dir"])
            folders.setdefault(key, set()).add(Path(package["Dir"]))
    components = [
        go_module(name, version, Path(root), packages, "launcher")
        for (name, version, root), packages in sorted(folders.items())
    ]
    version = golang.run("env", "GOVERSION", folder=sources).strip().removeprefix("go")
    standard = ShippedComponent(
        kind="library",
        name="Go standard library",
        version=version,
        terms="BSD-3-Clause",
        purl=f"pkg:golang/std@{version}",
        part="launcher",
        texts=(text("go"),),
    )
    return [*components, standard]


def go_module(name: str, version: str, root: Path, packages: Iterable[Path], part: str) -> ShippedComponent:
    """Return a Go module. `root`: its folder; `packages`: the folders of its packages that are used.

    Raises ValueError if it has no known licence or no licence text.
    """
    if name not in GO_LICENCES:
        raise ValueError(f"The Go module {name} {version} has no known licence. Read its files, then add it.")
    folders = {root} | {
        place for package in packages for place in (package, *package.parents) if place.is_relative_to(root)
    }
    files = [path for folder in sorted(folders) for path in sorted(folder.iterdir()) if _is_licence(path)]
    return ShippedComponent(
        kind="library",
        name=name,
        version=version,
        terms=GO_LICENCES[name],
        purl=f"pkg:golang/{name}@{version}",
        part=part,
        texts=tuple(dict.fromkeys(path.read_text("utf-8") for path in files)),
    )


def text(name: str) -> str:
    """Return a text of the folder `TEXTS`. Raises ValueError if it is missing."""
    file = TEXTS / f"{name}.txt"
    if not file.exists():
        raise ValueError(f"The licence text {file} is missing.")
    return file.read_text("utf-8")


def _top_names(folder: Path) -> set[str]:
    """Return the top-level names of a package's files. `folder`: its .dist-info folder."""
    rows = (folder / "RECORD").read_text("utf-8").splitlines()
    return {row.split("/")[0].split(",")[0] for row in rows} - {"..", folder.name}


def _texts_below(places: Iterable[Path]) -> tuple[str, ...]:
    files = [path for place in places if place.is_dir() for path in sorted(place.rglob("*")) if _is_licence(path)]
    return tuple(dict.fromkeys(path.read_text("utf-8") for path in files))


def _is_licence(path: Path) -> bool:
    return _LICENCE_FILE.match(path.name) is not None and path.suffix not in (".py", ".pyi") and path.is_file()


def _documents(listed: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON documents that follow each other in the output of `go list -json`."""
    decoder, at = json.JSONDecoder(), 0
    while listed[at:].strip():
        document, end = decoder.raw_decode(listed[at:].lstrip())
        at = len(listed) - len(listed[at:].lstrip()) + end
        yield document
