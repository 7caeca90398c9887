"""The configuration file: strict TOML, an error names the key and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.engine.fio.sizes import parse_size
from backends.errors import InvalidValueError, NotFoundError
from backends.text import clean


class ConfigError(InvalidValueError):
    """The configuration file cannot be used as it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a user may set once and for all; every field has a default."""

    fps: int = 10
    """Redraws of the live graphs per second, 1 to 30; less over a slow link."""
    theme: str | None = None
    """Colour theme of the workbench; None is its own."""
    ascii: bool = False
    """Draw with ASCII only."""
    scratch_dir: str | None = None
    """Folder for scratch files; None asks."""
    scratch_size: int | None = None
    """Bytes of a new scratch file; None is the built-in size."""
    profile: str = "randread-4k"
    """The workload when none is named."""
    firmware_queries: bool = True
    """Ask MegaRAID cards that no tool manages what they are; off, their management node is never opened."""
    steady_cap: int = 1800
    """Seconds to wait for the steady state at most."""
    steady_round: int = 10
    """Seconds of a round; shorter ones are steady too easily."""
    steady_rounds: int = 5
    """Rounds that are judged together."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by command id: `{"bench.run": "f5"}`."""


def _whole(minimum: int, maximum: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"wants a whole number from {minimum} to {maximum}")
        if not minimum <= value <= maximum:
            raise ValueError(f"cannot be {value}: {minimum} to {maximum}")
        return value

    return parse


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("wants a text in quotes")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("wants true or false")
    return value


def _size(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if isinstance(value, str):
        try:
            return parse_size(value)
        except InvalidValueError as error:
            raise ValueError(f"wants a size: {error.message}") from None
    raise ValueError('wants a size in quotes, such as "4G"')


def _profile(value: Any) -> str:
    from app.engine.fio.profiles import PROFILES

    name = _text(value)
    if name not in PROFILES:
        raise ValueError(f"names no workload; there are {', '.join(PROFILES)}")
    return name


def _folder(value: Any) -> str:
    path = Path(_text(value)).expanduser()
    if not path.is_absolute():
        raise ValueError("wants an absolute path")
    return str(path)


def _keymap(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("wants a table: [keymap]")
    for name, key in value.items():
        if not isinstance(key, str) or not key.strip():
            raise ValueError(f"wants a key in quotes for {clean(str(name), 40)}")
    return dict(value)


KEYS: Mapping[str, Callable[[Any], Any]] = {
    "fps": _whole(1, 30),
    "theme": _text,
    "ascii": _flag,
    "scratch_dir": _folder,
    "scratch_size": _size,
    "profile": _profile,
    "firmware_queries": _flag,
    "steady_cap": _whole(1, 7 * 86400),
    "steady_round": _whole(1, 3600),
    "steady_rounds": _whole(3, 25),
    "keymap": _keymap,
}
"""Every key there is, and how its value is read."""


def load_config(path: Path, *, required: bool) -> Config:
    """The configuration in `path`; the defaults when the file is missing and not `required`.

    Raises NotFoundError, ConfigError with a sentence naming the key and the line.
    """
    shown = clean(str(path), 200)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if not required:
            return Config()
        raise NotFoundError(f"There is no configuration file {shown}.", hint="Check the path after --config.") from None
    except OSError as error:
        raise ConfigError(f"The configuration file {shown} cannot be read: {error.strerror}.") from error
    return parse_config(data, shown)


def parse_config(data: bytes, shown: str) -> Config:
    """The configuration that a file's bytes make; `shown` is its name in sentences. Raises ConfigError."""
    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{shown} is not a configuration file: it is not text (byte {error.start}).", hint=_HINT
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = clean(str(error), 160) or "nested too deeply"
        raise ConfigError(f"{shown} is not valid TOML: {reason}.", hint=_HINT) from None
    values: dict[str, Any] = {}
    for key, value in table.items():
        parse = KEYS.get(key)
        if parse is None:
            raise ConfigError(
                f"{shown}, line {_line(text, key)}: there is no key {clean(key, 40)!r}.",
                hint=f"The keys are: {', '.join(KEYS)}.",
            )
        try:
            values[key] = parse(value)
        except ValueError as error:
            raise ConfigError(f"{shown}, line {_line(text, key)}: {key} {error}.", hint=_HINT) from None
    return Config(**values)


_HINT = "Correct it, or start with another file: --config FILE."


def _line(text: str, key: str) -> int:
    """The line a top-level key or table is set on, 1 if it cannot be found."""
    quoted = re.escape(key)
    pattern = re.compile(rf"""^\s*(?:\[+\s*)?["']?{quoted}["']?\s*(?:=|\]|\.)""")
    return next((number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line)), 1)
