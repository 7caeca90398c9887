"""`doctor`: what works here, what is missing, what to do."""

from __future__ import annotations

import click

from app.cli.opening import workbench
from app.cli.options import current
from app.cli.output import document, lines, paint, say
from app.cli.running import run
from app.cli.status import DONE, FOUND
from app.engine.doctor import Finding, Grade, examine
from app.engine.session.paths import Paths
from app.engine.view import schema
from backends.text import clean


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor_command(as_json: bool) -> int:
    """What works here, what is missing, what to do. Exit status 5 when something needed is missing."""
    with workbench(quiet=True) as bench:
        found = run(lambda _: examine(bench.host, bench.paths, bench.hardware.machine.backends))
    found = (*found, _configuration())
    status = FOUND if any(finding.grade is Grade.MISSING for finding in found) else DONE
    if as_json:
        listed = [
            {"grade": each.grade.value, "what": each.what, "detail": each.detail, "advice": each.advice or None}
            for each in found
        ]
        document(schema.document(findings=listed))
        return status
    colours = {Grade.OK: "green", Grade.WARN: "yellow", Grade.MISSING: "red"}
    wide = max(len(finding.what) for finding in found)

    def told(finding: Finding) -> list[str]:
        mark = paint(f"{finding.grade.value:<7}", colours[finding.grade])
        advice = [" " * (11 + wide) + finding.advice] if finding.advice else []
        return [f"{mark}  {finding.what:<{wide}}  {finding.detail}", *advice]

    lines(row for finding in found for row in told(finding))
    say("All that is needed is there." if status == DONE else "Something that is needed is missing.")
    return status


def _configuration() -> Finding:
    """The configuration file, which was read: no command begins with one that cannot be used."""
    path = current().config or Paths.default().config
    shown = clean(str(path), 300)
    there = "" if path.exists() else " does not exist; the defaults are used"
    return Finding(grade=Grade.OK, what="config", detail=shown + there)
