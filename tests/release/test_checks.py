"""What a checkout must be like for a release, and what it must not cost."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from tests.bench.figures import Figure
from tests.bench.kept import kept
from tests.release.stand_in import run
from tools.package.tree import ROOT
from tools.release.__main__ import main
from tools.release.checks import NotReleasableError, notes, require_releasable
from tools.release.cost import require_cost_of_page
from tools.release.folder import publish
from tools.release.signing import ReleaseKeys


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2026-11-29\n\nNew.\n\n## [1.2.2]\n\nOld.\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return root


def git(root: Path, *words: str) -> None:
    run("git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", *words, cwd=root)


def test_a_tagged_clean_checkout_has_notes(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    assert require_releasable(checkout, "1.2.3") == "## [1.2.3] - 2026-11-29\n\nNew.\n"


def test_a_head_without_the_tag_is_refused(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.4")
    with pytest.raises(NotReleasableError, match=r"HEAD does not have the tag v1\.2\.3"):
        require_releasable(checkout, "1.2.3")


def test_an_uncommitted_file_is_refused(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    (checkout / "new.txt").write_text("x")
    with pytest.raises(NotReleasableError, match=r"1 uncommitted files, new\.txt among them"):
        require_releasable(checkout, "1.2.3")


def test_a_changelog_without_the_version_is_refused(checkout: Path) -> None:
    for version in ("1.2", "1.2.30", "2.0.0"):
        with pytest.raises(NotReleasableError, match="has no section"):
            notes(checkout / "CHANGELOG.md", version)


def test_keys_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotReleasableError, match="must contain gnupg/ and ssh_ed25519"):
        ReleaseKeys.read(tmp_path)


# -- the cost of the version ---------------------------------------------------------------------------------------

PAGE = ROOT / "docs" / "dev" / "performance.md"
BENCH = """
bench: ## the figures are given
\t@cd {root} && {python} -m tests.bench --figures {figures} $(ARGS)
"""


def given(folder: Path, factor: float) -> Path:
    """Write a makefile whose `make bench` compares given figures with the page: one of them is that of the page, times
    `factor`. Return the folder."""
    name, value = next(iter(kept(PAGE.read_text()).items()))
    figures = [Figure(name=each, value=known, low=known, high=known) for each, known in kept(PAGE.read_text()).items()]
    figures[0] = Figure(name=name, value=value * factor, low=value * factor, high=value * factor)
    file = folder / "figures.json"
    file.write_text(json.dumps([dataclasses.asdict(figure) for figure in figures]))
    (folder / "Makefile").write_text(BENCH.format(root=ROOT, python=sys.executable, figures=file))
    return folder


def test_a_version_that_costs_what_the_page_says_is_measured_and_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKEFLAGS", " -- ARGS=--no-such-option")  # what `make release ARGS=...` hands down
    require_cost_of_page(given(tmp_path, 1.0))


def test_a_version_that_costs_more_is_refused_with_both_values(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name, value = next(iter(kept(PAGE.read_text()).items()))
    with pytest.raises(NotReleasableError, match="`make bench` refuses this version; its last lines say why"):
        require_cost_of_page(given(tmp_path, 1.2))
    said = capfd.readouterr().out
    assert f"  {name}: {value * 1.2:.4g}, kept {value:g} (+20%)\n" in said
    assert said.splitlines()[-1].startswith("Fix the cause. Or give the reason")


class Stages:
    """The stages of `make release`, of which nothing is carried out."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self.folder, self.notes, self.passed = folder, "", list[str]()
        command = "tools.release.__main__"
        patch.setattr(f"{command}.require_releasable", lambda *_: "## notes\n")
        patch.setattr(f"{command}.ReleaseKeys.read", lambda _: None)
        patch.setattr(f"{command}.require_program", lambda *_: "")
        patch.setattr(f"{command}.golang.go", lambda: "")
        patch.setattr(f"{command}.require_cost_of_page", self._measure)
        patch.setattr(f"{command}.packaging.build", self._build)
        patch.setattr(f"{command}._build_wheel", lambda _: [])
        patch.setattr(f"{command}.publish", self._publish)
        self.refuse = False
        self._patch = patch

    def run(self, *words: str) -> int:
        """Return the exit status of `make release`."""
        given = ("--out", str(self.folder / "out"), "--keys", str(self.folder), "--url", "https://example.invalid")
        self._patch.setattr("sys.argv", ["release", *given, *words])
        return main()

    def _measure(self, _: Path) -> None:
        self.passed.append("measured")
        if self.refuse:
            raise NotReleasableError("`make bench` refuses this version.")

    def _build(self, *_: object) -> list[Path]:
        self.passed.append("built")
        return []

    def _publish(self, files: list[Path], notes: str, *_: object, **__: object) -> None:
        self.notes = notes


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stages:
    return Stages(monkeypatch, tmp_path)


def test_a_release_is_measured_before_it_is_built(stages: Stages) -> None:
    assert (stages.run(), stages.passed, stages.notes) == (0, ["measured", "built"], "## notes\n")


def test_nothing_is_built_of_a_version_that_costs_too_much(stages: Stages, capsys: pytest.CaptureFixture[str]) -> None:
    stages.refuse = True
    assert (stages.run(), stages.passed) == (1, ["measured"])
    assert capsys.readouterr().err == "release: `make bench` refuses this version.\n"


def test_the_notes_say_when_the_cost_was_not_measured(stages: Stages) -> None:
    assert (stages.run("--not-measured"), stages.passed) == (0, ["built"])
    assert stages.notes == "## notes\n\nThe cost of this version was not measured (`make bench`).\n"


def test_a_release_that_fails_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise NotReleasableError("gpg failed")

    monkeypatch.setattr("tools.release.folder._lay_out", fail)
    with pytest.raises(NotReleasableError):
        publish([], "", tmp_path / "new" / "out", ReleaseKeys(tmp_path, tmp_path, ""), url="", epoch=0)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_component_without_a_known_licence_is_a_sentence(
    stages: Stages, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> list[Path]:
        raise ValueError("x 1.0 declares no known licence.")

    monkeypatch.setattr("tools.release.__main__.packaging.build", refuse)
    assert (stages.run("--not-measured"), stages.notes) == (1, "")
    assert capsys.readouterr().err == "release: x 1.0 declares no known licence.\n"
