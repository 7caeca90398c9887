"""The configuration file: every mistake is named with its key and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Config, ConfigError, load_config, parse_config
from backends.errors import NotFoundError
from tests.case_loop import loop_over


def wrong(text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode() if isinstance(text, str) else text, "config.toml")
    return caught.value.message


def test_a_missing_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path / "none", required=False) == Config()


def test_a_named_file_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load_config(tmp_path / "none", required=True)


def test_every_key_is_read() -> None:
    text = """
    fps = 5
    theme = "light"
    ascii = true
    scratch_dir = "/srv"
    scratch_size = "4G"
    profile = "seqread-4m"
    steady_cap = 600
    state_file = "/etc/raidbench/good.toml"
    [keymap]
    "bench.run" = "f5"
    [endurance_tbw]
    "SAMSUNG MZQLB960HAJR" = 1400
    """
    assert parse_config(text.encode(), "config.toml") == Config(
        fps=5,
        theme="light",
        ascii=True,
        scratch_dir="/srv",
        scratch_size=4 << 30,
        profile="seqread-4m",
        steady_cap=600,
        state_file="/etc/raidbench/good.toml",
        keymap={"bench.run": "f5"},
        endurance_tbw={"SAMSUNG MZQLB960HAJR": 1400},
    )


@loop_over(
    ("text", "said"),
    [
        ("\nfsp = 5", "config.toml, line 2: unknown key 'fsp'."),
        ('fps = "fast"', "config.toml, line 1: fps must be a whole number from 1 to 30."),
        ("fps = true", "config.toml, line 1: fps must be a whole number from 1 to 30."),
        ("fps = 99", "config.toml, line 1: fps must be a whole number from 1 to 30."),
        ("ascii = 1", "config.toml, line 1: ascii must be true or false."),
        ("# x\n\n[keymap]\na = 1", "config.toml, line 3: keymap needs quotes around the key a."),
        (
            "[endurance_tbw]\nM = 0",
            "config.toml, line 1: endurance_tbw needs terabytes written, such as 1400, for M.",
        ),
        ("endurance_tbw = 3", "config.toml, line 1: endurance_tbw must be a table: [endurance_tbw]."),
        ('scratch_size = "big"', "config.toml, line 1: scratch_size: 'big' is not a size."),
        ('profile = "no"', "config.toml, line 1: profile: There is no workload named 'no'."),
        ('theme = " "', "config.toml, line 1: theme must be a quoted string."),
        ('theme = "nord"', "config.toml, line 1: theme must be one of auto, dark, light, terminal."),
        ('scratch_dir = "x"', "config.toml, line 1: scratch_dir must be an absolute path."),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, said: str) -> None:
    assert wrong(text) == said


@pytest.mark.parametrize("text", ["fps = ", "[[[", "a = 1\na = 2"])
def test_what_is_no_toml_is_said(text: str) -> None:
    assert wrong(text).startswith("config.toml is not valid TOML")


def test_binary_data_is_said() -> None:
    assert wrong(b"\x7fELF\xff\xfe") == "config.toml is not a configuration file: byte 4 is not UTF-8 text."


def test_a_deeply_nested_file_is_said() -> None:
    assert wrong("a = " + "[" * 100_000).startswith("config.toml is not valid TOML")
