"""Write what is told of each machine anew."""

from __future__ import annotations

from tests.backends.told import FOLDER, MACHINES, told

for name in MACHINES:
    FOLDER.joinpath(f"{name}.txt").write_text(told(name), encoding="utf-8")
