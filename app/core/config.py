"""The configuration file: strict TOML. Errors name the key and the line."""

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
    """The configuration file cannot be read, parsed or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Options that the user sets in the configuration file. Every field has a default."""

    fps: int = 10
    """Maximum redraws of the live graphs per second, 1 to 30. A low number suits a slow connection."""
    theme: str = "auto"
    """Colour theme of the workbench, one of `THEMES`."""
    ascii: bool = False
    """Whether to draw with ASCII characters only."""
    scratch_dir: str | None = None
    """Folder for scratch files; None: the user must choose a target."""
    scratch_size: int | None = None
    """Size of a new scratch file in bytes; None for the built-in size."""
    profile: str = "randread-4k"
    """The job profile that is used if the user names none."""
    firmware_queries: bool = True
    """Whether to query MegaRAID controllers directly if no tool manages them. If False, no device node is opened."""
    lend_in_use: bool = False
    """Whether the root helper may let users' programs read devices in use, and so all files on them."""
    steady_cap: int = 1800
    """Maximum wait for the steady state in seconds."""
    steady_round: int = 10
    """Length of a round of the steady state check, in seconds. With short rounds, a run counts as steady too easily."""
    steady_rounds: int = 5
    """Number of last rounds that the steady state check judges together."""
    devices_columns: tuple[str, ...] = ()
    """Columns of the device list; () for the usual columns."""
    devices_order: str = "address"
    """Sort key of the device list."""
    state_file: str | None = None
    """Settings file with which the workbench compares the settings of the machine."""
    endurance_tbw: Mapping[str, float] = field(default_factory=dict)
    """Rated endurance in terabytes written, by drive model: `{"SAMSUNG MZQLB960HAJR" = 1400}`."""
    santricity: tuple[HttpsEndpoint, ...] = ()
    """Web services of E-Series storage systems: `[santricity.lab]`. raidbench queries no other web service."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keyboard keys by command id: `{"bench.run": "f5"}`."""


def _size(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if isinstance(value, str):
        return parse_size(value)
    raise ValueError('must be a size in quotes, such as "4G"')


def _profile(value: Any) -> str:
    from app.core.fio.profiles import profile

    return profile(text(value)).name


def _theme(value: Any) -> str:
    if text(value) not in THEMES:
        raise ValueError(f"must be one of {', '.join(THEMES)}")
    return text(value)


def _keymap(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("must be a table: [keymap]")
    for name, key in value.items():
        if not isinstance(key, str) or not key.strip():
            raise ValueError(f"needs quotes around the key {clean(str(name), 40)}")
    return dict(value)


def _endurance(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ValueError("must be a table: [endurance_tbw]")
    for model, amount in value.items():
        if type(amount) not in (int, float) or not 0 < amount < 1e9:
            raise ValueError(f"needs terabytes written, such as 1400, for {clean(str(model), 40)}")
    return dict(value)


def _columns(value: Any) -> tuple[str, ...]:
    from app.core.presentation.device_table import KEYS as COLUMNS

    if not isinstance(value, list) or not all(item in COLUMNS for item in value):
        raise ValueError(f"must be a list of {', '.join(COLUMNS)}")
    return tuple(dict.fromkeys(value))


def _order(value: Any) -> str:
    from app.core.presentation.device_table import ORDERS

    if value not in ORDERS:
        raise ValueError(f"must be one of {', '.join(ORDERS)}")
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
"""All keys of the configuration file, each with the function that parses its value."""


def load_config(path: Path, *, required: bool) -> Config:
    """Return the configuration in the file `path`.

    If the file is missing, return the defaults, unless it is `required`. Raises NotFoundError if a required file is
    missing, ConfigError if the file cannot be read or is invalid. The message names an invalid key and its line.
    """
    shown = clean(str(path), 200)
    try:
        data = read_input(path, LARGEST)
    except FileNotFoundError:
        if not required:
            return Config()
        raise NotFoundError(
            f"The configuration file {shown} does not exist.", hint="Check the path after --config."
        ) from None
    except OSError as error:
        raise ConfigError(
            f"The configuration file {shown} cannot be read: {error.strerror}.",
            hint="Correct the permissions of its folder, or set RAIDBENCH_STATE_DIR or HOME to another folder.",
        ) from error
    return parse_config(data, shown)


def parse_config(data: bytes, shown: str) -> Config:
    """Return the configuration in the bytes of a file. `shown`: name of the file in error messages.

    Raises ConfigError for an invalid configuration.
    """
    top = read_toml(data, shown, "a configuration file", ConfigError, _HINT)
    top.require_keys(*KEYS)
    return Config(**{key: top.parse(key, KEYS[key], value) for key, value in top.given.items()})


def save_key(path: Path, key: str, value: str | tuple[str, ...]) -> None:
    """Write one key to the configuration file, and leave the rest of the file unchanged.

    Raises ConfigError if the file cannot be written, or if the result would not be a valid configuration.
    """
    shown = clean(str(path), 200)
    literal = json.dumps(value, ensure_ascii=False)  # JSON strings and lists of strings are valid TOML, too
    try:
        real_path = os.path.realpath(path)  # if the file is a symbolic link, its target is replaced
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
            raise ConfigError(
                f"{key} cannot be saved in {shown}: the file already has it in a form that "
                "raidbench does not understand."
            )
        replace_whole(real_path, after.encode(), content, mode=0o600)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key} cannot be saved in {shown}: {error}.") from None
    except (RefusedError, ToolFailedError) as error:
        raise ConfigError(f"{key} cannot be saved in {shown}: {error.message.rstrip('.')}.") from None


LARGEST = MEBIBYTE
"""Maximum size of a configuration file in bytes."""

_HINT = "Correct the file, or use another one: --config FILE."
