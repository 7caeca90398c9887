"""Simulated fio: reads a job file and writes fio's JSON stream, without any I/O."""
