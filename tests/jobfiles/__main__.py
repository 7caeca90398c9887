"""`python -m tests.jobfiles [NAME ...]`: one line for each job file, or for those whose name holds a word given.

`python -m tests.jobfiles FILE.fio` judges files of your own; `--no-runs` compares options only; `--drawn=SEED` judges
300 files drawn at random instead.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from tests.jobfiles import drawn
from tests.jobfiles.cases import Case, cases
from tests.jobfiles.verdict import Kind, Scratch, Verdict, judged, lay_out

_AT_ONCE = 2
"""Jobs that run side by side, each in a folder of its own."""


def main(words: list[str]) -> int:
    """Print what came of each job file; 1 if one is misunderstood."""
    runs = "--no-runs" not in words
    asked = [word for word in words if not word.startswith("--")]
    files = [Path(word) for word in asked if word.endswith(".fio")]
    chosen: list[Case] = [Case(file.name, file.read_text(), runs=True) for file in files]
    seeds = [word.partition("=")[2] for word in words if word.startswith("--drawn")]
    for seed in seeds:
        chosen += [Case(f"drawn-{seed}-{place}", text) for place, text in enumerate(drawn.files(300, int(seed or 0)))]
    if not chosen:
        chosen = [case for case in cases() if not asked or any(word in case.name for word in asked)]
    counted: Counter[Kind] = Counter()
    with tempfile.TemporaryDirectory(prefix="jobfiles-") as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        free: Queue[Scratch] = Queue()
        for number in range(_AT_ONCE):
            free.put(lay_out(Path(folder, str(number))))

        def line(case: Case) -> tuple[Case, Verdict]:
            scratch = free.get()
            try:
                return case, judged(case, scratch, runs=runs)
            finally:
                free.put(scratch)

        for case, verdict in pool.map(line, chosen):
            counted[verdict.kind] += 1
            print(f"{case.name}: {verdict}", flush=True)
            if seeds and verdict.kind is Kind.DIFFERS:
                print(case.text, flush=True)
    print(", ".join(f"{number} {kind}" for kind, number in counted.most_common()))
    return 1 if counted[Kind.DIFFERS] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
