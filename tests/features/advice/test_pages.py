"""Every piece of advice has its section in docs/advice.md and its source, and every section its advice."""

from __future__ import annotations

import re
from pathlib import Path

from app.features.advice.rules import KEYS, RULES, advise
from tests.case_loop import loop_over
from tests.features.advice.facts import RAID5, G, M, over, run, set_to

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "advice.md").read_text(encoding="utf-8")
SOURCES = (DOCS / "dev" / "advice-sources.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_the_sections_are_the_keys_in_the_order_of_the_rules() -> None:
    assert tuple(SECTIONS) == KEYS


@loop_over("key", KEYS)
def test_every_section_says_what_to_do(key: str) -> None:
    assert re.search(r"^\*\*Do:\*\* .+\.$", SECTIONS[key], re.DOTALL | re.MULTILINE)


def test_every_advice_has_a_source_in_the_order_of_the_rules() -> None:
    assert tuple(re.findall(r"^\| `(\S+)` \| .+ \|$", SOURCES, re.MULTILINE)) == KEYS


def test_a_rule_gives_advice_of_its_own_key() -> None:
    """Over a run that has about everything wrong."""
    job = {"rw": "randrw", "runtime": "5s", "randseed": "1", "iodepth": "512", "norandommap": "no", "bs": "512"}
    done = over(seconds=5.0, reads=50, writes=50, written_bytes=G, rounds=(1.0, 9.0) * 5)
    facts = run(
        job=job,
        area_bytes=G,
        cache_bytes=512 * M,
        array=RAID5,
        before=set_to("write-back"),
        content=False,
        measured=done,
    )
    given = {key: advice.key for key, rule in RULES.items() if (advice := rule(facts)) is not None}
    assert (len(given) > 8, list(given)) == (True, list(given.values()))


def test_the_worst_is_said_first() -> None:
    facts = run(content=False, job={"runtime": "5s"}, governors={"powersave": 1})
    assert [advice.key for advice in advise(facts)] == ["unwritten-flash", "governor", "too-short"]
