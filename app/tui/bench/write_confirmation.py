"""The confirmation dialog of a job that writes to a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.benchmark.endurance import wear_texts
from backends.sizes import size_words
from widgets.confirm import Confirmation, ConfirmDialog, named_or_counted
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.benchmark.run_plan import ResolvedTarget
    from app.core.benchmark.runner import RunPlan
    from app.tui.app_interface import AppInterface


async def confirm_run(app: AppInterface, ready: RunPlan) -> bool:
    """Ask for confirmation if a job writes to a device, and return whether it may run.

    For a refused job, only show the reasons and return False.
    """
    if ready.refused:
        where = ", ".join(target.where for target in ready.request.targets)
        title = f"{ready.job.describe()} on {where}"
        reasons = tuple(filter(None, (*ready.refused, ready.hint)))
        await app.push_screen_wait(ConfirmDialog(Confirmation(title=title, tier="refused", reasons=reasons)))
        return False
    if ready.request.fills:
        return await app.push_screen_wait(ConfirmDialog(_precondition_confirmation(app, ready))) is True
    if not ready.destructive:
        return True
    return await app.push_screen_wait(ConfirmDialog(_overwrite_confirmation(app, ready))) is True


def _overwrite_confirmation(app: AppInterface, ready: RunPlan) -> Confirmation:
    """Return the dialog for overwriting one or several devices."""
    devices = list(map(_shown, ready.overwritten))
    lost = "it" if len(devices) == 1 else "them"
    losses = (f"The run trims {loss}" for site in ready.overwritten if (loss := ready.loss_of(site)))
    overwritten = (f"{device} is overwritten." for device in devices if ready.job.writes_data)
    verb = "writes to" if ready.job.writes_data else "trims"
    return Confirmation(
        title=f"{ready.job.describe()} {verb} {named_or_counted(devices, 'device')}",
        tier="destructive",
        summary=f"All data on {lost} is lost. There is no undo.",
        commands=(ready.command,),
        risks=(
            *losses,
            *overwritten,
            *_wear(app, ready),
            *ready.notes,
        ),
        evidence=tuple(value for site in ready.overwritten for value in _content_text(site)),
        devices=tuple(label.sentence for label in ready.labels),
        required=ready.confirm_text or "",
        apply_label="Overwrite" if ready.job.writes_data else "Trim",
    )


def _content_text(site: ResolvedTarget) -> tuple[str, ...]:
    """Return the content of a device that would be lost."""
    content = () if site.judgement is None else site.judgement.verdict.content
    return content or (f"{_shown(site)} is blank",)


def _shown(site: ResolvedTarget) -> str:
    return site.name if site.judgement is None else site.judgement.verdict.shown


def _wear(app: AppInterface, ready: RunPlan) -> tuple[str, ...]:
    return tuple(f"{text}." for text in wear_texts(ready, app.session.runs, app.session.inventory))


def _precondition_confirmation(app: AppInterface, ready: RunPlan) -> Confirmation:
    """Return the dialog for writing a device or a file completely."""
    fills, device = ready.request.fills, ready.only.device or ready.request.where
    shown = device if ready.only.scratch is None else str(ready.only.scratch.path)
    loss = " All data on it is lost. There is no undo." if ready.destructive else " The file is kept."
    total = size_words(fills * ready.size)
    all_of_it = f"overwrites all {size_words(ready.size)} {fills} times sequentially, {total} in total"
    workload = ready.job.describe().partition(f" · {ready.job.runtime} s")[0]
    then = f"then runs {workload} until steady, for at most {units.duration(ready.job.runtime)}"
    return Confirmation(
        title=f"preconditioning {shown}",
        tier="destructive" if ready.destructive else "harmless",
        summary=f"raidbench {all_of_it}, {then}.{loss}",
        commands=(ready.fill_command, ready.command),
        risks=(f"{device} is overwritten, which uses up endurance.", *_wear(app, ready), *ready.notes)
        if ready.destructive
        else ready.notes,
        evidence=_content_text(ready.only) if ready.destructive else (),
        devices=tuple(label.sentence for label in ready.labels),
        required=ready.confirm_text or "",
        apply_label="Overwrite" if ready.destructive else "Write",
    )
