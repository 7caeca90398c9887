"""Write docs/megaraid.md, and the page that says in how many recordings of each tool each field was found.

`python -m tests.backends.megaraid.coverage` writes both; `--check` says whether they are up to date. Recordings of
tools are no part of the project: without them nothing is written.
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

FIELDS_PAGE = PAGE.parent / "dev" / "megaraid-fields.md"
"""The page that says in how many recordings each field was found."""

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
Arguments after the program; `N` is a controller, `V` a virtual drive. `J nolog` ends each command: JSON output, no log
file. If a version refuses `nolog`, the command runs without it in a private folder.

Reads, version 7 (storcli64, storcli, perccli64, perccli):

    show                        list the controllers
    /cN show all                controller, virtual drives and drives
    /cN show                    if `show all` fails; the same for vall, eall/sall, sall
    /cN/vall show all           properties of the virtual drives
    /cN/vV show all             one virtual drive, before and after a change
    /cN/vall show autobgi       background initialisation; /cN/vV for one
    /cN/eall/sall show all      drives in enclosures
    /cN/sall show all           drives without an enclosure
    /cN/eall/sall show rebuild  progress, if a drive is rebuilding; also /cN/sall
    /cN/cv show all             CacheVault
    /cN/bbu show all            battery
    /cN show patrolread
    /cN show cc
    /cN show perfmode           if `Support Perf Tuning` is Yes
    /cN show ncq                and copyback, cachebypass

Reads, version 8 (storcli2, perccli2): the same without cv, bbu, autobgi, perfmode, ncq, copyback and cachebypass, and

    /cN show aso                advanced software options

Changes, one property per command; version 7 only: (7)

    /cN/vV set wrcache=wt|wb|awb
    /cN/vV set rdcache=nora|ra|adra     adra: old controllers (7)
    /cN/vV set iopolicy=direct|cached   (7)
    /cN/vV set pdcache=on|off|default
    /cN/vV set accesspolicy=rw|ro|blocked
    /cN/vV set autobgi=on|off
    /cN/vV set cbsize=0|1|2 cbmode=0|1|2|3|4|7      (7), both in one command
    /cN set rebuildrate=R               bgirate, ccrate, migraterate, prrate: percent
    /cN set cacheflushint=S             seconds (7)
    /cN set patrolread=off              or patrolread=on mode=auto|manual
    /cN set cc=off|seq|conc
    /cN set perfmode=0|1                (7)
    /cN set aso key=KEY preview         shows an activation key, changes nothing
    /cN set aso key=KEY
    /cN/vV del force                    version 8: delete force
    /cN add vd rL [name=NAME] drives=E:S-S,S,... [pdperarray=P] [pdcache=on|off|default] wt|wb|awb
        nora|ra|adra [direct|cached] strip=KB

and those of the table above (7). `force` is needed because the virtual drive contains data; the confirmation shows it.
"""
"""Every command line of storcli and perccli, by purpose; those of `settings` are in their table."""

