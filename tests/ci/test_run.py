"""`.ci/run` itself, in a checkout of a few small tests: what it repeats, what it prints and how it ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.ci.safety import ROOT

pytestmark = [pytest.mark.long, pytest.mark.slow]

MAKEFILE = """
PYTEST := @.venv/bin/python -m pytest -q -p no:cacheprovider
test:
\t$(PYTEST) -n 2 tests/main $(ARGS)
test-user test-exhaustive test-simulator check browser:
\t@true
build:
\t@true
"""
CONFTEST = """
import pytest
from tests.ci import recorder

def pytest_configure(config):
    recorder.register(config)
"""
SKIPPED_STEP = "import sys\nsys.exit(77)\n"
FLAKY = """
from pathlib import Path

def fails_once(name):
    seen = Path("seen-" + name)
    if not seen.exists():
        seen.touch()
        raise AssertionError(name + " came too late")
"""


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    said: str

    def has(self, *lines: str) -> bool:
        """Return whether each of these lines was printed."""
        return set(lines) <= set(self.said.splitlines())

    @property
    def repeated(self) -> list[str]:
        """Return the tests that were run again, in order."""
        marks = [line for line in self.said.splitlines() if line.startswith("== again: ")]
        return [mark.removeprefix("== again: ").partition(" (")[0] for mark in marks]


@dataclass(frozen=True)
class Checkout:
    """A checkout with the real `.ci/run` and the real tests.ci."""

    root: Path

    def test_file(self, text: str, path: str = "tests/main/test_a.py") -> None:
        """Add a file of tests, which may call `fails_once`."""
        self.write(path, FLAKY + text)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def run(self) -> Ended:
        """Run `.ci/run`."""
        quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist.plugin"}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | quick
        done = subprocess.run(
            ["bash", ".ci/run"],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Ended(done.returncode, done.stdout)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path)
    (tmp_path / "tests/ci").mkdir(parents=True)
    for path in (ROOT / "tests/ci").glob("[!t]*.py"):
        shutil.copy(path, tmp_path / "tests/ci")
    made.write(".ci/run", (ROOT / ".ci/run").read_text())
    made.write(".ci/as-user", '#!/bin/sh\nexec "$@"\n', 0o755)
    made.write(".venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n', 0o755)
    made.write("tools/bootstrap", "")
    made.write("Makefile", MAKEFILE)
    made.write("tests/conftest.py", CONFTEST)
    made.write("tests/__init__.py", "")
    made.write("tests/flaky.toml", "")
    made.write(
        "pyproject.toml",
        '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\npythonpath = ["."]\nmarkers = ["safety: x"]\n',
    )
    for name in ("prometheus", "ansible", "package", "lab"):
        made.write(f"tests/{name}.py", SKIPPED_STEP if name == "lab" else "")
    made.test_file("def test_good(): pass\n", "tests/main/test_good.py")
    return made


def entry(test: str, added: date) -> str:
    return f'[[flaky]]\ntest = "{test}"\ncause = "It waits for a clock."\nadded = {added}\n'


def test_a_run_without_failures_passes_and_names_what_was_skipped(checkout: Checkout) -> None:
    ended = checkout.run()
    assert ended.status == 0
    assert ended.repeated == []
    assert ended.has("skipped: [lab]")
    assert ended.said.splitlines()[-1].startswith("total ")


def test_a_test_that_fails_once_is_flaky_and_the_run_passes(checkout: Checkout) -> None:
    checkout.test_file(
        "import pytest\n@pytest.mark.parametrize('x', ['a b::$(c)[d]'])\ndef test_x(x): fails_once('x')\n"
    )
    ended = checkout.run()
    test = "tests/main/test_a.py::test_x[a b::$(c)[d]]"
    assert ended.status == 0
    assert ended.repeated == [test]
    assert ended.has(f"flaky: {test} [make test] (not listed)", "    AssertionError: x came too late")


def test_a_test_that_always_fails_fails_the_run(checkout: Checkout) -> None:
    checkout.test_file("def test_x(): assert 1 == 2\ndef test_y(): fails_once('y')\n")
    ended = checkout.run()
    assert ended.status == 1
    assert sorted(ended.repeated) == ["tests/main/test_a.py::test_x", "tests/main/test_a.py::test_y"]
    assert ended.has("failed: tests/main/test_a.py::test_x [make test]", "failed: [make test]")


def test_a_fixture_that_fails_once_before_or_after_a_test_is_repeated_with_it(checkout: Checkout) -> None:
    checkout.test_file(
        "import pytest\n"
        "@pytest.fixture\n"
        "def before(): fails_once('before')\n"
        "@pytest.fixture\n"
        "def after():\n    yield\n    fails_once('after')\n"
        "def test_x(before): pass\n"
        "def test_y(after): pass\n"
    )
    ended = checkout.run()
    assert ended.status == 0
    assert sorted(ended.repeated) == ["tests/main/test_a.py::test_x", "tests/main/test_a.py::test_y"]


def test_tests_of_guard_journal_and_those_with_the_marker_are_not_repeated(checkout: Checkout) -> None:
    checkout.test_file("def test_x(): fails_once('guard')\n", "tests/main/test_guard.py")
    checkout.test_file(
        "import pytest\n"
        "def test_the_journal(): fails_once('journal')\n"
        "@pytest.mark.safety\ndef test_y(): fails_once('marker')\n"
    )
    ended = checkout.run()
    assert (ended.status, ended.repeated) == (1, [])
    assert ended.has(
        "    not repeated: a test of the guard",
        "    not repeated: a test of the journal",
        "    not repeated: it has the marker safety",
    )


def test_three_unlisted_flaky_tests_fail_the_run(checkout: Checkout) -> None:
    checkout.test_file("".join(f"def test_{name}(): fails_once('{name}')\n" for name in "xyz"))
    ended = checkout.run()
    assert ended.status == 1
    assert ended.said.count("\nflaky: ") == 3
    assert ended.has("failed: 3 flaky tests are not listed in tests/flaky.toml; at most 2 pass")


@pytest.mark.parametrize(("age", "status"), [(14, 0), (15, 1)])
def test_a_third_flaky_test_passes_while_it_is_listed(checkout: Checkout, age: int, status: int) -> None:
    checkout.test_file("".join(f"def test_{name}(): fails_once('{name}')\n" for name in "xyz"))
    added = datetime.now(UTC).date() - timedelta(days=age)
    checkout.write("tests/flaky.toml", entry("tests/main/test_a.py::test_x", added))
    ended = checkout.run()
    assert ended.status == status
    assert ("\nexpired: tests/main/test_a.py::test_x: added " in ended.said) is bool(status)


def test_a_malformed_list_fails_the_run(checkout: Checkout) -> None:
    checkout.write("tests/flaky.toml", "[[flaky]]\n")
    ended = checkout.run()
    assert ended.status == 1
    assert "failed: tests/flaky.toml: an entry has the keys added, cause, test" in ended.said


def test_more_failures_than_timing_explains_are_not_repeated(checkout: Checkout) -> None:
    checkout.test_file("".join(f"def test_{number}(): fails_once('{number}')\n" for number in range(11)))
    ended = checkout.run()
    assert (ended.status, ended.repeated) == (1, [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_that_name\n", "test_b.py cannot be collected: "),
        ("import os\ndef test_y(): os._exit(1) if not os.path.exists('seen') else 0\n", "crashed while running"),
    ],
)
def test_a_failure_that_is_no_test_fails_the_run(checkout: Checkout, text: str, reason: str) -> None:
    checkout.test_file("def test_x(): fails_once('x')\n")
    checkout.write("tests/main/test_b.py", text)
    ended = checkout.run()
    assert ended.status == 1
    assert reason in ended.said.rpartition("failed: [make test]: ")[2]


def test_a_session_that_is_killed_fails_the_run(checkout: Checkout) -> None:
    checkout.test_file("def test_x(): fails_once('x')\n")
    checkout.write(
        "tests/main/conftest.py",
        "import os, signal\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.failed and 'PYTEST_XDIST_WORKER' not in os.environ and 'killed' not in os.listdir():\n"
        "        open('killed', 'w').close()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n",
    )
    ended = checkout.run()
    assert ended.status == 1
    assert ended.has("failed: [make test]: pytest did not reach its end")


def test_a_test_that_is_skipped_when_it_is_repeated_has_not_passed(checkout: Checkout) -> None:
    checkout.test_file(
        "import pytest\n"
        "@pytest.fixture\n"
        "def once():\n    if Path('seen-x').exists():\n        pytest.skip('no')\n"
        "def test_x(once): fails_once('x')\n"
    )
    ended = checkout.run()
    assert ended.status == 1
    assert "    not passed when repeated: exit status 0, 0 passed" in ended.said


def test_a_step_that_fails_without_a_test_fails_the_run_and_the_others_go_on(checkout: Checkout) -> None:
    checkout.write("Makefile", MAKEFILE.replace("build:\n\t@true", "build:\n\t@false"))
    ended = checkout.run()
    assert ended.status == 1
    assert ended.has("failed: [make build]: no test ran", "failed: [make build]", "skipped: [lab]")


LAB = """
import subprocess, sys
if sys.argv[1:] == ["--compare"]:
    print("compared")
    sys.exit({compared})
