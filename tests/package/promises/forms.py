"""The forms in which raidbench is shipped, and the installation of each."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.package.hosts import HERE
from tests.package.shipped import DEB, ONE_FILE, PYZ, RPM
from tests.packages import PLACES, absence
from tests.privsep.helping import AS_NOBODY, PYTHON
from tests.runtime import LOCKED, ROOT, UV, after_make_run, uv


class NotBuiltError(Exception):
    """Error for a form that cannot be made on this machine, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedForm:
    """One form."""

    title: str
    kind: str
    """The form that the program reports."""
    prepare: Callable[[Path], str]
    """Makes its files in a folder, and returns the script that installs it in a root.

    Raises NotBuiltError.
    """
    command: str
    """The program, as a shell has it. `{work}`: that folder."""
    rule: str
    """The command of the helper in a rule of sudo."""
    own_files: bool = False
    """Whether each user runs files of their own."""
    manual: bool = False
    """Whether it has manual pages and installs its completion."""
    programs: tuple[str, ...] = ()
    """The programs that it needs on this machine."""

    def why_not(self) -> str:
        """A sentence where it cannot be had here."""
        return HERE.why_not() or absence("nsenter", *self.programs)


@dataclass(frozen=True, slots=True)
class InstalledForm:
    """A form in a root of its own, which is this machine's with an empty home."""

    form: ShippedForm
    work: Path
    within: tuple[str, ...]
    """The words before a command that runs there."""

    @property
    def command(self) -> str:
        """The program, as a shell has it."""
        return self.form.command.format(work=self.work)

    @property
    def home(self) -> Path:
        """The home of root there."""
        return self.work / "home"

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script of root there."""
        return self._run(self.home, (), script)

    def as_user(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script of a user who is not root there."""
        return self._run(self.work / "user", AS_NOBODY, script)

    def _run(self, home: Path, before: tuple[str, ...], script: str) -> subprocess.CompletedProcess[str]:
        places = ("/usr/bin/env", "-i", f"PATH={PLACES}", f"HOME={home}", "LANG=C.UTF-8", "TERM=xterm-256color")
        words = (*self.within, *places, *before, "sh", "-c", script)
        return subprocess.run(words, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True)


@contextmanager
def installed(form: ShippedForm) -> Iterator[InstalledForm]:
    """The form, installed in a root that is gone afterwards.

    Raises NotBuiltError.
    """
    if why := form.why_not():
        raise NotBuiltError(why)
    work = Path(tempfile.mkdtemp(prefix="raidbench-form-"))
    work.chmod(0o755)
    try:
        for name in ("home", "user"):
            (work / name).mkdir()
        shutil.chown(work / "user", "nobody")
        script = form.prepare(work)
        with HERE.entered(work) as within:
            made = InstalledForm(form, work, within)
            done = made.run(script)
            assert done.returncode == 0, done.stdout + done.stderr
            yield made
    finally:
        shutil.rmtree(work)


def _built(file: Path, install: str) -> Callable[[Path], str]:
    def prepare(work: Path) -> str:
        if not file.exists():
            raise NotBuiltError(f"{file.name} has not been built: `make package`")
        return install.format(file=shutil.copy(file, work))

    return prepare


def _tool(work: Path) -> str:
    """Install the wheel of this checkout as `uv tool` does."""
    _uv("build", "--wheel", "--build-constraints", ROOT / "tools/locked/build.txt", "--require-hashes", "-o", work)
    (wheel,) = work.glob("*.whl")
    places = {"UV_TOOL_DIR": str(work / "tools"), "UV_TOOL_BIN_DIR": str(work / "bin")}
    _uv("tool", "install", "--python", PYTHON, "--constraints", LOCKED, wheel, **places)
    return "true"


def _uv(*words: str | Path, **places: str) -> None:
    if not UV.exists():
        raise NotBuiltError("no uv in .bootstrap: `make test` gets it")
    done = uv(*words, **places)
    if done.returncode:
        raise NotBuiltError(f"uv {words[0]}: {done.stderr.strip()[-300:]}")


def _checkout(work: Path) -> str:
    after_make_run(work / "checkout", PATH=PLACES)  # with a Python that every user may run
    return "true"


FORMS = (
    ShippedForm(
        title="standalone binary",
        kind="one file",
        prepare=_built(ONE_FILE, "install -m 755 {file} /usr/local/bin/raidbench && raidbench --version"),
        command="raidbench",
        rule="/var/cache/raidbench/*/bin/python3.14 -I -B -m app.privsep",
    ),
    ShippedForm(
        title=".deb",
        kind="package",
        prepare=_built(DEB, "dpkg -i --force-depends --no-triggers {file}"),
        command="raidbench",
        rule="/usr/lib/raidbench/*/bin/python3.14 -I -B -m app.privsep",
        manual=True,
        programs=("dpkg", "man"),
    ),
    ShippedForm(
        title=".rpm",
        kind="package",
        prepare=_built(RPM, "rpm -i --nodeps {file}"),
        command="raidbench",
        rule="/usr/lib/raidbench/*/bin/python3.14 -I -B -m app.privsep",
        manual=True,
        programs=("rpm", "man"),
    ),
    ShippedForm(
        title="raidbench.pyz",
        kind="zipapp",
        prepare=_built(PYZ, "install -m 755 {file} /usr/local/bin/raidbench && raidbench --version"),
        command="raidbench",
        rule="ALL",
        own_files=True,
        programs=("python3",),
    ),
    ShippedForm(
        title="wheel, by `uv tool install`",
        kind="wheel",
        prepare=_tool,
        command="{work}/bin/raidbench",
        rule="{work}/tools/raidbench/bin/python -I -m app.privsep",
    ),
    ShippedForm(
        title="checkout, after `make run`",
        kind="tree",
        prepare=_checkout,
        command="{work}/checkout/.venv/bin/raidbench",
        rule="ALL",
        programs=("make",),
    ),
)
"""All of them, in the order of the table."""
