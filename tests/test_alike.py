"""What `make test-user` leaves out ends the same whoever runs it: nothing of the system is asked there."""

from __future__ import annotations

from tests.alike import FOLDERS, ROOT, SHARED, is_alike, system_words
from tests.case_loop import loop_over

UNASKED = {
    "tests/backends/simulator/test_simulated_host.py": {"LocalHost"},  # makes one, and asks it nothing
    "tests/tui/stage.py": {"loops"},  # of the event loop
}
"""Words of files that ask the system nothing."""


@loop_over("folder", FOLDERS)
def test_what_the_tests_of_a_folder_share_asks_the_system_nothing(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert any(is_alike(file) for file in files), "nothing is left out"
    asking = {f"tests/{name.replace(chr(92), '').replace('.', '/')}.py" for name in SHARED}
    shared = [file for file in files if not file.name.startswith("test_") and str(file.relative_to(ROOT)) not in asking]
    words = {str(file.relative_to(ROOT)): system_words(file.read_text("utf-8")) for file in shared}
    assert {file: found for file, found in words.items() if found - UNASKED.get(file, set())} == {}


def test_a_file_that_asks_the_system_is_run_for_another_user_too() -> None:
    assert not is_alike(ROOT / "tests/features/sweep/test_cli.py")
    assert is_alike(ROOT / "tests/features/sweep/test_plan.py")
    assert not is_alike(ROOT / "tests/cli/test_devices.py")
