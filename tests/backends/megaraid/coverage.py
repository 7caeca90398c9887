"""Writes docs/megaraid.md: the commands used, and for how many recordings of each tool each field was found.

`python -m tests.backends.megaraid.coverage` writes it; `--check` says whether it is up to date. Recordings of tools
are no part of the project: without them nothing is written.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from backends.errors import InvalidValueError
from backends.vendors.megaraid.facts import NEVER_SET
from backends.vendors.megaraid.megacli.settings import card_commands as megacli_words
from backends.vendors.megaraid.settings import CARD_CHOICES, CARD_SPANS, MORE_CARD_SETTINGS
from backends.vendors.megaraid.storcli.commands import card_arguments
from tests.backends.megaraid.megacli_fields import KINDS as MEGACLI_KINDS
from tests.backends.megaraid.megacli_fields import found_fields
from tests.backends.megaraid.recordings import SAMPLES, commands, recordings, text_of, tool_of
from tests.backends.megaraid.storcli_fields import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "megaraid.md"
"""The page."""

TOOLS = ("storcli", "perccli", "storcli2", "perccli2", "megacli")
"""Columns of the table."""

_SAME = {
    "WWN": "world wide name",
    "link": "link speed",
    "package": "firmware package",
    "cache": "cache size",
    "members": "drives",
    "operations": "supported operations",
    "media errors": "errors",
}
"""Fields that the two counts call by different names."""

_COMMANDS = """
Words after the program (the path from `tools`), `N` a card, `V` a virtual drive. `J nolog` ends each of them: JSON,
and no log file in the working directory. Where a build refuses `nolog` the same line runs once more without it
(storcli 7.1508 knows it for some commands only; it drops its log into a private empty folder then).

Reads of version 7 (storcli64, storcli, perccli64, perccli):

    show J nolog                        which cards it sees
    /cN show all J nolog                card, policies, supported operations, topology, lists of volumes and drives
                                        (also once, for its PCI address, where MegaCli has to be asked beside)
    /cN show J nolog                    where the tool dies of `show all` or says nothing; so for vall, eall/sall, sall
    /cN/vall show all J nolog           properties of the volumes (if there is one)
    /cN/vV show all J nolog             of one volume (read again before and after a change)
    /cN/vall show autobgi J nolog       background initialisation (if there is a volume)
    /cN/vV show autobgi J nolog         of one volume
    /cN/eall/sall show all J nolog      drives in enclosures (if there is one)
    /cN/sall show all J nolog           drives without an enclosure (if there is one)
    /cN/eall/sall show rebuild J nolog  progress, only if a drive is rebuilding; /cN/sall without an enclosure
    /cN/cv show all J nolog             CacheVault, and
    /cN/bbu show all J nolog            battery: the one that `show all` names; both, this one second, if it names none
    /cN show patrolread J nolog         mode and whether it runs
    /cN show cc J nolog                 mode and whether it runs
    /cN show perfmode J nolog           if `Support Perf Tuning` is Yes
    /cN show ncq J nolog                and copyback, cachebypass: one each

Reads of version 8 (storcli2, perccli2): the same without cv, bbu, autobgi, perfmode, ncq, copyback and
cachebypass (their values, if any, are in `show all`), and with

    /cN show aso J nolog                advanced software options

Changes, both versions, one property a command (version 8 takes no more):

    /cN/vV set wrcache=wt|wb|awb
    /cN/vV set rdcache=nora|ra|adra     adra: old cards of version 7 only
    /cN/vV set iopolicy=direct|cached   version 7 only
    /cN/vV set pdcache=on|off|default
    /cN/vV set accesspolicy=rw|ro|blocked
    /cN/vV set autobgi=on|off
    /cN/vV set cbsize=0|1|2 cbmode=0|1|2|3|4|7      version 7 only, both in one command
    /cN set rebuildrate=R  bgirate=R  ccrate=R  migraterate=R  prrate=R        one each, R in percent
    /cN set cacheflushint=S             seconds, version 7 only
    /cN set patrolread=off              or  /cN set patrolread=on mode=auto|manual
    /cN set cc=off|seq|conc
    /cN set perfmode=0|1                version 7 only, like all up to cc delay:
    /cN set ncq=on|off  cachebypass=on|off  autorebuild=on|off  loadbalancemode=on|off        one each
    /cN set copyback=on|off type=ctrl|smarthdd|smartssd
    /cN set smartpollinterval=S         seconds
    /cN set patrolread delay=H          hours, or maxconcurrentpd=N, or includessds=on|onlymixed|off
    /cN set cc delay=H                  hours
    /cN set aso key=KEY preview         looks at an activation key, changes nothing
    /cN set aso key=KEY
    /cN/vV del force                    version 8: delete force
    /cN add vd rL [name=NAME] drives=E:S-S,S,... [pdperarray=P] [pdcache=on|off|default] wt|wb|awb
        nora|ra|adra [direct|cached] strip=KB

