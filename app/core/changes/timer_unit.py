"""Units of systemd that do something of raidbench's again and again: a service, and the timer that starts it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.changes.boot_unit import unit_word

_SERVICE = """\
# /etc/systemd/system/{name}.service
[Unit]
Description={what}

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
Description={what}, by the clock

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
    what: str,
    calendar: str,
    spread: str,
    environment: Mapping[str, str],
    well: Sequence[int] = (),
) -> str:
    """`which` of them, `service`, `timer` or `both`, each below the path where it belongs.

    `calendar` and `spread`: as in systemd.timer(5). `well`: exit statuses besides 0 that are no failure. Raises
    RefusedError for words that a unit cannot hold.
    """
    service = _SERVICE.format(
        name=name,
        what=what,
        environment="".join(f"Environment={unit_word(f'{key}={value}')}\n" for key, value in environment.items()),
        command=" ".join(map(unit_word, command)),
        more=f"SuccessExitStatus={' '.join(map(str, well))}\n" if well else "",
    )
    timer = _TIMER.format(name=name, what=what, calendar=calendar, spread=spread)
    return {"service": service, "timer": timer}.get(which, f"{service}\n{timer}")
