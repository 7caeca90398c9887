"""Sweeps: measure many set-ups under many workloads in a randomised order, and restore all settings."""
