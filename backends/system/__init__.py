"""The outside worlds: this machine, recorded ones, simulated ones, and wrappers round them."""