words = sys.argv[2:] if sys.argv[1:2] == ["--again"] else ["tests/guests"]
sys.exit(subprocess.run([sys.executable, "-m", "pytest", "-q", *words]).returncode)
"""


@pytest.mark.parametrize("compared", [0, 1])
def test_a_test_of_the_laboratory_is_repeated_there_and_what_all_proved_is_compared(
    checkout: Checkout, compared: int
) -> None:
    checkout.write("tests/lab.py", LAB.format(compared=compared))
    checkout.test_file("def test_x(): fails_once('x')\n", "tests/guests/test_a.py")
    ended = checkout.run()
    assert ended.status == compared
    assert ended.repeated == ["tests/guests/test_a.py::test_x"]
    assert ended.has("compared", "flaky: tests/guests/test_a.py::test_x [lab] (not listed)")


def test_a_checkout_that_cannot_be_set_up_fails_the_run(checkout: Checkout) -> None:
    shutil.rmtree(checkout.root / ".venv")
    ended = checkout.run()
    assert ended.status == 1
    assert ended.has("failed: the checkout could not be set up")


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a git checkout")
def test_another_users_home_stays_for_the_tests_that_are_repeated(shared: Path) -> None:
    """The second command finds the files of the first in the clone, and may write to the folder of records."""
    (records := shared / "records").mkdir(mode=0o700)
    environment = os.environ | {"RAIDBENCH_USER_HOME": str(shared / "user"), "RAIDBENCH_OUTCOMES": str(records)}
    for word in ("touch kept", 'test -e kept && test "$PWD" = "$HOME/raidbench" && id -u > "$RAIDBENCH_OUTCOMES/uid"'):
        argv = [str(ROOT / ".ci/as-user"), "sh", "-c", word]
        subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=True)
    assert int((records / "uid").read_text()) == (shared / "user").stat().st_uid != 0


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder below which another user can come, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        yield Path(folder)
