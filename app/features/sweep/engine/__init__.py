"""Sweeps: measure many set-ups under many workloads in a good order, and restore all settings."""