Of some reads there is no recording; these forms are understood (JSON under `Response Data`, any heading):

    autobgi          rows {"VD": 1, "AutoBGI": "On"} or {"VD": 1, "Property": "AutoBGI", "Value": "On"}
    patrolread, cc   rows {"Ctrl_Prop": "PR Mode", "Value": "Auto"}; "PR Current State", "CC Operation Mode" or
                     "CC Mode", "CC Current State": Active N, Paused or Stopped; "PR Execution Delay" and "CC Execution
                     Delay": 168 hours; "PR on SSD": Enabled, OnlyMixed or Disabled; "PR MaxConcurrentPd": 255
    perfmode         row {"Ctrl_Prop": "Perf Mode", "Value": "0 ..."}
    ncq, cachebypass rows {"Ctrl_Prop": "NCQ", "Value": "ON"}
    copyback         rows named Copyback, Copyback SmartHDD and Copyback SmartSSD, whatever the blanks between the words
    rebuild          rows {"Drive-ID": "/c0/e252/s1", "Progress%": 36, "Status": "In progress"}
    cv, bbu          rows {"Property": "State" or "Battery State", "Value": "Optimal"}, "Temperature",
                     "Learn Cycle Active", "Replacement required", "Next Learn time"

`size` is not said: all of the drives is the default of every build; its word is `all` for old ones and `remaining`
from 7.1704 on.

`force` is there because the volume holds data by definition when it is created again; it only ever runs after the
typed confirmation, which shows it (without it the tool refuses and nothing else is done).

Sources: `storcli help`, the recordings and field reports listed in docs/megaraid.md.
"""
"""Every command line of storcli and perccli, by what it is for."""

_HEAD = """# MegaRAID

raidbench speaks to MegaRAID cards, and to the PERC, ServeRAID, Intel, Lenovo and HPE MR cards that are such, through
the vendor's own tool: storcli64 or perccli64 (version 7), storcli2 or perccli2 (version 8), or MegaCli where there is
nothing newer. It looks in /opt/MegaRAID, /opt/hpe and /opt/lsi, then on PATH, asks each tool it finds which cards it
sees, and keeps the one that sees them; `raidbench doctor` says what was tried. A tool is asked only when you look at
something or change something, one command at a time per card, and never while a benchmark runs.

## What is believed, and what is not

- A change is done when the row of the very object says so and the value read back is the wanted one. Exit statuses
  decide nothing: these tools exit 0 with failed rows and 46 with good tables.
- Write-back without a healthy battery or CacheVault is write-through. What is set is shown, and what is in force, and
  why.
- What a tool does not report is `null`; what is not understood is `unknown`, with the tool's word in `raw`.
- Codes 89 (0x59), 116 and 132 mean: accepted, in force after a controller reset or a reboot. The setting reads
  `pending reboot` until the card shows the new value.
- Another strip size means to delete the virtual drive and to make it again. That is refused while anything uses the
  block device, while work is under way, and for every shape that could not be made again exactly: shared or partly
  filled drive groups, spans that are not understood, encrypted drives, drives with a hot spare of their own, drives
  without an enclosure, names that need quoting.
- It comes back with the policies and the name that it had, which are in the log; level, number and drives are those of
  the card as it is now, and another level is refused. Where it was deleted and a crash kept it from being made,
  `recover` makes it of the drives by the serial numbers that are in the journal: each has to be free (unconfigured
  good, in no array, no spare, not foreign).
