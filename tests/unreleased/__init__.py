"""State that a build before the first release left open: 0.1.0, commit 95befa82. Nothing can make it again.

Each folder is that of the simulated host `lsi` after these commands, of which some were killed:

- `change`: `set /c0/v1 read_ahead=read-ahead`; `set /c0/v1 write_cache=write-back`, killed after its intent;
  `set block:nvme0n1 read_ahead_kb=256 --trial 600`, not decided.
- `ab`: `ab block:nvme0n1 scheduler=mq-deadline`, killed in the first run with the new value.
- `sweep`: `sweep queue-depth --target block:nvme0n1`, killed in its second run.
- `array`: `array create raid0 megaraid:/c0/e245/s4 --name old`, killed after its intent.

Inventories and runs are left out of the logs.
"""

from __future__ import annotations

import shutil
from pathlib import Path

FOLDER = Path(__file__).parent
RACK = "lsi"


def put(name: str, state: Path) -> Path:
    """Copy one of the folders to its place in a state folder, and return that place."""
    return Path(shutil.copytree(FOLDER / name, state / "simulated" / RACK, dirs_exist_ok=True))
