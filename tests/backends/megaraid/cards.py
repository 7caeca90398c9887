"""A card played by a dictionary: answers storcli 7 command lines and does what they say. For the backend's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.host import Command, Completed, FileStat
from tests.backends.fakes import FakeHost, disk, machine
from tests.backends.megaraid import answers

TOOL = "/opt/MegaRAID/storcli/storcli64"
PLACES = ("245:1", "245:2", "245:3")

_LETTERS = {"nora": "NR", "ra": "R", "adra": "AR", "wt": "WT", "wb": "WB", "awb": "AWB", "direct": "D", "cached": "C"}
_ACCESS = {"rw": "RW", "ro": "RO", "blocked": "Blkd"}
_INITIAL = {"wt": "WriteThrough", "wb": "WriteBack", "awb": "Always WriteBack"}
_RATES = {
    "rebuildrate": "Rebuild Rate",
    "bgirate": "BGI Rate",
    "ccrate": "Check Consistency Rate",
    "migraterate": "Reconstruction Rate",
    "prrate": "PR Rate",
    "cacheflushint": "Cache Flush Interval",
}
_COPYBACK = {"ctrl": "Copyback", "smarthdd": "Copyback SmartHDD", "smartssd": "Copyback SmartSSD"}
_MODES = {"0": "Intelligent", "1": "Standard", "2": "Custom 1", "3": "Custom 2", "4": "Custom 3", "7": "Disabled"}
_SSDS = {"on": "Enabled", "onlymixed": "OnlyMixed", "off": "Disabled"}


class PlayedCard(FakeHost):
    """storcli64 and the one card behind it, with a RAID 5 of three drives as v1, which is /dev/sdb."""

    def __init__(self, **changes: str) -> None:
        sdb = disk("sdb", devno="8:16", device__wwid=f"naa.{answers.NAA}", device__model="MR9280")
        super().__init__(machine(sdb, **{TOOL: ""}), stats={"/dev/sdb": FileStat(kind="block", size=0, devno="8:16")})
        self.made_up = True
        self.ran: list[tuple[str, ...]] = []
        self.refusals: dict[str, Callable[[], str]] = {}
        self.before: Callable[[], None] = lambda: None
        self.volume = {"wrcache": "wt", "rdcache": "nora", "iopolicy": "direct", "pdcache": "off", "accesspolicy": "rw"}
        self.volume |= {"autobgi": "on", "strip": "64", "name": "data", "state": "Optl", "work": "None", "drives": "3"}
        self.volume |= {"cbsize": "0", "cbmode": "0"}
        self.volume |= changes
        self.there = True
        self.rates = dict.fromkeys(_RATES, "30") | {"cacheflushint": "4"}
        self.card = {"patrolread": "Auto", "cc": "Concurrent", "perfmode": "0", "battery": "Optimal"}
        self.own = {"ncq": "on", "cachebypass": "on", "autorebuild": "on", "loadbalancemode": "on"}
        self.own |= {"smartpollinterval": "300", "delay": "168", "maxconcurrentpd": "255", "includessds": "off"}
        self.own |= {"cc delay": "168", "ctrl": "on", "smarthdd": "off", "smartssd": "off"}
        self.options = {"MegaRAID RAID5": "Unlimited"}
        self.more: dict[str, Any] = {}

    def which(self, names: Any) -> str | None:
        return TOOL if TOOL in names else super().which(names)

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != TOOL:
            return await super().run(command)
        words = command.argv[1:-2]
        assert command.argv[-2:] == ("J", "nolog")
        self.ran.append(words)
        self.before()
        line = " ".join(words)
        refusal = next((play for start, play in self.refusals.items() if line.startswith(start)), None)
        text = refusal() if refusal is not None else self._answer(words)
        return Completed(returncode=0, stdout=text, stderr="")

    @property
    def sets(self) -> list[str]:
        """The lines that changed something."""
        return [" ".join(words) for words in self.ran if {"set", "add", "del"} & set(words) and words[-1] != "preview"]

    def _answer(self, words: tuple[str, ...]) -> str:  # noqa: C901 a case for each question
        match words:
            case ("show",):
                return answers.overview("LSIMegaRAIDSAS9280-24i4e")
            case ("/c0", "show", "all"):
                return answers.answer(self._all())
            case (("/c0/vall" | "/c0/v1"), "show", "all"):
                return answers.answer(self._volume()) if self.there else answers.failure("Invalid VD number")
            case (("/c0/vall" | "/c0/v1"), "show", "autobgi"):
                row = {"VD": 1, "Property": "AutoBGI", "Value": self.volume["autobgi"].capitalize()}
                return answers.answer({"VD Properties": [row]})
            case ("/c0/eall/sall", "show", "all"):
                return answers.answer({key: one for place in PLACES for key, one in answers.details(place).items()})
            case ("/c0/sall", "show", "all"):
                return answers.failure("No drive found!")
            case ("/c0/bbu", "show", "all"):
                return answers.answer(answers.battery(self.card["battery"]))
            case ("/c0/cv", "show", "all"):  # asked for where the answer about the battery was cut
                return answers.failure("Cachevault is absent!")
            case ("/c0", "show", "patrolread"):
                said = {"PR Mode": self.card["patrolread"], "PR Execution Delay": f"{self.own['delay']} hours"}
                said |= {"PR on SSD": _SSDS[self.own["includessds"]], "PR MaxConcurrentPd": self.own["maxconcurrentpd"]}
                return answers.answer(answers.property_table(**said))
            case ("/c0", "show", "cc"):
                said = {"CC Operation Mode": self.card["cc"], "CC Execution Delay": f"{self.own['cc delay']} hours"}
                return answers.answer(answers.property_table(**said))
            case ("/c0", "show", "copyback"):
                kinds = {name: self.own[kind].upper() for kind, name in _COPYBACK.items()}
                return answers.answer(answers.property_table(**kinds))
            case ("/c0", "show", ("ncq" | "cachebypass") as name):
                return answers.answer(answers.property_table(**{name.upper(): self.own[name].upper()}))
            case ("/c0", "show", "perfmode"):
                return answers.answer(answers.property_table(Perf_Mode=self.card["perfmode"]))
            case ("/c0/v1", "set", size, mode) if size.startswith("cbsize="):
                self.volume |= dict(word.split("=") for word in (size, mode))
                return self._done(VD=1, Property="CacheBypass")
            case ("/c0/v1", "set", word):
                key, _, value = word.partition("=")
                self.volume[key] = value
                return self._done(VD=1, Property=key, Value=value)
            case ("/c0", "set", "aso", *_):
                return answers.answer(description="Key is valid: MegaRAID FastPath")
            case ("/c0", "set", word, *more):
                return self._set_card(word, more)
            case ("/c0/v1", "del", "force"):
                self.there = False
                return answers.answer(description="Delete VD succeeded")
            case ("/c0", "add", "vd", *rest):
                return self._add(rest)
            case _:
                raise AssertionError(words)

    def _done(self, **row: object) -> str:
        return answers.answer(rows=[row | {"Status": "Success", "ErrCd": 0, "ErrMsg": "-"}])

    def _set_card(self, word: str, more: list[str]) -> str:
        key, _, value = word.partition("=")
        if key == "copyback":
            self.own[more[0].removeprefix("type=")] = value
        elif key in self.own:
            self.own[key] = value
        elif word in ("patrolread", "cc"):
            name, _, value = more[0].partition("=")
            self.own[name if word == "patrolread" else f"cc {name}"] = value
        elif key in self.rates:
            self.rates[key] = value
        elif key == "patrolread":
            self.card[key] = more[0].removeprefix("mode=").capitalize() if value == "on" else "Disable"
        elif key == "cc":
            self.card[key] = {"off": "Disabled", "seq": "Sequential", "conc": "Concurrent"}[value]
        else:
            self.card[key] = value
        return self._done(Ctrl=0, Property=key)

    def _add(self, rest: list[str]) -> str:
        for word in rest:
            key, equals, value = word.partition("=")
            if equals:
                self.volume[key] = value
            else:
                kind = {"wt": "wrcache", "wb": "wrcache", "awb": "wrcache", "direct": "iopolicy", "cached": "iopolicy"}
                self.volume[kind.get(word, "rdcache" if word in ("nora", "ra", "adra") else "level")] = word
        self.there = True
        return answers.answer(description="Add VD Succeeded.")

    def _row(self) -> dict[str, Any]:
        cache = "".join(_LETTERS[self.volume[key]] for key in ("rdcache", "wrcache", "iopolicy"))
        access = _ACCESS[self.volume["accesspolicy"]]
        return answers.volume_row(Cache=cache, Access=access, Name=self.volume["name"], State=self.volume["state"])

    def _volume(self) -> dict[str, Any]:
        words = {"on": "Enabled", "off": "Disabled", "default": "Disk's Default"}
        lines = answers.properties(
            **{
                "Strip Size": f"{self.volume['strip']} KB",
                "Disk Cache Policy": words[self.volume["pdcache"]],
                "Write Cache(initial setting)": _INITIAL[self.volume["wrcache"]],
                "Active Operations": self.volume["work"],
                "Cachebypass size": f"Cachebypass-{('64k', '128k', '256k')[int(self.volume['cbsize'])]}",
                "Cachebypass Mode": f"Cachebypass {_MODES[self.volume['cbmode']]}",
            }
        )
        rows = [answers.drive_row(place) for place in PLACES]
        return {"/c0/v1": [self._row()], "PDs for VD 1": rows, "VD1 Properties": lines}

    def _all(self) -> dict[str, Any]:
        rates = {label: f"{self.rates[key]} %" for key, label in _RATES.items()}
        own: dict[str, Any] = {
            "volumes": [self._row()] if self.there else [],
            "drives": [answers.drive_row(place) for place in PLACES],
            "groups": answers.topology(*PLACES) if self.there else [],
            "options": self.options,
            "protection": {"Model": "iBBU08", "State": self.card["battery"], "Temp": "34C"},
            "rates": rates
            | {"Cache Flush Interval": f"{self.rates['cacheflushint']}s"}
            | {"Predictive Fail Poll Interval": f"{self.own['smartpollinterval']} sec"},
            "policies": {
                "Auto Rebuild": self.own["autorebuild"].capitalize(),
                "Load Balance Mode": {"on": "Auto", "off": "None"}[self.own["loadbalancemode"]],
            },
        }
        return answers.show_all(**own | self.more)
