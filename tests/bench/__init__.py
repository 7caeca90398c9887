"""What raidbench itself costs: `python -m tests.bench`. Figures, not tests: nothing asserts."""
