"""The configuration file: strict TOML, an error names the key and the line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core.fio.sizes import parse_size
from app.core.https_hosts import parse_endpoints
from app.core.themes import THEMES
from app.core.toml_table import Parse, absolute_path, flag, read_toml, text, whole_number
from backends.errors import InvalidValueError, NotFoundError, RefusedError, ToolFailedError
from backends.input_file import MEBIBYTE, read_input
from backends.system.local.file_replacement import read_whole, replace_whole
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from backends.system.https.endpoint import HttpsEndpoint


class ConfigError(InvalidValueError):
    """The configuration file cannot be used as it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a user may set once and for all; every field has a default."""

    fps: int = 10
    """Redraws of the live graphs per second, 1 to 30; less over a slow link."""
    theme: str = "auto"
    """Colours of the workbench."""
    ascii: bool = False
    """Draw with ASCII only."""
    scratch_dir: str | None = None
    """Folder for scratch files; without one the target is asked for."""
    scratch_size: int | None = None
    """Bytes of a new scratch file; without it the built-in size."""
    profile: str = "randread-4k"
    """The workload when none is named."""
    firmware_queries: bool = True
    """Ask MegaRAID cards that no tool manages what they are; off, their management node is never opened."""
    lend_in_use: bool = False
    """Only where the root helper reads it: programs of users are given what is mounted to read, content and all."""
    steady_cap: int = 1800
    """Seconds to wait for the steady state at most."""
    steady_round: int = 10
    """Seconds of a round; shorter ones are steady too easily."""
    steady_rounds: int = 5
    """Rounds that are judged together."""
    devices_columns: tuple[str, ...] = ()
    """Columns of the list of devices; without any the usual ones."""
    devices_order: str = "address"
    """What it is sorted by."""
    state_file: str | None = None
    """File of settings that the workbench holds the machine against."""
    endurance_tbw: Mapping[str, float] = field(default_factory=dict)
    """Terabytes that drives are rated to have written to them, by model: `{"SAMSUNG MZQLB960HAJR" = 1400}`."""
    santricity: tuple[HttpsEndpoint, ...] = ()
    """Web services of E-Series disk systems: `[santricity.lab]`. Nothing else is ever asked over the network."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by command id: `{"bench.run": "f5"}`."""


def _size(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if isinstance(value, str):
        return parse_size(value)
    raise ValueError('wants a size in quotes, such as "4G"')


def _profile(value: Any) -> str:
    from app.core.fio.profiles import profile

    return profile(text(value)).name


def _theme(value: Any) -> str:
    if text(value) not in THEMES:
        raise ValueError(f"wants one of {', '.join(THEMES)}")
    return text(value)


def _keymap(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("wants a table: [keymap]")
    for name, key in value.items():
        if not isinstance(key, str) or not key.strip():
            raise ValueError(f"wants a key in quotes for {clean(str(name), 40)}")
    return dict(value)


def _endurance(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ValueError("wants a table: [endurance_tbw]")
    for model, amount in value.items():
        if type(amount) not in (int, float) or not 0 < amount < 1e9:
            raise ValueError(f"wants terabytes written, such as 1400, for {clean(str(model), 40)}")
    return dict(value)


def _columns(value: Any) -> tuple[str, ...]:
    from app.core.presentation.device_table import KEYS as COLUMNS

    if not isinstance(value, list) or not all(item in COLUMNS for item in value):
        raise ValueError(f"wants a list of {', '.join(COLUMNS)}")
    return tuple(dict.fromkeys(value))


def _order(value: Any) -> str:
    from app.core.presentation.device_table import ORDERS

    if value not in ORDERS:
        raise ValueError(f"wants one of {', '.join(ORDERS)}")
    return str(value)


KEYS: Mapping[str, Parse[Any]] = {
    "fps": whole_number(1, 30),
    "theme": _theme,
    "ascii": flag,
    "scratch_dir": absolute_path,
    "scratch_size": _size,
    "profile": _profile,
    "firmware_queries": flag,
    "lend_in_use": flag,
    "steady_cap": whole_number(1, 7 * 86400),
    "steady_round": whole_number(1, 3600),
    "steady_rounds": whole_number(3, 25),
    "devices_columns": _columns,
    "devices_order": _order,
    "state_file": absolute_path,
    "endurance_tbw": _endurance,
    "santricity": parse_endpoints,
    "keymap": _keymap,
}
"""Every key there is, and how its value is read."""


def load_config(path: Path, *, required: bool) -> Config:
    """The configuration in `path`; the defaults when the file is missing and not `required`.

    Raises NotFoundError, ConfigError with a sentence naming the key and the line.
    """
    shown = clean(str(path), 200)
    try:
        data = read_input(path, LARGEST)
    except FileNotFoundError:
        if not required:
            return Config()
        raise NotFoundError(f"There is no configuration file {shown}.", hint="Check the path after --config.") from None
    except OSError as error:
        raise ConfigError(
            f"The configuration file {shown} cannot be read: {error.strerror}.",
            hint="Correct the permissions of its folder, or set RAIDBENCH_STATE_DIR or HOME to another folder.",
        ) from error
    return parse_config(data, shown)


def parse_config(data: bytes, shown: str) -> Config:
    """The configuration that a file's bytes make; `shown` is its name in sentences. Raises ConfigError."""
    top = read_toml(data, shown, "a configuration file", ConfigError, _HINT)
    top.require_keys(*KEYS)
    return Config(**{key: top.parse(key, KEYS[key], value) for key, value in top.given.items()})


def save_key(path: Path, key: str, value: str | tuple[str, ...]) -> None:
    """Write one key of the configuration, and leave the rest of the file as somebody wrote it.

    Raises ConfigError where that cannot be done: the file cannot be written, or would not be one any more.
    """
    shown = clean(str(path), 200)
    literal = json.dumps(value, ensure_ascii=False)  # a text or a list of texts: the same in TOML
    try:
        real_path = os.path.realpath(path)  # a link of the user's own stays one
        content = read_whole(real_path)
        before = (content or b"").decode("utf-8")
        lines = re.findall(r"[^\n]*\n|[^\n]+", before)
        at = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
        present = next((number for number in range(at) if lines[number].partition("=")[0].strip() == key), None)
        if present is not None:
            end = "\r\n" if lines[present].endswith("\r\n") else "\n"
            lines[present] = f"{key} = {literal}{end}"
        else:
            lines[:0] = [f"{key} = {literal}\n"]
        after = "".join(lines)
        wanted: dict[str, Any] = {key: value}
        if parse_config(after.encode(), shown) != replace(parse_config(before.encode(), shown), **wanted):
            raise ConfigError(f"{key} of {shown} cannot be kept: it stands there in a way that is not understood.")
        replace_whole(real_path, after.encode(), content, mode=0o600)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key} cannot be kept in {shown}: {error}.") from None
    except (RefusedError, ToolFailedError) as error:
        raise ConfigError(f"{key} cannot be kept in {shown}: {error.message.rstrip('.')}.") from None


LARGEST = MEBIBYTE
"""Bytes of a configuration file."""

_HINT = "Correct it, or start with another file: --config FILE."
