"""Comparison of runs: statistics, verdicts and caveats."""
