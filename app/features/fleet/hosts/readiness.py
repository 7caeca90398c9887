"""Requirements of a host for its use with raidbench, from the output of `doctor`. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.features.doctor.engine import READS_IN_USE
from backends import json_text
from backends.values import dataclass
from backends.version import program_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """State of one host."""

    program: str
    """Version of raidbench on the host."""
    rights: str
    """Whether raidbench has root privileges or a root helper on the host."""
    fio: str
    """Version of fio, or that it is missing."""
    in_use: str
    """Whether read-only runs can use mounted arrays on the host."""
    lacking: tuple[tuple[str, str], ...]
    """Missing requirements, each with a hint."""

    def rows(self) -> Iterator[str]:
        """Yield the state as text lines."""
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
        """Return it as JSON."""
        missing = [{"what": item, "advice": advice or None} for item, advice in self.lacking]
        fields = {"program": self.program, "rights": self.rights, "fio": self.fio, "in_use": self.in_use}
        return {**fields, "lacking": missing}


def readiness(document: Mapping[str, Any]) -> Readiness:
    """Return the state of a host from its `doctor` document."""
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