_HEAD = """# MegaRAID and PERC

Change cache, read-ahead and controller settings of MegaRAID, PERC, ServeRAID, Intel, Lenovo and HPE MR controllers. To
find out what helps, see [tune-raid-controller.md](tune-raid-controller.md).

You need root and one of these tools: storcli64 or perccli64 (version 7), storcli2 or perccli2 (version 8), or MegaCli.
raidbench searches /opt/MegaRAID, /opt/hpe, /opt/lsi and the PATH; `raidbench doctor` shows the result. The tools never
run during a benchmark. Without a tool, see [controllers.md](controllers.md).

Addresses are `megaraid:/c0` (controller), `megaraid:/c0/v1` (virtual drive) and `megaraid:/c0/e245/s4` (drive in
enclosure 245, slot 4).

## Change a virtual drive

<!-- simulated host: lsi -->
```console
$ raidbench set megaraid:/c0/v1 write_cache=write-back read_ahead=none --dry-run
Target           Setting      Now            New         Takes effect  Lasts                Risk
megaraid:/c0/v1  Write cache  write-through  write-back  at once       until changed again  -
...
```

`--trial 60` reverts the change unless you confirm it. `raidbench undo` undoes it. The controller stores the values.

| key | values |
| --- | --- |
| `write_cache` | write-through, write-back, always-write-back |
| `read_ahead` | none, read-ahead; adaptive on old controllers |
| `io_policy` | direct, cached (version 7, MegaCli) |
| `drive_cache` | on, off, default |
| `access_policy` | read-write, read-only, blocked |
| `auto_bgi` | on, off |
| `cache_bypass_mode` | mode and size (version 7) |
| `strip_size` | bytes; **destroys the data** |

- `write-back` without a healthy battery or CacheVault is effectively write-through. raidbench shows both values
  and the reason.
- A change that needs a reset or a reboot shows `pending reboot` until it is effective.
- MegaCli cannot restore `drive_cache=default`. Sweeps, A/B comparisons and trials then omit the setting.

## Change the strip size

The virtual drive is deleted and re-created with the same policies, name, level and drives. **All data on it is lost,
and undo loses it again.**

<!-- simulated host: lsi -->
```console
$ raidbench set megaraid:/c0/v1 strip_size=262144 --dry-run
```

raidbench refuses if the block device is in use, if background work is active, or if an exact re-creation is
impossible: shared or partly filled drive groups, unknown spans, encrypted drives, dedicated hot spares, drives without
an enclosure, and names that need quoting.

After an interruption, `raidbench recover` creates the virtual drive from the serial numbers in the journal. Each drive
must be free.

## Change the controller

These settings affect all arrays. Background work takes bandwidth.

<!-- simulated host: lsi -->
```console
$ raidbench set megaraid:/c0 rebuild_rate=50 --dry-run
```

The rates are `rebuild_rate`, `bgi_rate`, `cc_rate`, `migrate_rate` and `patrol_read_rate`, in percent. `patrol_read`,
`consistency_check`, `cache_flush_interval` and `perf_mode` set the background work and the cache. Others:

{settings}

storcli2 and perccli2 cannot set them. A setting is locked if the tool does not report its value.

An activation key (`activation_key`) appears only in the command that applies it, and in no log.

## Shown, never set

| fact | reason |
|---|---|
{never}

## Commands of storcli and perccli

```
{commands}
```

## Limits

- Exit statuses of these tools are ignored. A change succeeded if the row of the object says so and the new value is
  read back.
- A value that a tool does not report is `null`. An unknown word is `unknown`, with the word in `raw`.
- Changes of the settings in the table are not confirmed on hardware ([evidence](dev/vendor-evidence.md)).
"""

_FIELDS = """# Fields of MegaRAID tools in recordings

For each tool, the number of recordings in which a field was found, of those that contain it. A field that raidbench
fails to read makes the first number smaller.

{table}

## Answers without a recording

Some reads have no recording. These forms are understood (JSON below `Response Data`, any heading):

    autobgi          rows {{"VD": 1, "AutoBGI": "On"}} or {{"VD": 1, "Property": "AutoBGI", "Value": "On"}}
    patrolread, cc   rows {{"Ctrl_Prop": "PR Mode", "Value": "Auto"}}; "PR Current State", "CC Operation Mode" or
                     "CC Mode", "CC Current State": Active N, Paused or Stopped; "PR Execution Delay" and "CC Execution
                     Delay": 168 hours; "PR on SSD": Enabled, OnlyMixed or Disabled; "PR MaxConcurrentPd": 255
    perfmode         row {{"Ctrl_Prop": "Perf Mode", "Value": "0 ..."}}
    ncq, cachebypass rows {{"Ctrl_Prop": "NCQ", "Value": "ON"}}
    copyback         rows named Copyback, Copyback SmartHDD and Copyback SmartSSD, with any blanks between the words
    rebuild          rows {{"Drive-ID": "/c0/e252/s1", "Progress%": 36, "Status": "In progress"}}
    cv, bbu          rows {{"Property": "State" or "Battery State", "Value": "Optimal"}}, "Temperature",
                     "Learn Cycle Active", "Replacement required", "Next Learn time"
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
    return _HEAD.format(commands=_COMMANDS.strip(), settings=settings(), never=never)


def fields_page() -> str:
    """The whole page of the fields."""
    return _FIELDS.format(table=table())


def main() -> int:
    """Write or check. Exit status 1 when there is nothing to count or a page is out of date."""
    if not recordings():
        print("There are no recordings to count.", file=sys.stderr)
        return 1
    pages = {PAGE: page(), FIELDS_PAGE: fields_page()}
    if "--check" in sys.argv[1:]:
        return int(any(path.read_text() != text for path, text in pages.items()))
    for path, text in pages.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
