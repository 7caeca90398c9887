"""Licence texts of the release files: LICENSES.txt for all forms, and the copyright file of the .deb."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tools.package.components import ShippedComponent
from tools.package.tree import PROJECT, ROOT, VERSION

FILE = "LICENSES.txt"

_LINE = "=" * 100

_COMMON = {
    "Apache License": ("Version 2.0", "Apache-2.0"),
    "GNU LESSER GENERAL PUBLIC LICENSE": ("Version 2.1", "LGPL-2.1"),
}
"""Licences that every Debian system has: title and version in their text, and name below /usr/share/common-licenses."""

_COPYRIGHT = re.compile(
    r"[\s*#]*((?:portions )?(?:copyright\b.{0,12}\d{4}|copyright \(c\)|\(c\) \d{4}).*)", re.IGNORECASE
)


def document(components: Iterable[ShippedComponent]) -> str:
    """Return LICENSES.txt: a list of the components, then all their licence texts."""
    listed = _in_order(components)
    width = max(len(_title(component)) for component in listed)
    rows = [f"{_title(component):{width}}  {component.part:15}  {component.terms}" for component in listed]
    sections = [
        f"{_LINE}\n{_title(component)} ({component.part}): {component.terms}\n{_LINE}\n\n" + _joined(component.texts)
        for component in listed
    ]
    own = (ROOT / "LICENSE").read_text("utf-8")
    head = f"raidbench {VERSION} is licensed under the MIT licence:\n\n{own}\n"
    return head + "It contains these components, whose licence texts follow:\n\n" + "\n".join([*rows, "", *sections])


def debian_copyright(components: Iterable[ShippedComponent]) -> str:
    """Return the copyright file of the .deb in Debian's machine-readable format 1.0 (DEP-5).

    One file contains all modules and another the interpreter with its libraries, so one paragraph names all components.
    The .deb has no launcher.
    """
    listed = [component for component in _in_order(components) if component.part != "launcher"]
    own = (ROOT / "LICENSE").read_text("utf-8")
    name = PROJECT["project"]["name"]
    holders = dict.fromkeys(holder for component in listed for holder in _holders(component.texts))
    names = " and ".join(("MIT", *map(_short, listed)))
    paragraphs = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: {name}\nUpstream-Contact: {maintainer()}\n"
        "Comment: sbom.json beside this file has the versions of all components.\n",
        _files("*", _holders((own,)), "MIT"),
        _files(f"usr/lib/{name}/*", (*_holders((own,)), *holders), names),
        f"License: MIT\n{_indented(own)}\n",
    ]
    paragraphs += [
        f"License: {_short(component)}\n{_indented(_joined(map(_for_debian, component.texts)))}\n"
        for component in listed
    ]
    return "\n".join(paragraphs)


def maintainer() -> str:
    """Return the name and the mail address of the maintainer."""
    author = PROJECT["project"]["authors"][0]
    return f"{author['name']} <{author['email']}>"


def write(components: Iterable[ShippedComponent], folders: Iterable[Path]) -> None:
    """Write LICENSES.txt into each of the folders."""
    text = document(components)
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(text, encoding="utf-8")


def _in_order(components: Iterable[ShippedComponent]) -> list[ShippedComponent]:
    return sorted(components, key=lambda component: (component.part, component.name.lower()))


def _title(component: ShippedComponent) -> str:
    return f"{component.name} {component.version or ''}".rstrip()


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text.strip("\n") for text in texts) + "\n"


def _files(patterns: str, holders: Iterable[str], names: str) -> str:
    copyrights = "\n ".join(holders)
    return f"Files: {patterns}\nCopyright: {copyrights}\nLicense: {names}\n"


def _short(component: ShippedComponent) -> str:
    """Return a name for a component's licence that no other component has: its text names other holders."""
    return f"{re.sub('[^A-Za-z0-9.+-]+', '-', component.name).strip('-')}-{component.terms.replace(' ', '-')}"


def _holders(texts: Iterable[str]) -> list[str]:
    """Return the copyright lines of licence texts."""
    rows = [match[1].strip() for text in texts for row in text.splitlines() if (match := _COPYRIGHT.match(row))]
    return list(dict.fromkeys(rows)) or ["see the licence"]


def _for_debian(text: str) -> str:
    """Return a licence text, or a reference if every Debian system has it."""
    for title, (version, name) in _COMMON.items():
        at = text.find(title)
        if at >= 0 and version in text[at : at + 200]:
            reference = f"On Debian systems, this licence is in /usr/share/common-licenses/{name}."
            return f"{text[:at].rstrip()}\n\n{reference}".strip()
    return text


def _indented(text: str) -> str:
    return "\n".join(f" {row.rstrip()}" if row.strip() else " ." for row in text.strip("\n").splitlines())