- An activation key is in the one command that applies it, and in no log, journal, session or dialog.

## Commands of storcli and perccli

```
{commands}
```

## Settings of the controller

Each concerns all arrays of the controller. Patrol read, consistency check and copyback take bandwidth from the arrays
while they run. No answer of hardware to a change of these settings has been recorded: the value read back is the only
verdict. A setting is locked where the tool does not report its present value, because it could not be put back then.
The words are those of `storcli help` (7.2707) and `MegaCli -h` (8.07.14). No usage of storcli2 and perccli2 that lists
them is known: they are not set with these tools.

{settings}

With MegaCli, `drive_cache` may be changed where it is `Disk's Default`, the usual state. MegaCli has no command that
puts the default back; the review says so, and sweeps, A/B and trials leave the setting out. storcli has one
(`pdcache=default`).

## Shown, never set

| fact | why it is not set |
|---|---|
{never}

## Fields found in recordings

For how many recordings of each tool a field was found, of those that show it. A recording that shows a field which the
result lacks would make the first number the smaller one.

{table}
"""


def table() -> str:
    """The table in Markdown."""
    shown: Counter[tuple[str, str, str]] = Counter()
    found: Counter[tuple[str, str, str]] = Counter()
    order: dict[tuple[str, str], None] = {}
    known = commands()

    def count(tool: str, kind: str, fields: Mapping[str, bool]) -> None:
        for name, yes in fields.items():
            order.setdefault((kind, name))
            shown[tool, kind, name] += 1
            found[tool, kind, name] += yes

    for path in recordings():
        for kind, look in KINDS.items():
            count(tool_of(path, known), kind, look(text_of(path)))
    for path in sorted((SAMPLES / "lsi" / "megacli").glob("*")):
        for kind in MEGACLI_KINDS:
            fields = {_SAME.get(name, name): yes for name, yes in _megacli(path, kind).items()}
            count("megacli", {"volumes": "virtual drives"}.get(kind, kind), fields)
    kinds = list(dict.fromkeys(kind for kind, _ in order))
    lines = [f"| | {' | '.join(TOOLS)} |", "|---" * (len(TOOLS) + 1) + "|"]
    for kind in kinds:
        lines.append(f"| **{kind}** |" + " |" * len(TOOLS))
        for name in (name for other, name in order if other == kind):
            cells = [_cell(found[tool, kind, name], shown[tool, kind, name]) for tool in TOOLS]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def settings() -> str:
    """The table of the controller's settings: what each tool is told, as it is planned."""
    lines = ["| setting | values | storcli 7, perccli | MegaCli |", "|---|---|---|---|"]
    for setting in MORE_CARD_SETTINGS:
        key = setting.key
        span = CARD_SPANS.get(key)
        values = [choice.value for choice in CARD_CHOICES[key]] if span is None else [str(span.minimum)]
        legal = ", ".join(values) if span is None else f"{span.minimum} to {span.maximum} {span.unit}"
        new = " ".join(("set", *card_arguments(key, values[0])))
        old = _told(key, values[0])
        lines.append(f"| `{key}` | {legal} | `{new}` | {old} |")
    return "\n".join(lines)


def _told(key: str, value: str) -> str:
    try:
        (line,) = megacli_words(0, key, value)
    except InvalidValueError:
        return "-"
    return f"`{' '.join(line[:-2])}`"


def _megacli(path: Path, kind: str) -> Mapping[str, bool]:
    look: Callable[[str, str], Mapping[str, bool]] = found_fields
    return look(text_of(path), kind)


def _cell(found: int, shown: int) -> str:
    return f"{found} of {shown}" if shown else "-"


def page() -> str:
    """The whole page."""
    never = "\n".join(f"| {label} | {why} |" for label, why in NEVER_SET.items())
    return _HEAD.format(commands=_COMMANDS.strip(), table=table(), settings=settings(), never=never)


def main() -> int:
    """Write or check. Exit status 1 when there is nothing to count or the page is out of date."""
    if not recordings():
        print("There are no recordings to count.", file=sys.stderr)
        return 1
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text() != page())
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
