"""Benchmarks: from a request to a recorded run."""
