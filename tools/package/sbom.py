"""Software bill of materials of the release files in CycloneDX 1.5: names, versions, licences and checksums."""

from __future__ import annotations

import json
import re
import subprocess
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from tools.package import golang
from tools.package.tree import PROJECT, VERSION

Component = dict[str, Any]

LINKED = {
    "OpenSSL": ("openssl", "Apache-2.0", "import ssl; print(ssl.OPENSSL_VERSION.split()[1])"),
    "SQLite": ("sqlite", "blessing", "import sqlite3; print(sqlite3.sqlite_version)"),
    "zlib": ("zlib", "Zlib", "import zlib; print(zlib.ZLIB_RUNTIME_VERSION.split('.zlib')[0])"),
    "Expat": ("expat", "MIT", "import pyexpat; print(pyexpat.EXPAT_VERSION.removeprefix('expat_'))"),
    "Zstandard": ("zstd", "BSD-3-Clause", "from compression import zstd; print(zstd.zstd_version)"),
    "mpdecimal": ("mpdecimal", "BSD-2-Clause", "import _decimal; print(_decimal.__libmpdec_version__)"),
    "ncurses": ("ncurses", "X11", "import curses; print('%d.%d.%d' % curses.ncurses_version)"),
}
"""Libraries in the portable Python that report a version: name in package URLs, licence, and code that prints it."""

WITHOUT_VERSION = {
    "bzip2": "bzip2-1.0.6",
    "XZ Utils": "0BSD",
    "libffi": "MIT",
    "libedit": "BSD-3-Clause",
    "libuuid": "BSD-3-Clause",
    "HACL*": "MIT",
}
"""Licences (SPDX) of libraries in the portable Python that report no version."""

CLASSIFIED = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
"""SPDX names of licences by Trove classifier, for older wheels that declare their licence only by a classifier."""


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


def wheels(site: Path, requirements: str) -> list[Component]:
    """Return the Python packages in the folder `site`. Raises ValueError if a package declares no known licence."""
    locked = sums(requirements)
    packages: list[Component] = []
    for folder in sorted(site.glob("*.dist-info")):
        metadata = (folder / "METADATA").read_text("utf-8")
        headers = HeaderParser().parsestr(metadata)
        name, version, terms = headers["Name"], headers["Version"], licence(metadata)
        if terms is None:
            raise ValueError(f"{name} {version} declares no known licence: see {folder.name}/METADATA.")
        purl = f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}"
        hashes = [{"alg": "SHA-256", "content": digest} for digest in locked.get(name.lower(), [])]
        more = {"externalReferences": [{"type": "distribution", "url": purl, "hashes": hashes}]} if hashes else {}
        if name != PROJECT["project"]["name"]:
            packages.append(_component("library", name, version, terms, purl) | more)
    return packages


def python(interpreter: Path) -> list[Component]:
    """Return the portable Python and the libraries linked into it. Runs the interpreter to get their versions."""
    components = [
        _component(
            "platform", "CPython", golang.PYTHON_VERSION, "PSF-2.0", f"pkg:generic/python@{golang.PYTHON_VERSION}"
        ),
        _module(golang.PYTHON.name, golang.PYTHON.version, "Apache-2.0"),
    ]
    for name, (short, terms, code) in LINKED.items():
        argv = (interpreter, "-I", "-B", "-c", code)
        version = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
        components.append(_component("library", name, version, terms, f"pkg:generic/{short}@{version}"))
    return components + [_component("library", name, None, terms, None) for name, terms in WITHOUT_VERSION.items()]


def launcher(build_info: str) -> list[Component]:
    """Return the Go modules in the launcher. `build_info`: the output of `go version -m`."""
    modules = re.findall(r"^\tdep\t(\S+)\t(\S+)", build_info, re.MULTILINE)
    compiler = re.search(r": go(\S+)", build_info)
    components = [_module(name, version, "BSD-3-Clause AND Apache-2.0 AND MIT") for name, version in modules]
    if compiler:
        components.append(
            _component("library", "Go standard library", compiler[1], "BSD-3-Clause", f"pkg:golang/std@{compiler[1]}")
        )
    return components


def document(components: Iterable[Component], epoch: int) -> Mapping[str, Any]:
    """Return the complete bill of materials. The same components and date produce the same document."""
    listed = sorted(components, key=lambda component: (component["name"].lower(), component.get("version", "")))
    project = PROJECT["project"]
    product = _component(
        "application", project["name"], VERSION, project["license"], f"pkg:generic/raidbench@{VERSION}"
    )
    content = json.dumps([product, listed])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(), "component": product},
        "components": listed,
    }


def _component(kind: str, name: str, version: str | None, terms: str, purl: str | None) -> Component:
    licences = [{"expression": terms}] if re.search(" (AND|OR|WITH) ", terms) else [{"license": {"id": terms}}]
    component = {
        "type": kind,
        "bom-ref": purl or f"within:{name}",
        "name": name,
        "version": version,
        "licenses": licences,
        "purl": purl,
    }
    return {key: value for key, value in component.items() if value is not None}


def _module(name: str, version: str, terms: str) -> Component:
    return _component("library", name, version, terms, f"pkg:golang/{name}@{version}")
