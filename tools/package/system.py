"""Contents of the .deb and .rpm: the tree below /usr/lib/raidbench, manual pages, completion and a systemd unit."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from app.core.changes import systemd_units
from app.core.session.journal import Journal
from app.core.session.paths import ROOTS_STATE
from tools.package import completion, golang, licences, man
from tools.package.components import ShippedComponent
from tools.package.tree import GLIBC, INTERPRETER, PROJECT, ROOT, SITE, VERSION

PREFIX = f"/usr/lib/raidbench/{VERSION}"
"""Folder of the installed program. Each version has its own, so a running version never loads modules of another."""

LICENCES = f"{SITE}/raidbench-{VERSION}.dist-info/licenses"
"""Folder of LICENSES.txt in the tree, where `raidbench version --licenses` finds it."""

_SYNOPSIS = "terminal workbench for tuning storage"
_DESCRIPTION = """\
raidbench shows the settings of RAID controllers, disks and Linux block
devices, changes them with a way back, and measures their effect live with
fio. It needs only a terminal, so it also works over SSH.

Before a setting is changed, raidbench shows the exact commands, the risk and
the dependent volumes. A trial reverts automatically unless it is confirmed."""

_OLDEST = ".".join(map(str, GLIBC))
_SOURCES = Path(__file__).parent / "hooks"
_START = "#!/bin/sh\nset -eu\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n\n"
_TOOL = "github.com/goreleaser/nfpm/v2/cmd/nfpm"
_RECOMMENDED = ("fio",)
"""Packages that are installed by default. Benchmarks need fio, which has no daemon and changes no setting."""

_SUGGESTED = ("smartmontools", "nvme-cli", "mdadm", "sdparm", "hdparm")
"""Packages that are only suggested, because some install a daemon or udev rules."""

COMPRESSION = {"deb": "xz", "rpm": "xz"}
"""Compression by kind of package, supported by dpkg of Debian 11 and rpm of RHEL 8. `--quick` uses gzip: xz is slow."""

HOOKS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "deb": {
        "preinstall": ("kept.sh", '[ "$1" = install ] || keep_running_trees\n'),
        "preremove": (
            "guard.sh",
            'if [ "$1" = remove ]; then\n    refuse_while_running\n    report_crashed_changes\nfi\n',
        ),
        "postinstall": ("after.sh", "restore_kept_trees\nprepare\n"),
        "postremove": (
            "after.sh",
            '[ "$1" != remove ] || { remove_kept_trees && report_kept_files; }\n[ "$1" != purge ] || purge_state\n',
        ),
    },
    "rpm": {
        "preinstall": ("kept.sh", '[ "$1" -lt 2 ] || keep_running_trees\n'),
        "preremove": (
            "guard.sh",
            'if [ "$1" -eq 0 ]; then\n    refuse_while_running\n    report_crashed_changes\nfi\n',
        ),
        "postinstall": ("after.sh", "prepare\n"),
        "postremove": ("after.sh", '[ "$1" -gt 0 ] || { remove_kept_trees && report_kept_files; }\n'),
        "posttrans": ("kept.sh", "restore_kept_trees\n"),
    },
}
"""Package scripts by kind of package and step: the file that defines functions, and the lines that call them.

