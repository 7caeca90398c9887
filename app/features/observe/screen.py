"""The screen that shows the observation of a device since the screen was opened, refreshed every second."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from app.features.observe.observer import Observer, device_name
from app.features.observe.presentation import note_text, observation_lines
from app.features.observe.rates import READING_S
from app.tui.base import WorkbenchScreen
from backends.errors import RaidbenchError
from widgets.pane import Pane
from widgets.text_panel import TextParagraphs

if TYPE_CHECKING:
    from app.core.session.state import Session
    from app.features.observe.observer import Observation
    from app.tui.app_interface import AppInterface
    from backends.model import Device


def show_observation(app: AppInterface, device: Device) -> None:
    """Open the screen that observes a device. If it has no block device, show why it cannot be observed."""
    try:
        name = device_name(device)
    except RaidbenchError as error:
        app.show_error(error)
        return
    app.push_screen(ObservationScreen(name, Observer(app.workbench.host, name)))


class ObservationScreen(WorkbenchScreen):
    """Shows an observation as sentences. When the screen is left, they become a note of the session."""

    NAME: ClassVar[str] = "observe"
    DEFAULT_CSS = "ObservationScreen #observe-pane { height: 1fr; padding: 0 1; }"

    def __init__(self, device: str, observer: Observer) -> None:
        super().__init__()
        self._device, self._observer = device, observer
        self._seen: Observation | None = None
        self._readings = 0

    def body(self) -> ComposeResult:
        """Compose the pane with the sentences."""
        with Pane(f"What {self._device} does, and who waits", id="observe-pane"):
            yield TextParagraphs("The first result takes a second.", id="observe-text")

    async def on_mount(self) -> None:  # type: ignore[override]  # Textual also accepts a coroutine
        """Start to make readings."""
        super().on_mount()
        try:
            await self._observer.open()
        except RaidbenchError as error:
            self.workbench_app.show_error(error)
        else:
            self._timer = self.set_interval(READING_S, self._take)

    async def _take(self) -> None:
        """Make a reading, and refresh the sentences every second. An error, as of the root helper, ends it."""
        try:
            await self._observer.take()
            self._readings += 1
            if self._readings % round(1 / READING_S) == 0:
                self._seen = await self._observer.observation()
                self.query_one("#observe-text", TextParagraphs).say("\n\n".join(observation_lines(self._seen)))
        except RaidbenchError as error:
            self._timer.stop()
            self.workbench_app.show_error(error)

    def show(self, session: Session) -> None:
        """Do nothing: the session has nothing that this screen shows."""

    def action_back(self) -> None:
        """Record the observation as a note, and return to the previous screen."""
        try:
            if self._seen is not None:
                self.workbench_app.workbench.note(note_text(self._seen))
        except RaidbenchError as error:
            self.workbench_app.show_error(error)
        self.dismiss()
