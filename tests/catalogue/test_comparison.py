"""What two trees say, wherever they say it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogue import __main__ as program
from tests.catalogue.comparison import Change, compare, report

PLAN = """def tell(count):
    say(f"{count} runs are left.")
    say("It is over.")
"""
PLAN_MOVED = """say("It is over.")


def report(left):
    say(f"{left} runs are left.")
    say("It is over.")
"""


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    return root


def read(before: Path, after: Path) -> list[Change]:
    return [change for change in compare(before, after) if change.is_read]


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return tree(
        tmp_path / "before",
        {
            "app/features/sweep/engine/plan.py": PLAN,
            "app/features/sweep/cli/sweep.py": 'LIMIT = 3\nsay("It is over.")\nKEY = "key"\n',
            "backends/display_names.py": 'MODULE = "app.features.sweep.engine.plan"\nPACKAGE = "app.cli"\n',
            "app/cli/__init__.py": "",
        },
    )


def test_what_was_moved_renamed_and_joined_is_no_difference(before: Path, tmp_path: Path) -> None:
    after = tree(
        tmp_path / "after",
        {
            "app/features/sweep/plan.py": PLAN_MOVED,
            "backends/simulator/names.py": 'WHERE = "app.features.sweep.plan"\nKEY = "key"\nROOM = "app.terminal"\n',
            "app/terminal/__init__.py": "",
        },
    )
    assert compare(before, after) == []


def test_the_name_of_a_module_that_was_not_moved_along_is_a_difference(before: Path, tmp_path: Path) -> None:
    sources = {str(file.relative_to(before)): file.read_text() for file in before.rglob("*.py")}
    sources["app/features/plan.py"] = sources.pop("app/features/sweep/engine/plan.py")
    after = tree(tmp_path / "after", sources)
    assert [change.text for change in read(before, after)] == ["app.features.sweep.engine.plan"]


def test_what_was_lost_reworded_or_said_less_often_is_named_with_its_place(before: Path, tmp_path: Path) -> None:
    after = tree(tmp_path / "after", {"app/all.py": '\nsay(f"{count} runs remain.")\nsay("It is over.")\n'})
    assert list(report(read(before, after))) == [
        '- "{} runs are left."  app.features.sweep.engine.plan:2',
        '+ "{} runs remain."  app.all:2',
        '~ "It is over."  2 -> 1 times',
        "      before app.features.sweep.cli.sweep:2",
        "      before app.features.sweep.engine.plan:3",
        "      after  app.all:3",
        "1 removed, 1 added, 1 more or less often",
    ]


def test_keys_are_compared_on_demand(before: Path, tmp_path: Path) -> None:
    sources = {str(file.relative_to(before)): file.read_text() for file in before.rglob("*.py")}
    after = tree(
        tmp_path / "after",
        sources | {"app/features/sweep/cli/sweep.py": 'LIMIT = 3\nsay("It is over.")\nKEY = "other"\n'},
    )
    assert read(before, after) == []
    assert [change.text for change in compare(before, after)] == ["key", "other"]


def test_the_command_compares_two_folders(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    after = tree(tmp_path / "after", {"app/all.py": 'say(f"{count} runs are left.", "It is over.")\n'})
    monkeypatch.setattr(sys, "argv", ["catalogue", "--compare", str(before), str(after)])
    assert program.main() == 1
    assert capsys.readouterr().out.endswith("0 removed, 0 added, 1 more or less often\n")
    monkeypatch.setattr(sys, "argv", ["catalogue", "--compare", str(before), str(before)])
    assert program.main() == 0


def test_a_text_that_became_a_key_is_still_there(tmp_path: Path) -> None:
    before = tree(tmp_path / "before", {"app/a.py": 'say("Capacity")\n'})
    after = tree(tmp_path / "after", {"app/a.py": 'say(row["Capacity"])\n'})
    assert compare(before, after) == []


def test_a_text_that_is_lost_is_named_although_there_is_such_a_key(tmp_path: Path) -> None:
    before = tree(tmp_path / "before", {"app/a.py": 'say("Capacity", row["Capacity"])\n'})
    after = tree(tmp_path / "after", {"app/a.py": 'say(row["Capacity"])\n'})
    assert [change.text for change in read(before, after)] == ["Capacity"]


def test_a_file_that_is_no_python_is_named(before: Path) -> None:
    tree(before, {"app/broken.py": "def\n"})
    with pytest.raises(ValueError, match=r"app/broken\.py:1: "):
        compare(before, before)


def test_a_commit_is_compared_with_a_folder(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git = ("git", "-C", str(before), "-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "One")):
        subprocess.run([*git, *words], check=True)
    after = tree(tmp_path / "after", {"app/plan.py": PLAN})
    monkeypatch.setattr(program, "ROOT", before)
    monkeypatch.setattr(sys, "argv", ["catalogue", "--compare", "HEAD", str(after)])
    assert program.main() == 1
    assert '~ "It is over."  2 -> 1 times' in capsys.readouterr().out.splitlines()


def test_a_word_that_may_be_a_key_matters_only_when_it_is_gone(tmp_path: Path) -> None:
    before = tree(
        tmp_path / "before", {"app/a.py": 'say("drive" if one else "drives")\nsay("drive" if two else key)\n'}
    )
    after = tree(tmp_path / "after", {"app/a.py": 'say("drive" if one else key)\n'})
    assert [change.text for change in compare(before, after)] == ["drive", "drives"]
    assert [change.text for change in read(before, after)] == ["drives"]


@pytest.mark.parametrize("wrong", ["no-such-commit", "."])
def test_what_is_no_tree_is_refused(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["catalogue", "--compare", wrong])
    with pytest.raises(SystemExit, match="2"):
        program.main()
    assert wrong in capsys.readouterr().err
