"""Real programs on PATH that behave as storcli has been seen to: what is made of them, in words."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli as group
from backends.errors import ToolFailedError
from backends.system.local import LocalHost
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.storcli import commands
from backends.vendors.megaraid.tools import search
from tests.backends.megaraid import answers
from tests.backends.megaraid.programs import ANSWERS, install, lines_of, log_of

pytestmark = pytest.mark.slow

V1 = volume_target("/c0", 1)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="settings are changed as root only")


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that comes first on PATH."""
    folder = tmp_path / "bin"
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))
    return folder


def devices() -> dict[str, object]:
    result = CliRunner().invoke(group, ["devices", "--json"], prog_name="raidbench")
    assert result.exit_code == 0, result.output
    document: dict[str, object] = json.loads(result.stdout)
    return document


def set_read_ahead() -> tuple[int, str]:
    words = ["set", "megaraid:/c0/v1", "read_ahead=read-ahead", "--yes"]
    result = CliRunner().invoke(group, words, prog_name="raidbench")
    return result.exit_code, result.output


def ours(found: dict[str, object], kind: str) -> list[str]:
    things = found[kind]
    assert isinstance(things, list)
    return [thing["address"] for thing in things if thing["address"].startswith("megaraid:")]


def problems(found: dict[str, object]) -> str:
    told = found["problems"]
    assert isinstance(told, list)
    return " ".join(problem["message"] for problem in told)


@pytest.mark.long
def test_a_program_on_path_is_found_and_asked(path: Path) -> None:
    tool = install(path)
    found = devices()
    assert ours(found, "controllers") == ["megaraid:/c0"]
    assert ours(found, "arrays") == ["megaraid:/c0/v1"]
    assert ours(found, "drives") == [f"megaraid:/c0/e245/s{slot}" for slot in (1, 2, 3)]
    assert all(line.endswith(" J nolog") for line in lines_of(tool))


@pytest.mark.long
def test_a_slow_one_is_waited_for(path: Path) -> None:
    install(path, {"/c0 show all": (0, ANSWERS["/c0 show all"], "slow")}, slow=1.0)
    assert ours(devices(), "arrays") == ["megaraid:/c0/v1"]


@pytest.mark.long
def test_one_that_asks_gets_no_answer_and_hangs_nothing(path: Path) -> None:
    install(path, {"/c0 show all": (0, ANSWERS["/c0 show all"], "asks")})
    found = devices()
    assert ours(found, "arrays") == ["megaraid:/c0/v1"]
    assert "Do you really want to continue? (y/n)" in problems(found)


@pytest.mark.long
def test_a_full_table_with_exit_46_counts(path: Path) -> None:
    rows = [{"Drive": "/c0/e245/s2", "Status": "Failure", "ErrCd": 46, "ErrMsg": "-"}]
    data = {key: value for slot in (1, 3) for key, value in answers.details(f"245:{slot}").items()}
    text = answers.answer(data, status="Failure", description="Show Drive Information Failed.", rows=rows)
    install(path, {"/c0/eall/sall show all": (46, text, "")})
    found = devices()
    assert len(ours(found, "drives")) == 3
    assert "Show Drive Information Failed" in problems(found)


@pytest.mark.long
def test_a_banner_and_bytes_that_are_no_utf_8(path: Path) -> None:
    text = ANSWERS["/c0/vall show all"].replace('"data"', '"\xfa\x19bay"')
    banner = "Generating detailed summary of the adapter, it may take a while to complete.\n\n"
    whole = ANSWERS["/c0 show all"]
    install(path, {"/c0/vall show all": (0, banner + text, ""), "/c0 show all": (0, banner + whole, "")})
    assert ours(devices(), "arrays") == ["megaraid:/c0/v1"]


@pytest.mark.long
def test_one_that_never_ends_is_cut_and_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "READ_SECONDS", 3.0)
    monkeypatch.setattr(commands.read, "__kwdefaults__", {"seconds": 3.0})
    install(path, {"/c0 show all": (0, "", "flood")})
    found = devices()
    assert ours(found, "controllers") == []
    assert problems(found)


@pytest.mark.long
def test_one_that_is_killed_is_told(path: Path) -> None:
    install(path, {"/c0 show all": (0, "", "dies")})
    assert "exit status -9" in problems(devices())


@pytest.mark.long
def test_one_that_knows_no_nolog_is_asked_without(path: Path) -> None:
    tool = install(path, {"/c0 show all": (0, ANSWERS["/c0 show all"], "no-nolog")})
    assert ours(devices(), "arrays") == ["megaraid:/c0/v1"]
    assert "/c0 show all J" in lines_of(tool)


