"""Simulated fio: takes a job file, and writes fio's JSON stream without any I/O."""
