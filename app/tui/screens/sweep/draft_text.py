"""What is ticked on the Sweep screen as the text of a plan file. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.engine.fio.job import Job
from app.engine.fio.profiles import profile
from app.tui.screens.sweep.draft import LOAD_AXIS, ROLE, Draft, DraftAxis

_ALONE = {"": "One job", "saturation": "Saturation", "curve": "Throughput against latency"}
"""Titles where nothing is compared."""


def plan_text(draft: Draft, axes: Sequence[DraftAxis]) -> str:
    """The plan file of what is ticked."""
    varied = [(axis, values) for axis in axes if not axis.single and (values := draft.chosen(axis))]
    load = next(iter(draft.ticked.get(LOAD_AXIS, ())), "")
    title = " and ".join([axis.label for axis, values in varied if len(values) > 1] or [_ALONE[load]])
    lines = [
        f"title = {_text(f'{title} of {draft.address}')}",
        "",
        "[targets]",
        f"{ROLE} = {_text(draft.address)}",
        "",
        "[measure]",
        f"target = {_text(ROLE)}",
    ]
    for axis in axes:
        if axis.single and axis.key != LOAD_AXIS and (chosen := draft.chosen(axis)):
            lines.append(f"{axis.name} = {_text(chosen[0]) if axis.name == 'rank' else chosen[0]}")
    lines += ["", "[job]", *_job_lines(draft, {axis.name for axis, _ in varied if axis.kind == "job"})]
    for axis, values in varied:
        whose = [f"job = {_text(axis.name)}"]
        if axis.kind == "setting":
            whose = [f"target = {_text(ROLE)}", f"setting = {_text(axis.name)}"]
        lines += ["", "[[axis]]", *whose, f"values = [{', '.join(map(_text, values))}]"]
    lines += ["", f"[{load}]"] if load else []
    return "\n".join(lines) + "\n"


def _job_lines(draft: Draft, varied: set[str]) -> list[str]:
    """The job's fields as far as they differ from its workload's; an axis of workloads keeps only the times."""
    base = profile(draft.profile).job if draft.profile is not None else Job()
    own, plain = draft.job.texts(), base.texts()
    fields = {key: text for key, text in own.items() if text != plain[key] and key not in varied}
    lines = []
    if "profile" in varied:
        fields = {key: own[key] for key in ("runtime", "ramp")}
    elif draft.profile is not None:
        lines.append(f"profile = {_text(draft.profile)}")
    if "rwmixread" in varied and not varied & {"rw", "profile"} and not draft.job.mixed:
        fields["rw"] = "randrw" if own["rw"].startswith("rand") else "rw"
    fields |= {key: own[key] for key in ("runtime", "ramp")}
    return [*lines, *(f"{key} = {_text(text)}" for key, text in fields.items())]


def _text(value: str) -> str:
    """A TOML string."""
    return json.dumps(value, ensure_ascii=False)