@pytest.mark.long
def test_one_that_prints_text_in_spite_of_j(path: Path) -> None:
    text = "Controller = 0\nStatus = Success\nDescription = None\n\nProduct Name = LSI 9240\nFW Version = 2.1\n"
    install(path, {"/c0 show all": (0, text, "")})
    assert ours(devices(), "controllers") == ["megaraid:/c0"]


def test_no_program_and_no_card_is_no_news(path: Path) -> None:
    told = devices()["problems"]
    assert isinstance(told, list)
    assert [problem for problem in told if problem["where"].startswith("megaraid")] == []


def test_a_program_without_rights_is_not_run(path: Path) -> None:
    tool = install(path)
    tool.chmod(0o644)
    assert ours(devices(), "controllers") == []
    assert lines_of(tool) == []


@needs_root
def test_a_program_that_anybody_may_overwrite_is_not_run_as_root(path: Path) -> None:
    tool = install(path)
    tool.chmod(0o777)
    assert ours(devices(), "controllers") == []
    assert lines_of(tool) == []


async def test_of_two_tools_the_one_that_sees_the_card_is_kept(path: Path) -> None:
    blind = install(path, name="storcli64", whole={"show": answers.NO_CARD})
    seeing = install(path, name="perccli64")
    found = await search(LocalHost())
    assert [one.path for one in found.kept] == [str(seeing)]
    told = [one.sentence() for one in found.tries]
    assert f"{blind} ({answers.VERSION_7}) finds no controller" in told


@pytest.mark.long
async def test_a_tool_that_gives_no_answer_is_told_and_the_other_used(path: Path) -> None:
    install(path, name="storcli64", whole={"show": "Segmentation fault"})
    install(path, name="perccli64")
    backend = MegaRaid(LocalHost())
    found = await backend.inventory()
    assert len(found.controllers) == 1
    assert "Segmentation fault" in " ".join(problem.message for problem in await backend.diagnose())


@pytest.mark.long
@needs_root
async def test_a_set_with_exit_0_and_a_failed_row_is_a_failure(path: Path) -> None:
    install(path, {"/c0/v1 set pdcache=off": (0, answers.failure("SSD Pd is present"), "")})
    backend = MegaRaid(LocalHost())
    change = await backend.plan(V1, "drive_cache", "off")
    with pytest.raises(ToolFailedError, match="SSD Pd is present"):
        await backend.apply(change)


@pytest.mark.long
@needs_root
def test_a_set_that_only_says_success_is_not_believed(path: Path) -> None:
    done = answers.answer(rows=[{"VD": 1, "Property": "rdCache", "Value": "RA", "Status": "Success", "ErrCd": 0}])
    tool = install(path, {"/c0/v1 set rdcache=ra": (0, done, "")})
    status, output = set_read_ahead()
    assert status == 1
    assert "differs" in output
    assert "/c0/v1 set rdcache=ra J nolog" in lines_of(tool)


@pytest.mark.long
@needs_root
def test_a_set_that_fails_says_why_in_the_tools_words(path: Path) -> None:
    install(path, {"/c0/v1 set rdcache=ra": (255, answers.failure("Invalid VD number"), "")})
    status, output = set_read_ahead()
    assert status == 1
    assert "Invalid VD number" in output


@pytest.mark.long
@needs_root
def test_a_set_that_asks_is_not_answered(path: Path) -> None:
    install(path, {"/c0/v1 set rdcache=ra": (0, answers.answer(), "asks")})
    status, output = set_read_ahead()
    assert status == 1
    assert "Do you really want" in output


@pytest.mark.long
@needs_root
def test_an_activation_key_is_in_no_file_of_the_session(path: Path, tmp_path: Path) -> None:
    tool = install(
        path,
        {
            "/c0 set aso key=SECRET-KEY-1234 preview": (0, answers.answer(description="Valid"), ""),
            "/c0 set aso key=SECRET-KEY-1234": (0, answers.failure("reset", 89), ""),
        },
    )
    words = ["set", "megaraid:/c0", "activation_key=SECRET-KEY-1234", "--yes"]
    result = CliRunner().invoke(group, words, prog_name="raidbench")
    assert "SECRET" not in result.output
    assert "pending controller reset" in result.output
    written = [each.read_text(errors="replace") for each in (tmp_path / "state").rglob("*") if each.is_file()]
    assert written
    assert not any("SECRET" in text for text in written)
    assert "SECRET" in log_of(tool).read_text()
