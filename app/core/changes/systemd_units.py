"""systemd units: the unit that reverts trials at boot, and units that run a raidbench command by a timer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.errors import RefusedError, ToolFailedError
from backends.host import Command, Host
from backends.system.local.detached import BOOTED
from backends.system.root_owned import is_owned_by_root
from backends.values import dataclass

NAME = "raidbench-recover.service"
PATH = f"/etc/systemd/system/{NAME}"

_BY_HAND = "Arrange that this machine runs `raidbench recover --trials` at boot, once the disks are available."

_FIRST_LINE = "Written by `raidbench recover --install-unit`; `raidbench recover --remove-unit` removes it."
_OURS = f"# {_FIRST_LINE}\n"
"""First line of a unit file that raidbench has installed."""

_TEXT = """\
# {first_line}
[Unit]
Description={description}
ConditionPathExists={journal}
RequiresMountsFor={folder}
Wants=systemd-udev-settle.service
After=local-fs.target systemd-modules-load.service systemd-udev-trigger.service systemd-udev-settle.service

[Service]
Type=oneshot
{environment}ExecStart={command}
TimeoutStartSec=15min

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootUnit:
    """The planned unit that reverts trials at boot."""

    text: str
    """Content of the unit file."""
    there: bool
    """Whether the unit is installed already with exactly that content."""


async def plan_unit(host: Host, command: Sequence[str], journal: Path) -> BootUnit:
    """Return the unit that runs raidbench with `recover --trials` at boot.

    `command`: the command line that starts raidbench, without a subcommand. Raises RefusedError without systemd or
    root, or if other users could replace the program.
    """
    await _require_systemd(host)
    for word in command:
        if word.startswith("/") and not (is_owned_by_root(word) if word != command[0] else host.which((word,))):
            raise RefusedError(
                (
                    f"{word} is not protected: other users than root can write to a folder of its path. Root must "
                    "not run it at boot."
                ),
                hint="Install raidbench in a folder that only root can write to, then try again.",
            )
    text = unit_text(
        (*command, "recover", "--trials"),
        journal,
        _state_variables(),
        first_line=_FIRST_LINE,
        description="Revert trial storage settings that were not confirmed",
    )
    return BootUnit(text=text, there=await _installed_unit(host) == text.encode())


def unit_text(
    command: Sequence[str], journal: Path, environment: Mapping[str, str], *, first_line: str, description: str
) -> str:
    """Return a unit that runs `command` once at boot.

    The unit starts after the disks are found, and runs only if the file `journal` exists. `first_line`: the comment in
    its first line. Raises RefusedError for text that a unit cannot contain.
    """
    return _TEXT.format(
        first_line=first_line,
        description=description,
        journal=unit_word(str(journal)),
        folder=unit_word(str(journal.parent)),
        **_program(command, environment),
    )


async def install_unit(host: Host, unit: BootUnit) -> None:
    """Write the unit and enable it. A second call changes nothing.

    Raises StorageError, ToolFailedError.
    """
    await host.install(PATH, unit.text.encode(), before=await _installed_unit(host))
    await _systemctl(host, "daemon-reload")
    await _systemctl(host, "enable", NAME)


async def remove_unit(host: Host) -> bool:
    """Disable and remove the unit; return whether there was one. Raises RefusedError, StorageError, ToolFailedError."""
    await _require_systemd(host)
    before = await _installed_unit(host)
    if before is None:
        return False
    await _systemctl(host, "disable", NAME)
    await host.install(PATH, b"", before=before)
    await _systemctl(host, "daemon-reload")
    return True


async def _installed_unit(host: Host) -> bytes | None:
    """Return the content of the unit that `install_unit` wrote earlier; None if there is none.

    Raises RefusedError for a link (such as a masked unit) and for a unit that raidbench did not write.
    """
    content = await host.read_whole(PATH)
    if content and not content.startswith(_OURS.encode()):
        raise RefusedError(
            f"{PATH} was not written by raidbench. It was left unchanged.",
            hint=("Move that unit file away, then try again."),
        )
    return content


async def _require_systemd(host: Host) -> None:
    if await host.stat(BOOTED) is None or host.which(("systemctl",)) is None:
        raise RefusedError("This machine was not booted by systemd, so units cannot be installed.", hint=_BY_HAND)
    if not host.is_root:
        raise RefusedError("Only root may install or remove a unit.", hint="Run the command again with sudo.")


async def _systemctl(host: Host, *arguments: str) -> None:
    command = Command(argv=(host.which(("systemctl",)) or "systemctl", *arguments), mutates=True)
    result = await host.run(command)
    if result.returncode != 0:
        raise ToolFailedError(
            f"systemctl {arguments[0]} failed.",
            hint="The output of systemctl is below.",
            evidence=result.stderr or result.stdout,
        )


def _state_variables() -> dict[str, str]:
    """Return the environment variables that determine the path of the journal."""
    return {name: os.environ[name] for name in ("RAIDBENCH_STATE_DIR",) if name in os.environ}


def _program(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the template fields `environment` and `command`, by field name.

    Raises RefusedError for text that a unit cannot contain.
    """
    variables = (f"Environment={unit_word(f'{name}={value}')}\n" for name, value in environment.items())
    return {"environment": "".join(variables), "command": " ".join(map(unit_word, command))}


def unit_word(text: str) -> str:
    """Return `text`, quoted as one word of a unit file (systemd.service(5), COMMAND LINES).

    Raises RefusedError for text that a unit file cannot contain.
    """
    if not text.isprintable():
        raise RefusedError(f"A unit file cannot contain {text!r}.")
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"' if any(sign in text for sign in " \"\\';#") else text


_SERVICE = """\
# /etc/systemd/system/{name}.service
[Unit]
Description={description}

[Service]
Type=oneshot
{environment}ExecStart={command}
{more}Nice=10
IOSchedulingClass=idle
TimeoutStartSec=10min
"""

_TIMER = """\
# /etc/systemd/system/{name}.timer
[Unit]
Description={description}, by the clock

[Timer]
OnCalendar={calendar}
RandomizedDelaySec={spread}
Persistent=true

[Install]
WantedBy=timers.target
"""


def units_text(
    name: str,
    which: str,
    command: Sequence[str],
    *,
    description: str,
    calendar: str,
    spread: str,
    well: Sequence[int] = (),
) -> str:
    """Return the text of a `service`, a `timer` or `both` (`which`), each after a comment with its file path.

    `calendar` and `spread`: OnCalendar and RandomizedDelaySec of systemd.timer(5). `well`: exit statuses that count as
    success in addition to 0. Raises RefusedError for text that a unit cannot contain.
    """
    service = _SERVICE.format(
        name=name,
        description=description,
        **_program(command, _state_variables()),
        more=f"SuccessExitStatus={' '.join(map(str, well))}\n" if well else "",
    )
    timer = _TIMER.format(name=name, description=description, calendar=calendar, spread=spread)
    return {"service": service, "timer": timer}.get(which, f"{service}\n{timer}")
