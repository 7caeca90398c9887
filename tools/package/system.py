"""Contents of the .deb and .rpm: the tree below /usr/lib/raidbench, manual pages, completion and a systemd unit."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.core.changes import systemd_units
from app.core.session.journal import Journal
from app.core.session.paths import ROOTS_STATE
from tools.package import completion, golang, man
from tools.package.tree import GLIBC, INTERPRETER, PROJECT, ROOT, VERSION

PREFIX = f"/usr/lib/raidbench/{VERSION}"
"""Folder of the installed program. Each version has its own, so a running version never loads modules of another."""

_OLDEST = ".".join(map(str, GLIBC))
_SOURCES = Path(__file__).parent / "hooks"
_TOOL = "github.com/goreleaser/nfpm/v2/cmd/nfpm"
_RECOMMENDED = ("fio",)
"""Packages that are installed by default. Benchmarks need fio, which has no daemon and changes no setting."""

_SUGGESTED = ("smartmontools", "nvme-cli", "mdadm", "sdparm", "hdparm")
"""Packages that are only suggested, because some install a daemon or udev rules."""

COMPRESSION = {"deb": "xz", "rpm": "xz"}
"""Compression by kind of package, supported by dpkg of Debian 11 and rpm of RHEL 8. `--quick` uses gzip: xz is slow."""

HOOKS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "deb": {
        "preremove": ("guard.sh", 'refuse_while_running\n[ "$1" != remove ] || report_crashed_changes\n'),
        "postinstall": ("after.sh", "prepare\n"),
        "postremove": ("after.sh", '[ "$1" != remove ] || report_kept_files\n'),
    },
    "rpm": {
        "preinstall": ("guard.sh", '[ "$1" -lt 2 ] || refuse_while_running\n'),
        "preremove": (
            "guard.sh",
            'if [ "$1" -eq 0 ]; then\n    refuse_while_running\n    report_crashed_changes\nfi\n',
        ),
        "postinstall": ("after.sh", "prepare\n"),
        "postremove": ("after.sh", '[ "$1" -gt 0 ] || report_kept_files\n'),
    },
}
"""Package scripts by kind of package and step: the file that defines functions, and the lines that call them."""


def unit() -> str:
    """Return the systemd unit of the packages.

    At boot it lists changes that a crash interrupted; it restores nothing.
    """
    return systemd_units.unit_text(
        ("/usr/bin/raidbench", "recover", "--list"),
        Journal(ROOTS_STATE / "journal").file,
        {},
        first_line="Changes nothing. `raidbench recover --install-unit` replaces this unit by one that reverts trials.",
        description="List storage settings that a crash left changed",
    )


def hook(kind: str, name: str) -> str:
    """Return the text of the package script `name` (such as `preremove`) for a `kind` of package, `deb` or `rpm`."""
    functions, call = HOOKS[kind][name]
    return (_SOURCES / functions).read_text() + "\n" + call


def write_files(work: Path, sbom: Path, epoch: int) -> Path:
    """Write those files of the packages that are not part of the tree, and return the folder that contains them."""
    folder = work / "system"
    folder.mkdir()
    man.write(folder / "man", _date(epoch), VERSION)
    completion.write(folder)
    wrapper = (_SOURCES / "raidbench.sh").read_text().replace("@PREFIX@", PREFIX).replace("@INTERPRETER@", INTERPRETER)
    (folder / "raidbench").write_text(wrapper)
    (folder / systemd_units.NAME).write_text(unit())
    (folder / "copyright").write_text((_SOURCES / "copyright").read_text() + (ROOT / "LICENSE").read_text())
    for source in (_SOURCES / "tmpfiles.conf", ROOT / "CHANGELOG.md", sbom):
        shutil.copyfile(source, folder / source.name)
    for kind, names in HOOKS.items():
        for name in names:
            (folder / f"{kind}-{name}").write_text(hook(kind, name))
            (folder / f"{kind}-{name}").chmod(0o755)
    return folder


def contents(tree: Path, folder: Path) -> list[dict[str, Any]]:
    """Return the list of files in the packages, in the format of nfpm's configuration."""
    units = "/usr/lib/systemd/system"
    plain = {
        "raidbench.bash": "/usr/share/bash-completion/completions/raidbench",
        "raidbench.fish": "/usr/share/fish/vendor_completions.d/raidbench.fish",
        "tmpfiles.conf": "/usr/lib/tmpfiles.d/raidbench.conf",
        systemd_units.NAME: f"{units}/{systemd_units.NAME}",
        **{name: f"/usr/share/doc/raidbench/{name}" for name in ("copyright", "CHANGELOG.md", "sbom.json")},
        **{
            str(page.relative_to(folder)): f"/usr/share/{page.relative_to(folder)}"
            for page in sorted(folder.glob("man/man*/*"))
        },
    }
    zsh = {"deb": "/usr/share/zsh/vendor-completions/_raidbench", "rpm": "/usr/share/zsh/site-functions/_raidbench"}
    return [
        {"src": str(tree), "dst": PREFIX, "type": "tree"},
        {"src": str(folder / "raidbench"), "dst": "/usr/bin/raidbench", "file_info": {"mode": 0o755}},
        *({"src": str(folder / name), "dst": place, "file_info": {"mode": 0o644}} for name, place in plain.items()),
        *(
            {"src": str(folder / "raidbench.zsh"), "dst": place, "packager": kind, "file_info": {"mode": 0o644}}
            for kind, place in zsh.items()
        ),
        {
            "src": f"../{systemd_units.NAME}",
            "dst": f"{units}/multi-user.target.wants/{systemd_units.NAME}",
            "type": "symlink",
        },
        *(
            {"dst": f"/usr/{parent}/raidbench", "type": "dir", "file_info": {"mode": 0o755}}
            for parent in ("lib", "share/doc")
        ),
        {"dst": "/var/lib/raidbench", "type": "dir", "file_info": {"mode": 0o700}},
    ]


def configuration(tree: Path, folder: Path, architecture: str, epoch: int) -> dict[str, Any]:
    """Return the configuration from which nfpm builds the packages of one architecture."""
    project = PROJECT["project"]
    return {
        "name": project["name"],
        "arch": architecture,
        "version": VERSION,
        "section": "admin",
        "priority": "optional",
        "maintainer": project["authors"][0]["name"],
        "description": project["description"],
        "license": project["license"],
        "mtime": datetime.fromtimestamp(epoch, UTC).isoformat(),
        "contents": contents(tree, folder),
        "deb": {"compression": COMPRESSION["deb"]},
        "rpm": {"compression": COMPRESSION["rpm"], "buildhost": "raidbench", "group": "Applications/System"},
        "overrides": {
            kind: {
                "depends": [needed],
                "recommends": list(_RECOMMENDED),
                "suggests": list(_SUGGESTED),
                "scripts": {name: str(folder / f"{kind}-{name}") for name in HOOKS[kind]},
            }
            for kind, needed in (("deb", f"libc6 (>= {_OLDEST})"), ("rpm", f"glibc >= {_OLDEST}"))
        },
    }


def build_nfpm(work: Path) -> Path:
    """Build nfpm, which writes the packages and is pinned by its go.sum, and return its path.

    Raises GoMissingError if no Go is usable, CalledProcessError if the build fails.
    """
    golang.run("build", "-o", str(work / "nfpm"), _TOOL, folder=Path(__file__).parent / "nfpm")
    return work / "nfpm"


def _date(epoch: int) -> str:
    return datetime.fromtimestamp(epoch, UTC).date().isoformat()
