"""The report in a real browser: nothing to complain about, nothing loaded, nothing wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.session.state import replay
from app.features.report.html import to_html
from app.features.report.model import report_of
from tests.core import sessions
from tests.features.report.chromium import Page, chromium, page
from tests.features.report.test_hostile import FIRST, everything
from tests.features.report.test_model import AHEAD, compared, swept
from tests.packages import absence, installable

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page full of strings that would like to act."""
    made = tmp_path_factory.mktemp("page") / "report.html"
    made.write_text(to_html(everything(FIRST)), encoding="utf-8", errors="replace")
    return made


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser for all of them. Where it could have been installed and was not, that is no reason to skip."""
    if chromium() is None and not installable("chromium"):
        pytest.skip(absence("chromium"))
    with page(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_the_browser_has_nothing_to_say(browser: Page, file: Path, width: int, dark: bool) -> None:
    browser.open(file, width=width, dark=dark)
    assert (browser.complaints, set(browser.asked)) == ([], {file.as_uri()})


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_is_wider_than_the_screen(browser: Page, file: Path, width: int) -> None:
    browser.open(file, width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


KINDS = {
    "runs": replay([sessions.started(), *sessions.run()]),
    "experiment": compared(),
    "sweep": swept(AHEAD, ahead_some=2000),
}

FIGURES_IN_SIGHT = """
[...document.querySelectorAll("li, td")].some(one => {
    if (!/\\d[kM]? IOPS|IOPS,? [-+\\d]/.test(one.textContent)) return false
    const place = one.getBoundingClientRect()
    return place.top >= 0 && place.bottom <= 800 && place.left >= 0 && place.right <= window.innerWidth
})
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1280, 420])
def test_figures_are_in_sight_before_anybody_scrolls(browser: Page, tmp_path: Path, width: int, kind: str) -> None:
    page_file = tmp_path / "report.html"
    page_file.write_text(to_html(report_of(KINDS[kind])), encoding="utf-8")
    browser.open(page_file, width=width)
    assert browser.evaluate(FIGURES_IN_SIGHT)


def test_dark_is_dark_and_light_is_light(browser: Page, file: Path) -> None:
    colours = []
    for dark in (False, True):
        browser.open(file, dark=dark)
        colours.append(browser.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    assert colours == ["rgb(255, 255, 255)", "rgb(21, 24, 28)"]


def test_no_script_is_there(browser: Page, file: Path) -> None:
    browser.open(file)
    assert browser.evaluate("document.scripts.length") == 0
