"""Benchmarks: the requests, plans and runs of fio jobs, and the record of each run."""
