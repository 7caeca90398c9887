"""The table of forms and promises on the page is complete."""

from __future__ import annotations

import re

from tests.package import page
from tests.package.promises import table, test_promises
from tests.package.promises.forms import FORMS


def test_every_test_has_a_row() -> None:
    assert {name for name in vars(test_promises) if name.startswith("test_")} == table.PROMISES.keys()


def test_every_form_has_an_outcome_of_every_promise() -> None:
    _, head, _, *rows = [line for line in page.table("forms").splitlines() if line]
    cells = [row.strip("| ").split(" | ") for row in rows]
    assert head == f"| | {' | '.join(form.title for form in FORMS)} |"
    assert [row[0] for row in cells] == list(table.PROMISES.values())
    assert {len(row) for row in cells} == {len(FORMS) + 1}
    assert [cell for row in cells for cell in row[1:] if not re.match("yes$|none: |not tried: ", cell)] == []
