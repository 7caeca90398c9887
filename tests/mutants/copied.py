"""A copy of the checkout, in which a line may be changed: a mutant that is left behind by a kill is in nobody's way."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def copied() -> Iterator[Path]:
    """The files that git knows or would take, as they are now, in a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="raidbench-mutants-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder)
        asked = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        names = subprocess.run(asked, cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            source = ROOT / name
            if source.is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (copy / name).write_bytes(source.read_bytes())
        yield copy


def environment(copy: Path) -> dict[str, str]:
    """In which the copy is what is imported."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPATH": str(copy)
    }


def pytest_words(tests: Sequence[str]) -> list[str]:
    """Those that are quick, up to the first that fails: hundreds of mutants meet them."""
    words = [
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-m",
        "not (exhaustive or slow or browser or prometheus or ansible or package)",
    ]
    return [sys.executable, "-m", "pytest", *words, *tests]


def try_unchanged(copy: Path, modules: Sequence[str], tests: Sequence[str]) -> None:
    """Tests that fail anyway would kill every mutant. They leave bytecode behind, for all but what is mutated.

    A mutant of the same length, written within the same second, would run as the one before.
    """
    done = _run(copy, pytest_words(tests))
    if done.returncode:
        raise SystemExit(f"{' '.join(tests)} fail without a mutant:\n{done.stdout[-2000:]}")
    forget(copy, modules)


def passing(copy: Path, tests: Sequence[str]) -> tuple[str, ...]:
    """The files of tests that pass in a copy: a few are about the checkout that is installed."""
    words = [word for word in pytest_words(tests) if word != "-x"]
    done = _run(copy, [*words, "-rfE", "--continue-on-collection-errors"])
    failing = set(re.findall(r"^(?:FAILED|ERROR) ([^:\s]+)", done.stdout, re.MULTILINE))
    return tuple(test for test in tests if test not in failing)


def _run(copy: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=copy, env=environment(copy), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


def forget(copy: Path, modules: Sequence[str]) -> None:
    """No bytecode of these modules stays."""
    for module in map(Path, modules):
        for bytecode in (copy / module.parent / "__pycache__").glob(f"{module.stem}.*"):
            bytecode.unlink()


def notices(copy: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether one of the tests fails, or they do not come to an end in this time. What they started is ended."""

    def limited() -> None:  # of CPU for each process: one that loops for ever may outlive the rest
        resource.setrlimit(resource.RLIMIT_CPU, (round(2 * seconds), round(2 * seconds)))

    begun = subprocess.Popen(
        pytest_words(tests),
        cwd=copy,
        env=environment(copy) | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=limited,
    )
    try:
        return begun.wait(seconds) != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(begun.pid, signal.SIGKILL)
        begun.wait()
