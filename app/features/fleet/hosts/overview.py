"""Table of many hosts, hosts with problems first. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from app.core.presentation.finding_counts import SEVERITIES, findings_text, severities_text
from app.core.presentation.table import Align, Cell, Column, FactLine, Facts, Row, StatusSymbol, Table, Tone
from app.features.check.entries import MARKS, FindingEntry
from app.features.check.finding import Severity
from app.features.check.presentation import GRAVEST, TONES
from app.features.check.rule_table import RULES
from app.features.fleet.hosts.difference_rows import composition_text, outlier_text
from app.features.fleet.hosts.differences import Difference, HostGroup, HostsComparison, compare_hosts
from app.features.fleet.hosts.facts import FactKey, FactPart, HostFacts, HostTarget, findings_of, host_facts, targets_of
from app.features.fleet.hosts.failure_causes import HostResponse, MissingHost
from app.features.fleet.hosts.grouping import HostResponses
from backends import json_text
from backends.model import THING_KINDS
from backends.values import dataclass
from widgets.text_utils import units

WORDS = ("hosts", "facts", "--json")
"""Command that a host runs to report the contents of its row."""

COLUMNS = (
    Column(key="host", title="Host", most=32, shrinks=True),
    Column(key="state", title="State", shrinks=True),
    Column(key="differs", title="Differs", align=Align.RIGHT, priority=1),
    Column(key="controllers", title="Controllers", align=Align.RIGHT, priority=3),
    Column(key="arrays", title="Arrays", align=Align.RIGHT, priority=2),
    Column(key="drives", title="Drives", align=Align.RIGHT, priority=2),
    Column(key="kernel", title="Kernel", priority=5),
    Column(key="program", title="raidbench", priority=4),
)

WAITING = "waiting for the response"
"""State of a host that has not answered yet."""

_PLACES = 4
"""Maximum number of addresses that are listed for a finding."""

_WELL = Cell("no findings", Tone.GOOD, StatusSymbol.WELL)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """The parts of a host's answer that its row and its details show."""

    facts: HostFacts
    """Facts of the host that are compared with those of other hosts."""
    numbers: Mapping[str, int]
    """Number of devices of each kind."""
    findings: tuple[FindingEntry, ...]
    """Findings of the check, the gravest first."""
    targets: Mapping[str, HostTarget]
    """Arrays and drives that can be measured, by address."""

    @property
    def severities(self) -> tuple[str, ...]:
        """The severity of each finding."""
        return tuple(entry.severity.value for entry in self.findings if entry.severity is not None)


