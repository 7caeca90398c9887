"""Presentation of devices, runs, changes, comparisons and sweeps, shared by screens, command line and report."""
