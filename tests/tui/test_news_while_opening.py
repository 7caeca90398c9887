"""What goes on behind tells the screen in front, also while that one is still being composed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from textual.app import ComposeResult

from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.base import WorkbenchScreen
from app.tui.options import ScreenOptions
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST
from tests.tui.stage import paths_in, settled, text_of, until

SCREENS = tuple(WorkbenchApp.MODES)

NEWS: tuple[Callable[[WorkbenchApp], object], ...] = (
    lambda app: app.refresh_screen(),
    lambda app: app.show_header(),
    lambda app: app.show_background("sweep"),
    lambda app: app.notify_transient("read"),  # show_notices
    lambda app: app.show_session(app.workbench.session),
)


def shown(app: WorkbenchApp, name: str) -> bool:
    """Whether this screen is in front, with its widgets."""
    return app.front is not None and name == app.front.NAME and app.front.is_mounted


@pytest.mark.long
async def test_no_news_is_too_early_for_a_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compose = WorkbenchScreen.compose
    early: list[str] = []

    def told_meanwhile(screen: WorkbenchScreen) -> ComposeResult:
        app = cast("WorkbenchApp", screen.app)
        if app.front is screen:
            for tell in NEWS:
                tell(app)
            early.append(screen.NAME)
        yield from compose(screen)

    monkeypatch.setattr(WorkbenchScreen, "compose", told_meanwhile)
    bench = Workbench(SimulatedHost(linux_rack(), speed=FAST), paths=paths_in(tmp_path))
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for screen in SCREENS:
            app.switch_mode(screen)
            await until(pilot, partial(shown, app, screen))
        app.switch_mode("devices")
        await pilot.press("slash", *"md1", "enter", "S")
        await until(pilot, lambda: shown(app, "slowest"))
        assert "4 drives in 5 rounds" in text_of(pilot)
        assert set(early) >= {"bench", "sweep", "slowest"}
