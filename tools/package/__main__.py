"""Build all release files into dist/ (`make package`). The same sources produce the same bytes."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from tools.package import collection, components, golang, interpreter, licences, onefile, pyz, sbom, system, tree
from tools.package.components import ShippedComponent
from tools.package.tree import INTERPRETER, MACHINES, ROOT, SITE, VERSION

SUMS = "SHA256SUMS"
FORMS = ("deb", "rpm", "pyz", "collection")
"""What is built beside the standalone binary."""


def main() -> int:
    """Build the files. Return the exit status."""
    parser = argparse.ArgumentParser(prog="make package", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the release files")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "package", help="build folder, emptied first")
    parser.add_argument("--quick", action="store_true", help="compress less, for tests only")
    parser.add_argument("--here", action="store_true", help="build only for the architecture of this machine")
    parser.add_argument("--forms", nargs="*", choices=FORMS, default=FORMS, help="build these beside the binary")
    options = parser.parse_args()
    if options.quick:
        onefile.LEVELS.update(zstd=3, zip=1)
        system.COMPRESSION.update(deb="gzip", rpm="gzip")
    try:
        golang.go()
        machines = tuple(machine for machine in MACHINES if not options.here or machine.name == os.uname().machine)
        files = build(options.out.absolute(), options.work.absolute(), epoch(), machines, frozenset(options.forms))
    except golang.GoMissingError as error:
        print(f"{error} `make build` builds the wheel, which needs Python 3.11 on the host.", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(map(str, error.cmd[:4]))} failed:\n{error.stderr or ''}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    for file in files:
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")
    return 0


def epoch() -> int:
    """Return the date for all files, in seconds since 1970: SOURCE_DATE_EPOCH, or else the date of the commit."""
    if seconds := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(seconds)
    argv = ("git", "log", "-1", "--format=%ct")
    commit_date = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return int(commit_date or 315532800)  # without git: the beginning of 1980, the earliest date in zip files


def build(
    out: Path,
    work: Path,
    moment: int,
    machines: Sequence[tree.Machine] = MACHINES,
    forms: Collection[str] = FORMS,
) -> list[Path]:
    """Build and return the release files: the standalone binary for each of `machines`, and `forms` beside it.

    Raises GoMissingError if no Go is usable, CalledProcessError if a program fails, ValueError for unsuitable content.
    """
    shutil.rmtree(work, ignore_errors=True)
    for folder in (work, out):
        folder.mkdir(parents=True, exist_ok=True)
    module = golang.download(golang.PYTHON, work)
    trees = {machine: work / f"tree-{machine.name}" for machine in machines}
    here = next(machine for machine in machines if machine.name == os.uname().machine)
    python = trees[here] / INTERPRETER
    for machine, folder in trees.items():
        say(f"the tree for {machine.name}")
        tree.make(machine, module, tree.LOCKED, folder)
    listed = list_components(trees.values(), python, module)
    licences.write(listed, [out, *(folder / system.LICENCES for folder in trees.values())])
    files = []
    if "pyz" in forms:
        files.append(out / "raidbench.pyz")
        say(files[0].name)
        pyz.make({machine.name: folder / SITE for machine, folder in trees.items()}, python, moment, work, files[0])
    for folder in sorted(trees.values(), key=lambda folder: folder == trees[here]):  # packing needs the interpreter
        tree.pack_modules(folder, python)
        tree.set_modes(folder)
    for machine, folder in trees.items():
        file = out / f"raidbench-{VERSION}-linux-{machine.name}"
        say(file.name)
        onefile.make(folder, machine.go, python, moment, work, file)
        files.append(file)
    if "collection" in forms:
        files.append(out / collection.file_name())
        say(files[-1].name)
        collection.make(files[-1], moment)
    bill = out / "sbom.json"
    bill.write_text(json.dumps(sbom.document(listed, moment), indent=2) + "\n")
    if kinds := [kind for kind in ("deb", "rpm") if kind in forms]:
        files += _packages(trees, kinds, listed, bill, out, work, moment)
    files += [bill, out / licences.FILE]
    (out / SUMS).write_text("".join(f"{_sum(file)}  {file.name}\n" for file in sorted(files)))
    return [*files, out / SUMS]


def list_components(trees: Iterable[Path], python: Path, module: Path) -> list[ShippedComponent]:
    """Return all components of the release files, and remove the records of the installer from the trees.

    `python`: the interpreter that runs on this machine. `module`: folder of the Go module with the interpreters.

    Raises ValueError if a tree contains something whose licence is not known.
    """
    listed = {component.name: component for component in components.launcher(onefile.SOURCES)}
    for folder in trees:
        interpreter.require_known(folder)
        found = components.wheels(folder / SITE, tree.LOCKED.read_text())
        found += interpreter.components_of(folder, python, module)
        listed |= {component.name: component for component in found}
        tree.remove_records(folder / SITE)
    return list(listed.values())


def _packages(
    trees: Mapping[tree.Machine, Path],
    kinds: Sequence[str],
    listed: Sequence[ShippedComponent],
    bill: Path,
    out: Path,
    work: Path,
    moment: int,
) -> list[Path]:
    say("nfpm, which writes the packages")
    nfpm = system.build_nfpm(work)
    folder = system.write_files(work, listed, bill, moment)
    files = []
    for machine, root in trees.items():
        settings = work / f"nfpm-{machine.go}.json"
        settings.write_text(json.dumps(system.configuration(root, folder, machine.go, moment), indent=1))
        names = {"deb": f"raidbench_{VERSION}_{machine.go}.deb", "rpm": f"raidbench-{VERSION}.{machine.name}.rpm"}
        for kind in kinds:
            say(names[kind])
            argv = (nfpm, "package", "-f", settings, "-p", kind, "-t", out / names[kind])
            subprocess.run(argv, check=True, capture_output=True, text=True)
            files.append(out / names[kind])
    return files


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def say(step: str) -> None:
    """Print the current build step."""
    print(f"package: {step} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
