"""Make a release of the tagged commit: measure it, build and sign every file, and write package repositories.

The keys are in a folder with gnupg/ (a GNUPGHOME with one secret RSA key) and ssh_ed25519 (docs/dev/release.md).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.package import __main__ as packaging
from tools.package import golang
from tools.package.tree import ROOT, VERSION, uv
from tools.release.checks import NotReleasableError, require_releasable
from tools.release.cost import NOT_MEASURED, require_cost_of_page
from tools.release.folder import publish
from tools.release.signing import ReleaseKeys, require_program


def main() -> int:
    """Make the release. Return the exit status."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the release; must not exist")
    parser.add_argument("--keys", type=Path, required=True, help="folder with the secret keys")
    parser.add_argument("--url", required=True, metavar="BASE_URL", help="where the folder will be served")
    parser.add_argument("--not-measured", action="store_true", help="leave out `make bench`; the notes say so")
    options = parser.parse_args()
    out = options.out.absolute()
    try:
        if out.exists():
            raise NotReleasableError(f"{out} exists already. Name a new folder.")
        notes = require_releasable(ROOT, VERSION)
        keys = ReleaseKeys.read(options.keys.absolute())
        require_program("apt-ftparchive", "apt-utils")
        golang.go()
        if options.not_measured:
            notes += f"\n{NOT_MEASURED}"
        else:
            require_cost_of_page(ROOT)
        epoch = packaging.epoch()
        with tempfile.TemporaryDirectory(prefix="raidbench-release-") as folder:
            built = Path(folder) / "dist"
            files = packaging.build(built, Path(folder) / "work", epoch)
            files = [file for file in files if file.name != packaging.SUMS] + _build_wheel(built)
            publish(files, notes, out, keys, url=options.url.rstrip("/"), epoch=epoch)
    except (NotReleasableError, golang.GoMissingError, ValueError) as error:  # ValueError: a component is refused
        print(f"release: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"release: {' '.join(map(str, error.cmd[:4]))} failed:\n{error.stderr or ''}", file=sys.stderr)
        return 1
    print(f"Release {VERSION} is in {out}. Serve it at {options.url}.")
    return 0


def _build_wheel(folder: Path) -> list[Path]:
    """Build the wheel and the source distribution."""
    uv("build", "-q", "--build-constraints", "tools/locked/build.txt", "--require-hashes", "--out-dir", folder)
    return [*folder.glob(f"raidbench-{VERSION}-*.whl"), folder / f"raidbench-{VERSION}.tar.gz"]


if __name__ == "__main__":
    sys.exit(main())
