"""Sweeps: many set-ups of an array under many workloads, measured in a good order, everything put back afterwards."""
