"""`python -m tests.without FEATURE [PYTEST-WORDS]`: run the other tests in a copy of the checkout without a feature.

The copy lacks the folder of the feature, its line in `app/doors.py`, its tests, and every test file that names one of
its modules, commands or actions. Features that import it are deleted, too. Tests that are marked with
`@pytest.mark.feature("NAME")` are skipped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from app.doors import FEATURES, doors

ROOT = Path(__file__).resolve().parents[1]


def with_dependents(feature: str) -> frozenset[str]:
    """Return a feature and all features that import it, directly or through others."""
    gone = {feature}
    while more := {name for name, imports in FEATURES.items() if gone & set(imports)} - gone:
        gone |= more
    return frozenset(gone)


def delete(features: frozenset[str], copy: Path) -> None:
    """Delete the features from a copy of the checkout, and the test files that name them."""
    for feature in features:
        shutil.rmtree(copy / "app" / "features" / feature)
        shutil.rmtree(copy / "tests" / "features" / feature, ignore_errors=True)
    table = copy / "app" / "doors.py"
    rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
    lines = tuple(f'        "{feature}": ' for feature in features)
    table.write_text("".join(row for row in rows if not row.startswith(lines)), encoding="utf-8")
    names = _names(features)
    for file in sorted((copy / "tests").rglob("*.py")):
        if names.search(file.read_text(encoding="utf-8")):
            file.unlink()
    _delete_importers(copy)


def _names(features: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of the modules, commands and actions of the features."""
    commands = {command for feature in features for command in doors()[feature].commands}
    modules = "|".join(sorted(features))
    return re.compile(
        rf"(?:app|tests)\.features\.(?:{modules})\b"
        rf"|\"(?:{'|'.join(sorted(commands)) or 'no command'})\"|\"(?:{modules})\.\w+\""
    )


def _delete_importers(copy: Path) -> None:
    """Delete test files that import a test file which is gone, until none is left."""
    imported = re.compile(r"^(?:from|import) (tests(?:\.\w+)*)(?: import (\w+))?", re.MULTILINE)
    while True:
        gone = [
            file
            for file in (copy / "tests").rglob("*.py")
            if any(not _exists(copy, *names) for names in imported.findall(file.read_text(encoding="utf-8")))
        ]
        if not gone:
            return
        for file in gone:
            file.unlink()


def _exists(copy: Path, module: str, name: str) -> bool:
    path = copy.joinpath(*module.split("."))
    if path.with_suffix(".py").exists():
        return True
    inner = name and ((path / name).is_dir() or (path / f"{name}.py").exists())
    return bool(inner) or ((path / "__init__.py").exists() and not _was_module(module, name))


def _was_module(module: str, name: str) -> bool:
    path = ROOT.joinpath(*module.split("."))
    return (path / f"{name}.py").exists() or (path / name).is_dir()


def main() -> int:
    """Return the exit status of pytest in the copy."""
    feature, *words = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="raidbench-without-") as folder:
        copy = Path(folder) / "copy"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in listed.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        gone = with_dependents(feature)
        delete(gone, copy)
        print("without", *sorted(gone), flush=True)
        marks = "not (exhaustive or long or browser or prometheus or ansible or package or root or fio)"
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-m",
                marks,
                *(
                    words
                    or ["tests/core", "tests/cli", "tests/tui", "tests/features", "tests/widgets", "tests/privsep"]
                ),
            ],
            cwd=copy,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
