"""A 3ware 9650SE with one unit and its tw_cli: the tables, and what may be set."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.racks.printed import Said
from backends.values import dataclass

_SET = re.compile(r"(cache|rdcache|autoverify|storsave|qpolicy)=(\w+)")
_ASKS = ("cache", "storsave")
"""What has `quiet` in the usage."""

_POLICIES = {"protect": "protection", "balance": "balance", "perform": "performance"}
_ROW = "{:<6}{:<10}{:<15}{:<8}{:<8}{:<8}{:<10}{:<7}{:<7}"


@dataclass(slots=True, kw_only=True)
class ThreewareDemo:
    """Four drives in a RAID 5, with or without a battery."""

    write: bool = True
    """Whether writes are cached."""
    read: str = "intelligent"
    """`off`, `basic`, `intelligent`."""
    verify: bool = True
    """Whether it verifies by itself."""
    battery: str = "OK"
    """`-` for none."""
    status: str = "OK"
    """Of the unit."""
    storsave: str = "protect"
    """`protect`, `balance`, `perform`."""
    queues: bool = True
    """Whether drives get several commands at once."""

    def said(self, words: Sequence[str]) -> Said:
        """What tw_cli prints, and what it does to the card."""
        match list(words):
            case ["info"]:
                row = f"c0    9650SE-4LPML 4         4        1       0       2       3      {self.battery}"
                return _table("Ctl   Model        (V)Ports  Drives   Units   NotOpt  RRate   VRate  BBU", [row])
            case ["info", "c0", "unitstatus"]:
                title = _ROW.format(
                    "Unit", "UnitType", "Status", "%RCmpl", "%V/I/M", "Stripe", "Size(GB)", "Cache", "AVrfy"
                )
                cells = ("u0", "RAID-5", self.status, "-", "-", "64K", "1396.93", self._cache(), _on(self.verify))
                return _table(title, [_ROW.format(*cells)])
            case ["info", "c0", "drivestatus"]:
                rows = [f"p{n}    OK             u0   465.76 GB SATA  {n}   -            WD5000YS" for n in range(4)]
                return _table("VPort Status         Unit Size      Type  Phy Encl-Slot    Model", rows)
            case ["info", "c0", "bbustatus"]:
                ready = "Yes" if self.battery == "OK" else "No"
                row = f"bbu   On           {ready:<10}{self.battery:<10}OK       OK       93     24-Jul-2012"
                return _table("Name  OnlineState  BBUReady  Status    Volt     Temp     Hours  LastCapTest", [row])
            case ["/c0/u0", "show", "storsave"]:
                return Said(text=f"/c0/u0 Storsave Policy = {_POLICIES[self.storsave]}\n", seconds=0.4)
            case ["/c0/u0", "show", "qpolicy"]:
                return Said(text=f"/c0/u0 Command Queuing Policy = {_on(self.queues).lower()}\n", seconds=0.4)
            case ["/c0/u0", "set", what, *quiet] if found := _SET.fullmatch(what):
                if quiet != (["quiet"] if found[1] in _ASKS else []):
                    return Said(text="Error: (CLI:009) Invalid command.\n", code=1)
                return self._set(found[1], found[2])
            case _:
                return Said(text="Error: (CLI:008) Invalid ID specified.\n", code=1)

    def _set(self, word: str, value: str) -> Said:
        names = {"cache": "Write Cache Policy", "rdcache": "Read Cache Policy", "autoverify": "Auto Verify Policy"}
        names |= {"storsave": "Storsave Policy", "qpolicy": "Command Queuing Policy"}
        what = f"Setting {names[word]} on /c0/u0 to [{value}] ..."
        switch = {"on": True, "off": False}.get(value)
        if word == "cache" and switch and self.battery not in ("-", "OK"):
            return Said(text=f"{what} Failed.\n(0x0B:0x0017): Battery is not ready\n", code=1, seconds=1)
        if word == "rdcache" and value in ("off", "basic", "intelligent"):
            self.read = value
        elif word == "cache" and switch is not None:
            self.write = switch
        elif word == "autoverify" and switch is not None:
            self.verify = switch
        elif word == "qpolicy" and switch is not None:
            self.queues = switch
        elif word == "storsave" and value in _POLICIES:
            self.storsave = value
        else:
            return Said(text=f"{what} Failed.\n", code=1, seconds=1)
        return Said(text=f"{what} Done.\n", seconds=1, changed=True)

    def _cache(self) -> str:
        read = {"off": "", "basic": "Rb", "intelligent": "Ri"}[self.read]
        return (read + ("W" if self.write else "")) or "OFF"


def _table(title: str, rows: Sequence[str]) -> Said:
    lines = ["", title, "-" * len(title.rstrip()), *rows, "", ""]
    return Said(text="\n".join(lines), seconds=0.4)


def _on(switch: bool) -> str:
    return "ON" if switch else "OFF"