class HostOverview:
    """State of all hosts. Outcomes are added until every host has answered or is missing."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self.gathered = HostResponses(asked=tuple(hosts))
        """Hosts that answered, are missing, or have not answered yet."""
        self._missing: dict[str, MissingHost] = {}
        self._reports: dict[str, HostReport] = {}

    def take(self, outcome: HostResponse | MissingHost) -> None:
        """Add the answer of a host, or why it is missing."""
        self.gathered.count(outcome)
        if isinstance(outcome, MissingHost):
            self._missing[outcome.host] = outcome
        else:
            self._reports[outcome.host] = host_report(outcome)

    @property
    def is_complete(self) -> bool:
        """Return whether every host has answered or is missing."""
        return not self.gathered.waiting

    @property
    def answered_hosts(self) -> tuple[str, ...]:
        """Return the hosts that have answered so far."""
        return tuple(self._reports)

    @property
    def severities(self) -> tuple[str, ...]:
        """Return the severity of each finding of all hosts, the gravest first."""
        found = [severity for report in self._reports.values() for severity in report.severities]
        return tuple(sorted(found, key=tuple(SEVERITIES).index))

    def severities_of(self, host: str) -> tuple[str, ...]:
        """Return the severity of each finding of a host, the gravest first; () if it has not answered."""
        report = self._reports.get(host)
        return () if report is None else report.severities

    def findings_of(self, host: str) -> tuple[FindingEntry, ...]:
        """Return the findings of a host, the gravest first; () if it has not answered."""
        report = self._reports.get(host)
        return () if report is None else report.findings

    @property
    def all_findings(self) -> tuple[FindingEntry, ...]:
        """Return the findings of all hosts."""
        return tuple(entry for report in self._reports.values() for entry in report.findings)

    def findings_state(self, host: str) -> str:
        """Return the number of findings of a host, or why it is not known."""
        loss, report = self._missing.get(host), self._reports.get(host)
        return findings_text(report.severities) if report is not None else WAITING if loss is None else loss.message

    def targets_on(self, hosts: Collection[str]) -> tuple[tuple[HostTarget, tuple[str, ...]], ...]:
        """Return the targets that can be measured on one of `hosts`, each with the hosts that have it.

        Targets on most hosts come first.
        """
        owners: dict[str, list[str]] = {}
        targets: dict[str, HostTarget] = {}
        for host in hosts:
            for address, target in self._reports[host].targets.items() if host in self._reports else ():
                owners.setdefault(address, []).append(host)
                targets.setdefault(address, target)
        ordered = sorted(owners, key=lambda address: (-len(owners[address]), targets[address].kind != "array"))
        return tuple((targets[address], tuple(owners[address])) for address in ordered)

    def hosts_in_order(self) -> tuple[str, ...]:
        """Return all hosts, those with problems first."""
        positions = {host: at for at, host in enumerate(self.gathered.asked)}
        return tuple(sorted(self.gathered.asked, key=lambda host: (*self._sort_key(host), positions[host])))

    @cached_property
    def _comparison(self) -> HostsComparison:
        return compare_hosts([self._reports[host].facts for host in self.gathered.asked if host in self._reports])

    @cached_property
    def _deviations(self) -> Mapping[str, Sequence[tuple[Difference, HostGroup]]]:
        """Return the differences of each host from the majority of its role. In a tie, no host counts as different."""
        odd: dict[str, list[tuple[Difference, HostGroup]]] = {}
        for difference in self._comparison.differences:
            for side in difference.others if difference.most is not None else ():
                for host in side.hosts:
                    odd.setdefault(host, []).append((difference, side))
        return odd

    def _deviations_of(self, host: str) -> Sequence[tuple[Difference, HostGroup]]:
        return self._deviations.get(host, ()) if self.is_complete else ()

    def table(self) -> Table:
        """Return one row per host, hosts with problems first. Differences are shown once all hosts have an outcome."""
        return Table(columns=COLUMNS, rows=tuple(map(self._row, self.hosts_in_order())))

    def _sort_key(self, host: str) -> tuple[int, ...]:
        """Return the sort key of a host.

        The order is: missing hosts, hosts with findings by severity, hosts that differ, pending hosts, healthy hosts.
        """
        if host in self._missing:
            return (0,)
        report = self._reports.get(host)
        if report is None:
            return (2,)
        count = _severities(report)
        wrong = [-count[severity] for severity in GRAVEST if severity is not Severity.NOTE]
        differs = len(self._deviations_of(host))
        return (1, *wrong, -differs) if any(wrong) or differs else (3,)

    def _row(self, host: str) -> Row:
        loss, report = self._missing.get(host), self._reports.get(host)
        if report is None:
            state = Cell(WAITING, Tone.DIM) if loss is None else Cell(loss.message, Tone.BAD, StatusSymbol.FAILED)
            return Row(key=host, cells=(host, state, *[""] * (len(COLUMNS) - 2)), dim=loss is None)
        count = _severities(report)
        worst = next((severity for severity in GRAVEST if count[severity]), None)
        values = report.facts.values
        versions = (values[FactKey(part=FactPart.SYSTEM, of="", key=key)].text for key in ("kernel", "program"))
        differs = len(self._deviations_of(host))
        return Row(
            key=host,
            cells=(
                host,
                _WELL if worst is None else Cell(severities_text(report.severities), TONES[worst], MARKS[worst]),
                "" if not self.is_complete else Cell(str(differs), Tone.ATTENTION if differs else Tone.DIM),
                *(str(report.numbers.get(kind, 0)) for kind in THING_KINDS.values()),
                *versions,
            ),
        )

    def host_detail_lines(self, host: str) -> tuple[Facts, ...]:
        """Return why a host is missing, or its findings, its differences from the majority and its hardware."""
        loss, report = self._missing.get(host), self._reports.get(host)
        if loss is not None:
            lines = [FactLine("", loss.message, Tone.BAD), *([FactLine("", loss.hint)] if loss.hint else [])]
            fact_lines = [FactLine("last output", row) for row in loss.evidence.splitlines()]
            return (Facts(facts=(*lines, *fact_lines)),)
        if report is None:
            return (Facts(facts=(FactLine("", f"{WAITING}."),)),)
        findings = _finding_lines(report.findings)
        return (
            Facts(heading="Findings", facts=findings or (FactLine("", "No findings."),)),
            Facts(heading="Differs", facts=tuple(self._difference_lines(host))),
            Facts(heading="Hardware", facts=(FactLine("", composition_text(report.facts.made_of)),)),
        )

    def findings_at(self, host: str, places: Collection[str]) -> tuple[Facts, ...]:
        """Return the findings of a host at these addresses; empty if there are none."""
        report = self._reports.get(host)
        entries = (
            [] if report is None else [entry for entry in report.findings if {entry.where, entry.device} & {*places}]
        )
        lines = tuple(line for entry in entries for line in entry.fact_lines)
        return (Facts(heading="Findings", facts=lines),) if lines else ()

    def _difference_lines(self, host: str) -> Iterator[FactLine]:
        if not self.is_complete:
            yield FactLine("", "Available when all hosts have responded.")
            return
        alike = next(len(role.hosts) for role in self._comparison.roles if host in role.hosts)
        if alike == 1:
            yield FactLine("", "No other host that responded has the same hardware, so there is no comparison.")
            return
        odd = self._deviations_of(host)
        for difference, side in odd:
            yield FactLine(difference.point.part.value, outlier_text(difference, side), Tone.ATTENTION)
        if not odd:
            yield FactLine(
                "",
                f"No differences from the majority of the {units.plural(alike, 'host')} with the same hardware.",
            )


def host_report(answer: HostResponse) -> HostReport:
    """Return the report from a document of `hosts facts`; malformed parts are left out."""
    numbers = Counter(json_text.word(row.get("kind")) or "" for row in json_text.rows(answer.document.get("things")))
    return HostReport(
        facts=host_facts(answer.host, answer.document),
        numbers=numbers,
        findings=tuple(sorted(findings_of(answer.document), key=lambda entry: -_rank(entry))),
        targets={target.address: target for target in targets_of(answer.document)},
    )


def _rank(entry: FindingEntry) -> int:
    return -1 if entry.severity is None else entry.severity.rank


def _severities(report: HostReport) -> Counter[Severity]:
    return Counter(entry.severity for entry in report.findings if entry.severity is not None)


def _finding_lines(entries: Iterable[FindingEntry]) -> tuple[FactLine, ...]:
    """Return one line per rule with findings and their addresses. The gravest rule comes first."""
    by_rule: dict[str, list[FindingEntry]] = {}
    for entry in entries:
        by_rule.setdefault(entry.rule, []).append(entry)
    lines = []
    for rule, found in sorted(by_rule.items(), key=lambda item: -_rank(item[1][0])):
        summary = RULES[rule].what if rule in RULES else "a rule unknown to this version"
        severity = found[0].severity or Severity.WARN
        places = units.first_of([entry.where for entry in found], _PLACES)
        lines.append(FactLine(SEVERITIES[severity.value], f"{rule}: {summary} ({places})", TONES[severity]))
    return tuple(lines)
