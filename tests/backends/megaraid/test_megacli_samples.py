"""All that our own texts of MegaCli show is in the result, by expressions that know nothing of the parsers."""

from __future__ import annotations

import pytest

from tests.backends.megaraid.megacli_fields import found_fields
from tests.backends.megaraid.megacli_texts import ADPALLINFO, BATTERY, LDPDINFO, OLD_LDINFO, PDLIST


@pytest.mark.parametrize(
    ("text", "kind", "least"),
    [
        (LDPDINFO, "volumes", 16),
        (OLD_LDINFO, "volumes", 14),
        (PDLIST, "drives", 16),
        (ADPALLINFO, "card", 11),
        (BATTERY, "battery", 7),
    ],
)
def test_all_that_our_own_texts_show_is_found(text: str, kind: str, least: int) -> None:
    fields = found_fields(text, kind)
    assert len(fields) >= least
    assert all(fields.values()), fields