`after.sh` gets the functions of `kept.sh` too. dpkg removes the old files before `postinstall`, rpm only before
`posttrans`, which is therefore where a tree in use is put back.
"""


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
    files = ("kept.sh", functions) if functions == "after.sh" else (functions,)
    text = "\n".join((_SOURCES / file).read_text() for file in files)
    return _START + text.replace("@VERSION@", VERSION) + "\n" + call


def write_files(work: Path, components: Sequence[ShippedComponent], sbom: Path, epoch: int) -> Path:
    """Write those files of the packages that are not part of the tree, and return the folder that contains them."""
    folder = work / "system"
    folder.mkdir()
    man.write(folder / "man", _date(epoch), VERSION)
    completion.write(folder)
    wrapper = (_SOURCES / "raidbench.sh").read_text().replace("@PREFIX@", PREFIX).replace("@INTERPRETER@", INTERPRETER)
    (folder / "raidbench").write_text(wrapper)
    (folder / systemd_units.NAME).write_text(unit())
    (folder / "copyright").write_text(licences.debian_copyright(components), encoding="utf-8")
    licences.write(components, [folder])
    for source in (_SOURCES / "tmpfiles.conf", _SOURCES / "lintian", ROOT / "CHANGELOG.md", sbom):
        shutil.copyfile(source, folder / source.name)
    (folder / "changelog").write_text(_changelog(epoch), encoding="utf-8")
    for path in (*folder.glob("man/man*/*"), folder / "changelog", folder / "CHANGELOG.md"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
        path.unlink()
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
        **{name: f"/usr/share/doc/raidbench/{name}" for name in ("CHANGELOG.md.gz", "sbom.json")},
        **{
            str(page.relative_to(folder)): f"/usr/share/{page.relative_to(folder)}"
            for page in sorted(folder.glob("man/man*/*"))
        },
    }
    of_kind = {
        "deb": {
            "raidbench.zsh": "/usr/share/zsh/vendor-completions/_raidbench",
            "copyright": "/usr/share/doc/raidbench/copyright",
            "changelog.gz": "/usr/share/doc/raidbench/changelog.gz",
            "lintian": "/usr/share/lintian/overrides/raidbench",
        },
        "rpm": {
            "raidbench.zsh": "/usr/share/zsh/site-functions/_raidbench",
            licences.FILE: f"/usr/share/licenses/raidbench/{licences.FILE}",
        },
    }
    return [
        {"src": str(tree), "dst": PREFIX, "type": "tree"},
        {"src": str(folder / "raidbench"), "dst": "/usr/bin/raidbench", "file_info": {"mode": 0o755}},
        *({"src": str(folder / name), "dst": place, "file_info": {"mode": 0o644}} for name, place in plain.items()),
        *(
            {
                "src": str(folder / name),
                "dst": place,
                "packager": kind,
                "file_info": {"mode": 0o644},
                **({"type": "license"} if name == licences.FILE else {}),
            }
            for kind, files in of_kind.items()
            for name, place in files.items()
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
        {"dst": "/usr/share/licenses/raidbench", "type": "dir", "packager": "rpm", "file_info": {"mode": 0o755}},
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
        "maintainer": licences.maintainer(),
        "description": f"{_SYNOPSIS}\n{_DESCRIPTION}",
        "license": project["license"],
        "mtime": datetime.fromtimestamp(epoch, UTC).isoformat(),
        "contents": contents(tree, folder),
        "deb": {"compression": COMPRESSION["deb"]},
        "rpm": {
            "compression": COMPRESSION["rpm"],
            "buildhost": "raidbench",
            "group": "Applications/System",
            "scripts": {"posttrans": str(folder / "rpm-posttrans")},
        },
        "overrides": {
            kind: {
                "depends": needed,
                "recommends": list(_RECOMMENDED),
                "suggests": list(_SUGGESTED),
                "scripts": {name: str(folder / f"{kind}-{name}") for name in HOOKS[kind] if name != "posttrans"},
            }
            # The hooks of a .rpm need a shell, which dpkg has in any case.
            for kind, needed in (("deb", [f"libc6 (>= {_OLDEST})"]), ("rpm", [f"glibc >= {_OLDEST}", "/bin/sh"]))
        },
    }


def build_nfpm(work: Path) -> Path:
    """Build nfpm, which writes the packages and is pinned by its go.sum, and return its path.

    Raises GoMissingError if no Go is usable, CalledProcessError if the build fails.
    """
    golang.run("build", "-o", str(work / "nfpm"), _TOOL, folder=Path(__file__).parent / "nfpm")
    return work / "nfpm"


def _changelog(epoch: int) -> str:
    """Return the changelog of the .deb (deb-changelog(5)), which refers to that of raidbench."""
    date = format_datetime(datetime.fromtimestamp(epoch, UTC))
    name = PROJECT["project"]["name"]
    entry = f"  * See /usr/share/doc/{name}/CHANGELOG.md.gz."
    return f"{name} ({VERSION}) unstable; urgency=medium\n\n{entry}\n\n -- {licences.maintainer()}  {date}\n"


def _date(epoch: int) -> str:
    return datetime.fromtimestamp(epoch, UTC).date().isoformat()
