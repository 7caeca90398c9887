"""Requirements that a host does not meet yet, from the output of its `doctor` command. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.features.doctor.engine import READS_IN_USE
from backends import json_text
from backends.values import dataclass
from backends.version import program_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Which requirements of raidbench one host meets."""

    program: str
    """Version of raidbench on the host."""
    rights: str
    """Message that says whether raidbench runs as root or has the root helper on the host."""
    fio: str
    """Version of fio, or a message that fio is missing."""
    in_use: str
    """Message that says whether read-only jobs can measure mounted arrays on the host."""
    lacking: tuple[tuple[str, str], ...]
    """Requirements that are not met, each with a hint."""

    def rows(self) -> Iterator[str]:
        """Yield text lines about what the host has and what it lacks."""
        here = program_version()
        yield f"raidbench {self.program}" + ("" if self.program == here else f", {here} here")
        yield f"rights  {self.rights}"
        yield f"fio     {self.fio}"
        yield f"in use  {self.in_use}"
        for item, advice in self.lacking:
            yield f"missing {item}"
            if advice:
                yield f"        {advice}"

    def json(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        missing = [{"what": item, "advice": advice or None} for item, advice in self.lacking]
        fields = {"program": self.program, "rights": self.rights, "fio": self.fio, "in_use": self.in_use}
        return {**fields, "lacking": missing}


def readiness(document: Mapping[str, Any]) -> Readiness:
    """Return which requirements a host meets, from the JSON document of its `doctor` command."""
    details: dict[str, str] = {}
    lacking = []
    for finding in json_text.rows(document.get("findings"), 200):
        item = json_text.word(finding.get("what")) or "unknown"
        detail = json_text.word(finding.get("detail"), 300) or "not reported"
        details.setdefault(item, detail)
        if finding.get("grade") == "missing":
            lacking.append((f"{item}: {detail}", json_text.word(finding.get("advice"), 300) or ""))
    return Readiness(
        program=json_text.word(document.get("program")) or "of unknown version",
        rights=details.get("rights", "not reported"),
        fio=details.get("fio", "not reported"),
        in_use=details.get(READS_IN_USE, "not reported"),
        lacking=tuple(lacking),
    )
