"""The question before a job that writes to a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgets.confirm import Confirmation, ConfirmDialog

if TYPE_CHECKING:
    from app.engine.measure import Preparation
    from app.tui.app import WorkbenchApp


async def allowed(app: WorkbenchApp, ready: Preparation) -> bool:
    """Whether the person lets a writing job on a device go ahead; a refused one only gives its reasons."""
    if ready.refused:
        title = f"{ready.job.describe()} on {ready.request.where}"
        reasons = tuple(filter(None, (*ready.refused, ready.hint)))
        await app.push_screen_wait(ConfirmDialog(Confirmation(title=title, tier="refused", reasons=reasons)))
        return False
    if not ready.destructive:
        return True
    device = ready.device or ready.request.where
    question = Confirmation(
        title=f"{ready.job.describe()} writes to {device}",
        tier="destructive",
        summary="All data on it is lost. There is no undo.",
        commands=(ready.command,),
        risks=(f"{device} is overwritten.", *ready.notes),
        evidence=ready.found or ("nothing: the device is blank",),
        required=ready.confirm_text or device.removeprefix("/dev/"),
        apply_label="Overwrite",
    )
    return await app.push_screen_wait(ConfirmDialog(question)) is True
