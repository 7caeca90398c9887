"""Completion for bash, zsh and fish as files: what click writes for an eval."""

from __future__ import annotations

from pathlib import Path

from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from app.cli.main import cli

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


def scripts() -> dict[str, str]:
    """The script of each shell."""
    made = {}
    for shell, kind in _SHELLS.items():
        complete = kind(cli, {}, "raidbench", "_RAIDBENCH_COMPLETE")
        made[shell] = (
            complete.source_template % complete.source_vars()
        )  # source() would start a bash to ask its version
    return made


def write(folder: Path) -> None:
    """Put them into `folder` as raidbench.bash, raidbench.zsh, raidbench.fish."""
    folder.mkdir(parents=True, exist_ok=True)
    for shell, text in scripts().items():
        (folder / f"raidbench.{shell}").write_text(text, "ascii")
