"""Programs on PATH that stand for storcli64: real scripts, run as the real ones are."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.backends.megaraid import answers

PLACES = ("245:1", "245:2", "245:3")

ANSWERS: Mapping[str, str] = {
    "show": answers.overview("LSIMegaRAIDSAS9280-24i4e"),
    "/c0 show all": answers.answer(
        answers.show_all(
            volumes=[answers.volume_row()],
            drives=[answers.drive_row(place) for place in PLACES],
            groups=answers.topology(*PLACES),
            protection={"Model": "iBBU08", "State": "Optimal", "Temp": "34C"},
        )
    ),
    "/c0/vall show all": answers.answer({"/c0/v1": [answers.volume_row()], "VD1 Properties": answers.properties()}),
    "/c0/v1 show all": answers.answer({"/c0/v1": [answers.volume_row()], "VD1 Properties": answers.properties()}),
    "/c0/vall show autobgi": answers.answer({"VD Properties": [{"VD": 1, "AutoBGI": "On"}]}),
    "/c0/v1 show autobgi": answers.answer({"VD Properties": [{"VD": 1, "AutoBGI": "On"}]}),
    "/c0/eall/sall show all": answers.answer(
        {key: value for place in PLACES for key, value in answers.details(place).items()}
    ),
    "/c0/bbu show all": answers.answer(answers.battery()),
    "/c0 show patrolread": answers.answer(answers.property_table(PR_Mode="Auto")),
    "/c0 show cc": answers.answer(answers.property_table(CC_Operation_Mode="Concurrent")),
    "/c0 show perfmode": answers.answer(answers.property_table(Perf_Mode="0")),
    "/c0 show ncq": answers.answer(answers.property_table(NCQ="ON")),
    "/c0 show copyback": answers.answer(answers.property_table(Copyback="ON")),
    "/c0 show cachebypass": answers.answer(answers.property_table(Cache_Bypass="ON")),
}
"""What a healthy one answers, by the words before `J nolog`."""

_SCRIPT = """#!{python} -IS
import json, os, sys, time
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
line = " ".join(word for word in words if word not in ("J", "nolog"))
play = json.load(open({plays!r}))
step = play.get(line) or play.get("*") or [0, "Status = Failure\\nDescription = Un-supported command\\n", ""]
code, text, kind = step
if "nolog" in words and kind == "no-nolog":
    code, text = 0, "CLI Version = 007.1508\\nStatus = Failure\\nDescription = Un-supported command\\n"
if kind == "slow":
    time.sleep({slow})
if kind == "asks":
    sys.stdout.write("Do you really want to continue? (y/n) ")
    sys.stdout.flush()
    code, text = (0, text) if sys.stdin.readline().strip() == "y" else (255, "\\nno answer\\n")
if kind == "flood":
    while True:
        os.write(1, b"x" * 65536)
if kind == "dies":
    os.kill(os.getpid(), 9)
sys.stdout.buffer.write(text.encode("latin-1"))
sys.exit(code)
"""


def install(
    folder: Path,
    changes: Mapping[str, tuple[int, str, str]] | None = None,
    *,
    name: str = "storcli64",
    whole: Mapping[str, str] = ANSWERS,
    slow: float = 0.3,
) -> Path:
    """Put a program of this name into a folder; `changes` are (exit status, text, kind) by words, "*" for all others.

    Kinds: "" prints, `slow` waits first, `asks` wants an answer, `flood` never ends, `dies` by a signal, `no-nolog`
    knows no `nolog`.
    """
    plays = {line: [0, text, ""] for line, text in whole.items()} | {
        line: list(step) for line, step in (changes or {}).items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / f".{name}.json"
    stored.write_text(json.dumps(plays))
    path = folder / name
    script = _SCRIPT.format(python=sys.executable, log=str(log_of(path)), plays=str(stored), slow=slow)
    path.write_text(script)
    path.chmod(0o755)
    return path


def log_of(path: Path) -> Path:
    """Where a program notes its command lines."""
    return path.with_name(f".{path.name}.log")


def lines_of(path: Path) -> list[str]:
    """The command lines it was given."""
    return log_of(path).read_text().splitlines() if log_of(path).exists() else []
