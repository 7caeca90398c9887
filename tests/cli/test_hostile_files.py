"""Every file that a command takes: what is none, is too large or holds absurd numbers ends in a sentence at once."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

DIGITS = "9" * 5000


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # a path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(before)


def _zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _holding(text: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_text(text)

    return make


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, 300 << 20)


KINDS: dict[str, Callable[[Path], None]] = {
    "named pipe": _fifo,
    "socket": _socket,
    "endless device": _zero,
    "folder": Path.mkdir,
    "link to itself": _loop,
    "300 MiB": _large,
}
TEXTS: dict[str, Callable[[Path], None]] = {
    "integer of 5,000 digits": _holding(f"fps = {DIGITS}\n"),
    "hexadecimal integer": _holding(f"fps = 0x{'f' * 5000}\n"),
    "integer in a list": _holding(f"fps = [[{DIGITS}]]\n"),
    "integer beyond 64 bits": _holding("fps = 9223372036854775808\n"),
    "deep list": _holding("fps = " + "[" * 100_000),
    "deep table": _holding("fps = " + "{a = " * 100_000),
    "long key": _holding(".".join(["a"] * 200_000) + " = 1\n"),
    "long quoted key": _holding(".".join(['"a"'] * 200_000) + " = 1\n"),
    "long header": _holding("[" + ".".join(["a"] * 200_000) + "]\n"),
    "no number": _holding("fps = nan\n"),
    "huge exponent": _holding("fps = 1e999999\n"),
    "NUL": _holding("fps = \0\n"),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "config": ("--config", "FILE", "--demo", "devices"),
    "apply": ("--demo", "apply", "FILE"),
    "check": ("--demo", "apply", "FILE", "--check"),
    "watch": ("--demo", "watch", "FILE"),
    "sweep": ("--demo", "sweep", "FILE", "--dry-run"),
    "bench": ("--demo", "bench", "/c0/v0", "--jobfile", "FILE", "--dry-run"),
    "ab": ("--demo", "ab", "/c0/v0", "read_ahead=ra", "--jobfile", "FILE", "--dry-run"),
    "report": ("report", "FILE"),
    "log": ("log", "FILE"),
    "prepare": ("hosts", "prepare", "--hosts", "localhost", "--file", "FILE", "--dry-run"),
    "export": ("--demo", "export", "-o", "FILE"),
    "metrics": ("--demo", "metrics", "-o", "FILE"),
}


def _is_a_sentence(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.status in (1, 2, 3), done.out + done.err
    assert "Internal error" not in done.err
    assert done.err.strip()


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_what_is_no_file_to_read_is_a_sentence(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], make: Callable[[Path], None]
) -> None:
    path = tmp_path / "given.toml"
    make(path)
    before = os.lstat(path)
    _is_a_sentence(cli, tuple(str(path) if word == "FILE" else word for word in words))
    after = os.lstat(path)
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)


@pytest.mark.long
@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("command", ["config", "apply", "sweep", "watch", "export", "bench"])
def test_absurd_toml_is_a_sentence(cli: Cli, tmp_path: Path, command: str, make: Callable[[Path], None]) -> None:
    path = tmp_path / "given.toml"
    make(path)
    _is_a_sentence(cli, tuple(str(path) if word == "FILE" else word for word in COMMANDS[command]))


RECORDED: dict[str, Callable[[dict[str, object]], str]] = {
    "integer of 5,000 digits": lambda data: json.dumps(data)[:-1] + f', "root": {DIGITS}}}',
    "deep list": lambda data: json.dumps(data)[:-1] + ', "x": ' + "[" * 100_000,
    "no number": lambda data: json.dumps(data | {"format": float("nan")}),
    "huge exponent": lambda data: json.dumps(data)[:-1] + ', "format": 1e999999}',
    "a list": lambda data: json.dumps([data]),
}


@pytest.mark.parametrize("change", RECORDED.values(), ids=RECORDED)
def test_an_absurd_recording_is_a_sentence(cli: Cli, machine: str, change: Callable[[dict[str, object]], str]) -> None:
    file = Path(machine) / "machine.json"
    file.write_text(change(json.loads(file.read_text())))
    _is_a_sentence(cli, ("--machine", machine, "devices"))


@pytest.mark.long
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_recording_that_is_no_file_is_a_sentence(cli: Cli, machine: str, make: Callable[[Path], None]) -> None:
    file = Path(machine) / "machine.json"
    file.unlink()
    make(file)
    _is_a_sentence(cli, ("--machine", machine, "devices"))


@pytest.mark.parametrize("make", [make for name, make in KINDS.items() if name != "300 MiB"])
def test_a_session_whose_log_is_no_file_is_a_sentence(cli: Cli, tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "s").mkdir()
    make(tmp_path / "s" / "session.jsonl")
    for words in (("log", str(tmp_path / "s")), ("report", str(tmp_path / "s"))):
        _is_a_sentence(cli, words)


@pytest.mark.parametrize(
    "words",
    [
        ("--demo", "--demo-speed", "nan", "devices"),
        ("--host-timeout", "nan", "devices"),
        ("--demo", "bench", "/c0/v0", "--runtime", DIGITS),
        ("--demo", "bench", "/c0/v0", "--size", DIGITS),
        ("--demo", "bench", "/c0/v0", "--repeat", DIGITS),
        ("--demo", "bench", "/c0/v0", "--stagger", "nan", "--hosts", "a"),
        ("--demo", "ab", "/c0/v0", "read_ahead=ra", "--settle", "nan"),
        ("--demo", "set", "/c0/v0", f"strip_size={DIGITS}", "--yes"),
        ("--demo", "set", "/c0/v0", "read_ahead=ra", "--trial", "nan", "--yes"),
        ("--demo", "history", "--since", DIGITS),
        ("--config", DIGITS, "devices"),
        ("--demo", "apply", DIGITS),
        ("report", DIGITS),
        ("--session", DIGITS, "log"),
        ("--machine", DIGITS, "devices"),
        ("report", "-o", DIGITS),
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_absurd_words_are_a_sentence(cli: Cli, words: tuple[str, ...]) -> None:
    _is_a_sentence(cli, words)


def test_an_absurd_state_folder_is_a_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", f"/{DIGITS}")
    _is_a_sentence(cli, ("--demo", "devices"))


@pytest.mark.parametrize(
    "number", ["9223372036854775808", "-9223372036854775809", f"0x{'f' * 5000}", "[{a = 0xffffffffffffffff}]"]
)
def test_an_integer_beyond_64_bits_is_named(cli: Cli, tmp_path: Path, number: str) -> None:
    path = tmp_path / "given.toml"
    path.write_text(f"fps = {number}\n")
    assert "does not fit into 64 bits" in cli("--config", str(path), "--demo", "devices").err
